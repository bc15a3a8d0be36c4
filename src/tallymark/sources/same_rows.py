"""Check that the rows of a table are those of a file at the row numbers it lists."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tallymark._check import Ints
from tallymark.errors import InputError
from tallymark.sources.engine import engine


def require_same_rows(
    file: str, checked: str, places: Ints, added: Collection[str], *, identified: bool = False
) -> None:
    """Refuse rows of `checked` that differ from the rows of `file` at their places in a column that both tables have.

    Row numbers mean nothing in a file that was sorted, filtered or extended since. `added` are columns of `checked`
    alone: the row numbers and the labels. Rows that are `identified` by an id need no other column. Numbers and
    capitals may be written differently, as spreadsheets do: with nine digits, a decimal comma, TRUE for true.
    """
    with engine(file) as source, engine(checked) as listed:
        shared = [name for name in listed.types if name in source.types and name not in added]
        if not shared and identified:
            return
        if not shared:
            raise InputError(
                f"{checked!r} has no column of {file!r} by which its rows can be recognised; "
                "keep an identifier, or the columns that the plan wrote."
            )
        drawn = np.zeros(source.number_of_rows(), dtype=np.bool_)
        drawn[places] = True
        cells = source.cells(shared, drawn)
        expected = {name: dict(zip(np.flatnonzero(drawn).tolist(), cells[name], strict=True)) for name in shared}
        for name, texts in listed.cells(shared).items():
            for place, text in zip(places.tolist(), texts, strict=True):
                if not _same(text, expected[name][place]):
                    raise InputError(
                        f"Row {place} of {file!r} has {name} {expected[name][place]!r}, but {checked!r} has {text!r}: "
                        "the file is not the one that the rows were drawn from. Use that file; "
                        "where the cell was edited by hand, leave that column out of the checked rows."
                    )


def _same(one: str, other: str) -> bool:
    if one.strip().casefold() == other.strip().casefold():
        return True
    try:
        return bool(np.isclose(float(one.replace(",", ".")), float(other.replace(",", ".")), rtol=1e-6, atol=0.0))
    except ValueError:
        return False
