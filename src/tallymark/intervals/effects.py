"""Metrics whose influence function has a closed form: how much a row moves each of them, by its class and score."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tallymark._check import Floats, Ints, Scores
from tallymark.errors import Undefined
from tallymark.intervals.base import normal_quantile
from tallymark.intervals.extra_row import Bounded
from tallymark.intervals.influence import FIXED, STEP, Design, Influence, Spread, masses, spread, sums_between
from tallymark.metrics.correlation import rank_slope
from tallymark.metrics.logistic import log_odds, sigmoid
from tallymark.metrics.partial import UP_TO
from tallymark.metrics.probability import log_to_one, log_to_zero
from tallymark.metrics.recalibration import logistic_recalibration
from tallymark.registry import METRICS
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


class Effect(ABC):
    """How much a row moves a metric, by its class and score."""

    #: How an imaginary row in the worst place would move it; None where nothing bounds it.
    bounded: Bounded | None

    @property
    @abstractmethod
    def sides(self) -> tuple[Influence, Influence]:
        """Influence of the negatives and of the positives of the tally it was made for."""

    @abstractmethod
    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of rows of one class."""

    def spread(self, design: Design = FIXED) -> Spread:
        """Standard error of the metric over the tally it was made for."""
        return spread(*self.sides, design)

    def limits(self, value: float, level: Any, design: Design = FIXED, extra: float | None = None) -> tuple[Any, Any]:
        """Limits at one or several levels, never too sure for want of a bad row; `extra` imagines another part of a row."""
        bounded = self._imagined(design) if extra is None else replace(self._imagined(design), extra=extra)
        held = design.by_mass if bounded.anchor is None else (0.0, 0.0)
        variances, rows = self._variances(held, plain=design.plain), [side.effective_rows for side in self.sides]
        freedom = math.inf if math.isfinite(bounded.high - bounded.low) else self.spread(design).freedom
        low, high = bounded.limits(value, variances, rows, level, freedom)
        if bounded.anchor is None or value == bounded.anchor:
            return low, high
        noise = sum(self._variances(design.by_mass, plain=design.plain)) - sum(variances)
        if noise <= 0.0:
            return low, high
        # The prevalence multiplies the distance from the anchor, so its error adds on a logarithmic scale.
        size = abs(value - bounded.anchor)
        step = normal_quantile(0.5 + np.asarray(level) / 2) * math.sqrt(noise) / size
        less, more = size * -np.expm1(-step), size * np.expm1(step)
        down, up = (less, more) if value > bounded.anchor else (more, less)
        return value - np.hypot(value - low, down), value + np.hypot(high - value, up)

    def _imagined(self, design: Design) -> Bounded:
        """What an imaginary row would do, given how the rows were drawn."""
        del design
        if self.bounded is None:
            raise ValueError("nothing bounds this metric")
        return self.bounded

    def _variances(self, by_mass: tuple[float, float], *, plain: bool) -> list[float]:
        return [side.variance(slope, plain=plain) for side, slope in zip(self.sides, by_mass, strict=True)]


@dataclass(frozen=True, eq=False)
class RankEffect(Effect):
    """Influence that depends on where a score stands among the distinct positive scores.

    Cells ascend; odd ones hold a positive score and the negatives tied with it, even ones the negatives between, which
    are joined: nothing that depends on the ranking alone is lost. `negative` and `positive` hold mass, squared weights
    and rows per cell.
    """

    tally: Tally
    negative: tuple[Floats, Floats, Floats]
    positive: tuple[Floats, Floats, Floats]
    of_negative: Floats
    of_positive: Floats
    bounded: Bounded

    @cached_property
    def sides(self) -> tuple[Influence, Influence]:
        """By cell."""
        return Influence(self.of_negative, *self.negative), Influence(self.of_positive, *self.positive)

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each row's cell."""
        first = self.tally.first_of_score
        distinct = self.tally.positive.scores if first is None else self.tally.positive.scores[first]
        cell = np.searchsorted(distinct, scores, "left") + np.searchsorted(distinct, scores, "right")
        found: Floats = (self.of_positive if positive else self.of_negative)[cell]
        return found


