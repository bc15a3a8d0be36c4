"""Limits of metrics that take the best of all thresholds: what a fixed choice would give, less what choosing flatters.

A metric such as KS is the value of the threshold that happens to look best. Where each choice is held fixed it is a mean
over rows, with limits like any other; its resamples overshoot it by about as much as it overshoots the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import normal_quantile
from tallymark.intervals.effects import EFFECTS, Effect, ScoreEffect
from tallymark.intervals.influence import Design
from tallymark.metrics.cost import Prices, aucc_prices, constant_loss, h_prices
from tallymark.metrics.hull import Hull, roc_hull
from tallymark.metrics.ranking import auroc_of, best_informedness
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: The mean overshoot of resamples counts one and a half times, as for a threshold chosen on the same rows.
_SHORT_OF = 1.5


def with_overshoot(value: float, low: float, high: float, overshoot: float, level: float) -> tuple[float, float]:
    r"""Limits around :math:`v - 1.5 o` that reach :math:`\sqrt{(v-L)^2 + (z o)^2}` down and likewise up."""
    centre, noise = value - _SHORT_OF * overshoot, normal_quantile(0.5 + level / 2) * overshoot
    return centre - math.hypot(value - low, noise), centre + math.hypot(high - value, noise)


def _at_corners(tally: Tally, hull: Hull, prices: Prices, factor: float, low: float, high: float) -> ScoreEffect:
    """A loss that is a sum of prices of the rates at the corners of the hull, each corner held fixed."""
    thresholds = hull.thresholds[::-1]
    # A negative pays at every corner whose threshold it reaches, a positive at every corner it falls short of.
    of_fpr = np.concatenate(([0.0], np.cumsum(prices.of_fpr[::-1])))
    of_fnr = np.concatenate((np.cumsum(prices.of_fnr)[::-1], [0.0]))

    def effect(table: Floats, mean: float) -> Callable[[Floats], Floats]:
        return lambda s: factor * (table[np.searchsorted(thresholds, s, "right")] - mean)

    down, up = (
        effect(table, run.sum_of(lambda s, table=table: table[np.searchsorted(thresholds, s, "right")]) / float(run.total))  # type: ignore[misc]
        for table, run in zip((of_fpr, of_fnr), tally.runs, strict=True)
    )
    return ScoreEffect(tally, down, up).with_bounds(low, high)


def _aucc(tally: Tally) -> Effect:
    hull = roc_hull(tally)
    return _at_corners(tally, hull, aucc_prices(hull.fpr, hull.tpr), 1.0, METRICS["aucc"].low, METRICS["aucc"].high)


def _h_measure(tally: Tally) -> Effect:
    hull, p = roc_hull(tally), tally.prevalence
    factor = -1.0 / constant_loss(p)
    return _at_corners(tally, hull, h_prices(p, hull.fpr, hull.tpr), factor, METRICS["h_measure"].low, METRICS["h_measure"].high)


def _ks(tally: Tally) -> Effect:
    steps = tally.steps()
    tpr, fpr = steps.tp / tally.positives, steps.fp / tally.negatives
    best = int(np.argmax(tpr - fpr))
    cut, hit, false = float(steps.thresholds[best]), float(tpr[best]), float(fpr[best])
    effect = ScoreEffect(tally, lambda s: false - (s >= cut), lambda s: (s >= cut) - hit)
    return effect.with_bounds(-1.0, 1.0)


#: Metrics of the best thresholds, by what each choice held fixed gives.
FIXED_CHOICE: Mapping[str, Callable[[Tally], Effect]] = {"ks": _ks, "aucc": _aucc, "h_measure": _h_measure}


def maximum_limits(name: str, tally: Tally, value: float, overshoot: float, level: float, design: Design) -> tuple[float, float]:
    """Limits of a metric of :data:`FIXED_CHOICE`, given how far its resamples overshoot it on average."""
    facts = METRICS[name]
    low, high = FIXED_CHOICE[name](tally).limits(value, level, design)
    low, high = with_overshoot(value, float(low), float(high), overshoot, level)
    return max(low, facts.low), min(high, facts.high)


def hull_limits(tally: Tally, value: float, level: float) -> tuple[float, float]:
    """The hull lies above the curve it is the hull of: AUROC's limits, raised above by what it adds in the sample."""
    area = auroc_of(tally)
    low, high = EFFECTS["auroc"](tally).limits(area, level)
    return max(float(low), METRICS["hull_auc"].low), min(1.0, float(high) + value - area)


def d_b_limits(tally: Tally, overshoot: float, level: float) -> tuple[float, float]:
    """Those of KS, of which it is a rising function."""
    from scipy.special import ndtri

    low, high = maximum_limits("ks", tally, best_informedness(tally), overshoot, level, Design())
    return 2.0 * float(ndtri((1.0 + low) / 2)), 2.0 * float(ndtri((1.0 + high) / 2))
