"""Add up costs and gains of predictions, item by item.

Left without --threshold, scores are cut where most is earned.

Example: tallymark costs claims.parquet --label fraud --score p --cost-fp 5 --cost-fn amount
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from tallymark.cli.options import (
    Cluster,
    File,
    Label,
    Level,
    OptionGroup,
    RowOptions,
    Scores,
    Seed,
    Weight,
    columns,
    number,
    number_or_text,
    text,
)
from tallymark.cli.output import ReportedOutput
from tallymark.cli.reading import read_columns
from tallymark.decisions.item_costs import costs
from tallymark.errors import InputError
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted

Amount = Annotated[str, text("AMOUNT", "A number, or the column that has it for each row.")]


@dataclass(frozen=True)
class CostOptions(OptionGroup):
    """Predictions, and where scores are cut."""

    label: Label
    score: Scores = None
    predicted: Annotated[list[str] | None, columns("Or: columns with predicted classes", "class")] = None
    threshold: Annotated[float | None, number("NUMBER", "Where scores are cut; left out, where most is earned.")] = None
    weight: Weight = None
    cluster: Cluster = None
    level: Level = 0.95
    seed: Seed = 0


@dataclass(frozen=True)
class AmountOptions(OptionGroup):
    """What each outcome costs or earns."""

    heading: ClassVar[str] = "Costs and gains"

    cost_fp: Amount = "1"
    cost_fn: Amount = "1"
    value_tp: Amount = "0"
    value_tn: Amount = "0"
    matrix: Annotated[
        str | None, text("FILE", "CSV file with the cost of each true class (rows) and prediction (columns).")
    ] = None

    def amounts(self) -> dict[str, Any]:
        """Each cost and gain as a number, or as the name of a column."""
        return {name: number_or_text(given) for name, given in vars(self).items() if name != "matrix"}


def run(
    file: File, options: CostOptions, costs_and_gains: AmountOptions, rows: RowOptions, output: ReportedOutput
) -> None:
    """Add up, print."""
    output.require_place(file, costs_and_gains.matrix)
    amounts = costs_and_gains.amounts()
    named = {name: value for name, value in amounts.items() if isinstance(value, str)}
    more = [Wanted(value, f"--{name.replace('_', '-')}", "number") for name, value in named.items()]
    result = costs(
        read_columns(file, rows, options, more=more),
        **vars(options),
        **amounts,
        matrix=None if costs_and_gains.matrix is None else _matrix(costs_and_gains.matrix),
        pos_label=rows.pos_label,
    )
    output.write_report(result, file)
    if output.as_json:
        output.answer("costs", result.to_dict())
        return
    output.lines(result.heading())
    for lines in (result.rows(), result.pairs, result.by_class):
        if lines:
            output.rows(lines)
    output.say_where()


def _matrix(path: str) -> dict[str, dict[str, float]]:
    """Costs from a table whose first column names the true class and whose others are the predictions."""
    with engine(path) as source:
        first, *others = source.types
    if not others:
        raise InputError(f"{path!r} must have a column that names the true class and one for each prediction.")
    columns = any_columns(path, [Wanted(first, "--matrix"), *(Wanted(name, "--matrix", "number") for name in others)])
    values = {name: numbers(columns[name], name) for name in others}
    truths = [str(name) for name in np.ma.getdata(columns[first]).tolist()]
    return {
        truth: {call: float(values[call][row]) for call in others if np.isfinite(values[call][row])}
        for row, truth in enumerate(truths)
    }