@dataclass(frozen=True, eq=False)
class ScoreEffect(Effect):
    """Influence that is a function of the score itself, one for each class."""

    tally: Tally
    of_negative: Callable[[Floats], Floats]
    of_positive: Callable[[Floats], Floats]
    bounded: Bounded | None = None

    @cached_property
    def sides(self) -> tuple[Influence, Influence]:
        """By entry of the tally."""
        down, up = (
            Influence(function(run.scores.astype(np.float64)), *masses(run))
            for run, function in zip(self.tally.runs, (self.of_negative, self.of_positive), strict=True)
        )
        return down, up

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each score."""
        return (self.of_positive if positive else self.of_negative)(scores.astype(np.float64))

    def _imagined(self, design: Design) -> Bounded:
        """A row more of a class also moves the prevalence, where that was drawn."""
        found = super()._imagined(design)
        if not design.plain or found.anchor is not None:
            return found
        (a, b), (c, d), (down, up) = found.negative, found.positive, design.by_mass
        return replace(found, negative=(a + down, b + down), positive=(c + up, d + up))

    def with_bounds(
        self, low: float, high: float, anchor: float | None = None, extra: float | None = None
    ) -> ScoreEffect:
        """With an imaginary row at either end of the scores seen."""
        ends = np.array(self.tally.range)
        down, up = (function(ends) for function in (self.of_negative, self.of_positive))
        worst, best = ([float(end) for end in ends] for ends in ((down.min(), up.min()), (down.max(), up.max())))
        much = _EXTRA_SCORE if extra is None else extra
        return replace(self, bounded=Bounded(low, high, (worst[0], best[0]), (worst[1], best[1]), much, anchor=anchor))


_Side = tuple[Floats, Floats, Floats]

#: Cells of tallies at hand: several effects of one tally share them.
_CELLS: WeakKeyDictionary[Tally, tuple[_Side, _Side]] = WeakKeyDictionary()


def _cells(tally: Tally) -> tuple[_Side, _Side]:
    """Mass, squared weights and rows of both classes in the cells of a :class:`RankEffect`."""
    if tally not in _CELLS:
        _CELLS[tally] = _cells_of(tally)
    return _CELLS[tally]


def _cells_of(tally: Tally) -> tuple[_Side, _Side]:
    below, at_or_below = tally.placements
    first = tally.first_of_score
    starts = np.arange(len(tally.positive)) if first is None else first
    edges = np.empty(2 * len(starts) + 2, dtype=np.int64)
    edges[0], edges[1:-1:2], edges[2:-1:2], edges[-1] = 0, below[starts], at_or_below[starts], len(tally.negative)
    negative = tuple(_run_between(tally.negative, column, edges) for column in ("mass", "squares", "rows"))
    positive = []
    for column in masses(tally.positive):
        cells = np.zeros(len(edges) - 1)
        cells[1::2] = column if first is None else np.add.reduceat(column, first)
        positive.append(cells)
    return negative, tuple(positive)  # type: ignore[return-value]


def _run_between(run: Run, column: str, edges: Ints) -> Floats:
    if run.kind == "weights" and column != "mass":
        return sums_between(getattr(run, column), edges)
    return np.diff(run.mass_before(edges)).astype(np.float64)


#: How much of a row is imagined in the worst place. Found by simulation (docs): less leaves some shapes of scores covered
#: less than 93 %, more widens every interval.
_EXTRA_AUROC, _EXTRA_AP, _EXTRA_PARTIAL, _EXTRA_LENS, _EXTRA_SCORE = 0.35, 0.5, 0.5, 0.25, 0.4

#: Looked at another prevalence, a negative of the sample may stand for so many of those it stands for there that the top
#: of the list rests on a handful of negatives; beyond this share the imagined row goes into both classes in full.
FEW_NEGATIVES = 0.02


def _auroc(tally: Tally, low: float = 0.0, high: float = 1.0, *, anchor: float | None = None) -> RankEffect:
    """DeLong's placements less the AUROC: the share of the other class on the right side of each score.

    `low` and `high` are what a metric that is AUROC on another scale is at an AUROC of 0 and of 1.
    """
    negative, positive = _cells(tally)
    down, up = negative[0], positive[0]
    beaten = (np.cumsum(down) - down / 2) / down.sum()
    beating = (np.cumsum(up[::-1])[::-1] - up / 2) / up.sum()
    value = float(np.sum(up * beaten)) / float(up.sum())
    factor = high - low
    ends = -factor * value, factor * (1.0 - value)
    bounded = Bounded(low, high, ends, ends, _EXTRA_AUROC, anchor=anchor, capped=True)
    return RankEffect(tally, negative, positive, factor * (beating - value), factor * (beaten - value), bounded)


def _rank_correlation(name: str) -> Callable[[Tally], RankEffect]:
    """A multiple of AUROC - ½ while prevalence and tied mass stay as they are."""

    def effect(tally: Tally) -> RankEffect:
        slope = rank_slope(name, tally)
        return _auroc(tally, -slope / 2, slope / 2, anchor=0.0)

    return effect


def _average_precision(tally: Tally) -> RankEffect:
    r"""AP as a mean over positives of :math:`T/(T + rF)`, T and F the shares at or above, r the odds of a negative."""
    negative, positive = _cells(tally)
    down, up = negative[0], positive[0]
    r = (1.0 - tally.prevalence) / tally.prevalence
    share = up / up.sum()
    above = np.cumsum(up[::-1])[::-1] / up.sum()
    false = np.cumsum(down[::-1])[::-1] / down.sum()
    total = np.where(share > 0, above + r * false, 1.0)
    precision = above / total
    value = float(np.sum(share * precision))
    by_true, by_false = share * r * false / total**2, -share * r * above / total**2
    own_true, own_false = float(np.sum(by_true * above)), float(np.sum(by_false * false))
    of_positive = precision - value + np.cumsum(by_true) - own_true
    of_negative = np.cumsum(by_false) - own_false
    # A positive below all rows or above them, a negative above all rows or below them.
    of_positives = 1.0 / (1.0 + r) - value - own_true, 1.0 - value + float(np.sum(by_true)) - own_true
    of_negatives = float(np.sum(by_false)) - own_false, -own_false
    few = tally.prior is not None and rests_on_few_negatives(tally) > FEW_NEGATIVES
    bounded = Bounded(0.0, 1.0, of_negatives, of_positives, _EXTRA_LENS if few else _EXTRA_AP, each=few)
    return RankEffect(tally, negative, positive, of_negative, of_positive, bounded)


def rests_on_few_negatives(tally: Tally) -> float:
    """How many negatives there are for each positive at the prevalence looked at, over the negatives in the sample."""
    return (1.0 - tally.prevalence) / tally.prevalence / tally.negative.worth


def _partial_auc(tally: Tally) -> RankEffect:
    r"""The area up to a false positive rate q as a mean over positives of :math:`\max(0, q - U)`, U the rate at a positive."""
    q = UP_TO
    negative, positive = _cells(tally)
    down, up = negative[0], positive[0]
    rate = (np.cumsum(down[::-1])[::-1] - down / 2) / down.sum()
    found = (np.cumsum(up[::-1])[::-1] - up / 2) / up.sum()
    inside = rate < q
    # The recall where the range ends.
    reached = float(found[np.argmax(inside)]) if inside.any() else 0.0
    height = np.where(inside, q - rate, 0.0)
    lost = np.where(inside, found - reached, 0.0)
    mean_height, mean_lost = float(np.sum(up * height) / up.sum()), float(np.sum(down * lost) / down.sum())
    bounded = Bounded(
        0.0, q, (-reached - mean_lost, -mean_lost), (-mean_height, q - mean_height), _EXTRA_PARTIAL, each=True
    )  # fmt: skip
    return RankEffect(tally, negative, positive, lost - mean_lost, height - mean_height, bounded)


def _of_moments(name: str, *, bounded: bool = True) -> Callable[[Tally], ScoreEffect]:
    """A metric of class means and variances: the chain rule, with slopes by central differences."""

    def effect(tally: Tally) -> ScoreEffect:
        functions = [_moment_effect(name, tally, side) for side in (0, 1)]
        found = ScoreEffect(tally, functions[0], functions[1])
        return found.with_bounds(METRICS[name].low, METRICS[name].high) if bounded else found

    return effect


def _moment_effect(name: str, tally: Tally, side: int) -> Callable[[Floats], Floats]:
    moments = tally.runs[side].moments
    if moments.variance <= 0.0:
        # All rows of the class score alike; as far as they tell, it has no spread.
        return np.zeros_like
    sd = math.sqrt(moments.variance)
    by_mean, by_variance = (
        _slope(name, tally, side, change, step) for change, step in (("mean", STEP * sd), ("variance", STEP * sd**2))
    )

    def of(scores: Floats) -> Floats:
        # Scores near the largest float overflow; their metric has no interval.
        with np.errstate(over="ignore", invalid="ignore"):
            gap = scores - moments.mean
            found: Floats = by_mean * gap + by_variance * (gap**2 - moments.variance)
        return found

    return of


def _slope(name: str, tally: Tally, side: int, change: str, step: float) -> float:
    up, down = (METRICS[name].compute(_shifted(tally, side, **{change: by})) for by in (step, -step))
    return (up - down) / (2.0 * step)


def _shifted(tally: Tally, side: int, *, mean: float = 0.0, variance: float = 0.0) -> Tally:
    """The tally with one class's mean or variance moved, its masses as they are."""
    runs = list(tally.runs)
    m = runs[side].moments
    moved = ScoreMoments(m.mass, m.mean + mean, m.m2 + variance * m.mass, m.m3)
    runs[side] = replace(runs[side], known_moments=moved)
    return replace(tally, runs=tuple(runs))


