"""MOD against a plain loop, and what it must not depend on."""

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.metrics import roc_auc_score

import tallymark as tm
from scikit_learn_rules import broken_rules

MOD = tm.learners.MOD


def naive(X, k, iterations):
    """The definition: every point becomes the mean of its k nearest, itself among them."""
    now = X
    for _ in range(iterations):
        moved = []
        for row in now:
            squares = sum((row[a] - now[:, a]) ** 2 for a in range(now.shape[1]))
            moved.append(now[np.argsort(squares, kind="stable")[:k]].mean(axis=0))
        now = np.array(moved)
    return np.sqrt(((X - now) ** 2).sum(axis=1))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize(("k", "iterations"), [(1, 3), (5, 1), (5, 3), (50, 3)])
def test_against_a_plain_loop(k, iterations, rounded):
    X = np.random.default_rng(0).normal(size=(50, 3))
    X = X.round(0) if rounded else X
    assert MOD(k, iterations=iterations).fit(X).decision_scores_ == pytest.approx(naive(X, k, iterations), abs=1e-12)


def test_all_neighbours_are_the_mean_and_equal_points_do_not_move():
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert MOD(40, iterations=1).fit(X).decision_scores_ == pytest.approx(np.linalg.norm(X - X.mean(axis=0), axis=1))
    assert MOD(5).fit(np.ones((20, 2))).decision_scores_.tolist() == [0.0] * 20


def test_shifts_and_turns_change_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    scores = MOD(9).fit(X).decision_scores_
    assert MOD(9).fit(X + 100.0).decision_scores_ == pytest.approx(scores, abs=1e-9)
    assert MOD(9).fit(X @ ortho_group.rvs(4, random_state=0)).decision_scores_ == pytest.approx(scores, abs=1e-9)
    assert MOD(9, n_jobs=2).fit(X).decision_scores_.tolist() == scores.tolist()


def test_fitted_rows_asked_again_move_as_they_did():
    X = np.random.default_rng(2).normal(size=(60, 2))
    model = MOD(7, contamination=0.1).fit(X)
    assert model.decision_function(X) == pytest.approx(model.decision_scores_)
    assert model.labels_.sum() == 6
    assert (model.predict(X) == model.labels_).all()


def test_outliers_are_found():
    rng = np.random.default_rng(3)
    X = np.vstack((rng.normal(size=(300, 5)), rng.normal(size=(10, 5)) * 4))
    assert roc_auc_score(np.arange(310) >= 300, MOD(30).fit(X).decision_scores_) > 0.95


def test_it_follows_scikit_learns_rules():
    # PyOD, whose interface this is, labels outliers 1 and inliers 0; scikit-learn's detectors say -1 and 1.
    but = dict.fromkeys(["check_outliers_train", "check_outliers_fit_predict"], "labels are PyOD's")
    assert not broken_rules(MOD(3), but=but)


@pytest.mark.parametrize(
    ("options", "told"),
    [({"n_neighbors": 0}, "n_neighbors is 0"), ({"n_neighbors": 11}, "n_neighbors is 11, but there are 10 rows"),
     ({"iterations": 0}, "iterations is 0"), ({"contamination": 0.9}, "contamination is 0.9")],
)  # fmt: skip
def test_wrong_things_are_named(options, told):
    with pytest.raises(tm.InputError, match=told):
        MOD(**({"n_neighbors": 3} | options)).fit(np.arange(20.0).reshape(10, 2))
