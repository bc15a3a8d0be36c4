"""Limits of sums and ratios put together from those of their parts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.inference.limits.mover import ratio_limits, sum_limits

PARTS = st.tuples(st.floats(0.01, 100), st.floats(0, 0.99), st.floats(1.0, 20)).map(
    lambda t: (t[0], t[0] * t[1], t[0] * t[2])
)


def test_normal_parts_add_as_variances_do():
    low, high = sum_limits((1.0, (5.0, 4.0, 6.0)), (-1.0, (2.0, 0.0, 4.0)))
    assert (low, high) == pytest.approx((3 - math.sqrt(5), 3 + math.sqrt(5)))


@given(PARTS, PARTS)
def test_ratio_limits_hold_the_ratio_and_invert(x, y):
    low, high = ratio_limits(x, y)
    assert 0.0 <= low <= x[0] / y[0] * (1 + 1e-9)
    assert high >= x[0] / y[0] * (1 - 1e-9)


@given(PARTS)
def test_a_known_denominator_divides(x):
    low, high = ratio_limits(x, (4.0, 4.0, 4.0))
    assert low == pytest.approx(x[1] / 4, rel=1e-9, abs=1e-12)
    assert high == pytest.approx(x[2] / 4, rel=1e-9)


def test_donner_and_zou():
    """Donner & Zou (2012), section 3: the formula as printed, evaluated by hand."""
    x, y = (2.0, 1.5, 2.6), (4.0, 3.0, 5.5)
    a, b = 1.5 * 2.5, 5.5 * 2.5
    low = (8 - math.sqrt(64 - a * b)) / b
    c, d = 2.6 * 1.4, 3.0 * 5.0
    high = (8 + math.sqrt(64 - c * d)) / d
    assert ratio_limits(x, y) == pytest.approx((low, high))


def test_a_denominator_that_may_be_nothing():
    assert ratio_limits((1.0, 0.5, 2.0), (1.0, 0.0, 2.0))[1] == math.inf
    assert np.isnan(ratio_limits((1.0, 0.5, 2.0), (0.0, 0.0, 1.0))).all()
