"""KNN and PWK as quantifiers."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import tallymark as tm
from scikit_learn_rules import PER_ROW, broken_rules
from tallymark.learners.out_of_fold import stratified_folds

KNN, PWK = tm.quantify.KNN, tm.quantify.PWK


def shifted(n=1500, seed=0):
    """Training rows at 30 %, and new ones at 70 % and 5 %."""
    rng = np.random.default_rng(seed)

    def drawn(rows, share):
        y = (np.arange(rows) < share * rows).astype(int)
        return rng.normal(size=(rows, 4)) + 1.2 * y[:, None], y

    return drawn(n, 0.3), drawn(n, 0.7), drawn(n, 0.05)


@pytest.mark.parametrize(
    "make", [KNN, PWK, lambda: PWK(alpha=(1, 2, 3, 4, 5)), lambda: PWK(cv=10)], ids=["knn", "pwk", "pwka", "cv"]
)
def test_counts_are_right_under_prior_shift(make):
    (X, y), *targets = shifted()
    quantifier = make().fit(X, y)
    for new, truth in targets:
        assert quantifier.predict(new)[1] == pytest.approx(truth.mean(), abs=0.05)
        estimate = quantifier.quantify(new)
        assert estimate.low <= truth.mean() <= estimate.high


def test_the_rates_are_those_of_leaving_each_row_out():
    (X, y), *_ = shifted(200)
    quantifier = PWK(7).fit(X, y)
    left_out = cross_val_predict(tm.learners.PWKClassifier(7), X, y, cv=LeaveOneOut())
    cells = quantifier.validation_.at(0.5)
    assert (cells.tp, cells.fp) == ((left_out & y).sum(), (left_out & (1 - y)).sum())
    # Counted on the training rows themselves the error rates would look far better.
    seen = tm.learners.PWKClassifier(1).fit(X, y).predict(X)
    assert balanced_accuracy_score(y, seen) == 1.0 > tm.metrics.balanced_accuracy(PWK(1).fit(X, y).validation_.at(0.5))


@pytest.mark.parametrize(
    ("choose", "rule"),
    [
        ("max", lambda t, f, p, n: t - f),
        ("x", lambda t, f, p, n: -abs((1 - t) - f)),
        ("t50", lambda t, f, p, n: -abs(t - 0.5)),
        (
            "variance",
            lambda t, f, p, n: (
                -np.sqrt(
                    np.mean(
                        [
                            s**2 * spread(t * p, p) + (1 - s) ** 2 * spread(f * n, n)
                            for s in (np.arange(10_000) + 0.5) / 10_000
                        ]
                    )
                )
                / abs(t - f)
            ),
        ),
    ],
)
def test_the_number_of_neighbours_is_chosen_by_a_rule(choose, rule):
    (X, y), *_ = shifted(200)
    found = KNN([3, 9, 25], choose=choose).fit(X, y)
    rng = np.random.default_rng(0)
    folds = [stratified_folds(y, 5, rng) for _ in range(2)]
    for line in found.grid_:
        values = []
        for fold in folds:
            hat = np.zeros(len(y), int)
            for one in range(5):
                model = KNeighborsClassifier(line["n_neighbors"]).fit(X[fold != one], y[fold != one])
                hat[fold == one] = model.predict(X[fold == one])
            values.append(rule(hat[y == 1].mean(), hat[y == 0].mean(), y.sum(), (1 - y).sum()))
        assert line[choose] == pytest.approx(np.mean(values), rel=1e-6)
    assert found.n_neighbors_ == max(found.grid_, key=lambda line: line[choose])["n_neighbors"]


def spread(hits, rows):
    """Variance of a rate with half a row at either end."""
    rate = (hits + 0.5) / (rows + 1)
    return rate * (1 - rate) / rows


def test_powers_of_the_number_of_rows():
    (X, y), *_ = shifted(300)
    assert (KNN("n^(2/8)").fit(X, y).n_neighbors_, PWK("n^(3/8)").fit(X, y).n_neighbors_) == (4, 8)
    for wrong, message in ((KNN("n^2"), "n_neighbors"), (KNN(choose="best"), "choose")):
        with pytest.raises(tm.InputError, match=message):
            wrong.fit(X, y)
    with pytest.raises(tm.InputError, match="two classes"):
        KNN(choose="x").fit(*load_iris(return_X_y=True))


def test_the_grid_takes_the_best_and_a_number_is_taken_as_it_is():
    (X, y), *_ = shifted(300)
    chosen = PWK(alpha=(1, 3)).fit(X, y)
    assert len(chosen.grid_) == 18
    best = max(line["geometric_mean"] for line in chosen.grid_)
    assert {"n_neighbors": chosen.n_neighbors_, "alpha": chosen.alpha_, "geometric_mean": best} in chosen.grid_
    fixed = PWK(5, alpha=2).fit(X, y)
    assert (fixed.n_neighbors_, fixed.alpha_, fixed.grid_) == (5, 2, [])
    assert {line["n_neighbors"] for line in KNN([3, 9]).fit(X, y).grid_} == {3, 9}


def test_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.choice(150, 300, p=np.array([0.7, 0.2, 0.1])[y] / 50)
    assert PWK().fit(X, y).predict(X[rows]) == pytest.approx(np.bincount(y[rows]) / 300, abs=0.05)


def test_seeds_jobs_and_sparse_rows():
    X, y = make_classification(300, random_state=0)
    one = PWK(alpha=(1, 2)).fit(X, y)
    again = PWK(alpha=(1, 2), n_jobs=2).fit(X, y)
    assert one.grid_ == again.grid_
    assert PWK(5).fit(csr_matrix(X), y).predict(csr_matrix(X)) == pytest.approx(PWK(5).fit(X, y).predict(X), abs=0.02)
    many = one.predict_many(X, np.arange(300).reshape(3, 100))
    assert many[1] == pytest.approx(one.predict(X[100:200]))


@pytest.mark.parametrize("one", [KNN(), PWK()], ids=["KNN", "PWK"])
def test_they_follow_scikit_learns_rules(one):
    assert not broken_rules(one, but=PER_ROW)


def test_wrong_things_are_named():
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    for options, told in (
        ({"cv": 1}, "cv is 1"),
        ({"cv": "five"}, "cv is 'five'"),
        ({"n_neighbors": []}, "empty list"),
        ({"n_neighbors": 8}, "n_neighbors is 8"),
        ({"alpha": ()}, "empty list"),
        ({"alpha": (0.5,)}, "alpha is 0.5"),
    ):
        with pytest.raises(tm.InputError, match=told):
            PWK(**options).fit(X, y)
    with pytest.raises(tm.InputError, match="single row"):
        KNN(1).fit(X, [0] * 7 + [1])
    # The grid leaves out what so few rows cannot give.
    assert {line["n_neighbors"] for line in KNN().fit(X, y).grid_} == {1, 3, 5}
