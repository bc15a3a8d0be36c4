"""Calibration slope, intercept, ICI and the decomposition of scores without bins."""

import math

import numpy as np
import pytest
from hypothesis import given
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss

import tallymark as tm
from samples import labelled_probabilities, probability_sample
from tallymark.metrics import recalibration
from tallymark.metrics.logistic import fit_logistic
from tallymark.registry import METRICS

m = tm.metrics


def _logit(p):
    return np.log(p / (1 - p))


def test_slope_is_that_of_a_logistic_regression():
    y, s = probability_sample(800, 0.3, seed=1)
    s = np.clip(s, 0.01, 0.99)
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(_logit(s)[:, None], y)
    assert m.calibration_slope(tm.tally(y, s)) == pytest.approx(peer.coef_[0, 0], rel=1e-4)
    weights = np.random.default_rng(0).random(800) + 0.1
    peer = LogisticRegression(C=np.inf, tol=1e-10).fit(_logit(s)[:, None], y, sample_weight=weights)
    assert m.calibration_slope(tm.tally(y, s, weights=weights)) == pytest.approx(peer.coef_[0, 0], rel=1e-4)


@given(labelled_probabilities())
def test_the_intercept_makes_probabilities_add_up(sample):
    y, s = sample
    s = np.clip(s, 1e-6, 1 - 1e-6)
    if y.min() == y.max():
        return
    a = m.calibration_intercept(tm.tally(y, s))
    assert np.sum(1 / (1 + np.exp(-(_logit(s) + a)))) == pytest.approx(y.sum(), rel=1e-6)


def test_doubling_log_odds_halves_the_slope():
    y, s = probability_sample(500, 0.4, seed=2)
    s = np.clip(s, 0.02, 0.98)
    loud = 1 / (1 + np.exp(-2 * _logit(s)))
    assert m.calibration_slope(tm.tally(y, loud)) == pytest.approx(m.calibration_slope(tm.tally(y, s)) / 2, rel=1e-5)


def test_classes_that_do_not_overlap_have_no_slope():
    t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9])
    assert m.calibration_slope(t) == math.inf
    assert tm.evaluate(t, metrics="calibration_slope")["calibration_slope"].low is None


def test_ici_is_the_mean_distance_from_a_lowess_curve():
    """A naive loop: at each row the nearest two thirds of the rows, by the tricube of their distance."""
    rng = np.random.default_rng(0)
    s = np.sort(rng.random(40))
    y = (rng.random(40) < s**2).astype(float)
    fitted = []
    for x in s:
        far = np.abs(s - x)
        reach = np.sort(far)[math.ceil(40 * 2 / 3) - 1]
        w = np.clip(1 - (far / reach) ** 3, 0, None) ** 3
        line = np.polyfit(s, y, 1, w=np.sqrt(w))
        fitted.append(np.polyval(line, x))
    wanted = np.mean(np.abs(np.clip(fitted, 0, 1) - s))
    assert m.integrated_calibration_index(tm.tally(y.astype(int), s)) == pytest.approx(wanted, abs=1e-9)


def test_ici_of_calibrated_probabilities_vanishes():
    rng = np.random.default_rng(0)
    s = rng.random(200_000)
    assert m.ici(tm.tally(rng.random(200_000) < s, s)) < 0.01
    assert m.ici(tm.tally(rng.random(200_000) < s**2, s)) == pytest.approx(1 / 6, abs=0.01)


@pytest.mark.parametrize(("score", "peer"), [("brier", brier_score_loss), ("log_loss", log_loss)])
def test_parts_are_those_of_isotonic_recalibration(score, peer):
    y, s = probability_sample(600, 0.3, seed=3, decimals=3)
    s = np.clip(s, 0.001, 0.999)
    fitted = IsotonicRegression(y_min=1e-12, y_max=1 - 1e-12).fit(s, y).predict(s)
    parts = tm.score_parts(tm.tally(y, s), score=score)
    constant = peer(y, np.full(600, y.mean()))
    assert parts.value == pytest.approx(peer(y, s), rel=1e-9)
    assert parts.uncertainty == pytest.approx(constant, rel=1e-9)
    assert parts.miscalibration == pytest.approx(peer(y, s) - peer(y, fitted), rel=1e-6)
    assert parts.discrimination == pytest.approx(constant - peer(y, fitted), rel=1e-6)
    with pytest.raises(tm.InputError, match="Choose one of: brier, log_loss"):
        tm.score_parts(tm.tally(y, s), score="auroc")


