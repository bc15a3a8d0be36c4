"""DeLong's covariance of AUROCs of several models, and intervals of one AUROC."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallymark._check import Bools, Floats, Scores
from tallymark._display import Row, Shown, plain
from tallymark.curves.base import with_both_classes
from tallymark.errors import InputError, Undefined, shown
from tallymark.inference.interval import Interval, checked_level, require_separate_rows
from tallymark.inference.limits.rank_effects import auroc_effect
from tallymark.inference.scales import critical_value, on_scale, scale_of
from tallymark.metrics.ranking import auroc_of
from tallymark.registry import require_one_of
from tallymark.summaries.panel import Panel
from tallymark.summaries.sorting import starts_of_groups
from tallymark.summaries.tally import Tally

AurocMethod = Literal["extra_row", "logit", "plain", "hanley_mcneil"]


@dataclass(frozen=True, eq=False, repr=False)
class DeLong(Shown):
    """AUROCs of several models on the same rows and the covariance of their estimates.

    Parameters
    ----------
    models
        Names of the models.
    aurocs
        AUROC of each model.
    covariance
        Covariance matrix of the estimates.
    """

    models: tuple[str, ...]
    aurocs: Floats
    covariance: Floats

    def __post_init__(self) -> None:
        for array in (self.aurocs, self.covariance):
            array.flags.writeable = False

    def difference(self, first: str, second: str) -> tuple[float, float]:
        """AUROC of the first less that of the second, and the standard error of the difference."""
        i, j = (self._index(model) for model in (first, second))
        c = self.covariance
        return float(self.aurocs[i] - self.aurocs[j]), error_of_difference(c, i, j)

    def correlation(self, first: str, second: str) -> float:
        """Correlation of the two estimates; 0 where one of them shows no variance."""
        return correlation_of(self.covariance, *(self._index(model) for model in (first, second)))

    def _index(self, model: str) -> int:
        if model not in self.models:
            raise InputError(f"No model {model!r}; there are {shown(self.models)}.")
        return self.models.index(model)

    def heading(self) -> str:
        """What the table shows."""
        return f"AUROC of {len(self.models)} models with DeLong standard errors and their correlations"

    def rows(self) -> list[Row]:
        """One line per model."""
        errors = np.sqrt(np.diag(self.covariance))
        scale = np.where(errors > 0, errors, 1.0)
        correlations = self.covariance / np.outer(scale, scale)
        return [
            {
                "model": model,
                "auroc": float(self.aurocs[i]),
                "error": float(errors[i]),
                **{name: float(correlations[i, j]) for j, name in enumerate(self.models)},
            }
            for i, model in enumerate(self.models)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"models": list(self.models), "auroc": plain(self.aurocs), "covariance": plain(self.covariance)}


def delong(panel: Panel) -> DeLong:
    r"""AUROCs of the models of a panel and DeLong's covariance of them.

    With placements :math:`V_i` (the share of the other class on the right side of a score, ties one half),
    :math:`\mathrm{Cov} = S_{10}/P + S_{01}/N`, S the covariance matrices of the placements of the positives and of
    the negatives. With weights each row enters by its square: :math:`\sum w_i^2 (V_i - A)(V_i' - A') / (\sum w_i)^2`.
    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44(3); Sun & Xu (2014), IEEE Signal Process. Lett. 21(11).

    Parameters
    ----------
    panel
        Rows with the scores of the models.

    Returns
    -------
    DeLong

    Examples
    --------
    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 0, 1, 1, 1], {"a": [1, 2, 4, 3, 5, 6], "b": [1, 4, 5, 2, 3, 6]})
    >>> [round(float(a), 4) for a in tm.intervals.delong(p).aurocs]
    [0.8889, 0.5556]
    """
    if not isinstance(panel, Panel):
        raise InputError(f'delong takes a Panel, got {type(panel).__name__}. Write tm.panel(y, {{"a": scores}}).')
    require_separate_rows(panel.cluster, "delong")
    present = panel.mass > 0
    is_positive, mass = panel.is_positive[present], panel.mass[present].astype(np.float64)
    if is_positive.all() or not is_positive.any():
        raise InputError("delong needs rows of both classes.")
    placed = {name: _placements(scores[present], is_positive, mass) for name, scores in panel.scores.items()}
    return _of_placements(placed, is_positive, mass, weighted=panel.weights is not None)


def _placements(scores: Scores, is_positive: Bools, mass: Floats) -> Floats:
    """For each row, the share of the other class on the right side of its score; ties count one half."""
    order = np.argsort(scores)
    ascending, up = scores[order], is_positive[order]
    starts = starts_of_groups(ascending)
    sizes = np.diff(np.append(starts, len(ascending)))
    middles = []
    for side in (~up, up):
        upto = np.concatenate(([0.0], np.cumsum(np.where(side, mass[order], 0.0))))
        middles.append((upto[starts] + upto[starts + sizes]) / (2.0 * upto[-1]))
    below_negatives, below_positives = (np.repeat(middle, sizes) for middle in middles)
    values = np.empty(len(order))
    values[order] = np.where(up, below_negatives, 1.0 - below_positives)
    return values


def _of_placements(placed: Mapping[str, Floats], is_positive: Bools, mass: Floats, *, weighted: bool) -> DeLong:
    total = float(mass[is_positive].sum())
    aurocs = np.array([float(np.sum((mass * values)[is_positive])) / total for values in placed.values()])
    influence = np.stack([values - value for values, value in zip(placed.values(), aurocs, strict=True)])
    return DeLong(tuple(placed), aurocs, covariance(influence, is_positive, mass, weighted=weighted))


def error_of_difference(covariances: Floats, i: int, j: int) -> float:
    """Standard error of a difference; two models that do the same have none, up to rounding."""
    variance = float(covariances[i, i] + covariances[j, j] - 2.0 * covariances[i, j])
    if not math.isfinite(variance):
        raise Undefined("the scores are too large or too small for a variance of their difference")
    return math.sqrt(max(0.0, variance))


def correlation_of(covariances: Floats, i: int, j: int) -> float:
    """Correlation of two estimates; 0 where one of them shows no variance."""
    scale = math.sqrt(float(covariances[i, i]) * float(covariances[j, j]))
    return min(1.0, max(-1.0, float(covariances[i, j]) / scale)) if scale > 0.0 else 0.0


def covariance(
    influence: Floats,
    is_positive: Bools,
    mass: Floats,
    *,
    weighted: bool,
    by_mass: Floats | None = None,
    plain: bool = False,
) -> Floats:
    """Covariance of estimates, given the influence of every row (columns) on each (rows).

    `by_mass` are the derivatives of each estimate with respect to the log mass of the negatives and of the positives.
    With `plain` class sizes are random; else they are fixed, and only uneven weights change the masses.
    """
    values = np.zeros((len(influence), len(influence)))
    slopes = np.zeros((len(influence), 2)) if by_mass is None else by_mass
    everything = 0.0
    for slope, side in zip(slopes.T, (~is_positive, is_positive), strict=True):
        masses = mass[side]
        rows = float(len(masses)) if weighted else float(masses.sum())
        if rows < 2:
            raise InputError("Two rows or more of each class are needed.")
        everything += rows
        # A count of c is c rows of weight 1.
        weight = (masses if weighted else np.ones(len(masses))) / masses.sum()
        terms = (influence[:, side] + slope[:, None]) * weight - (0.0 if plain else slope[:, None] / rows)
        terms = terms if weighted else terms * np.sqrt(masses)
        # Not a matrix product: BLAS results depend on the number of threads.
        values += np.einsum("ik,jk->ij", terms, terms) * (rows / (rows - 1.0))
    if plain:
        # The number of all rows is fixed.
        total = slopes.sum(axis=1)
        values -= np.outer(total, total) / everything
    return values


def auroc(tally: Tally, *, level: float = 0.95, method: AurocMethod = "extra_row") -> Interval:
    r"""AUROC with its confidence interval.

    Qin & Hotilovac (2008), Stat. Methods Med. Res. 17(2); Hanley & McNeil (1982).

    Parameters
    ----------
    tally
        A labelled tally.
    level
        Confidence level.
    method
        ``"extra_row"`` adds a pseudo-observation of weight 0.35 in the worst place (for the upper limit, the best) to
        DeLong's placements and takes the quantile of a Beta distribution with their mean and variance; it is defined
        for a perfect ranking too. ``"logit"`` takes DeLong's standard error to the logit scale, with Student's t;
        ``"plain"`` is :math:`A \pm z\,\mathrm{SE}`; ``"hanley_mcneil"`` is plain with the standard error of exponential
        scores. The last three are undefined for a perfect ranking.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    >>> tm.intervals.auroc(t, method="hanley_mcneil")
    0.8889 (0.5885 to 1.0000, 95 % hanley_mcneil)
    """
    with_both_classes(tally, "intervals.auroc")
    require_one_of("method", method, ("extra_row", "logit", "plain", "hanley_mcneil"))
    require_separate_rows(tally.clusters, "auroc")
    confidence, value = checked_level(level), auroc_of(tally)
    effect = auroc_effect(tally)
    if method == "extra_row":
        low, high = effect.limits(value, confidence)
        return Interval(value, float(low), float(high), "beta, extra row", confidence)
    if method == "hanley_mcneil":
        error = hanley_mcneil(value, *(float(run.n_rows) for run in reversed(tally.runs)))
    else:
        spread = effect.spread()
        error = spread.error
    if not error > 0.0:
        raise Undefined(f"auroc: no {method} interval, for the ranking shows no variance; use method='extra_row'")
    if method == "logit":
        return Interval(
            value,
            *on_scale(value, error, spread.freedom, confidence, scale_of(0.0, 1.0)),
            "DeLong, logit",
            confidence,
        )
    reach = critical_value(confidence) * error
    name = "DeLong, plain" if method == "plain" else method
    return Interval(value, max(0.0, value - reach), min(1.0, value + reach), name, confidence)


def hanley_mcneil(auroc: float, positives: float, negatives: float) -> float:
    """Standard error of an AUROC of exponential scores. Hanley & McNeil (1982), Radiology 143(1)."""
    q1, q2 = auroc / (2.0 - auroc), 2.0 * auroc**2 / (1.0 + auroc)
    variance = auroc * (1.0 - auroc) + (positives - 1.0) * (q1 - auroc**2) + (negatives - 1.0) * (q2 - auroc**2)
    return math.sqrt(max(0.0, variance / (positives * negatives)))
