"""Histogram of scores by class, counted in NumPy as the rows stream out of an engine: faster than its GROUP BY.

The upper bits of a score are the index of its cell in a table, so nothing is sorted or hashed. Each thread has tables
of its own, which are merged at the end. Only clean rows are counted; anything else raises :class:`Uncountable`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Column, Floats, Ints
from tallymark.sources.class_moments import Span
from tallymark.summaries.score_grid import SPLITTER, Grid, cell_key

Codes = NDArray[np.uint8]

#: Lower bits of a double that are zero in a key; bits that number the cells between two powers of two, a *page* of
#: cells.
_ZERO_BITS, _PAGE_BITS = 39, 13
_PAGE = 2**_PAGE_BITS

#: Bits of a sign and an exponent; the exponents of infinities, NaN and negative subnormal numbers.
_EXPONENT_BITS = 12
_NO_PAGE = {2**11 - 1, 2**12 - 1, 2**11}

#: Page numbers are (class, sign, exponent); after them come two pages for the parts of cells that a threshold cuts.
_CUT_PAGES = 2 << _EXPONENT_BITS

#: The smallest positive double that is not subnormal.
_SMALLEST = 2.0**-1022

#: Pages of a counter; each takes 0.2 MB.
_MOST_PAGES = 512

#: Rows worked on at a time: what stays in a core's cache.
_BLOCK = 2**16

#: So many numbers of 51 bits have a sum of less than 64 bits.
_SUMMED = 2**10

#: Between 2 and 4 the last bit of a double is a part of 2**-51.
_THREE = 3.0
_BITS_OF_THREE = int(np.array(_THREE).view(np.int64))


class Uncountable(Exception):
    """The engine has to count: a score is not finite, a label is a third one, or scores have too many magnitudes."""


class Counted(NamedTuple):
    """Rows, lowest and highest score by class (`code` 0 or 1) and cell, ascending; sums of powers of each class."""

    code: Ints
    n: Ints
    lo: Floats
    hi: Floats
    sums: tuple[list[int], list[int]]


def count_cells(blocks: Iterable[Sequence[Column]], grid: Grid, span: Span, threads: int = 1) -> Counted:
    """Count rows that come block by block: the class of each (0 or 1), and its score.

    The counts are the same for any number of threads and any order of the rows.
    """
    free = [_Counter(grid, span) for _ in range(threads)]
    busy: deque[Future[_Counter]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for positive, scores in blocks:
            counter = free.pop() if free else busy.popleft().result()
            busy.append(pool.submit(counter.add, positive, scores))
        return _merged([*free, *(future.result() for future in busy)])


class _Counter:
    """Tables with a place for each cell of each class, and sums of the powers of all rows and of the positive ones.

    There is a page for each class, sign and exponent met so far. The first two pages have the parts of cells that
    thresholds cut, one page for each class.
    """

    def __init__(self, grid: Grid, span: Span) -> None:
        self._cuts = np.array(grid.thresholds)
        if len(self._cuts) >= _PAGE:
            raise Uncountable
        # The cells that thresholds cut, and the first threshold in each.
        numbers, first = np.unique(_numbers(cell_key(self._cuts)), return_index=True)
        self._cut_cells = list(zip(numbers.tolist(), first.tolist(), strict=True))
        self._middle, self._per_half = span.middle, span.per_half
        #: Where each page begins, by its number; and the numbers of the pages in use.
        self._start = np.full(_CUT_PAGES + 2, -1, dtype=np.int64)
        self._pages: list[int] = []
        self._n = np.zeros(0, dtype=np.int64)
        self._lo, self._hi = np.zeros(0), np.zeros(0)
        self._add_pages([_CUT_PAGES, _CUT_PAGES + 1])
        #: Sums over all rows, and over the positive ones.
        self.sums = ([0, 0, 0], [0, 0, 0])
        # Memory that is used again for every block is still in a core's cache.
        self._floats = np.empty((3, _BLOCK))
        self._flags = np.empty(_BLOCK, dtype=np.bool_)

    def add(self, positive: Codes, scores: Floats) -> _Counter:
        """Count some rows; returns itself."""
        if positive.max() > 1:
            raise Uncountable
        places = np.empty(len(scores), dtype=np.int64)
        # Scores that are not finite have no page, and sums over a span whose powers overflow are not used.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for start in range(0, len(scores), _BLOCK):
                rows = slice(start, start + _BLOCK)
                self._find(positive[rows], scores[rows], places[rows])
                self._widen(scores[rows], places[rows])
                self._sum(self.sums[0], scores[rows])
                self._sum(self.sums[1], scores[rows].take(np.flatnonzero(positive[rows].view(np.bool_))))
        self._n += np.bincount(places, minlength=len(self._n))
        return self

    def _find(self, positive: Codes, scores: Floats, places: Ints) -> None:
        """The place of each row's cell."""
        product, rest, third = self._floats[:, : len(scores)]
        np.multiply(scores, SPLITTER, out=product)
        np.subtract(product, scores, out=rest)
        number = _numbers(np.subtract(product, rest, out=product), out=product.view(np.int64))
        page = np.right_shift(number, _PAGE_BITS, out=rest.view(np.int64))
        page &= (1 << _EXPONENT_BITS) - 1
        code = third.view(np.int64)
        np.copyto(code, positive)
        code <<= _EXPONENT_BITS
        page |= code
        self._start.take(page, out=places, mode="wrap")
        if places.min() < 0:
            self._add_pages(np.unique(page[places < 0]).tolist())
            self._start.take(page, out=places, mode="wrap")
        flags = self._flags[: len(scores)]
        cut = [(np.flatnonzero(np.equal(number, cell, out=flags)), first) for cell, first in self._cut_cells]
        number &= _PAGE - 1
        places |= number
        for rows, first in cut:
            side = np.searchsorted(self._cuts, scores[rows], "right")
            places[rows] = np.where(side > first, positive[rows] * np.int64(_PAGE) + side, places[rows])

    def _add_pages(self, pages: list[int]) -> None:
        """Pages for classes and exponents met for the first time."""
        exponents = {page & ((1 << _EXPONENT_BITS) - 1) for page in pages if page < _CUT_PAGES}
        if not _NO_PAGE.isdisjoint(exponents) or len(self._pages) + len(pages) > _MOST_PAGES:
            raise Uncountable
        self._start[pages] = _PAGE * (len(self._pages) + np.arange(len(pages)))
        self._pages += pages
        places = _PAGE * len(pages)
        self._n = np.concatenate((self._n, np.zeros(places, dtype=np.int64)))
        self._lo = np.concatenate((self._lo, np.full(places, np.inf)))
        self._hi = np.concatenate((self._hi, np.full(places, -np.inf)))

    def _widen(self, scores: Floats, places: Ints) -> None:
        """Update the lowest and highest score of each cell; after some blocks few rows change them."""
        end, flags = self._floats[0, : len(scores)], self._flags[: len(scores)]
        for table, beyond, extreme in ((self._lo, np.less, np.minimum), (self._hi, np.greater, np.maximum)):
            rows = np.flatnonzero(beyond(scores, table.take(places, out=end, mode="wrap"), out=flags))
            extreme.at(table, places[rows], scores[rows])

    def _sum(self, sums: list[int], scores: Floats) -> None:
        """Add up the first three powers of the scores' distances from the middle, in whole numbers of parts."""
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

    def cells(self) -> tuple[Ints, Ints, Floats, Floats]:
        """A number for each cell that has rows, the same in every counter; its rows, lowest and highest score."""
        places = np.flatnonzero(self._n)
        numbers = np.array(self._pages)[places >> _PAGE_BITS] << _PAGE_BITS | places & (_PAGE - 1)
        return numbers, self._n[places], self._lo[places], self._hi[places]


