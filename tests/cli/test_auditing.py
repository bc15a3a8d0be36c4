"""``tallymark audit plan`` and ``estimate``, and ``quantify --audit``."""

import json
from pathlib import Path

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
        "--size",
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
    share = [option for option in options if option not in {"--threshold", "0.2"}]
    alone, whole = (
        json.loads(run("audit", "estimate", *files, *share, "--json"))
        for files in (["done.csv"], ["all.csv", "done.csv"])
    )
    assert alone["prevalence"]["prevalence"] == pytest.approx(whole["prevalence"]["prevalence"])
    # Predictions of every row are known from the whole file only; they make the count of all rows that of the calls.
    called = (frame.p >= 0.2).sum()
    hits = answer["metrics"]["precision"]["value"] * called
    assert hits / answer["prevalence"]["count"] == pytest.approx(answer["metrics"]["recall"]["value"])
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
    run("audit", "plan", "f.csv", "--score", "p", "--size", "50", "--design", "simple", "--out", "list.csv")
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
    run("audit", "plan", "codes.csv", "--score", "p", "--size", "10", "--all", "codes.parquet")
    made = pd.read_parquet("codes.parquet")
    assert made.p.tolist()[:4] == [0.1, 0.25, 0.5, 0.75]
    assert made.code.tolist()[:2] == ["01", "02"]
    assert made.n.sum() == 100


PLAN = ("audit", "plan", "f.csv", "--score", "p", "--size", "50", "--out", "list.csv", "--all", "all.csv")
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
    run("audit", "plan", "f.csv", "--score", "p", "--size", "50", "--design", "simple", "--out", "list.csv")
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


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


MATRIX = """map,deforestation,forest,other,size
deforestation,66,5,4,200000
forest,1,153,11,3200000
other,2,9,313,6450000
"""


@pytest.mark.usefixtures("here")
def test_a_matrix_of_checked_rows():
    Path("m.csv").write_text(MATRIX)
    answer = json.loads(run("audit", "matrix", "m.csv", "--unit", "0.09", "--json"))
    same = tm.audits.from_matrix(
        pd.read_csv("m.csv", index_col=0).drop(columns="size"), [200_000, 3_200_000, 6_450_000], unit=0.09
    )
    assert answer["classes"]["deforestation"]["count"]["value"] == pytest.approx(same.counts["deforestation"].value)
    assert answer["accuracy"]["low"] == pytest.approx(same.accuracy.low)
    sizes = ["--size", "deforestation=200000,forest=3200000", "--size", "other=6450000"]
    Path("n.csv").write_text("\n".join(line.rpartition(",")[0] for line in MATRIX.split()))
    assert json.loads(run("audit", "matrix", "n.csv", *sizes, "--unit", "0.09", "--json"))["matrix"] == answer["matrix"]
    Path("sizes.csv").write_text("class,pixels\ndeforestation,200000\nforest,3200000\nother,6450000\n")
    by_file = json.loads(run("audit", "matrix", "n.csv", "--size", "sizes.csv", "--unit", "0.09", "--json"))
    assert by_file["matrix"] == answer["matrix"]
    shown = run("audit", "matrix", "m.csv", "--publish", "variation", "--report", "m.html")
    assert "coefficient of variation" in shown
    page = Path("m.html").read_text(encoding="utf-8")
    assert "deforestation" in page
    assert "coefficient of variation" in page


@pytest.mark.usefixtures("here")
def test_a_stratum_that_was_checked_completely_is_known():
    Path("m.csv").write_text("map,relevant,other,size\nrelevant,8000,0,8000\nother,5,1529,92000\n")
    matrix = {"relevant": {"relevant": 8_000}, "other": {"relevant": 5, "other": 1_529}}
    for option, finite in ((None, None), ("--finite", True), ("--areas", False)):
        answer = json.loads(run("audit", "matrix", "m.csv", *([] if option is None else [option]), "--json"))
        recall = tm.audits.from_matrix(matrix, [8_000, 92_000], finite=finite).recall["relevant"]
        assert answer["classes"]["relevant"]["recall"]["low"] == pytest.approx(recall.low)
        assert (answer["classes"]["relevant"]["precision"]["low"] == 1.0) == (finite is not False)
    Path("m.csv").write_text("map,relevant,other,size\nrelevant,8000,0,7000\nother,5,1529,92000\n")
    with pytest.raises(tm.InputError, match="--areas"):
        run("audit", "matrix", "m.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "column 'size'"),
        (["--size", "deforestation=2"], "no size of"),
        (["--size", "deforestation=many"], "expected a number"),
    ],
)
@pytest.mark.usefixtures("here")
def test_matrices_without_sizes_are_refused(options, message):
    Path("n.csv").write_text("\n".join(line.rpartition(",")[0] for line in MATRIX.split()))
    with pytest.raises(tm.InputError, match=message):
        run("audit", "matrix", "n.csv", *options)


