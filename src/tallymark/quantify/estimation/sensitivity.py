"""Sensitivity of a count to a shift of the positives' scores, and the power of the mixture test to detect it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import signed
from tallymark.errors import InputError
from tallymark.quantify.estimation.mixture_test import SURE, mixture_covariance, most_fitting
from tallymark.quantify.estimation.problem import checked_pair, one_target, problem_of
from tallymark.quantify.kernels.densities import adaptive_edges, logit
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import QUANTIFIERS
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally

#: Shifts of the positives' scores, in their standard deviations.
_SHIFTS = np.arange(-10, 11) / 5.0

#: Power below which a shift counts as undetected.
_UNSEEN = 0.2

#: The shift that is shown where no shift would be detected.
_SHOWN = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Shown):
    """Power of the mixture test against shifts of the positives' scores, and the errors of each method's count.

    `shifts` are in standard deviations of the positives (of their log odds, for probabilities); `power` is the power of
    :func:`mixture_fit`; `changes` are the errors of each method's count.
    """

    shifts: Floats
    power: Floats
    changes: Mapping[str, Floats]
    n: float | int
    prevalence: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "changes", FrozenDict(self.changes))

    def unseen(self, direction: int) -> float | None:
        """The largest shift up (1) or down (-1) detected with a power of at most 0.2; None where all
        would be missed.
        """
        side = self.shifts * direction > 0
        shifts, power = np.abs(self.shifts[side]), self.power[side]
        order = np.argsort(shifts)
        shifts, power = shifts[order], np.maximum.accumulate(power[order])
        if power[-1] <= _UNSEEN:
            return None
        return float(np.interp(_UNSEEN, np.append(0.0, power), np.append(0.0, shifts)))

    def change(self, method: str, shift: float) -> float:
        """The error of a method's count at a shift."""
        return float(np.interp(shift, self.shifts, self.changes[method]))

    @property
    def sentence(self) -> str:
        """The undetected shifts and their effects, in words."""
        parts = []
        for direction, word in ((1, "higher"), (-1, "lower")):
            undetected = self.unseen(direction)
            shift = direction * (_SHOWN if undetected is None else undetected)
            changes = {name: self.change(name, shift) for name in self.changes}
            defined = [f"{name} {signed(change)}" for name, change in changes.items() if not np.isnan(change)]
            errors = ", ".join(defined) or "an unknown number"
            if undetected is None:
                parts.append(
                    f"positives scoring {word} would hardly be noticed at all; {_SHOWN:g} sd {word} would move the "
                    f"count by: {errors}"
                )
            else:
                parts.append(
                    f"positives scoring up to {undetected:.2g} sd {word} would be missed 4 times in 5 or more often "
                    f"and move the count by: {errors}"
                )
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}. Only labels from the target can tell."

    def heading(self) -> str:
        """The sentence."""
        return self.sentence

    def rows(self) -> list[Row]:
        """One line per shift: the power against it and its effect on each count."""
        return [
            {
                "shift": float(shift),
                "noticed": float(power),
                **{name: float(line[i]) for name, line in self.changes.items()},
            }
            for i, (shift, power) in enumerate(zip(self.shifts, self.power, strict=True))
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "sentence": self.sentence,
            "unseen_up": plain(self.unseen(1)),
            "unseen_down": plain(self.unseen(-1)),
            "shifts": plain(self.shifts),
            "power": plain(self.power),
            "changes": plain(dict(self.changes)),
        }


def sensitivity(
    validation: Tally,
    target: Tally,
    methods: Sequence[str] = ("ac", "bayes"),
    *,
    threshold: float | str | None = None,
    training_prevalence: float | None = None,
) -> Sensitivity:
    r"""Sensitivity analysis: the shifts of the positives' scores that :func:`mixture_fit` would miss, and their effect
    on counts.

    No test of the target's scores alone detects a change of the positives that looks like more or fewer of them. Here
    their scores shift by a number of their standard deviations (of the log odds, for probabilities); the power of
    :func:`mixture_fit` is that of a non-central :math:`\chi^2` whose parameter is the misfit that remains after the
    prevalence is fitted anew, less what the sampling error of the positives adds to it; and each method counts a target
    with shifted positives. Powers were right to within 0.2 in simulation and too high at low prevalences: of upward
    shifts with a stated power of 0.2, 11 % were detected at a prevalence of 5 % (148 samples of 5000 rows) and 5 % at 2
    % (117 samples).

    Parameters
    ----------
    validation
        Labelled tally.
    target
        Unlabelled tally of the same model's scores.
    methods
        Names of quantifiers.
    threshold
        Where methods that cut the scores do.
    training_prevalence
        Prevalence the model was trained at, where it is not the validation sample's.

    Returns
    -------
    Sensitivity
        Power and errors of the counts at shifts from -2 to 2 standard deviations.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> new = tm.tally(scores=rng.normal(2.0 * (np.arange(2000) < 200)))
    >>> tm.quantify.sensitivity(t, new, ["pacc"]).change("pacc", 0.5) > 0
    True

    """
    one = one_target(target, "sensitivity()")
    names = [
        QUANTIFIERS[name].name
        for name in ([methods] if isinstance(methods, str) else _check.several(methods, "methods"))
    ]
    if not names:
        raise InputError("sensitivity needs a quantifier or more.")
    bins = _Bins.of(checked_pair(validation, [one]), one)
    probabilities = validation.is_probability and one.is_probability
    positive, negative = _Scores.of(validation.positive), _Scores.of(validation.negative)
    moved = [positive.shifted(shift, probabilities=probabilities) for shift in _SHIFTS.tolist()]
    dtype = validation.runs[0].scores.dtype
    changes = {}
    for name in names:
        method = QUANTIFIERS[name]
        problem = problem_of(method, validation, [one], threshold, training_prevalence)
        clean = problem.clean(one)
        targets = [_mixture(scores, negative, bins, dtype, whole=method.whole_rows) for scores in moved]
        values = np.array([problem.shares(clean, samples)[0] for samples in targets])
        changes[name] = (values - values[len(_SHIFTS) // 2]) * float(one.n)
    power = np.array([bins.power_against(positive, scores) for scores in moved])
    return Sensitivity(_SHIFTS, power, changes, one.n, bins.share)


@dataclass(frozen=True, eq=False)
class _Scores:
    """Scores of one class and the weight of each, which sum to one."""

    scores: Floats
    mass: Floats

    @classmethod
    def of(cls, run: Run) -> Self:
        scores = run.scores if run.hi is None else (run.scores + run.hi) / 2.0
        return cls(scores.astype(np.float64), run.mass / float(run.total))

    def shifted(self, shift: float, *, probabilities: bool) -> Self:
        """Scores shifted by a number of their standard deviations; probabilities on the scale of their log odds."""
        x = logit(self.scores) if probabilities else self.scores
        spread = math.sqrt(max(float(np.sum(self.mass * x**2) - np.sum(self.mass * x) ** 2), 0.0))
        x = x + shift * spread
        if probabilities:
            x = self.scores if shift == 0.0 else 1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0)))
        return replace(self, scores=x)


