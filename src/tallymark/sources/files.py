"""Whole columns of files that fit into memory, with the types of text columns inferred from all values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Column, Label
from tallymark.errors import InputError
from tallymark.sources.duck import quoted
from tallymark.sources.engine import Engine, engine
from tallymark.sources.formats import Paths, Wanted

#: Spellings of bools.
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(frozen=True)
class Reading:
    """The type of a label or group column in a file that records no types (a CSV): bools, numbers, or text.

    Decided on all values of the column together. Numbers only where text and number are one to one: "1.1" and "1.10",
    "10" and "1e1", "01" and "1" are different codes, and a column that has such a text stays text.
    """

    values: dict[str, Label] | None

    @classmethod
    def of(cls, column: Column, *, untyped: bool) -> Reading:
        """The reading of a fetched column; what its file records as text is text."""
        if not untyped or column.dtype.kind != "O":
            return cls(None)
        texts = set(np.ma.compressed(column).tolist())
        return cls(_values(texts) if texts and all(isinstance(text, str) for text in texts) else None)

    def __call__(self, column: Column) -> Column:
        """A column of the same texts converted to their values."""
        if self.values is None:
            return column
        blank = next(iter(self.values.values()))
        read = np.array([self.values.get(text, blank) for text in column.tolist()])
        return np.ma.MaskedArray(read, column.mask) if isinstance(column, np.ma.MaskedArray) else read


def _values(texts: set[str]) -> dict[str, Label] | None:
    """The value of each text, where that is one to one and all are of one type."""
    parsers: tuple[Callable[[str], Label | None], ...] = (_BOOLS.get, _integer, _decimal)
    for parse in parsers:
        parsed = {text: parse(text) for text in texts}
        values = {text: value for text, value in parsed.items() if value is not None}
        if len(values) == len(texts):
            return values if len(set(values.values())) == len(texts) else None
    return None


def _integer(text: str) -> int | None:
    """A whole number in canonical spelling."""
    return int(text) if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text) else None


def _decimal(text: str) -> float | None:
    """A number in canonical spelling: the shortest digits that identify it, with or without ".0"."""
    if re.fullmatch(r"-?[0-9][0-9.e+-]*", text) is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) and text in {repr(number), repr(number).removesuffix(".0")} else None


def read_files(paths: Paths, wanted: Sequence[Wanted]) -> dict[str, Column]:
    """The wanted columns of files."""
    with engine(paths, wanted) as source:
        return columns_of(source, wanted)


def columns_of(source: Engine, wanted: Sequence[Wanted], where: str | None = None) -> dict[str, Column]:
    """The wanted columns of an open engine's files."""
    names = list(dict.fromkeys(name for name, *_ in wanted))
    listed = ", ".join(f"{quoted(name)} AS c{i}" for i, name in enumerate(names))
    condition = "" if where is None else f" WHERE ({where})"
    entries = source.query(f"SELECT {listed} FROM {source.reader}{condition}")
    columns = {name: entries[f"c{i}"] for i, name in enumerate(names)}
    if any(len(column) == 0 for column in columns.values()):
        raise InputError(f"{source.shown!r} has no rows" + (" that satisfy the condition." if where else "."))
    for name in names:
        if source.types[name] == "DOUBLE" and (values := columns[name]).size:
            source.refuse_lost_digits(
                name, float(np.abs(np.nan_to_num(np.ma.filled(values, 0.0), posinf=0.0, neginf=0.0)).max())
            )
    for name in dict.fromkeys(name for name, _, kind in wanted if kind == "number"):
        values = np.ma.compressed(np.ma.masked_invalid(np.ma.asarray(columns[name], dtype=np.float64)))
        refuse_wrong_statistics(source.shown, name, source.stored_range(name), values)
    counts = {name for name, _, kind in wanted if kind == "count"}
    readings = {name: Reading.of(column, untyped=name in source.untyped) for name, column in columns.items()}
    classes = [name for name, _, kind in wanted if kind == "class" and name in source.untyped]
    if any(readings[name].values is None for name in classes):
        # Where one of the two columns is text, the other is too: else no prediction would match.
        readings |= dict.fromkeys(classes, Reading(None))
    return {name: _whole(column) if name in counts else readings[name](column) for name, column in columns.items()}


def refuse_wrong_statistics(shown: str, name: str, stored: tuple[float, float] | None, values: Column) -> None:
    """Refuse a file whose statistics contradict its data: the engine may have skipped rows."""
    if stored is not None and len(values) and (values.min() < stored[0] or values.max() > stored[1]):
        raise InputError(
            f"Cannot read {shown!r}: {name} has values outside the range in the file's statistics; it is damaged."
        )


def _whole(column: Column) -> Column:
    """Counts that were read as floats, as integers; unchanged where one is not whole."""
    if isinstance(column, np.ma.MaskedArray) or column.dtype.kind != "f":
        return column
    whole = (np.abs(column) < 2.0**53) & (column == np.floor(column))
    return column.astype(np.int64) if whole.all() else column
