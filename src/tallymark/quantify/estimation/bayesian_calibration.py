"""Bayesian Calibration: the target's prevalence from its scores, then every row's probability at that prevalence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Scores
from tallymark._display import Row, Shown
from tallymark._numbers import share_of_rows
from tallymark.calibration.maps import CalibrationMap, with_scores
from tallymark.errors import InputError, Undefined
from tallymark.inference.interval import Seed
from tallymark.quantify.estimation.estimate import estimate
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.quantify.estimation.problem import one_target
from tallymark.quantify.kernels.densities import adaptive_edges, pooled
from tallymark.quantify.kernels.joint import fit_jointly
from tallymark.quantify.kernels.likelihood import bayes_densities, joint_cells
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import CALIBRATIONS, Calibration, require_one_of
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class BayesianCalibration(Shown):
    r"""A prevalence and the posterior it gives each score, :math:`\hat\pi f^+ / (\hat\pi f^+ + (1-\hat\pi) f^-)`.

    Puts & Daas (2021), arXiv:2102.08659. It mends the count under prior shift; without shift it may worsen it a little,
    and single rows may get better or worse.
    """

    estimate: Prevalence
    validation: Validation
    target: Samples
    options: Any
    monotone: bool = False

    @property
    def prevalence(self) -> float:
        """The target's estimated share of positives."""
        return self.estimate.prevalence

    def posterior(self, scores: object) -> Floats:
        """Probability of each score at the target's prevalence. Over the target itself their mean is the prevalence.

        All are nan where there is no estimate.
        """
        s = _check.scores(scores)
        if self.estimate.reason is not None:
            return np.full(len(s), math.nan)
        if self._cells is not None:
            edges, posteriors = self._cells
            values: Floats = posteriors[np.searchsorted(edges[1:-1], s, "right")]
            return values
        up, down = (side[0] for side in bayes_densities(self.validation, Samples(s), **self.options))
        pi = self.prevalence
        total = pi * up + (1.0 - pi) * down
        # What neither class explains is as likely as any row of the target.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(total > 0.0, pi * up / total, pi)

    @cached_property
    def _cells(self) -> tuple[Scores, Floats] | None:
        """Edges of the bins and the posterior in each, None for kernel densities."""
        if self.options["density"] != "bins":
            return None
        edges = adaptive_edges(self.validation, self.options["bins"])
        labelled, observed = joint_cells(self.validation, self.target, edges)
        down, up = fit_jointly(labelled, observed).shares[0]
        pi = self.prevalence
        total = pi * up + (1.0 - pi) * down
        posteriors = np.divide(pi * up, total, out=np.full_like(total, pi), where=total > 0.0)
        # Pooled by the target's rows, so that their mean stays the prevalence; a cell without any has next to no say.
        return edges, pooled(posteriors, np.maximum(observed[0], 1e-9)) if self.monotone else posteriors

    def labels(self, scores: object, *, rule: Literal["top", "half"] = "top") -> Bools:
        """Which rows to call positive: the ``top`` ⌈n·π⌉ scores, or those whose posterior is at least ``half``."""
        s = _check.scores(scores)
        if self.estimate.reason is not None:
            raise Undefined(f"no row can be called positive, for there is no estimate: {self.estimate.reason}")
        if require_one_of("rule", rule, ("top", "half")) == "half":
            return self.posterior(s) >= 0.5
        # A hair off, so that 0.3 of 10 rows are 3 whatever the last bit says.
        wanted = math.ceil(len(s) * share_of_rows(self.prevalence, len(s)) * (1.0 - 1e-12))
        values = np.zeros(len(s), dtype=np.bool_)
        values[np.argsort(-s, kind="stable")[:wanted]] = True
        return values

    def apply(self, tally: Tally) -> Tally:
        """The same rows with their posteriors as scores."""
        return with_scores(tally, self.posterior)

    def heading(self) -> str:
        """The estimate."""
        return f"Bayesian Calibration, {self.estimate!r}"

    def rows(self) -> list[Row]:
        """The estimate."""
        return self.estimate.rows()

    def to_dict(self) -> dict[str, Any]:
        """The estimate."""
        return self.estimate.to_dict()


def bayesian_calibration(
    validation: Tally,
    target: Tally,
    *,
    density: str = "bins",
    bins: int | None = None,
    bandwidth: float | None = None,
    monotone: bool = False,
    level: float | None = 0.95,
    seed: Seed = 0,
    strict: bool = False,
) -> BayesianCalibration:
    """Fit Bayesian Calibration: class densities from `validation`, the prevalence from `target`'s scores.

    Use out-of-fold scores for the validation sample, never those of the training fit.

    Parameters
    ----------
    validation
        Labelled tally.
    target
        Unlabelled tally of the same model's scores.
    density
        ``"bins"`` that follow the data, or ``"kde"`` on a transformed scale.
    bins, bandwidth
        Number of bins, and the bandwidth of the kernel.
    monotone
        Make posteriors rise with the score, by pooling neighbouring bins; their mean stays the prevalence.
    level
        Confidence level of the prevalence's interval; None leaves it out.
    seed
        Seed of resampling.
    strict
        Raise guards as errors.

    Returns
    -------
    BayesianCalibration
        The prevalence, and posteriors of any scores.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> new = rng.normal(2.0 * (np.arange(2000) < 200))
    >>> c = tm.quantify.bayesian_calibration(t, tm.tally(scores=new))
    >>> bool(abs(c.posterior(new).mean() - c.prevalence) < 1e-9)
    True

    """
    one = one_target(target, "Bayesian Calibration")
    require_one_of("density", density, ("bins", "kde"))
    options: dict[str, Any] = {"density": density, "bins": bins, "bandwidth": bandwidth}
    if monotone and density != "bins":
        raise InputError("monotone=True goes with density='bins'.")
    prevalence = estimate("bayes", validation, one, level=level, seed=seed, strict=strict, **options)
    samples = Samples.of_run(one.runs[0])
    return BayesianCalibration(prevalence, Validation.of(validation, one, None), samples, options, monotone)


def _as_map(validation: Tally, target: Tally) -> CalibrationMap:
    """Rising posteriors at the target's prevalence, as a map."""
    fitted = bayesian_calibration(validation, target, monotone=True, level=None)
    if fitted.estimate.reason is not None:
        raise Undefined(f"bayes: {fitted.estimate.reason}")
    return CalibrationMap("bayes", {"prevalence": fitted.prevalence}, fitted.posterior)


CALIBRATIONS.add(
    Calibration(
        name="bayes",
        meaning="Bayesian Calibration: probabilities at the target's own prevalence, which is estimated first.",
        reference="Puts & Daas (2021), arXiv:2102.08659.",
        fit=_as_map,
        uses_target=True,
    )
)
