"""Columns of CSV and Parquet files, read by the embedded DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tallymark.errors import ColumnError, InputError

#: How DuckDB reads each kind of file, by the end of its name.
_READERS = {
    ".parquet": "read_parquet(?)", ".pq": "read_parquet(?)",
    ".csv": "read_csv(?)", ".csv.gz": "read_csv(?)", ".tsv": "read_csv(?)", ".tsv.gz": "read_csv(?)",
    ".txt": "read_csv(?)",
}  # fmt: skip


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
    columns = {name: found[f"c{i}"] for i, name in enumerate(names)}
    if any(len(column) == 0 for column in columns.values()):
        raise InputError(f"{fspath(path)!r} has no rows.")
    return columns


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
