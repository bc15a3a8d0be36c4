"""A file that changes between two readings is refused: rows are matched by their places."""

import os

import numpy as np
import pytest

import tallymark as tm
from tallymark.sources.engine import engine
from tallymark.sources.file_states import unchanged_files
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted
from tallymark.sources.written_rows import write_rows

ROWS = "y,p\n1,0.9\n0,0.1\n1,0.4\n"
WANTED = [Wanted("p", "--score", "number")]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text(ROWS)
    return file


@pytest.mark.parametrize("changed", [ROWS + "0,0.2\n", ROWS.replace("0.9", "0.8"), "y,p\n1,0.9\n"])
def test_a_file_that_changes_while_it_is_open_is_refused(path, changed):
    with pytest.raises(tm.InputError, match="has changed since it was first read"), engine(path, WANTED):
        path.write_text(changed)
        os.utime(path, (0, 0))


def test_a_file_that_changes_between_two_readings_is_refused(path):
    with unchanged_files():
        read_files(path, WANTED)
        read_files(path, WANTED)
        path.write_text(ROWS.replace("0.9", "0.8"))
        os.utime(path, (0, 0))
        with pytest.raises(tm.InputError, match="has changed since it was first read"):
            read_files(path, WANTED)
    assert read_files(path, WANTED)["p"].tolist() == [0.8, 0.1, 0.4]


def test_rows_are_not_written_beside_those_of_another_file(path, tmp_path):
    out = tmp_path / "out.csv"
    with (
        engine(path, WANTED, writes=str(out)) as source,
        pytest.raises(tm.InputError, match="has 3 rows now and had 2"),
    ):
        write_rows(source, str(out), {"q": np.array([0.1, 0.2])}, parquet=False)
