"""Columns as they stream out of an engine: its values, memory that outlives the stream, and streams that break off."""

from contextlib import closing

import duckdb
import numpy as np
import pytest

from tallymark.sources.arrow_stream import Interrupted, arrow_blocks

KINDS = (np.dtype(np.uint8), np.dtype(np.float64))
ROWS = 400_000
QUERY = f"SELECT (i % 3)::UTINYINT AS a, sqrt(i) AS b FROM range({ROWS}) t(i)"


@pytest.fixture
def engine():
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        yield connection


def test_the_blocks_together_are_the_rows(engine):
    found = [np.concatenate(column) for column in zip(*arrow_blocks(engine.sql(QUERY), KINDS), strict=True)]
    assert [column.dtype for column in found] == list(KINDS)
    order = np.argsort(found[1])
    np.testing.assert_array_equal(found[1][order], np.sqrt(np.arange(ROWS)))
    np.testing.assert_array_equal(found[0][order], np.arange(ROWS) % 3)


def test_arrays_outlive_the_stream_and_cannot_be_written(engine):
    with closing(arrow_blocks(engine.sql(QUERY + " ORDER BY b"), KINDS)) as blocks:
        codes, scores = next(blocks)
    del blocks
    engine.execute("SELECT count(*) FROM range(1000000)").fetchall()
    np.testing.assert_array_equal(scores, np.sqrt(np.arange(len(scores))))
    np.testing.assert_array_equal(codes, np.arange(len(codes)) % 3)
    with pytest.raises(ValueError, match="read-only"):
        scores[0] = 1.0


def test_no_rows_are_no_blocks(engine):
    assert list(arrow_blocks(engine.sql(QUERY + " WHERE i < 0"), KINDS)) == []


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("CASE WHEN i <> 300000 THEN 1.5 END", "missing"),
        ("CASE WHEN i = 300000 THEN error('broken') ELSE 1.5 END", "broken"),
    ],
)
def test_a_missing_value_or_an_error_far_down_interrupts(engine, column, message):
    relation = engine.sql(f"SELECT 1::UTINYINT AS a, ({column})::DOUBLE AS b FROM range({ROWS}) t(i)")
    with pytest.raises((Interrupted, duckdb.Error), match=message):
        list(arrow_blocks(relation, KINDS))
    assert engine.execute("SELECT 7").fetchall() == [(7,)]


def test_memory_is_given_back(engine):
    from bench.timing import memory_bytes

    def read():
        for _ in arrow_blocks(engine.sql(QUERY), KINDS):
            pass

    read()
    before = memory_bytes("VmRSS")
    for _ in range(30):
        read()
    # Thirty times 3.6 MB would be 108 MB.
    assert memory_bytes("VmRSS") - before < 40e6
