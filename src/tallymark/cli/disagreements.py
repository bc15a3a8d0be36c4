"""``--disagreements``: the items on which raters differ, written to a CSV."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tallymark._display import Row, columns_of
from tallymark._write import replacing, require_writable
from tallymark._writers import comma_separated
from tallymark.cli.options import text
from tallymark.errors import InputError
from tallymark.sources.formats import expanded

#: The option.
Disagreements = Annotated[str | None, text("FILE", "Write the items on which raters differ to this CSV.")]


def require_csv(place: str | None, *files: str | None) -> None:
    """Refuse, before any work, a place that is no CSV or is one of the files that are read."""
    if place is not None:
        if Path(place).suffix.lower() != ".csv":
            raise InputError(f"{place!r}: write a .csv file.")
        require_writable(place, inputs=[name for file in files if file is not None for name in expanded(file)])


def require_named_items(place: str | None, option: str, item: str | None, *, some_rows: bool) -> None:
    """Refuse to number items where some rows are left out: the numbers would be those of other rows of the file."""
    if place is not None and item is None and some_rows:
        raise InputError(
            f"--disagreements of some rows of the file: name the column that identifies an item, {option}."
        )


def write_disagreements(place: str, rows: Sequence[Row], *files: str | None) -> None:
    """Write a line per item."""
    inputs = [name for file in files if file is not None for name in expanded(file)]
    with replacing(place, inputs=inputs) as temporary:
        temporary.write_text(comma_separated(columns_of(rows)), encoding="utf-8")
