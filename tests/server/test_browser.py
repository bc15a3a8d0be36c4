"""The local page in a real browser: a file dropped, each question answered, keyboard, phone, dark, axe."""

import os
import shutil
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

import tallymark as tm
from local_page import serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("office")
    rng = np.random.default_rng(0)
    n = 1_200
    y = rng.random(n) < 0.25
    a, b = (1 / (1 + np.exp(-rng.normal(gap * y - 0.8))) for gap in (2.2, 1.2))
    frame = pd.DataFrame(
        {
            "firm": [f"café {i}" for i in range(n)],
            "platform": y.astype(int),
            "model_a": a.round(4),
            "model_b": b.round(4),
        }
    )
    frame["month"] = [f"2024-{1 + i // 100:02d}" for i in range(n)]
    frame.to_csv(made / "office.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    frame.drop(columns="platform").to_csv(made / "new.csv", index=False)
    some = frame.copy()
    some["platform"] = some["platform"].where(np.arange(n) < 900).map({0: "no", 1: "yes"})
    some.to_excel(made / "some.xlsx", index=False)
    return made


@pytest.fixture(scope="module")
def page(folder):
    with serving(folder) as client:
        yield client


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
def visit(browser, page):
    contexts = []

    def go(width=1_440, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        trouble = []
        tab.on("pageerror", lambda error: trouble.append(str(error)))
        tab.on(
            "request",
            lambda one: trouble.append(one.url) if not one.url.startswith((page.address, "data:", "blob:")) else None,
        )
        tab.on(
            "console", lambda one: trouble.append(one.text) if one.type == "error" and "400" not in one.text else None
        )
        contexts.append((context, trouble))
        tab.goto(page.address)
        return tab

    yield go
    for context, trouble in contexts:
        context.close()
        assert trouble == []


def choose(tab, name):
    tab.get_by_role("button", name=name, exact=True).click()
    tab.get_by_text("rows,").wait_for()


def ask(tab, question, **answers):
    tab.get_by_role("button", name=question).click()
    dialog = tab.get_by_role("dialog")
    for text, value in answers.items():
        dialog.get_by_label(text.replace("_", " ")).select_option(value)
    if dialog.get_by_role("button", name="Answer").count():
        dialog.get_by_role("button", name="Answer").click()


def answered(tab):
    tab.locator("#result").wait_for(state="visible")
    report = tab.frame_locator("#report")
    report.locator("h1").first.wait_for()
    return report


def keep(tab, name):
    if place := os.environ.get("TALLYMARK_SCREENSHOTS"):
        Path(place).mkdir(parents=True, exist_ok=True)
        tab.screenshot(path=f"{place}/serve-{name}.png", full_page=True)


def test_a_dropped_file_is_answered(visit, folder, tmp_path):
    tab = visit()
    tab.locator("#upload").set_input_files(folder / "office.csv")
    tab.get_by_text("1,200 rows, 5 columns").wait_for()
    assert tab.locator("#label").input_value() == "platform"
    assert tab.locator("#pos_label").input_value() == "1"
    assert tab.locator("#scores input:checked").count() == 2
    assert "café 0" in tab.locator("#first").inner_text()
    assert "/" not in tab.locator("#cautions").inner_text()
    tab.locator("#called").fill("platforms")
    keep(tab, "file")
    ask(tab, "How good is it?")
    report = answered(tab)
    expected = tm.evaluate(tm.scan(folder / "office.csv", label="platform", score="model_a"))["auroc"]
    assert f"{expected.value:.3f}" in report.locator("body").inner_text()
    assert "platforms" in report.locator("body").inner_text()
    assert "tallymark evaluate office.csv" in tab.locator("#command").text_content()
    assert "tm.scan('office.csv'" in tab.locator("#python").text_content()
    with tab.expect_download() as saved:
        tab.get_by_text("Save the tables (Excel)").click()
    saved.value.save_as(tmp_path / "t.xlsx")
    assert "About" in openpyxl.load_workbook(tmp_path / "t.xlsx").sheetnames
    with tab.expect_download() as saved:
        tab.get_by_text("Save the report").click()
    saved.value.save_as(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    tab.locator("#report").scroll_into_view_if_needed()
    if place := os.environ.get("TALLYMARK_SCREENSHOTS"):
        tab.wait_for_timeout(1_000)
        tab.screenshot(path=f"{place}/serve-report.png", full_page=True)


@pytest.mark.parametrize(
    ("question", "answers", "said"),
    [
        ("Which is better?", {}, "model_a"),
        ("How many are there?", {"Where_are_the_rows": "folder/new.csv"}, "1200"),
        ("How many more must I check?", {}, "ows to check"),
        ("Has it changed?", {}, "2024"),
    ],
)
def test_every_question_has_an_answer(visit, question, answers, said):
    tab = visit()
    choose(tab, "office.csv")
    if "changed" in question:
        tab.locator("#period").select_option("month")
    ask(tab, question, **answers)
    report = answered(tab)
    assert said in report.locator("body").inner_text()
    keep(tab, question.split()[0] + question.split()[1])


def test_rows_without_a_label_are_asked_about(visit):
    tab = visit()
    choose(tab, "some.xlsx")
    assert tab.locator("#pos_label").input_value() == "yes"
    ask(tab, "How good is it?")
    dialog = tab.get_by_role("dialog")
    dialog.get_by_text("300 rows have no label").wait_for()
    keep(tab, "missing")
    dialog.get_by_role("button", name="Leave them out").click()
    answered(tab)
    assert "--drop-missing" in tab.locator("#command").text_content()
    ask(tab, "How good is it?")
    tab.get_by_role("dialog").get_by_role("button", name="Count them").click()
    tab.locator("#command", has_text="quantify").wait_for(state="attached")


def test_a_refusal_is_a_dialog(visit):
    tab = visit()
    choose(tab, "office.csv")
    for box in tab.locator("#scores input").all():
        box.set_checked(False)
    tab.get_by_role("button", name="Which is better?").click()
    tab.get_by_role("button", name="Answer").click()
    tab.get_by_text("Choose the scores of two models or more.").wait_for()
    tab.keyboard.press("Escape")
    tab.locator("#label").select_option("model_a")
    tab.locator("#scores input[value=model_b]").check()
    ask(tab, "How good is it?")
    tab.get_by_role("heading", name="That did not work").wait_for()
    assert "Traceback" not in tab.get_by_role("dialog").inner_text()


def test_the_keyboard_is_enough(visit):
    tab = visit()
    button = tab.get_by_role("button", name="office.csv", exact=True)
    for _ in range(20):
        tab.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    tab.keyboard.press("Enter")
    tab.get_by_text("rows,").wait_for()
    tab.get_by_role("button", name="How good is it?").focus()
    tab.keyboard.press("Enter")
    dialog = tab.get_by_role("dialog")
    dialog.wait_for()
    assert dialog.evaluate("one => one.contains(document.activeElement)")
    tab.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


@pytest.mark.parametrize(("width", "scheme"), [(1_440, "light"), (1_440, "dark"), (390, "light")])
def test_axe_finds_nothing(visit, width, scheme):
    from axe_playwright_python.sync_playwright import Axe

    tab = visit(width, scheme)
    choose(tab, "office.csv")
    keep(tab, f"{width}-{scheme}")
    found = Axe().run(tab)
    assert found.violations_count == 0, found.generate_report()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
    ask(tab, "How many more must I check?")
    answered(tab)
    found = Axe().run(tab, options={"iframes": False})
    assert found.violations_count == 0, found.generate_report()


def test_the_page_is_light():
    folder = Path(tm.__file__).parent / "server" / "page"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 60_000
