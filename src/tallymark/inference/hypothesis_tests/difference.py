"""The difference of two models as a value: estimate, p-value and limits at any level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tallymark.errors import Undefined
from tallymark.inference.limits.cell_metrics import rate_limits
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.influence import Design
from tallymark.inference.limits.mover import Mover, difference_limits
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.scales import NO_SPREAD, student_value
from tallymark.registry import Metric
from tallymark.summaries.confusion import Confusion

#: Limits of a difference at a confidence level.
LimitsAt = Callable[[float], tuple[float, float]]


#: Bisections to read a p-value off limits, and the least p-value.
_HALVINGS, _LEAST_P = 50, 1e-15


@dataclass(frozen=True)
class Difference:
    """First less second: estimate, standard error, two-sided p-value, method, and limits at any level."""

    difference: float
    error: float
    p_value: float
    method: str
    limits: LimitsAt

    def equivalence_p(self, margin: float) -> float:
        """p-value of two one-sided tests: the least α at which limits at level 1 - 2α lie within the margin."""

        def within(alpha: float) -> bool:
            low, high = self.limits(1.0 - 2.0 * alpha)
            return -margin <= low and high <= margin

        return _least_alpha(within, 0.5 - 1e-9)


def _least_alpha(holds: Callable[[float], bool], most: float) -> float:
    """The least α up to `most` from which on a condition holds; 1 where it never does."""
    if not holds(most):
        return 1.0
    if holds(_LEAST_P):
        return _LEAST_P
    low, high = math.log(_LEAST_P), math.log(most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(math.exp(middle)) else (middle, high)
    return math.exp(high)


def student_difference(difference: float, error: float, method: str, freedom: float = math.inf) -> Difference:
    """From a difference and its standard error; normal unless degrees of freedom are given.

    Identical models give p = 1; a difference other than 0 without any variance is undefined.
    """
    from scipy.special import stdtr

    if error <= NO_SPREAD * abs(difference) and difference != 0.0:
        raise Undefined("the rows show a difference but no variance of it; too few, or too much alike, to compare")

    def limits(level: float) -> tuple[float, float]:
        reach = student_value(level, freedom) * error
        return difference - reach, difference + reach

    p = 2.0 * float(stdtr(freedom, -abs(difference) / error)) if error > 0.0 else 1.0
    return Difference(difference, error, p, method, limits)


def known_up_to(difference: float, error: float, slack: float) -> Difference:
    """DeLong's z of a difference with an error bound: limits wider by `slack`, p-value at the nearer end."""
    cautious = student_difference(math.copysign(max(0.0, abs(difference) - slack), difference), error, "DeLong")

    def limits(level: float) -> tuple[float, float]:
        low, high = cautious.limits(level)
        reach = (high - low) / 2
        return difference - reach - slack, difference + reach + slack

    return Difference(difference, error, cautious.p_value, "DeLong", limits)


def no_disagreement(span: float, rows: float, method: str) -> Difference:
    r"""Two models that agree on every row: up to :math:`1 - (\alpha/2)^{1/m}` of a class of m rows may yet differ.

    `span` is the width of the metric's range; limits are nan where it is infinite.
    """

    def limits(level: float) -> tuple[float, float]:
        reach = unseen(level, rows) * span if math.isfinite(span) else math.nan
        return -reach, reach

    return Difference(0.0, 0.0, 1.0, method, limits)


def model_limits(how: Mover, effect: Effect, value: float, design: Design, freedom: float) -> LimitsAt:
    """Limits of one model at any level, for the test of its difference from another."""
    from scipy.special import ndtr, stdtrit

    @cache
    def limits(level: float) -> tuple[float, float]:
        used = 2.0 * float(ndtr(stdtrit(freedom, 0.5 + level / 2))) - 1.0 if how.student else level
        low, high = effect.limits(value, used, design, how)
        return float(low), float(high)

    return limits


def model_rate_limits(facts: Metric, confusion: Confusion) -> LimitsAt:
    """Mid-p limits of a model's proportion at any level; a little too wide where class sizes are fixed."""

    @cache
    def limits(level: float) -> tuple[float, float]:
        low, high, _ = rate_limits([facts.name], confusion, level, "plain")[facts.name]
        return low, high

    return limits


def mover_difference(
    values: tuple[float, float],
    model_ends: tuple[LimitsAt, LimitsAt],
    error: float,
    correlation: float,
    slack: float = 0.0,
) -> Difference:
    """MOVER: from the limits of each model and the correlation of the estimates.

    Unlike a normal or Student's test of the difference it keeps its size with few positives and with scores of
    different shapes; near a perfect ranking it is conservative. `slack` bounds the error of the difference where scores
    are rounded to cells. Zou & Donner (2008), Stat. Med. 27(10).
    """
    d = values[0] - values[1]

    def limits(level: float) -> tuple[float, float]:
        first, second = ((value, *ends(level)) for value, ends in zip(values, model_ends, strict=True))
        low, high = difference_limits(first, second, correlation)
        return low - slack, high + slack

    return Difference(d, error, _p_of_limits(d, limits), "MOVER", limits)


def _p_of_limits(difference: float, limits: LimitsAt) -> float:
    """The least α at which limits at level 1 - α exclude 0; 1 where they never do."""
    from scipy.optimize import brentq

    def beyond(log_alpha: float) -> float:
        low, high = limits(1.0 - math.exp(log_alpha))
        return low if difference > 0.0 else -high

    least, most = math.log(_LEAST_P), math.log(1.0 - 1e-9)
    if difference == 0.0 or not beyond(most) > 0.0:
        return 1.0
    return _LEAST_P if beyond(least) > 0.0 else math.exp(float(brentq(beyond, least, most, xtol=1e-8)))
