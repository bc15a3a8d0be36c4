"""Rows that belong together: limits, tests and counts let whole clusters vary."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.inference.resampling.jackknife import Jackknife, groups_of, jackknifed, without_each
from tallymark.summaries.tally import packed, unpacked


def copies(rng, clusters, size=12):
    """Every row of a cluster has its label and score."""
    y, s = rng.random(clusters) < 0.4, rng.normal(size=clusters)
    s = 1 / (1 + np.exp(-(s + 1.3 * y)))
    c = np.repeat(np.arange(clusters), rng.integers(1, 2 * size, clusters))
    return y[c], s[c], c


@given(st.integers(0, 10_000), st.booleans())
def test_leaving_out_is_leaving_out(seed, weighted):
    rng = np.random.default_rng(seed)
    y, s, c = copies(rng, 8, 4)
    s = np.where(rng.random(len(s)) < 0.3, rng.random(len(s)), s)
    y[c == 0], y[c == 1] = True, False
    y[c == 2], y[c == 3] = True, False
    w = rng.random(len(y)) + 0.1 if weighted else None
    names = ["auroc", "average_precision", "brier", "spcc", "ks", "f1"]
    found = jackknifed(names, tm.tally(y, s, weights=w, clusters=c), 0.5)
    for place, cluster in enumerate(np.unique(c)):
        kept = c != cluster
        rest = tm.tally(y[kept], s[kept], weights=None if w is None else w[kept])
        for name in names:
            made = tm.metrics.f1(rest.at(0.5)) if name == "f1" else getattr(tm.metrics, name)(rest)
            assert found[name][place] == pytest.approx(made, abs=1e-9, nan_ok=True), name


def test_a_mean_has_the_textbook_error():
    """The jackknife of a mean over clusters of one row is its standard error."""
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    t = tm.tally(y, rng.random(60), clusters=np.arange(60))
    error = Jackknife.of(jackknifed(["accuracy"], t, 0.5)["accuracy"]).error
    a = tm.metrics.accuracy(t.at(0.5))
    assert error == pytest.approx(np.sqrt(a * (1 - a) / 59))


@pytest.mark.parametrize("clusters", [30, 80])
def test_limits_hold_where_rows_are_copies(clusters):
    rng = np.random.default_rng(3)
    y, s, _ = copies(rng, 100_000, 1)
    truth = {"auroc": tm.metrics.auroc(tm.tally(y, s)), "accuracy": tm.metrics.accuracy(tm.tally(y, s).at(0.5))}
    hits, naive, repeats = dict.fromkeys(truth, 0), 0, 150
    for _ in range(repeats):
        y, s, c = copies(rng, clusters)
        found = tm.evaluate(tm.tally(y, s, clusters=c), metrics=list(truth), threshold=0.5)
        for name, value in truth.items():
            hits[name] += found[name].low <= value <= found[name].high
        low, high = tm.evaluate(tm.tally(y, s), metrics=["auroc"])["auroc"].interval
        naive += low <= truth["auroc"] <= high
    # Four standard errors of 95 %; sizes of clusters, and so the truth of their rows, vary a little.
    assert all(h / repeats > 0.95 - 4 * np.sqrt(0.05 * 0.95 / repeats) for h in hits.values())
    assert naive / repeats < 0.6


def test_clusters_of_one_row_are_rows():
    rng = np.random.default_rng(1)
    y = rng.random(3_000) < 0.3
    s = 1 / (1 + np.exp(-rng.normal(1.5 * y)))
    metrics = ["auroc", "average_precision", "brier", "f1", "recall"]
    alone = tm.evaluate(tm.tally(y, s), metrics=metrics, threshold=0.5)
    own = tm.evaluate(tm.tally(y, s, clusters=np.arange(3_000)), metrics=metrics, threshold=0.5)
    for name in metrics:
        assert own[name].interval == pytest.approx(
            alone[name].interval, abs=0.15 * (alone[name].high - alone[name].low)
        )
    assert own["auroc"].interval_method == "cluster jackknife"
    assert "clusters of rows drawn at random" in repr(own)


def test_every_door_knows_clusters(tmp_path):
    rng = np.random.default_rng(2)
    y, s, c = copies(rng, 40)
    frame = pd.DataFrame({"y": y.astype(int), "p": s, "q": s[::-1], "c": [f"k{one:03d}" for one in c], "g": c % 2})
    wanted = tm.evaluate(tm.tally(y, s, clusters=c)).to_dict()
    assert tm.evaluate(tm.tally(frame, label="y", score="p", cluster="c")).to_dict() == wanted
    frame.to_parquet(tmp_path / "f.parquet")
    scanned = tm.scan(tmp_path / "f.parquet", label="y", score="p", cluster="c")
    assert tm.evaluate(scanned).to_dict() == wanted
    panel = tm.panel(frame, label="y", score=["p", "q"], cluster="c")
    assert tm.evaluate(panel)["p"].to_dict() == wanted
    groups = tm.tally(frame, label="y", score="p", by="g", cluster="c")
    assert [len(t.clusters) for t in groups.values()] == [20, 20]
    # Parts merge to the whole, and a file brings back what was saved.
    half = len(y) // 2
    parts = [tm.tally(y[part], s[part], clusters=c[part]) for part in (slice(0, half), slice(half, None))]
    assert tm.evaluate(parts[0].merge(parts[1])).to_dict() == wanted
    parts[0].save(tmp_path / "t.tally")
    assert tm.evaluate(tm.load(tmp_path / "t.tally")).to_dict() == tm.evaluate(parts[0]).to_dict()
    panel.save(tmp_path / "p.panel")
    assert tm.compare(tm.load(tmp_path / "p.panel")).to_dict() == tm.compare(panel).to_dict()
    in_files = tm.scan_panel(tmp_path / "f.parquet", label="y", score=["p", "q"], cluster="c")
    assert tm.compare(in_files).to_dict() == tm.compare(panel).to_dict()


def test_a_comparison_of_copies_is_not_surer_than_its_clusters():
    rng = np.random.default_rng(5)
    wrong, repeats = {"clusters": 0, "rows": 0}, 150
    for _ in range(repeats):
        y, s, c = copies(rng, 40)
        other = 1 / (1 + np.exp(-(rng.normal(size=40) + 1.3 * y[np.searchsorted(c, np.arange(40))])))[c]
        scores = {"a": s, "b": other}
        wrong["clusters"] += tm.compare(tm.panel(y, scores, clusters=c)).p_value < 0.05
        wrong["rows"] += tm.compare(tm.panel(y, scores)).p_value < 0.05
    assert wrong["clusters"] / repeats < 0.05 + 4 * np.sqrt(0.05 * 0.95 / repeats)
    assert wrong["rows"] / repeats > 0.3


def test_counts_let_clusters_vary():
    rng = np.random.default_rng(6)
    hits = naive = 0
    for _ in range(60):
        y, s, c = copies(rng, 60)
        _, scores, d = copies(rng, 60)
        known, target = tm.tally(y, s, clusters=c), tm.tally(scores=scores, clusters=d)
        # The truth of the population the clusters come from.
        found = tm.quantify.estimate("ac", known, target, threshold=0.5, replicates=200)
        hits += found.low <= 0.4 <= found.high
        low, high = tm.quantify.estimate("ac", tm.tally(y, s), tm.tally(scores=scores), threshold=0.5).interval
        naive += low <= 0.4 <= high
    assert found.interval_method == "cluster bootstrap"
    assert hits >= 51
    assert naive < 45


def test_many_clusters_are_dealt_to_groups():
    rng = np.random.default_rng(0)
    y, s, c = copies(rng, 2_000, 2)
    t = tm.tally(y, s, clusters=c)
    groups = groups_of(t.clusters)
    assert groups.max() == 399
    assert set(np.bincount(groups)) == {5}
    assert sum(len(block) for block in without_each(t)) == 400


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda t: tm.evaluate(t, interval="bca"), "rows in clusters have default intervals"),
        (lambda t: tm.intervals.bootstrap(t, "auroc"), "rows one by one"),
        (tm.intervals.roc_band, "rows one by one"),
        (tm.intervals.auroc, "rows one by one"),
        (lambda t: t.merge(tm.tally([0, 1], [0.2, 0.3])), "that has clusters"),
    ],
)
def test_what_takes_rows_one_by_one_is_refused(work, message):
    y, s, c = copies(np.random.default_rng(0), 30)
    with pytest.raises(tm.InputError, match=message):
        work(tm.tally(y, s, clusters=c))


def test_methods_of_comparison_and_clusters_go_together():
    y, s, c = copies(np.random.default_rng(0), 30)
    with pytest.raises(tm.InputError, match="rows in clusters are compared by"):
        tm.compare(tm.panel(y, {"a": s, "b": s[::-1]}, clusters=c), method="delong")
    with pytest.raises(tm.InputError, match="needs a panel that knows"):
        tm.compare(tm.panel(y, {"a": s, "b": s[::-1]}), method="clusters")


def test_copies_without_a_cluster_are_doubted_and_rounded_scores_are_not():
    y, s, _ = copies(np.random.default_rng(0), 60)
    with pytest.warns(tm.GuardWarning, match="TM120"):
        tm.evaluate(tm.tally(y, s), metrics=["auroc"])
    rng = np.random.default_rng(1)
    truth = rng.random(5_000) < 0.3
    for scores in (rng.normal(truth).round(1), np.round(rng.beta(2, 3, 5_000) * 50) / 50):
        assert "TM120" not in {note.code for note in tm.evaluate(tm.tally(truth, scores), metrics=["auroc"]).warnings}


def test_leaves_of_a_tree_that_hardly_any_positive_reaches_are_no_copies():
    rng = np.random.default_rng(0)
    leaves = rng.random(300) * 0.01
    scores = leaves[rng.integers(300, size=20_000)]
    y = rng.random(20_000) < scores * 0.2
    assert "TM120" not in {note.code for note in tm.evaluate(tm.tally(y, scores), metrics=["auroc"]).warnings}


def test_few_clusters_are_said():
    y, s, c = copies(np.random.default_rng(4), 12)
    with pytest.warns(tm.GuardWarning, match="TM119"):
        tm.evaluate(tm.tally(y, s, clusters=c), metrics=["auroc"])


def test_forged_clusters_are_refused():
    y, s, c = copies(np.random.default_rng(4), 12)
    t = tm.tally(y, s, clusters=c)
    header, arrays = packed(t)
    with pytest.raises(Exception, match=r"belong together"):
        unpacked(json.loads(json.dumps(header)), arrays | {"cluster.0.mass": arrays["cluster.0.mass"] * 2})


def test_one_cluster_says_nothing_of_how_clusters_vary():
    y, s, _ = copies(np.random.default_rng(0), 40)
    known = tm.tally(y, s, clusters=np.zeros(len(y), int))
    found = tm.quantify.estimate("pacc", known, tm.tally(scores=s, clusters=np.zeros(len(y), int)))
    assert found.interval is None
    positives = tm.tally(y, s, clusters=np.where(y, 0, np.arange(len(y))))
    assert tm.quantify.estimate("pacc", positives, tm.tally(scores=s)).interval is None


def test_what_does_not_vary_has_no_limits_of_no_width():
    c = np.repeat(np.arange(30), 4)
    y = c % 2 == 0
    found = tm.evaluate(tm.tally(y, y.astype(float), clusters=c), threshold=0.5)
    assert found["expected_cost"].interval is None
    assert found["accuracy"].low < 0.95
    for scores in (np.where(y, 0.75, 0.25), np.where(y, 0.7, 0.3)):
        brier = tm.evaluate(tm.tally(y, scores, clusters=c), metrics=["brier"])["brier"]
        assert brier.high - brier.low > 0.05


def test_whole_floats_name_the_same_clusters():
    y, s, c = copies(np.random.default_rng(1), 30)
    half = len(y) // 2
    merged = tm.tally(y[:half], s[:half], clusters=c[:half]).merge(
        tm.tally(y[half:], s[half:], clusters=c[half:].astype(float))
    )
    assert len(merged.clusters) == 30
