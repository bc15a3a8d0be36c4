import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, multilabel_confusion_matrix

import tallymark as tm

TRUE = [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4]
PREDICTED = [1, 1, 1, 0, 0, 2, 2, 3, 3, 3, 4, 3, 4, 3]

pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=60)


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(pairs)
def test_agrees_with_scikit_learn(rows):
    y, predicted = map(list, zip(*rows, strict=True))
    c = tm.confusion(y, predicted)
    labels = sorted({*y, *predicted})
    assert c.labels == tuple(labels)
    np.testing.assert_array_equal(c.matrix, confusion_matrix(y, predicted, labels=labels))
    for label, peer in zip(labels, multilabel_confusion_matrix(y, predicted, labels=labels), strict=True):
        np.testing.assert_array_equal(c.one_vs_rest(label).matrix, peer)


@given(pairs)
def test_the_overall_matrix_totals_k_times_n_and_has_as_many_fp_as_fn(rows):
    y, predicted = map(list, zip(*rows, strict=True))
    c = tm.confusion(y, predicted)
    overall = c.overall()
    assert overall.n == len(c.labels) * len(rows)
    assert overall.fp == overall.fn
    assert overall.tp == np.trace(c.matrix)


def test_worked_example_of_the_price_statistics_guidelines():
    # True positives of 4, 7, 2 and 5 in four classes give 18 overall.
    matrix = np.diag([4, 7, 2, 5]) + np.eye(4, k=1, dtype=int)
    c = tm.Confusion(matrix, ("a", "b", "c", "d"))
    assert c.overall().tp == 18


@given(pairs, pairs)
def test_merging_equals_one_pass(first, second):
    def of(rows):
        y, predicted = map(list, zip(*rows, strict=True))
        return tm.confusion(y, predicted)

    merged, whole = of(first).merge(of(second)), of(first + second)
    for label in whole.labels:
        for other in whole.labels:
            i, j = merged.labels.index(label), merged.labels.index(other)
            assert merged.matrix[i, j] == whole.matrix[whole.labels.index(label), whole.labels.index(other)]


def test_counts_stay_integers_and_weights_keep_squares():
    counted = tm.confusion([0, 1, 1], [0, 1, 0], counts=[2**60, 3, 1])
    assert counted.tn == 2**60
    weighted = tm.confusion([0, 1, 1], [0, 1, 1], weights=[0.5, 2.0, 3.0])
    assert weighted.tp == 5.0
    assert weighted.squares[1, 1] == 13.0
    assert weighted.rows_per_cell[1, 1] == 2


def test_the_positive_class_is_asked_for_when_it_is_not_obvious():
    c = tm.confusion(["a", "b"], ["a", "a"])
    with pytest.raises(tm.InputError, match=r"Which of 'a', 'b' is positive\? Say .*pos_label='b'"):
        c.tp
    assert tm.confusion(["a", "b"], ["a", "a"], pos_label="a").tp == 1
    with pytest.raises(tm.InputError, match="need two classes, this matrix has 5"):
        tm.confusion(TRUE, PREDICTED).tp
    with pytest.raises(tm.InputError, match="text on one side, numbers on the other"):
        tm.confusion([0, 1], ["0", "1"])
    with pytest.raises(tm.InputError, match="which is not among the classes"):
        tm.confusion([0, 1], [0, 2], classes=[0, 1])


def test_at_prevalence_known_answer():
    c = tm.Confusion.of_cells(tp=231, fp=32, fn=27, tn=54)
    assert tm.metrics.recall(c) == pytest.approx(0.8953, abs=5e-5)
    assert tm.metrics.specificity(c) == pytest.approx(0.6279, abs=5e-5)
    assert tm.metrics.kappa(c) == pytest.approx(0.5336, abs=5e-5)
    seen = c.at_prevalence(0.25)
    assert tm.metrics.precision(seen) == pytest.approx(0.4451, abs=5e-5)
    assert tm.metrics.npv(seen) == pytest.approx(0.9474, abs=5e-5)


def test_merging_keeps_the_positive_class_either_way():
    one, both = tm.confusion([0, 0], [0, 0]), tm.confusion([0, 1], [0, 1])
    for merged in (one.merge(both), both.merge(one)):
        assert (merged.tp, merged.tn) == (1, 3)
    with pytest.raises(tm.InputError, match="different prevalences"):
        both.merge(both.at_prevalence(0.1))
    with pytest.raises(tm.InputError, match="names a class twice"):
        tm.confusion(["a", "b"], ["a", "b"], classes=["a", "a", "b"])


def test_the_lens_holds_under_averaging():
    c = tm.Confusion.of_cells(tp=231, fp=32, fn=27, tn=54).at_prevalence(0.05)
    tp, fp, fn, tn = c.cells
    positive, negative = 2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)
    assert tm.metrics.f1(c, average="macro") == pytest.approx((positive + negative) / 2)
    assert tm.metrics.f1(c, average="weighted") == pytest.approx(0.05 * positive + 0.95 * negative)
    assert tm.metrics.f1(c, average="micro") == pytest.approx((tp + tn) / (tp + fp + fn + tn))
    with pytest.raises(tm.InputError, match="one class only"):
        tm.Confusion.of_cells(tp=0, fn=0, fp=1, tn=9).at_prevalence(0.5)


def test_bad_cells():
    with pytest.raises(tm.InputError, match="tp is 'a', expected a number"):
        tm.Confusion.of_cells(tp="a", fp=0, fn=0, tn=1)
    for cells in ({"tp": -1, "fp": 0, "fn": 0, "tn": 1}, {"tp": 0, "fp": 0, "fn": 0, "tn": 0}):
        with pytest.raises(tm.InputError, match="expected counts of 0 or more"):
            tm.Confusion.of_cells(**cells)


@pytest.mark.parametrize(
    ("matrix", "labels", "positive"),
    [
        (np.arange(9).reshape(3, 3), ("a", "b", "c"), 1),
        (np.ones((2, 2)), (0, 1), 5),
        (-np.ones((2, 2)), (0, 1), 1),
        (np.full((2, 2), np.nan), (0, 1), None),
    ],
)
def test_what_is_no_matrix_of_counts_is_refused(matrix, labels, positive):
    with pytest.raises(tm.InputError):
        tm.Confusion(matrix, labels, positive)


def test_two_classes_are_a_type_and_the_callers_array_stays_writable():
    cells = np.array([[5, 1], [2, 7]])
    matrix = tm.Confusion(cells, ("no", "yes"), positive=1)
    assert isinstance(matrix, tm.results.BinaryConfusion)
    assert not isinstance(tm.Confusion(cells, ("no", "yes")), tm.results.BinaryConfusion)
    cells[0, 0] = 9
    assert matrix.tn == 5
    assert isinstance(tm.tally([0, 1], [0.1, 0.9]).at(0.5), tm.results.BinaryConfusion)
