import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from samples import probability_sample
from tallymark.cli.app import app, main
from tallymark.cli.commands import demo as demonstration
from tallymark.registry import METRICS

Y, P = probability_sample(400)


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    y3 = rng.choice(["cat", "dog", "eel"], 400)
    probabilities = rng.dirichlet(np.ones(3), 400) + (y3[:, None] == np.array(["cat", "dog", "eel"]))
    frame = pd.DataFrame({
        "y": Y, "p": P, "q": P**2, "word": np.where(Y == 1, "yes", "no"), "w": np.linspace(1, 3, 400),
        "k": np.arange(400) % 3 + 1, "region": ["north", "south"] * 200, "hat": (P > 0.5).astype(int), "y3": y3,
        "hat3": np.roll(y3, 7), **{f"p_{c}": probabilities[:, i] for i, c in enumerate(["cat", "dog", "eel"])},
        "<script>alert(1)</script>": P, "[bold]x[/bold]": P,
    })  # fmt: skip
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    return tmp_path


def run(*arguments):
    """A command that must succeed."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


def run_json(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def fails(monkeypatch, capsys, *arguments):
    """Status 2, nothing on standard output, one message on standard error."""
    monkeypatch.setattr(sys, "argv", ["tallymark", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (2, "")
    return err


@pytest.mark.parametrize("name", ["d.csv", "d.parquet"])
def test_evaluate_as_json_has_the_promised_shape(data, name):
    found = run_json("evaluate", data / name, "--label", "y", "--score", "p", "--score", "q", "--threshold", "youden")
    assert set(found) == {"command", "version", "n", "n_rows", "positives", "prevalence", "models", "warnings"}
    assert (found["n"], found["positives"]) == (400, int(Y.sum()))
    assert set(found["models"]) == {"p", "q"}
    model = found["models"]["p"]
    t = tm.tally(Y, P)
    assert model["threshold"] == t.at("youden").threshold
    auroc = model["metrics"]["auroc"]
    assert set(auroc) == {
        "value",
        "low",
        "high",
        "interval_method",
        "level",
        "chance",
        "prevalence",
        "bound",
        "optimism",
        "parameters",
        "reason",
        "no_interval",
    }
    assert auroc["value"] == tm.metrics.auroc(t)
    assert model["metrics"]["f1"]["value"] == tm.metrics.f1(t.at("youden"))


def test_undefined_is_null_with_a_reason_and_infinity_is_text(data):
    found = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--threshold", "0.99")
    metrics = found["models"]["p"]["metrics"]
    assert metrics["precision"]["value"] is None
    assert metrics["precision"]["reason"] == "precision: nothing was classified positive"
    found = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--threshold", "fpr:0")
    assert found["models"]["p"]["metrics"]["lr_plus"]["value"] == "inf"


def test_groups(data):
    found = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--by", "region")
    assert [group["group"] for group in found["groups"]] == [{"region": "north"}, {"region": "south"}]
    assert found["groups"][0]["models"]["p"]["metrics"]["auroc"]["value"] == tm.metrics.auroc(tm.tally(Y[::2], P[::2]))
    text = run("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--by", "region").stdout
    assert "north" in text
    assert "south" in text


def test_labels_in_words_weights_counts_and_prevalence(data):
    plain = run_json("evaluate", data / "d.csv", "--label", "word", "--pos-label", "yes", "--score", "p")
    assert plain["models"]["p"]["metrics"]["auroc"]["value"] == tm.metrics.auroc(tm.tally(Y, P))
    weighted = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--weight", "w")
    expected = tm.metrics.auroc(tm.tally(Y, P, weights=np.linspace(1, 3, 400)))
    assert weighted["models"]["p"]["metrics"]["auroc"]["value"] == pytest.approx(expected)
    counted = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--count", "k")
    assert counted["n"] == int((np.arange(400) % 3 + 1).sum())
    seen = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--prevalence", "0.002")
    assert seen["models"]["p"]["metrics"]["precision"]["prevalence"] == 0.002


def test_predicted_labels_and_class_probabilities(data):
    two = run_json("evaluate", data / "d.csv", "--label", "y", "--predicted", "hat")
    c = tm.confusion(Y, (P > 0.5).astype(int))
    assert two["models"]["hat"]["metrics"]["mcc"]["value"] == tm.metrics.mcc(c)
    three = run_json("evaluate", data / "d.csv", "--label", "y3", "--predicted", "hat3")
    assert set(three["models"]["hat3"]["classes"]) == {"cat", "dog", "eel"}
    assert three["positives"] is None
    columns = [f"--probability={c}=p_{c}" for c in ("cat", "dog", "eel")]
    scores = run_json("evaluate", data / "d.csv", "--label", "y3", *columns)
    model = scores["models"]["probability"]
    assert len(model["tables"]["spcc_one_vs_one"]) == 3
    assert model["metrics"]["auroc_ovo"]["value"] > 0.9
    line = ("evaluate", data / "d.csv", "--label", "y3", "--predicted", "hat3", "--classes", "cat,dog")
    some, whole = run_json(*line)["models"]["hat3"], three["models"]["hat3"]
    assert some["averaged_over"] == ["cat", "dog"]
    assert some["metrics"]["f1_macro"]["value"] != whole["metrics"]["f1_macro"]["value"]
    assert some["metrics"]["accuracy"] == whole["metrics"]["accuracy"]
    text = run("evaluate", data / "d.csv", "--label", "y3", "--predicted", "hat3").stdout
    assert "By class, lowest F1 first" in text


def test_the_table_shows_value_chance_and_meaning(data):
    text = run("evaluate", data / "d.csv", "--label", "y", "--score", "p").stdout
    assert "auroc" in text
    assert "0.5000" in text
    assert "Chance that a random positive" in " ".join(text.split())
    everything = run("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--all").stdout
    assert "kendall" in everything
    some = run("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--metric", "ks").stdout
    assert "ks" in some
    assert "auroc" not in some


def test_user_text_is_shown_as_it_is(data):
    for name in ("<script>alert(1)</script>", "[bold]x[/bold]"):
        text = run("evaluate", data / "d.csv", "--label", "y", "--score", name, "--score", "q").stdout
        assert name in text.replace("\n", "")
        assert name in run_json("evaluate", data / "d.csv", "--label", "y", "--score", name)["models"]


def test_labels_that_differ_in_case_are_not_two_classes(tmp_path, monkeypatch, capsys):
    (tmp_path / "d.csv").write_text("y,p\na,0.1\nA,0.9\na,0.3\nA,0.2\n")
    for label, other in ("aA", "Aa"):
        said = fails(
            monkeypatch, capsys, "evaluate", tmp_path / "d.csv", "--label", "y", "--pos-label", label, "--score", "p"
        )
        assert f"y has '{other}' (2 rows) beside the positive label '{label}'" in said


def test_guards_are_listed_once(data):
    found = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "hat")
    assert [w["code"] for w in found["warnings"]].count("TM101") == 1
    text = run("evaluate", data / "d.csv", "--label", "y", "--score", "hat").stdout
    assert text.count("TM101") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nofile.csv", "--label", "y", "--score", "p"), "No file 'nofile.csv'"),
        (("d.csv", "--label", "y", "--score", "pp"), "No column 'pp'; the data has"),
        (("d.csv", "--label", "lable", "--score", "p"), "Choose one with --label"),
        (("d.csv", "--label", "word", "--score", "p"), "which one is positive? Say so with pos_label"),
        (("d.csv", "--label", "word", "--pos-label", "maybe", "--score", "p"), "--pos-label 'maybe' does not occur"),
        (("d.csv", "--label", "y"), "Say what to evaluate: --label COLUMN and --score"),
        (("d.csv", "--label", "y", "--score", "p", "--predicted", "hat"), "Say what to evaluate"),
        (("d.csv", "--label", "y", "--score", "region"), "expected numbers"),
        (("d.csv", "--label", "y", "--score", "p", "--threshold", "yuoden"), "Did you mean 'youden'"),
        (("d.csv", "--label", "y", "--score", "p", "--prevalence", "2"), "strictly between 0 and 1"),
        (("d.csv", "--label", "y3", "--probability", "cat=p_cat"), "two or more different classes|No --probability column"),
        (("d.csv", "--label", "y3", "--probability", "cat"), "write CLASS=COLUMN"),
        (("d.csv", "--label", "y", "--score", "p", "--weight", "w", "--count", "k"), "not both"),
        (("d.csv", "--label", "y", "--predicted", "hat", "--cluster", "region"), "--cluster: only with --score"),
        (("d.csv", "--label", "y", "--score", "hat", "--strict"), "TM101"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_status_2_and_one_message(data, monkeypatch, capsys, arguments, message):
    import re

    monkeypatch.chdir(data)
    err = fails(monkeypatch, capsys, "evaluate", *arguments)
    assert err.startswith("tallymark: ")
    assert err.count("\n") == 1
    assert re.search(message.replace("?", r"\?"), err)


def test_metrics_glossary():
    text = run("metrics").stdout
    for name in METRICS:
        assert name in text
    one = run("metrics", "mcc").stdout
    assert "Matthews" in one
    found = run_json("metrics", "auroc")["metrics"]
    assert found["auroc"]["range"] == [0.0, 1.0]
    assert set(run_json("metrics")["metrics"]) == set(METRICS)


def test_an_unknown_metric_is_told_its_neighbour(monkeypatch, capsys):
    assert "Did you mean 'auroc'" in fails(monkeypatch, capsys, "metrics", "aurok")


def test_demo_writes_the_same_rare_event_data_for_the_same_seed(tmp_path):
    assert "What to look at" in run("demo", "--folder", tmp_path / "a", "--seed", "1").stdout
    demonstration.write(tmp_path / "b.csv", np.random.default_rng(1), 60_000, 0.002)
    assert (tmp_path / "a" / "companies.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    frame = pd.read_csv(tmp_path / "a" / "companies.csv")
    assert 0.001 < frame["platform"].mean() < 0.003
    assert {"region", "model_a", "model_b"} <= set(frame)


def test_demo_that_cannot_write(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    assert "Cannot write" in fails(monkeypatch, capsys, "demo", "--folder", tmp_path / "file" / "sub")


def test_the_installed_command_answers():
    run = subprocess.run(
        [sys.executable, "-m", "tallymark.cli.app", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("tallymark ")


def test_evaluate_shows_intervals_and_their_method(data):
    found = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--level", "0.9")
    measure = found["models"]["p"]["metrics"]["auroc"]
    assert measure["low"] < measure["value"] < measure["high"]
    assert (measure["interval_method"], measure["level"]) == ("beta, extra row", 0.9)
    none = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--level", "0")
    assert none["models"]["p"]["metrics"]["auroc"]["low"] is None
    drawn = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--interval", "bca", "--metric", "f1")
    assert drawn["models"]["p"]["metrics"]["f1"]["interval_method"] == "plain bootstrap, bca"


def test_compare(data):
    table = run("compare", data / "d.csv", "--label", "y", "--score", "p", "--score", "w").stdout
    assert "p − w" in table
    assert "MOVER" in table
    found = run_json(
        "compare", data / "d.parquet", "--label", "word", "--pos-label", "yes", "--score", "p", "--score", "q",
        "--metric", "f1", "--threshold", "0.5", "--without-simple", "--equivalence", "0.5", "--weight", "w",
    )  # fmt: skip
    assert found["pairs"][0]["method"] == "paired bootstrap"
    assert found["simple"]["verdict"] in {"negligible", "moderate", "decisive"}
    assert set(found["values"]) == {"p", "q"}
    chosen = (
        "compare",
        data / "d.csv",
        "--label",
        "y",
        "--score",
        "p",
        "--score",
        "w",
        "--metric",
        "f1",
        "--threshold",
        "f1",
    )
    assert "thresholds chosen by f1 anew in every resample" in " ".join(run(*chosen).stdout.split())
    assert run_json(*chosen)["policy"] == "f1"
    assert run_json(*chosen)["pairs"][0]["method"] == "paired bootstrap, choice included"


def test_compare_says_what_is_wrong(data, monkeypatch, capsys):
    for arguments, message in (
        (("--score", "p"), "two models"),
        (("--score", "p", "--score", "p"), "each once"),
        (("--score", "p", "--score", "nope"), "'nope'"),
        (("--score", "p", "--score", "q", "--metric", "f1"), "needs a threshold"),
        (("--score", "p", "--score", "q", "--threshold", "0.5"), "does not depend on a threshold"),
    ):
        assert message in fails(monkeypatch, capsys, "compare", data / "d.csv", "--label", "y", *arguments)


def test_thresholds_by_policy_with_their_optimism(data):
    table = run("thresholds", data / "d.csv", "--label", "y", "--score", "p").stdout
    assert "youden" in table
    assert "optimism" in table
    found = run_json(
        "thresholds", data / "d.csv", "--label", "y", "--score", "p", "--policy", "f1", "--policy", "tpr:0.9"
    )
    assert [one["metric"] for one in found["thresholds"]] == ["f1", "recall"]
    assert found["thresholds"][0]["low"] <= found["thresholds"][0]["threshold"] <= found["thresholds"][0]["high"]


def test_metrics_by_size_of_the_sample(data):
    table = run("by-size", data / "d.csv", "--label", "y", "--score", "p", "--size", "50", "--size", "200").stdout
    assert "halve the interval of auroc" in table
    found = run_json("by-size", data / "d.csv", "--label", "y", "--score", "p", "--size", "100", "--metric", "auroc")
    assert found["rows"][0]["n"] == 100


def test_mann_whitney_is_that_of_scipy(tmp_path):
    from scipy.stats import mannwhitneyu

    (tmp_path / "six.csv").write_text(
        "y,a,b,w\n-1,-2.93,1,1\n-1,-4.73,2,1\n1,-0.61,3,1\n1,0.96,3,1\n-1,-2.76,3,1\n1,-1.61,5,1\n"
    )
    found = run_json("mann-whitney", tmp_path / "six.csv", "--label", "y", "--score", "a,b")["models"]
    # The worked example of the laboratory exercise: rank sums 6 and 15.
    assert (found[0]["rank_sum_negative"], found[0]["rank_sum_positive"], found[0]["u"]) == (6.0, 15.0, 0.0)
    for one, (up, down), how in zip(
        found,
        (([-0.61, 0.96, -1.61], [-2.93, -4.73, -2.76]), ([3, 3, 5], [1, 2, 3])),
        ("exact", "asymptotic"),
        strict=True,
    ):
        expected = mannwhitneyu(up, down, method=how)
        assert (one["u_plus"], one["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    table = run("mann-whitney", tmp_path / "six.csv", "--label", "y", "--score", "a,b").stdout
    printed = [line.split()[:4] for line in table.splitlines() if line[:2] in {"a ", "b "}]
    assert printed == [["a", "0", "15", "6"], ["b", "1", "14", "7"]]
    one_sided = run_json(
        "mann-whitney", tmp_path / "six.csv", "--label", "y", "--score", "a", "--alternative", "greater", "--count", "w"
    )
    assert one_sided["models"][0]["p_value"] == pytest.approx(0.05)


def test_sample_size_before_there_is_data():
    assert (
        "128 of them positive"
        in run("sample-size", "--auroc", "0.85", "--difference", "0.05", "--prevalence", "0.1").stdout
    )
    assert run_json("sample-size", "--auroc", "0.85", "--difference", "0.05")["n"] > 0


@pytest.fixture
def counted(tmp_path):
    rng = np.random.default_rng(0)

    def frame(n, share, *, labelled):
        y = rng.random(n) < share
        p = 1 / (1 + np.exp(-rng.normal(3 * y - 1.5)))
        return pd.DataFrame({
            "y": np.where(y, "yes", "no") if labelled else None, "p": p, "d": np.log(p / (1 - p)), "w": rng.uniform(1, 3, n),
            "region": np.where(np.arange(n) % 3 == 0, "it's \"south\"", "north"), "month": np.arange(n) % 2 + 1,
            "p_no": 1 - p,
        })  # fmt: skip

    known, new = frame(600, 0.5, labelled=True), frame(2_000, 0.1, labelled=False)
    known.to_csv(tmp_path / "known.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    pd.concat([known, new]).to_csv(tmp_path / "all.csv", index=False)
    return tmp_path, known, new


def test_quantify_as_json_is_what_the_library_says(counted):
    folder, known, new = counted
    found = run_json(
        "quantify", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "p", "--pos-label", "yes",
        "--method", "ac,ms", "--method", "bayes",
    )  # fmt: skip
    assert [line["method"] for line in found["estimates"]] == ["ac", "ms", "bayes"]
    t, u = tm.tally(known["y"], known["p"], pos_label="yes"), tm.tally(scores=new["p"])
    for line in found["estimates"]:
        ours = tm.quantify.estimate(line["method"], t, u)
        assert line["group"] is None
        assert (line["prevalence"], line["low"], line["high"], line["count"]) == pytest.approx(
            (ours.prevalence, ours.low, ours.high, ours.count)
        )
    assert found["warnings"] == []
    assert "do not contradict prior shift" in found["fit"]["verdict"]
    assert "Only labels from the target can tell" in found["sensitivity"]["sentence"]


def test_quantify_of_one_file_takes_rows_without_a_label(counted):
    folder, *_ = counted
    two = run_json(
        "quantify", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "p", "--pos-label", "yes"
    )
    one = run_json("quantify", folder / "all.csv", "--label", "y", "--score", "p", "--pos-label", "yes")
    for a, b in zip(one["estimates"], two["estimates"], strict=True):
        assert a["prevalence"] == pytest.approx(b["prevalence"])
    assert "known" not in two
    for a, whole in zip(one["estimates"], one["with_known"], strict=True):
        assert whole["count"] == pytest.approx(a["count"] + one["known"]["positives"])
        assert whole["n"] == a["n"] + one["known"]["n"]


def test_quantify_by_group_adds_up_and_grows(counted):
    folder, *_ = counted
    found = run_json(
        "quantify", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "p", "--pos-label", "yes",
        "--method", "ac", "--by", "region,month", "--growth", "month", "--expect", "precision,f1", "--weight", "w",
    )  # fmt: skip
    *groups, total = found["estimates"]
    assert len(groups) == 4
    assert groups[0]["group"].keys() == {"region", "month"}
    assert total["count"] == pytest.approx(sum(line["count"] for line in groups))
    assert total["group"] is None
    assert found["growth"][0]["low"] < found["growth"][0]["growth"] < found["growth"][0]["high"]
    regions = [line for line in found["growth"] if line["group"]]
    assert {line["group"]["region"] for line in regions} == {group["group"]["region"] for group in groups}
    months = [line for line in found["subtotals"] if "month" in line["group"]]
    assert sum(line["count"] for line in months) == pytest.approx(total["count"])
    assert len(found["fits"]["groups"]) == 4
    assert found["expected"]["metrics"]["precision"]["low"] > 0


def test_quantify_prints_a_table(counted):
    folder, *_ = counted
    text = run(
        "quantify", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "d", "--pos-label", "yes",
        "--by", "region", "--growth", "region", "--order", 'north,it\'s "south"', "--expect", "precision", "--threshold", "0",
    ).stdout  # fmt: skip
    for part in (
        'it\'s "south"',
        "(sum of groups)",
        "growth of the count",
        "Expected at threshold",
        "cc: not corrected",
        "Fit by group: ",
        "Sensitivity: ",
    ):
        assert part in text
    bare = run(
        "quantify", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "d", "--pos-label", "yes"
    )
    assert "bayes" in bare.stdout
    assert "cc " not in bare.stdout


def test_quantify_of_more_classes(data):
    pairs = [part for c in ("cat", "dog", "eel") for part in ("--probability", f"{c}=p_{c}")]
    found = run_json("quantify", data / "d.csv", data / "d.parquet", "--label", "y3", *pairs, "--method", "cc,pacc")
    assert [line["class"] for line in found["estimates"]] == ["cat", "dog", "eel"] * 2
    assert sum(line["prevalence"] for line in found["estimates"]) == pytest.approx(2.0)
    assert (
        "eel" in run("quantify", data / "d.csv", data / "d.parquet", "--label", "y3", *pairs, "--method", "ac").stdout
    )


def test_quantify_refuses_what_it_cannot_count(counted, monkeypatch, capsys):
    folder, *_ = counted
    files = (folder / "known.csv", folder / "new.parquet")
    label = ("--label", "y", "--pos-label", "yes")
    for arguments, message in [
        ((*files, *label), "--score COLUMN"),
        ((*files, *label, "--score", "q"), "No column 'q'"),
        ((*files, *label, "--score", "p", "--method", "magic"), "No quantifier is called 'magic'"),
        ((*files, *label, "--score", "d", "--method", "em"), "em needs probabilities"),
        ((*files, *label, "--score", "p", "--growth", "month"), "not among the columns of --by"),
        ((*files, "--label", "y", "--score", "p"), "which one is positive"),
        ((files[0], *label, "--score", "p"), "has a label: there is nothing to count"),
        ((*files, *label, "--score", "p", "--probability", "yes=p"), "go with --score"),
        ((*files, "--label", "y", "--probability", "yes=p", "--growth", "month"), "--growth: these go with --score"),
        (
            (*files, *label, "--score", "p", "--by", "region", "--population", 9000),
            "--population is the size behind one",
        ),
        ((*files, *label, "--score", "p", "--method", "ac", "--calibration", "vs"), "calibration goes with em"),
    ]:
        assert message in fails(monkeypatch, capsys, "quantify", *arguments)


def test_from_counts(monkeypatch, capsys):
    table = ("--tp", 80, "--fn", 20, "--fp", 10, "--tn", 90, "--predicted-positive", 300, "--n", 1000)
    found = run_json("from-counts", *table, "--method", "ac,calibration")
    assert found["estimates"][0]["prevalence"] == pytest.approx(2 / 7)
    assert "draws" in run("from-counts", *table).stdout
    assert "0 <= predicted_positive <= n" in fails(monkeypatch, capsys, "from-counts", *table[:-1], 10)


def test_from_counts_of_a_test(monkeypatch, capsys):
    target = ("--predicted-positive", 4, "--n", 100)
    counted = run_json("from-counts", *target, "--sensitivity", "57/60", "--specificity", "98/100", "--method", "ac")
    assert counted["estimates"][0]["high"] == pytest.approx(0.089091, abs=1e-6)
    rates = ("--sensitivity", "0.95", "--specificity", "0.98, 0.95, 0.99")
    several = run_json("from-counts", *target, "--predicted-positive", 40, "--n", 200, *rates, "--method", "ac")
    assert [one["group"] for one in several["estimates"]] == [{"population": 1}, {"population": 2}]
    assert (
        several["estimates"][0]["high"]
        == tm.audits.from_counts(predicted_positive=4, n=100, sensitivity=0.95, specificity=(0.98, 0.95, 0.99)).high
    )
    assert "population" in run("from-counts", *target, *target, *rates).stdout
    for options, message in [
        (("--sensitivity", "57/60"), "specificity is missing"),
        (("--sensitivity", "57/60/2", "--specificity", 0.9), "--sensitivity is '57/60/2'"),
        (("--sensitivity", "high", "--specificity", 0.9), "expected a number, value,low,high or right/rows"),
        (("--tp", 3), "--fn is missing"),
        (("--tp", 3, *rates), "give one of both"),
        ((*rates, "--n", 3), "one number and n of 2 populations"),
    ]:
        assert message in fails(monkeypatch, capsys, "from-counts", *target, *options)


@pytest.mark.parametrize("method", ["bayes", "platt", "isotonic", "beta"])
def test_calibrate_adds_a_column(counted, method):
    folder, _, new = counted
    out = folder / "it's out.csv"
    found = run_json(
        "calibrate", folder / "known.csv", folder / "new.parquet", "--label", "y", "--score", "p", "--pos-label", "yes",
        "--out", out, "--method", method,
    )  # fmt: skip
    written = pd.read_csv(out)
    assert list(written.columns) == [*new.columns, "probability"]
    assert written["p"].to_numpy() == pytest.approx(new["p"].to_numpy())
    assert written["probability"].sum() == pytest.approx(found["sum"])
    assert [path.name for path in folder.glob("*unfinished*")] == []


def test_calibrate_refuses(counted, monkeypatch, capsys):
    folder, *_ = counted
    files = (
        "calibrate",
        folder / "known.csv",
        folder / "new.parquet",
        "--label",
        "y",
        "--score",
        "p",
        "--pos-label",
        "yes",
    )
    for more, message in [
        (("--out", folder / "x.txt"), "ends in .csv, .parquet, .xlsx, .ods"),
        (("--out", folder / "x.csv", "--column", "w"), "has a column 'w' already"),
        (("--out", folder / "no" / "x.csv"), "x.csv"),
        (("--out", folder / "x.csv", "--method", "magic"), "Choose one of: platt, isotonic, beta, temperature, bayes"),
    ]:
        assert message in fails(monkeypatch, capsys, *files, *more)


def test_quantifiers_are_explained(monkeypatch, capsys):
    assert "median sweep" in run("quantifiers").stdout.lower() or "Median of" in run("quantifiers").stdout
    assert "tpr - fpr" in run("quantifiers", "ms").stdout
    assert "Kullback" in run("quantifiers", "kld").stdout
    assert run_json("quantifiers", "em")["quantifiers"]["em"]["needs"] == "probabilities"
    assert "No quantifier or loss" in fails(monkeypatch, capsys, "quantifiers", "magic")


def test_options_that_would_do_nothing_are_refused(data, tmp_path, monkeypatch, capsys):
    tm.tally(Y, P).save(tmp_path / "t.tally")
    for options in (["--score", "p"], ["--by", "g"], ["--where", "x"], ["--weight", "w"], ["--threads", "2"]):
        assert "a saved summary has none" in fails(monkeypatch, capsys, "evaluate", tmp_path / "t.tally", *options)
    three = ["--label", "y3", *(part for c in "abc" for part in ("--probability", f"{c}=p{c}"))]
    columns = three if "pa" in pd.read_csv(data / "d.csv").columns else None
    predicted = ["--label", "y", "--predicted", "hat"]
    assert "only with --score" in fails(monkeypatch, capsys, "evaluate", data / "d.csv", *predicted, "--threads", "2")
    if columns:
        said = fails(monkeypatch, capsys, "evaluate", data / "d.csv", *columns, "--pos-label", "a")
        assert "--pos-label" in said


def test_strict_holds_for_saved_files_too(tmp_path, monkeypatch, capsys):
    tm.tally(Y, (P > 0.5).astype(float)).save(tmp_path / "hard.tally")
    assert "TM101" in fails(monkeypatch, capsys, "evaluate", tmp_path / "hard.tally", "--strict")


def test_clusters_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    own = rng.random(60) < 0.4
    c = rng.integers(60, size=2_000)
    frame = pd.DataFrame({"y": own[c].astype(int), "a": rng.normal(1.5 * own)[c], "b": rng.normal(own)[c], "k": c})
    frame.to_csv("f.csv", index=False)
    runner = CliRunner()

    def answer(*arguments):
        return json.loads(runner.invoke(app, [*arguments, "--json"], catch_exceptions=False).stdout)

    options = ["f.csv", "--label", "y", "--score", "a"]
    wide = answer("evaluate", *options, "--cluster", "k")["models"]["a"]["metrics"]["auroc"]
    same = tm.evaluate(tm.tally(frame, label="y", score="a", cluster="k"))["auroc"]
    assert (wide["low"], wide["high"]) == pytest.approx(same.interval)
    found = answer("compare", *options, "--score", "b", "--cluster", "k")
    assert "clusters of rows" in json.dumps(found) or '"sampling": "clusters"' in json.dumps(found)
    frame[:500].drop(columns="y").to_csv("new.csv", index=False)
    counted = answer("quantify", "f.csv", "new.csv", "--label", "y", "--score", "a", "--method", "ms", "--cluster", "k")
    assert counted["estimates"][0]["interval_method"] == "cluster bootstrap"
    refused = runner.invoke(app, ["evaluate", "f.csv", "--label", "y", "--predicted", "y", "--cluster", "k"])
    assert "only with --score" in str(refused.exception)


def test_groups_of_many_classes_show_their_metrics(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    called = np.where(rng.random(300) < 0.7, truth, rng.integers(0, 3, 300))
    frame = pd.DataFrame(
        {"y": np.array(list("abc"))[truth], "q": np.array(list("abc"))[called], "m": np.arange(300) % 3}
    )
    frame.to_csv(tmp_path / "k.csv", index=False)
    command = ["evaluate", str(tmp_path / "k.csv"), "--label", "y", "--predicted", "q", "--by", "m"]

    def table(*arguments):
        """The lines from the table's heads on: the title above may be long."""
        lines = run(*arguments).stdout.splitlines()
        return lines[next(i for i, line in enumerate(lines) if line.startswith("model ")) :]

    shown = table(*command)
    assert shown[0].split() == ["model", "m", "n", "accuracy", "f1_macro", "mcc"]
    asked = table(*command, "--metric", "f1_macro,accuracy")
    assert asked[0].split() == ["model", "m", "n", "f1_macro", "accuracy"]
    found = json.loads(run(*command, "--json").stdout)
    own = frame[frame.m == 1]
    value = next(one for one in found["groups"] if one["group"]["m"] == 1)["models"]["q"]["metrics"]["accuracy"][
        "value"
    ]
    assert value == pytest.approx((own.y == own.q).mean())
    assert f"{value:.2f}" in shown[2]
    assert run(*command, "--all").exit_code == 0
