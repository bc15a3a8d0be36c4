"""Optimism-corrected limits of metrics maximised over thresholds.

A metric such as KS is the value at the threshold that is best in the sample. With the threshold held fixed it is a mean
over rows, with limits like any other; its resamples exceed it by about as much as it exceeds the true value.
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

#: Weight of the pseudo-observation in the worst place.
_EXTRA = 0.75


def with_overshoot(value: float, low: float, high: float, overshoot: float, level: float) -> tuple[float, float]:
    r"""Limits around :math:`v - 1.5 o` that reach :math:`\sqrt{(v-L)^2 + (z o)^2}` down and likewise up."""
    centre, noise = value - _SHORT_OF * overshoot, critical_value(level) * overshoot
    return centre - math.hypot(value - low, noise), centre + math.hypot(high - value, noise)


def _at_corners(tally: Tally, hull: Hull, prices: Prices, factor: float, low: float, high: float) -> ScoreEffect:
    """Influence of a loss that is a weighted sum of the rates at the corners of the hull, with the corners fixed."""
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
    """A maximised metric: its value, the mean overshoot of its resamples, and the level and design of its limits."""

    tally: Tally
    value: float
    overshoot: float
    level: float
    design: Design


@dataclass(frozen=True)
class Maximum:
    """How limits of a metric maximised over thresholds are computed.

    `overshoot` is the metric whose resamples estimate the optimism; None where it is not needed.
    """

    limits: Callable[[Best], tuple[float, float]]
    overshoot: str | None


def _of_choice(name: str, effect: Callable[[Tally], Effect]) -> Maximum:
    """Limits at the best thresholds held fixed, corrected for the optimism of choosing them."""

    def limits(best: Best) -> tuple[float, float]:
        facts, value = METRICS[name], best.value
        low, high = effect(best.tally).limits(value, best.level, best.design)
        low, high = with_overshoot(value, float(low), float(high), best.overshoot, best.level)
        low, high = max(low, facts.low), min(high, facts.high)
        if high - low > NO_SPREAD * (facts.high - facts.low):
            return low, high
        # All rows are on the right side of the best threshold; a share of the rows not sampled may be on the other.
        off = unseen(best.level, min(run.effective_size for run in best.tally.runs)) * (facts.high - facts.low)
        return max(facts.low, value - off), min(facts.high, value + off)

    return Maximum(limits, name)


def _hull_limits(best: Best) -> tuple[float, float]:
    """AUROC's limits, the upper one raised by what the hull adds in the sample."""
    area = auroc_of(best.tally)
    low, high = auroc_effect(best.tally).limits(area, best.level)
    return max(float(low), METRICS["hull_auc"].low), min(1.0, float(high) + best.value - area)


def _d_b_limits(best: Best) -> tuple[float, float]:
    """Limits of KS, of which it is an increasing function."""
    from scipy.special import ndtri

    ends = KS.limits(best._replace(value=best_informedness(best.tally)))
    low, high = (2.0 * float(ndtri((1.0 + end) / 2)) for end in ends)
    return low, high


KS = _of_choice("ks", _ks)
AUCC = _of_choice("aucc", _aucc)
H_MEASURE = _of_choice("h_measure", _h_measure)
HULL_AUC = Maximum(_hull_limits, None)
D_B = Maximum(_d_b_limits, "ks")
