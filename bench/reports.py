"""A report of two models beside evaluating them, and how soon the page answers in a browser."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tallymark as tm
from bench.report import Measured, at_most
from bench.timing import ratios, rounds


def run(rows: int, repeats: int) -> Iterator[Measured]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.05
    runs = {name: tm.tally(y, 1 / (1 + np.exp(-rng.normal(gap * y - 1)))) for name, gap in (("a", 2.0), ("b", 1.5))}

    def fresh():
        # What a tally has computed already must not help the second contender.
        return {name: tm.Tally(tally.runs, tally.labels) for name, tally in runs.items()}

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        seconds = rounds(
            {
                "evaluate": lambda: [tm.evaluate(tally, threshold="f1") for tally in fresh().values()],
                "report": lambda: tm.report(fresh(), path, threshold="f1"),
            },
            repeats,
        )
        yield at_most(
            f"report of two models, {rows} rows", ratios(seconds, "report", "evaluate"), 2, "of evaluating them"
        )
        yield at_most("its size", [path.stat().st_size / 3e6], 1, "of 3 MB")
        if shutil.which("chromium"):
            yield at_most(
                "the page opens, and a slider answers",
                [_seconds_to_answer(path) for _ in range(repeats)],
                1,
                "of a second",
            )


def _seconds_to_answer(path: Path) -> float:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox"])
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.evaluate(
            "() => { const e = document.getElementById('threshold'); e.value = 9; e.dispatchEvent(new Event('input')); }"
        )
        seconds = time.perf_counter() - start
        browser.close()
    return seconds
