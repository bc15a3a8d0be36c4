"""``tallymark audit``: options and help; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.naming import listed
from tallymark.cli.options import Json, Level, Order, PosLabel, Report, Seed
from tallymark.cli.strictness import with_strict

app = typer.Typer(
    help="Check rows by hand: plan which, and say what they tell.", no_args_is_help=True, rich_markup_mode=None
)

By = Annotated[list[str] | None, typer.Option(help="Group by these columns (comma or repeat).")]
Value = Annotated[str | None, typer.Option(help="Estimate this column's sum instead of the number of rows.")]
Threshold = Annotated[float | None, typer.Option(help="Scores from here on are called positive.")]


@app.command()
def plan(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file with every row of the target.")],
    score: Annotated[str, typer.Option(help="Column with the probability.", show_default=False)] = ...,  # type: ignore[assignment]
    n: Annotated[int | None, typer.Option("--n", min=2, help="How many rows can be checked.")] = None,
    width: Annotated[float | None, typer.Option(help="Or: how wide the interval may be.")] = None,
    measure: Annotated[str, typer.Option(help="What for: prevalence, precision or recall.")] = "prevalence",
    threshold: Threshold = None,
    by: By = None,
    value: Value = None,
    design: Annotated[str, typer.Option(help="stratified, uncertainty or simple.")] = "stratified",
    allocation: Annotated[str, typer.Option(help="neyman, power or proportional.")] = "neyman",
    strata: Annotated[int, typer.Option(min=1, help="Strata along the score.")] = 5,
    least: Annotated[int, typer.Option(min=2, help="Rows of each stratum, at least.")] = 2,
    level: Level = 0.95,
    seed: Seed = 0,
    out: Annotated[
        str | None, typer.Option(help="Write the rows to check, with an empty column 'checked', to this file.")
    ] = None,
    everything: Annotated[
        str | None,
        typer.Option("--all", help="Write FILE with strata and probabilities beside every row to this file."),
    ] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Draw the rows to check by hand, and say what to expect of them.

    Example: tallymark audit plan firms.parquet --score p --width 0.02 --out check.csv --all planned.parquet
    """
    from tallymark.cli.commands import audit as command

    command.plan(
        file, out, everything, as_json=json, report=report, score=score, n=n, width=width, measure=measure, threshold=threshold, by=by or [],
        value=value, design=design, allocation=allocation, strata=strata, least=least, level=level, seed=seed,
    )  # fmt: skip


@app.command()
@with_strict
def estimate(
    file: Annotated[str, typer.Argument(help="Every row of the target (or the checked rows alone, with --inclusion).")],
    checked: Annotated[
        str | None, typer.Argument(help="The checked rows, with a column that says which rows of FILE they are.")
    ] = None,
    label: Annotated[
        str, typer.Option(help="Column with what was found; empty where a row was not checked.")
    ] = "checked",
    score: Annotated[str | None, typer.Option(help="Column with the score.")] = None,
    threshold: Threshold = None,
    predicted: Annotated[str | None, typer.Option(help="Column with the predicted class.")] = None,
    row: Annotated[
        str, typer.Option("--row", help="Column of CHECKED with the place of each row in FILE, from 0.")
    ] = "row",
    by: By = None,
    inclusion: Annotated[
        str | None, typer.Option(help="Column with the probability with which a row was drawn.")
    ] = None,
    stratum: Annotated[list[str] | None, typer.Option(help="Columns that make the strata (comma or repeat).")] = None,
    value: Value = None,
    pos_label: PosLabel = None,
    estimator: Annotated[
        str | None, typer.Option(help="ppi, expansion, difference, ratio or greg; left out, the one that fits.")
    ] = None,
    level: Level = 0.95,
    where: Annotated[str | None, typer.Option(help="Only rows that satisfy this SQL condition.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say how many there are, and how good the calls are, from rows that were checked.

    Example: tallymark audit estimate planned.parquet check.csv --score p --threshold 0.5 --inclusion inclusion
    """
    from tallymark.cli.commands import audit as command

    command.estimate(
        file, checked, row, as_json=json, report=report, label=label, score=score, threshold=threshold, predicted=predicted, by=by or [],
        inclusion=inclusion, stratum=stratum or [], value=value, pos_label=pos_label, estimator=estimator, level=level, where=where,
    )  # fmt: skip


@app.command("index")
def of_index(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, a line per sale.")],
    period: Annotated[str, typer.Option(help="Column with the period.", show_default=False)] = ...,  # type: ignore[assignment]
    product: Annotated[
        list[str], typer.Option(help="Columns that make a product (comma or repeat).", show_default=False)
    ] = ...,  # type: ignore[assignment]
    price: Annotated[str, typer.Option(help="Column with the price.", show_default=False)] = ...,  # type: ignore[assignment]
    score: Annotated[str, typer.Option(help="Column with the probability.", show_default=False)] = ...,  # type: ignore[assignment]
    quantity: Annotated[str | None, typer.Option(help="Column with the quantity.")] = None,
    formula: Annotated[str, typer.Option(help="A formula of `tallymark index`.")] = "fisher",
    chained: Annotated[bool, typer.Option("--chained", help="Compare each period with the one before.")] = False,
    n: Annotated[int | None, typer.Option("--n", min=1, help="How many products can be checked.")] = None,
    width: Annotated[float | None, typer.Option(help="Or: how wide the index may remain.")] = None,
    level: Level = 0.95,
    seed: Seed = 0,
    order: Order = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Say which products to check by hand so that an index is known well enough.

    Example: tallymark audit index sales.csv --period month --product id --price p --quantity q --score s --width 0.01
    """
    from tallymark.cli.commands import audit as command

    command.of_index(
        file, as_json=json, report=report, period=period, product=product, price=price, quantity=quantity, score=score, formula=formula,
        chained=chained, n=n, width=width, level=level, seed=seed, order=listed(order or ()) or None,
    )  # fmt: skip
