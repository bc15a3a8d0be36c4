"""MOVER: limits of sums, ratios and differences from the limits of each part.

Zou & Donner (2008), Stat. Med. 27(10); Donner & Zou (2012), Stat. Methods Med. Res. 21(4). They keep the asymmetry of
the parts, which a normal approximation would lose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Mover:
    """How the limits of each model are computed where their difference is tested.

    The pseudo-observation has less weight than in single intervals: with more the test loses power, with less it
    rejects too often where the models' scores have different shapes.
    """

    #: Weight of the pseudo-observation: all of it in both classes with `each`, else most in the smaller one.
    extra: float
    each: bool = False
    #: Whether tails are Student's, with the effective rows of the smaller class less one as degrees of freedom.
    student: bool = False


#: A quantity with its limits: value, low, high.
Limits = tuple[float, float, float]


def sum_limits(*parts: tuple[float, Limits]) -> tuple[float, float]:
    """Limits of Σ c·x for pairs (c, x)."""
    value = below = above = 0.0
    for factor, (x, low, high) in parts:
        value += factor * x
        down, up = (x - low, high - x) if factor >= 0.0 else (high - x, x - low)
        below += (factor * down) ** 2
        above += (factor * up) ** 2
    return value - math.sqrt(below), value + math.sqrt(above)


def ratio_limits(over: Limits, under: Limits) -> tuple[float, float]:
    """Limits of x / y for x, y that are not negative; infinite where y may be 0."""
    x, x_low, x_high = over
    y, y_low, y_high = under
    if y <= 0.0:
        return math.nan, math.nan
    product = x * y
    # The lower limit in the form that does not divide by a difference, which may be 0 where y_high is above 2 y.
    lowest, low = x_low * (2.0 * x - x_low), 0.0
    if lowest > 0.0:
        low = lowest / (product + math.sqrt(max(product**2 - lowest * y_high * (2.0 * y - y_high), 0.0)))
    if y_low <= 0.0:
        return low, math.inf
    least = y_low * (2.0 * y - y_low)
    return low, (product + math.sqrt(max(product**2 - x_high * (2.0 * x - x_high) * least, 0.0))) / least


def difference_limits(first: Limits, second: Limits, correlation: float) -> tuple[float, float]:
    r"""Limits of x - y for correlated x and y.

    :math:`x - y - \sqrt{(x-l_x)^2 + (u_y-y)^2 - 2\rho(x-l_x)(u_y-y)}`, and above likewise.
    """
    x, x_low, x_high = first
    y, y_low, y_high = second
    down, up = (
        math.sqrt(max(one**2 + other**2 - 2.0 * correlation * one * other, 0.0))
        for one, other in ((x - x_low, y_high - y), (x_high - x, y - y_low))
    )
    return x - y - down, x - y + up
