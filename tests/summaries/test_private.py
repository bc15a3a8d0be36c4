"""Scores in bins: no small count, no single score, the same page for rows that differ within their bins."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.summaries.private import private

SCORES = st.lists(st.tuples(st.booleans(), st.floats(-1e6, 1e6)), min_size=40, max_size=150)


def jumps(tally):
    """Rows of each class at each score."""
    places = np.unique(np.concatenate([run.scores for run in tally.runs]))
    return [
        np.bincount(np.searchsorted(places, run.scores), run.mass if run.rows is None else run.rows)
        for run in tally.runs
    ]


@given(SCORES, st.integers(2, 9))
def test_every_bin_has_no_row_of_a_class_or_enough(rows, least):
    y, scores = map(np.array, zip(*rows, strict=True))
    if min(y.sum(), (~y).sum()) < least:
        return
    t = tm.tally(y, scores, pos_label=True) if y.any() else None
    binned = private(t, least)
    for of_class in jumps(binned):
        assert set(of_class[of_class > 0] >= least) <= {True}
    assert (binned.n, binned.positives) == (t.n, t.positives)
    low, high = scores.min(), scores.max()
    slack = 1e-3 * (high - low) + 1e-9
    assert all(low - slack <= score <= high + slack for run in binned.runs for score in run.scores)


@given(SCORES, st.integers(2, 5))
def test_order_of_scores_is_kept_and_rows_of_one_bin_cannot_be_told_apart(rows, least):
    y, scores = map(np.array, zip(*rows, strict=True))
    if min(y.sum(), (~y).sum()) < least:
        return
    panel = private(tm.panel(y, {"a": scores}, pos_label=True), least)
    found = panel.scores["a"]
    order = np.argsort(scores, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert panel.tally("a").heading() == private(tm.tally(y, scores, pos_label=True), least).heading()


def test_metrics_hardly_move():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.02
    p = 1 / (1 + np.exp(-rng.normal(2 * y - 3)))
    t = tm.tally(y, p)
    binned = private(t, 5)
    for metric in (tm.metrics.auroc, tm.metrics.brier, tm.metrics.bias, tm.metrics.spcc):
        assert metric(binned) == pytest.approx(metric(t), rel=0.01, abs=1e-4)


def test_weights_are_summed_in_bins():
    rng = np.random.default_rng(1)
    y, p, w = rng.random(300) < 0.4, rng.random(300), rng.random(300) + 0.5
    t = tm.tally(y, p, weights=w)
    binned = private(t, 10)
    assert binned.n == pytest.approx(t.n)
    assert binned.n_rows == t.n_rows
    assert tm.metrics.auroc(binned) == pytest.approx(tm.metrics.auroc(t), abs=0.03)


def page(y, p, path, **options):
    tm.report(tm.tally(y, p), path, threshold="f1", title="page", **options)
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_no_row_can_be_recovered_from_the_page(tmp_path):
    rng = np.random.default_rng(2)
    y = rng.random(400) < 0.3
    p = np.round(1 / (1 + np.exp(-rng.normal(2 * y - 1))), 6)
    told, hidden = page(y, p, tmp_path / "a.html"), page(y, p, tmp_path / "b.html", private=5)

    def seen(scores, text):
        return sum(f"{score:.6f}" in text for score in scores)

    # Six digits may be on a page by chance: as often as those of rows that were never in the data.
    others = np.round(1 / (1 + np.exp(-rng.normal(2 * y - 1))), 6)
    assert seen(p, told) > 100
    assert seen(others, told) < 20
    assert seen(p, hidden) <= seen(others, hidden) + 5
    (model,) = json.loads(re.search(r'id="data">(.*?)</script>', hidden, re.DOTALL)[1])["explorer"]["models"]
    for counts in (model["tp"], model["fp"]):
        steps = np.abs(np.diff(counts))
        assert set(steps[steps > 0] >= 5) == {True}
    # Somebody who knows all rows but one cannot tell where in its bin that one is.
    panel = private(tm.panel(y, {"a": p}), 5).scores["a"]
    members = np.flatnonzero(panel == panel[np.argmax(np.bincount(np.searchsorted(np.unique(panel), panel)))])
    moved = p.copy()
    inside = np.sort(p[members])
    moved[members[1]] = np.nextafter(moved[members[1]], inside[len(inside) // 2])
    assert page(y, moved, tmp_path / "c.html", private=5) == hidden
    assert "in bins of 5 rows or more" in hidden


def test_groups_with_few_rows_are_left_out():
    rng = np.random.default_rng(3)
    y, p = rng.random(200) < 0.5, rng.random(200)
    groups = np.where(np.arange(200) < 6, "tiny", np.where(np.arange(200) % 2, "a", "b"))
    tallies = tm.tally(pd.DataFrame({"y": y, "p": p, "g": groups}), label="y", score="p", by="g")
    with pytest.warns(tm.GuardWarning, match="TM131.*tiny"):
        assert list(private(tallies, 5)) == ["a", "b"]
    with pytest.raises(tm.InputError, match="No group"):
        private(tallies, 150)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: private(tm.tally([0, 1, 1], [0.1, 0.2, 0.3]), 2), "1 rows of one class|fewer than private=2"),
        (lambda: private(tm.tally(scores=[0.1, 0.2]), 2), "labelled"),
        (lambda: private(tm.tally([0, 1] * 9, np.arange(18.0), cluster=np.arange(18) // 3), 2), "clusters"),
        (lambda: private(tm.tally([0, 1] * 9, np.arange(18.0)), 1), "private"),
    ],
)
def test_what_cannot_be_private_is_refused(make, message):
    with pytest.raises(tm.InputError, match=message):
        make()
