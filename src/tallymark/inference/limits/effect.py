"""Influence functions of metrics, by class and score, and the limits that follow from them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tallymark._check import Floats, Ints, Scores
from tallymark.inference.limits.influence import (
    FIXED,
    Design,
    Entries,
    Influence,
    Spread,
    masses,
    spread,
    sums_between,
)
from tallymark.inference.limits.mover import Mover
from tallymark.inference.limits.pseudo_observation import Bounded
from tallymark.inference.scales import NO_SPREAD, critical_value
from tallymark.summaries.run import Run
from tallymark.summaries.sorting import near_order
from tallymark.summaries.tally import Tally

#: Weight of the pseudo-observation, chosen by simulation (docs): with less, some shapes of scores are covered less than
#: 93 %, with more every interval is wider.
_EXTRA = 0.4


class Effect(ABC):
    """Influence function of a metric: how much a row moves it, by its class and score."""

    #: What a pseudo-observation in the worst place does to it; None where it is unbounded.
    bounded: Bounded | None
    #: Derivative with respect to the log odds of a positive, where it has a closed form.
    by_odds: float | None = None

    @property
    @abstractmethod
    def sides(self) -> tuple[Influence, Influence]:
        """Influence of the negatives and of the positives of the tally."""

    @abstractmethod
    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of rows of one class."""

    def spread(self, design: Design = FIXED) -> Spread:
        """Standard error of the metric."""
        return spread(*self.sides, design)

    def limits(self, value: float, level: Any, design: Design = FIXED, mover: Mover | None = None) -> tuple[Any, Any]:
        """Limits at one or several levels, with a pseudo-observation in the worst place (:class:`Bounded`).

        `mover` gives the pseudo-observation another weight.
        """
        bounded = self._bounded_under(design)
        if mover is not None:
            bounded = replace(bounded, extra=mover.extra, each=mover.each)
        if bounded.anchor is None:
            return self._plain_limits(bounded, value, level, design, design.by_mass)
        return self._anchored_limits(bounded, bounded.anchor, value, level, design)

    def _plain_limits(
        self, bounded: Bounded, value: float, level: Any, design: Design, by_mass: tuple[float, float]
    ) -> tuple[Any, Any]:
        """Limits from the variance of each class, where the metric moves by `by_mass` with the classes' log masses."""
        variances = self._variances(by_mass, plain=design.plain)
        rows = [side.entries.effective_rows for side in self.sides]
        freedom = math.inf if math.isfinite(bounded.high - bounded.low) else self.spread(design).freedom
        return bounded.limits(value, variances, rows, level, freedom)

    def _anchored_limits(
        self, bounded: Bounded, anchor: float, value: float, level: Any, design: Design
    ) -> tuple[Any, Any]:
        r"""Limits of a metric whose distance from an anchor is multiplied by a function of the prevalence.

        The limits at a fixed prevalence, and those of the multiplier on the logarithmic scale,
        :math:`d\,e^{\pm z s/d}` with d the distance and s the standard error that the prevalence adds, are combined as
        :math:`\sqrt{(v - L)^2 + (d - d e^{-z s/d})^2}` on one side and likewise on the other.
        """
        low, high = self._plain_limits(bounded, value, level, design, (0.0, 0.0))
        distance = abs(value - anchor)
        if distance <= NO_SPREAD:
            return low, high
        fixed, free = (sum(self._variances(by, plain=design.plain)) for by in ((0.0, 0.0), design.by_mass))
        if free <= fixed:
            return low, high
        step = critical_value(np.asarray(level)) * math.sqrt(free - fixed) / distance
        towards, away = distance * -np.expm1(-step), distance * np.expm1(step)
        below, above = (towards, away) if value > anchor else (away, towards)
        return value - np.hypot(value - low, below), value + np.hypot(high - value, above)

    def _bounded_under(self, design: Design) -> Bounded:
        """What a pseudo-observation does to the metric under a sampling design."""
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
    are joined: nothing that depends on the ranking alone is lost.
    """

    tally: Tally
    negative: Entries
    positive: Entries
    of_negative: Floats
    of_positive: Floats
    bounded: Bounded
    by_odds: float | None = None

    @cached_property
    def sides(self) -> tuple[Influence, Influence]:
        """By cell."""
        return Influence(self.of_negative, self.negative), Influence(self.of_positive, self.positive)

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each row's cell."""
        first = self.tally.views.first_of_score
        distinct = self.tally.positive.scores if first is None else self.tally.positive.scores[first]
        order = near_order(scores)
        wanted = scores[order]
        below = np.searchsorted(distinct, wanted, "left")
        tied = distinct.take(below, mode="clip") == wanted
        values = np.empty(len(scores))
        values[order] = (self.of_positive if positive else self.of_negative)[2 * below + tied]
        return values


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
            Influence(function(run.scores.astype(np.float64)), Entries.of(run))
            for run, function in zip(self.tally.runs, (self.of_negative, self.of_positive), strict=True)
        )
        return down, up

    def of_rows(self, scores: Scores, *, positive: bool) -> Floats:
        """Influence of each score."""
        return (self.of_positive if positive else self.of_negative)(scores.astype(np.float64))

    def _bounded_under(self, design: Design) -> Bounded:
        """With random class sizes a pseudo-observation also changes the prevalence."""
        bounded = super()._bounded_under(design)
        if not design.plain or bounded.anchor is not None:
            return bounded
        (a, b), (c, d), (down, up) = bounded.negative, bounded.positive, design.by_mass
        return replace(bounded, negative=(a + down, b + down), positive=(c + up, d + up))

    def with_bounds(
        self, low: float, high: float, anchor: float | None = None, extra: float | None = None
    ) -> ScoreEffect:
        """With a pseudo-observation at either end of the range of scores."""
        ends = np.array(self.tally.range)
        down, up = (function(ends) for function in (self.of_negative, self.of_positive))
        worst, best = ([float(end) for end in ends] for ends in ((down.min(), up.min()), (down.max(), up.max())))
        weight = _EXTRA if extra is None else extra
        return replace(
            self, bounded=Bounded(low, high, (worst[0], best[0]), (worst[1], best[1]), weight, anchor=anchor)
        )


