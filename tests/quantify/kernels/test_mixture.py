"""The most likely share of a mixture, against a search by SciPy."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from tallymark.quantify.kernels.mixture import contrast, log_likelihood, most_likely

DENSITIES = st.lists(st.tuples(st.floats(0.0, 5.0), st.floats(0.0, 5.0), st.integers(0, 5)), min_size=2, max_size=12)


def naive(share, up, down, mass):
    """Minus the log-likelihood up to a constant, rows that neither class explains left out."""
    told = (np.maximum(up, down) > 0) & (mass > 0)
    # A part of the smallest double would be 0.
    up, down = (density[told] / np.maximum(up, down)[told] for density in (up, down))
    with np.errstate(divide="ignore"):
        return -np.sum(mass[told] * np.log(share * up + (1 - share) * down))


@given(DENSITIES)
# Densities whose quotient is beyond the largest double.
@example([(0.0, 1.0, 1), (4.0, 2.2250738585072014e-308, 0)])
@example([(0.0, 1.0, 1), (4.0, 2.2250738585072014e-308, 5)])
# The smallest double.
@example([(0.0, 0.0, 0), (5e-324, 0.0, 1)])
@example([(0.0, 0.0, 0), (0.0, 5e-324, 1)])
def test_no_other_share_is_more_likely(rows):
    up, down, mass = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    share = float(most_likely(*contrast(up[None], down[None]), mass[None])[0])
    told = (np.abs(contrast(up, down)[0]) > 1e-12) & (mass > 0)
    if not told.any():
        assert np.isnan(share)
        return
    best = minimize_scalar(naive, bounds=(0, 1), method="bounded", args=(up, down, mass), options={"xatol": 1e-12})
    ends = min(naive(end, up, down, mass) for end in (0.0, 1.0))
    assert naive(share, up, down, mass) <= min(best.fun, ends) + 1e-6 * (1 + abs(best.fun))


def test_many_lines_are_each_line_alone():
    rng = np.random.default_rng(0)
    up, down, mass = rng.random((6, 40)), rng.random((6, 40)), rng.integers(0, 4, (6, 40)).astype(float)
    together = most_likely(*contrast(up, down), mass)
    alone = [float(most_likely(*contrast(up[i : i + 1], down[i : i + 1]), mass[i : i + 1])[0]) for i in range(6)]
    assert together == pytest.approx(alone, abs=1e-9)


def test_the_likelihood_is_the_sum_of_logarithms():
    rng = np.random.default_rng(1)
    up, down, mass = rng.random(30), rng.random(30), rng.integers(0, 4, 30).astype(float)
    shares = np.array([0.1, 0.5, 0.9])
    found = log_likelihood(shares, up, down, mass)
    wanted = [-naive(share, up, down, mass) for share in shares]
    assert np.diff(found) == pytest.approx(np.diff(wanted))
