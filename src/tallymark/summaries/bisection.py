"""Bisection over the sorted scores of a tally, without merging its classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tallymark._check import Bools, Floats, Scores
from tallymark.summaries.tally import Tally


def mass_above(tally: Tally, scores: Scores, side: Literal["left", "right"]) -> tuple[Floats, Floats]:
    """Mass of all rows and of the positives above each score (`left`: at or above), at the stated prevalence."""
    down, up = tally.scale
    fp, tp = (run.mass_from(np.searchsorted(run.scores, scores, side)) for run in (tally.negative, tally.positive))
    return tp * up + fp * down, tp * up


def lowest_scores(tally: Tally, holds: Callable[[Scores], Bools], many: int) -> Scores:
    """For each of `many` monotone conditions the lowest score at which it holds; inf where it holds at none.

    `holds` takes a score for each condition and returns whether it holds there, and so at every higher score.
    """
    lowest = np.full(many, np.inf, dtype=tally.runs[0].scores.dtype)
    for run in tally.runs:
        first, beyond = np.zeros(many, dtype=np.int64), np.full(many, len(run))
        for _ in range(len(run).bit_length()):
            middle = np.minimum((first + beyond) // 2, len(run) - 1)
            satisfied, searched = holds(run.scores[middle]), first < beyond
            beyond = np.where(searched & satisfied, middle, beyond)
            first = np.where(searched & ~satisfied, middle + 1, first)
        reached = first < len(run)
        lowest[reached] = np.minimum(lowest[reached], run.scores[first[reached]])
    return lowest
