"""Reports in a real browser: no request, no error, and numbers that are the library's own."""

import json
import math
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.expressions import to_numpy
from tallymark.registry import METRICS
from tallymark.reporting.explorer import formulas

pytestmark = pytest.mark.costly

HOSTILE = "<script>alert(1)</script>\"'&"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser_only = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def panel(n=3_000, names=("forest", HOSTILE)):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    scores = [1 / (1 + np.exp(-rng.normal(gap * y - 1))) for gap in (2.2, 1.4)]
    return tm.panel(y, dict(zip(names, scores, strict=True)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # Screenshots are kept where CI can pick them up, or thrown away.
    kept = os.environ.get("TALLYMARK_SCREENSHOTS")
    made = Path(kept) if kept else tmp_path_factory.mktemp("reports")
    made.mkdir(parents=True, exist_ok=True)
    return made


@pytest.fixture(scope="module")
def reports(folder):
    p = panel()
    t = p.tally("forest")
    u = tm.tally(scores=1 / (1 + np.exp(-np.random.default_rng(1).normal(-1, 1, 1_000))))
    estimates = {name: tm.quantify.estimate(name, t, u, replicates=100) for name in ("cc", "ac", "bayes")}
    fit = tm.quantify.mixture_fit(t, u)
    made = {
        "models": tm.report(p, folder / "models.html", threshold="f1"),
        "comparison": tm.report(tm.compare(p), folder / "comparison.html", title=HOSTILE),
        "count": tm.report(estimates, folder / "count.html", fit=fit, expectation=tm.quantify.expected(t, u)),
    }
    return made, p


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-dev-shm-usage",
    ]
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield made
        made.close()


@pytest.fixture
def visit(browser):
    pages = []

    def go(path, width=1_000, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        trouble = []
        page.on(
            "console", lambda message: trouble.append(message.text) if message.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(f"dialog {dialog.message}"))
        page.on(
            "request",
            lambda request: trouble.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(Path(path).as_uri())
        pages.append((context, trouble))
        return page

    yield go
    for context, trouble in pages:
        context.close()
        assert trouble == []


@browser_only
@pytest.mark.parametrize("name", ["models", "comparison", "count"])
def test_pages_open_at_every_width_without_errors_or_requests(reports, folder, visit, name):
    for width, scheme in ((1_000, "light"), (1_000, "dark"), (360, "light")):
        page = visit(reports[0][name], width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
        if name != "count":
            assert "<script>alert(1)</script>" in page.inner_text("body")


@browser_only
def test_sliders_give_exactly_what_the_library_computes(reports, visit):
    made, p = reports
    page = visit(made["models"])
    t = p.tally("forest")
    data = json.loads(page.evaluate("document.getElementById('data').textContent"))
    thresholds = data["explorer"]["models"][0]["thresholds"]
    assert thresholds[data["explorer"]["models"][0]["start"]] == t.at("f1").threshold
    for index, prevalence in ((len(thresholds) // 3, None), (len(thresholds) // 2, -2.5), (5, -1.0)):
        page.evaluate(
            "i => { const e = document.getElementById('threshold'); e.value = i; e.dispatchEvent(new Event('input')); }",
            index,
        )
        seen = t
        if prevalence is not None:
            page.evaluate(
                "v => { const e = document.getElementById('prevalence'); e.value = v; e.dispatchEvent(new Event('input')); }",
                prevalence,
            )
            seen = t.at_prevalence(1 / (1 + math.exp(-prevalence)))
        cells = seen.at(thresholds[index]).cells
        for name, metric in METRICS.items():
            if metric.expression is None:
                continue
            shown = page.evaluate(f"document.getElementById('live-{name}').dataset.value")
            settings = cell_settings(metric, {}, float(thresholds[index]))
            ours = float(to_numpy(metric.expression)(*cells, **settings))
            theirs = float(shown.replace("Infinity", "inf"))
            assert (
                theirs == ours or (math.isnan(theirs) and math.isnan(ours)) or theirs == pytest.approx(ours, rel=1e-12)
            ), name
        dot = page.query_selector("#roc .point")
        assert float(dot.get_attribute("data-y")) == pytest.approx(float(cells.tp / (cells.tp + cells.fn)), rel=1e-12)


@browser_only
def test_costs_models_and_the_keyboard(reports, visit):
    made, p = reports
    page = visit(made["models"])
    value = lambda name: float(page.evaluate(f"document.getElementById('live-{name}').dataset.value"))
    before = value("expected_cost")
    page.fill("#cost_fn", "50")
    c = p.tally("forest").at("f1")
    assert value("expected_cost") == pytest.approx(tm.metrics.expected_cost(c, cost_fn=50.0)) != before
    start = page.input_value("#threshold")
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#threshold") != start
    page.select_option("#model", "1")
    assert value("recall") == pytest.approx(tm.metrics.recall(p.tally(HOSTILE).at("f1")))
    lines = len(page.query_selector_all("#roc path[stroke-width]"))
    page.uncheck("#shown input >> nth=0")
    assert len(page.query_selector_all("#roc path[stroke-width]")) == lines - 1
    page.click("#reset")


@browser_only
def test_tables_sort_copy_and_explain(reports, visit):
    page = visit(reports[0]["models"])
    table = page.locator("table.sortable").nth(1)
    table.locator("thead button").nth(1).click()
    numbers = [
        float(v)
        for v in table.locator("tbody tr td:nth-child(2)").evaluate_all("cells => cells.map(c => c.dataset.value)")
        if v
    ]
    assert numbers == sorted(numbers)
    assert table.locator("thead th").nth(1).get_attribute("aria-sort") == "ascending"
    copies = page.locator(".copy").nth(1).locator("button")
    for i, part in enumerate(("metric,", "\\begin{tabular}", "| --- |")):
        copies.nth(i).click()
        assert part in copies.nth(i).get_attribute("data-copied")
    page.locator("button.metric[data-metric=mcc]").first.click()
    assert "Matthews" in page.inner_text("#explained")
    page.keyboard.press("Escape")
    assert not page.is_visible("#explained")


def test_formulas_come_from_the_registry():
    text = formulas()
    for name, metric in METRICS.items():
        assert (f'"{name}":' in text) == (metric.expression is not None)


def test_nothing_of_the_users_text_is_markup(reports):
    for path in reports[0].values():
        text = path.read_text(encoding="utf-8")
        assert "<script>alert(1)" not in text
        assert text.count("<script") == 2
        assert text.count("<svg") == text.count('role="img"')
        assert len(text) < 3_000_000


def test_the_command_line_writes_reports(tmp_path):
    p = panel(names=("a", "b"))
    frame = pd.DataFrame(
        {
            "y": p.is_positive.astype(int),
            "a": p.scores["a"],
            "b": p.scores["b"],
            "hat": (p.scores["a"] > 0.5).astype(int),
        }
    )
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "r.html"
    both = ("--label", "y", "--score", "a", "--score", "b")
    for arguments in (
        ("evaluate", tmp_path / "d.csv", *both), ("compare", tmp_path / "d.csv", *both),
        ("quantify", tmp_path / "d.csv", tmp_path / "d.csv", "--label", "y", "--score", "a"),
        ("evaluate", tmp_path / "d.csv", "--label", "y", "--predicted", "hat"),
    ):  # fmt: skip
        out.unlink(missing_ok=True)
        result = CliRunner().invoke(app, [*map(str, arguments), "--report", str(out)], catch_exceptions=False)
        assert "open it in a browser" in result.stdout
        assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_cannot_be_written_or_drawn_says_so(tmp_path):
    with pytest.raises(tm.InputError, match="Cannot write"):
        tm.report(panel(), tmp_path / "no" / "r.html")
    with pytest.raises(tm.InputError, match="expected a labelled tally"):
        tm.report(tm.tally(scores=[0.1, 0.2]), tmp_path / "r.html")


def test_the_page_starts_at_the_threshold_of_the_verdict(tmp_path):
    from tallymark.reporting.explorer import explored

    for y, p in (([0, 0, 1, 1, 0, 1] * 10, [0.2, 0.4, 0.45, 0.8, 0.6, 0.9] * 10), ([0, 1] * 20, [0.1, 0.9] * 20)):
        t = tm.tally(y, p)
        found = explored({"a": t}, {"a": 0.5})["models"][0]
        assert (found["tp"][found["start"]], found["fp"][found["start"]]) == (t.at(0.5).tp, t.at(0.5).fp)


def test_groups_are_not_ranked_against_each_other(tmp_path):
    groups = ["a"] * 80 + ["b"] * 119 + ["alone"]
    frame = pd.DataFrame({"y": [0, 1] * 100, "p": np.random.default_rng(0).random(200), "g": groups})
    frame.to_csv(tmp_path / "d.csv", index=False)
    out = tmp_path / "r.html"
    CliRunner().invoke(
        app, ["evaluate", str(tmp_path / "d.csv"), "--label", "y", "--score", "p", "--by", "g", "--report", str(out)],
        catch_exceptions=False,
    )  # fmt: skip
    text = out.read_text(encoding="utf-8")
    assert "3 evaluations of groups, 200 rows in all" in text
    assert "p, alone has rows of one class only" in text
    assert "ranks best" not in text


def test_several_pairs_are_told_with_holms_p():
    from tallymark.reporting.of_comparison import of_comparison

    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    found = tm.compare(tm.panel(y, {name: rng.normal(y * gap) for name, gap in (("a", 2.0), ("b", 1.0), ("c", 1.9))}))
    (sentence,) = of_comparison(found, title="x").verdict
    assert "is better than" in sentence
    assert "Holm" in sentence
    assert "undecided" in sentence


def test_any_number_of_classes(tmp_path):
    assert tm.report(tm.confusion(["a", "b", "c"], ["a", "b", "a"]), tmp_path / "r.html").exists()
    with pytest.raises(tm.InputError, match="no model to draw"):
        tm.report({}, tmp_path / "e.html")


def test_what_no_report_is_about_is_named(tmp_path):
    t = tm.tally([0, 1] * 10, [i / 20 for i in range(20)])
    compared = tm.compare(tm.panel([0, 1] * 10, {"a": range(20), "b": range(20)}))
    with pytest.raises(tm.InputError, match="one comparison"):
        tm.report({"x": compared, "y": compared}, tmp_path / "r.html")
    with pytest.raises(tm.InputError, match="no report about Evaluation"):
        tm.report(tm.evaluate(t), tmp_path / "r.html")
    with pytest.raises(tm.InputError, match="no report about Tally and BinaryConfusion"):
        tm.report({"a": t, "b": t.at(0.5)}, tmp_path / "r.html")
