"""Limits of metrics that take the best of all thresholds: what a fixed choice would give, less what choosing flatters.

A metric such as KS is the value of the threshold that happens to look best. Where each choice is held fixed it is a
mean over rows, with limits like any other; its resamples overshoot it by about as much as it overshoots the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark._rounding import first_largest
from tallymark.inference.limits.effect import Effect, ScoreEffect
from tallymark.inference.limits.influence import Design
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.limits.rank_effects import auroc_effect
from tallymark.inference.scales import NO_SPREAD, critical_value
from tallymark.metrics.cost import Prices, aucc_prices, constant_loss, h_prices
from tallymark.metrics.hull import Hull, roc_hull
from tallymark.metrics.ranking import auroc_of, best_informedness
from tallymark.registry import METRICS
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally

#: The mean overshoot of resamples counts one and a half times, as for a threshold chosen on the same rows.
_SHORT_OF = 1.5

#: How much of a row is imagined in the worst place.
_EXTRA = 0.75


def with_overshoot(value: float, low: float, high: float, overshoot: float, level: float) -> tuple[float, float]:
    r"""Limits around :math:`v - 1.5 o` that reach :math:`\sqrt{(v-L)^2 + (z o)^2}` down and likewise up."""
    centre, noise = value - _SHORT_OF * overshoot, critical_value(level) * overshoot
    return centre - math.hypot(value - low, noise), centre + math.hypot(high - value, noise)


def _at_corners(tally: Tally, hull: Hull, prices: Prices, factor: float, low: float, high: float) -> ScoreEffect:
    """A loss that is a sum of prices of the rates at the corners of the hull, each corner held fixed."""
    thresholds = hull.thresholds[::-1]
    # A negative pays at every corner whose threshold it reaches, a positive at every corner it falls short of.
    of_fpr = np.concatenate(([0.0], np.cumsum(prices.of_fpr[::-1])))
    of_fnr = np.concatenate((np.cumsum(prices.of_fnr)[::-1], [0.0]))

    def effect(table: Floats, run: Run) -> Callable[[Floats], Any]:
        def raw(s: Floats) -> Floats:
            return table[np.searchsorted(thresholds, s, "right")]

        mean = run.sum_of(raw) / float(run.total)
        return lambda s: factor * (raw(s) - mean)

    down, up = effect(of_fpr, tally.negative), effect(of_fnr, tally.positive)
    return ScoreEffect(tally, down, up).with_bounds(low, high, extra=_EXTRA)


def _aucc(tally: Tally) -> Effect:
    hull = roc_hull(tally)
    return _at_corners(tally, hull, aucc_prices(hull.fpr, hull.tpr), 1.0, METRICS["aucc"].low, METRICS["aucc"].high)


def _h_measure(tally: Tally) -> Effect:
    hull, p = roc_hull(tally), tally.prevalence
    factor = -1.0 / constant_loss(p)
    return _at_corners(
        tally, hull, h_prices(p, hull.fpr, hull.tpr), factor, METRICS["h_measure"].low, METRICS["h_measure"].high
    )


def _ks(tally: Tally) -> Effect:
    steps = tally.views.steps()
    tpr, fpr = steps.tp / tally.positives, steps.fp / tally.negatives
    # From the highest threshold down; the lowest of equals, as the policy takes it.
    best = len(tpr) - 1 - int(first_largest((tpr - fpr)[::-1], tally.rounding))
    cut, hit, false = float(steps.thresholds[best]), float(tpr[best]), float(fpr[best])
    down: Callable[[Floats], Any] = lambda s: false - (s >= cut)
    up: Callable[[Floats], Any] = lambda s: (s >= cut) - hit
    effect = ScoreEffect(tally, down, up)
    return effect.with_bounds(-1.0, 1.0, extra=_EXTRA)


class Best(NamedTuple):
    """A metric at its best thresholds: its value, how far its resamples overshoot it, and what limits are asked of it."""

    tally: Tally
    value: float
    overshoot: float
    level: float
    design: Design


@dataclass(frozen=True)
class Maximum:
    """What limits of a metric of the best thresholds are made from.

    `overshoot` is the metric whose resamples tell how far the best looks too good; None where that is not needed.
    """

    limits: Callable[[Best], tuple[float, float]]
    overshoot: str | None


def _of_choice(name: str, effect: Callable[[Tally], Effect]) -> Maximum:
    """The metric at its own choice, held fixed, less what choosing flatters."""

    def limits(best: Best) -> tuple[float, float]:
        facts, value = METRICS[name], best.value
        low, high = effect(best.tally).limits(value, best.level, best.design)
        low, high = with_overshoot(value, float(low), float(high), best.overshoot, best.level)
        low, high = max(low, facts.low), min(high, facts.high)
        if high - low > NO_SPREAD * (facts.high - facts.low):
            return low, high
        # Every row on one side of the best threshold: as many as may have gone unseen could be on the other.
        off = unseen(best.level, min(run.effective_size for run in best.tally.runs)) * (facts.high - facts.low)
        return max(facts.low, value - off), min(facts.high, value + off)

    return Maximum(limits, name)


def _hull_limits(best: Best) -> tuple[float, float]:
    """The hull lies above the curve it is the hull of: AUROC's limits, raised above by what it adds in the sample."""
    area = auroc_of(best.tally)
    low, high = auroc_effect(best.tally).limits(area, best.level)
    return max(float(low), METRICS["hull_auc"].low), min(1.0, float(high) + best.value - area)


def _d_b_limits(best: Best) -> tuple[float, float]:
    """Those of KS, of which it is a rising function."""
    from scipy.special import ndtri

    ends = KS.limits(best._replace(value=best_informedness(best.tally)))
    low, high = (2.0 * float(ndtri((1.0 + end) / 2)) for end in ends)
    return low, high


KS = _of_choice("ks", _ks)
AUCC = _of_choice("aucc", _aucc)
H_MEASURE = _of_choice("h_measure", _h_measure)
HULL_AUC = Maximum(_hull_limits, None)
D_B = Maximum(_d_b_limits, "ks")
