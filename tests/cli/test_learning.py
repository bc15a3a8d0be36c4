"""``tallymark rare`` and ``tallymark detect``: table, JSON, report, scores beside the rows, and refusals."""

import csv
import json

import numpy as np
import pytest

from tallymark.cli.commands import detect as detecting
from tallymark.cli.commands import rare as counting
from tallymark.cli.commands.rare import METHODS
from tallymark.cli.output import ReportedOutput
from tallymark.errors import InputError


@pytest.fixture
def texts(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)

    def written(name, positives, negatives):
        with (tmp_path / name).open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["body", "kind"])
            for hit in rng.permutation(np.arange(positives + negatives) < positives):
                words = rng.choice(50, 12).tolist()
                said = [f"topic{w}" if hit and i < 3 else f"word{w}" for i, w in enumerate(words)]
                rows.writerow([" ".join(said), "platform" if hit else "other"])

    written("train.csv", 60, 140)
    written("target.csv", 10, 490)
    return tmp_path


def rare(*, json=False, report=None, language=None, **options):
    return counting.run(
        "train.csv", "target.csv", "body", "kind", counting.CleaningOptions(language=language),
        ReportedOutput(json=json, report=report), pos_label="platform", machines=5, **options,
    )  # fmt: skip


def detect(file, *, json=False, report=None, **options):
    detecting.run(file, ReportedOutput(json=json, report=report), **options)


@pytest.mark.parametrize("method", METHODS)
def test_a_count_of_texts(texts, capsys, method):
    result = rare(method=method, target_label="kind", out="scored.csv", report="r.html")
    printed = capsys.readouterr().out
    assert f"{result.count.count:.0f}" in printed
    assert "probabilities" in printed
    assert result.count.count_low <= 10 <= result.count.count_high
    assert (texts / "r.html").read_text().startswith("<!doctype html>")
    with (texts / "scored.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["tallymark_score"]) for row in rows] == pytest.approx(result.scores.tolist())
    with (texts / "target.csv").open() as file:
        assert [row["body"] for row in rows] == [row["body"] for row in csv.DictReader(file)]


def test_the_json_of_a_count(texts, capsys):
    result = rare(json=True, method="class-weight-sweep")
    answer = json.loads(capsys.readouterr().out)
    assert answer["command"] == "rare"
    assert answer["count"]["count"] == pytest.approx(result.count.count)
    assert len(answer["sweep"]) == 20
    assert [variant["by"] for variant in answer["variants"]] == ["labels", "probabilities"] * 2
    assert {"version", "warnings", "n", "details"} <= answer.keys()


def test_all_methods_side_by_side(texts, capsys):
    found = rare(method="all", target_label="kind", report="all.html")
    printed = capsys.readouterr().out
    assert list(found.counts) == ["balanced", "class_weight_sweep", "bootstrap", "ensemble"]
    for row in found.rows():
        assert any(line.split()[:2] == [row["method"], "10"] for line in printed.splitlines())
    assert "Method by method" in (texts / "all.html").read_text()
    rare(json=True, method="all")
    answer = json.loads(capsys.readouterr().out)
    assert list(answer["methods"]) == list(found.counts)
    assert len(answer["methods"]["class_weight_sweep"]["variants_by_weight"]) == 80


def test_what_cannot_be_counted_is_refused(texts):
    for options, told in (
        ({"method": "all", "out": "scored.csv"}, "--out writes the scores of one method"),
        ({"method": "boot"}, "bootstrap"),
        ({"out": "scored.txt"}, "ends in .csv, .parquet, .xlsx, .ods"),
        ({"out": "target.csv"}, "one of the files to be read"),
        ({"report": "train.csv"}, "one of the files to be read"),
        ({"target_label": "kin"}, "Did you mean 'kind'"),
        ({"language": ["klingon"]}, "klingon"),
    ):
        with pytest.raises(InputError, match=told):
            rare(**options)
    assert sorted(path.name for path in texts.iterdir()) == ["target.csv", "train.csv"]


@pytest.fixture
def objects(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    X = np.vstack((rng.normal(size=(95, 3)), rng.normal(4.0, 1.0, (5, 3))))
    with (tmp_path / "o.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b", "c", "name", "out"])
        rows.writerows([*row, f"n{i}", "yes" if i >= 95 else "no"] for i, row in enumerate(X))
    return tmp_path


def test_detectors_are_compared(objects, capsys):
    detect("o.csv", label="out", pos_label="yes", out="scored.csv", report="r.html")
    printed = capsys.readouterr().out
    for word in ("mod", "lof", "iforest", "copod", "without simple", "3 attributes"):
        assert word in printed
    assert (objects / "r.html").exists()
    with (objects / "scored.csv").open() as file:
        assert set(next(csv.DictReader(file))) == {"a", "b", "c", "name", "out", "mod", "lof", "iforest", "copod"}


def test_the_json_of_detectors(objects, capsys):
    detect("o.csv", label="out", pos_label="yes", detector=["mod", "lof"], neighbors=10, feature=["a", "b"], json=True)
    answer = json.loads(capsys.readouterr().out)
    assert answer["features"] == ["a", "b"]
    assert answer["neighbors"] == {"mod": 10, "lof": 10}
    assert 0.8 < answer["detectors"]["mod"]["value"] <= 1.0
    assert answer["simple"]["verdict"] in {"negligible", "moderate", "decisive"}
    assert len(answer["pairs"]) == 1


def test_scores_alone_need_no_labels(objects, capsys):
    detect("o.csv", detector=["iforest"], feature=["a", "b"], out="scored.parquet")
    assert "100 rows with iforest" in capsys.readouterr().out


def test_what_cannot_be_detected_is_refused(objects):
    (objects / "words.csv").write_text("w,y\na,1\nb,0\n")
    (objects / "holes.csv").write_text("w,y\n1,1\n,0\n3,1\n")
    for options, told in (
        ({"file": "o.csv"}, "Without --label"),
        ({"file": "o.csv", "label": "out", "feature": ["name"]}, "name"),
        ({"file": "o.csv", "label": "out", "detector": ["loff"]}, "Did you mean 'lof'"),
        ({"file": "words.csv", "label": "y"}, "no column of numbers"),
        ({"file": "holes.csv", "label": "y"}, "missing or infinite in 1 rows"),
        ({"file": "o.csv", "label": "out", "out": "o.csv"}, "one of the files to be read"),
    ):
        with pytest.raises(InputError, match=told):
            detect(**options)
