"""``tallymark judge``: tables, JSON, gates, plans, drift, labels of another file."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app

JUDGE = ["judge", "items.csv", "--judge", "j", "--human", "h"]


def run(*arguments, status=0):
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == status, done.output
    return done.output


@pytest.fixture
def items(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.random(1_000) < 0.7
    seen = rng.permutation(1_000) < 150
    frame = pd.DataFrame({"key": np.arange(1_000)})
    for name, right in (("j", 0.9), ("k", 0.85)):
        frame[name] = np.where(np.where(rng.random(1_000) < right, truth, ~truth), "pass", "fail")
    frame["h"] = np.where(seen, np.where(truth, "pass", "fail"), "")
    frame["h2"] = frame.h
    frame["topic"] = rng.choice(["u", "v"], 1_000)
    frame.to_csv("items.csv", index=False)
    return frame


@pytest.mark.usefixtures("items")
def test_table_json_and_report():
    same = tm.raters.judge("items.csv", judge="j", human="h", by="topic")
    answer = json.loads(run(*JUDGE, "--by", "topic", "--json"))
    assert answer["corrected"]["value"] == same.corrected.value
    assert answer["judged"]["value"] == same.judged.value
    assert len(answer["segments"]) == 2
    shown = run(*JUDGE, "--by", "topic", "--disagreements", "differ.csv", "--report", "r.html")
    assert same.sentences()[0] in " ".join(shown.split())
    assert "judge: fail" in shown
    differ = pd.read_csv("differ.csv")
    assert (differ.judge != differ.human).all()
    assert len(differ) == pytest.approx(150 * (1 - same.agreement["observed"].value))
    assert "Error rates and agreement" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("items")
def test_disagreements_name_the_row_of_the_file(items):
    run(*JUDGE, "--disagreements", "differ.csv")
    differ = pd.read_csv("differ.csv")
    rows = items.iloc[differ.item - 1]
    assert rows.j.tolist() == differ.judge.tolist()
    assert rows.h.tolist() == differ.human.tolist()


@pytest.mark.usefixtures("items")
def test_gates_on_every_estimate():
    run(*JUDGE, "--require", "corrected.low>=0.5", "--require", "cohen_kappa>0.2")
    assert "corrected.low is" in run(*JUDGE, "--require", "corrected.low>=0.9", status=1)
    two = ["judge", "items.csv", "--judge", "j,k", "--human", "h,h2"]
    assert "difference.low" in run(*two, "--require", "difference.low>0.5", status=1)
    with pytest.raises(tm.InputError, match="there is no recall here"):
        run(*JUDGE, "--require", "recall>0.5")


@pytest.mark.slow
@pytest.mark.usefixtures("items")
def test_plans_and_two_judges():
    plan = json.loads(run(*JUDGE, "--width", "0.08", "--json"))["plan"]
    assert plan["size"] == tm.raters.plan("items.csv", judge="j", human="h", width=0.08).size
    assert "more items" in run(*JUDGE, "--width", "0.08")
    with pytest.raises(tm.InputError, match="--cluster"):
        run(*JUDGE, "--width", "0.08", "--cluster", "key")
    drift = json.loads(run("judge", "items.csv", "--judge", "j,k", "--human", "h", "--json"))["drift"]
    assert drift["flip_rate"]["value"] == tm.raters.judge_drift("items.csv", judge=["j", "k"]).flip_rate.value
    with pytest.raises(tm.InputError, match="--by"):
        run("judge", "items.csv", "--judge", "j,k", "--human", "h", "--by", "topic")


def test_labels_of_another_file(items):
    whole = json.loads(run(*JUDGE, "--json"))
    people = items.loc[items.h != "", ["key", "h"]].sample(frac=1, random_state=0)
    people.to_csv("people.csv", index=False)
    items.drop(columns=["h", "h2"]).to_csv("items.csv", index=False)
    joined = json.loads(run(*JUDGE, "--labels", "people.csv", "--id", "key", "--json"))
    assert joined["corrected"] == whole["corrected"]
    kept = Path("people.csv").read_bytes()
    with pytest.raises(tm.InputError, match="one of the files to be read"):
        run(*JUDGE, "--labels", "people.csv", "--id", "key", "--disagreements", "people.csv")
    assert Path("people.csv").read_bytes() == kept


def test_notes_are_printed_and_strict_refuses(items):
    items.assign(h=np.where((items.h != "") & (items.h == "pass"), "pass", "")).to_csv("items.csv", index=False)
    with pytest.warns(tm.GuardWarning):
        assert "TM1" in run(*JUDGE)
    with pytest.raises(tm.GuardError if hasattr(tm, "GuardError") else tm.InputError):
        run(*JUDGE, "--strict")


@pytest.mark.usefixtures("items")
def test_two_judges_can_be_gated_and_ignore_nothing():
    both = ["judge", "items.csv", "--judge", "j,k", "--human", "h"]
    rate = json.loads(run(*both, "--json"))["drift"]["flip_rate"]["value"]
    assert "Required" in run(*both, "--require", f"flip_rate<={rate + 0.01}")
    run(*both, "--require", f"flip_rate<={rate - 0.01}", status=1)
    done = CliRunner().invoke(app, [*both, "--require", "nonsense>1"])
    assert isinstance(done.exception, tm.InputError)
    for option in (
        ["--disagreements", "o.csv"],
        ["--equivalence", "0.1"],
        ["--population", "items"],
        ["--by", "topic"],
    ):
        done = CliRunner().invoke(app, [*both, *option])
        assert isinstance(done.exception, tm.InputError)
        assert option[0] in str(done.exception)
    assert not Path("o.csv").exists()


@pytest.mark.usefixtures("items")
@pytest.mark.parametrize("option", [["--population", "items"], ["--by", "topic"]])
def test_a_plan_ignores_nothing(option):
    done = CliRunner().invoke(app, [*JUDGE, "--width", "0.05", *option])
    assert isinstance(done.exception, tm.InputError)
    assert option[0] in str(done.exception)


@pytest.mark.usefixtures("items")
def test_disagreements_of_some_rows_need_an_id():
    some = [*JUDGE, "--where", "topic = 'u'", "--disagreements", "o.csv"]
    assert isinstance(CliRunner().invoke(app, some).exception, tm.InputError)
    run(*some, "--id", "key")
    items = pd.read_csv("items.csv").set_index("key")
    differ = pd.read_csv("o.csv")
    assert (items.loc[differ.item, "topic"] == "u").all()
    assert (items.loc[differ.item, "j"] != items.loc[differ.item, "h"]).all()


@pytest.mark.usefixtures("items")
def test_rows_inside_of_a_document_can_be_reported(items):
    Path("log.json").write_text(json.dumps({"samples": items.head(200).to_dict("records")}))
    file = ["judge", "log.json#samples", "--judge", "j", "--human", "h"]
    run(*file, "--report", "r.html", "--disagreements", "o.csv")
    assert Path("r.html").exists()
    assert Path("o.csv").exists()
    done = CliRunner().invoke(app, [*file, "--report", "log.json"])
    assert isinstance(done.exception, tm.InputError)
