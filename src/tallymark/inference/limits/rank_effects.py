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

#: Weights of the pseudo-observation, chosen by simulation (docs): with less, some shapes of scores are covered less
#: than 93 %, with more every interval is wider.
_EXTRA_AUROC, _EXTRA_AP, _EXTRA_PARTIAL, _EXTRA_EACH = 0.35, 0.5, 0.5, 0.25

#: At a stated prevalence each negative may have so large a weight that the top of the list depends on a few of them;
#: beyond this share the pseudo-observation is added to both classes in full.
FEW_NEGATIVES = 0.02


def auroc_effect(tally: Tally, low: float = 0.0, high: float = 1.0, *, anchor: float | None = None) -> RankEffect:
    """DeLong's placements (the share of the other class on the right side of each score) less the AUROC.

    `low` and `high` are the values of a linear function of AUROC at 0 and at 1.
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
    """Influence of a multiple of AUROC - ½, with prevalence and tied mass held fixed."""

    def effect(tally: Tally) -> RankEffect:
        slope = slope_of(tally)
        return auroc_effect(tally, -slope / 2, slope / 2, anchor=0.0)

    return effect


def average_precision_effect(tally: Tally) -> RankEffect:
    r"""Influence of AP, a mean over positives of :math:`T/(T + rF)`.

    T and F are the shares of positives and negatives at or above, r the odds of a negative.
    """
    few = tally.prior is not None and rests_on_few_negatives(tally) > FEW_NEGATIVES
    return _precision_effect(tally, 1.0, _EXTRA_EACH if few else _EXTRA_AP, each=few)


def partial_average_precision_effect(tally: Tally) -> RankEffect:
    """Influence of the same mean over the positives up to a recall, which varies too."""
    return _precision_effect(tally, UP_TO_RECALL, _EXTRA_EACH, each=True)


def _precision_effect(tally: Tally, up_to: float, extra: float, *, each: bool) -> RankEffect:
    negative, positive = rank_cells(tally)
    r = (1.0 - tally.prevalence) / tally.prevalence
    share = positive.mass / positive.total
    above, false = (entries.from_here / entries.total for entries in (positive, negative))
    total = np.where(share > 0, above + r * false, 1.0)
    precision = above / total
    # The share of each positive within the recall, and the precision where it ends: of all rows at a recall of 1.
    counts = np.clip(np.minimum(above, up_to) - (above - share), 0.0, share) / up_to
    end = np.flatnonzero(counts > 0)[0] if up_to < 1.0 else None
    last = 1.0 / (1.0 + r) if end is None else float(precision[end])
    part = np.divide(counts, share, out=np.zeros_like(share), where=share > 0)
    direct = part * (precision - last)
    mean = float((share * direct).sum())
    by_true, by_false = counts * r * false / total**2, -counts * r * above / total**2
    mean_true, mean_false = float((by_true * above).sum()), float((by_false * false).sum())
    of_positive = direct - mean + by_true.cumsum() - mean_true
    of_negative = by_false.cumsum() - mean_false
    # A positive below all rows or above them, a negative above all rows or below them.
    worst = min(-mean - mean_true, float(of_positive[share > 0].min()))
    of_positives = worst, (1.0 - last) / up_to - mean + float(by_true.sum()) - mean_true
    of_negatives = float(by_false.sum()) - mean_false, -mean_false
    bounded = Bounded(0.0, 1.0, of_negatives, of_positives, extra, each=each)
    return RankEffect(tally, negative, positive, of_negative, of_positive, bounded, by_odds=-mean_false)


def pr_auc_effect(tally: Tally) -> RankEffect:
    """Influence of the area under the PR curve: that of average precision but for the prevalence."""
    return replace(average_precision_effect(tally), by_odds=None)


def rests_on_few_negatives(tally: Tally) -> float:
    """Negatives per positive at the stated prevalence, over the effective negatives in the sample."""
    return (1.0 - tally.prevalence) / tally.prevalence / tally.negative.effective_size


def partial_auc_effect(tally: Tally) -> RankEffect:
    r"""Influence of the area up to a false positive rate q, a mean over positives of :math:`\max(0, q - U)`.

    U is the false positive rate at a positive.
    """
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
