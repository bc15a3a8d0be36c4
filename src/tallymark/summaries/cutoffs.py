"""Cumulative masses of both classes at each cut-off, from two sorted runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Floats, Ints, Masses, Scores
from tallymark.summaries.run import Run


class Steps(NamedTuple):
    """Masses at each distinct positive score, from the highest down: the only cut-offs where recall moves.

    `tp` and `fp` are the positives and negatives at or above the threshold, `before` and `above` those strictly above.
    """

    thresholds: Scores
    tp: Masses
    before: Masses
    fp: Masses
    above: Masses


class Cutoffs(NamedTuple):
    """Masses at or above every distinct score of either class, from ``+inf`` (nothing positive) down."""

    thresholds: Scores
    tp: Masses
    fp: Masses


class Outcomes(NamedTuple):
    """Distinct scores ascending, the share of positives at each, and their mass."""

    scores: Floats
    share: Floats
    mass: Floats


def outcomes_of(cut: Cutoffs, scale: tuple[float, float]) -> Outcomes:
    """The share of positives at every score, with (negative, positive) mass multiplied by `scale`."""
    down, up = scale
    scores = cut.thresholds[1:].astype(np.float64)[::-1]
    positive, negative = (np.diff(mass)[::-1] for mass in (cut.tp * up, cut.fp * down))
    mass = (positive + negative).astype(np.float64)
    return Outcomes(scores, positive / mass, mass)


def steps_at(
    block: slice, positive: Run, negative: Run, placements: tuple[Ints, Ints], first_of_score: Ints | None
) -> Steps:
    """The steps of a block of distinct positive scores, counted from the lowest.

    `placements` are the negative entries below, and at or below, each positive entry; `first_of_score` says where each
    distinct positive score begins, None when all are distinct.
    """
    below, at_or_below = placements
    if first_of_score is None:
        index, following = np.arange(block.start, block.stop), np.arange(block.start + 1, block.stop + 1)
    else:
        index = first_of_score[block]
        following = np.append(first_of_score[block.start + 1 : block.stop + 1], len(positive))[: len(index)]
    at: Any = block if first_of_score is None else index
    fp = negative.mass_from(below[at])
    above = fp if at_or_below is below else negative.mass_from(at_or_below[at])
    tp, before = (positive.mass_from(i) for i in (index, following))
    return Steps(positive.scores[at][::-1], tp[::-1], before[::-1], fp[::-1], above[::-1])


def all_cutoffs(positive: Run, negative: Run, below: Ints) -> Cutoffs:
    """Masses at every distinct score of both runs. `below` are the negative entries below each positive one."""
    total = len(positive) + len(negative)
    from_negative = np.ones(total, dtype=np.bool_)
    from_negative[below + np.arange(len(positive))] = False
    thresholds = np.empty(total + 1, dtype=positive.scores.dtype)
    merged = thresholds[:-1]
    merged[from_negative] = negative.scores
    merged[~from_negative] = positive.scores
    # Entries of each class before a place; +inf stands after all of them.
    thresholds[-1] = np.inf
    negatives_before = np.zeros(total + 1, dtype=np.int64)
    np.cumsum(from_negative, out=negatives_before[1:])
    positives_before = np.arange(total + 1)
    positives_before -= negatives_before
    fresh = np.ones(total + 1, dtype=np.bool_)
    np.not_equal(thresholds[1:], thresholds[:-1], out=fresh[1:])
    if not fresh.all():
        thresholds, negatives_before, positives_before = (
            a[fresh] for a in (thresholds, negatives_before, positives_before)
        )
    tp, fp = _mass_from(positive, positives_before), _mass_from(negative, negatives_before)
    for array in (thresholds, tp, fp):
        array.flags.writeable = False
    return Cutoffs(thresholds[::-1], tp[::-1], fp[::-1])


def _mass_from(run: Run, before: Ints) -> Masses:
    """Mass from each place on; the places are no longer needed, so unit runs count in their memory."""
    return np.subtract(len(run), before, out=before) if run.kind == "unit" else run.mass_from(before)
