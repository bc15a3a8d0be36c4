"""History of a monitored classifier in an SQLite file; each run is one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from tallymark._database import Kind, checksum, damaged, database_errors, located, opened, transaction
from tallymark._display import plain
from tallymark._periods import in_order

#: Form 1 has checksums; form 0, which had none, is given them.
_KIND = Kind(
    "a watch's history",
    0x7411_0002,
    form=1,
    oldest=0,
    tables=(
        "CREATE TABLE periods (period TEXT PRIMARY KEY, found TEXT NOT NULL, checksum BLOB NOT NULL DEFAULT x'') "
        "WITHOUT ROWID",
    ),
)


def remember(
    path: str | PathLike[str], lines: Sequence[Mapping[str, Any]], order: Sequence[Any] | None = None
) -> list[dict[str, Any]]:
    """Store the line of each period, replacing an earlier one; returns the whole history, oldest first.

    Periods of earlier runs that are not in this one stay. So does the earlier line of a period that is part of this
    run's reference, as long as its rows are the same: an alarm is not withdrawn because the files before it are gone.
    """
    place = located(path, _KIND)
    with opened(place, _KIND, write=True) as connection, database_errors(place, _KIND), transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] < _KIND.form:
            _add_checksums(connection)
        stored = _stored(connection, place)
        for row in lines:
            line = plain(dict(row))
            period = str(row["period"]).encode("utf-8", "replace").decode()
            old = stored.get(period)
            if old is not None and line["reference"] and not old["reference"] and _same(old, line):
                continue
            text = json.dumps(line, allow_nan=False)
            stored[period] = json.loads(text)
            row_of = (period, text, checksum(period, text))
            connection.execute("INSERT OR REPLACE INTO periods VALUES (?, ?, ?)", row_of)
        rows = {row["period"]: row for row in stored.values()}
        return [rows[period] for period in in_order(rows, f"the history in {str(place)!r}", order)]


def _stored(connection: sqlite3.Connection, place: Path) -> dict[str, dict[str, Any]]:
    """The line of every period in the file, checked against its checksum."""
    stored = {}
    for period, text, mark in connection.execute("SELECT period, found, checksum FROM periods"):
        row = _row(text) if mark == checksum(period, text) else None
        if row is None:
            raise damaged(
                place,
                f"the period {str(period)[:80]!r}",
                "Restore it from a copy, or name another file to begin a new history.",
            )
        stored[period] = row
    return stored


def _row(text: Any) -> dict[str, Any] | None:
    """The line of a period, None where the text is not what :func:`remember` writes."""
    try:
        row = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    expected = {"period": object, "rows": int, "reference": bool, "mean_score": float | int}
    sound = isinstance(row, dict) and all(
        name in row and isinstance(row[name], kind) for name, kind in expected.items()
    )
    return row if sound else None


def _add_checksums(connection: sqlite3.Connection) -> None:
    """A history of form 0 as one of form 1."""
    connection.execute("ALTER TABLE periods ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
    for period, text in connection.execute("SELECT period, found FROM periods").fetchall():
        connection.execute("UPDATE periods SET checksum = ? WHERE period = ?", (checksum(period, text), period))
    connection.execute(f"PRAGMA user_version = {_KIND.form}")


def _same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return bool(old["rows"] == new["rows"] and old["mean_score"] == new["mean_score"])
