import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as peer
from sklearn.calibration import calibration_curve

import tallymark as tm
from samples import labelled_probabilities, probability_sample, with_counts
from tallymark.metrics.probability import calibration_bins, calibration_starts

m = tm.metrics


@given(with_counts(labelled_probabilities()))
def test_brier_and_log_loss_agree_with_scikit_learn(sample):
    y, p, c = sample
    t = tm.tally(y, p, weights=c)
    assert m.brier(t) == pytest.approx(peer.brier_score_loss(y, p, sample_weight=c), abs=1e-12)
    if p.min() > 1e-12 and p.max() < 1 - 1e-12:  # scikit-learn clips beyond
        assert m.log_loss(t) == pytest.approx(peer.log_loss(y, p, sample_weight=c, labels=[0, 1]), rel=1e-7)


def test_log_loss_is_infinite_when_the_impossible_happens():
    assert m.log_loss(tm.tally([0, 1], [0.2, 0.0])) == math.inf
    assert m.log_loss(tm.tally([0, 1], [0.0, 1.0])) == 0.0


def naive_ece(y, p, bins):
    which = np.array([min(sum(x >= k / bins for k in range(1, bins + 1)), bins - 1) for x in p])
    return sum(
        abs(y[which == b].mean() - p[which == b].mean()) * np.mean(which == b)
        for b in range(bins)
        if (which == b).any()
    )


@given(labelled_probabilities(), st.integers(1, 15))
def test_ece_is_its_definition(sample, bins):
    y, p = sample
    assert m.ece(tm.tally(y, p), bins=bins) == pytest.approx(naive_ece(y, p, bins), abs=1e-12)


def test_a_probability_of_one_falls_in_the_last_bin():
    assert m.ece(tm.tally([1, 0, 0], [1.0, 0.95, 0.05])) == pytest.approx((2 * abs(0.5 - 0.975) + 0.05) / 3)


def test_a_score_on_an_edge_belongs_to_the_bin_above_it():
    for dtype in (np.float64, np.float32):
        p = (np.arange(10) / 10).astype(dtype)
        assert len(tm.calibration_curve(tm.tally([0, 1] * 5, p), by="width")) == 10


def test_norms():
    t = tm.tally([0, 1, 0, 1], [0.25, 0.25, 0.85, 0.85])
    gaps = np.array([0.25, 0.35])
    assert m.ece(t) == pytest.approx(gaps.mean())
    assert m.ece(t, norm="max") == pytest.approx(0.35)
    assert m.ece(t, norm="rms") == pytest.approx(np.sqrt(np.mean(gaps**2)))


def test_ace_uses_bins_of_equal_mass_and_keeps_ties_together():
    rng = np.random.default_rng(0)
    p = np.sort(rng.random(1_000))
    y = (rng.random(1_000) < p**2).astype(int)
    expected = np.mean([abs(a.mean() - b.mean()) for a, b in zip(np.split(y, 10), np.split(p, 10), strict=True)])
    assert m.ace(tm.tally(y, p)) == pytest.approx(expected)
    tied = tm.calibration_curve(tm.tally([0, 1] * 50, np.repeat([0.1, 0.9], [90, 10])), bins=10, by="mass")
    assert tied.mass.tolist() == [90, 10]


def test_calibration_curve_agrees_with_scikit_learn():
    y, p = probability_sample(decimals=6)
    ours = tm.calibration_curve(tm.tally(y, p), bins=8, by="width")
    observed, mean = calibration_curve(y, p, n_bins=8)
    np.testing.assert_allclose(ours.observed, observed)
    np.testing.assert_allclose(ours.mean_score, mean)
    assert ours.mass.sum() == len(y)


