"""What positive rows are called is said everywhere by one value."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app

RNG = np.random.default_rng(7)
Y = RNG.random(400) < 0.3
FRAME = pd.DataFrame({
    "y": np.where(np.arange(400) % 2, Y * 1.0, np.nan), "truth": Y * 1,
    "p": np.clip(RNG.beta(2, 5, 400) + 0.4 * Y, 0, 1), "g": np.arange(400) // 200,
})  # fmt: skip
NASTY = "<b>\x1b[31mplatforms"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("called") / "rows.csv"
    FRAME.to_csv(path, index=False)
    return str(path)


def run(*words):
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"}, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_tables_sentences_and_json_of_an_evaluation_say_it(rows):
    command = ("evaluate", rows, "--label", "truth", "--score", "p", "--threshold", "0.5", "--called", "platforms")
    found, n = int((Y & (FRAME["p"] >= 0.5)).sum()), int(Y.sum())
    shown = run(*command)
    assert f"400 rows, {n} platforms (" in shown
    assert f"p finds {found} of {n} platforms." in shown
    assert json.loads(run(*command, "--json"))["called"] == "platforms"
    assert re.search(r"model +g +n +platforms ", run(*command, "--by", "g"))
    plain = run(*command[:-2])
    assert "platforms" not in plain
    assert f"{n} positive (" in plain
    assert "called" not in json.loads(run(*command[:-2], "--json"))


def test_tables_and_json_of_a_count_say_it(rows):
    command = (
        "quantify",
        rows,
        "--label",
        "y",
        "--score",
        "p",
        "--method",
        "ac",
        "--level",
        "0",
        "--called",
        "platforms",
    )
    shown = run(*command)
    assert re.search(r"prevalence +platforms +of", shown)
    assert f"{int(FRAME['y'].sum())} of them platforms" in shown
    assert json.loads(run(*command, "--json"))["called"] == "platforms"


@pytest.mark.parametrize(
    "words",
    [("evaluate", "--label", "truth", "--threshold", "0.5"), ("quantify", "--label", "y", "--method", "ac")],
    ids=lambda words: words[0],
)
def test_reports_say_it_and_run_nothing_of_it(rows, words, tmp_path):
    page = tmp_path / "page.html"
    shown = run(words[0], rows, *words[1:], "--score", "p", "--called", NASTY, "--report", str(page))
    assert "\x1b" not in shown
    text = page.read_text(encoding="utf-8")
    assert "<b>\\x1b" not in text
    assert "\x1b" not in text
    assert "<b>platforms" not in text
    body = html.unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", text, flags=re.DOTALL))
    said = f"of {int(Y.sum())} <b>\\x1b[31mplatforms" if words[0] == "evaluate" else "<b>\\x1b[31mplatforms among"
    assert said in body


def test_results_carry_it():
    t = tm.tally(FRAME, label="truth", score="p")
    named = tm.evaluate(t, level=None, called=" platforms ")
    assert named.heading() == tm.evaluate(t, level=None).heading().replace("positive", "platforms")
    assert dict(named) == dict(tm.evaluate(t, level=None))
    both = tm.evaluate(tm.tally(FRAME, label="truth", score="p", by="g"), level=None, called="platforms")
    assert {one.called for one in both.values()} == {"platforms"}
    known = tm.tally(FRAME[FRAME["y"].notna()], label="y", score="p")
    target = tm.tally(scores=FRAME["p"])
    assert tm.quantify.count(known, target, ["ac"], level=None, called="cats").heading() == "Count of cats by ac"


@pytest.mark.parametrize("called", ["", "  ", 3, "x" * 61, "two\nlines"])
def test_what_is_no_name_is_refused(called):
    with pytest.raises(tm.InputError, match="expected a short name"):
        tm.evaluate(tm.tally(Y, FRAME["p"]), level=None, called=called)


def test_where_nothing_is_positive_there_is_nothing_to_name():
    three = tm.confusion(np.arange(30) % 3, np.arange(30) % 2)
    with pytest.raises(tm.InputError, match="no class is the positive one"):
        tm.evaluate(three, called="platforms")
