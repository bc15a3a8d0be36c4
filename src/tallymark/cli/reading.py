"""Rows of files as commands read them: once, with the rows and the positive label that the options name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from numpy.typing import NDArray

from tallymark.cli.options import OptionGroup, RowOptions, WeightedRowOptions
from tallymark.cli.output import progress_bar
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.tally import Tally


def wanted_by(*groups: OptionGroup) -> Iterator[Wanted]:
    """The columns that options name, with the option and what the column holds."""
    for group in groups:
        hints = get_type_hints(type(group), include_extras=True)
        for field in fields(group):
            holds = getattr(get_args(hints[field.name])[-1], "holds", None)
            value = getattr(group, field.name)
            if holds is not None and value is not None:
                for name in [value] if isinstance(value, str) else value:
                    yield Wanted(name, f"--{field.name.replace('_', '-')}", holds)


def read_columns(
    file: str, rows: RowOptions, *groups: OptionGroup, more: Sequence[Wanted] = ()
) -> dict[str, NDArray[Any]]:
    """The columns that the options name, and `more`, of the rows that they choose."""
    with progress_bar(f"Reading {file}"):
        wanted = [*wanted_by(*groups, rows), *more]
        return any_columns(file, wanted, where=rows.where, drop_missing=rows.drop_missing)


def read_tally(file: str, label: str, score: str, rows: WeightedRowOptions) -> Tally:
    """The tally of one model."""
    roles = Roles(
        label=label, scores=(score,), weight=rows.weight, count=rows.count, pos_label=rows.pos_label, spelling=OPTION
    )
    with progress_bar(f"Reading {file}") as progress:
        described = Rows(paths=file, roles=roles, where=rows.where, drop_missing=rows.drop_missing, progress=progress)
        with described.open() as table:
            return table.tallies()[score]
