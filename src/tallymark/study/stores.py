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
from tallymark._database import Kind, checksum, damaged, database_errors, located, opened, transaction
from tallymark._version import __version__
from tallymark.errors import InputError
from tallymark.study.units import Outcome

#: Form 2 has checksums.
_KIND = Kind(
    "a study's results",
    0x7411_0001,
    form=2,
    oldest=2,
    tables=(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE cells (key TEXT PRIMARY KEY, dataset TEXT NOT NULL, fold INTEGER NOT NULL, method TEXT NOT NULL, error TEXT, "
        "classes INTEGER NOT NULL, nominal BLOB NOT NULL, drawn BLOB NOT NULL, sizes BLOB NOT NULL, estimates BLOB, "
        "seconds REAL NOT NULL, checksum BLOB NOT NULL) WITHOUT ROWID",
        # Which cells are finished is asked without reading what they hold.
        "CREATE INDEX status ON cells (error, key)",
        f"INSERT INTO meta VALUES ('made_by', '{__version__}')",
    ),
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

    def add(self, dataset: str, fold: int, method: str, outcome: Outcome) -> None:
        """Keep a finished cell, at once."""
        blobs = [
            np.ascontiguousarray(part, dtype=np.float64).tobytes()
            for part in (outcome.nominal, outcome.drawn, outcome.sizes)
        ]
        estimates = (
            None if outcome.estimates is None else np.ascontiguousarray(outcome.estimates, dtype=np.float64).tobytes()
        )
        # What SQLite cannot keep as text is replaced before the checksum is taken.
        names = [_storable(text) for text in (dataset, method, outcome.error)]
        row = (
            outcome.key,
            names[0],
            fold,
            names[1],
            names[2],
            outcome.drawn.shape[1],
            *blobs,
            estimates,
            outcome.seconds,
        )
        with database_errors(self.path, _KIND), transaction(self._connection):
            marks = ", ".join("?" * (len(row) + 1))
            self._connection.execute(f"INSERT OR REPLACE INTO cells VALUES ({marks})", (*row, checksum(*row)))

    def status(self) -> dict[str, str | None]:
        """Every cell's key, and its error where it failed."""
        with database_errors(self.path, _KIND):
            return dict(self._connection.execute("SELECT key, error FROM cells"))

    def damaged(self) -> list[str]:
        """The keys of cells that are not as they were written."""
        with database_errors(self.path, _KIND):
            rows = self._connection.execute("SELECT * FROM cells")
            return [row[0] for row in rows if _cell(row) is None]

    def forget(self, keys: Iterable[str]) -> None:
        """Remove cells, to be worked on again."""
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
                "Run the study with retry=True (tallymark study run --retry) to work on it again, or restore the file from a copy.",
            )
        return cell


def _storable(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode()


def _cell(row: Any) -> Cell | None:
    """A stored row as a cell, None where it is not as it was written or holds what no cell can."""
    *values, mark = row
    if mark != checksum(*values):
        return None
    key, dataset, fold, method, error, width, *blobs, estimates, _ = values
    try:
        nominal, drawn, sizes = (np.frombuffer(blob, dtype=np.float64) for blob in blobs)
        if len(nominal) != len(sizes):
            nominal = nominal.reshape(len(sizes), width)
        shaped = None if estimates is None else np.frombuffer(estimates, dtype=np.float64).reshape(len(sizes), width)
        cell = Cell(
            key, dataset, int(fold), method, error, nominal, drawn.reshape(len(sizes), width), sizes.astype(np.int64), shaped
        )  # fmt: skip
    except (TypeError, ValueError):
        return None
    return cell if width >= 2 and (cell.sizes >= 0).all() and _are_shares(cell.drawn) else None


def _are_shares(values: Floats) -> bool:
    return bool(((values >= -_ROUNDING) & (values <= 1.0 + _ROUNDING)).all())


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open for its one writer; a second run on it is refused. Made where there is none."""
    place = located(path, _KIND)
    with _alone(place), opened(place, _KIND, write=True) as connection:
        yield Store(place, connection)


@contextmanager
def reading(path: str | PathLike[str]) -> Iterator[Store]:
    """A store open to look at; never blocks its writer, never changes anything."""
    place = located(path, _KIND)
    if not place.is_file():
        raise InputError(f"There are no results in {str(place)!r}; run the study first.")
    with opened(place, _KIND, write=False) as connection:
        yield Store(place, connection)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold a lock of the operating system, which a killed process cannot leave behind."""
    held = place.with_name(f"{place.name}.lock")
    with database_errors(held, _KIND):
        if held.exists() and (not held.is_file() or held.stat().st_size):
            raise InputError(
                f"{str(held)!r} is not a lock of Tallymark's, which is an empty file; move it away, or name the study otherwise."
            )
        lock = sqlite3.connect(held, timeout=0.0, isolation_level=None)
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
