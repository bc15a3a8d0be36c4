"""The structured SVM: its argmax, its dual, the hinge loss as a known answer, and the traps of learning to count."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import tallymark as tm
from scikit_learn_rules import broken_rules
from tallymark.learners.cutting_plane import dual_optimum
from tallymark.learners.most_violated import most_violated
from tallymark.learners.structured_svm import _Problem
from tallymark.learners.table_losses import range_maxima, table_loss
from tallymark.registry import LOSSES, METRICS

SVM = tm.learners.StructuredSVM


def uneven(tp, fp, fn, tn):
    """A loss with neither order nor shape, to be searched without help."""
    return np.abs(np.sin(3.0 * tp + 5.0 * fp)) * 0.5 + 0.5 * (fn > fp)


#: Every loss that can be learnt.
OF_COUNTS = [name for name in LOSSES if LOSSES[name].better in {"lower", "higher"}]
OF_TABLES = [
    name
    for name, facts in METRICS.items()
    if facts.cells is not None and facts.better in {"lower", "higher"} and np.isfinite([facts.low, facts.high]).all()
]
EVERY = ["q", *OF_COUNTS, *OF_TABLES, uneven]


def spelled(loss):
    """A name for each case, the same in every process."""
    return loss if isinstance(loss, str) else loss.__name__


def sums(scores):
    return np.concatenate(([0.0], np.cumsum(np.sort(scores)[::-1])))


@pytest.mark.parametrize("loss", EVERY, ids=spelled)
def test_the_argmax_is_that_of_all_labellings(loss):
    rng = np.random.default_rng(0)
    for n, tied in itertools.product((2, 5, 8), (False, True)):
        for positives in range(1, n):
            scores = rng.normal(size=n) * 10.0 ** rng.integers(-3, 2)
            scores = scores.round(1) if tied else scores
            made = table_loss(loss, positives, n - positives, beta=float(rng.choice([0.5, 1.0, 2.0])))
            best = max(
                float(made.at(np.array([sum(y[:positives])]), np.array([sum(y[positives:])]))[0] + np.dot(y, scores))
                for y in itertools.product((0, 1), repeat=n)
            )
            found = most_violated(made, scores[:positives], scores[positives:])
            assert found.value == pytest.approx(best, abs=1e-12)
            reached = scores[:positives][found.hits].sum() + scores[positives:][found.false_alarms].sum()
            assert found.loss + reached == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("loss", ["q", "f1", "geometric_mean", "mcc", "accuracy", "nkld", uneven], ids=spelled)
def test_the_argmax_is_that_of_all_tables(loss):
    rng = np.random.default_rng(1)
    for scale in (0.0, 1e-4, 1e-3, 1e-2, 1.0):
        P, N = (int(rng.integers(100, 300)) for _ in range(2))
        positive, negative = rng.normal(0.5, 1, P) * scale, rng.normal(0, 1, N) * scale
        made = table_loss(loss, P, N)
        a, b = (grid.ravel() for grid in np.meshgrid(np.arange(P + 1), np.arange(N + 1), indexing="ij"))
        best = (made.at(a, b) + sums(positive)[a] + sums(negative)[b]).max()
        assert most_violated(made, positive, negative).value == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in OF_TABLES if not METRICS[name].errors_cancel])
def test_mending_an_error_never_makes_a_metric_worse(name):
    # What the search goes by for every metric of ours with a direction.
    P, N = 9, 13
    a, b = np.meshgrid(np.arange(P + 1), np.arange(N + 1), indexing="ij")
    values = table_loss(name, P, N).at(a, b)
    assert (np.diff(values, axis=0) <= 1e-12).all()
    assert (np.diff(values, axis=1) >= -1e-12).all()
    assert ((values >= -1e-12) & (values <= 1 + 1e-12)).all()


@pytest.mark.parametrize("name", [name for name in OF_TABLES if METRICS[name].errors_cancel])
def test_mending_an_error_can_make_a_metric_worse_whose_errors_cancel(name):
    a, b = np.meshgrid(np.arange(10), np.arange(14), indexing="ij")
    values = table_loss(name, 9, 13, beta=2.0).at(a, b)
    assert (np.diff(values, axis=0) > 0.01).any()


@pytest.mark.parametrize("loss", EVERY, ids=spelled)
def test_blocks_are_bounded(loss):
    P, N = 37, 70
    made = table_loss(loss, P, N, beta=0.7)
    a, b = np.meshgrid(np.arange(P + 1), np.arange(N + 1), indexing="ij")
    values = made.at(a, b)
    for size in (4, 16, 64):
        for low_a, low_b in itertools.product(range(0, P + 1, size), range(0, N + 1, size)):
            high_a, high_b = min(low_a + size - 1, P), min(low_b + size - 1, N)
            limit = made.at_most(*(np.array([x]) for x in (low_a, high_a, low_b, high_b)))[0]
            assert limit >= values[low_a : high_a + 1, low_b : high_b + 1].max() - 1e-12


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=40), st.data())
def test_maxima_of_ranges(values, data):
    low = data.draw(st.integers(0, len(values) - 1))
    high = data.draw(st.integers(low, len(values) - 1))
    assert range_maxima(np.array(values, dtype=float), np.array([low]), np.array([high]))[0] == max(
        values[low : high + 1]
    )


def test_the_q_measure_is_the_librarys():
    made = table_loss("q", 10, 90, beta=2.0)
    for a, b in itertools.product(range(0, 11, 2), range(0, 91, 9)):
        q = tm.quantify.losses.q_measure(a / 10, max(tm.quantify.losses.nas(0.1, (a + b) / 100), 0.0))
        assert 1.0 - made.at(np.array([a]), np.array([b]))[0] == pytest.approx(q, abs=1e-12)
    # All positives missed and as many negatives taken: the count is right and the classifier useless.
    assert table_loss("q", 10, 90).at(np.array([0]), np.array([10]))[0] == 1.0
    assert table_loss("nas", 10, 90).at(np.array([0]), np.array([10]))[0] == pytest.approx(0.0, abs=1e-12)


def test_the_dual_is_that_of_a_general_solver():
    rng = np.random.default_rng(0)
    for planes in (2, 5, 12):
        slopes = rng.normal(size=(planes, 4))
        slopes[0], heights = 0.0, np.append(0.0, rng.random(planes - 1))
        products, C = slopes @ slopes.T, 3.0
        ours = dual_optimum(products, heights, C, np.eye(planes)[0] * C)

        def value(w, products=products, heights=heights):
            return 0.5 * w @ products @ w - heights @ w

        peer = minimize(value, np.full(planes, C / planes), bounds=[(0, None)] * planes, method="SLSQP",
                        constraints={"type": "eq", "fun": lambda w, C=C: w.sum() - C}, options={"ftol": 1e-14})  # fmt: skip
        assert ours.min() >= 0.0
        assert ours.sum() == pytest.approx(C)
        assert value(ours) <= peer.fun + 1e-9


def overlapping(n=600, seed=0, positives=0.2, attributes=5):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < positives * n).astype(int)
    return rng.normal(size=(n, attributes)) + 0.8 * y[:, None], y


@pytest.mark.parametrize("C", [1.0, 10.0, 100.0])
def test_the_accuracy_loss_is_the_hinge_svm(C):
    X, y = overlapping()
    ours = SVM("accuracy", C=C, tol=1e-5, max_iter=5000).fit(X, y)
    peer = LinearSVC(loss="hinge", C=C / len(y), tol=1e-8, max_iter=1_000_000).fit(X, y)

    def objective(coef, intercept):
        margins = (2 * y - 1) * (X @ coef + intercept)
        return 0.5 * (coef @ coef + intercept**2) + C * np.maximum(1 - margins, 0).mean()

    best = objective(peer.coef_[0], peer.intercept_[0])
    assert objective(ours.coef_[0], ours.intercept_[0]) - best <= 2e-5 * C
    assert (ours.predict(X) == peer.predict(X)).mean() > 0.99


@pytest.mark.parametrize("loss", ["q", "f1", "geometric_mean", "nas", "kld", "balanced_accuracy"])
def test_the_gap_is_true_and_the_order_of_rows_changes_nothing(loss):
    X, y = overlapping(200)
    fitted = SVM(loss, C=500.0).fit(X, y)
    assert fitted.converged_
    assert 0.0 <= fitted.gap_ <= 1e-3
    shuffle = np.random.default_rng(0).permutation(len(y))
    again = SVM(loss, C=500.0).fit(X[shuffle], y[shuffle])
    problem = _Problem(X, y == 1, 1.0, table_loss(loss, int(y.sum()), int((1 - y).sum())))

    def objective(model):
        w = np.append(model.coef_[0], model.intercept_[0])
        slope, height = problem.plane(w)
        return 0.5 * w @ w + 500.0 * max(height - w @ slope, 0.0)

    one, other = objective(fitted), objective(again)
    assert abs(one - other) <= 500.0 * max(fitted.gap_, again.gap_) + 1e-9
    # No nearby hyperplane is better than the gap allows.
    rng = np.random.default_rng(1)
    w = np.append(fitted.coef_[0], fitted.intercept_[0])
    for step in (1e-3, 1e-2, 1e-1):
        moved = w + step * rng.normal(size=len(w))
        slope, height = problem.plane(moved)
        assert 0.5 * moved @ moved + 500.0 * max(height - moved @ slope, 0.0) >= one - 500.0 * fitted.gap_ - 1e-9


def test_iris_the_useful_quantifier_is_found():
    # Figure 6.1: a hyperplane that calls every virginica something else can count them right, and be useless.
    X, y = load_iris(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), (y == 2).astype(int)
    pointless = tm.confusion(y, np.where(y == 1, 0, np.cumsum(1 - y) <= 50).astype(int))
    share = (pointless.tp + pointless.fp) / 150
    nas = tm.quantify.losses.nas(y.mean(), share)
    assert (nas, tm.metrics.recall(pointless), tm.quantify.losses.q_measure(0.0, nas)) == (1.0, 0.0, 0.0)
    for loss in ("q", "nas"):
        told = tm.confusion(y, SVM(loss, C=10_000.0).fit(X, y).predict(X))
        assert tm.metrics.recall(told) > 0.9
        assert abs(told.tp + told.fp - 50) <= 3


def test_sparse_rows_warm_starts_and_progress():
    X, y = overlapping(300)
    seen = []
    dense = SVM(C=200.0, progress=seen.append).fit(X, y)
    assert SVM(C=200.0).fit(csr_matrix(X), y).decision_function(X) == pytest.approx(
        dense.decision_function(X), abs=1e-6
    )
    assert seen
    assert 0.0 <= min(seen) <= max(seen) <= 100.0
    warm = SVM(C=200.0, warm_start=True).fit(X, y)
    steps = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= steps
    assert warm.predict(X).tolist() == dense.predict(X).tolist()


def test_it_counts_alone_and_under_corrections():
    X, y = overlapping(2000, positives=0.3)
    new, truth = overlapping(2000, seed=1, positives=0.6)
    counted = {q.__name__: q(SVM(C=100.0), cv=5).fit(X, y).predict(new)[1] for q in (tm.quantify.CC, tm.quantify.AC, tm.quantify.Max, tm.quantify.MS)}  # fmt: skip
    assert abs(counted["CC"] - truth.mean()) < 0.25
    for name in ("AC", "Max", "MS"):
        assert counted[name] == pytest.approx(truth.mean(), abs=0.06)


def test_it_follows_scikit_learns_rules():
    assert not broken_rules(SVM(C=10.0))


def test_doubts_are_said():
    X, y = overlapping(200)
    with pytest.warns(tm.GuardWarning, match="TM115.*stopped after 4 steps"):
        assert not SVM("accuracy", max_iter=4).fit(X, y).converged_


def test_a_useful_hyperplane_is_kept_where_the_optimum_is_none():
    # Classes that overlap this much: the bound of Q is lowest at w = 0 whatever C, and predicting nothing counts nothing.
    rng = np.random.default_rng(0)
    y = (np.arange(600) < 130).astype(int)
    X = rng.normal(size=(600, 4)) + 0.35 * y[:, None]
    for C in (100.0, 1e5):
        with pytest.warns(tm.GuardWarning, match="lowest training loss"):
            fitted = SVM("q", C=C).fit(X, y)
        assert not fitted.converged_
        assert fitted.gap_ > 0.0
        told = tm.confusion(y, fitted.predict(X))
        assert abs(told.tp + told.fp - 130) < 130
        assert tm.metrics.recall(told) > 0.25


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss": "accuracies"}, "Did you mean 'accuracy'"),
        ({"loss": "bias"}, "neither better high nor low"),
        ({"loss": "auroc"}, "auroc cannot be learnt"),
        ({"loss": "lr_plus"}, "lr_plus cannot be learnt"),
        ({"loss": lambda tp, fp, fn, tn: tp}, "from 0 to 1"),
        ({"loss": lambda tp, fp, fn, tn: "no"}, "one number for each"),
        ({"beta": -1.0}, "beta is -1.0"),
        ({"classification": "brier"}, "brier cannot be learnt"),
        ({"quantification": "bias"}, "neither better high nor low"),
        ({"C": 0.0}, "C is 0.0"),
        ({"tol": -1.0}, "tol is -1.0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"intercept_scaling": -1.0}, "intercept_scaling is -1.0"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_wrong_things_are_named(options, told):
    X, y = overlapping(50)
    with pytest.raises(tm.InputError, match=told):
        SVM(**options).fit(X, y)


def test_one_class_and_three_are_refused():
    X, _ = overlapping(50)
    for labels in (np.zeros(50), np.arange(50) % 3):
        with pytest.raises(tm.InputError, match="Only binary classification is supported"):
            SVM().fit(X, labels)


def test_a_metric_of_ones_own_can_be_learnt():
    @tm.extend.metric("hits_cubed", needs="cells", range=(0, 1), better="higher", meaning="Recall, harshly.")
    def hits_cubed(tp, fp, fn, tn):
        return (tp / (tp + fn)) ** 3

    X, y = overlapping(100)
    assert tm.metrics.recall(tm.confusion(y, SVM("hits_cubed").fit(X, y).predict(X))) >= 0.9


@pytest.mark.parametrize("sizes", [(1, 1), (1, 5), (5, 1)])
def test_the_smallest_samples(sizes):
    X = np.arange(sum(sizes), dtype=float)[:, None]
    y = np.repeat([0, 1], sizes)
    assert (SVM("accuracy", C=1e4).fit(X - X.mean(), y).predict(X - X.mean()) == y).all()
