"""Lines of equal metric, dominance and histograms: what pictures show, without the pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import probability_sample
from tallymark.curves.isolines import dominated, metric_at_rates, precision_at_f, recall_at_level
from tallymark.registry import METRICS

RATE = st.floats(0.01, 0.99)


@given(RATE, RATE, RATE, st.sampled_from(["accuracy", "f1", "mcc", "balanced_accuracy", "kappa", "error"]))
def test_a_metric_at_rates_is_that_of_a_matrix_with_them(tpr, fpr, prevalence, name):
    up, down = prevalence * 1e6, (1 - prevalence) * 1e6
    matrix = tm.Confusion.of_cells(tp=tpr * up, fp=fpr * down, fn=(1 - tpr) * up, tn=(1 - fpr) * down)
    assert float(metric_at_rates(name, tpr, fpr, prevalence)) == pytest.approx(METRICS[name].compute(matrix), abs=1e-9)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "error"])
def test_the_metric_is_the_level_on_its_line(name):
    seen = 0
    for fpr in np.linspace(0.01, 0.6, 12):
        for level in (0.2, 0.5, 0.8):
            recall = recall_at_level(name, float(fpr), level, 0.3)
            if recall is not None and 0.0 < recall < 1.0:
                seen += 1
                assert float(metric_at_rates(name, recall, fpr, 0.3)) == pytest.approx(level, abs=2e-3)
    assert seen > 3


@given(RATE, RATE, st.floats(0.5, 3.0))
def test_precision_on_a_line_of_equal_f(level, recall, beta):
    precision = float(precision_at_f(level, beta, np.array([recall]))[0])
    if np.isfinite(precision):
        square = beta**2
        assert (1 + square) * precision * recall / (square * precision + recall) == pytest.approx(level)


def test_a_classifier_is_dominated_by_one_that_is_at_least_as_good_on_both_rates():
    rates = {"good": (0.9, 0.1), "same": (0.9, 0.1), "worse": (0.8, 0.1), "other": (0.95, 0.4)}
    assert [name for name in rates if dominated(name, rates)] == ["worse"]


def test_a_metric_of_the_ranking_has_no_lines():
    with pytest.raises(tm.InputError, match="no isolines"):
        metric_at_rates("auroc", 0.5, 0.5, 0.5)


@pytest.mark.parametrize("bins", [1, 7, 40])
def test_histograms_are_those_of_numpy(bins):
    y, p = probability_sample(500, 0.3, seed=1)
    found = tm.score_histogram(tm.tally(y, p), bins=bins)
    for side, label in ((0, "0"), (1, "1")):
        wanted, _ = np.histogram(p[y == side], bins=bins, range=(0.0, 1.0))
        own = found.label == label
        assert found.count[own].tolist() == wanted.tolist()
        assert found.share[own].sum() == pytest.approx(1.0)


def test_curves_are_drawn_as_they_are():
    """A chart of a curve shows that curve's own points."""
    t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    for name in ("roc", "pr", "det", "gain", "cost_curve", "brier_curve", "decision_curve"):
        curve, draw = getattr(tm, name)(t), getattr(tm.charts, name)
        try:
            by_curve, by_tally = draw(curve).to_dict(), draw(t).to_dict()
        except tm.InputError:
            continue
        assert (
            by_curve["layer" if "layer" in by_curve else "data"] == by_tally["layer" if "layer" in by_tally else "data"]
        )
    assert tm.charts.over_thresholds(tm.over_thresholds(t, ["f1"])).to_dict()["title"]["text"].startswith("Metrics")
    assert tm.charts.score_histogram(tm.score_histogram(t, bins=3)).to_dict()["title"]["text"].startswith("Scores")
