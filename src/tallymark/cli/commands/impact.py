"""Test whether classification errors differ in price.

The shift of the mean price that false positives and false negatives cause is estimated with an interval.

Example: tallymark impact sales.parquet --label is_milk --predicted called --value price --period month
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark._numbers import change, p_value
from tallymark._numbers import number as shown
from tallymark.cli.layout import table
from tallymark.cli.options import Cluster, File, Label, Level, OptionGroup, Order, RowOptions, Weight, column, number
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns
from tallymark.prices.error_impact import impact


@dataclass(frozen=True)
class ImpactOptions(OptionGroup):
    """What is compared."""

    label: Label
    value: Annotated[str, column("Column with the price, or any value.", "number")]
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None
    score: Annotated[str | None, column("Or: column with the score.", "number")] = None
    threshold: Annotated[float | None, number("NUMBER", "Scores from here on are predicted positive.")] = None
    period: Annotated[str | None, column("Column with the period.")] = None
    weight: Weight = None
    cluster: Cluster = None
    tolerance: Annotated[float, number("SHARE", "Share of the mean that would not matter.")] = 0.01
    level: Level = 0.95
    order: Order = None


def run(file: File, options: ImpactOptions, rows: RowOptions, output: ReportedOutput) -> None:
    """Estimate, print."""
    output.require_place(file)
    result = impact(read_columns(file, rows, options), **vars(options), pos_label=rows.pos_label)
    output.write_report(result, file)
    if output.as_json:
        output.answer("impact", result.to_dict(), result.warnings)
        return
    output.text(f"{file}: {result.heading()}", "bold")
    by_period = any(part.period is not None for part in result.parts)
    heads = [("period", "left")] if by_period else []
    heads += [("class", "left"), ("errors", "left")]
    heads += [(name, "right") for name in ("rows", "mean", "shift of the level", "KS", "p")]
    heads += [("verdict", "prose")]
    lines = [
        [
            *([str(row["period"])] if by_period else []),
            row["class"],
            row["errors"],
            shown(row["n"]),
            shown(row["mean"]),
            change(row["shift"], row["low"], row["high"]),
            shown(row["ks"]),
            "" if row["p_value"] is None else p_value(row["p_value"]),
            row["verdict"],
        ]
        for row in result.rows()
    ]
    output.table(table("", heads, lines))
    output.text(
        "fp: what false positives bring in; fn: what false negatives take away; total: both.", "dim", indent="  "
    )
    output.notes(result.warnings)
    output.say_where()
