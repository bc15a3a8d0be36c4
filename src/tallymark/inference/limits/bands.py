"""Confidence bands of curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallymark import _check
from tallymark._check import Column, Floats
from tallymark.curves.base import Curve, with_both_classes
from tallymark.errors import InputError
from tallymark.inference.interval import Sampling, Seed, checked_level, require_separate_rows
from tallymark.inference.limits.calibration_errors import rows_in_bins
from tallymark.inference.limits.proportions import limits
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool
from tallymark.metrics.declare import require_probabilities
from tallymark.metrics.probability import BINS, Binning, calibration_bins, calibration_starts
from tallymark.registry import require_one_of
from tallymark.summaries.tally import Tally

RocBandMethod = Literal["fixed_fpr", "fixed_threshold", "kolmogorov"]

#: Points at which a band by resampling is computed.
_POINTS = 101

#: Entries resampled at most.
_MOST = 2**13


@dataclass(frozen=True, eq=False, repr=False)
class Band(Curve):
    """A curve with confidence limits.

    Parameters
    ----------
    points
        Columns `x`, `value`, `low`, `high`, and `x_low`, `x_high` where x is uncertain too.
    curve
        Name of the curve.
    interval_method
        How the limits were computed.
    level
        Confidence level.
    simultaneous
        Whether the band holds for the whole curve.
    """

    points: Mapping[str, Column]
    curve: str
    interval_method: str
    level: float
    simultaneous: bool

    def columns(self) -> Mapping[str, Column]:
        """The band, by column."""
        return self.points

    def heading(self) -> str:
        """What kind of band."""
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return f"{self.curve} with a {kind} {100 * self.level:g} % band ({self.interval_method}), {len(self)} points"


def roc_band(
    tally: Tally,
    *,
    level: float = 0.95,
    method: RocBandMethod = "fixed_fpr",
    simultaneous: bool = False,
    replicates: int = 1_000,
    seed: Seed = 0,
    jobs: int | None = None,
    at: Sequence[float] | Floats | None = None,
) -> Band:
    r"""Confidence band of the ROC curve.

    Rubin (1981), Ann. Stat. 9(1); Macskassy & Provost (2004), ROCAI; Campbell (1994), Stat. Med. 13(5-7).

    Parameters
    ----------
    tally
        A labelled tally.
    level
        Confidence level.
    method
        ``"fixed_fpr"`` gives rows random weights (the Bayesian bootstrap) and takes the recall at each false positive
        rate, with a pseudo-observation in the worst place below and in the best place above. ``"fixed_threshold"``
        gives the point of each threshold a Wilson interval in both directions. ``"kolmogorov"`` moves the curve by the
        Kolmogorov–Smirnov limits of both classes, :math:`\pm c/\sqrt N` along and :math:`\pm c/\sqrt P` across, each at
        level :math:`\sqrt{1-\alpha}`, and is always simultaneous.
    simultaneous
        Whether the band holds for the whole curve instead of each point.
    replicates, seed
        Number and seed of the resamples.
    jobs
        Number of threads; by default one for each core, at most 8.
    at
        False positive rates of the points of ``"fixed_fpr"``; by default a hundred equal steps.

    Returns
    -------
    Band

    Examples
    --------
    >>> import tallymark as tm
    >>> band = tm.intervals.roc_band(tm.tally([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]), method="kolmogorov")
    >>> bool((band.points["low"] <= band.points["value"]).all())
    True
    """
    tally, confidence = with_both_classes(tally, "intervals.roc_band"), checked_level(level)
    require_separate_rows(tally.clusters, "roc_band")
    require_one_of("method", method, ("fixed_fpr", "fixed_threshold", "kolmogorov"))
    if method == "fixed_fpr":
        grid = np.linspace(0.0, 1.0, _POINTS) if at is None else _rates(at)
        value = _recall_at(Resamples.of(tally, _MOST), grid)[0]

        def curves(spacings: _Spacings) -> tuple[Floats, Floats]:
            return spacings.recall(grid, worst=True), spacings.recall(grid, worst=False)

        low, high = _weighted_limits(tally, curves, confidence, simultaneous, Resampling(replicates, seed, jobs))
        points = {"x": grid, "value": value, "low": np.minimum(low, value), "high": np.maximum(high, value)}
        return Band(points, "ROC curve", method, confidence, simultaneous)
    if at is not None:
        raise InputError(f"at= goes with method='fixed_fpr'; {method} has a point for each threshold.")
    cut = tally.cutoffs
    down, up = (run.effective_size for run in tally.runs)
    fpr, tpr = cut.fp / tally.negatives, cut.tp / tally.positives
    if method == "fixed_threshold":
        if simultaneous:
            raise InputError("fixed_threshold limits hold point by point; for the whole curve use method='kolmogorov'.")
        x_low, x_high = limits(fpr * down, down, confidence, "wilson")
        low, high = limits(tpr * up, up, confidence, "wilson")
    else:
        along, across = (_kolmogorov(n, confidence) for n in (down, up))
        x_low, x_high = np.maximum(fpr - along, 0.0), np.minimum(fpr + along, 1.0)
        low, high = np.maximum(tpr - across, 0.0), np.minimum(tpr + across, 1.0)
    points = {"threshold": cut.thresholds, "x": fpr, "value": tpr, "low": low, "high": high}
    points |= {"x_low": x_low, "x_high": x_high}
    return Band(points, "ROC curve", method, confidence, simultaneous or method == "kolmogorov")


def pr_band(
    tally: Tally,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    sampling: Sampling = "plain",
    replicates: int = 1_000,
    seed: Seed = 0,
    jobs: int | None = None,
) -> Band:
    """Confidence band of the precision–recall curve: precision at fixed recall.

    Rows get random weights (the Bayesian bootstrap), with a pseudo-observation in the worst place below and in the best
    place above, so that the band keeps its level where the curve depends on a few rows. Rubin (1981), Ann. Stat. 9(1).

    Parameters
    ----------
    tally
        A labelled tally.
    level
        Confidence level.
    simultaneous
        Whether the band holds for the whole curve instead of each point.
    sampling
        ``"plain"`` draws the prevalence too; ``"stratified"``, or a stated prevalence, holds it fixed.
    replicates, seed
        Number and seed of the resamples.
    jobs
        Number of threads; by default one for each core, at most 8.

    Returns
    -------
    Band

    Examples
    --------
    >>> import tallymark as tm
    >>> band = tm.intervals.pr_band(tm.tally([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]), replicates=200)
    >>> len(band)
    100
    """
    tally, confidence = with_both_classes(tally, "intervals.pr_band"), checked_level(level)
    require_separate_rows(tally.clusters, "pr_band")
    require_one_of("sampling", sampling, ("stratified", "plain"))
    grid = np.linspace(0.0, 1.0, _POINTS)[1:]
    value = _precision_at(Resamples.of(tally, _MOST), grid)[0]
    prevalence = None if sampling == "plain" and tally.prior is None else tally.prevalence

    def curves(spacings: _Spacings) -> tuple[Floats, Floats]:
        worst, best = (spacings.precision(grid, worst=worst, prevalence=prevalence) for worst in (True, False))
        return worst, best

    low, high = _weighted_limits(tally, curves, confidence, simultaneous, Resampling(replicates, seed, jobs))
    points = {"x": grid, "value": value, "low": np.minimum(low, value), "high": np.maximum(high, value)}
    return Band(points, "PR curve", "bayesian bootstrap, extra row", confidence, simultaneous)


def calibration_band(
    tally: Tally, *, bins: int = BINS, by: Binning = "mass", level: float = 0.95, simultaneous: bool = False
) -> Band:
    """Calibration curve with limits of the observed share in each bin.

    Parameters
    ----------
    tally
        A labelled tally of probabilities.
    bins
        Number of bins.
    by
        ``"mass"`` for bins of equal mass, ``"width"`` for equal widths.
    level
        Confidence level.
    simultaneous
        Whether the band holds for the whole curve: Clopper–Pearson's limits with Bonferroni's correction instead of
        mid-p limits.

    Returns
    -------
    Band

    Examples
    --------
    >>> import tallymark as tm
    >>> band = tm.intervals.calibration_band(tm.tally([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]), bins=2)
    >>> band.points["value"].tolist()
    [0.5, 0.5]
    """
    tally, confidence = with_both_classes(tally, "intervals.calibration_band"), checked_level(level)
    require_separate_rows(tally.clusters, "calibration_band")
    require_probabilities("calibration_band", tally)
    curve, starts = calibration_bins(tally, bins, by), calibration_starts(tally, bins, by)
    each = 1.0 - (1.0 - confidence) / len(starts) if simultaneous else confidence
    n = rows_in_bins(tally, starts)
    # Exact limits for a whole curve: at its strict levels others fall short where a bin has few positives.
    method = "clopper_pearson" if simultaneous else "mid_p"
    low, high = limits(curve.observed * n, n, each, method)
    points = {"x": curve.mean_score, "value": curve.observed, "low": low, "high": high, "n": n}
    return Band(points, "Calibration curve", method, confidence, simultaneous)


def _rates(at: Sequence[float] | Floats) -> Floats:
    rates = np.sort(_check.scores(at, "at").astype(np.float64))
    if not len(rates) or rates[0] < 0.0 or rates[-1] > 1.0:
        raise InputError("at are false positive rates, expected numbers from 0 to 1.")
    return rates


def _kolmogorov(n: float, level: float) -> float:
    """Half width of a simultaneous band of a distribution function, at the level √level for each of two classes."""
    from scipy.stats import kstwo

    return float(kstwo.ppf(np.sqrt(level), max(1, round(n))))


def _recall_at(draws: Resamples, grid: Floats) -> Floats:
    """Recall reached at each false positive rate."""
    tp, fp = draws.above
    down, up = draws.totals
    values = np.empty((len(draws), len(grid)))
    for i in range(len(draws)):
        # From the highest threshold down both rates grow; the last one within the rate counts.
        reached = np.searchsorted(fp[i, ::-1] / down[i], grid, "right")
        values[i] = np.concatenate(([0.0], tp[i, ::-1] / up[i]))[reached]
    return values


def _precision_at(draws: Resamples, grid: Floats) -> Floats:
    """Precision at the highest threshold that reaches each recall."""
    tp, fp = draws.above
    _, up = draws.totals
    down_scale, up_scale = draws.pool.tally.scale
    values = np.empty((len(draws), len(grid)))
    for i in range(len(draws)):
        true, false = tp[i, ::-1], fp[i, ::-1] * (down_scale / up_scale)
        first = np.minimum(np.searchsorted(true / up[i], grid - 1e-12, "left"), len(true) - 1)
        values[i] = true[first] / (true[first] + false[first])
    return values


class _Spacings:
    """Random weights of the entries of both classes, from the highest score down, and of a pseudo-observation of each.

    The weights of ordered rows are distributed as spacings of uniform numbers, so that the weight above the j-th
    negative is distributed as the true false positive rate there. Each line is one draw.
    """

    def __init__(self, pool: Pool, rng: np.random.Generator, times: int) -> None:
        self._masses, self._extras = [], []
        for stratum in pool.strata:
            size = stratum.squares / stratum.mass
            self._masses.append((rng.standard_gamma(stratum.mass / size, (times, len(size))) * size)[:, ::-1])
            self._extras.append(rng.standard_exponential((times, 1)) * (stratum.squares.sum() / stratum.mass.sum()))
        down, up = pool.strata
        # Entries of the other class strictly above each entry, and at or above it, counted from the top.
        self._positives_above = len(up.cells) - np.searchsorted(up.cells, down.cells[::-1], "right")
        self._negatives_from = len(down.cells) - np.searchsorted(down.cells, up.cells[::-1], "left")

    def _shares(self, side: int, *, on_top: bool) -> tuple[Floats, Floats]:
        """Cumulative share of the entries, with the pseudo-observation above or below all; and the total mass."""
        masses, extra = self._masses[side], self._extras[side]
        upto = np.concatenate((np.zeros_like(extra), np.cumsum(masses, axis=1)), axis=1)
        total = upto[:, -1:] + extra
        return (upto + extra if on_top else upto) / total, total

    def recall(self, grid: Floats, *, worst: bool) -> Floats:
        """Recall where the false positive rate reaches each point of the grid."""
        false, _ = self._shares(0, on_top=False)
        true, _ = self._shares(1, on_top=not worst)
        # Before the first negative nothing may be predicted positive yet; past the last one everything may be.
        above = np.concatenate(([0], self._positives_above, [true.shape[1] - 1]))
        values = np.empty((len(false), len(grid)))
        for i in range(len(false)):
            reached = np.searchsorted(false[i, 1:], grid, "right")
            values[i] = true[i, above[reached if worst else reached + 1]]
            if not worst:
                values[i, reached >= len(self._positives_above)] = 1.0
        return values

    def precision(self, grid: Floats, *, worst: bool, prevalence: float | None) -> Floats:
        """Precision where recall reaches each point of the grid."""
        false, all_false = self._shares(0, on_top=worst)
        true, all_true = self._shares(1, on_top=not worst)
        share = all_true / (all_true + all_false) if prevalence is None else np.full((len(true), 1), prevalence)
        # Below the last positive everything may have to be predicted positive; above the first, nothing.
        places = np.concatenate(([0], self._negatives_from, [false.shape[1] - 1]))
        values = np.empty((len(true), len(grid)))
        for i in range(len(true)):
            reached = np.searchsorted(true[i, 1:], grid, "left")
            called = false[i, places[reached + 1 if worst else reached]]
            if worst:
                called[reached >= len(self._negatives_from)] = 1.0
            else:
                called[reached == 0] = 0.0
            values[i] = share[i] * grid / (share[i] * grid + (1.0 - share[i]) * called)
        return values


def _weighted_limits(
    tally: Tally,
    curves: Callable[[_Spacings], tuple[Floats, Floats]],
    level: float,
    simultaneous: bool,
    resampling: Resampling,
) -> tuple[Floats, Floats]:
    """Limits from draws of the worst and of the best curve, pointwise or simultaneous."""
    pool = Pool.of(tally, _MOST)
    drawn = resampling.blocks(
        lambda times, entropy: curves(_Spacings(pool, np.random.default_rng(entropy), times)), _BLOCK
    )
    worst, best = (np.concatenate([one[side] for one in drawn]) for side in (0, 1))
    tail = (1.0 - level) / 2
    return _lower(worst, tail, simultaneous), 1.0 - _lower(1.0 - best, tail, simultaneous)


#: Resamples made at a time.
_BLOCK = 50


def _lower(curves: Floats, tail: float, simultaneous: bool) -> Floats:
    """The curve with a share `tail` of the draws below it, at each point or simultaneously."""
    if simultaneous:
        # The quantile of each draw's lowest rank over all points.
        tail = float(np.quantile(_ranks(curves).min(axis=1), tail))
    quantiles: Floats = np.quantile(curves, tail, axis=0, method="lower")
    return quantiles


def _ranks(curves: Floats) -> Floats:
    """The share of draws below each draw, at every point."""
    ordered = np.sort(curves, axis=0)
    values = np.empty_like(curves)
    for k in range(curves.shape[1]):
        values[:, k] = np.searchsorted(ordered[:, k], curves[:, k], "left")
    return values / len(curves)
