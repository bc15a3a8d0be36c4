"""Named columns of a dataframe, of files, or of arrays by name, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Column
from tallymark.errors import ColumnError, InputError
from tallymark.sources.engine import engine
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import is_frame, read_columns
from tallymark.sources.left_out import complete_rows

Columns = Mapping[str, Column]


def any_columns(
    data: Any, wanted: Sequence[Wanted], *, where: str | None = None, drop_missing: bool = False
) -> dict[str, Column]:
    """The wanted columns of a dataframe, of files, or of arrays by name; missing values become masked arrays.

    With `drop_missing` rows of files and frames in which a column is missing are left out, and noted.
    Rows of files come in the order they have there, so that messages name the same row every time.
    """
    if isinstance(data, Mapping):
        for name, option, _ in wanted:
            if name not in data:
                raise ColumnError.missing(name, list(data), option)
        columns = {name: _array(data[name], name) for name, *_ in wanted}
        _check.same_length(columns)
        return columns
    if isinstance(data, str | PathLike | list):
        if isinstance(data, list) and not all(isinstance(one, str | PathLike) for one in data):
            raise InputError("Got a list, expected a dataframe or the paths of files.")
        with engine(data, wanted, where=where) as source:
            source.keep_order()
            kept = complete_rows(source, [name for name, *_ in wanted], where) if drop_missing else where
            return columns_of(source, wanted, kept)
    if not is_frame(data):
        raise InputError(f"Got a {type(data).__name__}, expected a dataframe or the path of a file.")
    if where is not None:
        raise InputError("where= is for files; filter the dataframe before you pass it.")
    return read_columns(data, wanted, drop_missing=drop_missing)


def _array(values: object, name: str) -> Column:
    """A column of a mapping as an array; None and NaN in a list are missing."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    cells = list(_check.several(values, name))
    missing = np.array([one is None or one != one for one in cells], dtype=np.bool_)  # noqa: PLR0124 - NaN
    texts = any(isinstance(one, str) for one in cells)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    if missing.any():
        return np.ma.MaskedArray(array, mask=missing)
    return array if texts else np.asarray(cells)


def is_missing(column: Column) -> NDArray[np.bool_]:
    """Which rows of a column have no value: null, or NaN."""
    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else np.zeros(len(column), np.bool_)
    values = np.ma.getdata(column)
    if values.dtype.kind == "f":
        return np.asarray(mask | np.isnan(values))
    return np.asarray(mask)


def numbers(column: Column, name: str) -> NDArray[np.float64]:
    """A column as floats, nan where a value is missing."""
    try:
        floats = np.ma.filled(np.ma.asarray(column).astype(np.float64), np.nan)
    except (TypeError, ValueError):
        raise InputError(f"{name} holds values that are no numbers; convert the column first.") from None
    return np.asarray(floats, dtype=np.float64)
