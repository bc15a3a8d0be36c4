import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from samples import labelled_scores


def class_sample(n=300, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    s = rng.dirichlet(np.ones(k), n) + np.eye(k)[y] * 0.5
    return y, s / s.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weighted", [False, True])
def test_against_plain_formulas(weighted):
    y, s = class_sample()
    w = np.random.default_rng(1).integers(1, 5, len(y)).astype(float) if weighted else np.ones(len(y))
    m = tm.moments(y, s, classes=range(4), weights=w if weighted else None)
    for c in range(4):
        own = np.repeat(s[y == c], w[y == c].astype(int), axis=0)
        np.testing.assert_allclose(m.mean[c], own.mean(axis=0))
        np.testing.assert_allclose(m.variance[c], own.var(axis=0))
        np.testing.assert_allclose(m.m3[c] / len(own), stats.moment(own, 3, axis=0), atol=1e-12)


def test_merging_equals_one_pass():
    y, s = class_sample()
    parts = [tm.moments(y[rows], s[rows], classes=range(4)) for rows in (slice(0, 70), slice(70, None))]
    merged, whole = parts[0].merge(parts[1]), tm.moments(y, s, classes=range(4))
    for name in ("mass", "mean", "m2", "m3", "squares", "n_rows"):
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=1e-9, atol=1e-12)


@given(labelled_scores(st.floats(-100, 100)))
def test_moments_of_a_run(sample):
    y, s = sample
    own, m = s[y == 1], tm.tally(y, s).positive.moments
    assert m.mean == pytest.approx(own.mean(), abs=1e-9)
    assert m.variance == pytest.approx(own.var(), abs=1e-9)
    if own.std() > 1e-6:
        assert m.skewness == pytest.approx(stats.skew(own), abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_constant_component_has_no_correlation(weighted):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 400)
        s = np.c_[np.full(400, 0.1), rng.random((400, 2))]
        m = tm.moments(y, s, classes=range(3), weights=rng.random(400) if weighted else None)
        assert np.isnan(tm.metrics.spcc_one_vs_rest(m)[0])
        assert np.isnan(tm.metrics.spcc_one_vs_one(m)[0, 1:]).all()


def test_bad_input():
    with pytest.raises(tm.InputError, match="missing values in one row, at index 1"):
        tm.moments([0, 1], np.ma.MaskedArray([[0.1, 0.9], [9.0, 0.2]], mask=[[0, 0], [1, 0]]), classes=[0, 1])
    with pytest.raises(tm.InputError, match="not a matrix of numbers"):
        tm.moments([0, 1], [[0.1, 0.9], [0.2]], classes=[0, 1])
    with pytest.raises(tm.InputError, match="spcc_one_vs_one takes moments or class scores, got list"):
        tm.metrics.spcc_one_vs_one([1])
    y, s = class_sample()
    with pytest.raises(tm.InputError, match="has 4 columns for 3 classes"):
        tm.moments(y, s, classes=[0, 1, 2])
    with pytest.raises(tm.InputError, match="not among the classes"):
        tm.moments(y, s, classes=[0, 1, 2, 9])
    with pytest.raises(tm.InputError, match="two or more different classes"):
        tm.moments(y, s, classes=[0, 0, 1, 2])
    s[5, 2] = np.nan
    with pytest.raises(tm.InputError, match="in one row, at index 5"):
        tm.moments(y, s, classes=range(4))
