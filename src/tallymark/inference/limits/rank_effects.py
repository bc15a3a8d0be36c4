"""Influence functions of metrics of the ranking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tallymark.inference.limits.effect import RankEffect, rank_cells
from tallymark.inference.limits.pseudo_observation import Bounded
from tallymark.metrics.partial import UP_TO
from tallymark.metrics.precision_recall import UP_TO_RECALL
from tallymark.summaries.tally import Tally

#: How much of a row is imagined in the worst place. Found by simulation (docs): less leaves some shapes of scores
#: covered less than 93 %, more widens every interval.
_EXTRA_AUROC, _EXTRA_AP, _EXTRA_PARTIAL, _EXTRA_EACH = 0.35, 0.5, 0.5, 0.25

#: Looked at another prevalence, a negative of the sample may stand for so many of those it stands for there that the
#: top of the list rests on a handful of negatives; beyond this share the imagined row goes into both classes in full.
FEW_NEGATIVES = 0.02


def auroc_effect(tally: Tally, low: float = 0.0, high: float = 1.0, *, anchor: float | None = None) -> RankEffect:
    """DeLong's placements less the AUROC: the share of the other class on the right side of each score.

    `low` and `high` are what a metric that is AUROC on another scale is at an AUROC of 0 and of 1.
    """
    negative, positive = rank_cells(tally)
    beaten = (negative.up_to - negative.mass / 2) / negative.total
    beating = (positive.from_here - positive.mass / 2) / positive.total
    value = float((positive.mass * beaten).sum()) / positive.total
    factor = high - low
    ends = -factor * value, factor * (1.0 - value)
    bounded = Bounded(low, high, ends, ends, _EXTRA_AUROC, anchor=anchor, capped=True)
    return RankEffect(tally, negative, positive, factor * (beating - value), factor * (beaten - value), bounded)


def rank_correlation_effect(slope_of: Callable[[Tally], float]) -> Callable[[Tally], RankEffect]:
    """A multiple of AUROC - ½ while prevalence and tied mass stay as they are."""

    def effect(tally: Tally) -> RankEffect:
        slope = slope_of(tally)
        return auroc_effect(tally, -slope / 2, slope / 2, anchor=0.0)

    return effect


def average_precision_effect(tally: Tally) -> RankEffect:
    r"""AP as a mean over positives of :math:`T/(T + rF)`, T and F the shares at or above, r the odds of a negative."""
    few = tally.prior is not None and rests_on_few_negatives(tally) > FEW_NEGATIVES
    return _precision_effect(tally, 1.0, _EXTRA_EACH if few else _EXTRA_AP, each=few)


def partial_average_precision_effect(tally: Tally) -> RankEffect:
    """The same mean over the positives up to a recall, which moves with the rows too."""
    return _precision_effect(tally, UP_TO_RECALL, _EXTRA_EACH, each=True)


def _precision_effect(tally: Tally, up_to: float, extra: float, *, each: bool) -> RankEffect:
    negative, positive = rank_cells(tally)
    r = (1.0 - tally.prevalence) / tally.prevalence
    share = positive.mass / positive.total
    above, false = (entries.from_here / entries.total for entries in (positive, negative))
    total = np.where(share > 0, above + r * false, 1.0)
    precision = above / total
    # What counts of each positive, and the precision where the recall ends: of all rows at a recall of 1.
    counts = np.clip(np.minimum(above, up_to) - (above - share), 0.0, share) / up_to
    held = np.flatnonzero(counts > 0)[0] if up_to < 1.0 else None
    last = 1.0 / (1.0 + r) if held is None else float(precision[held])
    part = np.divide(counts, share, out=np.zeros_like(share), where=share > 0)
    own = part * (precision - last)
    mean = float((share * own).sum())
    by_true, by_false = counts * r * false / total**2, -counts * r * above / total**2
    own_true, own_false = float((by_true * above).sum()), float((by_false * false).sum())
    of_positive = own - mean + by_true.cumsum() - own_true
    of_negative = by_false.cumsum() - own_false
    # A positive below all rows or above them, a negative above all rows or below them.
    worst = min(-mean - own_true, float(of_positive[share > 0].min()))
    of_positives = worst, (1.0 - last) / up_to - mean + float(by_true.sum()) - own_true
    of_negatives = float(by_false.sum()) - own_false, -own_false
    bounded = Bounded(0.0, 1.0, of_negatives, of_positives, extra, each=each)
    return RankEffect(tally, negative, positive, of_negative, of_positive, bounded, by_odds=-own_false)


def pr_auc_effect(tally: Tally) -> RankEffect:
    """The area under the PR curve moves with its rows as average precision does; with the prevalence by itself."""
    return replace(average_precision_effect(tally), by_odds=None)


def rests_on_few_negatives(tally: Tally) -> float:
    """How many negatives there are for each positive at the prevalence looked at, over the negatives in the sample."""
    return (1.0 - tally.prevalence) / tally.prevalence / tally.negative.effective_size


def partial_auc_effect(tally: Tally) -> RankEffect:
    r"""The area up to a false positive rate q as a mean over positives of :math:`\max(0, q - U)`, U the rate at a positive."""
    q = UP_TO
    negative, positive = rank_cells(tally)
    rate = (negative.from_here - negative.mass / 2) / negative.total
    values = (positive.from_here - positive.mass / 2) / positive.total
    inside = rate < q - tally.rounding
    # The recall where the range ends.
    reached = float(values[np.argmax(inside)]) if inside.any() else 0.0
    height = np.where(inside, q - rate, 0.0)
    lost = np.where(inside, values - reached, 0.0)
    mean_height, mean_lost = (
        float((entries.mass * gained).sum() / entries.total)
        for entries, gained in ((positive, height), (negative, lost))
    )
    bounded = Bounded(
        0.0, q, (-reached - mean_lost, -mean_lost), (-mean_height, q - mean_height), _EXTRA_PARTIAL, each=True
    )
    return RankEffect(tally, negative, positive, lost - mean_lost, height - mean_height, bounded)
