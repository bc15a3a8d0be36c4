import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from samples import labelled_probabilities, labelled_scores, normal_sample

m = tm.metrics


@given(labelled_probabilities())
def test_spcc_is_pearsons_correlation_and_the_closed_form(sample):
    y, s = sample
    assume(s.std() > 1e-3)
    t = tm.tally(y, s)
    assert m.spcc(t) == pytest.approx(np.corrcoef(y, s)[0, 1], abs=1e-9)
    p, n = (y == 1).sum(), (y == 0).sum()
    closed = math.sqrt(n * p / ((n + p) * (n + p - 1))) * (s[y == 1].mean() - s[y == 0].mean()) / s.std(ddof=1)
    assert m.spcc(t) == pytest.approx(closed, abs=1e-9)


@given(labelled_scores(st.sampled_from([0.0, 1.0])))
def test_spcc_of_hard_labels_is_mcc(sample):
    y, s = sample
    assume(0 < s.sum() < len(s))
    t = tm.tally(y, s)
    assert m.spcc(t) == pytest.approx(m.mcc(t.at(0.5)), abs=1e-12)


def test_spcc_of_lognormal_against_its_mirror_image():
    # Population value exp(1/2) / sqrt(exp(2)) although AUROC is 1.
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=400_000)
    t = tm.tally(np.repeat([1, 0], 400_000), np.r_[x, -rng.lognormal(size=400_000)])
    assert m.spcc(t) == pytest.approx(0.6065, abs=0.005)
    assert m.auroc(t) == 1.0


def test_discriminability_of_normal_scores():
    rng = np.random.default_rng(0)
    n = 400_000
    t = tm.tally(np.repeat([1, 0], n), np.r_[rng.normal(1.2, 1.5, n), rng.normal(0, 0.7, n)])
    spread = math.sqrt((1.5**2 + 0.7**2) / 2)
    assert m.d_a(t) == pytest.approx(1.2 / spread, abs=0.01)
    assert m.d_a(t) == pytest.approx(math.sqrt(2) * stats.norm.ppf(m.auroc(t)), abs=0.01)
    assert m.d_e(t) == pytest.approx(2 * 1.2 / 2.2, abs=0.01)
    equal = tm.tally(np.repeat([1, 0], n), np.r_[rng.normal(1.2, 1, n), rng.normal(0, 1, n)])
    for index in (m.d_a, m.d_e, m.d_b, m.d_b_normal):
        assert index(equal) == pytest.approx(1.2, abs=0.02)
    # Where the spreads differ, one threshold does worse than the likelihood ratio.
    assert m.d_b(t) < m.d_b_normal(t) - 0.05


def test_d_b_normal_is_the_bayes_error_of_two_normals():
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], 500)
    s = np.r_[rng.normal(0.5, 2, 500), rng.normal(0, 1, 500)]
    up, down = (stats.norm(s[y == c].mean(), s[y == c].std()) for c in (1, 0))
    grid = np.linspace(-30, 30, 600_001)
    error = np.trapezoid(np.minimum(up.pdf(grid), down.pdf(grid)), grid) / 2
    assert m.d_b_normal(tm.tally(y, s)) == pytest.approx(-2 * stats.norm.ppf(error), abs=1e-4)


def test_discriminability_is_signed_and_infinite_at_perfect_separation():
    up, down = tm.tally([0, 1], [0.0, 1.0]), tm.tally([0, 1], [1.0, 0.0])
    assert (m.d_a(up), m.d_a(down), m.d_e(down), m.d_b(up)) == (math.inf, -math.inf, -math.inf, math.inf)
    assert m.d_b_normal(up) == math.inf
    for index in (m.d_a, m.d_e, m.d_b_normal, m.spcc, m.spearman, m.kendall):
        with pytest.warns(tm.UndefinedWarning, match="all scores are equal"):
            assert math.isnan(index(tm.tally([0, 1], [1.0, 1.0])))


@pytest.mark.parametrize("scale", [1e-200, 1e-170, 1e160, 1e300])
def test_the_unit_of_the_scores_does_not_matter(scale):
    y, s = np.array([0, 0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.9])
    for index in (m.spcc, m.d_a, m.d_e, m.d_b_normal):
        assert index(tm.tally(y, s * scale)) == pytest.approx(index(tm.tally(y, s)))


def test_scores_at_the_ends_of_the_floats():
    ev = tm.evaluate(tm.tally([0, 0, 1, 1], [-1.7e308, 0, 1, 1.7e308]))
    assert ev["auroc"].value == 1.0
    assert 0 < ev["spcc"].value < 1
    with pytest.raises(tm.Undefined, match="too far apart"):
        tm.tally([0, 0, 1, 1], [-1.7e308, 0, 1, 1.7e308]).at("intersection")


@given(labelled_scores())
def test_rank_correlations_agree_with_scipy(sample):
    y, s = sample
    assume(len(set(s)) > 1)
    t = tm.tally(y, s)
    assert m.spearman(t) == pytest.approx(stats.spearmanr(y, s).statistic, abs=1e-9)
    assert m.kendall(t) == pytest.approx(stats.kendalltau(y, s).statistic, abs=1e-9)


def test_spcc_at_a_prevalence_is_the_stated_formula():
    y, s = normal_sample()
    up, down, p = s[y == 1], s[y == 0], 0.02
    gap = up.mean() - down.mean()
    expected = math.sqrt(p * (1 - p)) * gap / math.sqrt(p * (1 - p) * gap**2 + p * up.var() + (1 - p) * down.var())
    assert m.spcc(tm.tally(y, s).at_prevalence(p)) == pytest.approx(expected)


@given(labelled_probabilities())
def test_bias_and_positive_estimate(sample):
    y, p = sample
    t = tm.tally(y, p)
    both = (p[y == 0].sum() - (1 - p[y == 1]).sum()) / len(y)
    assert m.bias(t) == pytest.approx(both, abs=1e-12)
    assert m.bias(t) == pytest.approx((p.sum() - y.sum()) / len(y), abs=1e-12)
    assert m.positive_estimate(t) == pytest.approx(p.sum())
    assert m.positive_sd(t) == pytest.approx(math.sqrt(np.sum(p * (1 - p))), abs=1e-6)
    u = tm.tally(scores=p)
    assert m.positive_estimate(u) == pytest.approx(p.sum())
    assert m.positive_sd(u) == pytest.approx(m.positive_sd(t), abs=1e-6)


def test_positive_sd_with_weights():
    p, w = np.array([0.2, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    expected = math.sqrt(np.sum(w**2 * p * (1 - p)))
    assert m.positive_sd(tm.tally([0, 1, 0], p, weights=w)) == pytest.approx(expected)
