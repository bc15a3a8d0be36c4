"""``tallymark index``."""

from __future__ import annotations

from collections.abc import Sequence

from tallymark._display import number
from tallymark.cli.output import write_report
from tallymark.cli.printing import (
    listed,
    print_json,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.decide.price_index import PriceIndex, index


def run(
    file: str, period: str, product: Sequence[str], price: str, quantity: str | None, formulas: Sequence[str], where: str | None,
    window: int | None, splice: str, *, chained: bool, as_json: bool, report: str | None,
) -> dict[str, PriceIndex]:  # fmt: skip
    """Compute, print; gives back what was printed."""
    require_report_place(report, file)
    keys = listed(product)
    with progress_bar(f"Reading {file}"):
        made = {
            formula: index(
                file, period=period, product=keys, price=price, quantity=quantity, formula=formula, chained=chained, window=window,
                splice=splice, where=where,  # type: ignore[arg-type]
            )
            for formula in listed(formulas)
        }  # fmt: skip
    write_report(made, report, file)
    if as_json:
        print_json("index", {"indices": [one.to_dict() for one in made.values()]})
        return made
    for one in made.values():
        print_text(one.heading(), "bold")
        heads = [
            ("period", "left"),
            *((name, "right") for name in ("index", "matched", "products", "entering", "leaving")),
        ]
        lines = [
            [
                str(row["period"]),
                f"{row['index']:.4f}",
                f"{100 * row['matched']:.1f} %",
                *(number(row[name]) for name in ("products", "entering", "leaving")),
            ]
            for row in one.rows()
        ]
        print_table(table("", heads, lines))
    print_text("matched: expenditure in products that the period compared with has too.", "dim", indent="  ")
    print_written(report)
    return made