def _log_loss(tally: Tally) -> ScoreEffect:
    """A mean of losses: each class's own spread, by its share."""
    p = tally.prevalence

    def centred(run: Run, share: float, loss: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        mean = run.sum_of(loss) / float(run.total)
        if math.isinf(mean):
            raise Undefined("log_loss: infinite, so it has no spread")
        return lambda scores: share * (loss(scores) - mean)

    found = ScoreEffect(tally, centred(tally.negative, 1.0 - p, log_to_zero), centred(tally.positive, p, log_to_one))
    low, high = np.array(tally.range)
    # The most a row with a score like those seen can lose.
    return found.with_bounds(0.0, float(max(log_to_one(low), log_to_zero(high))))


def _skill(name: str, loss: str) -> Callable[[Tally], ScoreEffect]:
    """One less a mean loss over that of the constant prevalence."""

    def effect(tally: Tally) -> ScoreEffect:
        own = EFFECTS[loss](tally)
        if not isinstance(own, ScoreEffect) or own.bounded is None:
            raise TypeError(f"{loss} is no mean of losses")
        factor = -1.0 / METRICS[loss].chance(tally)
        found = ScoreEffect(tally, lambda s: factor * own.of_negative(s), lambda s: factor * own.of_positive(s))
        return found.with_bounds(1.0 + factor * own.bounded.high, METRICS[name].high, anchor=1.0)

    return effect


def _calibration_slope(tally: Tally) -> ScoreEffect:
    """The slope of a logistic regression: each row's part in its estimating equation, over the information."""
    slope, intercept = logistic_recalibration(tally)
    if math.isinf(slope):
        raise Undefined("the classes do not overlap, so the slope has no spread")
    parts = [
        (run, share, y)
        for run, share, y in zip(tally.runs, (1.0 - tally.prevalence, tally.prevalence), (0.0, 1.0), strict=True)
    ]

    def features(s: Floats) -> tuple[Floats, Floats]:
        x: Floats = sum(log_odds(s))  # type: ignore[assignment]
        return x, sigmoid(intercept + slope * x)

    information = np.zeros((2, 2))
    for run, share, _ in parts:
        x, p = features(run.scores.astype(np.float64))
        weight = share * run.mass / float(run.total) * p * (1.0 - p)
        information += np.array([[np.sum(weight), np.sum(weight * x)], [np.sum(weight * x), np.sum(weight * x * x)]])
    if not np.linalg.det(information) > 0.0:
        raise Undefined("the classes do not overlap, so the slope has no spread")
    of_one, of_x = np.linalg.inv(information)[1]

    def effect(run: Run, share: float, y: float) -> Callable[[Floats], Floats]:
        def raw(s: Floats) -> Floats:
            x, p = features(s)
            found: Floats = share * (y - p) * (of_one + of_x * x)
            return found

        mean = run.sum_of(raw) / float(run.total)
        return lambda s: raw(s) - mean

    down, up = (effect(*part) for part in parts)
    return ScoreEffect(tally, down, up)


def _calibration_intercept(tally: Tally) -> ScoreEffect:
    """The intercept beside a slope of 1, likewise."""
    intercept = METRICS["calibration_intercept"].compute(tally)

    def chance(s: Floats) -> Floats:
        return sigmoid(intercept + sum(log_odds(s)))  # type: ignore[arg-type]

    shares = (1.0 - tally.prevalence, tally.prevalence)
    information = sum(
        share * run.sum_of(lambda s: chance(s) * (1.0 - chance(s))) / float(run.total)
        for run, share in zip(tally.runs, shares, strict=True)
    )
    means = [run.sum_of(chance) / float(run.total) for run in tally.runs]
    down, up = (
        lambda s, mean=mean, share=share: share * (mean - chance(s)) / information
        for mean, share in zip(means, shares, strict=True)
    )
    return ScoreEffect(tally, down, up)


#: Metrics whose influence function has a closed form. The area under the PR curve moves as average precision does.
EFFECTS: Mapping[str, Callable[[Tally], Effect]] = {
    "auroc": _auroc,
    "gini": lambda tally: _auroc(tally, -1.0, 1.0),
    "spearman": _rank_correlation("spearman"),
    "kendall": _rank_correlation("kendall"),
    "average_precision": _average_precision,
    "pr_auc": _average_precision,
    "partial_auc": _partial_auc,
    "log_loss": _log_loss,
    "brier_skill": _skill("brier_skill", "brier"),
    "log_loss_skill": _skill("log_loss_skill", "log_loss"),
    "calibration_slope": _calibration_slope,
    "calibration_intercept": _calibration_intercept,
    **{name: _of_moments(name) for name in ("spcc", "d_a", "d_e", "d_b_normal", "brier")},
    **{name: _of_moments(name, bounded=False) for name in ("bias", "positive_estimate")},
}
