"""Draw the rows to check by hand.

The plan states the width of the interval to expect from them.

Example: tallymark audit plan firms.parquet --score p --width 0.02 --out check.csv --all planned.parquet
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from tallymark import audits
from tallymark.audits.checked_rows import without_verdict
from tallymark.cli.commands.audit.options import INCLUSION, By, Threshold, Value
from tallymark.cli.options import Level, OptionGroup, PosLabel, Seed, column, columns, data_file, number, text
from tallymark.cli.output import ReportedOutput, progress_bar, require_table_place, write_beside
from tallymark.cli.reading import wanted_by
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted


@dataclass(frozen=True)
class PlanOptions(OptionGroup):
    """What is to be estimated, and how rows are drawn."""

    score: Annotated[str | None, column("Column with the score; a probability, without --checked.", "number")] = None
    size: Annotated[int | None, number("ROWS", "How many (more) rows can be checked.", least=1)] = None
    width: Annotated[float | None, number("NUMBER", "Or: how wide the interval may be.")] = None
    measure: Annotated[str, text("WORD", "What to estimate: prevalence, precision, recall or accuracy.")] = "prevalence"
    threshold: Threshold = None
    predicted: Annotated[str | None, column("Column with the predicted class, for the accuracy.", "class")] = None
    by: By = None
    value: Value = None
    stratum: Annotated[list[str] | None, columns("Columns that make the strata")] = None
    checked: Annotated[str | None, column("Column with the verdicts on rows checked before.", "class")] = None
    pos_label: PosLabel = None
    design: Annotated[str, text("DESIGN", "stratified, uncertainty or simple.")] = "stratified"
    allocation: Annotated[str, text("RULE", "neyman, power or proportional.")] = "neyman"
    strata: Annotated[int, number("INTEGER", "Strata along the score.", least=1)] = 5
    least: Annotated[int, number("ROWS", "Rows of each stratum, at least.", least=2)] = 2
    level: Level = 0.95
    seed: Seed = 0


def run(
    file: Annotated[str, data_file("FILE", "CSV, Parquet, Excel or other data file with every row of the target.")],
    options: PlanOptions,
    output: ReportedOutput,
    out: Annotated[
        str | None, text("FILE", "Write the rows to check, with an empty column 'checked', to this file.")
    ] = None,
    everything: Annotated[
        str | None,
        typer.Option("--all", metavar="FILE", help="Write every row with its stratum and probability to this file."),
    ] = None,
) -> None:
    """Draw, write, print."""
    output.require_place(file)
    for place in (out, everything):
        require_table_place(place, file)
    with progress_bar(f"Reading {file}"):
        plan = audits.plan(file, **vars(options))
    kept = _checked_before(file, options.checked, len(plan.inclusion))
    kept[plan.drawn] = True
    columns = {"stratum": plan.stratum, INCLUSION: plan.inclusion}
    numbers = [one.column for one in wanted_by(options) if one.kind == "number"]
    if out is not None:
        # The column of earlier verdicts, empty in the rows to check, serves for theirs too. Rows checked before are in
        # the list: the probabilities are those of all checked rows together.
        verdicts = {} if options.checked else {"checked": np.full(len(kept), "", dtype=object)}
        beside = {"kept": kept, "row": np.arange(len(kept)), **columns, **verdicts}
        write_beside(out, file, beside, kept="kept", numbers=numbers)
    if everything is not None:
        write_beside(everything, file, columns, numbers=numbers)
    output.write_report(plan, file)
    if output.as_json:
        output.answer("audit plan", plan.to_dict())
        return
    output.text(plan.heading(), "bold")
    output.rows(plan.rows())
    if out is not None:
        before = f" and the {plan.checked} checked before" if plan.checked else ""
        column = options.checked or "checked"
        output.text(f"Wrote {out}: the rows to check{before}; fill in the column {column!r}.", "bold")
    if everything is not None:
        output.text(f"Wrote {everything}: every row with its probability.", "bold")
    output.say_where()


def _checked_before(file: str, checked: str | None, rows: int) -> NDArray[np.bool_]:
    """Which rows have a verdict already."""
    if checked is None:
        return np.zeros(rows, dtype=np.bool_)
    return ~without_verdict(any_columns(file, [Wanted(checked, "--checked", "class")])[checked])
