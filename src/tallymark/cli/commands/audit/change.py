"""Compare the counts of two audits, such as those of two periods.

Example: tallymark audit change 2023.csv 2024.csv --label checked --stratum region
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark import audits
from tallymark.cli.options import Level, OptionGroup, PosLabel, argument, column, columns
from tallymark.cli.output import CheckedOutput, progress_bar


@dataclass(frozen=True)
class ChangeOptions(OptionGroup):
    """Columns that both files have."""

    label: Annotated[str, column("Column with the verdict; empty where a row was not checked.", "class")] = "checked"
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None
    inclusion: Annotated[str | None, column("Column with the probability with which a row was drawn.", "number")] = None
    stratum: Annotated[list[str] | None, columns("Columns that make the strata")] = None
    cluster: Annotated[str | None, column("Column of the clusters that were drawn and checked whole.")] = None
    pos_label: PosLabel = None
    level: Level = 0.95


def run(
    first: Annotated[str, argument("FIRST", "Every row of the first target, some of them checked.")],
    second: Annotated[str, argument("SECOND", "Every row of the second target, some of them checked.")],
    options: ChangeOptions,
    output: CheckedOutput,
) -> None:
    """Estimate both, compare, print."""
    with progress_bar(f"Reading {first} and {second}"):
        before, after = (audits.estimate(file, **vars(options)) for file in (first, second))
    change = audits.change(before, after)
    notes = tuple(dict.fromkeys((*before.warnings, *after.warnings)))
    if output.as_json:
        output.answer("audit change", change.to_dict(), notes)
        return
    output.text(f"{first} to {second}: {change.heading()}", "bold")
    output.rows(change.rows())
    output.notes(notes)
