"""The interval each metric gets when none is named."""

import math

import numpy as np
import pytest
from hypothesis import given

import tallymark as tm
from samples import labelled_probabilities, probability_sample
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.class_metrics import class_limits
from tallymark.inference.limits.defaults import tally_limits
from tallymark.inference.limits.influence import design_of
from tallymark.inference.resampling.parallel import Resampling
from tallymark.registry import METRICS

_NAMES = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]


@given(labelled_probabilities())
def test_limits_hold_the_value_and_stay_in_range(sample):
    tally = tm.tally(*sample)
    found = tm.evaluate(tally, metrics=_NAMES)
    for name, measure in found.items():
        if measure.low is None or math.isnan(measure.value):
            continue
        facts = METRICS[name]
        assert facts.low - 1e-9 <= measure.low <= measure.value <= measure.high <= facts.high + 1e-9, name
        assert measure.low < measure.high, name
        assert measure.level == 0.95
        assert measure.interval_method


def test_perfect_separation_is_not_certain():
    tally = tm.tally([0] * 8 + [1] * 6, np.concatenate([np.linspace(0.1, 0.3, 8), np.linspace(0.7, 0.9, 6)]))
    found = tally_limits(_NAMES, tally, 0.95, Resampling(100, sampling="stratified"))
    for name in ("auroc", "gini", "average_precision", "ks", "hull_auc", "h_measure", "aucc", "partial_auc"):
        low, high, _ = found[name]
        assert low < high, name
    assert 0.5 < found["auroc"][0] < 0.8
    assert "d_b" not in found  # infinite, so it has no limits


def test_every_metric_of_ordinary_data_has_an_interval_that_narrows_with_rows():
    few, many = (tally_limits(_NAMES, tm.tally(*probability_sample(n, seed=1, decimals=4)), 0.95) for n in (300, 9000))
    assert set(few) == set(many) == set(_NAMES)
    for name in _NAMES:
        if name in {"positive_estimate", "positive_sd"}:
            continue
        assert many[name][1] - many[name][0] < 0.5 * (few[name][1] - few[name][0]), name


def test_a_higher_level_is_wider_and_the_seed_fixes_all():
    tally = tm.tally(*probability_sample(300))
    narrow, wide, again = (tally_limits(_NAMES, tally, level) for level in (0.8, 0.99, 0.8))
    assert narrow == again
    for name in _NAMES:
        assert wide[name][0] <= narrow[name][0] <= narrow[name][1] <= wide[name][1], name


def test_constant_scores_have_no_interval():
    found = tally_limits(["auroc", "ks"], tm.tally([0, 0, 1, 1], [0.5] * 4), 0.95)
    assert "auroc" not in found


def test_one_row_of_a_class_has_no_interval():
    found = tm.evaluate(tm.tally([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.25]))
    assert all(measure.low is None for measure in found.values())
    assert any("collect 9 more" in note.message for note in found.warnings)


def test_a_stated_prevalence_moves_what_depends_on_it():
    tally = tm.tally(*probability_sample(500))
    here, there = (tm.evaluate(tally, prevalence=p) for p in (None, 0.01))
    assert here["auroc"].interval == there["auroc"].interval
    for name in ("average_precision", "spcc", "brier", "precision", "f1"):
        measure = there[name]
        assert measure.low <= measure.value <= measure.high
        assert here[name].interval != measure.interval


def test_weights_have_no_unit():
    y, s = probability_sample(400)
    w = np.random.default_rng(0).exponential(size=400)
    one, other = (tm.evaluate(tm.tally(y, s, weights=k * w), threshold=0.5) for k in (1.0, 1e5))
    for name in ("auroc", "average_precision", "spcc", "f1", "recall", "ks", "h_measure"):
        assert one[name].interval == pytest.approx(other[name].interval, rel=1e-6), name


def test_counts_are_repeated_rows():
    y, s = probability_sample(150)
    c = np.random.default_rng(0).integers(1, 4, 150)
    counted = tm.evaluate(tm.tally(y, s, counts=c), threshold=0.5)
    repeated = tm.evaluate(tm.tally(np.repeat(y, c), np.repeat(s, c)), threshold=0.5)
    for name in ("auroc", "average_precision", "spcc", "f1", "recall", "brier", "ks"):
        assert counted[name].interval == pytest.approx(repeated[name].interval, rel=1e-6), name


