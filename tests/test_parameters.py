"""Parameters of metrics, declared once: ranges, symbols, a user's metric with parameters, metrics as threshold policies."""

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.metrics.parameters import adjustable
from tallymark.registry import METRICS, PARAMETERS, POLICIES, CellMetric


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    y = rng.random(300) < 0.3
    return tm.tally(y, rng.normal(1.0 * y))


@pytest.fixture
def powered():
    @tm.extend.metric(
        "powered", needs="cells", range=(0, 1), better="higher", meaning="A power of recall.", parameters={"power": 2.0}
    )
    def powered(tp, fp, fn, tn, power):
        return (tp / (tp + fn)) ** power

    return powered


def test_every_parameter_of_a_metric_is_declared():
    for metric in METRICS.values():
        for name, default in metric.parameters.items():
            assert PARAMETERS[name].low <= default <= PARAMETERS[name].high
            assert PARAMETERS[name].help.endswith(".")
    assert set(PARAMETERS) == {name for metric in METRICS.values() for name in metric.parameters}


def test_parameters_to_adjust_are_those_that_do_not_follow_from_the_threshold():
    assert adjustable() == {"beta": 2.0, "cost_fp": 1.0, "cost_fn": 1.0}


def test_a_users_metric_has_parameters(powered, sample):
    matrix = sample.at(0.5)
    recall = tm.metrics.recall(matrix)
    assert powered(matrix) == pytest.approx(recall**2)
    assert powered(matrix, power=3) == tm.metrics.powered(matrix, power=3) == pytest.approx(recall**3)
    for interval in ("default", "percentile"):
        measure = tm.evaluate(sample, metrics=["powered"], threshold=0.5, power=3, interval=interval)["powered"]
        assert measure.value == pytest.approx(recall**3)
        assert measure.low < measure.value < measure.high
        assert measure.parameters == {"power": 3}
        assert measure.chance == pytest.approx((1 - sample.at(0.5).tn / 300 - sample.at(0.5).fn / 300) ** 3)
    panel = tm.panel([0, 1, 1, 0, 1, 0], {"a": [0.1, 0.4, 0.9, 0.3, 0.8, 0.6], "b": [0.4, 0.5, 0.6, 0.7, 0.2, 0.1]})
    compared = tm.compare(panel, metric="powered", threshold=0.5, power=3)
    assert compared.difference == pytest.approx((2 / 3) ** 3 - (2 / 3) ** 3)
    curve = tm.over_thresholds(sample, ["powered", "recall"], power=3)
    assert curve["powered"] == pytest.approx(curve["recall"] ** 3)
    assert "power" in adjustable()


def test_parameters_that_cannot_be_are_refused(powered, sample):
    with pytest.raises(tm.InputError, match="powered has no parameter 'powr'; it has: power"):
        powered(sample.at(0.5), powr=3)
    with pytest.raises(tm.InputError, match="power is 'x', expected a number"):
        tm.evaluate(sample, metrics=["powered"], power="x")
    options = {"range": (0, 1), "better": "higher", "meaning": "Nothing."}
    for parameters, needs, message in (
        ({"beta": -1.0}, "cells", "beta is -1.0, expected a number from 0 to inf"),
        ({"level": 1.0}, "cells", "'level' cannot be a parameter"),
        ({"a b": 1.0}, "cells", "'a b' cannot be a name"),
        ({"power": 1.0}, "tally", r"parameters= goes with needs='cells'"),
        (["power"], "cells", "expected a dict of names and defaults"),
    ):
        with pytest.raises(tm.InputError, match=message):
            tm.extend.metric("other", needs=needs, parameters=parameters, **options)(lambda tp, fp, fn, tn, **_: tp)
    assert "other" not in METRICS
    flat = tm.extend.metric("flat", needs="tally", **options)(lambda tally: 0.5)
    with pytest.raises(tm.InputError, match="flat has no parameter 'power'; it has: none"):
        flat(sample, power=2)


DIRECTED = [m.name for m in METRICS.values() if isinstance(m, CellMetric) and m.better in {"higher", "lower"}]


@pytest.mark.parametrize("name", [name for name in DIRECTED if name not in {"recall", "precision", "fpr"}])
def test_a_directed_metric_of_the_cells_is_a_threshold_policy(name, sample):
    facts = METRICS[name]
    numbers = ",".join(f"{default:g}" for default in facts.parameters.values())
    chosen = sample.at(f"{name}:{numbers}" if numbers else name)
    cut = sample.cutoffs
    with np.errstate(all="ignore"):
        values = facts.cells(*sample.cells(cut.tp, cut.fp), **facts.parameters)
    best = np.nanmax(values) if facts.better == "higher" else np.nanmin(values)
    assert facts.cells(*chosen.cells, **facts.parameters) == pytest.approx(best, rel=1e-12)
    assert POLICIES[name].judged_by == name
    assert name in POLICIES[name].maximises


def test_policies_of_metrics_are_used_everywhere_and_listed_nowhere(powered, sample):
    assert "jaccard" in POLICIES
    assert "jaccard" not in list(POLICIES)
    assert "powered" in POLICIES
    assert sample.at("csi").threshold == sample.at("jaccard").threshold == sample.at("f1").threshold
    assert sample.at("powered:3").threshold <= min(sample.positive.scores)
    assert sample.at("lr_minus").threshold > -math.inf
    assert tm.evaluate(sample, threshold="expected_cost:1,5").parameters["cost_fn"] == 5
    chosen = tm.intervals.chosen_threshold(sample, "jaccard", replicates=50)
    assert chosen.metric == "jaccard"
    for name in ("auroc", "label_bias", "prevalence", "jacard"):
        assert name not in POLICIES
        with pytest.raises(tm.InputError, match=f"No threshold policy is called '{name}'"):
            sample.at(name)
