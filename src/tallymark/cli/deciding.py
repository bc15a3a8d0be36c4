"""Commands for deciding: options and help; work is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from tallymark.cli.learning import Json, Report


def index(
    file: Annotated[str, typer.Argument(help="CSV, Parquet or JSON lines file or pattern, a line per sale.")],
    period: Annotated[str, typer.Option(help="Column with the period.", show_default=False)] = ...,  # type: ignore[assignment]
    product: Annotated[
        list[str], typer.Option(help="Columns that make a product (comma or repeat).", show_default=False)
    ] = ...,  # type: ignore[assignment]
    price: Annotated[str, typer.Option(help="Column with the price.", show_default=False)] = ...,  # type: ignore[assignment]
    quantity: Annotated[str | None, typer.Option(help="Column with the quantity.")] = None,
    formula: Annotated[
        list[str] | None,
        typer.Option(
            help="jevons, dutot, carli, laspeyres, paasche, fisher, tornqvist, walsh, geks_jevons, geks_fisher, geks_tornqvist, "
            "geary_khamis, time_product_dummy (comma or repeat)."
        ),
    ] = None,
    chained: Annotated[bool, typer.Option("--chained", help="Compare each period with the one before.")] = False,
    window: Annotated[int | None, typer.Option(min=2, help="Rolling window of a multilateral formula.")] = None,
    splice: Annotated[str, typer.Option(help="How windows are tied: movement, window, half or mean.")] = "movement",
    where: Annotated[str | None, typer.Option(help="Only lines that satisfy this SQL condition.")] = None,
    json: Json = False,
    report: Report = None,
) -> None:
    """Compute price indices, each with its matched share.

    Example: tallymark index milk.csv --period month --product id --price price --quantity q --formula fisher,geks_fisher
    """
    from tallymark.cli.commands import index as command

    command.run(
        file,
        period,
        product,
        price,
        quantity,
        formula or ["fisher"],
        where,
        window,
        splice,
        chained=chained,
        as_json=json,
        report=report,
    )
