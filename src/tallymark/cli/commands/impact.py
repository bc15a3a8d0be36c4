"""Test whether classification errors differ in price.

The shift of the mean price that false positives and false negatives cause is estimated with an interval.

Example: tallymark impact sales.parquet --label is_milk --predicted called --value price --period month
"""

from __future__ import annotations

from typing import Annotated

from tallymark._numbers import change, p_value
from tallymark._numbers import number as shown
from tallymark.cli.layout import table
from tallymark.cli.options import Cluster, File, Label, Level, Order, RowOptions, Weight, column, number
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns, wanted_columns
from tallymark.prices.error_impact import impact


def run(
    file: File,
    label: Label,
    value: Annotated[str, column("Column with the price, or any value.")],
    rows: RowOptions,
    output: ReportedOutput,
    predicted: Annotated[str | None, column("Column with the predicted class.")] = None,
    score: Annotated[str | None, column("Or: column with the score.")] = None,
    threshold: Annotated[float | None, number("NUMBER", "Scores from here on are predicted positive.")] = None,
    period: Annotated[str | None, column("Column with the period.")] = None,
    weight: Weight = None,
    cluster: Cluster = None,
    tolerance: Annotated[float, number("SHARE", "Share of the mean that would not matter.")] = 0.01,
    level: Level = 0.95,
    order: Order = None,
) -> None:
    """Estimate, print."""
    output.require_place(file)
    wanted = [
        *wanted_columns("class", label=label, predicted=predicted),
        *wanted_columns("number", value=value, score=score, weight=weight),
        *wanted_columns(period=period, cluster=cluster),
    ]
    result = impact(
        read_columns(file, wanted, rows), label=label, value=value, predicted=predicted, score=score,
        threshold=threshold, period=period, weight=weight, cluster=cluster, pos_label=rows.pos_label,
        tolerance=tolerance, level=level, order=order or None,
    )  # fmt: skip
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
