"""Options that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Report = Annotated[str | None, typer.Option(help="Also write a report to this HTML file.")]
PosLabel = Annotated[str | None, typer.Option(help="The positive label, where it is not obvious.")]
Level = Annotated[float, typer.Option(help="Level of the confidence intervals.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads to work with.")]
Cluster = Annotated[str | None, typer.Option(help="Column that says which rows belong together, such as the product.")]
Where = Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")]
Order = Annotated[
    list[str] | None,
    typer.Option(help="The periods in their order in time, where it cannot be read (comma or repeat)."),
]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with a missing value.")]
Weight = Annotated[str | None, typer.Option(help="Column with survey or expenditure weights.")]
Count = Annotated[str | None, typer.Option(help="Column that says how often a row occurs.")]
SamplingOption = Annotated[
    str,
    typer.Option("--sampling", help="plain (all rows drawn at random) or stratified (class sizes fixed by design)."),
]
CostFp = Annotated[float | None, typer.Option(help="Cost of a false positive (expected_cost, net_benefit).")]
CostFn = Annotated[float | None, typer.Option(help="Cost of a false negative (expected_cost, net_benefit).")]
Beta = Annotated[float | None, typer.Option(help="Beta of fbeta.")]


def given(**parameters: float | None) -> dict[str, float]:
    """Parameters of metrics that were said."""
    return {name: value for name, value in parameters.items() if value is not None}
