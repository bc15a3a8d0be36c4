"""A table of results: a line for each data set, a column for each method, a number in each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark.errors import InputError, shown
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import column_names_of, is_frame, read_columns

#: Which numbers are good.
Better = Literal["lower", "higher"]

#: Columns of a tidy table; the last is the number.
_TIDY = ("dataset", "method")


@dataclass(frozen=True, eq=False, repr=False)
class MethodTable(Shown):
    """Numbers by data set and method; `better` says which end is good. A missing cell is nan."""

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: Floats
    better: str = "lower"

    @property
    def complete(self) -> Self:
        """The data sets on which every method has a number."""
        kept = np.asarray(~np.isnan(self.values).any(axis=1))
        names = tuple(name for name, keep in zip(self.datasets, kept, strict=True) if keep)
        return type(self)(names, self.methods, self.values[kept], self.better)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Data sets that a test of ranks leaves out, because some method has no number there."""
        kept = set(self.complete.datasets)
        return tuple(name for name in self.datasets if name not in kept)

    def column(self, method: str) -> Floats:
        """The numbers of one method."""
        if method not in self.methods:
            raise InputError(f"No method {method!r}; the table has {shown(self.methods)}.")
        return np.asarray(self.values[:, self.methods.index(method)])

    def heading(self) -> str:
        """Its size, and what is better."""
        return f"{len(self.methods)} methods on {len(self.datasets)} data sets, {self.better} is better"

    def rows(self) -> list[Row]:
        """A line per data set."""
        return [
            {"dataset": name, **dict(zip(self.methods, map(float, line), strict=True))}
            for name, line in zip(self.datasets, self.values, strict=True)
        ]


def table_of(data: Any, better: str = "lower") -> MethodTable:
    """A table from whatever people hold: a dataframe, wide (a line per data set) or tidy (columns dataset, method and a value), a
    mapping from method to values, an array, a CSV or Parquet file."""
    if isinstance(data, MethodTable):
        return data
    if better not in {"lower", "higher"}:
        raise InputError(f"better={better!r} is not known; say whether 'lower' or 'higher' numbers are better.")
    if isinstance(data, str | PathLike):
        columns = _of_file(data)
    elif is_frame(data):
        columns = read_columns(data, [Wanted(str(name), "the table") for name in column_names_of(data)])
    elif isinstance(data, Mapping):
        columns = {str(name): np.asarray(values) for name, values in data.items()}
    else:
        array = np.asarray(data)
        if array.ndim != 2:
            raise InputError(
                f"The table has the shape {array.shape}, expected a line per data set and a column per method."
            )
        columns = {str(place + 1): array[:, place] for place in range(array.shape[1])}
    values, names = _tidy(columns) if set(_TIDY) <= set(columns) else _wide(columns)
    if len(values) < 2:
        raise InputError(f"The table has {len(values)} column of numbers; comparing methods takes two or more.")
    table = np.column_stack([_numbers(column, name) for name, column in values.items()])
    if not len(table):
        raise InputError("The table has no lines; each data set needs one.")
    return MethodTable(tuple(names), tuple(values), table, better)


def _of_file(path: Any) -> dict[str, Any]:
    with engine(path) as source:
        source.keep_order()
        return columns_of(source, [Wanted(name, "the table") for name in source.types])


def _wide(columns: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]]:
    """Columns of numbers; the first column names the data sets where it is text."""
    names = list(columns)
    if names and _is_text(columns[names[0]]):
        labels = [str(value) for value in np.asarray(columns[names[0]]).tolist()]
        return {name: columns[name] for name in names[1:]}, _different(labels)
    length = len(columns[names[0]]) if names else 0
    return dict(columns), [str(line + 1) for line in range(length)]


def _tidy(columns: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]]:
    """A value for each data set and method; several are averaged."""
    others = [name for name in columns if name not in _TIDY]
    numbers = [name for name in others if not _is_text(columns[name])]
    if len(numbers) != 1:
        raise InputError(
            f"A tidy table has the columns dataset, method and one of numbers; this has {shown(numbers) or 'none'}. Keep one."
        )
    datasets, methods = ([str(value) for value in np.asarray(columns[name]).tolist()] for name in _TIDY)
    rows, lines = list(dict.fromkeys(datasets)), list(dict.fromkeys(methods))
    total, times = np.zeros((len(rows), len(lines))), np.zeros((len(rows), len(lines)))
    values = _numbers(columns[numbers[0]], numbers[0])
    place = ([rows.index(name) for name in datasets], [lines.index(name) for name in methods])
    np.add.at(total, place, values)
    np.add.at(times, place, 1.0)
    table = np.divide(total, times, out=np.full(total.shape, math.nan), where=times > 0.0)
    return {name: table[:, column] for column, name in enumerate(lines)}, rows


def _different(names: list[str]) -> list[str]:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"The data set {twice!r} has two lines; give each data set one.")
    return names


def _is_text(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "OUS" and any(
        isinstance(value, str) for value in np.asarray(column).tolist()
    )


def _numbers(column: Any, name: str) -> Floats:
    try:
        values = np.ma.filled(np.ma.asarray(column).astype(np.float64), math.nan)
    except (TypeError, ValueError):
        raise InputError(f"The column {name!r} holds text, expected numbers.") from None
    if np.isinf(values).any():
        raise InputError(
            f"The column {name!r} holds infinite numbers; ranks would hide them. Leave them out or bound the loss."
        )
    return np.asarray(values)
