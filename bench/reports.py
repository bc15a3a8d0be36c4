"""Reports beside evaluating what they show (two models, six models, twelve groups), and how soon a page answers in a browser."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import tallymark as tm
from bench.report import Measured, at_most
from bench.timing import ratios, rounds


def run(rows: int, repeats: int) -> Iterator[Measured]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.05
    gaps = {name: 2.0 - 0.2 * i for i, name in enumerate("abcdef")}
    scores = {name: 1 / (1 + np.exp(-rng.normal(gap * y - 1))) for name, gap in gaps.items()}
    few = {name: tm.tally(y, scores[name]) for name in "ab"}
    panel = tm.panel(y, scores)
    frame = pd.DataFrame({"y": y, "p": scores["a"], "g": rng.integers(12, size=rows)})
    groups = tm.tally(frame, label="y", score="p", by="g")

    def fresh(tallies):
        # What a tally has computed already must not help the second contender.
        return {name: tm.Tally(tally.runs, tally.labels) for name, tally in tallies.items()}

    by_group = lambda: tm.Tallies(groups.names, fresh(groups.entries), groups.by_model)
    works = {
        "two models": (lambda: [tm.evaluate(t, threshold="f1") for t in fresh(few).values()], lambda: fresh(few)),
        "six models, compared": (lambda: tm.evaluate(panel, threshold="f1"), lambda: panel),
        "twelve groups": (lambda: tm.evaluate(by_group(), threshold=0.5), by_group),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (evaluate, data) in works.items():
            path = Path(folder) / f"{name.split()[0]}.html"
            threshold = 0.5 if name == "twelve groups" else "f1"
            contenders = {
                "evaluate": evaluate,
                "report": lambda d=data, p=path, t=threshold: tm.report(d(), p, threshold=t),
            }
            seconds = rounds(contenders, repeats)
            yield at_most(
                f"report of {name}, {rows} rows", ratios(seconds, "report", "evaluate"), 2, "of evaluating them"
            )
            yield at_most(f"its size, {name}", [path.stat().st_size / 3e6], 1, "of 3 MB")
            if shutil.which("chromium"):
                opened, step = zip(*(_answers(path) for _ in range(repeats)), strict=True)
                yield at_most(f"the page of {name} opens", opened, 1, "of a second")
                yield at_most(f"a step of its slider, {name}", [s / 0.016 for s in step], 1, "of 16 ms")


def _answers(path: Path) -> tuple[float, float]:
    """Seconds until the page is there, and for a step of its threshold slider."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--headless", "--no-sandbox"])
        page = browser.new_page()
        start = time.perf_counter()
        page.goto(path.as_uri())
        opened = time.perf_counter() - start
        step = page.evaluate("""() => {
            const e = document.getElementById('threshold'), start = performance.now();
            for (let i = 0; i < 100; i++) { e.value = i; e.dispatchEvent(new Event('input')); }
            return (performance.now() - start) / 1e5;
        }""")
        browser.close()
    return opened, step
