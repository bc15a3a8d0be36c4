"""DeLong, against the double loop of the paper."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import tallymark as tm
from samples import labelled_scores, normal_sample, with_counts
from tallymark.errors import Undefined
from tallymark.inference.hypothesis_tests.delong import hanley_mcneil


def _delong_by_loops(y, columns):
    """DeLong, DeLong & Clarke-Pearson (1988), eqs. 3-7, pair by pair."""
    kernel = lambda a, b: (a > b) + 0.5 * (a == b)
    v10, v01, areas = [], [], []
    for s in columns:
        up, down = s[y == 1], s[y == 0]
        v10.append([np.mean([kernel(a, b) for b in down]) for a in up])
        v01.append([np.mean([kernel(a, b) for a in up]) for b in down])
        areas.append(np.mean(v10[-1]))
    s10, s01 = (np.atleast_2d(np.cov(v)) for v in (v10, v01))
    return np.array(areas), s10 / np.sum(y == 1) + s01 / np.sum(y == 0)


def _panel(seed=0, n=60, decimals=1):
    y, a = normal_sample(n, 0.4, 1.0, seed, decimals)
    _, b = normal_sample(n, 0.4, 1.0, seed + 1, decimals)
    return y, {"a": a, "b": b + y, "c": (a + b).round(decimals)}


@pytest.mark.parametrize("seed", range(3))
def test_covariance_is_that_of_the_paper(seed):
    y, columns = _panel(seed)
    found = tm.intervals.delong(tm.panel(y, columns))
    areas, covariance = _delong_by_loops(y, list(columns.values()))
    assert found.aurocs == pytest.approx(areas)
    assert found.covariance == pytest.approx(covariance)


def test_counts_are_repeated_rows_and_weights_have_no_unit():
    y, columns = _panel()
    c = np.random.default_rng(0).integers(0, 4, len(y))
    c[:2] = 1
    repeated = tm.intervals.delong(tm.panel(np.repeat(y, c), {k: np.repeat(v, c) for k, v in columns.items()}))
    counted = tm.intervals.delong(tm.panel(y, columns, counts=c))
    assert counted.covariance == pytest.approx(repeated.covariance)
    w = np.random.default_rng(1).exponential(size=len(y))
    one, other = (tm.intervals.delong(tm.panel(y, columns, weights=k * w)).covariance for k in (1.0, 1e6))
    assert one == pytest.approx(other)
    equal = tm.intervals.delong(tm.panel(y, columns, weights=np.full(len(y), 5.0))).covariance
    assert equal == pytest.approx(tm.intervals.delong(tm.panel(y, columns)).covariance)


@given(labelled_scores())
def test_one_model_of_a_panel_and_its_tally_agree(sample):
    y, s = sample
    if min(np.sum(y), np.sum(1 - y)) < 2:
        return
    found = tm.intervals.delong(tm.panel(y, {"a": s}))
    if found.covariance[0, 0] < 1e-12:
        with pytest.raises(Undefined, match="shows no variance"):
            tm.intervals.auroc(tm.tally(y, s), method="plain")
        return
    interval = tm.intervals.auroc(tm.tally(y, s), method="plain")
    reach = 1.959964 * math.sqrt(found.covariance[0, 0])
    assert interval.low == pytest.approx(max(0.0, interval.value - reach), abs=1e-6)


@given(with_counts(labelled_scores()))
def test_logit_limits_stay_inside_and_hold_the_estimate(sample):
    y, s, c = sample
    if min(c[y == 1].sum(), c[y == 0].sum()) < 2:
        return
    try:
        found = tm.intervals.auroc(tm.tally(y, s, counts=c))
    except Undefined:
        return
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high


def test_billions_of_rows_do_not_overflow():
    y, s = [0, 0, 1, 1], [1.0, 3.0, 2.0, 4.0]
    small = tm.intervals.auroc(tm.tally(y, s, counts=[10, 10, 10, 10]))
    huge = tm.intervals.auroc(tm.tally(y, s, counts=[4_000_000_000] * 4))
    assert huge.value == small.value
    assert (small.high - small.low) > 1e3 * (huge.high - huge.low) > 0


def test_a_perfect_ranking_is_not_certain():
    found = tm.intervals.auroc(tm.tally([0] * 5 + [1] * 5, range(10)))
    assert 0.4 < found.low < 0.8
    assert found.high == 1.0
    upside_down = tm.intervals.auroc(tm.tally([1] * 5 + [0] * 5, range(10)))
    assert (upside_down.low, upside_down.high) == pytest.approx((0.0, 1.0 - found.low))
    few, many = (tm.intervals.auroc(tm.tally([0] * n + [1] * n, range(2 * n))).low for n in (3, 300))
    assert few < 0.6
    assert many > 0.98


def _with_worst_below(k, positives=20, negatives=380):
    """All positives above all negatives, but one below the k highest negatives."""
    s = np.concatenate([np.arange(negatives), negatives + 1.0 + np.arange(positives)])
    s[negatives] = negatives - k - 0.5
    return tm.tally(np.repeat([0, 1], [negatives, positives]), s)


@pytest.mark.parametrize("sizes", [(20, 380), (5, 20), (200, 4000)])
def test_errors_never_raise_a_limit(sizes):
    """One positive that falls below ever more negatives: 0.83 with none and 0.99 with one was the floor's doing."""
    found = [tm.intervals.auroc(_with_worst_below(k, *sizes)) for k in range(20)]
    assert all(a.low >= b.low - 1e-12 for a, b in itertools.pairwise(found))
    assert all(a.high >= b.high - 1e-12 for a, b in itertools.pairwise(found))


