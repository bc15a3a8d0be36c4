"""Columns of two tables joined by an id: every row of the first, and what the second says of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Column
from tallymark.errors import InputError, shown
from tallymark.sources.any_columns import any_columns, is_missing
from tallymark.sources.formats import Wanted


def joined_columns(
    data: Any,
    wanted: Sequence[Wanted],
    more: Any,
    wanted_of_more: Sequence[Wanted],
    name: str,
    where: str | None = None,
) -> dict[str, Column]:
    """The columns of `data`, and those of `more` in the rows that have the same id; missing in the others."""
    columns = any_columns(data, [*wanted, Wanted(name, "id=")], where=where)
    others = any_columns(more, [*wanted_of_more, Wanted(name, "id=")])
    ids, known = (_check.groups(one[name], name) for one in (columns, others))
    if (ids.dtype.kind in "iuf") != (known.dtype.kind in "iuf"):
        # One file has numbers, such as 12, where the other has them as text.
        ids, known = ids.astype(str), known.astype(str)
    place = {}
    for values, what in ((known, "the labels"), (ids, "the items")):
        place = {one: row for row, one in enumerate(values.tolist())}
        if len(place) < len(values):
            unique, counts = np.unique(values, return_counts=True)
            raise InputError(
                f"{what.capitalize()} have the {name} {shown(unique[counts > 1].tolist(), 3)} more than once; an id "
                "belongs to one row."
            )
    rows = np.array([place.get(one, -1) for one in known.tolist()], dtype=np.int64)
    if (rows < 0).any() and where is None:
        absent = [one for one, row in zip(known.tolist(), rows.tolist(), strict=True) if row < 0]
        raise InputError(
            f"The labels have the {name} {shown(absent, 3)}, which no item has (items have {shown(ids.tolist(), 3)}); "
            "leave out the labels of other items, and write ids alike in both."
        )
    kept = rows >= 0
    for column in dict.fromkeys(one.column for one in wanted_of_more):
        values = others[column][kept]
        data_of_all = np.zeros(len(ids), dtype=values.dtype)
        missing = np.ones(len(ids), dtype=np.bool_)
        data_of_all[rows[kept]], missing[rows[kept]] = np.ma.getdata(values), is_missing(values)
        columns[column] = np.ma.MaskedArray(data_of_all, mask=missing)
    return columns
