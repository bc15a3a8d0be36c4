"""What is chosen on the page as a command, and the same in Python."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.server.questions import python_of, words_of

CHOICES = {
    "good": {"label": "y", "pos_label": "1", "scores": ["p"], "costs": "1,3", "cluster": "c", "called": "cats"},
    "better": {"label": "y", "pos_label": "1", "scores": ["p", "q"], "top": True},
    "many": {"label": "y", "pos_label": "1", "scores": ["p"]},
    "check": {"scores": ["p"], "width": "0.1"},
    "changed": {"period": "t", "scores": ["p"], "label": "y"},
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.3
    p, q = (1 / (1 + np.exp(-rng.normal(gap * y - 0.5))) for gap in (2, 1))
    frame = pd.DataFrame(
        {"y": y.astype(int), "p": p, "q": q, "c": np.arange(600) // 2, "t": 2000 + np.arange(600) // 50}
    )
    frame.to_csv("a.csv", index=False)
    frame.drop(columns="y").to_csv("b.csv", index=False)
    return ["a.csv", "b.csv"]


@pytest.mark.parametrize("question", CHOICES)
def test_every_question_is_a_command_that_works(files, question):
    words = words_of(question, files[: 1 + (question == "many")], CHOICES[question])
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("question", CHOICES)
def test_the_lines_of_python_run(files, question, capsys):
    code = python_of(question, files[: 1 + (question == "many")], CHOICES[question])
    exec(code, {})


def test_predicted_classes_are_measured_as_such(files):
    pd.read_csv("a.csv").assign(hat=lambda d: (d.p > 0.5).astype(int)).to_csv("a.csv", index=False)
    chosen = {"label": "y", "predicted": "hat"}
    assert words_of("good", ["a.csv"], chosen) == ["evaluate", "a.csv", "--label", "y", "--predicted", "hat"]
    assert python_of("good", ["a.csv"], chosen) == ""


@pytest.mark.parametrize(
    ("question", "files", "choices", "message"),
    [
        ("ugly", ["a"], {}, "no question 'ugly'"),
        ("good", [], {}, "Choose a file"),
        ("good", ["a"], {}, "the column with the truth"),
        ("good", ["a"], {"label": "y"}, "score column"),
        ("better", ["a"], {"label": "y", "scores": ["p"]}, "two models"),
        ("good", ["a", "b"], {"label": "y", "scores": ["p"]}, "one file"),
        ("good", ["a"], {"label": "y", "scores": ["p"], "predicted": "h"}, "not both"),
        ("good", ["a"], {"label": "y\0", "scores": ["p"]}, "expected a text"),
        ("many", ["a", "b", "c"], {"label": "y", "scores": ["p"]}, "not more"),
        ("changed", ["a"], {"scores": ["p"]}, "period"),
        ("good", ["a"], {"label": ["y"]}, "expected a text"),
        ("good", ["a"], {"label": "y", "scores": "p"}, "names of columns"),
        ("good", ["a"], {"label": "y", "scores": [1]}, "names of columns"),
    ],
)
def test_what_is_missing_is_named(question, files, choices, message):
    with pytest.raises(tm.InputError, match=message):
        words_of(question, files, choices)


def test_names_cannot_become_options():
    chosen = {"label": "y", "pos_label": "--json", "scores": ["p"], "cluster": "--report=x", "called": "-x"}
    words = words_of("good", ["a.csv"], chosen)
    assert {"--pos-label=--json", "--cluster=--report=x", "--called=-x"} <= set(words)
    assert "--json" not in words


def test_lines_of_python_say_how_the_file_is_read_and_what_is_true():
    chosen = {"label": "y", "pos_label": "true", "scores": ["p"]}
    lines = python_of("good", ["sub/a.csv"], chosen, {"decimal": ","})
    assert "tm.scan(tm.data_file('sub/a.csv', decimal=','), label='y', pos_label=True, score=['p'])" in lines
