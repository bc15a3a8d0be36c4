"""Columns of dataframes as NumPy arrays, through Narwhals."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tallymark._check import Column
from tallymark.errors import ColumnError, InputError
from tallymark.sources.formats import Wanted
from tallymark.sources.left_out import note_left_out

P = ParamSpec("P")
R = TypeVar("R")


def is_frame(data: object) -> bool:
    """Whether something is a dataframe Narwhals can read."""
    if data is None or isinstance(data, list | tuple | np.ndarray):
        return False
    import narwhals as nw

    try:
        return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.NarwhalsError:
        return True  # a frame with something wrong in it, which read_columns will name


#: Parameters of public functions that name columns of a dataframe.
_COLUMNS = frozenset({
    "label", "score", "by", "weight", "count", "cluster", "period", "value", "product", "price", "quantity",
    "predicted", "inclusion", "stratum", "rater", "item", "rating", "judge", "human", "system", "id",
    "before", "after", "replicate_weights",
})  # fmt: skip


def named_columns(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator of a function of a dataframe whose columns may be named by whole numbers, as pandas does."""

    @functools.wraps(function)
    def by_text(*args: P.args, **kwargs: P.kwargs) -> R:
        numbered: dict[str, Any] = {
            name: value for name, value in kwargs.items() if name in _COLUMNS and _has_number(value)
        }
        if numbered and args and (is_frame(args[0]) or _are_paths(args[0])):
            kwargs.update({name: _as_text(value) for name, value in numbered.items()})
        return function(*args, **kwargs)

    return by_text


def _are_paths(value: object) -> bool:
    return all(isinstance(one, str | PathLike) for one in (value if isinstance(value, list | tuple) else [value]))


def _has_number(value: object) -> bool:
    listed = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else [value]
    return any(isinstance(one, int | np.integer) and not isinstance(one, bool) for one in listed)


def _as_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_text(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_as_text(one) for one in value)
    return str(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else value


def column_names_of(frame: Any) -> list[str]:
    """The names of a dataframe's columns."""
    import narwhals as nw

    return [str(name) for name in nw.from_native(frame).collect_schema().names()]


def is_relation(data: object) -> bool:
    """Whether something is a DuckDB relation, which is queried in SQL."""
    return type(data).__name__ == "DuckDBPyRelation"


def lazy_frame(frame: Any, wanted: Sequence[Wanted]) -> Any:
    """A lazy frame as a Narwhals frame that has the wanted columns; None when the frame is eager."""
    import narwhals as nw

    data = _with_columns(frame, wanted)
    return data if isinstance(data, nw.LazyFrame) else None


def read_columns(frame: Any, wanted: Sequence[Wanted], *, drop_missing: bool = False) -> dict[str, Column]:
    """The wanted columns; missing values become a masked array."""
    import narwhals as nw

    data = _with_columns(frame, wanted)
    names = list(dict.fromkeys(name for name, *_ in wanted))
    data = data.select(names)
    eager = data.collect() if isinstance(data, nw.LazyFrame) else data
    if drop_missing:
        complete = without_missing(eager, names)
        note_left_out(len(eager) - len(complete), len(eager), names)
        eager = complete
    return {name: as_array(eager[name]) for name in names}


def order_of(data: Any, column: str | None, stated: Sequence[Any] | None) -> Sequence[Any] | None:
    """The order of a column's values: as stated, or that of an ordered categorical; None where there is neither."""
    if stated is not None or column is None or not is_frame(data):
        return stated
    import narwhals as nw

    kind = nw.from_native(data).collect_schema().get(column)
    categories = list(kind.categories) if isinstance(kind, nw.Enum) else []
    # Dates are ordered by their value, and written in more than one way.
    named = categories and all(isinstance(value, str | int) for value in categories)
    return categories if named else None


def without_missing(data: Any, columns: Sequence[str]) -> Any:
    """The rows of a Narwhals frame in which no named column is missing or NaN."""
    import narwhals as nw

    schema = data.collect_schema()
    for name in dict.fromkeys(columns):
        data = data.filter(~nw.col(name).is_null())
        if schema[name].is_float():
            data = data.filter(~nw.col(name).is_nan())
    return data


def _with_columns(frame: Any, wanted: Sequence[Wanted]) -> Any:
    import narwhals as nw

    try:
        data = nw.from_native(frame)
        present = data.collect_schema().names()
        if any(not isinstance(name, str) for name in present):
            data = data.rename({name: str(name) for name in present})
            present = [str(name) for name in present]
    except (nw.exceptions.NarwhalsError, ValueError) as error:
        raise InputError(f"The dataframe cannot be read: {error}") from None
    for name, option, _ in wanted:
        if not isinstance(name, str):
            raise InputError(f"{option}{name!r}: columns are named by text; rename the column first.")
        if name not in present:
            raise ColumnError.missing(name, present, option)
    return data


def as_array(series: Any) -> Column:
    """A Narwhals series as NumPy; missing values become a masked array."""
    import narwhals as nw

    if isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    missing = series.is_null().to_numpy()
    if not missing.any():
        # to_numpy of a categorical may give codes or objects instead of its values.
        values = np.array(series.to_list()) if series.dtype in (nw.Categorical, nw.Enum) else series.to_numpy()
        array: Column = values
        return array
    # A library's own mark of a missing value may refuse comparisons, as pandas' NA does.
    present = [None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)]
    return np.ma.MaskedArray(np.asarray(present, dtype=object), mask=missing)


def require(value: str | None, option: str, what: str) -> str:
    """A column name that has to be given."""
    if value is None:
        raise InputError(f"A dataframe needs {option}= with the name of the {what} column.")
    return value
