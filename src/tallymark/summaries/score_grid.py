"""Quantised scores: narrow cells that NumPy and SQL engines compute alike.

The key of a score is its value rounded to about 13 significant bits with one multiplication and two
subtractions (Veltkamp's splitting), so a database and NumPy agree to the last bit, and the relative width of a
cell is the same at 1e-9 and at 1e9. Given thresholds split cells, so that counts there are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.summaries import invariants
from tallymark.summaries.run import Run, concatenated, grouped_at, require_same_kind
from tallymark.summaries.sorting import group_starts

#: Multiplying by this and taking the product away again keeps the upper bits only.
SPLITTER = 2.0**39 + 1.0

#: Beyond this the multiplication overflows, so the value is scaled down and up again.
HUGE = 1e290
SCALE_DOWN = 2.0**-64


@dataclass(frozen=True)
class Grid:
    """Which scores share a cell: those with the same key on the same side of every threshold."""

    thresholds: tuple[float, ...] = ()
    #: What the scores came as; thresholds are rounded to it.
    dtype: str = "float64"

    @classmethod
    def unpack(cls, stored: Any) -> Grid:
        """From what a file holds, checked."""
        invariants.require(
            isinstance(stored, list) and len(stored) == 2 and isinstance(stored[0], list), "the grid is broken"
        )
        cuts = tuple(_check.real(cut, "thresholds") for cut in stored[0])
        invariants.require(cuts == tuple(sorted(set(cuts))), "thresholds are not ascending")
        invariants.require(stored[1] in ("float32", "float64"), "the grid is of no known type")
        return cls(cuts, stored[1])

    def starts(self, ascending: Floats) -> Ints:
        """Where each cell begins in ascending scores."""
        keys = cell_key(ascending)
        side = np.searchsorted(np.array(self.thresholds), ascending, side="right")
        return group_starts((keys[1:] != keys[:-1]) | (side[1:] != side[:-1]), len(ascending))


def cell_key(scores: Floats) -> Floats:
    """The score rounded to about 13 significant bits; monotone, the same in every engine.

    >>> cell_key(np.array([0.1, 0.1001, 0.2]))
    array([0.09999847, 0.10009766, 0.19999695])
    """
    huge = np.abs(scores) > HUGE
    small = np.where(huge, scores * SCALE_DOWN, scores)
    spread = small * SPLITTER
    key = spread - (spread - small)
    with np.errstate(over="ignore"):
        return np.where(huge, key / SCALE_DOWN, key)


def quantised(runs: Sequence[Run], grid: Grid) -> tuple[Run, ...]:
    """Exact runs put into cells."""
    return _with_common_edges([_cells_of(run, grid) for run in runs], grid)


def merged(first: Sequence[Run], second: Sequence[Run], grid: Grid) -> tuple[Run, ...]:
    """Quantised runs of two samples put together: the same cells one pass over both would make."""
    runs = []
    for a, b in zip(first, second, strict=True):
        require_same_kind(a, b)
        joined = concatenated(a, b)
        run = joined.take(np.argsort(_low(joined), kind="stable"))
        run = grouped_at(run, grid.starts(_low(run))) if len(run) else run
        runs.append(replace(run, known_moments=a.moments.merge(b.moments)))
    return _with_common_edges(runs, grid)


def _cells_of(run: Run, grid: Grid) -> Run:
    scores = run.scores.astype(np.float64)
    starts = grid.starts(scores)
    if run.kind == "unit":
        lengths = np.diff(np.append(starts, len(scores)))
        return Run(
            scores[starts], lengths, lo=scores[starts], hi=scores[starts + lengths - 1], known_moments=run.moments
        )
    cells = replace(run, scores=scores, lo=scores, hi=scores, known_moments=run.moments)
    return grouped_at(cells, starts) if len(scores) else cells


def _with_common_edges(runs: Sequence[Run], grid: Grid) -> tuple[Run, ...]:
    """Give the entries of both classes in a cell one lower edge, the lowest score of either."""
    low = np.concatenate([_low(run) for run in runs])
    order = np.argsort(low, kind="stable")
    starts = grid.starts(low[order])
    lengths = np.diff(np.append(starts, len(low)))
    edges = np.empty_like(low)
    edges[order] = np.repeat(low[order][starts], lengths)
    cuts = np.cumsum([len(run) for run in runs])[:-1]
    return tuple(replace(run, scores=part) for run, part in zip(runs, np.split(edges, cuts), strict=True))


def _low(run: Run) -> Floats:
    return run.scores.astype(np.float64) if run.lo is None else run.lo.astype(np.float64, copy=False)
