"""``tallymark audit plan`` and ``estimate``, and ``quantify --audit``."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.notes import GuardWarning


@pytest.fixture
def truth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 4, 4_000).round(6)
    pd.DataFrame({"id": np.arange(4_000), "p": p, "g": rng.choice(["n", "s"], 4_000)}).to_csv("f.csv", index=False)
    return rng.random(4_000) < p


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.output


def checked(truth):
    table = pd.read_csv("list.csv")
    assert list(table.columns) == ["id", "p", "g", "row", "stratum", "inclusion", "checked"]
    assert (table.id == table.row).all()
    table["checked"] = np.where(truth[table.row], "yes", "no")
    table.to_csv("done.csv", index=False)
    return table


def test_plan_check_estimate(truth):
    printed = run(
        "audit",
        "plan",
        "f.csv",
        "--score",
        "p",
        "--n",
        "300",
        "--out",
        "list.csv",
        "--all",
        "all.csv",
        "--report",
        "r.html",
    )
    assert "Check 300 rows" in printed
    table = checked(truth)
    options = ["--score", "p", "--threshold", "0.2", "--inclusion", "inclusion", "--pos-label", "yes"]
    answer = json.loads(run("audit", "estimate", "all.csv", "done.csv", *options, "--by", "g", "--json"))
    assert answer["prevalence"]["low"] <= truth.mean() <= answer["prevalence"]["high"]
    assert {line["group"]["g"] for line in answer["groups"]} == {"n", "s"}
    frame = pd.read_csv("all.csv")
    frame["y"] = pd.Series(truth[table.row].astype(float), index=table.row)
    same = tm.audits.estimate(frame, label="y", score="p", threshold=0.2, inclusion="inclusion")
    assert answer["metrics"]["recall"]["value"] == pytest.approx(same["recall"].value)
    # The list alone, and a table on screen with everything on it.
    alone = json.loads(run("audit", "estimate", "done.csv", *options, "--json"))
    assert alone["prevalence"]["prevalence"] == pytest.approx(answer["prevalence"]["prevalence"])
    shown = run("audit", "estimate", "all.csv", "done.csv", *options, "--by", "g", "--report", "e.html")
    assert "sum of the groups" in shown
    assert "recall" in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat((t, t.head(2))), "more than once"),
        (lambda t: t.assign(row=t.row + 10**6), "must give places"),
    ],
)
def test_lists_that_do_not_fit_are_refused(truth, change, message, capsys):
    run("audit", "plan", "f.csv", "--score", "p", "--n", "50", "--design", "simple", "--out", "list.csv")
    change(checked(truth)).to_csv("done.csv", index=False)
    with pytest.raises(tm.InputError, match=message):
        run("audit", "estimate", "f.csv", "done.csv", "--score", "p")


def test_quantify_counts_by_the_audit_too_and_says_when_it_disagrees(truth):
    frame = pd.read_csv("f.csv")
    frame["y"] = np.where(frame.id % 5 == 1, truth, np.nan)
    frame.to_parquet("one.parquet")
    answer = json.loads(
        run("quantify", "one.parquet", "--label", "y", "--score", "p", "--method", "ac", "--audit", "--json")
    )
    audit = next(line for line in answer["estimates"] if line["method"] == "audit")
    assert audit["n"] == 4_000
    assert audit["low"] <= truth.mean() <= audit["high"]
    assert not [note for note in answer["warnings"] if note["code"] == "TM118"]
    # The unlabelled positives score far lower than the labelled ones: the quantifier is fooled, the audit is not.
    rng = np.random.default_rng(1)
    low = truth & frame.y.isna()
    frame["p"] = np.where(
        low,
        0.01 * rng.random(len(frame)),
        np.where(truth, 0.7 + 0.3 * rng.random(len(frame)), 0.5 * rng.random(len(frame))),
    )
    frame.to_parquet("moved.parquet")
    answer = json.loads(
        run(
            "quantify",
            "moved.parquet",
            "--label",
            "y",
            "--score",
            "p",
            "--method",
            "ac",
            "--audit",
            "--json",
            "--report",
            "r.html",
        )
    )
    assert [note for note in answer["warnings"] if note["code"] == "TM118"]


def test_an_audit_takes_one_file(truth):
    with pytest.raises(tm.InputError, match="leave the second file out"):
        run("quantify", "f.csv", "f.csv", "--label", "g", "--score", "p", "--pos-label", "n", "--audit")


def test_numbers_of_a_csv_are_numbers_in_parquet(truth):
    pd.DataFrame(
        {"p": [0.1, 0.25, 0.5, 0.75] * 10, "code": ["01", "02", "10", "11"] * 10, "n": [1, 2, 3, 4] * 10}
    ).to_csv("codes.csv", index=False)
    run("audit", "plan", "codes.csv", "--score", "p", "--n", "10", "--all", "codes.parquet")
    made = pd.read_parquet("codes.parquet")
    assert made.p.tolist()[:4] == [0.1, 0.25, 0.5, 0.75]
    assert made.code.tolist()[:2] == ["01", "02"]
    assert made.n.sum() == 100


PLAN = ("audit", "plan", "f.csv", "--score", "p", "--n", "50", "--out", "list.csv", "--all", "all.csv")
ESTIMATE = ("--score", "p", "--pos-label", "yes", "--inclusion", "inclusion")


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.sort_values("p"),
        lambda f: f.iloc[1:],
        lambda f: pd.concat((f.head(1), f)),
        lambda f: f.assign(p=f.p.to_numpy()[::-1]),
    ],
)
def test_rows_checked_in_another_file_are_refused(truth, change):
    run(*PLAN)
    checked(truth)
    change(pd.read_csv("all.csv")).to_csv("other.csv", index=False)
    with pytest.raises(tm.InputError, match="the file is not the one that the rows were drawn from"):
        run("audit", "estimate", "other.csv", "done.csv", *ESTIMATE)


def test_checked_rows_keep_what_a_spreadsheet_writes_and_need_a_column_to_be_recognised_by(truth):
    run(*PLAN)
    table = checked(truth).assign(
        p=lambda t: t.p.map(lambda p: f" {p:.9g}".replace(".", ",")), g=lambda t: t.g.str.upper()
    )
    table.to_csv("done.csv", index=False, sep=";")
    run("audit", "estimate", "all.csv", "done.csv", *ESTIMATE)
    table[["row", "checked"]].to_csv("done.csv", index=False)
    with pytest.raises(tm.InputError, match="no column of 'all.csv' by which its rows can be recognised"):
        run("audit", "estimate", "all.csv", "done.csv", *ESTIMATE)


def test_probabilities_that_a_plan_wrote_are_not_left_unused(truth):
    run(*PLAN)
    checked(truth)
    for files in (["f.csv", "done.csv"], ["done.csv"]):
        with pytest.raises(tm.InputError, match="add --inclusion inclusion"):
            run("audit", "estimate", *files, "--score", "p", "--pos-label", "yes")
    run("audit", "estimate", "done.csv", *ESTIMATE)
    # A simple sample needs none, beside the file that it is a sample of.
    run("audit", "plan", "f.csv", "--score", "p", "--n", "50", "--design", "simple", "--out", "list.csv")
    checked(truth)
    run("audit", "estimate", "f.csv", "done.csv", "--score", "p", "--pos-label", "yes")


@pytest.fixture
def planned(tmp_path):
    """A target of 300 rows and a list of 40 of them; a function writes verdicts into the list."""
    scores = np.random.default_rng(0).random(300)
    pd.DataFrame({"p": scores, "id": np.arange(300)}).to_csv(tmp_path / "rows.csv", index=False)

    def with_verdicts(verdicts):
        pd.DataFrame({"row": np.arange(40), "p": scores[:40], "checked": verdicts}).to_csv(
            tmp_path / "list.csv", index=False
        )
        return [
            "audit", "estimate", str(tmp_path / "rows.csv"), str(tmp_path / "list.csv"), "--score", "p", "--threshold", "0.5", "--json",
        ]  # fmt: skip

    return with_verdicts


def test_planned_rows_that_were_not_checked_are_counted(planned):
    verdicts = [i % 2 for i in range(40)]
    with pytest.warns(GuardWarning):
        some = CliRunner().invoke(app, planned(["" if i % 4 == 0 else v for i, v in enumerate(verdicts)]))
    told = {note["code"]: note["message"] for note in json.loads(some.stdout)["warnings"]}
    assert "30 of the 40 planned rows" in told["TM125"]
    everything = CliRunner().invoke(app, planned(verdicts))
    assert json.loads(everything.stdout)["warnings"] == []


def test_a_single_verdict_that_is_no_obvious_label_is_named(planned):
    refused = CliRunner().invoke(app, planned(["x" if i % 2 else "" for i in range(40)]))
    assert "checked has the value 'x' only" in str(refused.exception)
    assert "ranking" not in str(refused.exception)
