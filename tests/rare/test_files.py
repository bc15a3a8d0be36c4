"""Texts in files are those of lists, in their order."""

import csv

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallymark as tm

TEXTS = [f'text number {i}, with "quotes" and\nlines' for i in range(25_000)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["body", "n"], *([text, i] for i, text in enumerate(TEXTS))])
    pq.write_table(pa.table({"body": TEXTS, "n": range(len(TEXTS))}), folder / "t.parquet", row_group_size=1_000)
    return folder


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_texts_come_in_order_and_as_often_as_asked(files, name):
    column = tm.rare.texts_in(files / name, text="body")
    assert list(column) == TEXTS
    assert next(iter(column)) == TEXTS[0]
    assert len(column) == len(TEXTS)
    assert list(tm.rare.texts_in(files / name, text="body", where="n < 3")) == TEXTS[:3]


def test_a_missing_column_and_file_are_named(files):
    with pytest.raises(tm.InputError, match="Did you mean 'body'"):
        list(tm.rare.texts_in(files / "t.csv", text="bodi"))
    with pytest.raises(tm.InputError, match="none.csv"):
        list(tm.rare.texts_in(files / "none.csv", text="body"))
