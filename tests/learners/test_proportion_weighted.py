"""PWK and KNN as classifiers."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import tallymark as tm
from scikit_learn_rules import broken_rules

PWK = tm.learners.PWKClassifier


def sample(n=300, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n, p=np.arange(1, classes + 1)[::-1] / np.arange(1, classes + 1).sum())
    return rng.normal(size=(n, 3)) + y[:, None], y


@pytest.mark.parametrize("classes", [2, 4])
def test_equal_weights_are_scikit_learns_neighbours(classes):
    X, y = sample(classes=classes)
    new, _ = sample(seed=1, classes=classes)
    peer = KNeighborsClassifier(11).fit(X, y)
    ours = PWK(11, alpha=np.inf).fit(X, y)
    assert ours.predict_proba(new) == pytest.approx(peer.predict_proba(new))
    assert (ours.predict(new) == peer.predict(new)).all()


@pytest.mark.parametrize("alpha", [None, 1, 3])
def test_against_a_plain_loop(alpha):
    X, y = sample(120, classes=3)
    new, _ = sample(40, seed=1, classes=3)
    model = PWK(9, alpha).fit(X, y)
    sizes = np.bincount(y)
    weights = 1 - sizes / sizes.sum() if alpha is None else (sizes / sizes.min()) ** (-1 / alpha)
    assert model.class_weights_ == pytest.approx(weights)
    for row, told in zip(new, model.predict_proba(new), strict=True):
        order = np.argsort([np.sum((row - other) ** 2) for other in X], kind="stable")[:9]
        votes = np.array([weights[c] * np.sum(y[order] == c) for c in range(3)])
        assert told == pytest.approx(votes / votes.sum())


def test_for_two_classes_pwk_is_alpha_one():
    X, y = sample(400)
    new, _ = sample(400, seed=1)
    assert (PWK(20).fit(X, y).predict(new) == PWK(20, 1).fit(X, y).predict(new)).all()


def test_a_tie_is_the_earlier_class_and_exactly_one_half():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0], [2.0], [2.0]]), [1, 0, 0, 1, 0, 0]
    model = PWK(6).fit(X, y)
    assert model.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[1.0]]).tolist() == [0]


@pytest.mark.parametrize("alpha", [None, 1, 3, np.inf])
def test_the_largest_share_is_what_is_predicted(alpha):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (90, 2)).astype(float), rng.choice(4, 90, p=[0.5, 0.2, 0.2, 0.1])
    model = PWK(8, alpha).fit(X, y)
    new = rng.integers(0, 3, (200, 2)).astype(float)
    assert (model.predict_proba(new).argmax(axis=1) == model.predict(new)).all()


def test_sparse_rows_and_text_labels():
    X, y = sample()
    names = np.array(["no", "yes"])[y]
    dense, sparse = PWK(7).fit(X, names), PWK(7).fit(csr_matrix(X), names)
    assert dense.classes_.tolist() == ["no", "yes"]
    assert (dense.predict(X) == sparse.predict(csr_matrix(X))).mean() > 0.99


def test_it_follows_scikit_learns_rules():
    assert not broken_rules(PWK(3))


def test_wrong_things_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(tm.InputError, match="one class only"):
        PWK().fit(X, np.zeros(150))
    with pytest.raises(tm.InputError, match="n_neighbors is 200, but there are 150 rows"):
        PWK(200).fit(X, y)
    with pytest.raises(tm.InputError, match="n_neighbors is 2.5"):
        PWK(2.5).fit(X, y)
    with pytest.warns(tm.GuardWarning, match="TM114"):
        PWK(60).fit(X, y)