@given(labelled_probabilities())
def test_the_brier_parts_are_murphys(sample):
    y, p = sample
    parts = tm.brier_parts(tm.tally(y, p), bins=5)
    which = np.array([min(sum(x >= k / 5 for k in range(1, 6)), 4) for x in p])
    reliability = resolution = within = 0.0
    for b in set(which):
        own, score = y[which == b], p[which == b]
        share = len(own) / len(y)
        reliability += share * (score.mean() - own.mean()) ** 2
        resolution += share * (own.mean() - y.mean()) ** 2
        # Variance of the scores less twice their covariance with the outcome, inside the bin.
        within += share * (score.var() - 2 * np.mean((score - score.mean()) * (own - own.mean())))
    assert parts.reliability == pytest.approx(reliability, abs=1e-12)
    assert parts.resolution == pytest.approx(resolution, abs=1e-12)
    assert parts.uncertainty == pytest.approx(y.mean() * (1 - y.mean()))
    assert parts.within_bins == pytest.approx(within, abs=1e-12)
    assert parts.brier == pytest.approx(np.mean((p - y) ** 2))


@given(labelled_probabilities())
def test_the_area_under_the_brier_curve_is_the_brier_score(sample):
    t = tm.tally(*sample)
    assert tm.brier_curve(t).auc == pytest.approx(m.brier(t), abs=1e-12)
    seen = t.at_prevalence(0.1)
    assert tm.brier_curve(seen).auc == pytest.approx(m.brier(seen), abs=1e-12)


def test_scores_that_are_no_probabilities():
    t = tm.tally([0, 1], [-1.0, 2.0])
    with pytest.warns(
        tm.UndefinedWarning, match="scores run from −1.0000 to 2.0000, probabilities in .0, 1. are needed"
    ):
        assert math.isnan(m.brier(t))
    for make in (tm.brier_curve, tm.calibration_curve):
        with pytest.raises(tm.Undefined, match=f"{make.__name__}: scores run from −1.0000 to 2.0000"):
            make(t)
    for bins in (0, 1.5, True):
        with pytest.raises(tm.InputError, match="expected a whole number"):
            m.ece(tm.tally([0, 1], [0.1, 0.2]), bins=bins)


@pytest.mark.parametrize("by", ["width", "mass"])
@pytest.mark.parametrize("shape", ["ties", "spike", "float32", "weights", "lens"])
def test_bins_by_stretches_are_bins_row_by_row(by, shape):
    """The oracle asks every distinct score where it belongs."""
    rng = np.random.default_rng(5)
    y = rng.random(2_000) < 0.3
    s = rng.random(2_000).round(2)
    s = np.where(rng.random(2_000) < 0.4, 0.3, s) if shape == "spike" else s
    s = s.astype(np.float32) if shape == "float32" else s
    w = rng.random(2_000) if shape == "weights" else np.ones(2_000)
    t = tm.tally(y, s, weights=w if shape == "weights" else None)
    t = t.at_prevalence(0.05) if shape == "lens" else t
    each = w * np.where(y, t.scale[1], t.scale[0])
    for bins in (1, 3, 10, 37):
        scores, which = np.unique(s, return_inverse=True)
        mass = np.bincount(which, each)
        if by == "width":
            edges = (np.arange(bins + 1) / bins).astype(s.dtype)
            of = np.clip(np.searchsorted(edges, scores, "right") - 1, 0, bins - 1)
        else:
            of = np.clip(((np.cumsum(mass) - mass / 2) / mass.sum() * bins + 1e-9).astype(int), 0, bins - 1)
        total = np.bincount(of[which], each, bins)
        held = total > 0
        found = calibration_bins(t, bins, by)
        assert found.mass == pytest.approx(total[held])
        assert found.mean_score == pytest.approx(np.bincount(of[which], each * s, bins)[held] / total[held])
        assert found.observed == pytest.approx(np.bincount(of[which], each * y, bins)[held] / total[held])
        lowest = [scores[of == k].min() for k in range(bins) if (of == k).any()]
        assert calibration_starts(t, bins, by).tolist() == lowest
