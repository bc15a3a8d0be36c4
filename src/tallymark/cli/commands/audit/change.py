"""Compare the counts of two audits, such as those of two periods, or of the same rows checked twice.

With one file, --before and --after name its columns of verdicts.

Example: tallymark audit change 2023.csv 2024.csv --label checked --stratum region
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark import audits
from tallymark.cli.options import Level, OptionGroup, PosLabel, Where, column, columns, data_file
from tallymark.cli.output import CheckedOutput, progress_bar
from tallymark.errors import InputError
from tallymark.notes import Note


@dataclass(frozen=True)
class DesignOptions(OptionGroup):
    """How rows were drawn to be checked."""

    inclusion: Annotated[str | None, column("Column with the probability with which a row was drawn.", "number")] = None
    stratum: Annotated[list[str] | None, columns("Columns that make the strata")] = None
    cluster: Annotated[str | None, column("Column of the clusters that were drawn and checked whole.")] = None
    level: Level = 0.95
    where: Where = None


def run(
    first: Annotated[str, data_file("FIRST", "Every row of the first target, some of them checked.")],
    options: DesignOptions,
    output: CheckedOutput,
    second: Annotated[str | None, data_file("[SECOND]", "Every row of the second target.")] = None,
    label: Annotated[str, column("Column with the verdict; empty where a row was not checked.", "class")] = "checked",
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None,
    before: Annotated[str | None, column("With one file: column with the first verdict.", "class")] = None,
    after: Annotated[str | None, column("With one file: column with the second verdict.", "class")] = None,
    pos_label: PosLabel = None,
) -> None:
    """Estimate, compare, print."""
    notes: tuple[Note, ...] = ()
    if second is None:
        if before is None or after is None:
            raise InputError("Name a second file, or with one file the columns of both verdicts: --before and --after.")
        if predicted is not None or pos_label is not None or label != "checked":
            raise InputError("--label, --predicted, --pos-label: only with two files.")
        with progress_bar(f"Reading {first}"):
            change = audits.paired_change(first, before=before, after=after, **vars(options))
    else:
        if before is not None or after is not None:
            raise InputError("--before, --after: with one file, whose rows were checked twice.")
        with progress_bar(f"Reading {first} and {second}"):
            of_first, of_second = (
                audits.estimate(file, label=label, predicted=predicted, pos_label=pos_label, **vars(options))
                for file in (first, second)
            )
        change = audits.change(of_first, of_second)
        notes = tuple(dict.fromkeys((*of_first.warnings, *of_second.warnings)))
    if output.as_json:
        output.answer("audit change", change.to_dict(), notes)
        return
    files = first if second is None else f"{first} to {second}"
    output.text(f"{files}: {change.heading()}", "bold")
    output.rows(change.rows())
    output.notes(notes)
