"""Intervals of metrics of K scores a row."""

import warnings

import numpy as np
import pytest

import tallymark as tm
from tallymark.registry import METRICS

NAMES = [name for name in METRICS if METRICS[name].needs in {"moments", "multiclass"}]
SHARES = (0.5, 0.3, 0.2)


def rows(rng, n):
    y = rng.choice(3, n, p=SHARES)
    logits = rng.normal(size=(n, 3))
    logits[np.arange(n), y] += 1.2
    odds = np.exp(logits)
    return y, odds / odds.sum(axis=1, keepdims=True)


def panel(rng, n, **masses):
    return tm.class_panel(*rows(rng, n), classes=[0, 1, 2], **masses)


def test_every_metric_has_an_interval_that_holds_it():
    found = tm.evaluate(panel(np.random.default_rng(0), 300))
    for name in NAMES:
        measure, facts = found[name], METRICS[name]
        assert facts.low <= measure.low < measure.value < measure.high <= facts.high, name
    values = tm.evaluate(panel(np.random.default_rng(0), 300), level=None)
    assert {name: found[name].value for name in NAMES} == {name: values[name].value for name in NAMES}


def test_the_same_seed_gives_the_same_limits_for_any_number_of_jobs():
    data = panel(np.random.default_rng(1), 200)
    one, two = (tm.evaluate(data, seed=5, jobs=jobs) for jobs in (1, 2))
    assert [(m.low, m.high) for m in one.values()] == [(m.low, m.high) for m in two.values()]


def test_limits_of_counts_are_about_those_of_repeated_rows():
    rng = np.random.default_rng(2)
    y, scores = rows(rng, 150)
    counts = rng.integers(1, 4, 150)
    one = tm.evaluate(tm.class_panel(y, scores, classes=[0, 1, 2], counts=counts))
    two = tm.evaluate(tm.class_panel(np.repeat(y, counts), np.repeat(scores, counts, axis=0), classes=[0, 1, 2]))
    for name in NAMES:
        width = one[name].high - one[name].low
        assert one[name].interval == pytest.approx(two[name].interval, abs=0.35 * width), name


def test_more_rows_than_are_drawn_give_as_narrow_an_interval(monkeypatch):
    from tallymark.inference.limits import class_scores

    data = panel(np.random.default_rng(3), 2_000)
    whole = tm.evaluate(data)
    monkeypatch.setattr(class_scores, "_MOST", 1_500)
    some = tm.evaluate(data)
    for name in ("auroc_ovo", "brier_multiclass", "spcc_ovr_fisher"):
        widths = [one[name].high - one[name].low for one in (whole, some)]
        assert widths[1] == pytest.approx(widths[0], rel=0.4), name


def test_intervals_hold_the_truth():
    """About 95 of 100, three standard errors of sixty samples allowed for, though there are forty."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(4)
    truth = tm.evaluate(panel(rng, 200_000).class_scores, level=None)
    held = dict.fromkeys(NAMES, 0)
    for seed in range(40):
        found = tm.evaluate(panel(rng, 250), seed=seed)
        for name in NAMES:
            held[name] += found[name].low <= truth[name].value <= found[name].high
    assert {name: count for name, count in held.items() if count < 40 * (0.95 - 0.085)} == {}


def test_a_class_with_one_row_has_no_interval():
    found = tm.evaluate(tm.class_panel([0, 0, 1, 1, 2], np.eye(3)[[0, 0, 1, 1, 2]] * 0.4 + 0.2, classes=[0, 1, 2]))
    assert found["auroc_ovo"].low is None


def test_a_class_of_one_counted_entry_is_many_rows():
    rng = np.random.default_rng(6)
    y, scores = rows(rng, 60)
    one = np.flatnonzero(y == 2)[0]
    kept = np.append(np.flatnonzero(y != 2), one)
    counts = np.append(np.ones(len(kept) - 1, dtype=int), 30)
    found = tm.evaluate(tm.class_panel(y[kept], scores[kept], classes=[0, 1, 2], counts=counts))
    assert found["auroc_ovo"].low is not None


def test_no_rows_at_all_is_undefined():
    empty = panel(np.random.default_rng(0), 10).keep(np.zeros(10, dtype=bool))
    assert np.isnan(tm.evaluate(empty)["accuracy"].value)


@pytest.mark.parametrize("sampling", ["plain", "stratified"])
@pytest.mark.parametrize("column", ["rows", "counts", "weights"])
def test_rows_of_large_panels_are_kept_from_every_class(monkeypatch, sampling, column):
    """A rare class of a panel that is thinned keeps its rows, and with them its part of the error."""
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1, 2], [3000, 2994, 6])
    odds = np.exp(rng.normal(size=(6000, 3)) + np.eye(3)[codes])
    number = {"rows": {}, "counts": {"counts": np.full(6000, 2)}, "weights": {"weights": rng.exponential(size=6000)}}
    panel = tm.class_panel(codes, odds / odds.sum(axis=1, keepdims=True), classes=[0, 1, 2], **number[column])
    names = ["spcc_ovr_min", "spcc_ovo_min", "brier_multiclass"]
    whole = tm.evaluate(panel, metrics=names, sampling=sampling)
    monkeypatch.setattr("tallymark.inference.limits.class_scores._MOST", 3_000)
    thinned = tm.evaluate(panel, metrics=names, sampling=sampling)
    for name in names:
        widths = [np.diff(one[name].interval)[0] for one in (whole, thinned)]
        assert widths[1] == pytest.approx(widths[0], rel=0.25), name
        assert thinned[name].low < whole[name].value < thinned[name].high
