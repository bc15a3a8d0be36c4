"""Limits of sums and ratios of independent quantities, put together from the limits of each (MOVER).

Zou & Donner (2008), Stat. Med. 27(10); Donner & Zou (2012), Stat. Methods Med. Res. 21(4). They keep the lopsidedness of the parts, where
a normal approximation would lose it.
"""

from __future__ import annotations

import math

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
    # The lower limit in the form that divides by no difference: the denominator may well be more than twice as large.
    lowest = x_low * (2.0 * x - x_low)
    low = (
        lowest / (product + math.sqrt(max(product**2 - lowest * y_high * (2.0 * y - y_high), 0.0)))
        if lowest > 0.0
        else 0.0
    )
    if y_low <= 0.0:
        return low, math.inf
    least = y_low * (2.0 * y - y_low)
    return low, (product + math.sqrt(max(product**2 - x_high * (2.0 * x - x_high) * least, 0.0))) / least
