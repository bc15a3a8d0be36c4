r"""Limits of the adjusted count from the profile likelihood of three binomials.

The positives and negatives of the validation sample and the target call k of n rows positive with the rates t, f and
:math:`q = \pi t + (1 - \pi) f`. The limits are the shares :math:`\pi` whose likelihood, at the t and f that fit them
best, is within :math:`\chi^2_1/2` of the highest; half a row is added to each of the six counts, so that rates of 0
and 1 are not taken as certain. In simulations (docs) it covers like the delta method's limits and is 8 to 34 % shorter
where the share is 2 % or less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tallymark.inference.scales import including, normal_quantile
from tallymark.quantify.estimation.intervals import rate_above
from tallymark.quantify.estimation.problem import Problem
from tallymark.summaries.tally import Tally

#: What is added to each count.
_ADDED = 0.5

#: Steps of expectation-maximisation before Newton's, most steps of Newton's, and the step that ends them.
_FIRST, _STEPS, _SMALL = 4, 60, 1e-10

#: Rates are this far from 0 and 1, and a step goes this part of the way there.
_EDGE, _NEARER = 1e-12, 0.95

#: Rows called positive, and all rows.
Rate = tuple[float, float]


@dataclass(frozen=True)
class _Counts:
    """Rows called positive and not, of the target, the positives and the negatives."""

    target: Rate
    positive: Rate
    negative: Rate

    def likelihood(self, t: float, f: float, q: float) -> float:
        """Logarithm of the likelihood."""
        pairs = zip((self.target, self.positive, self.negative), (q, t, f), strict=True)
        return sum(hits * math.log(rate) + (rows - hits) * math.log1p(-rate) for (hits, rows), rate in pairs)

    def best_at(self, share: float) -> float:
        """The highest likelihood at a share of positives; it is concave in the two rates."""
        t, f = (hits / rows for hits, rows in (self.positive, self.negative))
        reached = -math.inf
        for step in range(_STEPS):
            moved = (t, f) if step < _FIRST else self._newton(share, t, f)
            now = self.likelihood(*moved, share * moved[0] + (1.0 - share) * moved[1]) if step >= _FIRST else reached
            if step < _FIRST or now < reached:
                moved = self._expected(share, t, f)
                now = self.likelihood(*moved, share * moved[0] + (1.0 - share) * moved[1])
            t, f = moved
            if now - reached < _SMALL and step > _FIRST:
                break
            reached = now
        return now

    def _expected(self, share: float, t: float, f: float) -> tuple[float, float]:
        """A step of expectation-maximisation: the target's rows divided between the classes."""
        (k, n), (x, p), (y, m) = self.target, self.positive, self.negative
        q = share * t + (1.0 - share) * f
        called, others = k * share * t / q, (n - k) * share * (1.0 - t) / (1.0 - q)
        return _inside((x + called) / (p + called + others)), _inside((y + k - called) / (m + n - called - others))

    def _newton(self, share: float, t: float, f: float) -> tuple[float, float]:
        """A step of Newton's method that stays within the rates' range."""
        (k, n), (x, p), (y, m) = self.target, self.positive, self.negative
        q = share * t + (1.0 - share) * f
        up, down = k / q - (n - k) / (1.0 - q), k / q**2 + (n - k) / (1.0 - q) ** 2
        by_t, by_f = x / t - (p - x) / (1.0 - t) + share * up, y / f - (m - y) / (1.0 - f) + (1.0 - share) * up
        tt = x / t**2 + (p - x) / (1.0 - t) ** 2 + share**2 * down
        ff = y / f**2 + (m - y) / (1.0 - f) ** 2 + (1.0 - share) ** 2 * down
        tf = share * (1.0 - share) * down
        size = tt * ff - tf**2
        move_t, move_f = (ff * by_t - tf * by_f) / size, (tt * by_f - tf * by_t) / size
        part = min(1.0, _room(t, move_t), _room(f, move_f))
        return _inside(t + part * move_t), _inside(f + part * move_f)


def _inside(rate: float) -> float:
    return min(max(rate, _EDGE), 1.0 - _EDGE)


def _room(rate: float, move: float) -> float:
    """How much of a step leaves a rate within 0 and 1."""
    if move == 0.0:
        return 1.0
    return _NEARER * ((1.0 - rate) / move if move > 0.0 else -rate / move)


def count_profile(problem: Problem, target: Tally, level: float) -> tuple[float, float]:
    """Limits of the adjusted count at the problem's threshold."""
    runs = (target.runs[0], problem.validation.positive, problem.validation.negative)
    of_target, up, down = (rate_above(run, problem.options["threshold"]) for run in runs)
    return profile_limits(of_target, up, down, level)


def profile_limits(target: Rate, positive: Rate, negative: Rate, level: float) -> tuple[float, float]:
    """Limits of (q - fpr)/(tpr - fpr) from hits and rows of the target, the positives and the negatives."""
    from scipy.optimize import brentq

    counts = _Counts(*((hits + _ADDED, rows + 2.0 * _ADDED) for hits, rows in (target, positive, negative)))
    q, t, f = (hits / rows for hits, rows in (counts.target, counts.positive, counts.negative))
    if t <= f or positive[0] / positive[1] <= negative[0] / negative[1]:
        return 0.0, 1.0
    share = (q - f) / (t - f)
    if 0.0 < share < 1.0:
        start, best = share, counts.likelihood(t, f, q)
    else:
        best, start = max((counts.best_at(end), end) for end in (0.0, 1.0))
    allowed = normal_quantile(0.5 + level / 2.0) ** 2 / 2.0

    def beyond(share: float) -> float:
        return float(best - counts.best_at(share) - allowed)

    low, high = (
        float(end) if beyond(end) <= 0.0 else float(brentq(beyond, start, end, xtol=1e-12)) for end in (0.0, 1.0)
    )
    # Where the rates hardly differ the estimate may be cut at the other end.
    return including(min(max(share, 0.0), 1.0), low, high)
