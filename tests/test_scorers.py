import math
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tallymark as tm
from tallymark.registry import METRICS

X, y = load_breast_cancer(return_X_y=True)
MODEL = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("auroc", "roc_auc"), ("average_precision", "average_precision"), ("brier", "neg_brier_score"),
        ("log_loss", "neg_log_loss"), ("f1", "f1"), ("balanced_accuracy", "balanced_accuracy"), ("mcc", "matthews_corrcoef"),
    ],
)  # fmt: skip
def test_agrees_with_scikit_learns_scorers(ours, theirs):
    assert tm.scorers.scorer(ours)(MODEL, X, y) == pytest.approx(get_scorer(theirs)(MODEL, X, y), rel=1e-6)


@pytest.mark.parametrize(
    "name", [n for n in METRICS if METRICS[n].better != "neither" and METRICS[n].needs not in {"moments", "multiclass"}]
)
def test_every_metric_scores(name):
    value = tm.scorers.scorer(name)(MODEL, X[1::2], y[1::2])
    assert not math.isnan(value)
    raw = METRICS[name]
    tally = tm.tally(y[1::2], MODEL.predict_proba(X[1::2])[:, 1])
    expected = raw.compute(tally.at(0.5) if raw.needs == "confusion" else tally)
    assert value == {"higher": expected, "lower": -expected, "zero": -abs(expected)}[raw.better]


def test_model_selection_and_weights():
    search = GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.01, 1]},
                          scoring=tm.scorers.scorer("h_measure"))  # fmt: skip
    assert search.fit(X, y).best_score_ > 0.8
    w = np.linspace(1, 2, len(y))
    weighted = tm.scorers.scorer("auroc")(MODEL, X, y, sample_weight=w)
    assert weighted == tm.metrics.auroc(tm.tally(y, MODEL.predict_proba(X)[:, 1], weights=w))


def test_text_labels_decision_values_and_policies():
    names = np.where(y == 1, "benign", "malignant")
    svm = make_pipeline(StandardScaler(), LinearSVC()).fit(X, names)
    score = tm.scorers.scorer("auroc", pos_label="benign")(svm, X, names)
    assert score > 0.99
    assert score == pytest.approx(tm.scorers.scorer("auroc", pos_label="malignant")(svm, X, names))
    assert tm.scorers.scorer("recall", threshold="tpr:0.9")(MODEL, X, y) >= 0.9
    with pytest.raises(tm.InputError, match="brier needs predict_proba, which Pipeline lacks"):
        tm.scorers.scorer("brier")(svm, X, names)


def test_decision_values_are_cut_at_zero_and_searches_can_be_pickled():
    import pickle

    svm = make_pipeline(StandardScaler(), LinearSVC()).fit(X[::2], y[::2])
    assert tm.scorers.scorer("f1")(svm, X, y) == pytest.approx(get_scorer("f1")(svm, X, y))
    again = pickle.loads(pickle.dumps(tm.scorers.scorer("fbeta", beta=0.5)))
    assert again(svm, X, y) == tm.scorers.scorer("fbeta", beta=0.5)(svm, X, y)


def test_several_classes():
    iris = load_iris()
    model = LogisticRegression(max_iter=500).fit(iris.data, iris.target)
    assert 0.8 < tm.scorers.scorer("spcc_ovo_fisher")(model, iris.data, iris.target) < 1
    assert tm.scorers.scorer("auroc_ovo")(model, iris.data, iris.target) == pytest.approx(
        get_scorer("roc_auc_ovo")(model, iris.data, iris.target)
    )
    with pytest.raises(tm.InputError, match="needs two classes"):
        tm.scorers.scorer("auroc")(model, iris.data, iris.target)


def test_undefined_is_nan_and_amounts_are_refused():
    constant = DummyClassifier(strategy="prior").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(tm.scorers.scorer("spcc")(constant, X, y))
        assert len(cross_val_score(constant, X, y, scoring=tm.scorers.scorer("auroc"))) == 5
    with pytest.raises(tm.InputError, match="cannot choose a model"):
        tm.scorers.scorer("positive_estimate")
