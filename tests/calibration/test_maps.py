import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import tallymark as tm
from samples import labelled_probabilities

C = tm.calibration


def draw(n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return y, rng.normal(1.5 * y)


def test_platt_is_scikit_learns_sigmoid():
    y, s = draw(500)
    peer = _SigmoidCalibration().fit(s, y)
    assert C.platt(tm.tally(y, s))(s) == pytest.approx(peer.predict(s), abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(labelled_probabilities())
def test_isotonic_is_scikit_learns(sample):
    # scikit-learn takes scores that are the same to the last bits for one.
    y, p = sample[0], sample[1].round(6)
    peer = IsotonicRegression(out_of_bounds="clip").fit(p, y)
    grid = np.linspace(0, 1, 50)
    assert C.isotonic(tm.tally(y, p))(grid) == pytest.approx(peer.predict(grid), abs=1e-9)


def test_beta_is_a_logistic_regression_of_logarithms():
    y, s = draw(2_000)
    p = 1 / (1 + np.exp(-3 * s))
    features = np.column_stack((np.log(p), -np.log1p(-p)))
    peer = LogisticRegression(C=1e9, tol=1e-10, max_iter=1_000).fit(features, y)
    found = C.beta(tm.tally(y, p))
    assert min(peer.coef_[0]) > 0
    assert found(p) == pytest.approx(peer.predict_proba(features)[:, 1], abs=1e-4)


def test_beta_leaves_out_a_negative_slope():
    y, p = np.array([0, 1, 0, 1, 1, 0]), np.array([0.9, 0.95, 0.85, 0.2, 0.3, 0.1])
    found = C.beta(tm.tally(y, p))
    assert min(found.parameters["a"], found.parameters["b"]) == 0.0
    assert (np.diff(found(np.linspace(0.01, 0.99, 20))) >= -1e-12).all()


@pytest.mark.parametrize("bias", [False, True])
def test_temperature_minimises_log_loss(bias):
    y, s = draw(1_000)
    p = 1 / (1 + np.exp(-4 * s))
    logit = np.log(p / (1 - p))

    def loss(v):
        z = v[0] * logit + (v[1] if bias else 0)
        return np.mean(np.logaddexp(0, z) - y * z)

    best = minimize(loss, [1.0, 0.0], tol=1e-12).x
    found = C.temperature(tm.tally(y, p), bias=bias).parameters
    assert 1 / found["temperature"] == pytest.approx(best[0], abs=1e-4)
    if bias:
        assert found["bias"] == pytest.approx(best[1], abs=1e-4)


@pytest.mark.parametrize("method", ["platt", "isotonic", "beta", "temperature"])
def test_maps_improve_probabilities_and_keep_the_order(method):
    y, s = draw(4_000)
    p = 1 / (1 + np.exp(-6 * s))
    t = tm.tally(y, p)
    found = C.calibrate(t, method)
    mended = found.apply(t)
    assert tm.metrics.log_loss(mended) < tm.metrics.log_loss(t)
    assert tm.metrics.auroc(mended) == pytest.approx(tm.metrics.auroc(t), abs=5e-3)
    assert mended.n == t.n


def test_counts_are_repeated_rows():
    y, s = draw(60)
    c = np.random.default_rng(0).integers(1, 4, 60)
    p = 1 / (1 + np.exp(-s))
    for method in ("platt", "isotonic", "beta", "temperature"):
        counted = C.calibrate(tm.tally(y, p, counts=c), method)(p)
        assert counted == pytest.approx(C.calibrate(tm.tally(np.repeat(y, c), np.repeat(p, c)), method)(p), abs=1e-6)


def test_classes_that_do_not_overlap_give_finite_maps():
    t = tm.tally([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    for method in ("platt", "isotonic", "beta", "temperature"):
        found = C.calibrate(t, method)([0.0, 0.1, 0.5, 0.9, 1.0])
        assert np.isfinite(found).all(), method
        assert (np.diff(found) >= 0).all(), method


def test_bad_input():
    with pytest.raises(tm.InputError, match="labelled tally"):
        C.platt(tm.tally(scores=[0.1, 0.2]))
    with pytest.raises(tm.InputError, match="takes probabilities, but the scores run from -2 to 3"):
        C.beta(tm.tally([0, 1], [-2.0, 3.0]))
    with pytest.raises(tm.InputError, match="Choose one of: platt"):
        C.calibrate(tm.tally([0, 1], [0.2, 0.3]), "magic")
    with pytest.raises(tm.InputError, match="has cells"):
        C.platt(tm.tally([0, 1], [0.2, 0.3])).apply(tm.tally([0, 1], [0.2, 0.3]).quantise())


def test_transformer_keeps_scikit_learns_shape():
    y, s = draw(100)
    found = C.Calibrator("platt").fit(s[:, None], y)
    assert found.transform(s[:, None]).shape == (100, 1)
    assert found.transform(s[:, None])[:, 0] == pytest.approx(C.platt(tm.tally(y, s))(s))
    assert list(found.get_feature_names_out()) == ["probability"]
    with pytest.raises(tm.InputError, match="expected one column"):
        C.Calibrator().fit(np.zeros((4, 2)), [0, 1, 0, 1])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_platt_does_not_see_the_unit_of_scores(seed):
    y, s = draw(40, seed)
    before, after = C.platt(tm.tally(y, s))(s), C.platt(tm.tally(y, s * 1e3 + 1e6))(s * 1e3 + 1e6)
    assert before == pytest.approx(after, abs=1e-5)


def test_platt_does_not_see_the_unit_of_weights():
    y, s = draw(100)
    found = [C.platt(tm.tally(y, s, weights=np.full(100, w))).parameters["slope"] for w in (1.0, 1e-3, 1e3)]
    assert found == pytest.approx([found[0]] * 3)


@pytest.mark.parametrize("name", ["platt", "isotonic", "beta", "temperature"])
def test_fitted_maps_can_be_pickled(name):
    fitted = getattr(tm.calibration, name)(tm.tally([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.8, 0.6]))
    again = pickle.loads(pickle.dumps(fitted))
    assert again([0.2, 0.7]).tolist() == fitted([0.2, 0.7]).tolist()
    assert again.parameters == fitted.parameters
