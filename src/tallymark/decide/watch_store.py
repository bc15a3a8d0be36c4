"""Where a watch keeps its history: an embedded database; a run writes all it found in one transaction, or nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from tallymark._display import plain
from tallymark._periods import in_order
from tallymark.errors import InputError

#: What marks a database as a watch's.
_APPLICATION = 0x7411_0002

_TABLE = "CREATE TABLE IF NOT EXISTS periods (period TEXT PRIMARY KEY, found TEXT NOT NULL) WITHOUT ROWID"


def remember(
    path: str | PathLike[str], found: Sequence[Mapping[str, Any]], order: Sequence[Any] | None = None
) -> list[dict[str, Any]]:
    """Keep what was found of each period, replacing what was known of it; gives back the whole history, oldest first.

    Periods that earlier runs found and this one did not see stay. So does what was said of a period that this run takes for part of its
    reference, as long as its rows are the same: an alarm is not unsaid because the files before it are gone.
    """
    if not isinstance(path, str | PathLike) or fspath(path) == ":memory:":
        raise InputError(f"store is {path!r}, expected the path of a file.")
    place = Path(path)
    if not place.parent.is_dir():
        raise InputError(
            f"Cannot keep the history in {fspath(path)!r}: there is no folder {str(place.parent)!r}; make it first."
        )
    try:
        with closing(sqlite3.connect(place, timeout=30.0)) as connection:
            _ours(connection, place)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                known = {
                    name: json.loads(text) for name, text in connection.execute("SELECT period, found FROM periods")
                }
                for row in found:
                    made = plain(dict(row))
                    old = known.get(str(row["period"]))
                    if old is not None and made["reference"] and not old["reference"] and _same(old, made):
                        continue
                    text = json.dumps(made, ensure_ascii=False, allow_nan=False)
                    connection.execute("INSERT OR REPLACE INTO periods VALUES (?, ?)", (str(row["period"]), text))
            history = [json.loads(text) for (text,) in connection.execute("SELECT found FROM periods")]
            rows = {row["period"]: row for row in history}
            return [rows[period] for period in in_order(rows, f"the history in {fspath(path)!r}", order)]
    except sqlite3.Error as error:
        raise InputError(f"Cannot keep the history in {fspath(path)!r}: {error}.") from None


def _same(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return bool(old["rows"] == new["rows"] and old["mean_score"] == new["mean_score"])


def _ours(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is somebody else's; mark a new one."""
    connection.execute("PRAGMA journal_mode = WAL")
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    if mark != _APPLICATION and not empty:
        raise InputError(f"{str(path)!r} is a database of something else; name another file.")
    if empty:
        with connection:
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
