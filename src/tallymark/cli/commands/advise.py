"""Advise which metric to choose a classifier of prices by.

Stability is stated, or read off a file with --period and --label.

Example: tallymark advise --no-prevalence-stable --values-stable --prevalence low --emphasise fp
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from tallymark.cli.layout import table
from tallymark.cli.options import OptionGroup, Order, RowOptions, column, data_file, flag, number, text
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns, wanted_by
from tallymark.errors import InputError
from tallymark.prices.advice import advise


@dataclass(frozen=True)
class AdviceOptions(OptionGroup):
    """What is known of the classes and the errors."""

    classes: Annotated[int, number("INTEGER", "Number of classes.", least=2)] = 2
    prevalence_stable: Annotated[
        bool | None, typer.Option(help="Does the class's share stay from period to period?", show_default=False)
    ] = None
    values_stable: Annotated[
        bool | None, typer.Option(help="Do the class's prices keep their distribution?", show_default=False)
    ] = None
    prevalence: Annotated[str | None, text("WORD", "low, balanced or high; left out, read off FILE or balanced.")] = (
        None
    )
    true_negatives_matter: Annotated[bool, flag("true-negatives-matter", "True negatives count too.")] = False
    emphasise: Annotated[str | None, text("ERROR", "The error that hurts more: fp or fn.")] = None
    cost_fp: Annotated[float | None, number("NUMBER", "Cost of a false positive.")] = None
    cost_fn: Annotated[float | None, number("NUMBER", "Cost of a false negative.")] = None


@dataclass(frozen=True)
class StabilityOptions(OptionGroup):
    """Columns of a file that stability is read off."""

    heading: ClassVar[str] = "Stability from a file"

    period: Annotated[str | None, column("Column of FILE with the period.")] = None
    label: Annotated[str | None, column("Column of FILE with the true class.", "class")] = None
    value: Annotated[str | None, column("Column of FILE with the price, or any value.", "number")] = None
    order: Order = None


def run(
    options: AdviceOptions,
    stability: StabilityOptions,
    rows: RowOptions,
    output: ReportedOutput,
    file: Annotated[
        str | None, data_file("[FILE]", "File to read stability off, with --period, --label and perhaps --value.")
    ] = None,
) -> None:
    """Advise, print."""
    output.require_place(file)
    named = any(True for _ in wanted_by(stability))
    if file is None and (named or rows != RowOptions()):
        raise InputError("--period, --label, --value and options of rows need a file; name the file first.")
    data = read_columns(file, rows, stability) if file is not None and named else file
    advice = advise(data, **vars(options), **vars(stability), pos_label=rows.pos_label)
    output.write_report(advice, file, title="" if file else "Which metric to watch")
    if output.as_json:
        output.answer("advise", advice.to_dict())
        return
    for line in advice.heading().splitlines():
        output.text(line, "bold" if not line.startswith("Doubtful") else "yellow")
    reasons = [[row["about"], row["because"]] for row in advice.rows()]
    output.table(table("", [("about", "left"), ("because", "prose")], reasons))
    if advice.evidence:
        output.rows(advice.evidence)
    output.say_where()
