r"""Influence functions: how much each row moves a metric, and the standard error that follows.

With class sizes held fixed, the variance of a smooth metric is the sum over the classes of
:math:`\sum_i w_i^2 \mathrm{IF}_i^2 / (\sum_i w_i)^2`; counts stand for repeated rows, weights bring their squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tallymark._check import Floats, Ints, Masses, Scores
from tallymark.errors import Undefined
from tallymark.metrics.correlation import rank_slope
from tallymark.metrics.probability import log_to_one, log_to_zero
from tallymark.registry import METRICS
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Spread:
    """Standard error of an estimate, its Welch–Satterthwaite degrees of freedom and its skewness."""

    error: float
    freedom: float
    #: Acceleration of the BCa interval, one sixth of the skewness of the influence values.
    acceleration: float
    #: Where an interval should lie when that is not the estimate itself.
    centre: float | None = None


@dataclass(frozen=True)
class Influence:
    """Influence of the rows of one class: values, and how many rows and what squared weight stand behind each."""

    values: Floats
    mass: Floats
    squares: Floats
    rows: Floats

    def moments(self, by_mass: float = 0.0, *, plain: bool = False) -> tuple[float, float, int]:
        """Variance of the class's share in the estimate, its third cumulant, and the rows behind it.

        `by_mass` is how much the metric moves with the logarithm of the class's mass: that mass is random when rows are
        drawn from all classes (`plain`), and when rows of a class of fixed size differ in weight.
        """
        n = int(self.rows.sum())
        # Σ w² IF², with the correction of a sample variance.
        correction = n / (n - 1) if n > 1 else math.nan
        # Of the whole first: squares of weights of 1e-140 times others would vanish.
        share = self.mass / self.mass.sum()
        squares = self.squares / self.mass.sum() / self.mass.sum()
        if plain:
            parts = squares * (self.values + by_mass) ** 2
        else:
            uneven = squares - 2.0 * share / n + self.rows / n**2
            parts = squares * self.values**2 + by_mass**2 * uneven + 2.0 * by_mass * self.values * (squares - share / n)
        variance = max(0.0, float(np.sum(parts))) * correction
        each = np.divide(squares**1.5, np.sqrt(self.rows), out=np.zeros_like(squares), where=self.rows > 0)
        cubes = float(np.sum(each * self.values**3))
        return variance, cubes, n


@dataclass(frozen=True)
class Design:
    """How rows were drawn, as far as a metric minds: what it gains with the logarithm of each class's mass."""

    by_mass: tuple[float, float] = (0.0, 0.0)
    plain: bool = False


#: Class sizes held fixed, every row of equal weight.
FIXED = Design()


def spread(negative: Influence, positive: Influence, design: Design, centre: float | None = None) -> Spread:
    """Standard error of a metric from the influence of both classes."""
    parts = [
        side.moments(by_mass, plain=design.plain)
        for side, by_mass in zip((negative, positive), design.by_mass, strict=True)
    ]
    variance = sum(v for v, _, _ in parts)
    if design.plain:
        # What all rows have in common does not vary: their number is fixed.
        variance -= sum(design.by_mass) ** 2 / sum(n for _, _, n in parts)
    if not variance > 0.0:
        return Spread(math.nan if math.isnan(variance) else 0.0, math.inf, 0.0, centre)
    freedom = 1.0 / sum((v / variance) ** 2 / (n - 1) for v, _, n in parts if n > 1)
    cubes = sum(c for _, c, _ in parts)
    acceleration = cubes / (6.0 * variance**1.5) if variance**1.5 > 0.0 else 0.0
    return Spread(math.sqrt(variance), freedom, acceleration, centre)


def design_of(name: str, tally: Tally, *, plain: bool) -> Design:
    """How the metric minds the masses of the classes, where these are random."""
    if not plain and not tally.weighted:
        return FIXED
    if METRICS[name].prevalence_free:
        return Design(plain=plain)
    down, up = (
        (METRICS[name].compute(_scaled(tally, side, 1.0 + _STEP)) - METRICS[name].compute(_scaled(tally, side, 1.0 - _STEP)))
        / (2.0 * _STEP)
        for side in (0, 1)
    )  # fmt: skip
    return Design((down, up), plain)


#: Share by which masses and moments are moved to find a slope.
_STEP = 1e-4


