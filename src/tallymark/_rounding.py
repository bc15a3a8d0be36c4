"""Comparison up to rounding, for sums of weights that are equal in exact arithmetic only."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray


def rounding(terms: int = 0) -> float:
    r"""Relative tolerance for numbers that are computed from sums of `terms` weights.

    Each weight is rounded once and each addition of nonnegative terms once more, so that a sum of n weights, in any
    order, has a relative error of at most :math:`n u` with :math:`u = 2^{-53}` (Higham 2002, §4.2). A quotient of two
    sums has :math:`2 n u`, and two equal quotients differ by at most :math:`4 n u`; twice that allows for a formula of
    several of them. Whole counts are exact, so only the operations of the formula round: 64 of them are allowed for.
    """
    return (4 * terms + 64) * sys.float_info.epsilon


def equal(a: Any, b: Any, tolerance: float) -> Any:
    """Whether numbers are equal up to rounding, relative to the larger one."""
    return np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))


def first_largest(values: Any, tolerance: float) -> NDArray[np.intp]:
    """Index of the first value on each line that is the maximum up to rounding; values are of size 1 at most."""
    largest = values.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(values >= largest - tolerance, axis=-1))


def within(value: float, low: float, high: float) -> float:
    """A value clipped to its range where it lies outside by rounding only; otherwise unchanged."""
    inside = min(max(value, low), high)
    return inside if abs(value - inside) <= _SLIGHTLY else value


#: More than the rounding of a sum of millions of weights, less than a fault in a formula.
_SLIGHTLY = 1e-9
