"""Where a watch keeps its history: an embedded database; a run writes all it found in one transaction, or nothing."""

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
        "CREATE TABLE periods (period TEXT PRIMARY KEY, found TEXT NOT NULL, checksum BLOB NOT NULL DEFAULT x'') WITHOUT ROWID",
    ),
)


def remember(
    path: str | PathLike[str], found: Sequence[Mapping[str, Any]], order: Sequence[Any] | None = None
) -> list[dict[str, Any]]:
    """Keep what was found of each period, replacing what was known of it; gives back the whole history, oldest first.

    Periods that earlier runs found and this one did not see stay. So does what was said of a period that this run takes for part of its
    reference, as long as its rows are the same: an alarm is not unsaid because the files before it are gone.
    """
    place = located(path, _KIND)
    with opened(place, _KIND, write=True) as connection, database_errors(place, _KIND), transaction(connection):
        if connection.execute("PRAGMA user_version").fetchone()[0] < _KIND.form:
            _add_checksums(connection)
        known = _known(connection, place)
        for row in found:
            made = plain(dict(row))
            period = str(row["period"]).encode("utf-8", "replace").decode()
            old = known.get(period)
            if old is not None and made["reference"] and not old["reference"] and _same(old, made):
                continue
            text = json.dumps(made, allow_nan=False)
            known[period] = json.loads(text)
            row_of = (period, text, checksum(period, text))
            connection.execute("INSERT OR REPLACE INTO periods VALUES (?, ?, ?)", row_of)
        rows = {row["period"]: row for row in known.values()}
        return [rows[period] for period in in_order(rows, f"the history in {str(place)!r}", order)]


def _known(connection: sqlite3.Connection, place: Path) -> dict[str, dict[str, Any]]:
    """Every period of the history, held to its checksum."""
    known = {}
    for period, text, mark in connection.execute("SELECT period, found, checksum FROM periods"):
        row = _row(text) if mark == checksum(period, text) else None
        if row is None:
            raise damaged(
                place,
                f"the period {str(period)[:80]!r}",
                "Restore it from a copy, or name another file to begin a new history.",
            )
        known[period] = row
    return known


def _row(text: Any) -> dict[str, Any] | None:
    """What was found of a period, None where the text is not what :func:`remember` writes."""
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
