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


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if status == 0 and result.exception:
        raise result.exception
    assert result.exit_code == status or result.exception
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
    assert set(found) == {"n", "n_rows", "positives", "prevalence", "models", "warnings"}
    assert (found["n"], found["positives"]) == (400, int(Y.sum()))
    assert set(found["models"]) == {"p", "q"}
    model = found["models"]["p"]
    t = tm.tally(Y, P)
    assert model["threshold"] == t.at("youden").threshold
    auroc = model["metrics"]["auroc"]
    assert set(auroc) == {"value", "low", "high", "method", "level", "chance", "prevalence", "bound", "reason"}
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
    text = run("evaluate", data / "d.csv", "--label", "y3", "--predicted", "hat3").stdout
    assert "By class, lowest F1 first" in text


def test_the_table_shows_value_chance_and_meaning(data):
    text = run("evaluate", data / "d.csv", "--label", "y", "--score", "p").stdout
    assert "auroc" in text
    assert "0.5000" in text
    assert "Chance that a random positive" in text
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


def test_labels_that_differ_in_case(tmp_path):
    (tmp_path / "d.csv").write_text("y,p\na,0.1\nA,0.9\na,0.3\nA,0.2\n")
    found = {
        label: run_json("evaluate", tmp_path / "d.csv", "--label", "y", "--pos-label", label, "--score", "p")
        for label in "aA"
    }
    a, b = (found[label]["models"]["p"]["metrics"]["auroc"]["value"] for label in "aA")
    assert a + b == pytest.approx(1)
    text = run(
        "evaluate",
        tmp_path / "d.csv",
        "--label",
        "y",
        "--pos-label",
        "A",
        "--score",
        "p",
        "--by",
        "y",
        "--metric",
        "auc",
    )
    assert "auroc" in text.stdout


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
        (("d.csv", "--label", "y", "--predicted", "hat", "--by", "region"), "--by, --where and --drop-missing go with --score"),
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
    found = run_json("metrics", "auroc")
    assert found["auroc"]["range"] == [0.0, 1.0]
    assert set(run_json("metrics")) == set(METRICS)


def test_an_unknown_metric_is_told_its_neighbour(monkeypatch, capsys):
    assert "Did you mean 'auroc'" in fails(monkeypatch, capsys, "metrics", "aurok")


def test_demo_writes_the_same_rare_event_data_for_the_same_seed(tmp_path):
    for folder in ("a", "b"):
        text = run("demo", "--folder", tmp_path / folder).stdout
        assert "What to look at" in text
    a, b = ((tmp_path / f / "companies.csv").read_bytes() for f in "ab")
    assert a == b
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
    assert (measure["method"], measure["level"]) == ("DeLong, logit", 0.9)
    none = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--level", "0")
    assert none["models"]["p"]["metrics"]["auroc"]["low"] is None
    drawn = run_json("evaluate", data / "d.csv", "--label", "y", "--score", "p", "--interval", "bca", "--metric", "f1")
    assert drawn["models"]["p"]["metrics"]["f1"]["method"] == "stratified bootstrap, bca"


def test_compare(data):
    table = run("compare", data / "d.csv", "--label", "y", "--score", "p", "--score", "w").stdout
    assert "p - w" in table
    assert "DeLong" in table
    found = run_json(
        "compare", data / "d.parquet", "--label", "word", "--pos-label", "yes", "--score", "p", "--score", "q",
        "--metric", "f1", "--threshold", "0.5", "--without-simple", "--equivalence", "0.5", "--weight", "w",
    )  # fmt: skip
    assert found["pairs"][0]["method"] == "paired bootstrap"
    assert found["simple"]["verdict"] in {"negligible", "moderate", "decisive"}
    assert set(found["values"]) == {"p", "q"}


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


def test_sample_size_before_there_is_data():
    assert (
        "190 of them positive"
        in run("sample-size", "--auroc", "0.85", "--difference", "0.05", "--prevalence", "0.1").stdout
    )
    assert run_json("sample-size", "--auroc", "0.85", "--difference", "0.05")["n"] > 0
