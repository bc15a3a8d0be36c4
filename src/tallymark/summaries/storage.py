"""File format of summaries: NumPy arrays and a JSON header in one zip archive, checked when read; no pickles."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._check import Column
from tallymark._write import replacing
from tallymark.errors import InputError

#: What a stored summary is: a header of JSON values, and arrays by name.
Header = dict[str, Any]
Arrays = dict[str, Column]

_VERSION = 1
_HEADER = "tallymark"


def write(path: str | PathLike[str], kind: str, header: Header, arrays: Arrays) -> None:
    """Write under a temporary name and rename, so that a kill leaves the old file or none."""
    if any(array.dtype.hasobject for array in arrays.values()):
        raise InputError("A column of Python objects cannot be stored; convert it to numbers or text.")
    text = json.dumps({"version": _VERSION, "kind": kind, **header})
    contents: Any = {_HEADER: np.frombuffer(text.encode(), np.uint8), **arrays}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **contents)


def looks_saved(path: str | PathLike[str]) -> bool:
    """Whether a file starts like the archives :func:`write` makes."""
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            start = file.read(256)
    except (OSError, ValueError):
        return False
    return start.startswith(b"PK") and f"{_HEADER}.npy".encode() in start


def read(path: str | PathLike[str], unpackers: Mapping[str, Callable[[Header, Arrays], Any]]) -> Any:
    """Read and check a file; anything unexpected in it is an InputError that names the file."""
    if not isinstance(path, str | PathLike):
        raise InputError(f"The file is {path!r}; expected a path.")
    shown = repr(os.fspath(path))
    try:
        present = Path(path).is_file()
    except (OSError, ValueError):
        present = False
    if not present:
        raise InputError(f"No file {shown[:80]}.")
    try:
        with zipfile.ZipFile(path) as archive:
            arrays = _arrays(archive, Path(path).stat().st_size)
        if _HEADER not in arrays:
            raise InputError("it was not written by tallymark")
        header = json.loads(arrays.pop(_HEADER).tobytes())
        kind = _require_header(header, unpackers)
        return unpackers[kind](header, arrays)
    except _BROKEN as error:
        reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else error
        raise InputError(f"{shown} is not a readable tallymark file: {str(reason).removesuffix('.')}.") from None


#: What reading a damaged or forged file can raise. Nothing in it is executed, and no array is larger than the file.
_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    OSError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


def _arrays(archive: zipfile.ZipFile, size: int) -> Arrays:
    """The arrays of an archive, none larger than the file says and the file is."""
    members = archive.infolist()
    if len({member.filename for member in members}) != len(members) or sum(m.file_size for m in members) > size:
        raise InputError("its parts overlap")
    entries = {}
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or not member.filename.endswith(".npy"):
            raise InputError(f"the part {member.filename!r} was not written by tallymark")
        content = io.BytesIO(archive.read(member))
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(content)](content)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != member.file_size - content.tell():
            raise InputError(f"the part {member.filename!r} is not as long as it says")
        content.seek(0)
        entries[member.filename.removesuffix(".npy")] = np.lib.format.read_array(content, allow_pickle=False)
    return entries


#: Readers of an array's own header, by version.
_HEADERS: dict[tuple[int, int], Callable[[Any], tuple[tuple[int, ...], bool, np.dtype[Any]]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _require_header(header: Any, kinds: Iterable[str]) -> str:
    if not isinstance(header, dict):
        raise InputError("it has no header")
    if header.get("version") != _VERSION:
        raise InputError(
            f"it has format version {header.get('version')}, this tallymark reads {_VERSION}; "
            "save it again with a matching version"
        )
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(f"it holds a {kind!r}, expected {' or '.join(kinds)}")
    return kind
