"""Columns of Python values, as spreadsheets and statistics packages give them, stored as one Parquet file."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._check import EXACT_INTEGER
from tallymark.errors import InputError
from tallymark.sources.duck import quoted, text


def write_parquet(
    columns: Mapping[str, Sequence[Any]], target: Path, shown: str, numbers: Collection[str] = ()
) -> None:
    """Store columns with the types of their values; a column of numbers and texts is text.

    `numbers` are columns that will be read as numbers: what is a number there is written so that it has one reading.
    """
    import duckdb

    typed = [_typed(values, f"{shown!r}: {name}", as_numbers=name in numbers) for name, values in columns.items()]
    kinds = [kind for kind, _ in typed]
    listed = ", ".join(f"CAST(c{i} AS {kinds[i]}) AS {quoted(name)}" for i, name in enumerate(columns))
    with duckdb.connect() as connection:
        connection.register("cells", {f"c{i}": values for i, (_, values) in enumerate(typed)})
        connection.execute(f"COPY (SELECT {listed} FROM cells) TO {text(target)} (FORMAT parquet)")


def _typed(values: Sequence[Any], where: str, *, as_numbers: bool) -> tuple[str, Any]:
    """The SQL type of a column, and its values as an array."""
    cells = [None if _is_missing(value) else value for value in values]
    kinds = {type(value) for value in cells if value is not None}
    missing = np.array([value is None for value in cells])
    if kinds and kinds <= {bool}:
        return "BOOLEAN", _filled(cells, missing, np.bool_)
    if kinds and kinds <= {int, float}:
        numbers = _filled(cells, missing, np.float64)
        present = numbers.compressed()
        whole = np.isfinite(present).all() and (present == np.floor(present)).all()
        if whole and (np.abs(present) < EXACT_INTEGER).all():
            return "BIGINT", np.ma.MaskedArray(np.ma.filled(numbers, 0.0).astype(np.int64), missing)
        return "DOUBLE", numbers
    if kinds and kinds <= {date, datetime}:
        midnight = all(value.time() == time() for value in cells if isinstance(value, datetime))
        return ("DATE" if midnight else "TIMESTAMP"), _texts([None if v is None else v.isoformat() for v in cells])
    if as_numbers:
        return "VARCHAR", _texts([None if value is None else _with_one_reading(value) for value in cells])
    return "VARCHAR", _texts(_as_text(cells, where))


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # noqa: PLR0124 - nan


def _filled(cells: Sequence[Any], missing: Any, dtype: Any) -> Any:
    return np.ma.MaskedArray(np.array([0 if value is None else value for value in cells], dtype=dtype), missing)


def _texts(cells: Sequence[str | None]) -> Any:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _as_text(cells: Sequence[Any], where: str) -> list[str | None]:
    """Cells as text; refused where a number and a text would become the same."""
    written = [None if value is None else _written(value) for value in cells]
    texts = {value for value in cells if isinstance(value, str)}
    others = {text for text, value in zip(written, cells, strict=True) if not isinstance(value, str | None)}
    if twins := sorted(texts & others):
        raise InputError(f"{where} holds {twins[0]} as a number and as a text; write both in one way.")
    return written


def _with_one_reading(value: Any) -> str:
    """A number without a mark that could be decimal or between thousands; other values as text."""
    if type(value) not in {int, float} or not math.isfinite(value):
        return _written(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_INTEGER:
        return str(int(value))
    if isinstance(value, date | datetime | time):
        return value.isoformat()
    return str(value) if isinstance(value, str | int | timedelta) else repr(value)
