"""Scores at which a mass is reached, found by halving: two runs of millions of rows need not be merged for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tallymark._check import Bools, Floats, Scores
from tallymark.summaries.tally import Tally


def mass_above(tally: Tally, scores: Scores, side: Literal["left", "right"]) -> tuple[Floats, Floats]:
    """Mass of all rows and of the positives above each score, the score itself included with `left`.

    At the prevalence looked at.
    """
    down, up = tally.scale
    fp, tp = (run.mass_from(np.searchsorted(run.scores, scores, side)) for run in (tally.negative, tally.positive))
    return tp * up + fp * down, tp * up


def lowest_scores(tally: Tally, holds: Callable[[Scores], Bools], many: int) -> Scores:
    """For each of `many` conditions the lowest score of the tally at which it holds, inf where it holds at none.

    `holds` takes a score for each condition and answers for each. A condition that holds at a score has to hold at every
    higher one.
    """
    lowest = np.full(many, np.inf, dtype=tally.runs[0].scores.dtype)
    for run in tally.runs:
        first, beyond = np.zeros(many, dtype=np.int64), np.full(many, len(run))
        for _ in range(len(run).bit_length()):
            middle = np.minimum((first + beyond) // 2, len(run) - 1)
            held, searched = holds(run.scores[middle]), first < beyond
            beyond = np.where(searched & held, middle, beyond)
            first = np.where(searched & ~held, middle + 1, first)
        found = first < len(run)
        lowest[found] = np.minimum(lowest[found], run.scores[first[found]])
    return lowest