@given(st.integers(0, 2**32 - 1))
def test_a_random_inversion_hardly_ever_raises_a_limit(seed):
    """Moment matching is monotone but for half a thousandth."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [60, 15]))
    s = np.sort(rng.normal(size=75) + 3 * y)
    before = tm.intervals.auroc(tm.tally(y, s))
    i = int(rng.choice(np.flatnonzero(y)))
    lower = np.flatnonzero(y[:i] == 0)
    if not len(lower):
        return
    s[i] = s[lower[-1]] - 1e-9
    after = tm.intervals.auroc(tm.tally(y, s))
    assert after.low <= before.low + 5e-4
    assert after.high <= before.high + 5e-4


def test_hanley_and_mcneils_error_is_right_for_the_scores_it_assumes():
    """Exponential scores: positives with mean 3, so the area is 3/4."""
    rng = np.random.default_rng(0)
    up, down = rng.exponential(3.0, (4000, 40)), rng.exponential(1.0, (4000, 60))
    areas = np.mean(up[:, :, None] > down[:, None, :], axis=(1, 2))
    assert hanley_mcneil(0.75, 40, 60) == pytest.approx(areas.std(), rel=0.04)


def test_few_positives_and_a_good_model():
    """Where DeLong's variance is often too small, its floor holds the level (without it 84 %)."""
    rng = np.random.default_rng(0)
    truth = float(special.ndtr(2.7 / math.sqrt(2)))
    held = []
    for _ in range(400):
        s = np.concatenate([rng.normal(size=490), rng.normal(2.7, size=10)])
        found = tm.intervals.auroc(tm.tally(np.repeat([0, 1], [490, 10]), s))
        held.append(found.low <= truth <= found.high)
    assert np.mean(held) > 0.92


def test_bad_input():
    with pytest.raises(tm.InputError, match="takes a Panel"):
        tm.intervals.delong([1, 2])
    with pytest.raises(tm.InputError, match="Two rows or more"):
        tm.intervals.delong(tm.panel([0, 0, 1], {"a": [1, 2, 3]}))
    with pytest.raises(tm.InputError, match="No model 'x'"):
        tm.intervals.delong(tm.panel([0, 0, 1, 1], {"a": [1, 2, 3, 4]})).difference("a", "x")
