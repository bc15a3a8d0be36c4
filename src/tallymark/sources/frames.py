"""Columns of any dataframe as NumPy arrays, through Narwhals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark.errors import ColumnError, InputError


def is_frame(data: object) -> bool:
    """Whether something is a dataframe Narwhals can read."""
    if data is None or isinstance(data, list | tuple | np.ndarray):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame | nw.LazyFrame)


def read_columns(frame: Any, wanted: Sequence[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """The wanted columns, given as (column, the option that named it); missing values become a masked array."""
    import narwhals as nw

    data = nw.from_native(frame)
    present = data.collect_schema().names()
    for name, option in wanted:
        if name not in present:
            raise ColumnError.missing(name, present, option)
    data = data.select([name for name, _ in dict(wanted).items()])
    eager = data.collect() if isinstance(data, nw.LazyFrame) else data
    return {name: _array(eager[name]) for name, _ in dict(wanted).items()}


def _array(series: Any) -> NDArray[Any]:
    import narwhals as nw

    if series.dtype in (nw.Categorical, nw.Enum):
        series = series.cast(nw.String)
    elif isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    missing = series.is_null().to_numpy()
    if not missing.any():
        found: NDArray[Any] = series.to_numpy()
        return found
    return np.ma.MaskedArray(np.asarray(series.to_list(), dtype=object), mask=missing)


def require(value: str | None, option: str, what: str) -> str:
    """A column name that has to be given."""
    if value is None:
        raise InputError(f"A dataframe needs {option}= with the name of the {what} column.")
    return value
