"""The store of a study: an SQLite database beside its file, written by one process, read by any number.

A cell is committed as soon as it is finished, so a run that is killed at any moment loses no finished cell. The store
also records which rows each data set had, so results are read without the data.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np

from tallymark._check import Floats
from tallymark._database import Kind, checksum, damaged, database_errors, located, opened, transaction
from tallymark._version import __version__
from tallymark.errors import InputError
from tallymark.registry import Loss
from tallymark.study.units import Outcome

#: Form 2 has checksums.
_KIND = Kind(
    "a study's results",
    0x7411_0001,
    form=2,
    oldest=2,
    tables=(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE cells (key TEXT PRIMARY KEY, dataset TEXT NOT NULL, fold INTEGER NOT NULL, method TEXT NOT NULL, "
        "error TEXT, classes INTEGER NOT NULL, nominal BLOB NOT NULL, drawn BLOB NOT NULL, sizes BLOB NOT NULL, "
        "estimates BLOB, seconds REAL NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID",
        # Finished cells are listed without reading their content.
        "CREATE INDEX status ON cells (error, key)",
        f"INSERT INTO meta VALUES ('made_by', '{__version__}')",
    ),
)

#: The digest of each data set at its last run, or why it was skipped; stores of earlier versions lack this table.
_DATASETS = (
    "CREATE TABLE IF NOT EXISTS datasets (identity TEXT PRIMARY KEY, digest TEXT, skipped TEXT, checksum BLOB NOT "
    "NULL) WITHOUT ROWID"
)

#: How far a stored share may lie outside of 0 to 1 by rounding.
_ROUNDING = 1e-6


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

    def record(self, identity: str, digest: str | None, skipped: str | None = None) -> None:
        """Record the digest of a data set, or why the data set was skipped."""
        row = (identity, digest, skipped)
        with database_errors(self.path, _KIND), transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO datasets VALUES (?, ?, ?, ?)", (*row, checksum(*row)))

    def datasets(self) -> dict[str, tuple[str | None, str | None]]:
        """Digest, or reason for being skipped, of every recorded data set, by its identity."""
        with database_errors(self.path, _KIND):
            if not self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'datasets'").fetchone():
                raise InputError(
                    f"{str(self.path)!r} was written by an earlier version of Tallymark, which did not record the data "
                    "sets. Run the study once more where its data are: finished cells are kept."
                )
            records = {}
            for identity, digest, skipped, mark in self._connection.execute("SELECT * FROM datasets"):
                if mark != checksum(identity, digest, skipped):
                    raise damaged(self.path, "the record of a data set", "Run the study again to write it anew.")
                records[identity] = (digest, skipped)
            return records

    def add(self, dataset: str, fold: int, method: str, outcome: Outcome) -> None:
        """Store a finished cell and commit."""
        blobs = [
            np.ascontiguousarray(part, dtype=np.float64).tobytes()
            for part in (outcome.nominal, outcome.drawn, outcome.sizes)
        ]
        estimates = (
            None if outcome.estimates is None else np.ascontiguousarray(outcome.estimates, dtype=np.float64).tobytes()
        )
        # What SQLite cannot keep as text is replaced before the checksum is taken.
        of, by, error = (_storable(text) for text in (dataset, method, outcome.error))
        row = (outcome.key, of, fold, by, error, outcome.drawn.shape[1], *blobs, estimates, outcome.seconds)
        with database_errors(self.path, _KIND), transaction(self._connection):
            marks = ", ".join("?" * (len(row) + 1))
            self._connection.execute(f"INSERT OR REPLACE INTO cells VALUES ({marks})", (*row, checksum(*row)))

    def status(self) -> dict[str, str | None]:
        """Every cell's key, and its error where it failed."""
        with database_errors(self.path, _KIND):
            return dict(self._connection.execute("SELECT key, error FROM cells"))

    def damaged(self) -> list[str]:
        """The keys of cells whose checksum is wrong."""
        with database_errors(self.path, _KIND):
            rows = self._connection.execute("SELECT * FROM cells")
            return [row[0] for row in rows if _cell(row) is None]

    def forget(self, keys: Iterable[str]) -> None:
        """Delete cells, so that the next run computes them again."""
        with database_errors(self.path, _KIND), transaction(self._connection):
            self._connection.executemany("DELETE FROM cells WHERE key = ?", [(key,) for key in keys])

    def cells(self, keys: Iterable[str] | None = None) -> Iterator[Cell]:
        """Stored cells, all or those named, in the order of the names."""
        with database_errors(self.path, _KIND):
            if keys is None:
                for row in self._connection.execute("SELECT * FROM cells ORDER BY dataset, method, fold, key"):
                    yield self._sound(row)
                return
            for key in keys:
                row = self._connection.execute("SELECT * FROM cells WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    yield self._sound(row)

    def _sound(self, row: Any) -> Cell:
        cell = _cell(row)
        if cell is None:
            _, dataset, fold, method, *_ = row
            raise damaged(
                self.path,
                f"the cell of the data set {str(dataset)[:80]!r}, fold {fold}, method {str(method)[:80]!r}",
                "Run the study with retry=True (tallymark study run --retry) to work on it again, "
                "or restore the file from a copy.",
            )
        return cell


def _storable(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode()


def _cell(row: Any) -> Cell | None:
    """A stored row as a cell; None where its checksum is wrong or its values are impossible."""
    *values, mark = row
    if mark != checksum(*values):
        return None
    key, dataset, fold, method, error, width, *blobs, estimates, _ = values
    try:
        nominal, drawn, sizes = (np.frombuffer(blob, dtype=np.float64) for blob in blobs)
        if len(nominal) != len(sizes):
            nominal = nominal.reshape(len(sizes), width)
        shape = (len(sizes), width)
        shares = None if estimates is None else np.frombuffer(estimates, dtype=np.float64).reshape(shape)
        drawn, sizes = drawn.reshape(shape), sizes.astype(np.int64)
        cell = Cell(key, dataset, int(fold), method, error, nominal, drawn, sizes, shares)
    except (TypeError, ValueError):
        return None
    return cell if width >= 2 and (cell.sizes >= 0).all() and _are_shares(cell.drawn) else None


def _are_shares(values: Floats) -> bool:
    return bool(((values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)).all())


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open for its one writer, created if there is none; a second writer is refused."""
    place = located(path, _KIND)
    with _alone(place), opened(place, _KIND, write=True) as connection:
        with database_errors(place, _KIND):
            connection.execute(_DATASETS)
        yield Store(place, connection)


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open for reading; it neither blocks the writer nor changes anything."""
    place = located(path, _KIND)
    if not place.is_file():
        raise InputError(f"There are no results in {str(place)!r}; run the study first.")
    with opened(place, _KIND, write=False) as connection:
        yield Store(place, connection)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which a killed process cannot leave behind."""
    path = place.with_name(f"{place.name}.lock")
    with database_errors(path, _KIND):
        if path.exists() and (not path.is_file() or path.stat().st_size):
            raise InputError(
                f"{str(path)!r} is not a lock of Tallymark's, which is an empty file; move it away, or name the study "
                "otherwise."
            )
        lock = sqlite3.connect(path, timeout=0.0, isolation_level=None)
    try:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise InputError(f"Cannot lock {str(place)!r}: {error}.") from None
            raise InputError(f"Another run is writing to {str(place)!r}; wait for it, or stop it.") from None
        yield
    finally:
        lock.close()


def loss_of(cell: Cell, loss: Loss) -> Floats:
    """A loss of a finished cell's estimates, one value per sample."""
    drawn, estimates = cell.drawn, cast("Floats", cell.estimates)
    if not loss.smoothed_by_size:
        return np.asarray(loss.compute(drawn, estimates), dtype=np.float64)
    parts = [loss.compute(drawn[i : i + 1], estimates[i : i + 1], size=int(n)) for i, n in enumerate(cell.sizes)]
    return np.concatenate(parts)
