import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.registry import METRICS
from tallymark.simple import simple_rows

LABELS = [0, 0, 0, 1, 1]
FIRST, SECOND = [1, 2, 110, 6, 120], [100, 150, 2, 130, 3]


@pytest.mark.parametrize(("zeros", "expected"), [(0, (5 / 6, 1 / 2)), (10, (0.9615, 0.8846))])
def test_the_worked_example(zeros, expected):
    pad = [0] * zeros
    panel = tm.panel(LABELS + pad, {"first": FIRST + pad, "second": SECOND + pad})
    result = tm.without_simple(panel)
    rows = result.compare("auroc")
    assert [row["original"] for row in rows] == pytest.approx(expected, abs=5e-5)
    assert [row["without_simple"] for row in rows] == pytest.approx([5 / 6, 1 / 2])
    assert int(result.simple.sum()) == zeros
    assert panel.n == 5 + zeros


panels = st.integers(1, 3).flatmap(
    lambda k: st.lists(st.tuples(st.booleans(), *[st.integers(0, 9)] * k), min_size=4, max_size=40).filter(
        lambda rows: 0 < sum(row[0] for row in rows) < len(rows)
    )
)


def panel_of(rows):
    y, *scores = map(np.array, zip(*rows, strict=True))
    return tm.panel(y, {f"m{i}": s for i, s in enumerate(scores)})


def naive_simple(panel):
    y = panel.is_positive
    return [
        all(
            all(s[i] < s[j] for j in range(panel.n) if y[j]) or all(s[i] > s[j] for j in range(panel.n) if not y[j])
            for s in panel.scores.values()
        )
        for i in range(panel.n)
    ]


@pytest.mark.filterwarnings("ignore")
@given(panels)
def test_simple_objects_are_their_definition(rows):
    panel = panel_of(rows)
    assert simple_rows(panel).tolist() == naive_simple(panel)


@pytest.mark.filterwarnings("ignore")
@given(panels)
def test_one_factor_for_every_model_so_the_order_by_auroc_stays(rows):
    panel = panel_of(rows)
    result = tm.without_simple(panel)
    left = result.reduced.is_positive
    if not 0 < left.sum() < len(left):
        return
    p, n = panel.is_positive.sum(), (~panel.is_positive).sum()
    factor = p * n / (left.sum() * (~left).sum())
    for row in result.compare("auroc"):
        assert 1 - row["without_simple"] == pytest.approx((1 - row["original"]) * factor)
    # Equation 6: with w simple positives and m simple negatives AUROC = 1 - (pq - S) / ((p + w)(q + m)).
    separates = any(math.isclose(row["original"], 1.0) for row in result.compare("auroc"))
    if not separates:
        assert not simple_rows(result.reduced).any()


@pytest.mark.filterwarnings("ignore")
@given(panels)
def test_another_model_can_only_shrink_the_simple_set(rows):
    panel = panel_of(rows)
    first = panel.models[0]
    alone = tm.Panel(panel.is_positive, panel.labels, {first: panel.scores[first]})
    assert not (simple_rows(panel) & ~simple_rows(alone)).any()


def test_verdicts():
    def share(simple, rest=1_000):
        y = [0, 1, 0, 1] * (rest // 4) + [0] * simple
        s = [2, 1, 3, 2] * (rest // 4) + [0] * simple
        return tm.without_simple(tm.panel(y, {"a": s})).verdict

    assert [share(0), share(10), share(100), share(1_000)] == ["negligible", "negligible", "moderate", "decisive"]


def test_all_simple_is_said():
    result = tm.without_simple(tm.panel([0, 1], {"a": [0, 1]}))
    (row,) = result.compare("auroc")
    assert math.isnan(row["without_simple"])
    assert "all objects are simple" in row["reason"]
    assert "decisive" in repr(result)


def test_any_metric_side_by_side():
    panel = tm.panel(LABELS + [0] * 10, {"first": FIRST + [0] * 10, "second": SECOND + [0] * 10})
    result = tm.without_simple(panel)
    row, _ = result.compare("f1", threshold=5)
    # Simple negatives below the threshold do not change F1.
    assert row["original"] == row["without_simple"]
    row, _ = result.compare("specificity", threshold=5)
    assert row["change"] < 0
    with pytest.raises(tm.InputError, match="f1 needs a threshold"):
        result.compare("f1")
    for name in ("average_precision", "h_measure", "spcc"):
        assert result.compare(name)[0]["original"] == METRICS[name].compute(panel.tally("first"))
    with pytest.raises(tm.InputError, match="without_simple takes a Panel, got list"):
        tm.without_simple([0, 1])


def test_weights_weigh_the_share_and_rows_without_mass_are_not_there():
    assert tm.without_simple(
        tm.panel([0, 0, 1, 1], {"a": [0.1, 0.5, 0.4, 0.9]}, weights=[100.0, 1, 1, 1])
    ).share == pytest.approx(101 / 103)
    panel = tm.panel([0, 0, 1, 0], {"a": [0.1, 0.2, 0.9, 5.0]}, counts=[1, 1, 1, 0])
    assert tm.without_simple(panel).simple[:3].all()


def test_a_panel_with_nothing_left_has_no_simple_rows():
    empty = tm.without_simple(tm.panel([0, 1], {"a": [0, 1]})).reduced
    assert tm.without_simple(empty).share == 0.0


def test_counts_weigh_the_share():
    panel = tm.panel([0, 0, 1, 0], {"a": [0, 2, 1, 1]}, counts=[97, 1, 1, 1])
    assert tm.without_simple(panel).share == pytest.approx(0.97)
