"""Writing to the file a user named: all of it or nothing, and never over another one."""

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
    """A new file beside `path`, for the caller to write; it takes the name at the end, or vanishes when anything fails.

    `over` and `inputs` as for :func:`require_writable`.
    """
    target = require_writable(path, inputs=inputs, over=over)
    # Not the whole name: a name of 250 characters may be written, one of 260 not.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}")
    try:
        try:
            temporary.touch(exist_ok=False)
            yield temporary
            temporary.replace(target)
        except OSError as error:
            raise InputError(f"Cannot write {os.fspath(path)!r}: {error.strerror or error}.") from None
    finally:
        # On a disk that cannot be written there is nothing to take away.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def require_writable(
    path: str | PathLike[str], *, inputs: Iterable[str | PathLike[str]] = (), over: tuple[bytes, ...] | None = None
) -> Path:
    """The file a path stands for, behind its links; refuses what must not be written, before any work is done.

    That is a folder, a device, one of the `inputs`, and with `over` a file that begins with none of these bytes:
    it is no earlier output, and may be somebody's data.
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
