import numpy as np
import pytest
from bench.bayesian_calibration import PRINTED, models, problems, table
from bench.datasets import fashion, have_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import tallymark as tm


def draw(n, share, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    y[:2] = 0, 1
    return y, rng.normal(2.0 * y)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0), st.sampled_from([{}, {"density": "kde"}, {"monotone": True}]))
def test_posteriors_add_up_to_the_count(seed, share, options):
    t = tm.tally(*draw(100, 0.5, seed))
    new = draw(80, share, seed + 1)[1]
    found = tm.quantify.bayesian_calibration(t, tm.tally(scores=new), **options)
    posterior = found.posterior(new)
    assert ((posterior >= 0) & (posterior <= 1)).all()
    if 0 < found.prevalence < 1:
        assert posterior.sum() == pytest.approx(80 * found.prevalence, abs=1e-5)


def test_monotone_posteriors_rise():
    t = tm.tally(*draw(300, 0.5, 0))
    scores = np.linspace(-4, 6, 200)
    found = tm.quantify.bayesian_calibration(t, tm.tally(scores=draw(200, 0.2, 1)[1]), monotone=True)
    assert (np.diff(found.posterior(scores)) >= -1e-12).all()


def test_two_label_rules():
    t, new = tm.tally(*draw(500, 0.5, 0)), draw(200, 0.3, 1)[1]
    found = tm.quantify.bayesian_calibration(t, tm.tally(scores=new))
    top = found.labels(new)
    assert top.sum() == np.ceil(200 * found.prevalence)
    assert new[top].min() >= new[~top].max()
    assert (found.labels(new, rule="half") == (found.posterior(new) >= 0.5)).all()


def test_ends_and_rare_classes_are_stable():
    t = tm.tally(*draw(2_000, 0.5, 0))
    rng = np.random.default_rng(1)
    none = tm.quantify.bayesian_calibration(t, tm.tally(scores=rng.normal(-1.0, 0.3, 500)))
    assert none.prevalence == pytest.approx(0.0, abs=1e-3)
    assert np.isfinite(none.posterior([-50.0, 0.0, 50.0])).all()
    rare = tm.quantify.bayesian_calibration(t, tm.tally(scores=draw(50_000, 0.002, 2)[1]), level=0.95)
    assert rare.prevalence == pytest.approx(0.002, abs=0.01)
    assert 0 <= rare.estimate.low < rare.estimate.high < 0.05


def test_transformer_keeps_scikit_learns_shape():
    y, s = draw(500, 0.5, 0)
    new = draw(200, 0.2, 1)[1]
    found = tm.quantify.BayesCalibrator().fit(s[:, None], np.where(y == 1, "yes", "no"))
    by_function = tm.quantify.bayesian_calibration(tm.tally(y, s), tm.tally(scores=new)).posterior(new)
    assert found.transform(new[:, None])[:, 0] == pytest.approx(by_function)
    with pytest.raises(tm.InputError, match="expected one column"):
        found.fit(np.zeros((4, 2)), [0, 1, 0, 1])


@pytest.mark.parametrize("problem", ["normal", "not normal"])
def test_synthetic_problems_behave_as_printed(problem):
    for share, raw, calibrated in table("LogReg", models()["LogReg"], problems([problem])[problem]):
        # spcc, accuracy, auroc, bias
        assert abs(calibrated[3]) <= abs(raw[3]) + 0.002
        if share < 0.05:
            assert abs(calibrated[3]) < 0.003
            if problem == "not normal":
                assert calibrated[0] > raw[0] + 0.05


@pytest.mark.skipif(not have_data(), reason="the Fashion-MNIST classes are not beside the project")
def test_fashion_under_prior_shift():
    X, y, X_test, y_test = fashion(0, 6)
    rows = np.r_[0:6000:2, 6000:12000:2]
    model = LogisticRegression(max_iter=60, tol=1e-2)
    known = cross_val_predict(model, X[rows], y[rows], cv=3, method="predict_proba")[:, 1]
    scores = model.fit(X[rows], y[rows]).predict_proba(X_test)[:, 1]
    validation = tm.tally(y[rows], known)
    kept = np.concatenate((np.flatnonzero(y_test == 0), np.flatnonzero(y_test == 1)[:111]))
    found = tm.quantify.bayesian_calibration(validation, tm.tally(scores=scores[kept]))
    raw, mended = tm.tally(y_test[kept], scores[kept]), tm.tally(y_test[kept], found.posterior(scores[kept]))
    assert abs(tm.metrics.bias(raw)) > 0.14
    assert abs(tm.metrics.bias(mended)) < 0.03
    assert tm.metrics.spcc(mended) > tm.metrics.spcc(raw) + 0.05
    assert PRINTED["0v6"]["LogReg"][0][0] == 0.7335
