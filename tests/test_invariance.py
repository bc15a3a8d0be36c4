"""What every declared number must not depend on: the unit of the weights, the order of the rows, and how rows were split.

Sums of weights round differently in each of these, so a number that compares two of them exactly moves.
"""

import functools
import math
import os
import warnings

import numpy as np
import pytest

import tallymark as tm
from tallymark.registry import METRICS, POLICIES, QUANTIFIERS

pytestmark = pytest.mark.slow

OF_TALLY = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]
OF_CELLS = [name for name in METRICS if METRICS[name].needs == "confusion"]
OF_CLASSES = [name for name in METRICS if METRICS[name].needs in {"moments", "multiclass"}]

#: How many samples of each shape are tried; more of them look for further offenders.
SAMPLES = int(os.environ.get("TALLYMARK_INVARIANCE_SAMPLES", "1"))
FACTORS = (0.1, 3.7, 1e6, 1 / 3)
TOLERANCE = 1e-9


def _overlapping(rng):
    return np.arange(24) % 2, rng.integers(1, 20, 24) / 20


def _tied(rng):
    return np.arange(20) % 2, rng.integers(1, 5, 20) / 5


def _separated(rng):
    return np.repeat([0, 1], 10), np.concatenate((rng.integers(1, 10, 10), rng.integers(11, 20, 10))) / 20


def _upside_down(rng):
    return np.repeat([1, 0], 10), np.concatenate((rng.integers(1, 10, 10), rng.integers(11, 20, 10))) / 20


def _useless(rng):
    """Each score as often in either class."""
    return np.tile([0, 1], 10), np.repeat(rng.integers(1, 5, 10), 2) / 5


def _many(rng):
    return np.arange(70) % 2, np.round(np.clip(rng.normal(0.4 + 0.2 * (np.arange(70) % 2), 0.2), 0.01, 0.99), 2)


def _constant(rng):
    return np.arange(12) % 2, np.full(12, 0.3)


SHAPES = {
    shape.__name__.strip("_"): shape
    for shape in (_overlapping, _tied, _separated, _upside_down, _useless, _many, _constant)
}
#: Weights of which sums tie in exact arithmetic and, in floats, only up to rounding.
WEIGHTS = {
    "decimal": lambda rng, y, s: rng.integers(1, 10, len(y)) / 10,
    "by score": lambda rng, y, s: (1 + (s * 20).astype(int) % 7 + rng.integers(1, 4)) / 10,
    "equal": lambda rng, y, s: np.full(len(y), 0.7),
}
CASES = [
    pytest.param(shape, weights, seed, id=f"{shape}-{weights}-{seed}")
    for shape in SHAPES
    for weights in WEIGHTS
    for seed in range(SAMPLES)
]


def made(shape, weights, seed):
    rng = np.random.default_rng([seed, *shape.encode()])
    y, s = SHAPES[shape](rng)
    return y, s, WEIGHTS[weights](rng, y, s)


def variants(y, s, w, build):
    """The same sample told in other ways: (name, factor of its mass, summary)."""
    for factor in FACTORS:
        yield f"weights times {factor:g}", factor, build(y, s, w * factor)
    order = np.random.default_rng(0).permutation(len(y))
    yield "permuted rows", 1.0, build(y[order], s[order], w[order])
    parts = np.array_split(order, 3)
    if all(len(np.unique(y[rows])) == len(np.unique(y)) for rows in parts):
        yield "merged parts", 1.0, functools.reduce(lambda a, b: a.merge(b), (build(y[r], s[r], w[r]) for r in parts))


