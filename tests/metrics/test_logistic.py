"""Logistic regression against scikit-learn's without a penalty, and log odds against SciPy's."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.special import logit as log_odds_of
from sklearn.linear_model import LogisticRegression

from tallymark.metrics.logistic import fit_logistic, logit, sigmoid


@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_the_maximum_of_the_likelihood(intercept):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(2, 400)) * [[1.0], [30.0]] + [[0.0], [100.0]]
    y = rng.random(400) < expit(features[0] - 0.02 * (features[1] - 100.0))
    masses = rng.random((3, 400)) + 0.1
    ours = fit_logistic(features, y.astype(float), masses, intercept=intercept)
    for line, mass in zip(ours, masses, strict=True):
        peer = LogisticRegression(C=np.inf, fit_intercept=intercept, tol=1e-10, max_iter=10_000)
        peer.fit(features.T, y, sample_weight=mass)
        theirs = np.append(peer.coef_[0], peer.intercept_ if intercept else [])
        gradients = [
            (np.vstack((features, np.ones(400)))[: len(theirs)] * (mass * (y - expit(_linear(features, one))))).sum(
                axis=1
            )
            for one in (line, theirs)
        ]
        assert np.abs(gradients[0]).max() <= max(np.abs(gradients[1]).max(), 1e-3)
        assert line == pytest.approx(theirs, abs=2e-3)


def _linear(features, coefficients):
    return coefficients[: len(features)] @ features + coefficients[len(features) :].sum()


def test_classes_that_do_not_overlap_have_finite_slopes():
    (slope, _), *_ = fit_logistic(np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones((1, 4)))
    assert 1.0 < slope < np.inf


def test_log_odds_and_their_inverse():
    p = np.array([1e-9, 0.2, 0.5, 0.999])
    assert logit(p) == pytest.approx(log_odds_of(p))
    assert sigmoid(logit(p)) == pytest.approx(p)
    assert np.isfinite(logit([0.0, 1.0])).all()
    assert sigmoid(np.array([-1e9, 1e9])).tolist() == pytest.approx([0.0, 1.0])
