"""Where a study keeps its cells: an embedded database beside the file, written by one process, read by any number.

A cell is committed as soon as it is finished, so that a run can be killed at any moment and loses nothing that was finished.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark._version import __version__
from tallymark.errors import InputError
from tallymark.study.working import Outcome

#: The form of the tables; a store of a later form is refused.
FORM = 1

#: What marks a database as ours.
_APPLICATION = 0x7411_0001

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, fold INTEGER NOT NULL, method TEXT NOT NULL, error TEXT, classes INTEGER NOT NULL,
    nominal BLOB NOT NULL, drawn BLOB NOT NULL, sizes BLOB NOT NULL, estimates BLOB, seconds REAL NOT NULL
) WITHOUT ROWID;
-- Which cells are finished is asked without reading what they hold.
CREATE INDEX IF NOT EXISTS status ON cells (error, key);
"""


@dataclass(frozen=True)
class Cell:
    """A stored cell."""

    key: str
    dataset: str
    fold: int
    method: str
    error: str | None
    nominal: Floats
    drawn: Floats
    sizes: Any
    estimates: Floats | None


class Store:
    """An open store."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def add(self, dataset: str, fold: int, method: str, outcome: Outcome) -> None:
        """Keep a finished cell, at once."""
        blobs = [
            np.ascontiguousarray(part, dtype=np.float64).tobytes()
            for part in (outcome.nominal, outcome.drawn, outcome.sizes)
        ]
        estimates = (
            None if outcome.estimates is None else np.ascontiguousarray(outcome.estimates, dtype=np.float64).tobytes()
        )
        with _told(self.path), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    outcome.key,
                    dataset,
                    fold,
                    method,
                    outcome.error,
                    outcome.drawn.shape[1],
                    *blobs,
                    estimates,
                    outcome.seconds,
                ),
            )

    def status(self) -> dict[str, str | None]:
        """Every cell's key, and its error where it failed."""
        with _told(self.path):
            return dict(self._connection.execute("SELECT key, error FROM cells"))

    def forget(self, keys: Iterable[str]) -> None:
        """Remove cells, to be worked on again."""
        with _told(self.path), self._connection:
            self._connection.executemany("DELETE FROM cells WHERE key = ?", [(key,) for key in keys])

    def cells(self, keys: Iterable[str] | None = None) -> Iterator[Cell]:
        """Stored cells, all or those named, in the order of the names."""
        columns = "key, dataset, fold, method, error, classes, nominal, drawn, sizes, estimates"
        with _told(self.path):
            if keys is None:
                yield from map(
                    _cell, self._connection.execute(f"SELECT {columns} FROM cells ORDER BY dataset, method, fold, key")
                )
                return
            for key in keys:
                row = self._connection.execute(f"SELECT {columns} FROM cells WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    yield _cell(row)


def _cell(row: Any) -> Cell:
    key, dataset, fold, method, error, classes, *blobs, estimates = row
    nominal, drawn, sizes = (np.frombuffer(blob, dtype=np.float64) for blob in blobs)
    width = int(classes)
    if len(nominal) != len(sizes):
        nominal = nominal.reshape(len(sizes), width)
    shaped = None if estimates is None else np.frombuffer(estimates, dtype=np.float64).reshape(-1, width)
    return Cell(
        key, dataset, int(fold), method, error, nominal, drawn.reshape(-1, width), sizes.astype(np.int64), shaped
    )


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open for its one writer; a second run on it is refused. Made where there is none."""
    place = Path(path)
    if not place.parent.is_dir():
        raise InputError(f"Cannot keep results in {str(place)!r}: there is no such folder.")
    with _alone(place), _told(place):
        connection = sqlite3.connect(place, timeout=30.0, isolation_level="IMMEDIATE")
        try:
            _require_ours(place, connection)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_TABLES)
            with connection:
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {FORM}")
                connection.execute("INSERT OR IGNORE INTO meta VALUES ('made_by', ?)", (__version__,))
            yield Store(place, connection)
        finally:
            connection.close()


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open to look at; never blocks its writer, never changes anything."""
    place = Path(path)
    if not place.is_file():
        raise InputError(f"There are no results in {str(place)!r}; run the study first.")
    with _told(place):
        connection = sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True, timeout=30.0)
        try:
            _require_ours(place, connection, made=True)
            yield Store(place, connection)
        finally:
            connection.close()


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which a killed process cannot leave behind."""
    lock = sqlite3.connect(place.with_name(f"{place.name}.lock"), timeout=0.0, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise InputError(f"Another run is writing to {str(place)!r}; wait for it, or stop it.") from None
        yield
    finally:
        lock.close()


def _require_ours(place: Path, connection: sqlite3.Connection, *, made: bool = False) -> None:
    """Refuse a database of something else, of a later form, or one that is broken."""
    ours = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if (tables or made) and ours != _APPLICATION:
        raise InputError(f"{str(place)!r} holds something else than a study's results; name another file.")
    form = connection.execute("PRAGMA user_version").fetchone()[0]
    if form > FORM:
        raise InputError(
            f"{str(place)!r} was written by a later version of Tallymark (form {form}, this one knows {FORM}); update."
        )
    if tables and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise InputError(f"{str(place)!r} is damaged; restore it from a copy, or delete it and run the study again.")


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """The database's errors in our words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text:
            raise InputError(
                f"No room left to keep results in {str(place)!r}: {text}. What was finished is safe; make room and run again."
            ) from None
        if isinstance(error, sqlite3.OperationalError) and "locked" in text:
            raise InputError(f"{str(place)!r} is locked by another program; close it and run again.") from None
        raise InputError(f"Cannot use {str(place)!r} as a study's results: {text}.") from None


def losses_of(cell: Cell, losses: Mapping[str, Any]) -> dict[str, Floats]:
    """Every loss of a cell's estimates, one value per sample."""
    if cell.estimates is None:
        return {}
    values = {}
    for name, facts in losses.items():
        if facts.smoothed_by_size:
            parts = [
                facts.compute(cell.drawn[i : i + 1], cell.estimates[i : i + 1], size=int(cell.sizes[i]))
                for i in range(len(cell.sizes))
            ]
            values[name] = np.concatenate(parts)
        else:
            values[name] = np.asarray(facts.compute(cell.drawn, cell.estimates), dtype=np.float64)
    return values
