"""Parallel sorting and searching of large columns, block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tallymark._check import Bools, Ints, Scores

#: Rows per block: both sides of a search then stay in a core's cache.
BLOCK = 2**14

#: Below this many rows a second thread costs more than it saves.
_WORTH_A_THREAD = 2**20

#: Beyond this many threads NumPy waits for memory and for the interpreter lock.
_MOST_THREADS = 8


def machine_threads() -> int:
    """Default number of threads: one for each core of the machine, at most 8."""
    return min(os.cpu_count() or 1, _MOST_THREADS)


def sort_in_place(columns: Sequence[Scores]) -> None:
    """Put each column into ascending order; NumPy sorts without holding the interpreter lock."""
    if sum(map(len, columns)) < _WORTH_A_THREAD:
        for column in columns:
            column.sort()
    else:
        with ThreadPoolExecutor(machine_threads()) as pool:
            for _ in pool.map(np.ndarray.sort, columns):
                pass


def placements(haystack: Scores, needles: Scores) -> tuple[Ints, Ints]:
    """How many of the ascending haystack lie strictly below, and at or below, each of the ascending needles.

    The same as two ``np.searchsorted``, faster on long needles: a block of needles falls between the places of its
    first and last one, so each search runs over a short range, and the second one only where something is tied. When
    nothing is tied, both results are one array.
    """
    if 0 < len(needles) <= BLOCK and len(haystack):
        below = np.searchsorted(haystack, needles, "left")
        tied = (haystack.take(below, mode="clip") == needles).any()
        return below, np.searchsorted(haystack, needles, "right") if tied else below
    below = np.empty(len(needles), dtype=np.int64)
    starts = np.searchsorted(haystack, needles[::BLOCK], "left")
    # Up to and including whatever equals the first needle of the next block.
    ends = np.append(np.searchsorted(haystack, needles[BLOCK::BLOCK], "right"), len(haystack))

    def search(block: int) -> Ints | None:
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        begin = int(starts[block])
        nearby, wanted = haystack[begin : ends[block]], needles[rows]
        places = np.searchsorted(nearby, wanted, "left")
        np.add(places, begin, out=below[rows])
        if not len(nearby) or not (nearby[np.minimum(places, len(nearby) - 1)] == wanted).any():
            return None
        return np.searchsorted(nearby, wanted, "right") + begin

    if len(needles) < _WORTH_A_THREAD:
        ties = [search(block) for block in range(len(starts))]
    else:
        with ThreadPoolExecutor(machine_threads()) as pool:
            ties = list(pool.map(search, range(len(starts))))
    if all(places is None for places in ties):
        return below, below
    at_or_below = below.copy()
    for block, places in enumerate(ties):
        if places is not None:
            at_or_below[block * BLOCK : (block + 1) * BLOCK] = places
    return below, at_or_below


def near_order(scores: Scores) -> Ints:
    """The rows by the upper half of their scores as float32, a tenth of the time of sorting them.

    Searching for scores that lie near the one before stays in a core's cache.
    """
    with np.errstate(over="ignore"):
        upper = scores.astype(np.float32).view(np.uint32) >> 16
    return np.argsort(upper.astype(np.uint16), kind="stable")


def blocks(length: int, size: int = 2**16) -> Iterator[slice]:
    """Consecutive slices that cover `length` rows."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def starts_of_groups(ascending: Scores) -> Ints:
    """The index at which each distinct value of an ascending column begins."""
    return group_starts(ascending[1:] != ascending[:-1], len(ascending))


def group_starts(changed: Bools, length: int) -> Ints:
    """Where groups begin, given whether each row but the first differs from the one before it."""
    starts = np.flatnonzero(changed) + 1
    return np.concatenate(([0], starts)).astype(np.int64) if length else starts
