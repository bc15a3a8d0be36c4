"""What pages say of how they were made: methods with references, terms that are used, files, axes."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.evaluation.request import Request  # noqa: F401 - loads the declarations that a page names
from tallymark.reporting.builders import ReportRequest, content_of
from tallymark.reporting.methods import in_words
from tallymark.reporting.page_model import Bar, zoomed
from tallymark.reporting.terms import explained_terms

RNG = np.random.default_rng(0)
Y = RNG.random(1_500) < 0.1
P, Q = (1 / (1 + np.exp(-RNG.normal(gap * Y - 1))) for gap in (2.2, 1.2))
PANEL = tm.panel(Y, {"a": P, "b": Q})
TARGET = tm.tally(scores=P[:400])


def content(data, **options):
    return content_of(data, ReportRequest(**options))


@pytest.mark.filterwarnings("ignore")
def test_methods_name_what_was_done_and_cite_it():
    page = content(PANEL, threshold="f1", level=0.9)
    text, cited = page.methods.text, " ".join(page.methods.references)
    assert "1500 rows" in text or "1 500 rows" in text.replace("\u202f", " ")
    for part in (
        "all rows drawn at random",
        "chosen by f1",
        "90 % confidence intervals",
        "compared on the same rows by",
    ):
        assert part in text
    for metric in page.lines[0].bars:
        assert metric.label.lower() in text.lower()
    assert "Hanley" in cited
    assert "Holm" not in text
    three = tm.panel(Y, {"a": P, "b": Q, "c": P + Q})
    assert "Holm (1979)" in " ".join(content(three).methods.references)


@pytest.mark.filterwarnings("ignore")
def test_counts_name_their_methods():
    count = tm.quantify.count(tm.tally(Y, P), TARGET, ["cc", "ac"])
    page = content(count)
    assert "adjusted count (ac)" in page.methods.text
    assert "prior shift" in page.methods.text
    assert any("Forman" in one for one in page.methods.references)
    terms = dict(explained_terms(page))
    assert {"ac", "cc", "Prior shift"} <= set(terms)
    assert "Chance" not in terms


@pytest.mark.filterwarnings("ignore")
def test_only_terms_of_the_page_are_explained():
    alone = dict(explained_terms(content(tm.tally(Y, P))))
    assert {"Interval", "Chance"} <= set(alone)
    assert not {"Holm", "Stratum", "Prior shift", "ac"} & set(alone)
    assert "p" in dict(explained_terms(content(PANEL)))


@pytest.mark.filterwarnings("ignore")
def test_every_interval_of_an_evaluation_has_words():
    for options in ({}, {"sampling": "stratified"}, {"interval": "percentile"}, {"threshold": "f1"}):
        found = tm.evaluate(tm.tally(Y, P), **options)
        unnamed = {one.interval_method for one in found.values() if one.interval_method} & {
            in_words(one.interval_method) for one in found.values() if one.interval_method
        }
        assert not unnamed, options


def test_axes_show_where_the_values_are():
    bars = [Bar("m", "", "", 0.91, 0.90, 0.92, 0.5), Bar("m", "", "", 0.93, 0.925, 0.94, 0.5)]
    found = zoomed(bars)
    assert found[0].ends == pytest.approx((0.9, 0.95))
    assert (found[0].at, found[0].low, found[0].chance, found[0].beyond) == (pytest.approx(0.2), 0.0, None, "below")
    wide = [Bar("m", "", "", 0.1, 0.05, 0.2), Bar("m", "", "", 0.9)]
    assert zoomed(wide) == wide
    assert zoomed([Bar("m", "", "undefined", undefined=True)])[0].undefined


@pytest.mark.filterwarnings("ignore")
def test_which_model_for_what_is_said_where_metrics_disagree():
    rng = np.random.default_rng(12)
    y = rng.random(20_000) < 0.01
    found = y & (rng.random(len(y)) < 0.6)
    whole, top = (1 / (1 + np.exp(-rng.normal(s - 4.6))) for s in (2.3 * y, 4.5 * found))
    said = " ".join(content(tm.panel(y, {"whole": whole, "top": top}), threshold="f1").verdict)
    assert "Take top for the top of the list, whole for the whole list." in said
    assert "Take" not in " ".join(content(PANEL).verdict)


@pytest.mark.slow
def test_pages_state_the_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y": Y.astype(int), "p": P}).to_csv("rows.csv", index=False)
    words = ["evaluate", "rows.csv", "--label", "y", "--score", "p", "--report", "r.html"]
    assert CliRunner().invoke(app, words).exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    data = (tmp_path / "rows.csv").read_bytes()
    assert f"SHA-256 {hashlib.sha256(data).hexdigest()[:16]}" in page
    assert "rows.csv: " in page
    assert "single scores can be read" in page


@pytest.mark.filterwarnings("ignore")
def test_an_audit_by_region_has_counts():
    region = np.where(np.arange(len(Y)) % 3, "south", "north")
    frame = pd.DataFrame({"y": np.where(np.arange(len(Y)) % 4, np.nan, Y), "p": P, "region": region})
    audit = tm.audits.estimate(frame, label="y", score="p", threshold=0.5, by="region")
    (table,) = content(audit).sections[0].tables
    assert list(table.columns) == ["region", "positives", "rows", "share of positives"]
    for line, (key, one) in zip(table.lines, audit.by_group.entries.items(), strict=False):
        assert line[0].text == key[0]
        assert (line[1].value, line[2].value, line[3].value) == (one.count, one.n, one.prevalence)
    assert table.lines[-1][1].value == audit.prevalence.count


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_predicted_classes_are_compared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    better, worse = (np.where(RNG.random(len(Y)) < right, Y, ~Y).astype(int) for right in (0.95, 0.75))
    pd.DataFrame({"y": Y.astype(int), "better": better, "worse": worse}).to_csv("rows.csv", index=False)
    words = ["evaluate", "rows.csv", "--label", "y", "--predicted", "better,worse", "--report", "r.html"]
    assert CliRunner().invoke(app, words).exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "better is the better of the two by balanced accuracy." in page
    hits = int((better.astype(bool) & Y).sum())
    assert f"better finds {hits} of {Y.sum()} positives" in page
    assert "Compare by recall" in page
