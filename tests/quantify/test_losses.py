import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from tallymark.registry import LOSSES

L = tm.quantify.losses
shares = st.floats(0.0, 1.0)


@st.composite
def two_distributions(draw):
    k = draw(st.integers(2, 6))
    raw = [draw(st.lists(st.floats(0.01, 1.0), min_size=k, max_size=k)) for _ in range(2)]
    return tuple(np.array(r) / sum(r) for r in raw)


@given(shares, shares)
def test_binary_losses_are_the_formulas(p, q):
    assert L.bias(p, q) == pytest.approx(q - p)
    assert L.ae(p, q) == pytest.approx(abs(q - p))
    assert L.ae(p, q, total=True) == pytest.approx(2 * abs(q - p))
    assert L.se(p, q) == pytest.approx((q - p) ** 2)
    assert L.nas(p, q) == pytest.approx(1 - abs(q - p) / max(p, 1 - p))
    assert L.nss(p, q) == pytest.approx(1 - ((q - p) / max(p, 1 - p)) ** 2)
    assert L.nmd(p, q) == pytest.approx(abs(q - p))


@given(two_distributions())
def test_kld_is_scipys_entropy(pair):
    p, q = pair
    assert L.kld(p, q) == pytest.approx(stats.entropy(p, q), abs=1e-12)
    divergence = stats.entropy(p, q)
    assert L.nkld(p, q) == pytest.approx(2 * math.exp(divergence) / (1 + math.exp(divergence)) - 1, abs=1e-12)


@given(two_distributions())
def test_emd_is_scipys_wasserstein_distance(pair):
    p, q = pair
    k = np.arange(len(p))
    assert L.emd(p, q) == pytest.approx(stats.wasserstein_distance(k, k, p, q), abs=1e-12)
    assert L.nmd(p, q) == pytest.approx(L.emd(p, q) / (len(p) - 1))


@given(two_distributions())
def test_every_loss_keeps_its_range_and_is_best_at_the_truth(pair):
    p, q = pair
    for name, facts in LOSSES.items():
        value, best = getattr(L, name)(p, q), getattr(L, name)(p, p)
        assert facts.low - 1e-9 <= value <= facts.high + 1e-9, name
        assert best == pytest.approx(1.0 if facts.better == "higher" else 0.0, abs=1e-12), name


@given(two_distributions())
def test_losses_without_an_order_do_not_see_the_order_of_classes(pair):
    p, q = pair
    for name, facts in LOSSES.items():
        if not facts.ordinal and name != "bias":
            assert getattr(L, name)(p[::-1], q[::-1]) == pytest.approx(getattr(L, name)(p, q), abs=1e-12), name


@given(shares, shares, shares)
def test_ranks_by_ae_and_by_nas_are_the_same(p, a, b):
    by_error, by_score = L.ae(p, a) - L.ae(p, b), L.nas(p, b) - L.nas(p, a)
    assert by_error == pytest.approx(by_score * max(p, 1 - p), abs=1e-12)


def test_the_worst_estimate_scores_nothing():
    assert L.nas([0.5, 0.3, 0.2], [0, 0, 1]) == pytest.approx(0.0)
    assert L.nss([0.5, 0.3, 0.2], [0, 0, 1]) == pytest.approx(0.0)


def test_kld_at_the_ends():
    assert L.kld(0.2, 0.0) == math.inf
    assert L.kld(0.0, 0.3) == pytest.approx(-math.log(0.7))
    assert L.kld(0.2, 0.0, size=100) == pytest.approx(0.2 * math.log(0.2 / 0.005) + 0.8 * math.log(0.8 / 0.995))
    p, q = (np.array(v) + 0.005 for v in ([0.8, 0.2], [1.0, 0.0]))
    assert L.kld(0.2, 0.0, size=100, smooth=True) == pytest.approx(stats.entropy(p, q))


def test_rae():
    assert L.rae(0.0, 0.1) == math.inf
    assert L.rae(0.0, 0.0) == 0.0
    assert math.isfinite(L.rae(0.0, 0.1, size=100))
    assert L.rae([0.5, 0.25, 0.25], [0.25, 0.5, 0.25]) == pytest.approx((0.5 + 1 + 0) / 3)


def test_many_samples_give_one_value_each():
    truth = np.array([[0.9, 0.1], [0.5, 0.5]])
    assert L.ae(truth, [[0.8, 0.2], [0.5, 0.5]]) == pytest.approx([0.1, 0.0])


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0, 10))
def test_q_measure_is_an_f_measure(c, q, beta):
    value = L.q_measure(c, q, beta=beta)
    assert min(c, q) - 1e-12 <= value <= max(c, q) + 1e-12
    assert L.q_measure(c, q, beta=0) == pytest.approx(c)
    assert L.q_measure(c, q, beta=math.inf) == q


def test_q_measure_of_the_seed():
    # FN = FP = P and TP = 0: the count is right, not one call is.
    assert L.nas(0.3, 0.3) == 1.0
    assert L.q_measure(0.0, 1.0) == 0.0


@pytest.mark.parametrize("bad", [1.5, -0.1, [0.5, 0.6], [0.5], "many", [[[0.5, 0.5]]], math.nan])
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(tm.InputError):
        L.ae(0.5, bad)


def test_sides_over_different_classes_are_refused():
    with pytest.raises(tm.InputError, match="2 classes and the estimate 3"):
        L.ae([0.5, 0.5], [0.2, 0.3, 0.5])
