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


def test_a_metric_without_a_definition_for_k_classes():
    with pytest.raises(ValueError, match="recall has no K-class definition"):
        class_values(Margins.of(np.ones((1, 3, 3))), "recall", None)
