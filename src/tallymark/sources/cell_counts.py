"""Rows counted into cells here, as they stream out of an engine that only reads them: faster than its GROUP BY.

The upper bits of a score's key say where in a table its cell stands, so nothing is sorted or hashed. Clean rows only: what
has to be refused, or is out of the ordinary, is left to the engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Floats, Ints
from tallymark.sources.class_moments import Span
from tallymark.summaries.score_grid import SPLITTER, Grid, cell_key

Codes = NDArray[np.uint8]

#: Lower bits of a double that are zero in a key, and bits that tell the cells between two powers of two apart.
_ZERO_BITS, _PAGE_BITS = 39, 13
_PAGE = 2**_PAGE_BITS

#: Bits of a sign and an exponent; those of what is not finite, and of negative numbers so small that they have fewer bits.
_EXPONENT_BITS = 12
_NO_PAGE = {2**11 - 1, 2**12 - 1, 2**11}

#: The smallest positive double that has all its bits.
_SMALLEST = 2.0**-1022

#: Signs and powers of two between which the scores of either class may lie; the cells of each take 0.2 MB.
_MOST_PAGES = 512

#: Rows worked on at a time: what stays in a core's cache.
_BLOCK = 2**16

#: Numbers of 51 bits whose sum has less than 64.
_SUMMED = 2**10

#: Between 2 and 4 the last bit of a double is a part of 2**-51.
_THREE = 3.0
_BITS_OF_THREE = int(np.array(_THREE).view(np.int64))


class Uncountable(Exception):
    """Rows that the engine has to look at: a score that is not finite, a third label, or scores of too many magnitudes."""


class Counted(NamedTuple):
    """Rows, lowest and highest score of each cell and class (`code` 0 or 1), ascending; and the sums of powers of each class."""

    code: Ints
    n: Ints
    lo: Floats
    hi: Floats
    sums: tuple[list[int], list[int]]


def count_cells(blocks: Iterable[Sequence[NDArray[Any]]], grid: Grid, span: Span) -> Counted:
    """Count rows that come block by block: whether each is positive (0 or 1), and its score."""
    counter = _Counter(grid, span)
    for positive, scores in blocks:
        counter.add(positive, scores)
    return counter.counted()


class _Counter:
    """Tables with a place for each cell of each class, and sums of the powers of all rows and of the positive ones.

    Cells between two powers of two stand side by side, on a *page*: there is one for each class, sign and exponent met. The
    first two pages have the parts of cells that thresholds cut, of either class.
    """

    def __init__(self, grid: Grid, span: Span) -> None:
        self._cuts = np.array(grid.thresholds)
        if len(self._cuts) >= _PAGE:
            raise Uncountable
        # The cells that thresholds cut, and the first threshold in each.
        numbers, first = np.unique(_numbers(cell_key(self._cuts)), return_index=True)
        self._cut_cells = list(zip(numbers.tolist(), first.tolist(), strict=True))
        self._middle, self._per_half = span.middle, span.per_half
        #: Where the page of a class and exponent begins, and the class of each page.
        self._start = np.full(2 << _EXPONENT_BITS, -1, dtype=np.int64)
        self._codes: list[int] = []
        self._n = np.zeros(0, dtype=np.int64)
        self._lo, self._hi = np.zeros(0), np.zeros(0)
        self._add_pages([0, 1])
        self._sums = ([0, 0, 0], [0, 0, 0])
        # Memory that is used again for every block is still in a core's cache.
        self._floats = np.empty((3, _BLOCK))
        self._flags = np.empty(_BLOCK, dtype=np.bool_)

    def add(self, positive: Codes, scores: Floats) -> None:
        """Count some rows."""
        if positive.max() > 1:
            raise Uncountable
        places = np.empty(len(scores), dtype=np.int64)
        # What is not finite has no page, and sums over a span whose powers do not fit are not asked for.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for start in range(0, len(scores), _BLOCK):
                rows = slice(start, start + _BLOCK)
                self._find(positive[rows], scores[rows], places[rows])
                self._stretch(scores[rows], places[rows])
                self._sum(self._sums[0], scores[rows])
                self._sum(self._sums[1], scores[rows].take(np.flatnonzero(positive[rows].view(np.bool_))))
        self._n += np.bincount(places, minlength=len(self._n))

    def _find(self, positive: Codes, scores: Floats, places: Ints) -> None:
        """The place of each row's cell."""
        one, other, third = self._floats[:, : len(scores)]
        flags = self._flags[: len(scores)]
        np.multiply(scores, SPLITTER, out=one)
        np.subtract(one, scores, out=other)
        number = _numbers(np.subtract(one, other, out=one), out=one.view(np.int64))
        index = np.right_shift(number, _PAGE_BITS, out=other.view(np.int64))
        index &= (1 << _EXPONENT_BITS) - 1
        code = third.view(np.int64)
        np.copyto(code, positive)
        code <<= _EXPONENT_BITS
        index |= code
        self._start.take(index, out=places, mode="wrap")
        if places.min() < 0:
            self._give_pages_to(np.unique(index[places < 0]).tolist())
            self._start.take(index, out=places, mode="wrap")
        cut = [(np.flatnonzero(np.equal(number, cell, out=flags)), first) for cell, first in self._cut_cells]
        number &= _PAGE - 1
        places |= number
        for rows, first in cut:
            side = np.searchsorted(self._cuts, scores[rows], "right")
            places[rows] = np.where(side > first, positive[rows] * np.int64(_PAGE) + side, places[rows])

    def _give_pages_to(self, indices: list[int]) -> None:
        """Pages for exponents met for the first time; an index has the class above the bits of the exponent."""
        codes, exponents = zip(*(divmod(index, 1 << _EXPONENT_BITS) for index in indices), strict=True)
        if _NO_PAGE.intersection(exponents) or len(self._codes) + len(codes) > _MOST_PAGES:
            raise Uncountable
        self._start[indices] = _PAGE * (len(self._codes) + np.arange(len(codes)))
        self._add_pages(codes)

    def _add_pages(self, codes: Sequence[int]) -> None:
        self._codes += codes
        places = _PAGE * len(codes)
        self._n = np.concatenate((self._n, np.zeros(places, dtype=np.int64)))
        self._lo = np.concatenate((self._lo, np.full(places, np.inf)))
        self._hi = np.concatenate((self._hi, np.full(places, -np.inf)))

    def _stretch(self, scores: Floats, places: Ints) -> None:
        """Note the scores that are lower or higher than all before in their cell: soon there are few."""
        end, flags = self._floats[0, : len(scores)], self._flags[: len(scores)]
        for table, beyond, stretch in ((self._lo, np.less, np.minimum), (self._hi, np.greater, np.maximum)):
            rows = np.flatnonzero(beyond(scores, table.take(places, out=end, mode="wrap"), out=flags))
            stretch.at(table, places[rows], scores[rows])

    def _sum(self, sums: list[int], scores: Floats) -> None:
        """Add up the powers of the scores' distances from the middle, in whole numbers of parts."""
        if not len(scores):
            return
        distance, power, scratch = self._floats[:, : len(scores)]
        np.subtract(scores, self._middle, out=distance)
        distance *= self._per_half
        sums[0] += _whole_sum(distance, scratch)
        np.multiply(distance, distance, out=power)
        sums[1] += _whole_sum(power, scratch)
        power *= distance
        sums[2] += _whole_sum(power, scratch)

    def counted(self) -> Counted:
        """All that was counted."""
        codes = np.repeat(self._codes, _PAGE)
        of_class = [np.flatnonzero((self._n > 0) & (codes == code)) for code in (0, 1)]
        places = np.concatenate([part[np.argsort(self._lo[part])] for part in of_class])
        lo, hi = self._lo[places], self._hi[places]
        if any(((np.abs(end) < _SMALLEST) & (end != 0.0)).any() for end in (lo, hi)):
            # Of these, other bits than the lower ones are zero in a key.
            raise Uncountable
        every, positive = self._sums
        negative = [a - b for a, b in zip(every, positive, strict=True)]
        return Counted(codes[places], self._n[places], lo, hi, (negative, positive))


def _numbers(keys: Floats, out: Ints | None = None) -> Ints:
    """The bits of keys that are not always zero, as whole numbers: another one for each key."""
    return np.right_shift(keys.view(np.int64), _ZERO_BITS, out=out)


def _whole_sum(values: Floats, scratch: Floats) -> int:
    """The sum of numbers from -1 to 1, each rounded to a whole number of parts of 2**-51, in such parts."""
    parts = np.add(values, _THREE, out=scratch).view(np.int64)
    parts -= _BITS_OF_THREE
    # Sums of a few fit into 64 bits; Python adds these up without a limit.
    return sum(np.add.reduceat(parts, np.arange(0, len(parts), _SUMMED)).tolist())