def numbers_of(ask):
    """Numbers, or the reason why there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ask()
        except tm.Undefined as error:
            return error.reason
        except tm.InputError as error:
            return str(error)


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return all(
        a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b))
        for a, b in zip(one, other, strict=True)
    )


def moved(y, s, w, build, ask, *, extensive=False):
    """The variants that give other numbers than the sample itself; what is `extensive` grows with the weights."""
    own = numbers_of(lambda: ask(build(y, s, w)))
    found = {}
    for name, factor, summary in variants(y, s, w, build):
        other = numbers_of(functools.partial(ask, summary))
        unit = factor if extensive and not isinstance(other, str) else 1.0
        other = other if isinstance(other, str) or unit == 1.0 else tuple(value / unit for value in other)
        if not same(own, other):
            found[name] = (own, other)
    return found


def binary(y, s, w):
    return tm.tally(y, s, weights=w)


def cut(name, summary, threshold):
    return summary.at(threshold) if METRICS[name].needs == "confusion" else summary


def value_and_range(name, summary):
    value = METRICS[name].compute(summary)
    assert math.isnan(value) or METRICS[name].low <= value <= METRICS[name].high, (name, value)
    return (value,)


@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize(("shape", "weights", "seed"), CASES)
def test_metrics(shape, weights, seed, prevalence):
    sample = made(shape, weights, seed)
    thresholds = [float(np.median(sample[1])), 0.01]
    apart = {}
    for name in (*OF_TALLY, *OF_CELLS):
        for threshold in thresholds if name in OF_CELLS else thresholds[:1]:

            def ask(tally, name=name, threshold=threshold):
                return value_and_range(name, cut(name, tally.at_prevalence(prevalence), threshold))

            if found := moved(*sample, binary, ask, extensive=METRICS[name].extensive or name == "positive_sd"):
                apart[name] = found
    assert not apart


@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize(("shape", "weights", "seed"), CASES)
def test_policies(shape, weights, seed, prevalence):
    sample = made(shape, weights, seed)
    apart = {}
    for name, policy in POLICIES.items():
        for text in {policy.example or name, name if len(policy.defaults) == len(policy.arguments) else policy.example}:

            def ask(tally, text=text):
                return (tally.at_prevalence(prevalence).threshold_for(text),)

            if found := moved(*sample, binary, ask):
                apart[text] = found
    assert not apart


@pytest.mark.parametrize(("shape", "weights", "seed"), CASES)
def test_quantifiers(shape, weights, seed):
    y, s, w = made(shape, weights, seed)
    target = tm.tally(
        scores=np.array([0.1, 0.3, 0.3, 0.55, 0.7, 0.9]), weights=np.array([0.1, 0.7, 0.3, 0.3, 0.2, 0.1])
    )
    heavier = tm.tally(scores=target.runs[0].scores, weights=target.runs[0].weights * 3.7)
    apart = {}
    for name, method in QUANTIFIERS.items():
        thresholds = (0.01, 0.4, "max", "x") if "threshold" in method.options else (None,)
        for threshold in thresholds:
            for place in (target, heavier):

                def ask(tally, name=name, threshold=threshold, place=place):
                    answer = tm.quantify.estimate(name, tally, place, threshold=threshold, level=None)
                    assert math.isnan(answer.prevalence) or 0.0 <= answer.prevalence <= 1.0
                    return answer.reason or (answer.prevalence,)

                if found := moved(y, s, w, binary, ask):
                    apart[name, threshold] = found
    assert not apart


def limits_of(evaluation):
    items = []
    for measure in evaluation.measures:
        items += [
            measure.value,
            math.nan if measure.low is None else measure.low,
            math.nan if measure.high is None else measure.high,
        ]
    return tuple(items)


@pytest.mark.parametrize(("shape", "weights", "seed"), CASES[:: 1 if SAMPLES > 1 else 7])
def test_intervals(shape, weights, seed):
    sample = made(shape, weights, seed)
    names = [name for name in (*OF_TALLY, *OF_CELLS) if not METRICS[name].extensive and name != "positive_sd"]
    apart = {}
    for name in names:

        def ask(tally, name=name):
            one = tm.evaluate(tally, metrics=name, threshold=0.4)[name]
            return one.reason or tuple(math.nan if x is None else x for x in (one.value, one.low, one.high))

        if found := moved(*sample, binary, ask):
            apart[name] = found
    assert not apart


def classes(y, s, w):
    """Three classes: the third takes every third row of either, and each class's score is a column."""
    codes = np.where(np.round(s * 100).astype(int) % 3 == 0, 2, y)
    scores = np.column_stack((1.0 - s, s, np.full(len(s), 0.4)))
    return tm.class_scores(codes, scores / scores.sum(axis=1, keepdims=True), classes=range(3), weights=w)


@pytest.mark.parametrize(("shape", "weights", "seed"), CASES)
def test_metrics_of_classes(shape, weights, seed):
    sample = made(shape, weights, seed)
    apart = {}
    for name in OF_CLASSES:

        def ask(scores, name=name):
            return value_and_range(name, scores.moments if METRICS[name].needs == "moments" else scores)

        if found := moved(*sample, classes, ask):
            apart[name] = found
    assert not apart


def panel_of_classes(y, s, w):
    codes = np.where(np.round(s * 100).astype(int) % 3 == 0, 2, y)
    scores = np.column_stack((1.0 - s, s, 0.2 + s * (1.0 - s)))
    return tm.class_panel(codes, scores / scores.sum(axis=1, keepdims=True), classes=range(3), weights=w)


