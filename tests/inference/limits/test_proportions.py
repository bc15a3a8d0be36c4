"""Intervals of a proportion, against SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from tallymark.inference.limits.proportions import effective_rate, limits

_cases = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(_cases, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_clopper_pearson_are_scipys(case, level):
    k, n = case
    for ours, theirs in (("wilson", "wilson"), ("clopper_pearson", "exact")):
        found = tm.intervals.proportion(k, n, level=level, method=ours)
        wanted = stats.binomtest(k, n).proportion_ci(level, theirs)
        assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)


@given(_cases)
def test_jeffreys_and_agresti_coull_by_their_formulas(case):
    k, n = case
    found = tm.intervals.proportion(k, n, method="jeffreys")
    low = 0.0 if k == 0 else stats.beta.ppf(0.025, k + 0.5, n - k + 0.5)
    high = 1.0 if k == n else stats.beta.ppf(0.975, k + 0.5, n - k + 0.5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    z = stats.norm.ppf(0.975)
    p = (k + z**2 / 2) / (n + z**2)
    reach = z * math.sqrt(p * (1 - p) / (n + z**2))
    found = tm.intervals.proportion(k, n, method="agresti_coull")
    assert (found.low, found.high) == pytest.approx((max(0, p - reach), min(1, p + reach)), abs=1e-12)


@given(_cases, st.sampled_from(["wilson", "clopper_pearson", "jeffreys", "agresti_coull"]))
def test_mirrored_and_never_degenerate(case, method):
    k, n = case
    found, mirrored = (tm.intervals.proportion(hits, n, method=method) for hits in (k, n - k))
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)
    assert 0.0 <= found.low <= k / n <= found.high <= 1.0
    assert found.low < found.high


def test_many_at_once_and_nothing_of_nothing():
    low, high = limits([0, 5, 0], [10, 10, 0], 0.95)
    assert low[1] == pytest.approx(tm.intervals.proportion(5, 10).low)
    assert math.isnan(low[2])
    assert math.isnan(high[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((6, 5), "0 <= hits <= n"),
        ((0, 0), "n > 0"),
        ((1, 5, {"level": 95}), "write 0.95"),
        ((1, 5, {"method": "wald"}), "Choose one of: mid_p, wilson"),
    ],
)
def test_bad_input(arguments, message):
    *numbers, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(tm.InputError, match=message):
        tm.intervals.proportion(*numbers, **options)


def test_effective_size_of_equal_weights_is_the_number_of_rows():
    assert effective_rate(3 * 7.0, 10 * 7.0, 3 * 49.0, 7 * 49.0) == pytest.approx((3, 10))
    assert effective_rate(10 * 7.0, 10 * 7.0, 10 * 49.0, 0.0) == pytest.approx((10, 10))


def test_effective_size_gives_the_linearised_variance():
    rng = np.random.default_rng(0)
    w, y = rng.exponential(size=50), rng.random(50) < 0.3
    p = np.sum(w * y) / w.sum()
    k, n = effective_rate(np.sum(w * y), w.sum(), np.sum(w[y] ** 2), np.sum(w[~y] ** 2))
    assert k / n == pytest.approx(p)
    assert p * (1 - p) / n == pytest.approx(np.sum(w**2 * (y - p) ** 2) / w.sum() ** 2)