def _merged(counters: Sequence[_Counter]) -> Counted:
    """What several counters counted, together."""
    numbers, rows, lows, highs = map(np.concatenate, zip(*(counter.cells() for counter in counters), strict=True))
    cells, cell = np.unique(numbers, return_inverse=True)
    n, lo, hi = np.zeros(len(cells), dtype=np.int64), np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    np.add.at(n, cell, rows)
    np.minimum.at(lo, cell, lows)
    np.maximum.at(hi, cell, highs)
    if any(((np.abs(end) < _SMALLEST) & (end != 0.0)).any() for end in (lo, hi)):
        # In the key of a subnormal number other bits than the lower ones are zero.
        raise Uncountable
    page = cells >> _PAGE_BITS
    code = np.where(page < _CUT_PAGES, page >> _EXPONENT_BITS, page - _CUT_PAGES)
    order = np.lexsort((lo, code))
    every, positive = (
        [sum(powers) for powers in zip(*sums, strict=True)] for sums in zip(*(c.sums for c in counters), strict=True)
    )
    negative = [a - b for a, b in zip(every, positive, strict=True)]
    return Counted(code[order], n[order], lo[order], hi[order], (negative, positive))


def _numbers(keys: Floats, out: Ints | None = None) -> Ints:
    """The bits of keys that are not always zero, as whole numbers: a different one for each key."""
    return np.right_shift(keys.view(np.int64), _ZERO_BITS, out=out)


def _whole_sum(values: Floats, scratch: Floats) -> int:
    """The sum of numbers from -1 to 1, each rounded to a whole number of parts of 2**-51, in such parts."""
    parts = np.add(values, _THREE, out=scratch).view(np.int64)
    parts -= _BITS_OF_THREE
    # Sums of a few fit into 64 bits; Python adds these up without a limit.
    return sum(np.add.reduceat(parts, np.arange(0, len(parts), _SUMMED)).tolist())