def audited(rows=400, seed=0):
    """A file of rows with an id, three predicted classes, and the list of checked rows."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["x", "y", "z"], rows, p=[0.6, 0.3, 0.1])
    predicted = np.where(rng.random(rows) < 0.8, truth, "x")
    frame = pd.DataFrame({"key": [f"r{i}" for i in range(rows)], "map": predicted, "v": rng.random(rows).round(3)})
    frame.to_csv("all.csv", index=False)
    kept = rng.choice(rows, 90, replace=False)
    checked = frame.iloc[kept].assign(checked=truth[kept])
    checked.to_csv("checked.csv", index=False)
    return frame, checked, truth


@pytest.mark.usefixtures("here")
def test_checked_rows_are_joined_by_their_ids():
    frame, checked, _ = audited()
    options = ["--predicted", "map", "--id", "key"]
    answer = json.loads(run("audit", "estimate", "all.csv", "checked.csv", *options, "--json"))
    whole = frame.merge(checked[["key", "checked"]], how="left", on="key")
    same = tm.audits.estimate(whole, label="checked", predicted="map", id="key")
    assert answer["classes"]["z"]["recall"]["value"] == pytest.approx(same.recall["z"].value)
    assert answer["checked"] == 90
    # The order of the list does not matter, since ids say which row is which.
    checked.iloc[::-1].to_csv("checked.csv", index=False)
    again = json.loads(run("audit", "estimate", "all.csv", "checked.csv", *options, "--json"))
    assert again["classes"] == answer["classes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat((t, t.head(2))), "more than once"),
        (lambda t: t.assign(key="new"), "has no row with the key"),
        (lambda t: t.assign(key=t.key.where(t.index % 2 == 0)), "without a value of key"),
        (lambda t: t.assign(v=t.v + 1), "has v"),
    ],
)
@pytest.mark.usefixtures("here")
def test_ids_that_do_not_fit_are_refused(change, message):
    _, checked, _ = audited()
    change(checked).to_csv("checked.csv", index=False)
    with pytest.raises(tm.InputError, match=message):
        run("audit", "estimate", "all.csv", "checked.csv", "--predicted", "map", "--id", "key")


@pytest.mark.usefixtures("here")
def test_two_audits_are_compared_and_screening_is_stopped():
    frame, checked, _ = audited()
    whole = frame.merge(checked[["key", "checked"]], how="left", on="key")
    whole.to_csv("first.csv", index=False)
    whole.assign(checked=whole.checked.where(whole.checked != "z", "x")).to_csv("second.csv", index=False)
    answer = json.loads(run("audit", "change", "first.csv", "first.csv", "--json"))
    assert all(line["value"] == 0.0 for line in answer["changes"])
    with pytest.raises(tm.InputError, match="expected the same"):
        run("audit", "change", "first.csv", "second.csv")
    pd.DataFrame({"checked": [1] * 20 + [0] * 400}).to_csv("screened.csv", index=False)
    state = json.loads(run("audit", "stop", "screened.csv", "--n", "500", "--recall", "0.9", "--json"))
    assert state["stop"] is not None
    assert state["positives"] == 20
    pd.DataFrame({"checked": ["relevant"] * 20 + ["other"] * 400}).to_csv("screened.csv", index=False)
    named = ["audit", "stop", "screened.csv", "--n", "500", "--recall", "0.9", "--json"]
    assert json.loads(run(*named, "--pos-label", "relevant"))["p_value"] == state["p_value"]
    with pytest.raises(tm.InputError, match="pos-label"):
        run(*named)


@pytest.mark.usefixtures("here")
def test_a_plan_says_how_many_more():
    frame, checked, _ = audited()
    frame.merge(checked[["key", "checked"]], how="left", on="key").to_csv("first.csv", index=False)
    options = ["--predicted", "map", "--measure", "accuracy", "--checked", "checked"]
    printed = run("audit", "plan", "first.csv", *options, "--size", "40", "--out", "more.csv")
    assert "Check 40 more rows" in printed
    more = pd.read_csv("more.csv")
    assert more.checked.isna().sum() == 40
    # The rows checked before are in the list, so that its probabilities are those of the sample that it is.
    assert more.checked.notna().sum() == checked.checked.notna().sum()
    more["checked"] = more.checked.fillna(more["map"])
    more.to_csv("filled.csv", index=False)
    answer = json.loads(
        run("audit", "estimate", "filled.csv", "--label", "checked", "--inclusion", "inclusion", "--json")
    )
    assert answer["n"] == pytest.approx(len(frame), rel=0.05)


@pytest.mark.usefixtures("here")
def test_verdicts_of_the_file_that_the_list_lacks_are_not_lost():
    frame, checked, _ = audited()
    frame.assign(checked="x").to_csv("all.csv", index=False)
    checked.to_csv("list.csv", index=False)
    done = CliRunner().invoke(app, ["audit", "estimate", "all.csv", "list.csv", "--label", "checked", "--id", "key", "--predicted", "map"])  # fmt: skip
    assert isinstance(done.exception, tm.InputError)
    assert "lacks" in str(done.exception)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("map,a,b,total\na,66,5,71\nb,1,153,154\n", "column 'total'"),
        ("map,a,b\na,66,5\nb,1,153\nall,67,158\n", "line 'all'"),
    ],
)
def test_totals_of_a_matrix_are_no_class(text, what):
    Path("m.csv").write_text(text)
    done = CliRunner().invoke(app, ["audit", "matrix", "m.csv", "--size", "a=1000,b=2000"])
    assert isinstance(done.exception, tm.InputError)
    assert f"The {what} of 'm.csv' is the sum of the others" in str(done.exception)


@pytest.mark.usefixtures("here")
def test_a_judge_is_checked():
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.8
    verdict = np.where(rng.random(600) < 0.9, truth, ~truth)
    words = pd.DataFrame({"j": np.where(verdict, "pass", "fail"), "h": np.where(truth, "pass", "fail")})
    words["h"] = words.h.where(np.arange(600) < 100)
    words.assign(k=words.j, i=words.h).to_csv("items.csv", index=False)
    answer = json.loads(run("judge", "items.csv", "--judge", "j", "--human", "h", "--json"))
    same = tm.raters.judge(words, judge="j", human="h")
    assert answer["corrected"]["low"] == pytest.approx(same.corrected.low)
    assert answer["difference"] is None
    both = json.loads(run("judge", "items.csv", "--judge", "j,k", "--human", "h,i", "--json"))
    assert both["difference"]["value"] == 0.0
    printed = run("judge", "items.csv", "--judge", "j", "--human", "h", "--report", "j.html")
    assert "corrected" in printed
    assert "Pass rates" in Path("j.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("here")
def test_rows_checked_twice_replicate_weights_and_pooled_groups():
    frame, checked, truth = audited(rows=800)
    seen = frame.index.isin(checked.index)
    twice = frame.assign(y1=np.where(seen, truth, ""), y2=np.where(seen, frame["map"], ""))
    twice.to_csv("twice.csv", index=False)
    line = json.loads(run("audit", "change", "twice.csv", "--before", "y1", "--after", "y2", "--json"))["changes"][1]
    same = tm.audits.paired_change("twice.csv", before="y1", after="y2").of("x", "prevalence")
    assert line["low"] == pytest.approx(same["low"])
    with pytest.raises(tm.InputError, match="--before and --after"):
        run("audit", "change", "twice.csv")
    rng = np.random.default_rng(0)
    weights = pd.DataFrame({f"r{i}": 9.0 * rng.multinomial(90, np.full(90, 1 / 90)) for i in range(30)})
    survey = pd.concat([checked.reset_index(drop=True), weights], axis=1).assign(w=9.0)
    survey.to_csv("survey.csv", index=False)
    names = ",".join(weights)
    options = [
        "--weight",
        "w",
        "--replicate-weights",
        names,
        "--predicted",
        "map",
        "--publish",
        "nchs",
        "--report",
        "r.html",
    ]
    answer = json.loads(run("audit", "replicates", "survey.csv", *options, "--json"))
    one = tm.audits.from_replicates(
        survey, label="checked", weight="w", replicate_weights=list(weights), predicted="map"
    )
    assert answer["classes"]["x"]["recall"]["high"] == pytest.approx(one.recall["x"].high)
    assert "Publication" in Path("r.html").read_text(encoding="utf-8")
    areas = frame.assign(area=np.arange(800) % 8, y=np.where(seen, truth, ""))
    areas.to_csv("areas.csv", index=False)
    pooled = json.loads(run("audit", "estimate", "areas.csv", "--label", "y", "--by", "area", "--pool", "x", "--json"))
    assert len(pooled["pooled"]["groups"]) == 8


@pytest.mark.usefixtures("here")
def test_a_sheet_of_ids_and_verdicts_is_enough():
    _, checked, _ = audited()
    options = ["audit", "estimate", "all.csv", "checked.csv", "--predicted", "map", "--id", "key", "--json"]
    whole = json.loads(run(*options))
    checked[["key", "checked"]].to_csv("checked.csv", index=False)
    assert json.loads(run(*options))["classes"] == whole["classes"]
