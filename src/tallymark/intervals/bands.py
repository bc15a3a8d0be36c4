"""Confidence bands of curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Floats
from tallymark.curves.base import Curve, with_both_classes
from tallymark.errors import InputError
from tallymark.intervals.base import Seed, checked_level
from tallymark.intervals.calibrated import rows_in_bins
from tallymark.intervals.draws import Draws
from tallymark.intervals.influence import effective_rows
from tallymark.intervals.proportions import limits
from tallymark.intervals.replicates import over_replicates
from tallymark.metrics.probability import Binning, calibration_bins, calibration_starts
from tallymark.registry import require_one_of
from tallymark.summaries.tally import Tally

RocBandMethod = Literal["fixed_fpr", "fixed_threshold", "kolmogorov"]

#: Points at which a band by resampling is computed.
_POINTS = 101

#: Entries resampled at most.
_MOST = 2**13


@dataclass(frozen=True, eq=False, repr=False)
class Band(Curve):
    """A curve with limits: `x`, `value`, `low`, `high`, and `x_low`, `x_high` where x is uncertain too."""

    points: Mapping[str, NDArray[Any]]
    curve: str
    method: str
    level: float
    simultaneous: bool

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """The band, by column."""
        return self.points

    def heading(self) -> str:
        """What kind of band."""
        kind = "simultaneous" if self.simultaneous else "pointwise"
        return f"{self.curve} with a {kind} {100 * self.level:g} % band ({self.method}), {len(self)} points"


def roc_band(
    tally: Tally, *, level: float = 0.95, method: RocBandMethod = "fixed_fpr", simultaneous: bool = False,
    replicates: int = 1_000, seed: Seed = 0, jobs: int | None = None,
) -> Band:  # fmt: skip
    r"""Confidence band of the ROC curve.

    `fixed_fpr` resamples the recall reached at each false positive rate; `fixed_threshold` gives each threshold's point
    a Wilson interval in both directions; `kolmogorov` moves the curve by the Kolmogorov–Smirnov limits of both
    classes, :math:`\pm c/\sqrt N` along and :math:`\pm c/\sqrt P` across, each at level :math:`\sqrt{1-\alpha}`, and
    always holds for the whole curve. Macskassy & Provost (2004), ROCAI; Campbell (1994), Stat. Med. 13(5-7).

    >>> import tallymark as tm
    >>> band = tm.intervals.roc_band(tm.tally([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]), method="kolmogorov")
    >>> bool((band.points["low"] <= band.points["value"]).all())
    True
    """
    tally, share = with_both_classes(tally, "roc_band"), checked_level(level)
    require_one_of("method", method, ("fixed_fpr", "fixed_threshold", "kolmogorov"))
    if method == "fixed_fpr":
        grid = np.linspace(0.0, 1.0, _POINTS)
        found = _resampled(tally, lambda draws: _recall_at(draws, grid), share, simultaneous, replicates, seed, jobs)
        # At one rate the recall is a share of the positives: never surer than that.
        positives = effective_rows(tally.positive)
        low, high = limits(found[0] * positives, positives, share)
        points = {"x": grid, "value": found[0], "low": np.minimum(found[1], low), "high": np.maximum(found[2], high)}
        return Band(points, "ROC curve", method, share, simultaneous)
    cut = tally.cutoffs
    down, up = (effective_rows(run) for run in tally.runs)
    fpr, tpr = cut.fp / tally.negatives, cut.tp / tally.positives
    if method == "fixed_threshold":
        if simultaneous:
            raise InputError("fixed_threshold limits hold point by point; for the whole curve use method='kolmogorov'.")
        x_low, x_high = limits(fpr * down, down, share)
        low, high = limits(tpr * up, up, share)
    else:
        along, across = (_kolmogorov(n, share) for n in (down, up))
        x_low, x_high = np.maximum(fpr - along, 0.0), np.minimum(fpr + along, 1.0)
        low, high = np.maximum(tpr - across, 0.0), np.minimum(tpr + across, 1.0)
    points = {"threshold": cut.thresholds, "x": fpr, "value": tpr, "low": low, "high": high, "x_low": x_low, "x_high": x_high}  # fmt: skip
    return Band(points, "ROC curve", method, share, simultaneous or method == "kolmogorov")


def pr_band(
    tally: Tally, *, level: float = 0.95, simultaneous: bool = False, replicates: int = 1_000, seed: Seed = 0,
    jobs: int | None = None,
) -> Band:  # fmt: skip
    """Confidence band of the precision–recall curve: precision resampled at fixed recall.

    >>> import tallymark as tm
    >>> band = tm.intervals.pr_band(tm.tally([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]), replicates=200)
    >>> len(band)
    100
    """
    tally, share = with_both_classes(tally, "pr_band"), checked_level(level)
    grid = np.linspace(0.0, 1.0, _POINTS)[1:]
    value, low, high = _resampled(
        tally, lambda draws: _precision_at(draws, grid), share, simultaneous, replicates, seed, jobs
    )
    # Of so many rows called positive a share is right: never surer than that.
    called = grid * effective_rows(tally.positive) / np.maximum(value, np.finfo(np.float64).tiny)
    share_low, share_high = limits(value * called, called, share)
    points = {"x": grid, "value": value, "low": np.minimum(low, share_low), "high": np.maximum(high, share_high)}
    return Band(points, "PR curve", "fixed_recall", share, simultaneous)


def calibration_band(
    tally: Tally, *, bins: int = 10, by: Binning = "mass", level: float = 0.95, simultaneous: bool = False
) -> Band:
    """Calibration curve with Wilson limits of the observed share in each bin (Bonferroni's when simultaneous).

    >>> import tallymark as tm
    >>> band = tm.intervals.calibration_band(tm.tally([0, 1, 0, 1], [0.2, 0.3, 0.6, 0.9]), bins=2)
    >>> band.points["value"].tolist()
    [0.5, 0.5]
    """
    tally, share = with_both_classes(tally, "calibration_band"), checked_level(level)
    found, starts = calibration_bins(tally, bins, by), calibration_starts(tally, bins, by)
    each = 1.0 - (1.0 - share) / len(starts) if simultaneous else share
    n = rows_in_bins(tally, starts)
    low, high = limits(found.observed * n, n, each)
    points = {"x": found.mean_score, "value": found.observed, "low": low, "high": high, "n": n}
    return Band(points, "Calibration curve", "wilson", share, simultaneous)


def _kolmogorov(n: float, level: float) -> float:
    """Half width of a band that holds a whole distribution function, at a level that leaves room for a second one."""
    from scipy.stats import kstwo

    return float(kstwo.ppf(np.sqrt(level), max(1, round(n))))


def _recall_at(draws: Draws, grid: Floats) -> Floats:
    """Recall reached at each false positive rate."""
    tp, fp = draws.above
    down, up = draws.totals
    found = np.empty((len(draws), len(grid)))
    for i in range(len(draws)):
        # From the highest threshold down both rates grow; the last one within the rate counts.
        reached = np.searchsorted(fp[i, ::-1] / down[i], grid, "right")
        found[i] = np.concatenate(([0.0], tp[i, ::-1] / up[i]))[reached]
    return found


def _precision_at(draws: Draws, grid: Floats) -> Floats:
    """Precision at the highest threshold that reaches each recall."""
    tp, fp = draws.above
    _, up = draws.totals
    down_scale, up_scale = draws.pool.tally.scale
    found = np.empty((len(draws), len(grid)))
    for i in range(len(draws)):
        true, false = tp[i, ::-1], fp[i, ::-1] * (down_scale / up_scale)
        first = np.minimum(np.searchsorted(true / up[i], grid - 1e-12, "left"), len(true) - 1)
        found[i] = true[first] / (true[first] + false[first])
    return found


def _resampled(
    tally: Tally, function: Any, level: float, simultaneous: bool, replicates: int, seed: Seed, jobs: int | None
) -> tuple[Floats, Floats, Floats]:
    """The curve, and limits from its resamples; simultaneous ones widen all by the largest studentised distance."""
    found = np.concatenate(over_replicates(tally, function, replicates=replicates, seed=seed, jobs=jobs, most=_MOST))
    value = function(Draws.of(tally, _MOST))[0]
    if not simultaneous:
        low, high = np.quantile(found, [(1.0 - level) / 2, (1.0 + level) / 2], axis=0)
        return value, low, high
    spread = found.std(axis=0, ddof=1)
    # Where no resample moved, half a row of spread stands in.
    spread = np.maximum(spread, 0.5 / min(run.n_rows for run in tally.runs))
    reach = np.quantile(np.max(np.abs(found - value) / spread, axis=1), level)
    return value, np.clip(value - reach * spread, 0.0, 1.0), np.clip(value + reach * spread, 0.0, 1.0)
