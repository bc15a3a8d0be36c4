"""Gates of a pipeline: requirements on values and limits, not worse than a saved tally, and the action's last step."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.cli.requirements import Requirement

ROWS = ["evaluate", "f.csv", "--label", "y", "--score", "p"]


@pytest.fixture
def tally(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.3).astype(int)
    frame = pd.DataFrame({"y": y, "p": rng.normal(1.5 * y)})
    frame.to_csv("f.csv", index=False)
    return tm.tally(frame, label="y", score="p")


def status(*arguments):
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("auroc.low>=0.7", True),
        ("auroc.low > 0.7", True),
        ("auroc.high<0.7", False),
        ("auroc<=1", True),
        ("f1.low>=0.9", False),
        ("ece.low>=0", False),
    ],
)
def test_limits_decide_the_status(tally, text, met):
    code, output = status(*ROWS, "--require", text)
    assert code == (not met)
    assert ("yes" if met else "no") in output.partition("Required")[2]
    one = Requirement.of(text)
    answer = json.loads(CliRunner().invoke(app, [*ROWS, "--json", "--require", text]).stdout)["requirements"]
    assert answer == [{"of": "p", "required": str(one), "value": answer[0]["value"], "met": met}]
    if one.metric == "auroc":
        measure = tm.evaluate(tally, metrics=["auroc"])["auroc"]
        assert answer[0]["value"] == pytest.approx(getattr(measure, one.part))


@pytest.mark.parametrize("text", ["auroc.lower>=1", "auroc=>1", "auroc", ">=1", "auroc>=x"])
def test_what_cannot_be_read_is_refused(tally, text):
    with pytest.raises(tm.InputError, match="METRIC>=NUMBER"):
        CliRunner().invoke(app, [*ROWS, "--require", text], catch_exceptions=False)


def test_not_worse_combines_both_limits(tally):
    rng = np.random.default_rng(1)
    y = (rng.random(900) < 0.3).astype(int)
    new = tm.tally(y, rng.normal(1.4 * y))
    result = tm.not_worse(new, tally, margin=0.05)
    after, before = (tm.evaluate(one, metrics=["auroc"], level=0.9)["auroc"] for one in (new, tally))
    loss = before.value - after.value
    assert result.loss == pytest.approx(loss)
    assert result.most_loss == pytest.approx(loss + np.hypot(after.value - after.low, before.high - before.value))
    assert result.shown == (result.most_loss <= 0.05)
    lower = tm.not_worse(new, tally, metric="log_loss") if tally.is_probability else None
    assert lower is None
    with pytest.raises(tm.InputError, match="neither better"):
        tm.not_worse(new, tally, metric="bias")


@pytest.mark.slow
def test_a_model_that_is_worse_by_the_margin_passes_in_one_of_twenty():
    rng = np.random.default_rng(2)
    repeats, passed = 400, 0
    from scipy.stats import norm

    gap = norm.cdf(1.5 / np.sqrt(2)) - norm.cdf(1.2 / np.sqrt(2))
    for _ in range(repeats):
        y = (rng.random(800) < 0.4).astype(int)
        old, new = tm.tally(y, rng.normal(1.5 * y)), tm.tally(y, rng.normal(1.2 * y))
        passed += tm.not_worse(new, old, margin=gap).shown
    assert passed / repeats < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / repeats)


def test_a_saved_tally_is_a_gate(tally):
    tally.save("last.tally")
    assert status(*ROWS, "--against", "last.tally", "--margin", "0.2")[0] == 0
    code, output = status(*ROWS, "--against", "last.tally")
    assert code == 1
    assert "not shown to be not worse" in output
    answer = json.loads(CliRunner().invoke(app, [*ROWS, "--against", "last.tally", "--json"]).stdout)
    assert answer["against"][0]["loss"] == 0.0
    with pytest.raises(tm.InputError, match="--margin"):
        CliRunner().invoke(app, [*ROWS, "--margin", "0.1"], catch_exceptions=False)


def test_the_action_shows_the_tables_and_keeps_the_status(tally, tmp_path):
    text = (Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8")
    script = re.split(r"run: \|\n", text)[-1].replace("        ", "")
    environment = os.environ | {
        "COMMAND": " ".join([*ROWS, "--require", "auroc.low>=0.99; touch hacked"]),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2  # the words after the semicolon are no options
    assert not Path("hacked").exists()
    environment["COMMAND"] = " ".join([*ROWS, "--require", "auroc.low>=0.99"])
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "| auroc.low" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    # Words in quotes, and a second line whose requirement must not be lost.
    Path("f.csv").rename("the rows.csv")
    environment["COMMAND"] = "evaluate 'the rows.csv' --label y --score p\n--require 'auroc.low >= 0.99'\n"
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "auroc.low" in done.stderr


def test_comparisons_and_agreement_are_gates_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = np.r_[np.ones(75), np.zeros(25)], np.r_[np.ones(52), np.zeros(48)]
    pd.DataFrame({"a": a, "b": b, "p": np.arange(100) // 2}).to_csv("f.csv", index=False)
    compared = tm.compare(tm.outcomes({"a": a, "b": b}))
    outcomes = ["compare", "f.csv", "--outcome", "a,b"]
    code, output = status(*outcomes, "--require", "difference.low>0", "--require", "pass_rate.low>0.6")
    assert code == 1
    assert "b: pass_rate.low is" in output
    answer = json.loads(CliRunner().invoke(app, [*outcomes, "--json", "--require", "difference.low>0"]).stdout)
    assert answer["requirements"] == [
        {"of": "a − b", "required": "difference.low > 0", "value": compared.low, "met": True}
    ]
    assert status(*outcomes, "--item", "p", "--pass-at", "2", "--require", "pass@2>0.7")[0] == 1
    models = ["compare", "f.csv", "--label", "a", "--score", "b,p", "--require", "difference.high<0"]
    code, output = status(*models)
    assert code == 1
    assert "b − p: difference.high is" in output
    agree = ["agree", "f.csv", "--rater", "a,b"]
    kappa = tm.raters.agreement({"a": a, "b": b})["cohen_kappa"]
    assert status(*agree, "--require", f"cohen_kappa.low>={kappa.low - 0.01}")[0] == 0
    code, output = status(*agree, "--require", "cohen_kappa.low>=0.9")
    assert code == 1
    assert "cohen_kappa.low" in output
    with pytest.raises(tm.InputError, match="there is no kappa here"):
        CliRunner().invoke(app, [*agree, "--require", "kappa>0"], catch_exceptions=False)
