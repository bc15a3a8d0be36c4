"""Moments of the scores of each class by fixed-point sums, which do not depend on the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Column, Floats, Ints
from tallymark.sources.celltable import Moments, plain_numbers
from tallymark.summaries.run import ScoreMoments
from tallymark.summaries.sorting import group_starts

#: Fixed-point unit: a distance from the middle of the range, and its powers, in parts of half the range.
FINE = 2.0**51

#: More than what rounding makes of a distance beside the largest one.
_WIDER = 1.0 + 2.0**-48

#: Half a range whose third power overflows or vanishes.
_FAR = 1e100

#: Half the range over the spread of a class, up to which that leaves a dozen digits of the spread.
_LOPSIDED = 1e2


class Span(NamedTuple):
    """The range of all scores: its middle, and half of its width."""

    middle: float
    half: float

    @classmethod
    def between(cls, low: float, high: float) -> Span:
        """From the lowest and the highest score; slightly wider, so that rounding takes no distance beyond it."""
        with np.errstate(over="ignore", invalid="ignore"):
            middle = float(np.add(low, high) / 2)
            # From the middle as it was rounded, which is nearer to one end where scores are far from 0.
            return cls(middle, float(max(np.subtract(high, middle), np.subtract(middle, low)) * _WIDER))

    @property
    def per_half(self) -> float:
        """Factor that scales a distance from the middle to between -1 and 1."""
        return 1.0 / self.half if self.half else 0.0

    @property
    def powers_fit(self) -> bool:
        """Whether the third power of a distance within it neither overflows nor vanishes."""
        return 1.0 / _FAR < self.half < _FAR


@dataclass(frozen=True)
class Classes:
    """The classes and groups that cells belong to: each one's values and extremes, and which one each cell is of."""

    columns: list[str]
    of_cell: Ints
    keys: list[tuple[Any, ...]]
    low: Floats
    high: Floats
    spread: Floats

    @classmethod
    def of(cls, cells: Mapping[str, Column], columns: list[str]) -> Classes:
        """Of cells that are ordered by class and group."""
        values = [np.asarray(cells[name]) for name in columns]
        changed = np.any([column[1:] != column[:-1] for column in values], axis=0)
        starts = group_starts(changed, len(values[0]))
        of_cell = np.concatenate(([0], np.cumsum(changed)))
        low, high, mass = (plain_numbers(cells[name]) for name in ("lo", "hi", "mass"))
        present = mass > 0
        ends = (
            np.minimum.reduceat(np.where(present, low, np.inf), starts),
            np.maximum.reduceat(np.where(present, high, -np.inf), starts),
        )
        total = np.maximum(np.add.reduceat(mass, starts), 1e-300)
        with np.errstate(over="ignore", invalid="ignore"):
            middle = low / 2 + high / 2
            mean = np.add.reduceat(mass * middle, starts) / total
            spread = np.sqrt(np.add.reduceat(mass * (middle - mean[of_cell]) ** 2, starts) / total)
        keys = list(zip(*(column[starts].tolist() for column in values), strict=True))
        return cls(columns, of_cell, keys, *ends, spread)

    def wide_in(self, span: Span) -> bool:
        """Whether the spread of every class is wide enough in the span to keep its digits."""
        return span.powers_fit and bool(np.all((span.half <= _LOPSIDED * self.spread) | ~(self.high > self.low)))

    def moments(self, sums: Mapping[str, Column], span: Span) -> Moments:
        """A function that gives the moments of the classes of some cells together.

        `sums` has a row for each class: its `mass`, and `e0`, `e1`, `e2`, the sums of a score's distance from the
        middle of the span, in halves of it, and of the distance's square and third power, counted in parts of 1 / FINE;
        whole numbers of any size, or texts of such.
        """
        keys = zip(*(np.asarray(sums[name]).tolist() for name in self.columns), strict=True)
        place = {key: i for i, key in enumerate(keys)}
        mass = plain_numbers(sums["mass"])
        powers = [plain_numbers(_whole(sums[f"e{i}"])) / FINE for i in range(3)]

        def of_class(number: int) -> ScoreMoments:
            i = place[self.keys[number]]
            n = float(mass[i])
            if not n:
                return ScoreMoments(0.0, 0.0, 0.0, 0.0)
            if self.low[number] == self.high[number]:
                return ScoreMoments(n, float(self.low[number]), 0.0, 0.0)
            first, second, third = (float(power[i]) / n for power in powers)
            m2, m3 = max(second - first**2, 0.0), third - 3.0 * first * second + 2.0 * first**3
            return ScoreMoments(n, span.middle + span.half * first, n * span.half**2 * m2, n * span.half**3 * m3)

        def of(cells: Column) -> ScoreMoments:
            score_moments = ScoreMoments(0.0, 0.0, 0.0, 0.0)
            for number in np.unique(self.of_cell[cells]).tolist():
                score_moments = score_moments.merge(of_class(number))
            return score_moments

        return of


def _whole(column: Column) -> Column:
    """Whole numbers from text, or as they are; a missing sum is 0."""
    return np.array([int(value or 0) for value in column.tolist()], dtype=object)
