"""``--format csv`` and ``to_csv()``: every line, all digits, one value a column."""

import csv
import io
import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from samples import probability_sample
from tallymark.cli.app import app, main

Y, P = probability_sample(300)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"y": Y, "p": P, "q": P**2, "g": rng.choice(["north", "south"], 300), "year": rng.integers(2023, 2025, 300), "v": np.exp(P)}
    )  # fmt: skip
    frame["hat"], frame["hat2"] = (P > 0.5).astype(int), (P > 0.3).astype(int)
    frame.to_csv("d.csv", index=False)
    part = frame.assign(y=frame.y.astype(object).where(np.arange(300) < 150))
    part.to_csv("part.csv", index=False)
    months = np.repeat(np.arange(1, 5), 6)
    sales = {"m": months, "id": np.tile(np.arange(6), 4), "price": rng.random(24) + 1.0, "n": rng.integers(1, 9, 24)}
    pd.DataFrame(sales).to_csv("sales.csv", index=False)
    pd.DataFrame({"p": rng.random(600), "m": np.repeat(np.arange(6), 100)}).to_csv("months.csv", index=False)
    return tmp_path


#: Commands whose tables hold numbers that their JSON has too.
COMMANDS = [
    "evaluate d.csv --label y --score p,q --threshold youden",
    "evaluate d.csv --label y --score p --by g,year",
    "evaluate d.csv --label y --predicted hat",
    "compare d.csv --label y --score p,q --metric auroc",
    "quantify part.csv --label y --score p --by g,year --growth year",
    "quantify part.csv --label y --score p",
    "thresholds d.csv --label y --score p --policy youden --policy f1",
    "by-size d.csv --label y --score p",
    "from-counts --tp 40 --fn 10 --fp 5 --tn 45 --predicted-positive 300 --n 1000",
    "from-counts --sensitivity 57/60 --specificity 0.9,0.85,0.94 --predicted-positive 300 --n 1000",
    "impact d.csv --label y --predicted hat --value v",
    "index sales.csv --period m --product id --price price --quantity n",
    "watch months.csv --score p --period m",
    "audit estimate part.csv --label y --score p --threshold 0.5 --by g,year",
    "space d.csv --label y --predicted hat,hat2",
]


def output(monkeypatch, capsys, line, *more):
    monkeypatch.setattr(sys, "argv", ["tallymark", *line.split(), *more])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == 0, err
    return out


def numbers_in(value):
    if isinstance(value, dict):
        return {number for item in value.values() for number in numbers_in(item)}
    if isinstance(value, list):
        return {number for item in value for number in numbers_in(item)}
    return {float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


@pytest.mark.parametrize("line", COMMANDS)
def test_numbers_of_csv_are_those_of_json_to_the_last_bit(folder, monkeypatch, capsys, line):
    whole = numbers_in(json.loads(output(monkeypatch, capsys, line, "--json")))
    # Counts are shares of the rows, which JSON has beside them.
    shares = {share * n for share in whole for n in whole if 0.0 <= share <= 1.0 and float(n).is_integer()}
    seen = 0
    for row in csv.reader(io.StringIO(output(monkeypatch, capsys, line, "--format", "csv"))):
        for cell in row:
            assert "–" not in cell
            try:
                number = float(cell)
            except ValueError:
                continue
            if math.isfinite(number):
                seen += 1
                assert number in whole or number in shares, (row, cell)
    assert seen > 3


def test_two_groups_are_two_columns(folder, monkeypatch, capsys):
    for line in (line for line in COMMANDS if "g,year" in line):
        text = output(monkeypatch, capsys, line, "--format", "csv")
        header = next(csv.reader(io.StringIO(text)))
        assert {"g", "year"} <= set(header)


#: Every function of a tally that makes a curve.
CURVES = [
    "brier_curve", "calibration_curve", "cost_curve", "decision_curve", "det", "gain", "over_thresholds", "positive_tradeoff", "pr",
    "predictive_roc", "roc", "score_histogram",
]  # fmt: skip


@pytest.mark.parametrize("name", CURVES)
def test_csv_of_a_curve_has_every_point(name):
    curve = getattr(tm, name)(tm.tally(Y, P))
    lines = list(csv.DictReader(io.StringIO(curve.to_csv())))
    assert len(lines) == len(curve)
    for column, values in curve.columns().items():
        written = [line[column] for line in lines]
        assert written == [value if isinstance(value, str) else repr(value) for value in values.tolist()]
    assert len(repr(curve).splitlines()) < 15


def test_a_column_or_label_that_is_written_as_missing_is_explained(tmp_path):
    path = tmp_path / "na.csv"
    path.write_text("NA,p,y\n1,0.2,a\n0,0.3,NA\n1,0.9,b\n0,0.1,a\n")
    unnamed = CliRunner().invoke(app, ["evaluate", str(path), "--label", "NA", "--score", "p"])
    assert "named by its place: 'column0'" in str(unnamed.exception)
    assert CliRunner().invoke(app, ["evaluate", str(path), "--label", "column0", "--score", "p"]).exit_code == 0
    lost = CliRunner().invoke(
        app, ["evaluate", str(path), "--label", "y", "--score", "p", "--pos-label", "NA", "--drop-missing"]
    )
    assert "'NA' is read as a missing value" in str(lost.exception)
    other = CliRunner().invoke(
        app, ["evaluate", str(path), "--label", "y", "--score", "p", "--pos-label", "c", "--drop-missing"]
    )
    assert "missing value" not in str(other.exception)


def test_numbers_with_decimal_commas_are_numbers_in_parquet(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    score = np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0.01, 0.99).round(3)
    texts = [f"{value:.3f}".replace(".", ",") for value in score]
    pd.DataFrame({"code": [f"0{i}" for i in range(300)], "y": y.astype(int), "s": texts}).to_csv(
        tmp_path / "k.csv", index=False, sep=";"
    )
    file, out = str(tmp_path / "k.csv"), str(tmp_path / "k.parquet")
    done = CliRunner().invoke(app, ["calibrate", file, file, "--label", "y", "--score", "s", "--out", out])
    assert done.exit_code == 0, done.output
    found = pd.read_parquet(out)
    assert found["s"].tolist() == score.tolist()
    assert found["code"].tolist() == [f"0{i}" for i in range(300)]
    everything = str(tmp_path / "all.parquet")
    done = CliRunner().invoke(app, ["audit", "plan", file, "--score", "s", "--size", "30", "--all", everything])
    assert done.exit_code == 0, done.output
    assert pd.read_parquet(everything)["s"].tolist() == score.tolist()