#: Cells of tallies in use: several effects of one tally share them.
_CELLS: WeakKeyDictionary[Tally, tuple[Entries, Entries]] = WeakKeyDictionary()


def rank_cells(tally: Tally) -> tuple[Entries, Entries]:
    """The negatives and positives in the cells of a :class:`RankEffect`."""
    if tally not in _CELLS:
        _CELLS[tally] = _cells_of(tally)
    return _CELLS[tally]


def _cells_of(tally: Tally) -> tuple[Entries, Entries]:
    below, at_or_below = tally.views.placements
    first = tally.views.first_of_score
    starts = np.arange(len(tally.positive)) if first is None else first
    edges = np.empty(2 * len(starts) + 2, dtype=np.int64)
    edges[0], edges[1:-1:2], edges[2:-1:2], edges[-1] = 0, below[starts], at_or_below[starts], len(tally.negative)
    return _negatives_between(tally.negative, edges), _positives_at(tally.positive, first, len(edges) - 1)


def _negatives_between(run: Run, edges: Ints) -> Entries:
    mass = np.diff(run.mass_before(edges)).astype(np.float64)
    if run.squares is None or run.rows is None:
        return Entries(mass, mass, mass)
    return Entries(mass, sums_between(run.squares, edges), sums_between(run.rows, edges))


def _positives_at(run: Run, first: Ints | None, number: int) -> Entries:
    def cells(column: Floats) -> Floats:
        values = np.zeros(number)
        values[1::2] = column if first is None else np.add.reduceat(column, first)
        return values

    mass, squares, rows = masses(run)
    in_cells = cells(mass)
    # Without weights the three are one column.
    if squares is mass:
        return Entries(in_cells, in_cells, in_cells)
    return Entries(in_cells, cells(squares), cells(rows))