def _scaled(tally: Tally, side: int, factor: float) -> Tally:
    """The tally with the mass of one class multiplied."""
    runs = list(tally.runs)
    mass, squares, rows = masses(runs[side])
    m = runs[side].moments
    moments = ScoreMoments(factor * m.mass, m.mean, factor * m.m2, factor * m.m3)
    other = runs[1 - side]
    if other.kind != "weights":
        own, own_squares, own_rows = masses(other)
        runs[1 - side] = replace(other, counts=None, weights=own, squares=own_squares, rows=own_rows.astype(np.int64))
    runs[side] = replace(
        runs[side], counts=None, weights=factor * mass, squares=factor**2 * squares, rows=rows.astype(np.int64),
        known_moments=moments,
    )  # fmt: skip
    return replace(tally, runs=tuple(runs))


def masses(run: Run) -> tuple[Floats, Floats, Floats]:
    """Mass, squared weight and rows of each entry, as floats."""
    mass = run.mass.astype(np.float64)
    if run.squares is not None and run.rows is not None:
        return mass, run.squares, run.rows.astype(np.float64)
    return mass, mass, mass


def careful(found: Spread, auroc: float, tally: Tally, factor: float = 1.0) -> Spread:
    """DeLong's spread, never below half of Hanley and McNeil's error.

    With few positives and a good model DeLong's variance is often far too small: no positive happened to score low. In
    simulation 84 % instead of 95 % of the intervals then hold an AUROC of 0.97; with this floor 94 to 99 %. Very near to a
    perfect ranking the floor would be many times what is missing to it, so it stops at two units on the logit scale (95 to 99 %).
    """
    down, up = (effective_rows(run) for run in tally.runs)
    floor = factor * min(hanley_mcneil(auroc, up, down) / 2, 2.0 * auroc * (1.0 - auroc))
    return replace(found, error=max(found.error, floor)) if found.error > 0.0 else found


def effective_rows(run: Run) -> float:
    """Rows that would give the same variance had they equal weight (Kish)."""
    mass, squares, _ = masses(run)
    return float(mass.sum()) ** 2 / float(squares.sum())


def hanley_mcneil(auroc: float, positives: float, negatives: float) -> float:
    """Standard error of an AUROC of exponential scores. Hanley & McNeil (1982), Radiology 143(1)."""
    q1, q2 = auroc / (2.0 - auroc), 2.0 * auroc**2 / (1.0 + auroc)
    spread_of = auroc * (1.0 - auroc) + (positives - 1.0) * (q1 - auroc**2) + (negatives - 1.0) * (q2 - auroc**2)
    return math.sqrt(max(0.0, spread_of / (positives * negatives)))


class Effect(Protocol):
    """How much a row moves a metric, by its class and score."""

    def spread(self, design: Design = FIXED) -> Spread:
        """Standard error of the metric over the tally it was made for."""

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of rows of one class."""


@dataclass(frozen=True, eq=False)
class RankEffect:
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
    centre: float | None = None

    def spread(self, design: Design = FIXED) -> Spread:
        """Standard error over the cells."""
        return spread(
            Influence(self.of_negative, *self.negative),
            Influence(self.of_positive, *self.positive),
            design,
            self.centre,
        )

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each row's cell."""
        first = self.tally.first_of_score
        distinct = self.tally.positive.scores if first is None else self.tally.positive.scores[first]
        cell = np.searchsorted(distinct, scores, "left") + np.searchsorted(distinct, scores, "right")
        found: Floats = (self.of_positive if positive else self.of_negative)[cell]
        return found


