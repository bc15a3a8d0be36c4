"""Metrics of many K-class matrices at once against those of one matrix, and against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics as peer

import tallymark as tm
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.metrics.margins import Margins, class_values
from tallymark.registry import METRICS

rng = np.random.default_rng(5)
TRUTH = [rng.integers(0, 4, 90) for _ in range(6)]
PREDICTED = [np.where(rng.random(90) < 0.6, y, rng.integers(0, 4, 90)) for y in TRUTH]


@pytest.mark.parametrize("name", CLASS_METRICS)
def test_many_matrices_are_as_one_by_one(name):
    metric = CLASS_METRICS[name]
    tables = np.stack([tm.confusion(y, p).matrix for y, p in zip(TRUTH, PREDICTED, strict=True)])
    average = {} if metric.average is None else {"average": metric.average}
    alone = [
        METRICS[metric.metric].compute(tm.confusion(y, p), **average) for y, p in zip(TRUTH, PREDICTED, strict=True)
    ]
    assert class_values(Margins.of(tables), metric.metric, metric.average) == pytest.approx(np.array(alone))


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_averages_are_those_of_scikit_learn(average):
    y, p = TRUTH[0], PREDICTED[0]
    table = Margins.of(tm.confusion(y, p).matrix[None])
    for name, theirs in (("precision", peer.precision_score), ("recall", peer.recall_score), ("f1", peer.f1_score)):
        assert class_values(table, name, average)[0] == pytest.approx(theirs(y, p, average=average))


@pytest.mark.parametrize("name", [name for name, one in CLASS_METRICS.items() if one.average])
def test_averages_over_some_classes_are_those_of_one_matrix(name):
    metric, kept = CLASS_METRICS[name], [0, 2]
    matrix = tm.confusion(TRUTH[0], PREDICTED[0])
    alone = METRICS[metric.metric].compute(matrix, average=metric.average, classes=kept)
    assert class_values(Margins.of(matrix.matrix[None]), metric.metric, metric.average, kept)[0] == pytest.approx(alone)
    assert getattr(tm.metrics, name)(matrix, classes=kept) == pytest.approx(alone)
    evaluation = tm.evaluate(matrix, metrics=[name], classes=kept)
    assert evaluation[name].value == pytest.approx(alone)
    assert evaluation[name].low < alone < evaluation[name].high
    assert evaluation.averaged_over == (0, 2)


def test_f_of_weighted_means_is_the_f_of_scikit_learns_weighted_precision_and_recall():
    y, p = TRUTH[0], PREDICTED[0]
    matrix = tm.confusion(y, p)
    precision, recall = (f(y, p, average="weighted") for f in (peer.precision_score, peer.recall_score))
    assert tm.metrics.f1_of_weighted_means(matrix) == pytest.approx(2 * precision * recall / (precision + recall))
    beta = tm.metrics.fbeta(matrix, average="f_of_weighted_means", beta=0.5)
    assert beta == pytest.approx(1.25 * precision * recall / (0.25 * precision + recall))
    assert tm.metrics.f1_of_weighted_means(matrix) != pytest.approx(tm.metrics.f1_weighted(matrix), abs=1e-4)
    # With classes of one size it is the F of macro means.
    equal = dict.fromkeys(range(4), 1.0)
    assert tm.metrics.f1_of_weighted_means(matrix, weights=equal) == pytest.approx(tm.metrics.f1_of_macro_means(matrix))


def test_classes_are_refused_where_nothing_is_averaged():
    matrix = tm.confusion(TRUTH[0], PREDICTED[0])
    with pytest.raises(tm.InputError, match="none is among these metrics"):
        tm.evaluate(matrix, metrics=["accuracy"], classes=[0, 1])
    with pytest.raises(tm.InputError, match="needs predicted classes"):
        tm.evaluate(tm.tally([0, 1, 1, 0], [0.1, 0.4, 0.8, 0.6]), classes=[0, 1])
    with pytest.raises(tm.InputError, match="9"):
        tm.evaluate(matrix, classes=[0, 9])


def test_a_metric_without_a_definition_for_k_classes():
    with pytest.raises(ValueError, match="recall has no K-class definition"):
        class_values(Margins.of(np.ones((1, 3, 3))), "recall", None)
