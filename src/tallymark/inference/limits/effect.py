"""Influence functions of a metric in closed form: how much a row moves it, by its class and score."""

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
from tallymark.summaries.tally import Tally

#: How much of a row is imagined in the worst place. Found by simulation (docs): less leaves some shapes of scores covered
#: less than 93 %, more widens every interval.
_EXTRA = 0.4


class Effect(ABC):
    """How much a row moves a metric, by its class and score."""

    #: How an imaginary row in the worst place would move it; None where nothing bounds it.
    bounded: Bounded | None
    #: How much the metric moves with the logarithm of the odds of a positive, where that is known.
    by_odds: float | None = None

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

    def limits(self, value: float, level: Any, design: Design = FIXED, mover: Mover | None = None) -> tuple[Any, Any]:
        """Limits at one or several levels, never too sure for want of a bad row; `mover` imagines another part of a row."""
        bounded = self._imagined(design)
        bounded = bounded if mover is None else replace(bounded, extra=mover.extra, each=mover.each)
        held = design.by_mass if bounded.anchor is None else (0.0, 0.0)
        variances, rows = (
            self._variances(held, plain=design.plain),
            [side.entries.effective_rows for side in self.sides],
        )
        freedom = math.inf if math.isfinite(bounded.high - bounded.low) else self.spread(design).freedom
        low, high = bounded.limits(value, variances, rows, level, freedom)
        if bounded.anchor is None or abs(value - bounded.anchor) <= NO_SPREAD:
            return low, high
        noise = sum(self._variances(design.by_mass, plain=design.plain)) - sum(variances)
        if noise <= 0.0:
            return low, high
        # The prevalence multiplies the distance from the anchor, so its error adds on a logarithmic scale.
        size = abs(value - bounded.anchor)
        step = critical_value(np.asarray(level)) * math.sqrt(noise) / size
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
        cell = np.searchsorted(distinct, scores, "left") + np.searchsorted(distinct, scores, "right")
        values: Floats = (self.of_positive if positive else self.of_negative)[cell]
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

    def _imagined(self, design: Design) -> Bounded:
        """A row more of a class also moves the prevalence, where that was drawn."""
        bounded = super()._imagined(design)
        if not design.plain or bounded.anchor is not None:
            return bounded
        (a, b), (c, d), (down, up) = bounded.negative, bounded.positive, design.by_mass
        return replace(bounded, negative=(a + down, b + down), positive=(c + up, d + up))

    def with_bounds(
        self, low: float, high: float, anchor: float | None = None, extra: float | None = None
    ) -> ScoreEffect:
        """With an imaginary row at either end of the scores seen."""
        ends = np.array(self.tally.range)
        down, up = (function(ends) for function in (self.of_negative, self.of_positive))
        worst, best = ([float(end) for end in ends] for ends in ((down.min(), up.min()), (down.max(), up.max())))
        much = _EXTRA if extra is None else extra
        return replace(self, bounded=Bounded(low, high, (worst[0], best[0]), (worst[1], best[1]), much, anchor=anchor))


#: Cells of tallies at hand: several effects of one tally share them.
_CELLS: WeakKeyDictionary[Tally, tuple[Entries, Entries]] = WeakKeyDictionary()


def rank_cells(tally: Tally) -> tuple[Entries, Entries]:
    """What negatives and positives there are in the cells of a :class:`RankEffect`."""
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
    held = cells(mass)
    # Without weights the three are one column.
    return Entries(held, held, held) if squares is mass else Entries(held, cells(squares), cells(rows))
