"""Charts and results in a notebook, and in its export opened without the internet."""

import shutil
import sys

import nbformat
import numpy as np
import pytest

import tallymark as tm
from tallymark.charts.pictures import pictured_types

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

CELLS = [
    "import numpy as np, tallymark as tm\nrng = np.random.default_rng(0)\ny = rng.random(400) < 0.3\n"
    "t = tm.tally(y, 1 / (1 + np.exp(-rng.normal(2 * y - 1))))",
    "tm.charts.roc(t, band=True)",
    "tm.evaluate(t, metrics=['auroc', 'f1', 'recall'])",
    "tm.pr(t)",
    "tm.confusion([0, 1, 1, 0, 1], [0, 1, 0, 0, 1])",
]


@pytest.fixture(scope="module")
def executed():
    from nbconvert.preprocessors import ExecutePreprocessor

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python", "language": "python"}
    ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(book, {"metadata": {"path": sys.prefix}})
    return book


def test_every_output_is_a_picture_that_needs_nothing(executed):
    for cell in executed.cells[1:]:
        (output,) = cell.outputs
        shown = output["data"]["text/html"]
        assert "<svg" in shown
        assert "<title>" in shown
        assert "<script" not in shown
        assert "http" not in shown.replace("http://www.w3.org", "")
        assert not any("vega" in kind for kind in output["data"])


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_export_shows_them_without_the_internet(executed, tmp_path):
    from nbconvert import HTMLExporter
    from playwright.sync_api import sync_playwright

    page_file = tmp_path / "export.html"
    page_file.write_text(HTMLExporter().from_notebook_node(executed)[0], encoding="utf-8")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.route("**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort())
        page.goto(page_file.as_uri())
        boxes = page.eval_on_selector_all("svg[role=img]", "all => all.map((s) => s.getBoundingClientRect().height)")
        browser.close()
    assert len(boxes) == len(CELLS) - 1
    assert min(boxes) > 60


def test_results_show_their_picture_beside_their_table():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    t = tm.tally(y, 1 / (1 + np.exp(-rng.normal(2 * y - 1))))
    results = [
        tm.roc(t), tm.pr(t), tm.gain(t), tm.cost_curve(t), tm.decision_curve(t), tm.over_thresholds(t, ["f1"]),
        tm.calibration_curve(t), tm.score_histogram(t), tm.evaluate(t, metrics=["auroc"]), t.at(0.5),
        tm.compare(tm.panel(y, {"a": rng.random(300), "b": rng.normal(y)})),
        tm.quantify.mixture_fit(t, tm.tally(scores=rng.random(200))),
    ]  # fmt: skip
    for result in results:
        assert {kind.__name__ for kind in type(result).__mro__} & set(pictured_types())
        text = result._repr_html_()
        assert "<svg" in text, type(result)
        assert "<table>" in text


def test_pictures_belong_to_results_that_exist():
    assert set(pictured_types()) <= set(tm.results.__all__)


def test_what_cannot_be_drawn_shows_its_table():
    flat = tm.evaluate(tm.confusion([0, 0], [0, 0], pos_label=1, classes=[0, 1]), metrics=["recall"])
    assert "<table>" in flat._repr_html_()
    assert "<svg" not in flat._repr_html_()


def test_counts_are_whole():
    t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    found = tm.quantify.estimate("ac", t, tm.tally(scores=[0.1, 0.2, 0.3, 0.9, 0.95]), threshold=0.5)
    text = found._repr_html_()
    assert f"<td>{found.count:.0f}</td>" in text


def test_hostile_names_stay_text():
    y = [0, 1] * 20
    bad = "<img src=x onerror=alert(1)>"
    panel = tm.panel(y, {bad: np.linspace(0, 1, 40), "b": np.linspace(1, 0, 40)})
    for text in (tm.charts.roc(panel)._repr_html_(), tm.evaluate(panel, metrics=["auroc"])._repr_html_()):
        assert "<img" not in text
