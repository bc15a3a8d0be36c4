"""Atomic writing of output files, which never overwrites an input or an unrelated file."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from tallymark.errors import InputError


@contextmanager
def replacing(
    path: str | PathLike[str], *, inputs: Iterable[str | PathLike[str]] = (), over: tuple[bytes, ...] | None = None
) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it is renamed to `path` at the end, or removed on failure.

    `over` and `inputs` as for :func:`require_writable`.
    """
    target = require_writable(path, inputs=inputs, over=over)
    # Not the whole name: a name of 250 characters is valid, one of 260 is not.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
    try:
        try:
            temporary.touch(exist_ok=False)
            yield temporary
            temporary.replace(target)
        except OSError as error:
            raise InputError(f"Cannot write {os.fspath(path)!r}: {error.strerror or error}.") from None
    finally:
        # On a read-only disk there is nothing to remove.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def require_writable(
    path: str | PathLike[str], *, inputs: Iterable[str | PathLike[str]] = (), over: tuple[bytes, ...] | None = None
) -> Path:
    """The file that a path resolves to; refuses a path that must not be written, before any work is done.

    Refused are folders, devices, the `inputs`, and with `over` an existing file that begins with none of these bytes:
    it is not an earlier output.
    """
    shown = repr(os.fspath(path))
    try:
        target = Path(path).resolve()
        if not os.fspath(path) or target.is_dir():
            raise InputError(f"Cannot write {shown}: that is a folder; name a file.")
        if not target.parent.is_dir():
            raise InputError(f"Cannot write {shown}: there is no folder {str(target.parent)!r}; make it first.")
        if not target.exists():
            return target
        if not stat.S_ISREG(target.stat().st_mode):
            raise InputError(f"Cannot write {shown}: it is a device or a pipe; name a file.")
        if any(Path(one).exists() and target.samefile(one) for one in inputs):
            raise InputError(f"Cannot write {shown}: it is one of the files to be read; name another.")
        if over is not None:
            with target.open("rb") as file:
                start = file.read(max(map(len, over))).lower()
            if start and not start.startswith(over):
                raise InputError(f"Will not write over {shown}, which holds something else; delete it or name another.")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"Cannot write {shown[:80]}: {reason}.") from None
    return target
