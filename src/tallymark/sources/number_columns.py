"""Columns of numbers in files that store text: converted in SQL where they are not written as the engine reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallymark.sources.duck import quoted
from tallymark.sources.formats import Wanted
from tallymark.sources.number_texts import NumberFormat, Query, is_per_cent, number_formats, replaced, said


@dataclass(frozen=True)
class NumbersRead:
    """Rows with their numbers converted, in a query's FROM, and what to say of it."""

    rows: str
    said: list[str]


def numbers_in(
    numbers: Sequence[Wanted],
    texts: Sequence[str],
    rows: str,
    query: Query,
    *,
    shown: str,
    decimal: str | None,
    all_: bool,
) -> NumbersRead:
    """Convert the columns `texts` of `rows` where one needs it (all of them with `all_`), and scores in per cent."""
    formats = number_formats(texts, rows, query, shown=shown, decimal=decimal)
    if all_:
        formats = {name: formats.get(name, NumberFormat()) for name in texts}
    signed = [name for name, one in formats.items() if one.per_cent]
    titled = [one.column for one in numbers if "score" in one.option and is_per_cent(one.column)]
    if not formats and not titled:
        return NumbersRead(rows, [])
    # Once one column is converted here, all are: the engine would read the others in a scan of another type.
    values = {name: formats.get(name, NumberFormat()).sql(name) for name in texts}
    converted = replaced(rows, values) if values else rows
    ends = {name: _ends(name, converted, query) for name in titled if name not in signed}
    unsigned = [name for name, (low, high) in ends.items() if low >= 0.0 and 1.0 < high <= 100.0]
    as_it_is = [
        f"{name} as it is, though its name says per cent: no value is beyond 1"
        for name, (_, high) in ends.items()
        if high <= 1.0
    ]
    if unsigned:
        converted = replaced(converted, {name: f"{quoted(name)} / 100" for name in unsigned})
    remarks = [*said(formats, [*signed, *unsigned]), *as_it_is]
    return NumbersRead(converted if formats or unsigned else rows, remarks)


def _ends(name: str, rows: str, query: Query) -> tuple[float, float]:
    """The lowest and the highest value; nan where there is none."""
    ends = query(f"SELECT min({quoted(name)})::DOUBLE AS low, max({quoted(name)})::DOUBLE AS high FROM {rows}")
    low, high = (float(np.ma.filled(ends[end].astype(np.float64), np.nan)[0]) for end in ("low", "high"))
    return low, high
