"""``tallymark index``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tallymark._numbers import number, per_cent
from tallymark.cli.naming import listed
from tallymark.cli.output import typed_label, write_report
from tallymark.cli.printing import (
    print_json,
    print_rows,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.errors import InputError
from tallymark.prices.index_errors import IndexUnderError, index_under_error
from tallymark.prices.price_index import PriceIndex, index


def run(
    file: str, period: str, product: Sequence[str], price: str, quantity: str | None, formulas: Sequence[str], where: str | None,
    window: int | None, splice: str, order: Sequence[str], *, chained: bool, as_json: bool, report: str | None,
) -> dict[str, PriceIndex]:  # fmt: skip
    """Compute, print; gives back what was printed."""
    require_report_place(report, file)
    keys = listed(product)
    with progress_bar(f"Reading {file}"):
        made = {
            formula: index(
                file, period=period, product=keys, price=price, quantity=quantity, formula=formula, chained=chained, window=window,
                splice=splice, where=where, order=order or None,  # type: ignore[arg-type]
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
                number(row["index"]),
                per_cent(row["matched"]),
                *(number(row[name]) for name in ("products", "entering", "leaving")),
            ]
            for row in one.rows()
        ]
        print_table(table("", heads, lines))
    print_text("matched: expenditure in products that the period compared with has too.", "dim", indent="  ")
    print_written(report)
    return made


def under_error(
    file: str, formulas: Sequence[str], tolerance: float | None, *, as_json: bool, report: str | None, where: str | None, window: int | None,
    label: str, pos_label: str | None, product: Sequence[str], **options: Any,
) -> IndexUnderError:  # fmt: skip
    """Compute an index under classification error, print; gives back what was printed."""
    if where is not None or window is not None or len(listed(formulas)) != 1:
        raise InputError(
            "With --label there is one --formula, over all lines of the file; leave out --where and --window."
        )
    require_report_place(report, file)
    with progress_bar(f"Drawing classifiers for {file}"):
        positive = typed_label(file, label, pos_label)
        found = index_under_error(
            file, formula=listed(formulas)[0], product=listed(product), label=label, pos_label=positive, **options
        )
        needed = None if tolerance is None else found.required_value(tolerance)
    write_report(found, report, file)
    if as_json:
        print_json(
            "index", found.to_dict() | ({} if needed is None else {"tolerance": tolerance, "required_value": needed})
        )
        return found
    print_text(found.heading(), "bold")
    print_rows(found.rows())
    if needed is not None:
        reach = "no value of it" if math.isnan(needed) else f"{needed:.3f}"
        print_text(f"To stay within {tolerance:g} in 95 of 100 draws, {found.metric} must reach {reach}.", "bold")
    print_written(report)
    return found
