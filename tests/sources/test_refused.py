"""What files and conditions may not do: two columns of a name, rows by chance, pipes; and failures to write that are named as such."""

import errno
import os
import signal
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tallymark as tm
from command_tree import every_command
from tallymark.cli.app import app
from tallymark.sources.duck import connected
from tallymark.summaries.storage import looks_saved


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("y,p,g\n" + "".join(f"{i % 2},0.{i * 37 % 90 + 10},{i % 3}\n" for i in range(60)))
    return tmp_path


def twins(folder, names):
    nested = pa.array([{"p": 1, "q": {"y": 2}}, {"p": 2, "q": {"y": 2}}] * 20)
    columns = {"y": pa.array([0, 1] * 20), "s": nested}
    arrays = [columns[name] if name in columns else pa.array(np.linspace(i, 1, 40)) for i, name in enumerate(names)]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), folder / "t.parquet")
    return folder / "t.parquet"


@pytest.mark.parametrize("names", [["y", "p", "p"], ["y", "p", "P"], ["s", "p", "y", "p"]])
def test_two_parquet_columns_of_a_name_are_refused(folder, names):
    path = twins(folder, names)
    with pytest.raises(tm.InputError, match=r"columns 'p', '[pP]', which differ in capitals at most"):
        tm.evaluate(tm.scan(path, label="y", score="p"))
    for other in ("P", "p"):
        with pytest.raises(tm.InputError, match="'[pP]'"):
            tm.evaluate(tm.scan(path, label="y", score=other))


def test_a_field_inside_of_a_column_is_no_twin(folder):
    path = twins(folder, ["s", "p", "y"])
    assert tm.evaluate(tm.scan(path, label="y", score="p"), metrics=["auroc"])["auroc"].value >= 0.0


CHANCE = [
    "random() < 0.5", "RANDOM ( ) < 0.5", '"random"() < 0.5', "p < random()", "uuid() > 'a'", "gen_random_uuid()::VARCHAR > 'a'",
    "p IN (SELECT x FROM (VALUES (1), (2)) AS t(x) USING SAMPLE 1)", "EXISTS (SELECT 1 FROM (SELECT 1 AS a) t TABLESAMPLE 50%)",
]  # fmt: skip


@pytest.mark.parametrize("where", CHANCE)
def test_rows_by_chance_are_refused(folder, where):
    with pytest.raises(tm.InputError, match="other rows each time"):
        tm.evaluate(tm.scan("d.csv", label="y", score="p", where=where))


@pytest.mark.parametrize(
    "where", ["p::VARCHAR <> 'random()'", "abs(p) > 0", "p > 0 AND (p IN (0.47, 0.5))", "p::VARCHAR <> 'using sample'"]
)
def test_words_of_a_condition_are_no_calls(folder, where):
    assert tm.evaluate(tm.scan("d.csv", label="y", score="p", where=where), metrics=["auroc"])["auroc"].value >= 0.0


def test_a_text_without_quotes_is_told_to_have_them(folder):
    with pytest.raises(tm.InputError, match="'north'.*in single quotes: 'north'"):
        tm.scan("d.csv", label="y", score="p", where="g = north")


def test_every_function_of_the_engine_that_is_not_repeatable_is_refused():
    with connected("d.csv", []) as duck:
        names = duck.query("SELECT DISTINCT function_name AS n FROM duckdb_functions() WHERE stability = 'VOLATILE'")[
            "n"
        ]
        assert "random" in names
        for name in names.tolist():
            with pytest.raises(tm.InputError, match="other rows each time"):
                duck.require_repeatable(f"{name}() IS NULL")


def test_a_failure_to_write_is_not_one_to_read(folder):
    import duckdb

    with connected("d.csv", []) as duck:

        class Full:
            def extract_statements(self, _):
                return [1]

            def execute(self, *_):
                raise duckdb.IOException('Async write failed: {"exception_message":"Could not write file \\"o\\"","errno":"28"}')  # fmt: skip

        duck._connection = Full()
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            duck.query("COPY x TO 'y'")


FILES = [(names, command) for names, command in every_command() if names != ("demo",)]


@pytest.mark.parametrize("names", [names for names, _ in FILES], ids=" ".join)
def test_every_command_refuses_a_pipe_at_once(folder, names):
    """Every argument, and every option with a file's name, that is a pipe nobody writes into."""
    command = dict(FILES)[names]
    for ending in ("csv", "toml", "parquet"):
        os.mkfifo(f"pipe.{ending}")
    given = list(names)
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            given.append("pipe.toml" if names[0] == "study" and parameter.name == "file" else "pipe.csv")
        elif parameter.required:
            given += [parameter.opts[0], "p"]

    def woken(*_):
        raise TimeoutError(f"{given} waits for a pipe")

    old = signal.signal(signal.SIGALRM, woken)
    signal.alarm(20)
    try:
        result = CliRunner().invoke(app, given)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
    assert not isinstance(result.exception, TimeoutError)
    assert result.exception is None or isinstance(result.exception, tm.InputError | SystemExit), given


def test_looking_for_a_saved_tally_does_not_open_a_pipe(folder):
    os.mkfifo("pipe")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(looks_saved("pipe")), daemon=True)
    thread.start()
    thread.join(5)
    assert seen == [False]


@pytest.mark.parametrize(
    "option", [("--by", ""), ("--by", " , "), ("--metric", ""), ("--score", "p", "--score", "")], ids=" ".join
)
def test_an_empty_name_is_refused(folder, option):
    score = () if "--score" in option else ("--score", "p")
    result = CliRunner().invoke(app, ["evaluate", "d.csv", "--label", "y", *score, *option])
    assert isinstance(result.exception, tm.InputError)
    assert "name something, or leave the option out" in str(result.exception)
