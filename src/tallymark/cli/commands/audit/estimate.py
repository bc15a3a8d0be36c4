"""Estimate counts and metrics from rows that were checked.

It says how many positives there are among all rows, and how good the predictions are.

Example: tallymark audit estimate planned.parquet check.csv --score p --threshold 0.5 --inclusion inclusion
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallymark import audits
from tallymark._numbers import count_with_limits, counted, with_limits
from tallymark._numbers import number as shown_number
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.estimates import AuditEstimate
from tallymark.cli.commands.audit.options import INCLUSION, By, Threshold, Value
from tallymark.cli.layout import table
from tallymark.cli.options import Level, OptionGroup, PosLabel, Where, argument, column, columns, text
from tallymark.cli.output import Output, ReportedOutput, progress_bar
from tallymark.cli.reading import wanted_by
from tallymark.errors import InputError, shown
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted
from tallymark.sources.same_rows import require_same_rows


@dataclass(frozen=True)
class CheckOptions(OptionGroup):
    """Which rows were checked, and how they were drawn."""

    heading: ClassVar[str] = "Checked rows"

    label: Annotated[str, column("Column with the verdict; empty where a row was not checked.", "class")] = "checked"
    inclusion: Annotated[str | None, column("Column with the probability with which a row was drawn.", "number")] = None
    stratum: Annotated[list[str] | None, columns("Columns that make the strata")] = None
    pos_label: PosLabel = None


@dataclass(frozen=True)
class EstimateOptions(OptionGroup):
    """What is estimated."""

    score: Annotated[str | None, column("Column with the score.", "number")] = None
    threshold: Threshold = None
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None
    by: By = None
    value: Value = None
    estimator: Annotated[
        str | None, text("METHOD", "ppi, expansion, difference, ratio or greg; left out, the one that fits.")
    ] = None
    level: Level = 0.95


def run(
    file: Annotated[str, argument("FILE", "Every row of the target (or the checked rows alone, with --inclusion).")],
    checks: CheckOptions,
    options: EstimateOptions,
    output: ReportedOutput,
    checked: Annotated[
        str | None, argument("[CHECKED]", "The checked rows, with a column that says which rows of FILE they are.")
    ] = None,
    row: Annotated[str, text("COLUMN", "Column of CHECKED with the place of each row in FILE, from 0.")] = "row",
    where: Where = None,
) -> None:
    """Read, estimate, print."""
    output.require_place(file, checked)
    wanted = [one for one in wanted_by(options, checks) if checked is None or one.column != checks.label]
    if checked is not None and where is not None:
        raise InputError("--where would change which row of FILE a checked row is; filter the file first.")
    if checked is not None and not wanted:
        raise InputError("Name a column of FILE, such as --score, so that its rows can be counted.")
    if checks.inclusion is None and not checks.stratum:
        _require_equal_chances(file, checked)
    notes: tuple[Note, ...] = ()
    with progress_bar(f"Reading {file}"):
        columns = any_columns(file, wanted, where=where)
        if checked is not None:
            rows = len(next(iter(columns.values())))
            columns[checks.label], notes = _verdicts(checked, row, checks.label, rows, file)
            emit(notes)
    estimate = audits.estimate(columns, **vars(checks), **vars(options))
    estimate = replace(estimate, warnings=(*notes, *estimate.warnings))
    output.write_report(estimate, file)
    if output.as_json:
        output.answer("audit estimate", estimate.to_dict(), estimate.warnings)
        return
    _print(estimate, file, output)
    output.notes(estimate.warnings)
    output.say_where()


def _require_equal_chances(file: str, checked: str | None) -> None:
    """Refuse checked rows that a plan drew with different probabilities, unless an option says to use these."""
    rows = file if checked is None else checked
    with engine(rows) as source:
        if INCLUSION not in source.types:
            return
        chances = {cell for cell in source.cells([INCLUSION])[INCLUSION] if cell}
    # Drawn at random all rows have one probability; but the list alone does not say of how many rows it is a sample.
    if len(chances) > 1 or (checked is None and chances - {"1", "1.0"}):
        where = (
            "" if checked is None else f", and for FILE the table that audit plan --all wrote (or leave {file!r} out)"
        )
        raise InputError(
            f"{rows!r} has the probabilities with which its rows were drawn, in the column {INCLUSION!r}: add "
            "--inclusion "
            f"{INCLUSION}{where}. Where rows were drawn otherwise, rename that column."
        )


def _verdicts(checked: str, row: str, label: str, rows: int, file: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """The verdict on every row of the file, masked where there is none; planned rows without one are noted."""
    columns = any_columns(checked, [Wanted(row, "--row", "number"), Wanted(label, "--label", "class")])
    places, verdicts = numbers(columns[row], row), columns[label]
    if not (np.isfinite(places) & (places == np.floor(places)) & (places >= 0) & (places < rows)).all():
        raise InputError(f"{row} of {checked!r} must give places from 0 to {rows - 1}, the rows of {file!r}.")
    at = places.astype(np.int64)
    repeated, counts = np.unique(at, return_counts=True)
    if (counts > 1).any():
        raise InputError(
            f"{checked!r} has the rows {shown(repeated[counts > 1].tolist(), 5)} more than once; keep one of each."
        )
    require_same_rows(file, checked, at, {row, label})
    missing, values = without_verdict(verdicts), np.ma.getdata(verdicts)
    spread, absent = np.zeros(rows, dtype=values.dtype), np.ones(rows, dtype=np.bool_)
    spread[at[~missing]], absent[at[~missing]] = values[~missing], False
    unchecked = int(missing.sum())
    message = (
        f"{len(at) - unchecked} of the {counted(len(at), 'planned row')} of {checked!r} were checked; {unchecked} have "
        "no "
        f"value of {label}"
    )
    return np.ma.MaskedArray(spread, mask=absent), (Note("TM125", message),) if unchecked else ()


def _print(estimate: AuditEstimate, file: str, output: Output) -> None:
    level = estimate.prevalence.level
    output.text(f"{file}: audited" + ("" if level is None else f", {100 * level:g} % intervals"), "bold")
    columns = [""] if estimate.by_group is None else list(estimate.by_group.names)
    rest = [""] * (len(columns) - 1)
    lines = [["(all)", *rest, *_counted(estimate.prevalence)]]
    if estimate.by_group is not None:
        lines += [[*map(str, key), *_counted(one)] for key, one in estimate.by_group.entries.items()]
        lines.append(["sum of the groups", *rest, *_counted(estimate.by_group.total)])
    heads = [*((name, "left") for name in columns), ("share", "right"), (estimate.value or "positives", "right")]
    output.table(table("", [*heads, ("of", "right")], lines))
    if len(estimate):
        measures = [[m.name, m.reason or with_limits(m.value, m.low or 0.0, m.high or 0.0)] for m in estimate.values()]
        output.table(table("", [("of the calls", "left"), ("estimate", "right")], measures))
    output.text(estimate.sentence, "dim")


def _counted(one: Prevalence) -> list[str]:
    if one.reason is not None or one.low is None or one.high is None:
        return ["–", one.reason or "–", shown_number(one.n)]
    return [one.written, count_with_limits(one.count, one.low * one.n, one.high * one.n), shown_number(one.n)]
