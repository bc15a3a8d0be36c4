import numpy as np
import pandas as pd
import pytest

import tallymark as tm
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted

FRAME = pd.DataFrame(
    {"y": [0, 1, 0, 1], 'odd "name"; DROP TABLE x': [0.1, 0.9, 0.4, 0.3], "select": ["a", "b", "a", "b"]}
)
NAMES = ['odd "name"; DROP TABLE x', "select", "y"]


@pytest.mark.parametrize("name", ["d.csv", "d.parquet", "d.tsv", "d.csv.gz", "sp ace'quote[1]*.csv", "ünï.parquet"])
def test_files_of_every_name(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    found = read_files(path, [Wanted(column, "--x") for column in NAMES])
    assert list(found) == NAMES
    np.testing.assert_array_equal(found["y"], FRAME["y"])
    np.testing.assert_allclose(found[NAMES[0]].astype(float), FRAME[NAMES[0]])
    assert found["select"].tolist() == ["a", "b", "a", "b"]


def test_words_stay_words_and_bools_become_bools(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("a,b,c,d\nyes,True,2020-01-01,t\nno,False,2020-01-02,f\n")
    found = read_files(path, [Wanted(name, "") for name in "abcd"])
    assert found["a"].tolist() == ["yes", "no"]
    assert found["b"].dtype == bool
    assert found["c"].tolist() == ["2020-01-01", "2020-01-02"]
    assert found["d"].tolist() == ["t", "f"]


def test_missing_values_are_seen(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y,p\n0,0.1\n1,\n1,0.4\n")
    found = read_files(path, [Wanted("p", "", "number")])
    with pytest.raises(tm.InputError, match="scores has missing values in one row, at index 1"):
        tm.tally(scores=found["p"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "No file .*none.csv"),
        ("empty.csv", b"", "is empty"),
        ("d.parquet", b"hello there", "Cannot read .*d.parquet"),
        ("d.parquet", b"PAR1" + b"\x00" * 100 + b"PAR1", "Cannot read .*d.parquet"),
        ("d.xlsx", b"PK", "Cannot read .*d.xlsx.* as a spreadsheet"),
        ("d.doc", b"PK", "cannot tell the format"),
        ("head.csv", b"y,p\n", "has no rows"),
        ("d.csv", b"y,q\n0,1\n", "No column 'p'; the data has 'y', 'q'"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(tm.InputError, match=message):
        read_files(path, [Wanted("p", "--score", "number")])
    with pytest.raises(tm.InputError, match="is a directory"):
        read_files(tmp_path, [Wanted("p", "--score", "number")])