@pytest.mark.parametrize(("shape", "weights", "seed"), CASES[:: 1 if SAMPLES > 1 else 4])
def test_quantifiers_of_classes(shape, weights, seed):
    sample = made(shape, weights, seed)
    s = np.linspace(0.05, 0.95, 9)
    scores = np.column_stack((1.0 - s, s, 0.2 + s * (1.0 - s)))
    target = tm.class_panel(scores=scores / scores.sum(axis=1, keepdims=True), classes=range(3))
    apart = {}
    for name in (
        tm.quantify.class_methods()
        if hasattr(tm.quantify, "class_methods")
        else ("ac", "pacc", "hdy", "dys", "energy", "em", "kde", "bayes")
    ):

        def ask(panel, name=name):
            return tuple(
                one.prevalence for one in tm.quantify.estimate(name, panel, target, level=None).entries.values()
            )

        if found := moved(*sample, panel_of_classes, ask):
            apart[name] = found
    assert not apart


@pytest.mark.parametrize(("shape", "weights", "seed"), CASES[:: 1 if SAMPLES > 1 else 7])
def test_limits_of_counts(shape, weights, seed):
    sample = made(shape, weights, seed)
    target = tm.tally(scores=np.linspace(0.05, 0.95, 9), weights=np.arange(1, 10) / 10)
    apart = {}
    for name, method in QUANTIFIERS.items():

        def ask(tally, name=name, cuts="threshold" in method.options):
            answer = tm.quantify.estimate(name, tally, target, threshold=0.4 if cuts else None, replicates=100)
            return answer.reason or (answer.low, answer.high)

        if found := moved(*sample, binary, ask):
            apart[name] = found
    for name in ("ac", "cc", "calibration", "bayes"):

        def ask(tally, name=name):
            answer = tm.audits.from_counts(tally.at(0.4), predicted_positive=30, n=100, method=name)
            return answer.reason or (answer.prevalence, answer.low, answer.high)

        if found := moved(*sample, binary, ask):
            apart["from_counts", name] = found
    assert not apart


def models(y, s, w):
    """Two models that call the same rows positive at 0.4, in another order of scores: all that weights add up to is equal."""
    return tm.panel(y, {"a": s, "b": np.where(s >= 0.4, 1.4 - s, 0.4 - s)}, weights=w)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_models_that_call_the_same_rows_do_not_differ(weights):
    y, s, w = made("many", weights, 0)
    for factor in (1.0, *FACTORS):
        for method in (None, "bootstrap"):
            pair = tm.compare(models(y, s, w * factor), metric="accuracy", threshold=0.4, method=method).pairs[0]
            assert abs(pair.difference) < 1e-12
            assert pair.p_value == 1.0
            assert pair.low < -0.01 < 0.01 < pair.high


def test_sweep_leaves_out_thresholds_of_equal_rates():
    y, s, w = [0, 1, 0, 1, 1], [0.2, 0.2, 0.4, 0.6, 0.8], np.array([0.4, 0.4, 0.9, 0.2, 0.7])
    target = tm.tally(scores=[0.1, 0.3, 0.5, 0.7, 0.9])
    for factor in (1.0, 10.0, *FACTORS):
        found = tm.quantify.estimate("sweep", tm.tally(y, s, weights=w * factor), target, level=None)
        assert found.prevalence == pytest.approx(0.4746031746)


def test_policies_take_the_lowest_of_equals_at_a_stated_prevalence():
    tally = tm.tally([1, 0] * 6, [2, 2] * 5 + [1, 1])
    for prevalence in (0.01, 0.1, 0.3, 0.7):
        for policy in ("kappa", "youden", "ba"):
            assert tally.at_prevalence(prevalence).at(policy).threshold == 1.0


def test_weighted_classes_that_do_not_overlap():
    y = np.repeat([0, 1], 12)
    p = np.concatenate((np.linspace(0.05, 0.4, 12), np.linspace(0.6, 0.95, 12)))
    tally = tm.tally(y, p, weights=1 + 0.01 * np.random.default_rng(1).random(24))
    names = ["auroc", "gini", "calibration_slope", "precision_at_k", "partial_average_precision"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = tm.evaluate(tally, metrics=names)
    assert (found["auroc"].value, found["gini"].value, found["auroc"].high) == (1.0, 1.0, 1.0)
    assert (found["calibration_slope"].value, found["calibration_slope"].low) == (math.inf, None)
    assert found["precision_at_k"].interval == (0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = tm.evaluate(tm.tally(y, p), metrics=names)
    assert found["partial_average_precision"].interval == pytest.approx(
        plain["partial_average_precision"].interval, abs=0.002
    )
