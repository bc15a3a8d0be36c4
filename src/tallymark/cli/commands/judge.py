"""Check a judge against people, and correct its pass rate.

The judge has a verdict on every item, people on some. With a column of verdicts for each of two systems, the corrected
difference of their pass rates too.

Example: tallymark judge items.csv --judge verdict --human checked --by topic
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark.cli.options import File, Level, OptionGroup, PosLabel, Where, column, columns, number, text
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.raters.judging import judge as judged


@dataclass(frozen=True)
class JudgeOptions(OptionGroup):
    """Where the verdicts are."""

    judge: Annotated[list[str], columns("Column with the judge's verdict; one for each system", "class")]
    human: Annotated[list[str], columns("Column with people's verdicts, empty where there is none", "class")]
    system: Annotated[str | None, column("Column that names the system, where each row is one answer.")] = None
    item: Annotated[str | None, column("Column that names the item.")] = None
    by: Annotated[list[str] | None, columns("Segments")] = None
    stratum: Annotated[list[str] | None, columns("Columns within which the items to label were drawn at random")] = None
    inclusion: Annotated[str | None, column("Column with the probability of being labelled.", "number")] = None
    cluster: Annotated[str | None, column("Column of conversations that people judged whole.")] = None
    pos_label: PosLabel = None
    scale: Annotated[
        str | None, text("SCALE", "What verdicts are: pass, classes or grades; left out, as they look.")
    ] = None
    population: Annotated[
        str, text("WORD", "Rates of these items (suite), or of all that they are a sample of (items).")
    ] = "suite"
    where: Where = None
    equivalence: Annotated[float | None, number("NUMBER", "A difference so small that it does not matter.")] = None
    level: Level = 0.95


def run(file: File, options: JudgeOptions, output: ReportedOutput) -> None:
    """Correct, print."""
    output.require_place(file)
    with progress_bar(f"Reading {file}"):
        result = judged(file, **vars(options))
    output.write_report(result, file)
    if output.as_json:
        output.answer("judge", result.to_dict(), result.warnings)
        return
    output.lines(f"{file}: {result.heading()}")
    output.rows(result.rows())
    output.notes(result.warnings)
    output.say_where()
