"""Bias and noise of sums of probabilities against their definitions."""

import numpy as np
import pytest

import tallymark as tm

rng = np.random.default_rng(2)
Y = rng.random(80) < 0.3
S = rng.random(80)
W = rng.random(80) + 0.2


def test_without_weights():
    t = tm.tally(Y, S)
    assert tm.metrics.bias(t) == pytest.approx(np.mean(S) - np.mean(Y))
    assert tm.metrics.positive_estimate(t) == pytest.approx(S.sum())
    assert tm.metrics.positive_sd(t) == pytest.approx(np.sqrt(np.sum(S * (1 - S))))


def test_with_weights():
    t = tm.tally(Y, S, weights=W)
    assert tm.metrics.bias(t) == pytest.approx(np.average(S, weights=W) - np.average(Y, weights=W))
    assert tm.metrics.positive_estimate(t) == pytest.approx(np.sum(W * S))
    assert tm.metrics.positive_sd(t) == pytest.approx(np.sqrt(np.sum(W**2 * S * (1 - S))))


@pytest.mark.parametrize("weights", [None, W])
def test_bounds_of_a_quantised_tally_hold_the_value_of_the_rows(weights):
    exact = tm.tally(Y, S, weights=weights)
    coarse = exact.quantise()
    for name in ("bias", "positive_estimate", "positive_sd"):
        low, high = tm.bound(coarse, name)
        assert low - 1e-12 <= getattr(tm.metrics, name)(exact) <= high + 1e-12
