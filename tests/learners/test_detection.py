"""Detectors by name, and their scores in a panel."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

import tallymark as tm
from tallymark.learners.detection import DETECTORS


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = np.vstack((rng.normal(size=(190, 4)), rng.normal(size=(10, 4)) * 3)) * [1.0, 10.0, 0.1, 1.0]
    return X, np.arange(200) >= 190


def test_every_detector_scores_outliers_high(data):
    X, y = data
    panel = tm.learners.detectors().panel(X, y)
    assert panel.models == tuple(DETECTORS)
    for model in panel.models:
        assert tm.metrics.auroc(panel.tally(model)) > 0.85
    reduced = tm.without_simple(panel)
    assert 0.0 <= reduced.share <= 1.0
    assert len(reduced.compare("auroc")) == 4


def test_scores_are_the_librarys_own(data):
    from pyod.models.copod import COPOD

    X, _ = data
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = tm.learners.detectors(["lof", "copod", "mod"], n_neighbors=20).scores(X)
    assert scores["lof"] == pytest.approx(-LocalOutlierFactor(20).fit(standard).negative_outlier_factor_)
    assert scores["copod"] == pytest.approx(COPOD().fit(standard).decision_scores_)
    assert scores["mod"] == pytest.approx(tm.learners.MOD(20).fit(standard).decision_scores_)
    raw = tm.learners.detectors("mod", n_neighbors=20, standardise=False).scores(X)["mod"]
    assert raw == pytest.approx(tm.learners.MOD(20).fit(X).decision_scores_)


def test_seeds_and_neighbours(data):
    X, y = data
    one, other, again = (tm.learners.detectors("iforest", seed=s).scores(X)["iforest"] for s in (0, 1, 0))
    assert (one == again).all()
    assert (one != other).any()
    assert tm.learners.detectors().neighbors(200) == {"mod": 100, "lof": 50}
    assert tm.learners.detectors(n_neighbors=7).neighbors(200) == {"mod": 7, "lof": 7}
    assert roc_auc_score(y, one) > 0.9


def test_wrong_things_are_named(data):
    X, _ = data
    for call, told in (
        (lambda: tm.learners.detectors("loff"), "Did you mean 'lof'"),
        (lambda: tm.learners.detectors([]), "No detector is named"),
        (lambda: tm.learners.detectors(n_neighbors=0), "n_neighbors is 0"),
        (lambda: tm.learners.detectors("lof", n_neighbors=200).scores(X), "lof needs 200 neighbours"),
        (lambda: tm.learners.detectors("lof").scores([[1.0, np.nan], [1.0, 2.0]]), "NaN"),
        (lambda: tm.learners.detectors("lof").scores([[1.0, 2.0]]), "minimum of 2"),
    ):
        with pytest.raises(tm.InputError, match=told):
            call()
    # Two rows, and attributes that never change, have an answer.
    assert len(tm.learners.detectors().scores([[1.0, 5.0], [2.0, 5.0]])["copod"]) == 2
