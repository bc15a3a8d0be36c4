"""Whole columns of files that fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Label
from tallymark.errors import InputError
from tallymark.sources.engine import Engine, Paths, engine, quoted

#: What programs write for a bool.
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def read_files(paths: Paths, wanted: Sequence[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """The wanted columns of files, given as (column, the option that named it)."""
    with engine(paths) as source:
        return columns_of(source, wanted)


def require_columns(paths: Paths, wanted: Sequence[tuple[str, str]]) -> None:
    """Refuse, before any work, a column that is not there; given as (column, the option that named it)."""
    with engine(paths) as source:
        source.require(wanted)


def labels_in(paths: Paths, column: str, option: str) -> list[Label]:
    """The values of a label column, found by the engine."""
    with engine(paths) as source:
        source.require([(column, option)])
        name = quoted(column)
        found = source.query(f"SELECT DISTINCT {name} AS c FROM {source.reader} WHERE {name} IS NOT NULL")
    return _check.distinct(_check.labels(bools_from_text(found["c"]), column), column)


def columns_of(source: Engine, wanted: Sequence[tuple[str, str]], where: str | None = None) -> dict[str, NDArray[Any]]:
    """The wanted columns of an open engine's files."""
    source.require(wanted)
    names = list(dict.fromkeys(name for name, _ in wanted))
    listed = ", ".join(f"{quoted(name)} AS c{i}" for i, name in enumerate(names))
    condition = "" if where is None else f" WHERE ({where})"
    found = source.query(f"SELECT {listed} FROM {source.reader}{condition}")
    columns = {name: bools_from_text(found[f"c{i}"]) for i, name in enumerate(names)}
    if any(len(column) == 0 for column in columns.values()):
        raise InputError(f"{source.shown!r} has no rows" + (" that satisfy the condition." if where else "."))
    return columns


def bools_from_text(column: NDArray[Any]) -> NDArray[Any]:
    """A column of True and False written as text, as bools; any other column as it is."""
    if column.dtype.kind != "O" or isinstance(column, np.ma.MaskedArray) or not set(column[:100]) <= _BOOLS.keys():
        return column
    return np.array([_BOOLS[value] for value in column]) if set(column) <= _BOOLS.keys() else column
