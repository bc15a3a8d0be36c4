"""Tables of results: which column names the data sets is stated, known by its name, or asked; it is never a method."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.study.method_table import table_of

METHODS = {
    "a": [0.1, 0.2, 0.15, 0.3, 0.12, 0.2],
    "b": [0.2, 0.25, 0.1, 0.35, 0.2, 0.3],
    "c": [0.3, 0.2, 0.3, 0.4, 0.25, 0.1],
}


def files(frame, folder):
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    return [frame, folder / "t.csv", folder / "t.parquet"]


@pytest.mark.parametrize(
    "name", ["dataset", "Dataset", "data_set", "data set", "id", "ID", "name", "index", "Unnamed: 0"]
)
@pytest.mark.parametrize(
    "ids", [[1, 2, 3, 4, 5, 6], [10, 7, 3, 99, 5, 1], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5], list("uvwxyz")]
)
def test_a_column_called_so_names_the_data_sets(name, ids, tmp_path):
    wanted = tm.study.nemenyi(METHODS)
    for frame in (pd.DataFrame({name: ids, **METHODS}), pd.DataFrame({**METHODS, name: ids})):
        for data in files(frame, tmp_path):
            table = table_of(data)
            assert (table.methods, table.named_by) == (("a", "b", "c"), name)
            found = tm.study.nemenyi(data)
            assert found.mean_ranks == wanted.mean_ranks
            assert found.critical_difference == wanted.critical_difference
            assert f"named by the column {name!r}" in repr(found)


def test_text_that_comes_first_names_the_data_sets(tmp_path):
    for data in files(pd.DataFrame({"what": list("uvwxyz"), **METHODS}), tmp_path):
        assert table_of(data).named_by == "what"
        assert table_of(data).datasets == tuple("uvwxyz")


@pytest.mark.parametrize(
    "ids", [[1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5], [11, 1, 7, 3, 200, 5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
)
def test_numbers_that_may_be_either_are_asked_about(ids, tmp_path):
    for data in files(pd.DataFrame({"k": ids, **METHODS}), tmp_path):
        with pytest.raises(tm.InputError, match="'k'.*may number the data sets or be a method.*--dataset"):
            tm.study.friedman(data)
        assert table_of(data, dataset="k").methods == ("a", "b", "c")
        assert table_of(data, dataset="none").methods == ("k", "a", "b", "c")
    # Whoever maps methods to numbers has said what they are.
    assert table_of({"k": ids, **METHODS}).methods == ("k", "a", "b", "c")


def test_methods_with_whole_numbers_stay_methods(tmp_path):
    errors = {"a": [12, 40, 33, 8, 21, 17], "b": [14, 38, 35, 9, 28, 16], "c": [15, 44, 31, 12, 25, 19]}
    for data in files(pd.DataFrame(errors), tmp_path):
        assert table_of(data).methods == ("a", "b", "c")


def test_columns_that_contradict_each_other_are_refused(tmp_path):
    with pytest.raises(tm.InputError, match="'dataset', 'id' could all name"):
        table_of(pd.DataFrame({"id": range(6), "dataset": list("uvwxyz"), **METHODS}))
    with pytest.raises(tm.InputError, match="'1' has two lines"):
        table_of(pd.DataFrame({"id": [1, 1, 2, 3, 4, 5], **METHODS}))
    with pytest.raises(tm.InputError, match="No column 'x'"):
        table_of(pd.DataFrame(METHODS), dataset="x")


@pytest.mark.parametrize(
    "data", [{"a": 1}, {"a": [1, 2], "b": [1]}, [[1], [2, 3]], {"a": [[1, 2]], "b": [[1, 2]]}, [1, 2], 5, {}, []]
)
def test_what_is_no_table_is_a_sentence(data):
    with pytest.raises(tm.InputError):
        table_of(data)


def test_a_column_of_lists_is_a_sentence(tmp_path):
    pq.write_table(pa.table({"a": [0.1, 0.2], "b": [[1.0], [2.0, 3.0]], "c": [0.2, 0.1]}), tmp_path / "t.parquet")
    with pytest.raises(tm.InputError, match="b holds DOUBLE"):
        table_of(tmp_path / "t.parquet")


def test_columns_that_pandas_numbers_are_methods():
    frame = pd.DataFrame(np.column_stack(list(METHODS.values())))
    assert table_of(frame).methods == ("0", "1", "2")
    assert np.array_equal(table_of(frame).values, frame.to_numpy())


def test_the_command_line_states_it(tmp_path):
    pd.DataFrame({"k": range(1, 7), **METHODS}).to_csv(tmp_path / "t.csv", index=False)
    run = CliRunner().invoke
    asked = run(app, ["study", "test", str(tmp_path / "t.csv")])
    assert "--dataset" in str(asked.exception)
    said = run(app, ["study", "test", str(tmp_path / "t.csv"), "--dataset", "k"], catch_exceptions=False).output
    assert "3 methods, 6 data sets, critical difference 1.3531" in said
    assert "named by the column 'k'" in said
    assert "4 methods" in run(app, ["study", "test", str(tmp_path / "t.csv"), "--dataset", "none"]).output
