"""Columns of CSV and Parquet files, read by the embedded DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark.errors import ColumnError, InputError

_PARQUET = "read_parquet(?)"
#: Numbers and text only: DuckDB would read the labels "yes" and "no" as true and false, and dates as times.
_CSV = "read_csv(?, auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR'])"

#: How DuckDB reads each kind of file, by the end of its name.
_READERS = {
    ".parquet": _PARQUET, ".pq": _PARQUET, ".csv": _CSV, ".csv.gz": _CSV, ".tsv": _CSV, ".tsv.gz": _CSV, ".txt": _CSV,
}  # fmt: skip

#: What programs write for a bool.
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def read_file(path: str | PathLike[str], wanted: Sequence[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """The wanted columns of a file, given as (column, the option that named it)."""
    import duckdb

    reader, place = _reader(path), _literal(fspath(path))
    with duckdb.connect() as engine:
        try:
            present = [column[0] for column in engine.execute(f"SELECT * FROM {reader} LIMIT 0", [place]).description]
            for name, option in wanted:
                if name not in present:
                    raise ColumnError.missing(name, present, option)
            names = list(dict.fromkeys(name for name, _ in wanted))
            listed = ", ".join(f"{quoted(name)} AS c{i}" for i, name in enumerate(names))
            found = engine.execute(f"SELECT {listed} FROM {reader}", [place]).fetchnumpy()
        except duckdb.Error as error:
            raise InputError(f"Cannot read {fspath(path)!r}: {_first_sentence(error)}") from None
    columns = {name: _bools_from_text(found[f"c{i}"]) for i, name in enumerate(names)}
    if any(len(column) == 0 for column in columns.values()):
        raise InputError(f"{fspath(path)!r} has no rows.")
    return columns


def _bools_from_text(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind != "O" or isinstance(column, np.ma.MaskedArray) or not set(column[:100]) <= _BOOLS.keys():
        return column
    return np.array([_BOOLS[value] for value in column]) if set(column) <= _BOOLS.keys() else column


def quoted(name: str) -> str:
    """A column name as SQL text, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def _reader(path: str | PathLike[str]) -> str:
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{fspath(path)!r} is a directory; name a CSV or Parquet file.")
    if not file.exists():
        raise InputError(f"No file {fspath(path)!r}; check the path.")
    if file.stat().st_size == 0:
        raise InputError(f"{fspath(path)!r} is empty.")
    for ending, reader in _READERS.items():
        if file.name.lower().endswith(ending):
            return reader
    raise InputError(f"{fspath(path)!r}: cannot tell the format; use a name that ends in {', '.join(_READERS)}.")


def _literal(path: str) -> str:
    """The path with wildcards turned off: a file may well be called ``scores[1].csv``."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


def _first_sentence(error: Exception) -> str:
    return str(error).strip().splitlines()[0].removesuffix(".") + "."