@given(labelled_probabilities())
def test_no_part_is_negative(sample):
    y, s = sample
    if y.min() == y.max():
        return
    parts = tm.score_parts(tm.tally(y, s))
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= 0.0
    assert parts.value == pytest.approx(m.brier(tm.tally(y, s)), abs=1e-9)


def test_a_model_worse_than_a_constant_has_no_skill():
    """Shuffled scores are a worse baseline than the prevalence said to everyone."""
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.105
    t = tm.tally(y, 0.4 + 0.1 * (rng.random(5000) - 0.5))
    ev = tm.evaluate(t, metrics=["brier", "brier_skill", "log_loss", "log_loss_skill"])
    assert ev["brier"].value > ev["brier"].chance == pytest.approx(t.prevalence * (1 - t.prevalence))
    assert ev["brier_skill"].high < 0
    assert ev["log_loss_skill"].high < 0


@pytest.mark.parametrize("shape", ["plain", "extreme", "weighted", "spike"])
def test_many_rows_are_settled_as_few_are(shape):
    """More distinct scores than a first answer is found in: the oracle is a plain fit of all rows, and a root finder."""
    from scipy.optimize import brentq

    rng = np.random.default_rng(2)
    n = 30_000
    x = rng.normal(size=n) * (12 if shape == "extreme" else 1.5) - 2
    y = rng.random(n) < 1 / (1 + np.exp(-(0.6 * x + 0.5)))
    p = np.clip(1 / (1 + np.exp(-x)), 1e-9, 1 - 1e-9)
    if shape == "spike":
        p[: n // 2] = 0.001
    w = rng.random(n) ** 3 + 0.01 if shape == "weighted" else np.ones(n)
    t = tm.tally(y, p, weights=w if shape == "weighted" else None)
    odds = np.log(p) - np.log1p(-p)
    slope, _ = fit_logistic(odds[None, :], y.astype(float), w[None, :])[0]
    # The fit has a minute ridge, which the settled answer lacks.
    assert tm.metrics.calibration_slope(t) == pytest.approx(slope, rel=1e-6)
    off = brentq(lambda a: np.sum(w * (1 / (1 + np.exp(-(odds + a))) - y)), -50, 50, xtol=1e-13)
    assert tm.metrics.calibration_intercept(t) == pytest.approx(off, abs=1e-9)


@pytest.mark.parametrize("prior", [None, 0.1])
def test_cells_of_many_rows_are_those_of_the_merged_scores(prior):
    tally = tm.tally(*probability_sample(200_000, 0.2, decimals=15)).at_prevalence(prior)
    merged, found = recalibration._joined(tally.views.outcomes(tally.scale)), recalibration._in_cells(tally)
    for own, wanted in zip(found, merged, strict=True):
        assert own == pytest.approx(wanted, rel=1e-12)
    wanted = np.average(
        np.abs(tally.views.outcomes(tally.scale).scores - tally.prevalence),
        weights=tally.views.outcomes(tally.scale).mass,
    )
    assert METRICS["integrated_calibration_index"].chance(tally) == pytest.approx(wanted, rel=1e-12)


def test_the_slope_has_no_ridge():
    """Log-likelihood equations of the logistic regression, solved to the last digits, also where a class weighs little."""
    rng = np.random.default_rng(3)
    y, p = np.arange(60) % 2, np.round(np.clip(rng.normal(0.49 + 0.02 * (np.arange(60) % 2), 0.01), 0.01, 0.99), 3)
    tally = tm.tally(y, p).at_prevalence(0.002)
    slope, intercept = recalibration.logistic_recalibration(tally)
    weight = np.where(y == 1, 0.002, 0.998) / 30
    x = _logit(p)
    off = weight * (y - 1 / (1 + np.exp(-(slope * x + intercept))))
    assert abs(np.sum(off)) < 1e-15
    assert abs(np.sum(off * x)) < 1e-15


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slope_is_infinite_where_the_classes_share_one_score(sign):
    y = np.array([0, 0, 0, 1, 1, 1])
    p = 0.5 + sign * np.array([-0.3, -0.2, 0.0, 0.0, 0.2, 0.3])
    assert tm.metrics.calibration_slope(tm.tally(y, p)) == sign * math.inf
