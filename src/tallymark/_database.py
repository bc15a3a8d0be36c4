"""SQLite files of the library: recognised by their header, created in one transaction, with a checksum per row."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from tallymark.errors import InputError


@dataclass(frozen=True)
class Kind:
    """A kind of database: its application id, format version, oldest readable version and tables."""

    holds: str
    application: int
    form: int
    oldest: int
    tables: Sequence[str]


#: The first bytes of every SQLite database, the size of its header, and the offset of the application id.
_MAGIC, _HEADER, _MARK = b"SQLite format 3\0", 100, 68


def located(path: str | PathLike[str], kind: Kind) -> Path:
    """The absolute path of a database file; refuses URIs, ``:memory:`` and devices."""
    if not isinstance(path, str | PathLike) or not (text := str(os.fspath(path))):
        raise InputError(f"store is {path!r}, expected the path of a file.")
    if text == ":memory:" or text.startswith("file:"):
        raise InputError(f"Cannot keep {kind.holds} in {text!r}: name a file, not a URI or memory.")
    if "\0" in text:
        raise InputError(f"No file can be called {text[:80]!r}.")
    try:
        # SQLite takes an absolute path literally.
        place = Path(path).absolute()
        if not place.parent.is_dir():
            raise InputError(
                f"Cannot keep {kind.holds} in {text!r}: there is no folder {str(place.parent)!r}; make it first."
            )
        if place.exists() and not place.is_file():
            raise InputError(f"Cannot keep {kind.holds} in {text!r}: it is not a regular file; name another.")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"Cannot keep {kind.holds} in {text[:80]!r}: {reason}.") from None
    return place


@contextmanager
def opened(path: str | PathLike[str], kind: Kind, *, write: bool) -> Iterator[sqlite3.Connection]:
    """Open a database of this kind, created if missing and `write`; any other file is refused and left unchanged."""
    place = located(path, kind)
    with database_errors(place, kind):
        connection = _connected(place, kind, write=write)
    try:
        yield connection
    finally:
        connection.close()


def _connected(place: Path, kind: Kind, *, write: bool) -> sqlite3.Connection:
    new = not place.exists() or place.stat().st_size == 0
    if not new:
        _require_mark(place, kind)
    elif not write:
        raise InputError(f"{str(place)!r} is empty; it holds nothing of {kind.holds}.")
    address = f"{place.as_uri()}?mode={'rwc' if write else 'ro'}"
    connection = sqlite3.connect(address, uri=True, timeout=30.0, isolation_level=None)
    try:
        # Damaged text must fail its checksum, not its decoding.
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        if write and new:
            _make(connection, kind)
        _require_sound(connection, place, kind)
        if write:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A context whose changes are committed together, or rolled back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        # SQLite has rolled back already where the disk is full.
        if connection.in_transaction:
            connection.rollback()
        raise
    connection.commit()


@contextmanager
def database_errors(place: Path, kind: Kind) -> Iterator[None]:
    """A context that turns errors of the database and of its disk into InputError."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "full" in text:
            raise InputError(
                f"No room left to keep {kind.holds} in {str(place)!r}: {text}. What was finished is safe; "
                "make room and run again."
            ) from None
        if "locked" in text:
            raise InputError(f"{str(place)!r} is locked by another program; close it and run again.") from None
        raise InputError(f"Cannot use {str(place)!r} for {kind.holds}: {text}.") from None
    except UnicodeDecodeError:
        # The message of SQLite holds damaged names.
        raise InputError(f"{str(place)!r} is damaged; restore it from a copy, or delete it and run again.") from None
    except OSError as error:
        raise InputError(f"Cannot use {str(place)!r} for {kind.holds}: {error.strerror or error}.") from None


def damaged(place: Path, what: str, remedy: str) -> InputError:
    """The error for a row with a wrong checksum."""
    return InputError(f"{str(place)!r} is damaged: {what} is not as it was written. {remedy}")


def checksum(*parts: str | bytes | float | None) -> bytes:
    """A digest of the values of a row; types and lengths are part of it, so that values cannot be exchanged."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        digest.update(f"{type(part).__name__} {len(content)} ".encode() + content)
    return digest.digest()


def _require_mark(place: Path, kind: Kind) -> None:
    """Refuse any other file by its header, because opening a database can change it."""
    with place.open("rb") as file:
        header = file.read(_HEADER)
    if not header.startswith(_MAGIC):
        raise InputError(f"Cannot use {str(place)!r} for {kind.holds}: it is not a database; name another file.")
    if len(header) < _HEADER or struct.unpack_from(">I", header, _MARK)[0] != kind.application:
        raise InputError(f"{str(place)!r} holds something else than {kind.holds}; name another file.")


def _make(connection: sqlite3.Connection, kind: Kind) -> None:
    """Create the tables and the application id in one transaction, unless another process did."""
    with transaction(connection):
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return
        connection.execute(f"PRAGMA application_id = {kind.application}")
        connection.execute(f"PRAGMA user_version = {kind.form}")
        for statement in kind.tables:
            connection.execute(statement)


def _require_sound(connection: sqlite3.Connection, place: Path, kind: Kind) -> None:
    """Refuse a database of another format version, or one with broken pages."""
    form = connection.execute("PRAGMA user_version").fetchone()[0]
    if connection.execute("PRAGMA application_id").fetchone()[0] != kind.application:
        raise InputError(f"{str(place)!r} holds something else than {kind.holds}; name another file.")
    if form > kind.form:
        raise InputError(
            f"{str(place)!r} was written by a later version of Tallymark (form {form}, this one knows {kind.form}); "
            "update."
        )
    if form < kind.oldest:
        raise InputError(
            f"{str(place)!r} was written by an earlier version of Tallymark (form {form}, this one writes "
            f"{kind.form}); move it away and run again."
        )
    if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise InputError(f"{str(place)!r} is damaged; restore it from a copy, or delete it and run again.")
