"""How many rows were left out because a value is missing."""

from __future__ import annotations

from collections.abc import Iterable

from tallymark._numbers import amount, counted
from tallymark.notes import Note, emit
from tallymark.sources.engine import Engine, not_missing


def note_left_out(left_out: int, rows: int, columns: Iterable[str]) -> None:
    """Note rows that were left out, of so many, and the columns in which a value may be missing."""
    if left_out:
        names = ", ".join(dict.fromkeys(columns))
        are = "is" if left_out == 1 else "are"
        said = f"{amount(left_out)} of {counted(rows, 'row')} {are} left out: a value in {names} is missing"
        emit([Note("TM124", said)])


def complete_rows(source: Engine, columns: Iterable[str], where: str | None) -> str:
    """The condition of rows in which no column is missing; the others are noted."""
    names = list(dict.fromkeys(columns))
    kept = not_missing(names, where)
    condition = "" if where is None else f" WHERE ({where})"
    counts = source.query(f"SELECT count(*) AS n, count(*) FILTER (WHERE {kept}) AS k FROM {source.reader}{condition}")
    rows, complete = int(counts["n"][0]), int(counts["k"][0])
    note_left_out(rows - complete, rows, names)
    return kept
