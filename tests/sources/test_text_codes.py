"""Codes that look like numbers: every way of reading a column of text gives the same groups."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tallymark as tm
from tallymark.cli.app import main
from tallymark.cli.output import write_beside

#: Codes that a program which guesses types would merge, lose or reorder.
CODES = st.sampled_from(
    ["1", "1.0", "1.1", "1.10", "1.100", "01", "10", "1e1", "+1", "-1", "0", "-0", "true", "True", "TRUE", "false",
     "e5", "-", ".", "2024.1", "2024.10", "31612345678", "+31612345678", "0x1", "1_0", "a", "A", "é", "e", "Infinity"]
)  # fmt: skip


def groups(tallies: tm.Tallies) -> Counter[str]:
    return Counter({str(name): int(one.n) for name, one in tallies.items()})


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CODES, min_size=4, max_size=12))
def test_every_engine_has_the_same_groups(tmp_path, codes):
    frame = pd.DataFrame({"g": codes, "p": np.linspace(0.1, 0.9, len(codes))})
    csv, parquet, lines = (tmp_path / f"d.{ending}" for ending in ("csv", "parquet", "jsonl"))
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    lines.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")), encoding="utf-8")
    expected = groups(tm.tally(frame, score="p", by="g"))
    assert sum(expected.values()) == len(codes)
    assert len(expected) == len(set(codes))
    polars = pl.from_pandas(frame)
    for exact in (True, False):
        assert groups(tm.tally(polars.lazy(), score="p", by="g", exact=exact)) == expected
        for path in (parquet, lines):
            assert groups(tm.scan(path, score="p", by="g", exact=exact)) == expected
        # A CSV has no types: a number may come back as a number, but no two codes as one.
        read = tm.scan(csv, score="p", by="g", exact=exact)
        assert sorted(int(one.n) for one in read.values()) == sorted(expected.values())


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_labels_that_look_alike_are_not_equal(tmp_path, ending):
    frame = pd.DataFrame({"y": ["1.1", "1.10", "1.1"] * 3, "yhat": ["1.1", "1.1", "1.10"] * 3})
    path = tmp_path / f"d.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    columns = tm.sources.files.read_files(path, [tm.sources.formats.Wanted(name, "") for name in frame])
    matrix = tm.confusion(columns["y"], columns["yhat"])
    assert tm.metrics.accuracy(matrix) == pytest.approx(1 / 3)


def test_numbers_of_json_lines_are_numbers_and_mixtures_are_refused(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"y": 1, "p": 0.4}\n{"y": 0.0, "p": 0.3}\n{"y": 1.0, "p": 0.6}\n')
    assert tm.scan(path, label="y", score="p").positives == 2
    path.write_text('{"y": 1, "p": 0.4}\n{"y": "1", "p": 0.3}\n{"y": 0, "p": 0.6}\n')
    with pytest.raises(tm.InputError, match="y mixes text, numbers or bools"):
        tm.scan(path, label="y", score="p")


def test_parquet_beside_a_csv_keeps_every_cell(tmp_path):
    columns = {
        "code": ["e5", "e7", "e9"], "mark": ["-", ".", "+"], "version": ["1.1", "1.10", "1.2"], "big": ["1e5", "2", "3"],
        "phone": ["+31612345678", "+31612345679", "+31612345670"], "zeros": ["007", "008", "009"], "year": ["2024", "2023", "2022"],
    }  # fmt: skip
    frame = pd.DataFrame({**columns, "p": ["0.50", "1", "0.25"]})
    path, out = tmp_path / "d.csv", tmp_path / "out.parquet"
    frame.to_csv(path, index=False)
    write_beside(str(out), str(path), {"q": np.array([0.1, 0.2, 0.3])}, numbers=["p"])
    written = pd.read_parquet(out)
    for name, cells in columns.items():
        assert written[name].astype(str).tolist() == cells
    assert written["year"].dtype == np.int64
    assert written["p"].tolist() == [0.5, 1.0, 0.25]


@pytest.mark.parametrize(("truth", "predicted"), [(["1.0", "0.0"], ["1", "0"]), (["True", "False"], ["1", "0"])])
def test_numbers_are_equal_however_each_column_writes_them(tmp_path, truth, predicted, capsys, monkeypatch):
    path = tmp_path / "d.csv"
    pd.DataFrame({"y": truth * 6, "yhat": predicted * 6}).to_csv(path, index=False)
    monkeypatch.setattr(
        "sys.argv", ["tallymark", "evaluate", str(path), "--label", "y", "--predicted", "yhat", "--json"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["models"]["yhat"]["metrics"]["accuracy"]["value"] == 1.0


def test_a_positive_label_is_typed_as_the_file_writes_it(tmp_path, capsys, monkeypatch):
    path = tmp_path / "d.csv"
    path.write_text("y,p\n" + "1.0,0.9\n0.0,0.2\n" * 12)
    for typed in ("1", "1.0"):
        monkeypatch.setattr(
            "sys.argv", ["tallymark", "evaluate", str(path), "--label", "y", "--score", "p", "--pos-label", typed]
        )
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0, capsys.readouterr().err


def test_truth_and_prediction_have_one_type(tmp_path, capsys, monkeypatch):
    path = tmp_path / "d.csv"
    pd.DataFrame({"y": ["1.1", "1.2"] * 6, "yhat": ["1.1", "1.10"] * 6}).to_csv(path, index=False)
    monkeypatch.setattr(
        "sys.argv", ["tallymark", "evaluate", str(path), "--label", "y", "--predicted", "yhat", "--json"]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    metrics = json.loads(capsys.readouterr().out)["models"]["yhat"]["metrics"]
    assert metrics["accuracy"]["value"] == 0.5
