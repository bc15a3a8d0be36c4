"""``tallymark index`` and ``tallymark advise``."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app

OPTIONS = ["--period", "t", "--product", "id", "--price", "p", "--quantity", "q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(
        {"t": np.repeat(["2024-01", "2024-02", "2024-03"], 5), "id": np.tile(np.arange(5), 3), "shop": 1}
    )
    frame["p"], frame["q"] = np.exp(rng.normal(size=15)), rng.integers(1, 9, 15)
    frame.to_csv("s.csv", index=False)
    return frame


def run(*arguments):
    result = CliRunner().invoke(app, ["index", "s.csv", *OPTIONS, *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_table_json_and_report(folder, tmp_path):
    wanted = tm.prices.index(folder, period="t", product="id", price="p", quantity="q").values
    printed = run("--report", "r.html")
    assert f"{wanted[-1]:.4f}" in printed
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    answer = json.loads(run("--formula", "fisher,jevons", "--json"))
    assert answer["command"] == "index"
    assert [one["formula"] for one in answer["indices"]] == ["fisher", "jevons"]
    assert [row["index"] for row in answer["indices"][0]["periods"]] == pytest.approx(wanted.tolist())
    assert answer["indices"][0]["product"] == ["id"]


def test_products_by_several_columns_and_conditions(folder):
    answer = json.loads(run("--product", "shop", "--where", "t < '2024-03'", "--formula", "geks_fisher", "--json"))
    assert answer["indices"][0]["product"] == ["id", "shop"]
    assert len(answer["indices"][0]["periods"]) == 2


def test_advice_is_printed_with_its_reasons():
    asked = ["advise", "--no-prevalence-stable", "--values-stable", "--prevalence", "low", "--emphasise", "fp"]
    printed = CliRunner().invoke(app, asked, catch_exceptions=False).output
    assert "PR space" in printed
    assert "beta 0.5" in printed
    answer = json.loads(CliRunner().invoke(app, [*asked, "--json"], catch_exceptions=False).output)
    assert (answer["command"], answer["metrics"][0], answer["beta"]) == ("advise", "fbeta", 0.5)


def test_impact_and_space(folder, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"y": rng.choice(["milk", "tea"], 300), "v": rng.gamma(3.0, size=300), "m": rng.integers(1, 3, 300)}
    )
    for name in ("a", "b"):
        frame[name] = np.where(rng.random(300) < 0.8, frame.y, "tea")
    frame.to_csv("c.csv", index=False)

    def answer(*arguments):
        return CliRunner().invoke(app, [*arguments], catch_exceptions=False).output

    impact = [
        "impact",
        "c.csv",
        "--label",
        "y",
        "--predicted",
        "a",
        "--value",
        "v",
        "--period",
        "m",
        "--pos-label",
        "milk",
    ]
    found = json.loads(answer(*impact, "--json"))
    wanted = tm.prices.impact(frame, label="y", predicted="a", value="v", period="m", pos_label="milk").to_dict()
    assert found["impacts"] == wanted["impacts"]
    assert "what false negatives take away" in answer(*impact, "--report", "i.html")
    space = ["space", "c.csv", "--label", "y", "--predicted", "a,b", "--pos-label", "milk", "--replicates", "200"]
    found = json.loads(answer(*space, "--json"))
    assert {row["classifier"] for row in found["classifiers"]} == {"a", "b", "call none", "call all"}
    assert "best choice" in answer(*space, "--report", "s.html")
    for page in ("i.html", "s.html"):
        assert (tmp_path / page).read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.filterwarnings("ignore::tallymark.GuardWarning")
def test_impact_prints_its_notes(folder):
    order = np.arange(400)
    frame = pd.DataFrame({"y": order % 2, "c": np.where(order % 9 == 0, 1 - order % 2, order % 2)})
    frame.assign(v=np.exp(2.0 * np.random.default_rng(0).normal(size=400))).to_csv("n.csv", index=False)
    asked = ["impact", "n.csv", "--label", "y", "--predicted", "c", "--value", "v"]
    assert "! TM113" in CliRunner().invoke(app, asked, catch_exceptions=False).output
    answer = json.loads(CliRunner().invoke(app, [*asked, "--json"], catch_exceptions=False).stdout)
    assert [note["code"] for note in answer["warnings"]] == ["TM113"]


def test_watch(folder, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"m": np.repeat(np.arange(1, 9), 120), "s": rng.random(960)})
    frame["y"] = np.where(frame.m < 5, rng.random(960) < frame.s, np.nan)
    frame.to_csv("w.csv", index=False)

    def answer(*arguments):
        result = CliRunner().invoke(
            app, ["watch", "w.csv", "--period", "m", "--score", "s", "--label", "y", *arguments], catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        return result.output

    found = json.loads(answer("--json", "--metric", "recall", "--reference", "4"))
    wanted = tm.monitor.watch(frame, period="m", score="s", label="y", metrics="recall", reference=4).to_dict()
    assert found["periods"] == json.loads(json.dumps(wanted["periods"]))
    shown = answer("--store", "h.sqlite", "--report", "w.html")
    assert "expected accuracy" in shown
    assert (tmp_path / "h.sqlite").exists()
    with pytest.raises(tm.InputError, match="one of the files to be read"):
        CliRunner().invoke(
            app, ["watch", "w.csv", "--period", "m", "--score", "s", "--store", "w.csv"], catch_exceptions=False
        )


def test_an_index_under_error(folder, tmp_path):
    frame = folder.assign(own=lambda f: np.where(f.id < 3, "yes", "no"))
    frame.to_csv("s.csv", index=False)
    options = ["--label", "own", "--pos-label", "yes", "--metric-value", "0.9", "--draws", "100", "--formula", "jevons"]
    answer = json.loads(run(*options, "--json", "--tolerance", "0.5"))
    wanted = tm.prices.index_under_error(
        frame,
        period="t",
        product="id",
        price="p",
        quantity="q",
        label="own",
        pos_label="yes",
        metric_value=0.9,
        draws=100,
        formula="jevons",
    )
    assert answer["periods"] == wanted.to_dict()["periods"]
    assert "required_value" in answer
    assert "must reach" in run(*options, "--tolerance", "0.5", "--report", "u.html")
    assert (tmp_path / "u.html").exists()


def test_months_that_are_numbers_come_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"t": np.repeat(np.arange(8, 12), 2), "id": [1, 2] * 4, "p": np.arange(1.0, 9.0), "q": 1}).to_csv(
        "s.csv", index=False
    )
    assert [row["period"] for row in json.loads(run("--json"))["indices"][0]["periods"]] == [8, 9, 10, 11]


def test_costs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": rng.choice(["fraud", "fine"], 400, p=[0.2, 0.8]), "amount": rng.lognormal(1, 1, 400)})
    frame["p"] = rng.normal(1.5 * (frame.y == "fraud"))
    frame["called"] = np.where(frame.p > 1, "fraud", "fine")
    frame.to_csv("c.csv", index=False)
    pd.DataFrame({"truth": ["fraud", "fine"], "fraud": [0, 1], "fine": [9, 0]}).to_csv("m.csv", index=False)

    def answer(*arguments):
        return CliRunner().invoke(app, ["costs", "c.csv", "--label", "y", *arguments], catch_exceptions=False).output

    options = ["--score", "p", "--cost-fn", "amount", "--cost-fp", "0.5", "--pos-label", "fraud"]
    found = json.loads(answer(*options, "--json"))
    wanted = tm.decisions.costs(frame, label="y", score="p", cost_fn="amount", cost_fp=0.5, pos_label="fraud").to_dict()
    assert found["models"] == json.loads(json.dumps(wanted["models"]))
    assert "a row" in answer(*options, "--report", "c.html")
    assert (tmp_path / "c.html").exists()
    table = json.loads(answer("--predicted", "called", "--matrix", "m.csv", "--json"))
    assert sum(row["cost"] for row in table["by_class"]) == pytest.approx(-table["models"][0]["total"])


def test_advice_from_a_file(folder, tmp_path):
    rng = np.random.default_rng(1)
    pd.DataFrame({"m": np.repeat([1, 2], 200), "y": rng.choice(["a", "b"], 400), "v": rng.normal(size=400)}).to_csv(
        "a.csv", index=False
    )
    arguments = ["advise", "a.csv", "--period", "m", "--label", "y", "--value", "v", "--pos-label", "a"]
    answer = json.loads(CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False).output)
    assert answer["evidence"][0]["about"] == "prevalence"
    shown = CliRunner().invoke(app, [*arguments, "--report", "a.html"], catch_exceptions=False).output
    assert "chi-square" in shown
    assert (tmp_path / "a.html").exists()


def test_products_to_check_for_an_index(folder, tmp_path):
    folder.assign(s=0.1 + 0.15 * folder.id).to_csv("s.csv", index=False)
    options = [
        "audit",
        "index",
        "s.csv",
        "--period",
        "t",
        "--product",
        "id",
        "--price",
        "p",
        "--quantity",
        "q",
        "--score",
        "s",
        "--n",
        "2",
    ]
    answer = json.loads(CliRunner().invoke(app, [*options, "--json"], catch_exceptions=False).output)
    assert answer["n"] == 2
    shown = CliRunner().invoke(app, [*options, "--report", "x.html"], catch_exceptions=False).output
    assert "expected to shrink" in " ".join(shown.split())
    assert (tmp_path / "x.html").exists()