@dataclass(frozen=True, eq=False)
class ScoreEffect:
    """Influence that is a function of the score itself, one for each class."""

    tally: Tally
    of_negative: Callable[[Floats], Floats]
    of_positive: Callable[[Floats], Floats]

    def spread(self, design: Design = FIXED) -> Spread:
        """Standard error over the entries of the tally."""
        down, up = (
            Influence(function(run.scores.astype(np.float64)), *masses(run))
            for run, function in zip(self.tally.runs, (self.of_negative, self.of_positive), strict=True)
        )
        return spread(down, up, design)

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each score."""
        return (self.of_positive if positive else self.of_negative)(scores.astype(np.float64))


def _cells(tally: Tally) -> tuple[tuple[Floats, Floats, Floats], tuple[Floats, Floats, Floats]]:
    """Mass, squared weights and rows of both classes in the cells of a :class:`RankEffect`."""
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


def sums_between(values: Masses, edges: Ints) -> Floats:
    """Sums of consecutive values, cut at ascending places."""
    return np.diff(np.concatenate(([0.0], np.cumsum(values)))[edges])


def _auroc(tally: Tally, factor: float = 1.0) -> RankEffect:
    """DeLong's placements less the AUROC: the share of the other class on the right side of each score."""
    negative, positive = _cells(tally)
    down, up = negative[0], positive[0]
    beaten = (np.cumsum(down) - down / 2) / down.sum()
    beating = (np.cumsum(up[::-1])[::-1] - up / 2) / up.sum()
    value = float(np.sum(up * beaten)) / float(up.sum())
    return RankEffect(tally, negative, positive, factor * (beating - value), factor * (beaten - value))


def _average_precision(tally: Tally) -> RankEffect:
    r"""AP as a mean over positives of :math:`T/(T + rF)`, T and F the shares at or above, r the odds of a negative.

    A positive counts itself among those at or above its own score, which flatters the top of a short list. The
    interval is centred where half a row less (and half a negative more) would put the estimate, in proportion to the
    square of what is missing to 1: nothing for a good list, all of it for a poor one.
    """
    negative, positive = _cells(tally)
    (down, _, down_rows), (up, _, up_rows) = negative, positive
    r = (1.0 - tally.prevalence) / tally.prevalence
    share = up / up.sum()
    above = np.cumsum(up[::-1])[::-1] / up.sum()
    false = np.cumsum(down[::-1])[::-1] / down.sum()
    held = share > 0
    total = np.where(held, above + r * false, 1.0)
    precision = above / total
    value = float(np.sum(share * precision))
    by_true, by_false = share * r * false / total**2, -share * r * above / total**2
    of_positive = precision - value + np.cumsum(by_true) - float(np.sum(by_true * above))
    of_negative = np.cumsum(by_false) - float(np.sum(by_false * false))
    half = 0.5 * (1.0 - value) ** 2
    fewer = np.maximum(above - half / up_rows.sum(), 0.0)
    more = false + half / down_rows.sum()
    centre = float(np.sum(share * fewer / np.where(held, fewer + r * more, 1.0)))
    return RankEffect(tally, negative, positive, of_negative, of_positive, centre)


def _of_moments(name: str) -> Callable[[Tally], ScoreEffect]:
    """A metric of class means and variances: the chain rule, with slopes by central differences."""

    def effect(tally: Tally) -> ScoreEffect:
        functions = [_moment_effect(name, tally, side) for side in (0, 1)]
        return ScoreEffect(tally, functions[0], functions[1])

    return effect


def _moment_effect(name: str, tally: Tally, side: int) -> Callable[[Floats], Floats]:
    moments = tally.runs[side].moments
    if moments.variance <= 0.0:
        # All rows of the class score alike; as far as they tell, it has no spread.
        return np.zeros_like
    sd = math.sqrt(moments.variance)
    by_mean, by_variance = (
        _slope(name, tally, side, change, step) for change, step in (("mean", _STEP * sd), ("variance", _STEP * sd**2))
    )

    def of(scores: Floats) -> Floats:
        gap = scores - moments.mean
        # Scores near the largest float overflow; their metric has no interval.
        with np.errstate(over="ignore", invalid="ignore"):
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

    return ScoreEffect(
        tally, centred(tally.negative, 1.0 - p, log_to_zero), centred(tally.positive, p, log_to_one)
    )  # fmt: skip


#: Metrics whose influence function has a closed form. Rank correlations are multiples of AUROC - ½ while prevalence
#: and tied mass stay as they are.
EFFECTS: Mapping[str, Callable[[Tally], Effect]] = {
    "auroc": _auroc,
    "gini": lambda tally: _auroc(tally, 2.0),
    "spearman": lambda tally: _auroc(tally, rank_slope("spearman", tally)),
    "kendall": lambda tally: _auroc(tally, rank_slope("kendall", tally)),
    "average_precision": _average_precision,
    "log_loss": _log_loss,
    **{name: _of_moments(name) for name in ("spcc", "d_a", "d_e", "d_b_normal", "brier", "bias", "positive_estimate")},
}
