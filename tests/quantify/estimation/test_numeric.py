"""Quantification for regression: a known shift, invariances, coverage, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm

RNG = np.random.default_rng(0)


def samples(rng, n, mean, sd, noise=1.0):
    """A normal number that a regression halves, in validation rows and in a target with another mean and spread."""
    y, hidden = rng.normal(0.0, 1.0, n), rng.normal(mean, sd, n)
    f, g = (0.5 * x + rng.normal(0.0, 0.5 * noise, n) for x in (y, hidden))
    return y, f, g, hidden


def test_a_shift_that_predictions_show_too_small_is_found():
    y, f, g, hidden = samples(np.random.default_rng(1), 20_000, 1.0, 0.7)
    found = tm.quantify.regression(y, f, g, replicates=100)
    assert found.predicted_mean == pytest.approx(0.5, abs=0.03)
    assert found.mean == pytest.approx(hidden.mean(), abs=0.05)
    for share, (value, low, high) in found.quantiles.items():
        assert value == pytest.approx(np.quantile(hidden, share), abs=0.15)
        assert low <= value <= high
    assert found.weights.sum() == pytest.approx(1.0)
    assert (found.weights >= 0).all()


def test_the_weights_are_those_of_the_highest_likelihood():
    from scipy.optimize import minimize

    y, f, g, _ = samples(np.random.default_rng(2), 1_000, 0.6, 0.8)
    found = tm.quantify.regression(y, f, g, level=None, replicates=100)
    edges = np.unique(np.quantile(f, np.arange(1, 50) / 50))
    cells, seen = (
        np.searchsorted(edges, f, "right"),
        np.bincount(np.searchsorted(edges, g, "right"), minlength=50) / len(g),
    )
    z = (y - y.mean()) / y.std()

    def loss(theta):
        w = np.exp(theta[0] * z + theta[1] * z**2)
        return -seen @ np.log(np.bincount(cells, w / w.sum(), minlength=50))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4_000}).x
    w = np.exp(best[0] * z + best[1] * z**2)
    assert found.weights == pytest.approx(w / w.sum(), abs=1e-6)


def test_a_target_like_the_validation_rows_has_their_mean():
    y, f, _, _ = samples(np.random.default_rng(3), 2_000, 0.0, 1.0)
    found = tm.quantify.regression(y, f, f, replicates=100)
    assert found.weights == pytest.approx(np.full(2_000, 1 / 2_000), abs=1e-9)
    assert found.low < y.mean() < found.high


@given(st.floats(-50, 50), st.floats(0.01, 100))
def test_units_of_the_number_and_of_the_predictions_do_not_matter(shift, scale):
    y, f, g, _ = samples(np.random.default_rng(4), 300, 0.5, 1.0)
    one = tm.quantify.regression(y, f, g, replicates=100)
    moved = tm.quantify.regression(scale * y + shift, 3.0 * f - 7.0, 3.0 * g - 7.0, replicates=100)
    size = scale * 10 + abs(shift)
    assert (moved.mean, moved.low, moved.high) == pytest.approx(
        tuple(scale * x + shift for x in (one.mean, one.low, one.high)), abs=1e-5 * size
    )


def test_the_same_seed_gives_the_same_limits_in_any_number_of_threads():
    y, f, g, _ = samples(np.random.default_rng(5), 500, 0.5, 1.0)
    one, other = (tm.quantify.regression(y, f, g, jobs=jobs) for jobs in (1, 2))
    assert (one.low, one.high) == (other.low, other.high)
    assert tm.quantify.regression(y, f, g, level=None).low is None


def test_numbers_of_any_size_are_estimated():
    y, f, g, _ = samples(np.random.default_rng(7), 300, 0.5, 1.0)
    one = tm.quantify.regression(y, f, g, replicates=100)
    for size in (1e300, 1e-300):
        assert tm.quantify.regression(size * y, f, g, replicates=100).mean == pytest.approx(size * one.mean)
    values = [value for value, _, _ in one.quantiles.values()]
    assert values == sorted(values)
    assert y.min() <= values[0] <= values[-1] <= y.max()


@pytest.mark.slow
def test_limits_hold_the_mean():
    rng = np.random.default_rng(6)
    for mean, sd, n in ((1.0, 0.8, 800), (0.0, 1.0, 800), (-0.7, 1.0, 1_500)):
        held = 0
        for _ in range(100):
            y, f, g, hidden = samples(rng, n, mean, sd)
            found = tm.quantify.regression(y, f, g, replicates=200)
            held += found.low <= hidden.mean() <= found.high
        assert held >= 87


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0], [1.0]), "40 or more"),
        (([1.0] * 50, [1.0] * 50, [1.0]), "different numbers"),
        ((np.arange(50.0), np.arange(49.0), [1.0]), "each row needs both"),
        ((np.arange(50.0), np.arange(50.0), []), "target is empty"),
        ((np.arange(50.0), np.arange(50.0), [np.nan]), "target"),
        ((np.arange(50.0), np.zeros(50), [0.0]), "too few different values"),
        (([10**400] * 50, np.arange(50.0), [1.0]), "truth"),
        ((["a"] * 50, np.arange(50.0), [1.0]), "truth"),
    ],
)
def test_wrong_samples_are_refused(arguments, message):
    with pytest.raises(tm.InputError, match=message):
        tm.quantify.regression(*arguments)
