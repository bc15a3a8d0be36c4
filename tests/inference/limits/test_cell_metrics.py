"""Intervals of metrics at one threshold."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.errors import Undefined
from tallymark.inference.limits.cell_metrics import rate_limits
from tallymark.inference.limits.class_metrics import Margins, class_limits, class_values
from tallymark.registry import METRICS

_NAMES = [name for name in METRICS if METRICS[name].needs == "confusion"]
_counts = st.integers(0, 60)


def _value(name, confusion):
    try:
        return METRICS[name].compute(confusion)
    except Undefined:
        return math.nan


@given(tp=_counts, fp=_counts, fn=_counts, tn=_counts, sampling=st.sampled_from(["stratified", "plain"]))
def test_limits_are_ordered_finite_and_hold_the_value(tp, fp, fn, tn, sampling):
    assume(tp + fp + fn + tn)
    confusion = tm.Confusion.of_cells(tp=tp, fp=fp, fn=fn, tn=tn)
    found = rate_limits(_NAMES, confusion, 0.95, sampling)
    if not (tp + fn and fp + tn):
        assert found == {}
        return
    for name, (low, high, _) in found.items():
        value = _value(name, confusion)
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert low < high, name
        if min(tp, fp, fn, tn) > 0:
            assert low <= value <= high, name


def test_five_of_five_and_no_false_positive_are_not_certain():
    found = rate_limits(_NAMES, tm.Confusion.of_cells(tp=5, fp=0, fn=0, tn=5), 0.95)
    assert found["recall"][:2] == pytest.approx((0.05 ** (1 / 5), 1.0), abs=1e-4)
    assert found["precision"][0] < 0.8
    assert found["f1"][0] < 0.8
    assert found["mcc"][0] < 0.6


def test_draws_are_those_of_the_posterior():
    """Against two million random draws, half from each side of what was seen."""
    rng = np.random.default_rng(0)
    sides = rng.integers(0, 2, (2, 2_000_000))
    tpr, fpr = rng.beta(30 + sides[0], 11 - sides[0]), rng.beta(12 + sides[1], 189 - sides[1])
    cells = {"tp": 40 * tpr, "fp": 200 * fpr, "fn": 40 * (1 - tpr), "tn": 200 * (1 - fpr)}
    wanted = np.quantile(2 * cells["tp"] / (2 * cells["tp"] + cells["fp"] + cells["fn"]), [0.025, 0.975])
    low, high, method = rate_limits(["f1"], tm.Confusion.of_cells(tp=30, fp=12, fn=10, tn=188), 0.95)["f1"]
    assert (low, high) == pytest.approx(tuple(wanted), abs=0.002)
    assert method == "mid-p draws"


def test_class_sizes_are_fixed_or_drawn():
    confusion = tm.Confusion.of_cells(tp=30, fp=12, fn=10, tn=188)
    fixed, drawn = (rate_limits(["accuracy", "f1"], confusion, 0.95, s) for s in ("stratified", "plain"))
    assert drawn["accuracy"][2] == "mid-p"
    assert drawn["accuracy"][:2] == pytest.approx(
        (tm.intervals.proportion(218, 240).low, tm.intervals.proportion(218, 240).high)
    )
    assert drawn["f1"][1] - drawn["f1"][0] > fixed["f1"][1] - fixed["f1"][0]


def test_weights_have_no_unit_and_few_heavy_rows_are_unsure():
    rng = np.random.default_rng(0)
    y, p, w = rng.random(300) < 0.3, rng.random(300) < 0.4, rng.exponential(size=300)
    limits = [rate_limits(["recall", "f1"], tm.confusion(y, p, weights=k * w), 0.95) for k in (1.0, 1e4)]
    for name in ("recall", "f1"):
        assert limits[0][name][:2] == pytest.approx(limits[1][name][:2])
    plain = rate_limits(["recall"], tm.confusion(y, p), 0.95)["recall"]
    assert limits[0]["recall"][1] - limits[0]["recall"][0] > plain[1] - plain[0]


def test_a_stated_prevalence_is_known():
    confusion = tm.Confusion.of_cells(tp=90, fp=50, fn=10, tn=950).at_prevalence(0.01)
    low, high, _ = rate_limits(["precision"], confusion, 0.95)["precision"]
    assert low < _value("precision", confusion) < high
    assert "prevalence" not in rate_limits(["prevalence"], confusion, 0.95)


def test_classes():
    matrix = np.array([[40, 5, 5], [2, 30, 8], [0, 0, 10]])
    confusion = tm.Confusion(matrix, ("a", "b", "c"))
    computes = {"accuracy": ("accuracy", None)}
    low, high, method = class_limits(confusion, computes, 0.95, "stratified")["accuracy"]
    assert low < 0.8 < high
    assert method == "dirichlet"
    # With fixed class sizes the spread is that of the classes' own shares.
    shares = np.diag(matrix) / matrix.sum(axis=1)
    sizes = matrix.sum(axis=1)
    error = math.sqrt(np.sum(sizes * shares * (1 - shares))) / 100
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert class_limits(confusion, computes, 0.95, "stratified")["accuracy"] == (low, high, method)
    wide = class_limits(confusion, computes, 0.95)["accuracy"]
    assert wide[1] - wide[0] >= 0.95 * (high - low)


@pytest.mark.parametrize(
    ("metric", "average"),
    [("accuracy", None), ("error", None), ("kappa", None), ("mcc", None), ("balanced_accuracy", None),
     *((m, a) for m in ("precision", "recall", "f1") for a in ("macro", "micro", "weighted")), ("f1", "f_of_means")],
)  # fmt: skip
def test_all_tables_at_once_are_each_table_alone(metric, average):
    tables = np.random.default_rng(0).gamma(1.0, 1.0, (5, 4, 4))
    options = {} if average is None else {"average": average}
    alone = [METRICS[metric].compute(tm.Confusion(table, tuple("abcd")), **options) for table in tables]
    assert class_values(Margins.of(tables), metric, average) == pytest.approx(alone)
