"""Compute price indices.

Each has the share of expenditure that it rests on. With --label, classifiers of a given quality are simulated and the
index is computed from the products they assign to the class.

Example: tallymark index milk.csv --period month --product id --price price --quantity q --formula fisher,geks_fisher
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from tallymark._numbers import number as shown
from tallymark._numbers import per_cent
from tallymark.cli.layout import table
from tallymark.cli.options import (
    OptionGroup,
    Order,
    PosLabel,
    Seed,
    Where,
    column,
    columns,
    data_file,
    flag,
    names,
    number,
    text,
)
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.errors import InputError
from tallymark.prices.index_errors import index_under_error
from tallymark.prices.price_index import index


@dataclass(frozen=True)
class SaleOptions(OptionGroup):
    """Columns of the sales and the formula of the index."""

    heading: ClassVar[str] = "Sales"

    period: Annotated[str, column("Column with the period.")]
    product: Annotated[list[str], columns("Columns that make a product")]
    price: Annotated[str, column("Column with the price.", "number")]
    quantity: Annotated[str | None, column("Column with the quantity.", "number")] = None
    chained: Annotated[bool, flag("chained", "Compare each period with the one before.")] = False
    order: Order = None


@dataclass(frozen=True)
class ErrorOptions(OptionGroup):
    """What classification errors do to the index of a class."""

    heading: ClassVar[str] = "The index under classification errors"

    label: Annotated[str | None, column("Column that says which products are of the class.")] = None
    pos_label: PosLabel = None
    metric: Annotated[str, text("METRIC", "Metric that simulated classifiers reach.")] = "balanced_accuracy"
    metric_value: Annotated[float, number("NUMBER", "The value of that metric.")] = 0.9
    tolerance: Annotated[
        float | None, number("NUMBER", "Also find the value at which the index stays within this.")
    ] = None
    errors: Annotated[str, text("WORD", "Errors fall random, by price or by scores.")] = "random"
    score: Annotated[str | None, column("With --errors scores: column with probabilities.")] = None
    predicted: Annotated[str | None, column("Predictions of a real classifier instead of simulated ones.")] = None
    together: Annotated[str | None, column("Products alike in this column are classified alike.")] = None
    draws: Annotated[int, number("INTEGER", "Classifiers to simulate.", least=2)] = 1_000
    seed: Seed = 0


def run(
    file: Annotated[str, data_file("FILE", "CSV, Parquet, Excel or other data file, or a pattern; one row per sale.")],
    sales: SaleOptions,
    error: ErrorOptions,
    output: ReportedOutput,
    formula: Annotated[
        list[str] | None,
        names(
            "FORMULA",
            "jevons, dutot, carli, laspeyres, paasche, fisher, tornqvist, walsh, geks_jevons, geks_fisher, "
            "geks_tornqvist, "
            "geary_khamis, time_product_dummy",
        ),
    ] = None,
    window: Annotated[int | None, number("PERIODS", "Rolling window of a multilateral formula.", least=2)] = None,
    splice: Annotated[str, text("METHOD", "How windows are joined: movement, window, half or mean.")] = "movement",
    where: Where = None,
) -> None:
    """Compute the indices, or one under classification errors."""
    output.require_place(file)
    formulas = formula or ["fisher"]
    if error.label is not None:
        if where is not None or window is not None or len(formulas) != 1:
            raise InputError(
                "With --label there is one --formula, over all lines of the file; leave out --where and --window."
            )
        _under_error(file, sales, error, formulas[0], output)
        return
    with progress_bar(f"Reading {file}"):
        indices = {
            name: index(file, **vars(sales), formula=name, window=window, splice=splice, where=where)  # type: ignore[arg-type]
            for name in formulas
        }
    output.write_report(indices, file)
    if output.as_json:
        output.answer("index", {"indices": [one.to_dict() for one in indices.values()]})
        return
    counts = ("products", "entering", "leaving")
    heads = [("period", "left"), ("index", "right"), ("matched", "right"), *((name, "right") for name in counts)]
    for one in indices.values():
        output.text(one.heading(), "bold")
        lines = [
            [str(row["period"]), shown(row["index"]), per_cent(row["matched"]), *(shown(row[name]) for name in counts)]
            for row in one.rows()
        ]
        output.table(table("", heads, lines))
    output.text("matched: expenditure in products that the period compared with has too.", "dim", indent="  ")
    output.say_where()


def _under_error(file: str, sales: SaleOptions, error: ErrorOptions, formula: str, output: ReportedOutput) -> None:
    options: dict[str, Any] = {name: value for name, value in vars(error).items() if name != "tolerance"}
    with progress_bar(f"Drawing classifiers for {file}"):
        result = index_under_error(file, **vars(sales), **options, formula=formula)
        required = None if error.tolerance is None else result.required_value(error.tolerance)
    output.write_report(result, file)
    if output.as_json:
        extra = {} if required is None else {"tolerance": error.tolerance, "required_value": required}
        output.answer("index", result.to_dict() | extra)
        return
    output.text(result.heading(), "bold")
    output.rows(result.rows())
    if required is not None:
        reach = "no value of it" if math.isnan(required) else f"{required:.3f}"
        output.text(
            f"To stay within {error.tolerance:g} in 95 of 100 draws, {result.metric} must reach {reach}.", "bold"
        )
    output.say_where()