def test_plain_sampling_and_uneven_weights_move_the_prevalence_too():
    """The closed form beside the bootstrap, which resamples everything."""
    y, s = probability_sample(300, 0.2, seed=3)
    w = np.random.default_rng(0).exponential(size=300) + 0.05
    names = ["bias", "positive_estimate", "spcc", "brier", "average_precision"]
    for tally, sampling in (
        (tm.tally(y, s), "plain"),
        (tm.tally(y, s, weights=w), "stratified"),
        (tm.tally(y, s, weights=w), "plain"),
    ):
        drawn = tm.intervals.bootstrap(tally, names, sampling=sampling, replicates=2000)
        for name in names:
            spread = inference_of(name).influence(tally).spread(design_of(name, tally, plain=sampling == "plain"))
            if name == "positive_estimate" and sampling == "plain" and tally.weighted:
                continue  # with weights the total is random as well, which the sum of n rows is not asked about
            assert spread.error == pytest.approx(drawn.error(name), rel=0.12), (name, sampling, tally.weighted)


def test_no_overflow_at_high_levels_or_extreme_weights():
    tally = tm.tally([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.5, 0.9])
    found = tm.evaluate(tally, level=0.99999)
    assert found["auroc"].low < 0.02
    y, s = probability_sample(50)
    tm.evaluate(tm.tally(y, s, weights=np.full(50, 1e-140)))
    for scale in (1e300, 1e-305):
        for interval in ("default", "bca"):
            tm.evaluate(tm.tally(y, s * scale), metrics=["auroc", "spcc", "ks"], interval=interval)


def test_many_small_classes_are_not_pulled_down():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(40):
        truth = np.repeat(np.arange(50), 3)
        right = rng.random(150) < 0.7
        answers = np.where(right, truth, rng.integers(0, 50, 150))
        low, high, _ = class_limits(tm.confusion(truth, answers), {"a": ("accuracy", None)}, 0.95, "stratified")["a"]
        held.append(low <= 0.7 + 0.3 / 50 <= high)
    assert np.mean(held) > 0.85


def test_bootstrap_on_request():
    tally = tm.tally(*probability_sample(200))
    for method in ("percentile", "bca"):
        found = tm.evaluate(tally, metrics=["auroc", "f1"], threshold=0.5, interval=method)
        assert found["f1"].interval_method == f"plain bootstrap, {method}"
    assert tm.evaluate(tally, level=None)["auroc"].low is None
    with pytest.raises(tm.InputError, match="labels alone"):
        tm.evaluate(tally.at(0.5), interval="bca")
    perfect = tm.evaluate(tm.tally([0] * 5 + [1] * 5, np.arange(10) / 10), metrics="auroc", interval="bca")["auroc"]
    assert perfect.low < 0.6
    with pytest.raises(tm.InputError, match="level"):
        tm.evaluate(tally, level=95)
    with pytest.raises(tm.InputError, match="Choose one of: default"):
        tm.evaluate(tally, interval="wald")


def test_a_sum_of_probabilities_cannot_exceed_the_rows():
    # One row carries all the spread, so that next to nothing is known.
    t = tm.tally([0, 1] * 30, [0.5] * 59 + [0.51])
    one = tm.evaluate(t, metrics=["positive_estimate"])["positive_estimate"]
    assert 0.0 <= one.low < one.value < one.high <= 60.0


def test_the_top_of_a_list_without_errors_is_not_certain():
    """Partial average precision is 1 while the classes overlap below: it had no limits."""
    y = np.array([0] * 20 + [1] * 20)
    s = np.concatenate([np.arange(20.0), np.arange(10.0) + 0.5, np.arange(10.0) + 30.0])
    found = tm.evaluate(tm.tally(y, s), metrics=["partial_average_precision"])["partial_average_precision"]
    assert found.value == 1.0
    assert 0.3 < found.low < 0.95
