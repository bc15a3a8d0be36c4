"""Whether the rows of one table are the rows of another at the places that it names."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tallymark._check import Ints
from tallymark.errors import InputError
from tallymark.sources.engine import engine


def require_same_rows(file: str, checked: str, places: Ints, own: Collection[str]) -> None:
    """Refuse rows of `checked` that differ from the rows of `file` at their places in a column that both tables have.

    A place says nothing about a file that was sorted, filtered or extended since. `own` are columns of `checked` alone:
    the places and what was found. Numbers and capitals may be written differently, as
    spreadsheets do: with nine digits, a decimal comma, TRUE for true.
    """
    with engine(file) as source, engine(checked) as listed:
        shared = [name for name in listed.types if name in source.types and name not in own]
        if not shared:
            raise InputError(
                f"{checked!r} has no column of {file!r} by which its rows can be recognised; keep an identifier, or the "
                "columns that the plan wrote."
            )
        there = np.zeros(source.number_of_rows(), dtype=np.bool_)
        there[places] = True
        cells = source.cells(shared, there)
        expected = {name: dict(zip(np.flatnonzero(there).tolist(), cells[name], strict=True)) for name in shared}
        for name, texts in listed.cells(shared).items():
            for place, text in zip(places.tolist(), texts, strict=True):
                if not _same(text, expected[name][place]):
                    raise InputError(
                        f"Row {place} of {file!r} has {name} {expected[name][place]!r}, but {checked!r} has {text!r}: the "
                        "file is not the one that the rows were drawn from. Use that file; where the cell was edited by "
                        "hand, leave that column out of the checked rows."
                    )


def _same(one: str, other: str) -> bool:
    if one.strip().casefold() == other.strip().casefold():
        return True
    try:
        return bool(np.isclose(float(one.replace(",", ".")), float(other.replace(",", ".")), rtol=1e-6, atol=0.0))
    except ValueError:
        return False