@dataclass(frozen=True, eq=False)
class _Bins:
    """Shares of the negatives and the positives in the bins of the mixture test, the target's
    prevalence and all sizes.
    """

    edges: Floats
    negative: Floats
    positive: Floats
    share: float
    #: Effective rows of the validation sample's negatives and positives, and of the target.
    sizes: Sequence[float]

    @classmethod
    def of(cls, validation: Tally, target: Tally) -> Self:
        clean = Validation.of(validation, target, None)
        edges = adaptive_edges(clean)
        sides = (clean.negative, clean.positive, Samples.of_run(target.runs[0]))
        negative, positive, observed = (side.within(edges)[0] for side in sides)
        sizes = [run.effective_size for run in (validation.negative, validation.positive, target.runs[0])]
        return cls(edges, negative, positive, most_fitting(negative, positive, observed, sizes), sizes)

    def power_against(self, positive: _Scores, shifted: _Scores) -> float:
        """Power of the mixture test against positives with shifted scores."""
        from scipy.special import chdtri
        from scipy.stats import ncx2

        before, after = (np.searchsorted(self.edges[1:-1], one.scores, "right") for one in (positive, shifted))
        shares = np.bincount(after, positive.mass, len(self.positive)).astype(np.float64)
        kept = (self.negative + self.positive + shares) > 0.0
        freedom = int(kept.sum()) - 2
        if freedom < 1 or self.share <= 0.0:
            return 0.0
        across = self._precision_across(shares, kept)
        gap = (self.share * (shares - self.positive))[kept][1:]
        # Part of the gap is the sampling error of the positives, which shifted with them.
        places = np.arange(len(after))
        changes = np.zeros((len(after), len(self.positive)))
        np.add.at(changes, (places, after), 1.0)
        np.add.at(changes, (places, before), -1.0)
        changes = changes[:, kept][:, 1:]
        centred = changes - positive.mass @ changes
        noise = np.einsum("n,ni,nj->ij", positive.mass, centred, centred) / self.sizes[1]
        noncentrality = max(float(gap @ across @ gap) - self.share**2 * float(np.sum(across * noise)), 0.0)
        if not noncentrality > 0.0:
            return SURE
        return float(ncx2.sf(chdtri(freedom, SURE), freedom, noncentrality))

    def _precision_across(self, shares: Floats, kept: Bools) -> Floats:
        """Inverse covariance of the bins' misfit less its part along the mixture line, which the prevalence absorbs."""
        target = self.share * shares + (1.0 - self.share) * self.negative
        fitted = most_fitting(self.negative, self.positive, target, self.sizes)
        precision = np.linalg.inv(mixture_covariance(fitted, self.negative[kept], self.positive[kept], self.sizes))
        line = (self.positive - self.negative)[kept][1:]
        along = precision @ line
        length = float(line @ along)
        return np.asarray(precision - np.outer(along, along) / length if length > 0.0 else precision)


def _mixture(positive: _Scores, negative: _Scores, bins: _Bins, dtype: Any, *, whole: bool) -> Samples:
    """A target of positives and negatives with these scores; of `whole` rows, as many as come nearest."""
    share, rows = bins.share, bins.sizes[2]
    scores = np.concatenate((positive.scores, negative.scores)).astype(dtype)
    weight = np.concatenate((share * positive.mass, (1.0 - share) * negative.mass)) * rows
    order = np.argsort(scores, kind="stable")
    weight = weight[order]
    if whole:
        weight = np.diff(np.rint(np.cumsum(weight)), prepend=0.0)
    return Samples(scores[order], mass=weight[None, :], effective_size=rows)
