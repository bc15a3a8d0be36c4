"""Every value that `evaluate` gives has an interval around it, or says why it has none."""

import math
import warnings

import numpy as np
import pytest

import tallymark as tm
from tallymark.registry import METRICS

#: Positives and negatives.
SIZES = ((1, 6), (2, 2), (3, 40), (30, 2), (30, 30))


def _scores(kind, y, rng):
    n = len(y)
    return {
        "overlapping": lambda: rng.normal(size=n) + y,
        "perfect": lambda: y + rng.random(n) / 2,
        "inverted": lambda: rng.random(n) / 2 - y,
        "constant": lambda: np.full(n, 0.3),
        "probabilities": lambda: 0.6 * rng.random(n) + 0.3 * y,
        "right and certain": lambda: y.astype(float),
        "two values": lambda: rng.choice([0.2, 0.7], n),
    }[kind]()


KINDS = ("overlapping", "perfect", "inverted", "constant", "probabilities", "right and certain", "two values")


def _evaluations(summary, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tm.evaluate(summary, **options)


def lacking(evaluation):
    """Measures with neither an interval that holds the value nor a reason."""
    parts = {"": evaluation, **evaluation.per_class}
    return {f"{part} {name}": repr(m) for part, ms in parts.items() for name, m in ms.items() if not _complete(m)}


def _complete(measure):
    if math.isnan(measure.value):
        return bool(measure.reason) and measure.interval is None and measure.no_interval is None
    if measure.interval is None:
        return bool(measure.no_interval) and measure.reason is None
    if measure.no_interval is not None:
        return False
    # An infinite value has an infinite upper limit; no other interval is a single number.
    return measure.low <= measure.value <= measure.high and measure.low < measure.high


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("positives", "negatives"), SIZES)
def test_of_tallies(positives, negatives, kind):
    rng = np.random.default_rng([positives, negatives])
    y = np.repeat([1, 0], [positives, negatives])
    scores = _scores(kind, y, rng)
    columns = {
        "rows": {},
        "weights": {"weights": rng.exponential(size=len(y)) + 0.1},
        "clusters": {"clusters": np.arange(len(y)) % max(len(y) // 4, 2)},
    }
    options = {
        "rows": ({"threshold": "youden"}, {"prevalence": 0.2}, {"sampling": "stratified"}),
        "weights": ({},),
        "clusters": ({}, {"threshold": "youden"}),
    }
    for name, column in columns.items():
        for option in options[name]:
            evaluation = _evaluations(tm.tally(y, scores, **column), **option)
            assert set(evaluation) == {
                m for m in METRICS if METRICS[m].needs in {"tally", "probabilities", "confusion"}
            }
            assert not lacking(evaluation), (name, option)


@pytest.mark.parametrize("name", ["lift_at_k", "precision_at_k", "recall_at_k"])
@pytest.mark.parametrize("column", [{}, {"clusters": np.arange(40) % 10}, {"weights": np.linspace(0.5, 2.0, 40)}])
def test_shares_of_the_top_rows_have_limits_at_the_ends_of_their_range(name, column):
    y, s = np.repeat([0, 1], 20), np.concatenate((np.arange(20) + 12, np.arange(20)))
    none, all_of_them = (_evaluations(tm.tally(y, sign * s, **column), metrics=name)[name] for sign in (1, -1))
    assert none.value == 0.0 == none.low < none.high
    assert all_of_them.low < all_of_them.value <= all_of_them.high


def test_scores_that_are_right_and_certain_may_be_wrong_elsewhere():
    index = _evaluations(tm.tally([0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0]))["integrated_calibration_index"]
    assert index.interval == (0.0, pytest.approx(1 - 0.025 ** (1 / 4)))


def test_weights_of_a_class_against_the_rest_do_not_round_below_zero():
    rng = np.random.default_rng(0)
    for _ in range(50):
        codes = np.repeat([0, 1, 2], 20)
        matrix = tm.confusion(codes, np.zeros(60, int), classes=[0, 1, 2], weights=rng.exponential(size=60) + 0.1)
        assert all((matrix.one_vs_rest(label).matrix >= 0).all() for label in matrix.labels)


def test_bootstrap_limits_hold_the_value_or_a_reason_is_given():
    for kind in KINDS:
        y = np.repeat([1, 0], [3, 12])
        tally = tm.tally(y, _scores(kind, y, np.random.default_rng(0)))
        for measure in _evaluations(tally, interval="percentile").values():
            assert measure.reason or measure.no_interval or measure.low <= measure.value <= measure.high, measure


@pytest.mark.parametrize("sampling", ["plain", "stratified"])
def test_of_matrices(sampling):
    for cells in np.ndindex(3, 3, 3, 3):
        tp, fp, fn, tn = (np.array([0, 1, 20])[list(cells)]).tolist()
        if tp + fp + fn + tn:
            matrix = tm.Confusion.of_cells(tp=tp, fp=fp, fn=fn, tn=tn)
            assert not lacking(_evaluations(matrix, sampling=sampling)), (tp, fp, fn, tn)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 2, 2), (3, 1, 20), (3, 2, 20), (20, 20, 20)])
@pytest.mark.parametrize("kind", ["overlapping", "perfect", "inverted", "constant"])
def test_of_classes(sizes, kind):
    rng = np.random.default_rng(sizes)
    codes = np.repeat(np.arange(3), sizes)
    sign = {"overlapping": 1.0, "perfect": 8.0, "inverted": -8.0, "constant": 0.0}[kind]
    odds = np.exp(sign * np.eye(3)[codes] + (rng.normal(size=(len(codes), 3)) if sign else 0.0))
    scores, y = odds / odds.sum(axis=1, keepdims=True), np.array(["a", "b", "c"])[codes]
    classes = ["a", "b", "c"]
    for column in ({}, {"weights": rng.exponential(size=len(y)) + 0.1}, {"counts": rng.integers(1, 4, len(y))}):
        panel = tm.class_panel(y, scores, classes=classes, **column)
        for summary in (panel, panel.class_scores, panel.class_scores.confusion, panel.class_scores.moments):
            assert not lacking(_evaluations(summary)), (column.keys(), type(summary))
        assert not lacking(_evaluations(panel, sampling="stratified"))


def test_reasons_say_what_is_lacking():
    y, s = [1, 0, 0, 0], [0.9, 0.2, 0.4, 0.5]
    assert _evaluations(tm.tally(y, s))["auroc"].no_interval == "an interval needs two rows of each class"
    assert "one cluster is left out" in (
        _evaluations(tm.tally([1, 1, 0, 0], s, clusters=[1, 2, 3, 4]), threshold=0.5)["lr_minus"].no_interval
    )
    moments = tm.moments(["a", "b"] * 2, [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.7, 0.3]], classes=["a", "b"])
    assert "tm.class_panel" in _evaluations(moments)["spcc_ovo_min"].no_interval
    assert _evaluations(tm.tally(y, s), level=None)["auroc"].no_interval is None
