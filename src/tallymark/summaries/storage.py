"""Summaries on disk: arrays and a JSON header in one checked file, never a pickle."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark._write import replacing
from tallymark.errors import InputError

_VERSION = 1
_HEADER = "tallymark"


def write(path: str | PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write under a temporary name and rename, so that a kill leaves the old file or none."""
    if any(array.dtype.hasobject for array in arrays.values()):
        raise InputError("A column of Python objects cannot be stored; convert it to numbers or text.")
    text = json.dumps({"version": _VERSION, "kind": kind, **header})
    contents: Any = {_HEADER: np.frombuffer(text.encode(), np.uint8), **arrays}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **contents)


def looks_saved(path: str | PathLike[str]) -> bool:
    """Whether a file starts like the archives :func:`write` makes."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(256).startswith(b"PK") and zipfile.is_zipfile(file) and f"{_HEADER}.npy" in _members(file)


def _members(file: Path) -> list[str]:
    with zipfile.ZipFile(file) as archive:
        return archive.namelist()


def read(path: str | PathLike[str], unpackers: Mapping[str, Callable[[dict[str, Any], dict[str, Any]], Any]]) -> Any:
    """Read and check a file; anything unexpected in it is an InputError that names the file."""
    if not Path(path).is_file():
        raise InputError(f"No file {os.fspath(path)!r}.")
    try:
        # Opened here, because np.load leaves the file open when it is not what it expects.
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if _HEADER not in stored:
                raise InputError(f"{os.fspath(path)!r} was not written by tallymark.")
            arrays = {name: stored[name] for name in stored.files if name != _HEADER}
            header = json.loads(stored[_HEADER].tobytes())
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{os.fspath(path)!r} is not a readable tallymark file ({error}).") from None
    if header.get("version") != _VERSION:
        raise InputError(
            f"{os.fspath(path)!r} has format version {header.get('version')}, this tallymark reads {_VERSION}; "
            "save it again with a matching version."
        )
    if header.get("kind") not in unpackers:
        raise InputError(f"{os.fspath(path)!r} holds a {header.get('kind')!r}, expected {' or '.join(unpackers)}.")
    try:
        return unpackers[header["kind"]](header, arrays)
    except (KeyError, InputError, ValueError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"{os.fspath(path)!r} is damaged: {error}.") from None
