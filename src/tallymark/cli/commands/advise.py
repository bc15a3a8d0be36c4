"""Advise which metric to choose a classifier of prices by.

Stability is stated, or read off a file with --period and --label.

Example: tallymark advise --no-prevalence-stable --values-stable --prevalence low --emphasise fp
"""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.layout import table
from tallymark.cli.options import Order, RowOptions, argument, column, flag, number, text
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns, wanted_columns
from tallymark.errors import InputError
from tallymark.prices.advice import advise


def run(
    rows: RowOptions,
    output: ReportedOutput,
    file: Annotated[
        str | None, argument("[FILE]", "File to read stability off, with --period, --label and perhaps --value.")
    ] = None,
    classes: Annotated[int, number("INTEGER", "Number of classes.", least=2)] = 2,
    prevalence_stable: Annotated[
        bool | None, typer.Option(help="Does the class's share stay from period to period?", show_default=False)
    ] = None,
    values_stable: Annotated[
        bool | None, typer.Option(help="Do the class's prices keep their distribution?", show_default=False)
    ] = None,
    prevalence: Annotated[
        str | None, text("WORD", "low, balanced or high; left out, read off FILE or balanced.")
    ] = None,
    true_negatives_matter: Annotated[bool, flag("true-negatives-matter", "True negatives count too.")] = False,
    emphasise: Annotated[str | None, text("ERROR", "The error that hurts more: fp or fn.")] = None,
    cost_fp: Annotated[float | None, number("NUMBER", "Cost of a false positive.")] = None,
    cost_fn: Annotated[float | None, number("NUMBER", "Cost of a false negative.")] = None,
    period: Annotated[str | None, column("Column of FILE with the period.")] = None,
    label: Annotated[str | None, column("Column of FILE with the true class.")] = None,
    value: Annotated[str | None, column("Column of FILE with the price, or any value.")] = None,
    order: Order = None,
) -> None:
    """Advise, print."""
    output.require_place(file)
    named = [
        *wanted_columns(period=period),
        *wanted_columns("class", label=label),
        *wanted_columns("number", value=value),
    ]
    if file is None and (named or rows != RowOptions()):
        raise InputError("--period, --label, --value and options of rows need a file; name the file first.")
    advice = advise(
        read_columns(file, named, rows) if file is not None and named else file,
        classes=classes, prevalence_stable=prevalence_stable, values_stable=values_stable, prevalence=prevalence,  # type: ignore[arg-type]
        true_negatives_matter=true_negatives_matter, emphasise=emphasise, cost_fp=cost_fp, cost_fn=cost_fn,  # type: ignore[arg-type]
        period=period, label=label, value=value, pos_label=rows.pos_label, order=order or None,
    )  # fmt: skip
    output.write_report(advice, file or "Which metric to watch")
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
