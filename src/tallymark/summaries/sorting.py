"""Sorting and searching large columns on two cores, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np

from tallymark._check import Ints, Scores

#: Rows per block: both sides of a search then stay in a core's own cache.
BLOCK = 2**14

#: Below this many rows a second thread costs more than it saves.
_WORTH_A_THREAD = 2**20


def sorted_copies(columns: Sequence[Scores]) -> list[Scores]:
    """Each column in ascending order; NumPy sorts without holding the interpreter lock."""
    if sum(map(len, columns)) < _WORTH_A_THREAD:
        return [np.sort(column) for column in columns]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(np.sort, columns))


def positions(haystack: Scores, needles: Scores, side: Literal["left", "right"]) -> Ints:
    """Where each of the *ascending* needles would be inserted into the ascending haystack.

    The same as ``np.searchsorted``, faster on long sorted needles: a block of needles only ever falls between
    the places of its own ends, so each search runs over a short stretch.
    """
    if len(needles) <= BLOCK:
        return np.searchsorted(haystack, needles, side).astype(np.int64, copy=False)
    found = np.empty(len(needles), dtype=np.int64)
    starts = np.searchsorted(haystack, needles[::BLOCK], side)
    ends = np.append(starts[1:], len(haystack))

    def search(block: int) -> None:
        rows = slice(block * BLOCK, (block + 1) * BLOCK)
        begin = starts[block]
        found[rows] = np.searchsorted(haystack[begin : ends[block]], needles[rows], side)
        found[rows] += begin

    if len(needles) < _WORTH_A_THREAD:
        for block in range(len(starts)):
            search(block)
    else:
        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(search, range(len(starts))):
                pass
    return found


def blocks(length: int, size: int = 2**16) -> Iterator[slice]:
    """Consecutive slices that cover `length` rows."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def starts_of_groups(ascending: Scores) -> Ints:
    """The index at which each distinct value of an ascending column begins."""
    changes = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
    return np.concatenate(([0], changes)).astype(np.int64) if len(ascending) else changes
