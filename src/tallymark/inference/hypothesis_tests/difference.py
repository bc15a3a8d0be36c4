"""The difference of two models: estimate, p-value and limits at any level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tallymark.errors import Undefined
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.scales import NO_SPREAD

#: Limits of a difference at a confidence level.
LimitsAt = Callable[[float], tuple[float, float]]


#: How finely p-values are read off limits, and the least that is told from 0.
_HALVINGS, _LEAST_P = 50, 1e-15


@dataclass(frozen=True)
class Difference:
    """First less second: estimate, standard error, two-sided p, the method behind them, and limits at any level."""

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
    """The least α up to `most` at which something holds that holds from there on; 1 where it never does."""
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

    Identical models give p = 1; a difference other than 0 without any variance is undefined, for it comes from few rows.
    """
    from scipy.special import stdtr, stdtrit

    if error <= NO_SPREAD * abs(difference) and difference != 0.0:
        raise Undefined("the rows show a difference but no variance of it; too few, or too much alike, to compare")

    def limits(level: float) -> tuple[float, float]:
        reach = float(stdtrit(freedom, 0.5 + level / 2)) * error
        return difference - reach, difference + reach

    p = 2.0 * float(stdtr(freedom, -abs(difference) / error)) if error > 0.0 else 1.0
    return Difference(difference, error, p, method, limits)


def known_up_to(difference: float, error: float, slack: float) -> Difference:
    """DeLong's z of a difference that is only known up to a slack: limits wider by that much, p at the nearer end."""
    cautious = student_difference(math.copysign(max(0.0, abs(difference) - slack), difference), error, "DeLong")

    def limits(level: float) -> tuple[float, float]:
        low, high = cautious.limits(level)
        reach = (high - low) / 2
        return difference - reach - slack, difference + reach + slack

    return Difference(difference, error, cautious.p_value, "DeLong", limits)


def no_disagreement(span: float, rows: float, method: str) -> Difference:
    r"""Two models that do the same on every row: up to :math:`1 - (\alpha/2)^{1/m}` of a class of m rows may yet differ.

    `span` is how far the metric can move; where it has no end nothing can be said.
    """

    def limits(level: float) -> tuple[float, float]:
        reach = unseen(level, rows) * span if math.isfinite(span) else math.nan
        return -reach, reach

    return Difference(0.0, 0.0, 1.0, method, limits)


#: Part of a row imagined in the worst place for each model: with more the test loses power, with less it errs too often
#: where the models' scores have different shapes.
_EXTRA = 0.25


def auroc_difference(
    values: tuple[float, float], effects: tuple[Effect, Effect], error: float, correlation: float, slack: float = 0.0
) -> Difference:
    r"""From each model's own limits and their correlation (MOVER).

    :math:`d - \sqrt{(a-l_a)^2 + (u_b-b)^2 - 2\rho(a-l_a)(u_b-b)}`, and above likewise. Unlike DeLong's z it keeps its size
    with few positives and with scores of different shapes; near a perfect ranking it is timid. `slack` is how far the
    difference can be off because scores share cells. Zou & Donner (2008), Stat. Med. 27(10).
    """
    a, b = values
    d = a - b

    @cache
    def limits(level: float) -> tuple[float, float]:
        (l_a, u_a), (l_b, u_b) = (
            effect.limits(value, level, extra=_EXTRA) for value, effect in zip(values, effects, strict=True)
        )
        down = math.sqrt(max((a - l_a) ** 2 + (u_b - b) ** 2 - 2.0 * correlation * (a - l_a) * (u_b - b), 0.0))
        up = math.sqrt(max((u_a - a) ** 2 + (b - l_b) ** 2 - 2.0 * correlation * (u_a - a) * (b - l_b), 0.0))
        return float(d - down - slack), float(d + up + slack)

    def away(alpha: float) -> bool:
        low, high = limits(1.0 - alpha)
        return low > 0.0 or high < 0.0

    return Difference(d, error, _least_alpha(away, 1.0 - 1e-9), "MOVER", limits)
