"""What every command has in common: standard input, commas, requirements, examples, the same options where rows are read."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from command_tree import every_command
from tallymark.cli.app import app
from tallymark.cli.commands import COMMANDS


@pytest.fixture
def frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.4
    made = pd.DataFrame(
        {
            "y": y.astype(int),
            "a": rng.random(400) * 0.5 + 0.4 * y,
            "b": rng.random(400),
            "g": rng.choice(["n", "s"], 400),
            "w": rng.integers(1, 4, 400),
        }
    )
    made["called"], made["other"] = (made.a > 0.5).astype(int), (made.b > 0.5).astype(int)
    made["kind"], made["said"] = rng.choice(["p", "q", "r"], 400), rng.choice(["p", "q", "r"], 400)
    made.to_csv("f.csv", index=False)
    return made


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.output


def answer(*arguments):
    return json.loads(run(*arguments, "--json"))


def piped(data, *arguments):
    return subprocess.run([sys.executable, "-m", "tallymark", *arguments], input=data, capture_output=True, check=False)


def test_rows_come_from_standard_input(frame, tmp_path):
    wanted = answer("evaluate", "f.csv", "--label", "y", "--score", "a")["models"]
    frame.to_parquet("f.parquet")
    frame.to_json("f.jsonl", orient="records", lines=True)
    for name in ("f.csv", "f.parquet", "f.jsonl"):
        done = piped((tmp_path / name).read_bytes(), "evaluate", "-", "--label", "y", "--score", "a", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["models"]["a"]["metrics"]["auroc"]["value"] == pytest.approx(
            wanted["a"]["metrics"]["auroc"]["value"]
        )
    assert b"Standard input is empty" in piped(b"", "evaluate", "-", "--label", "y", "--score", "a").stderr
    assert b"only once" in piped(b"x", "quantify", "-", "-", "--label", "y", "--score", "a").stderr


def test_commas_and_repeats_are_the_same(frame):
    many = answer("evaluate", "f.csv", "--label", "y", "--score", "a,b", "--metric", "auroc,f1")["models"]
    assert (
        many
        == answer(
            "evaluate", "f.csv", "--label", "y", "--score", "a", "--score", "b", "--metric", "auroc", "--metric", "f1"
        )["models"]
    )
    assert set(many["a"]["metrics"]) == {"auroc", "f1"}
    assert answer("compare", "f.csv", "--label", "y", "--score", "a,b")["pairs"][0]["first"] == "a"


def test_a_requirement_decides_the_status(frame):
    options = ["evaluate", "f.csv", "--label", "y", "--score", "a,b"]
    run(*options, "--require", "auroc>=0.2")
    told = CliRunner().invoke(app, [*options, "--require", "auroc>=0.7", "--require", "brier<=1"])
    assert told.exit_code == 1
    assert "b: auroc is" in told.output
    classes = ["evaluate", "f.csv", "--label", "kind", "--predicted", "said"]
    run(*classes, "--require", "f1_macro>=0.1", "--metric", "f1_macro")
    run(*classes, "--require", "f1_macro>=0.9", status=1)
    with pytest.raises(tm.InputError, match="METRIC>=NUMBER"):
        run(*options, "--require", "auroc=1")


def test_averages_have_names_everywhere(frame):
    found = answer("evaluate", "f.csv", "--label", "kind", "--predicted", "said", "--metric", "f1_macro")
    c = tm.confusion(frame.kind, frame.said)
    assert found["models"]["said"]["metrics"]["f1_macro"]["value"] == pytest.approx(
        tm.metrics.f1(c, average="mean_of_f")
    )
    assert set(found["models"]["said"]["metrics"]) == {"f1_macro"}
    assert "scikit-learn's macro F1" in run("metrics", "f1_macro")
    assert answer("metrics", "f1_macro")["metrics"]["f1_macro"]["metric"] == "f1"
    with pytest.raises(tm.InputError, match="average over classes"):
        tm.evaluate(tm.tally(frame.y, frame.a), metrics=["f1_macro"])


def test_calls_by_group_and_compared(frame):
    found = answer("evaluate", "f.csv", "--label", "y", "--predicted", "called", "--by", "g", "--metric", "recall")
    part = frame[frame.g == "n"]
    wanted = tm.metrics.recall(tm.confusion(part.y, part.called))
    values = {line["group"]["g"]: line["models"]["called"]["metrics"]["recall"]["value"] for line in found["groups"]}
    assert values["n"] == pytest.approx(wanted)
    compared = answer("compare", "f.csv", "--label", "y", "--predicted", "called,other")
    assert compared["metric"] == "accuracy"
    assert compared["values"]["called"] == pytest.approx((frame.y == frame.called).mean())
    with pytest.raises(tm.InputError, match="one of the two"):
        run("compare", "f.csv", "--label", "y")


@pytest.mark.parametrize("command", [["thresholds"], ["by-size", "--replicates", "20"]])
def test_rows_are_chosen_alike(frame, command):
    options = [*command, "f.csv", "--label", "y", "--score", "a"]
    assert answer(*options, "--where", "g = 'n'")["n"] == (frame.g == "n").sum()
    assert answer(*options, "--count", "w")["n"] == frame.w.sum()


def test_calibration_takes_weights_and_conditions(frame, tmp_path):
    options = ["calibrate", "f.csv", "f.csv", "--label", "y", "--score", "a", "--method", "platt"]
    plain = answer(*options, "--out", "p.csv")
    counted = answer(*options, "--out", "c.csv", "--count", "w", "--where", "g = 'n'")
    assert plain["sum"] != counted["sum"]


def test_merging_prints_json(frame, tmp_path):
    for name in ("one", "two"):
        tm.tally(frame.y, frame.a).save(tmp_path / f"{name}.tally")
    assert answer("merge", "one.tally", "two.tally", "--out", "both.tally")["n"] == 800


def test_policies_are_listed():
    listed = answer("policies")["policies"]
    assert {"youden", "f1", "tpr", "cost"} <= set(listed)
    assert all(name in run("policies") for name in listed)


def test_every_help_has_an_example_and_says_what_belongs_behind_an_option():
    commands = dict(every_command())
    assert len(commands) > 25
    for path, command in commands.items():
        assert f"Example: tallymark {' '.join(path)} " in f"{' '.join((command.help or '').split())} ", path
        named = {option.name: option.metavar for option in command.params}
        assert named.get("label", "COLUMN") in {"COLUMN", None}, path
        assert named.get("where", "CONDITION") == "CONDITION", path


def test_the_list_of_commands_has_one_line_each_under_the_question_it_answers():
    listed = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"})
    assert listed.exit_code == 0
    lines = listed.output.splitlines()
    for heading, names in COMMANDS.items():
        place = lines.index(heading)
        for name, line in zip(names, lines[place + 1 :], strict=False):
            assert re.fullmatch(rf"  {name} +[A-Z].+\.", line), line


def test_every_option_says_what_belongs_behind_it_and_stands_in_a_group():
    for path, command in every_command():
        for option in command.params:
            assert getattr(option, "is_flag", True) or option.metavar, (path, option.name)
        assert {"--json", "--report"} & {
            name for option in command.params for name in option.opts
        } == set() or "Output:" in (CliRunner().invoke(app, [*path, "--help"]).output)


def test_names_of_commands_are_completed_without_loading_them():
    loaded = "import sys; from tallymark.cli.app import main; sys.argv = ['tallymark']; main()"
    environment = os.environ | {"_TALLYMARK_COMPLETE": "complete_bash", "COMP_WORDS": "tallymark ev", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", loaded], env=environment, capture_output=True, text=True, check=False
    )
    assert "evaluate" in done.stdout
    assert "tallymark.cli.commands.evaluate" not in done.stderr


def test_all_rows_labelled_is_said(tmp_path):
    (tmp_path / "d.csv").write_text("y,p\n" + "0,0.1\n1,0.8\n0,0.4\n1,0.35\n" * 10)
    done = CliRunner().invoke(app, ["quantify", str(tmp_path / "d.csv"), "--label", "y", "--score", "p"])
    assert "Every row of" in str(done.exception)
    assert "has a label" in str(done.exception)


def test_labels_of_numbers_beside_predictions_in_words(tmp_path):
    (tmp_path / "d.csv").write_text("y,g\n0,a\n1,b\n0,a\n1,a\n")
    done = CliRunner().invoke(app, ["evaluate", str(tmp_path / "d.csv"), "--label", "y", "--predicted", "y,g"])
    assert isinstance(done.exception, tm.InputError)
    assert "none is in both" in str(done.exception)
