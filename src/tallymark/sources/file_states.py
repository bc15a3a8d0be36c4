"""Refusal of files that change while they are read: rows of two readings are matched by their row numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from tallymark.errors import InputError


class FileState(NamedTuple):
    """Size, time of modification and inode of a file."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, name: str) -> FileState:
        """The state of a file now."""
        try:
            status = Path(name).stat()
        except OSError as error:
            raise InputError(f"Cannot read {name!r}: {error.strerror or error}.") from None
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


_STATES: ContextVar[dict[str, FileState] | None] = ContextVar("file_states", default=None)


@contextmanager
def unchanged_files() -> Iterator[None]:
    """Refuse every file that is read more than once within this context and differs between the readings."""
    token = _STATES.set({})
    try:
        yield
    finally:
        _STATES.reset(token)


@contextmanager
def unchanged(names: Sequence[str]) -> Iterator[None]:
    """Refuse files that change while they are read, or since they were first read within :func:`unchanged_files`."""
    states = _STATES.get()
    first = {} if states is None else states
    _require_first_states(names, first)
    yield
    _require_first_states(names, first)


def _require_first_states(names: Sequence[str], first: dict[str, FileState]) -> None:
    for name in names:
        state = FileState.of(name)
        if first.setdefault(str(Path(name).absolute()), state) != state:
            raise InputError(f"{name!r} has changed since it was first read; run this again when nobody writes to it.")
