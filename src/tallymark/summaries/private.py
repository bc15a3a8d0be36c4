"""Scores in bins of at least so many rows of either class: what is shown of them says little of any single row."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, overload

import numpy as np

from tallymark._check import Floats, Ints, whole
from tallymark._numbers import noun
from tallymark.errors import InputError, shown
from tallymark.notes import Note, emit
from tallymark.summaries.panel import Panel
from tallymark.summaries.run import Run
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Significant digits of a bin's score, of the range of all, and about how many bins there are at most.
_DIGITS, _MOST = 4, 2_000


@overload
def private(data: Tally, least: int) -> Tally: ...
@overload
def private(data: Tallies, least: int) -> Tallies: ...
@overload
def private(data: Panel, least: int) -> Panel: ...
def private(data: Tally | Tallies | Panel, least: int) -> Tally | Tallies | Panel:
    """The same rows with scores in bins, each of which has no row of a class or `least` or more.

    No count at a threshold, or between two, is then one to `least` − 1. Bins are made from the highest score down, as
    small as they can be; every row has the rounded mean score of its bin. Groups with fewer rows of a class are left
    out. TM131 says both.
    """
    whole(least, "private", 2)
    text = f"scores are in bins of {least} rows of either class or more, and every number is that of the bins"
    binned: Tally | Tallies | Panel
    if isinstance(data, Tallies):
        small = [key for key, tally in data.entries.items() if _fewest(tally) < least]
        kept = {key: _binned(tally, least) for key, tally in data.entries.items() if key not in small}
        if not kept:
            raise InputError(f"No group has {least} rows of either class; private={least} leaves nothing to show.")
        if small:
            named = shown([", ".join(map(str, key)) for key in small])
            text += f"; left out, with their rows: {len(small)} {noun(len(small), 'group')} with fewer ({named})"
        binned = Tallies(data.names, kept, data.by_model)
    elif isinstance(data, Panel):
        binned = _panel_in_bins(data, least)
    else:
        binned = _binned(data, least)
    emit([Note("TM131", text)])
    return binned


def _panel_in_bins(panel: Panel, least: int) -> Panel:
    """The rows with the score of their bin; without further columns."""
    if panel.cluster is not None:
        raise InputError(_CLUSTERS)
    scores = {}
    for name in panel.models:
        edges, centres = _bins(panel.tally(name), least)
        scores[name] = centres[np.searchsorted(edges, panel.scores[name], "right") - 1]
    return replace(panel, scores=scores, extra={})


_CLUSTERS = "private= is for rows that are drawn independently; leave out the clusters."


def _fewest(tally: Tally) -> int:
    """Rows of the smaller class."""
    if not tally.labelled:
        raise InputError("private= is for labelled rows.")
    if tally.clusters is not None:
        raise InputError(_CLUSTERS)
    return min(run.n_rows for run in tally.runs)


def _binned(tally: Tally, least: int) -> Tally:
    edges, centres = _bins(tally, least)
    return Tally(tuple(_run_in_bins(run, edges, centres) for run in tally.runs), tally.labels, tally.prior)


def _bins(tally: Tally, least: int) -> tuple[Floats, Floats]:
    """The lowest score of each bin, ascending, and the score that its rows get."""
    if (fewest := _fewest(tally)) < least:
        raise InputError(f"There are {fewest} rows of one class, fewer than private={least}.")
    scores = np.unique(np.concatenate([run.centres for run in tally.runs])).astype(np.float64)
    rows = np.stack([_rows_at(run, scores) for run in tally.runs])
    first = np.array(_starts(rows, least))
    shares = rows.sum(axis=0) / rows.sum()
    centres = _rounded(np.add.reduceat(scores * shares, first) / np.add.reduceat(shares, first))
    # Bins that round to one score are one.
    _, kept = np.unique(centres, return_index=True)
    return scores[first[kept]], centres[kept]


def _starts(rows: Ints, least: int) -> list[int]:
    """Where bins begin, ascending: each has of either class no row, or `least` or more; the first begins at 0."""
    below = np.concatenate((np.zeros((2, 1), dtype=np.int64), rows.cumsum(axis=1)), axis=1)
    everyone = below.sum(axis=0)
    step = max(least, int(everyone[-1]) // _MOST)
    ends = [rows.shape[1]]
    while ends[-1] > 0 and (start := _start_of_bin(below, everyone, ends[-1], least, step)) is not None:
        ends.append(start)
    # What is left at the lower end goes to the bin above, and to further ones while they have too few of a class.
    ends[-1] = 0
    while len(ends) > 2 and any(0 < of_class[ends[-2]] < least for of_class in below):
        del ends[-2]
    return ends[:0:-1]


def _start_of_bin(below: Ints, everyone: Ints, end: int, least: int, step: int) -> int | None:
    """Where the smallest bin below `end` begins, with about `step` rows; None where there are too few."""
    for one, other in (below, below[::-1]):
        # The stretch below `end` in which the other class has no row.
        alone = int(np.searchsorted(other, other[end], "left"))
        if one[end] - one[alone] >= least:
            return max(alone, int(np.searchsorted(one, one[end] - step, "right")) - 1)
    start = min(
        int(np.searchsorted(sums, sums[end] - n, "right")) - 1
        for sums, n in zip((*below, everyone), (least, least, step), strict=True)
    )
    return start if start >= 0 else None


def _rows_at(run: Run, scores: Floats) -> Ints:
    """Rows of a class at each of the scores."""
    rows = run.rows if run.rows is not None else run.mass
    places = np.searchsorted(scores, run.centres)
    found: Ints = np.bincount(places, rows, minlength=len(scores)).astype(np.int64)
    return found


def _rounded(values: Floats) -> Floats:
    """Numbers to four digits of their range."""
    spread = float(values.max() - values.min())
    if not 0.0 < spread < math.inf:
        spread = max(abs(float(values[0])), 1e-300)
    digits = _DIGITS - 1 - math.floor(math.log10(spread))
    return np.round(values, min(max(digits, -300), 300))


def _run_in_bins(run: Run, edges: Floats, centres: Floats) -> Run:
    places = np.searchsorted(edges, run.centres, "right") - 1

    def summed(column: Any) -> Floats:
        sums: Floats = np.bincount(places, column, minlength=len(edges)).astype(np.float64)
        return sums

    rows = summed(run.rows if run.rows is not None else run.mass).astype(np.int64)
    there = rows > 0
    if run.kind != "weights":
        return Run(centres[there], counts=rows[there])
    return Run(centres[there], weights=summed(run.weights)[there], squares=summed(run.squares)[there], rows=rows[there])
