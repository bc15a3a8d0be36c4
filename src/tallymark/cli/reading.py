"""Rows of files as commands read them: once, with the rows and the positive label that the options name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from tallymark.cli.options import RowOptions, WeightedRowOptions
from tallymark.cli.output import progress_bar
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.tally import Tally


def read_tally(file: str, label: str, score: str, rows: WeightedRowOptions) -> Tally:
    """The tally of one model."""
    roles = Roles(
        label=label, scores=(score,), weight=rows.weight, count=rows.count, pos_label=rows.pos_label, spelling=OPTION
    )
    with progress_bar(f"Reading {file}") as progress:
        described = Rows(paths=file, roles=roles, where=rows.where, drop_missing=rows.drop_missing, progress=progress)
        with described.open() as table:
            return table.tallies()[score]


def read_columns(file: str, wanted: Sequence[Wanted], rows: RowOptions) -> dict[str, NDArray[Any]]:
    """Columns of the rows that the options choose."""
    with progress_bar(f"Reading {file}"):
        return any_columns(file, wanted, where=rows.where, drop_missing=rows.drop_missing)


def wanted_columns(kind: str = "text", /, **named: str | Sequence[str] | None) -> list[Wanted]:
    """The columns that options name, by option; each holds values of this kind (number, class, count, or any)."""
    return [
        Wanted(name, f"--{option.replace('_', '-')}", kind)  # type: ignore[arg-type]
        for option, value in named.items()
        for name in ([] if value is None else [value] if isinstance(value, str) else value)
    ]
