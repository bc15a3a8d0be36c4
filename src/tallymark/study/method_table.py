"""Tables of results of methods on data sets, from dataframes, files, mappings or arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark.errors import ColumnError, InputError, shown
from tallymark.registry import require_one_of
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted, require_columns
from tallymark.sources.frames import column_names_of, is_frame, read_columns

#: Which values are better.
Better = Literal["lower", "higher"]

#: Columns of a tidy table; the last is the number.
_TIDY = ("dataset", "method")

#: Names of the column with the data sets, in lower case; the last two are those of exported line numbers.
_NAMED = ("dataset", "data_set", "data set", "datasets", "problem", "id", "name", "index", "unnamed: 0", "column0")

#: The option that no column names the data sets.
NO_COLUMN = "none"


@dataclass(frozen=True, eq=False, repr=False)
class MethodTable(Shown):
    """Values by data set and method, nan where missing; `better` is ``lower`` or ``higher``.

    `named_by` is the column with the names of the data sets, None where they are numbered.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: Floats
    better: str = "lower"
    named_by: str | None = None

    @property
    def complete(self) -> Self:
        """The data sets on which every method has a value."""
        kept = np.asarray(~np.isnan(self.values).any(axis=1))
        names = tuple(name for name, keep in zip(self.datasets, kept, strict=True) if keep)
        return type(self)(names, self.methods, self.values[kept], self.better, self.named_by)

    @property
    def conventions(self) -> tuple[str, ...]:
        """The column that names the data sets, as text."""
        return () if self.named_by is None else (f"data sets: named by the column {self.named_by!r}",)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Data sets that a test of ranks leaves out, because a method has no value there."""
        kept = set(self.complete.datasets)
        return tuple(name for name in self.datasets if name not in kept)

    def column(self, method: str) -> Floats:
        """The numbers of one method."""
        if method not in self.methods:
            raise InputError(f"No method {method!r}; the table has {shown(self.methods)}.")
        return np.asarray(self.values[:, self.methods.index(method)])

    def heading(self) -> str:
        """Its size, and which values are better."""
        return f"{len(self.methods)} methods on {len(self.datasets)} data sets, {self.better} is better"

    def rows(self) -> list[Row]:
        """A line per data set."""
        return [
            {"dataset": name, **dict(zip(self.methods, map(float, line), strict=True))}
            for name, line in zip(self.datasets, self.values, strict=True)
        ]


def table_of(data: Any, better: str = "lower", dataset: str | None = None) -> MethodTable:
    """A table of results from a dataframe, a CSV or Parquet file, a mapping from method to values, or an array.

    Dataframes and files are wide (a line per data set) or tidy (columns dataset, method and a value). `dataset` is the
    column that names the data sets, ``none`` where none does; by default a column called dataset, id, name, …, else a
    first column of text. A first column of whole numbers, which might be a method, is refused.
    """
    if isinstance(data, MethodTable):
        return data
    require_one_of("better", better, ("lower", "higher"))
    named = True
    if isinstance(data, str | PathLike):
        columns = _of_file(data)
    elif is_frame(data):
        columns = read_columns(data, [Wanted(name, "the table") for name in column_names_of(data)])
    elif isinstance(data, Mapping):
        # The keys of a mapping are methods.
        named, columns = False, {str(name): np.ma.asarray(values) for name, values in data.items()}
    else:
        named, columns = False, _of_lines(data)
    if len({np.shape(values) for values in columns.values()}) > 1 or any(np.ndim(v) != 1 for v in columns.values()):
        raise InputError(
            "The columns of the table are not equally long lists of numbers; each data set needs one of every method."
        )
    if set(_TIDY) <= set(columns):
        values, names, source = *_tidy(columns), None
    else:
        source = _naming_column(columns, dataset, checked=named)
        values = {name: column for name, column in columns.items() if name != source}
        names = _names(columns, source)
    if len(values) < 2:
        raise InputError(f"The table has {len(values)} column of numbers; comparing methods takes two or more.")
    table = np.column_stack([_numbers(column, name) for name, column in values.items()])
    if not len(table):
        raise InputError("The table has no lines; each data set needs one.")
    return MethodTable(tuple(names), tuple(values), table, better, source)


def _of_file(path: Any) -> dict[str, Any]:
    with engine(path) as source:
        source.keep_order()
        wanted = [Wanted(name, "the table") for name in source.types]
        require_columns(wanted, source.types)
        return columns_of(source, wanted)


def _of_lines(data: Any) -> dict[str, Any]:
    try:
        array = np.asarray(data)
    except ValueError:
        raise InputError(
            "The lines of the table are not equally long; each data set needs a number of every method."
        ) from None
    if array.ndim != 2:
        raise InputError(
            f"The table has the shape {array.shape}, expected a line per data set and a column per method."
        )
    return {str(place + 1): array[:, place] for place in range(array.shape[1])}


def _naming_column(columns: Mapping[str, Any], dataset: str | None, *, checked: bool) -> str | None:
    """The column that names the data sets: as stated, by its name, or by being text; an ambiguous one is refused."""
    if dataset is not None:
        if dataset not in columns and dataset != NO_COLUMN:
            raise ColumnError.missing(dataset, list(columns), "--dataset")
        return dataset if dataset in columns else None
    called = sorted(
        (name for name in columns if name.strip().lower() in _NAMED),
        key=lambda name: _NAMED.index(name.strip().lower()),
    )
    if len(called) > 1:
        raise InputError(f"The columns {shown(called)} could all name the data sets; leave all but one out.")
    if called:
        return called[0]
    first = next(iter(columns), None)
    if first is None or _is_text(columns[first]):
        return first
    whole = {name: _are_different_wholes(values) for name, values in columns.items()} if checked else {}
    if whole.get(first) and (not all(whole.values()) or _counts_up(columns[first])):
        raise InputError(
            f"The first column, {first!r}, holds another whole number in every line: it may number the data sets or be "
            f"a method. Call it 'dataset' if it numbers them (on the command line: --dataset {first}); if it is a "
            f"method, pass a mapping from each method to its numbers (on the command line: --dataset {NO_COLUMN})."
        )
    return None


def _names(columns: Mapping[str, Any], source: str | None) -> Sequence[str]:
    if source is not None:
        return _different([str(value) for value in np.ma.asarray(columns[source]).tolist()])
    length = len(next(iter(columns.values()))) if columns else 0
    return [str(line + 1) for line in range(length)]


def _are_different_wholes(column: Any) -> bool:
    try:
        values = np.ma.filled(np.ma.asarray(column).astype(np.float64), math.nan)
    except (TypeError, ValueError):
        return False
    return bool(len(values) > 1 and (values == np.round(values)).all() and len(np.unique(values)) == len(values))


def _counts_up(column: Any) -> bool:
    return bool((np.diff(np.ma.asarray(column).astype(np.float64)) == 1.0).all())


def _tidy(columns: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]]:
    """A value for each data set and method; several are averaged."""
    others = [name for name in columns if name not in _TIDY]
    numbers = [name for name in others if not _is_text(columns[name])]
    if len(numbers) != 1:
        raise InputError(
            f"A tidy table has the columns dataset, method and one of numbers; this has {shown(numbers) or 'none'}. "
            "Keep one."
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
