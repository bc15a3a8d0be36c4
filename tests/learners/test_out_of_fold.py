"""Predictions without the row or its fold, against fits that never saw it."""

import numpy as np
import pytest

import tallymark as tm
from tallymark.learners.out_of_fold import Neighbourhood, geometric_mean_of_recalls, stratified_folds


def data(kind, n=60, classes=2):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5 % classes
    X = rng.normal(size=(n, 2)) + y[:, None]
    return (X.round(0) if kind == "lattice" else np.repeat(X[::4], 4, axis=0)[:n] if kind == "duplicates" else X), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["smooth", "lattice", "duplicates"])
def test_leaving_one_out_is_a_fit_without_it(kind, classes):
    X, y = data(kind, classes=classes)
    around = Neighbourhood(X, y, 9, 5)
    for k, alpha, predicted in around.left_out([1, 4, 9], [None, 2, np.inf]):
        for row in range(len(y)):
            rest = np.arange(len(y)) != row
            alone = tm.learners.PWKClassifier(k, alpha).fit(X[rest], y[rest]).predict(X[row : row + 1])[0]
            assert predicted[row] == alone, (k, alpha, row)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["smooth", "lattice", "duplicates"])
def test_folds_are_fits_without_them(kind, classes):
    X, y = data(kind, classes=classes)
    # Folds of neighbours: rows run short of others and are searched again.
    fold = np.argsort(np.argsort(X[:, 0])) // 15
    around = Neighbourhood(X, y, 9, 4)
    for k, alpha, predicted in around.in_folds(fold, [1, 4, 9], [None, 2, np.inf]):
        for one in range(4):
            rest = fold != one
            fitted = tm.learners.PWKClassifier(k, alpha).fit(X[rest], y[rest])
            if len(fitted.classes_) == classes:
                assert (predicted[~rest] == fitted.predict(X[~rest])).all(), (k, alpha, one)


def test_folds_are_stratified():
    codes = np.repeat([0, 1, 2], [50, 23, 7])
    fold = stratified_folds(codes, 5, np.random.default_rng(0))
    for code in range(3):
        counts = np.bincount(fold[codes == code], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert np.ptp(np.bincount(fold)) <= 1


def test_the_geometric_mean_is_the_metric():
    y, predicted = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 0, 1, 0])
    own = tm.metrics.geometric_mean(tm.confusion(y, predicted))
    assert geometric_mean_of_recalls(y, predicted, 2) == pytest.approx(own)
    assert geometric_mean_of_recalls(np.array([0, 1, 2]), np.array([0, 1, 1]), 3) == 0.0
