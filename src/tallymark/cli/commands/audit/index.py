"""Choose the products to check so that an index is known well enough.

Example: tallymark audit index sales.csv --period month --product id --price p --quantity q --score s --width 0.01
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tallymark.cli.commands.index import SaleOptions
from tallymark.cli.options import Level, OptionGroup, Seed, column, data_file, number, text
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.prices.index_audits import index_audit


@dataclass(frozen=True)
class IndexAuditOptions(OptionGroup):
    """How many products, for which index."""

    score: Annotated[str, column("Column with the probability.", "number")]
    formula: Annotated[str, text("FORMULA", "A formula of `tallymark index`.")] = "fisher"
    n: Annotated[int | None, number("PRODUCTS", "How many products can be checked.", least=1)] = None
    width: Annotated[float | None, number("NUMBER", "Or: how wide the index may remain.")] = None
    level: Level = 0.95
    seed: Seed = 0


def run(
    file: Annotated[str, data_file("FILE", "CSV, Parquet, Excel or other data file, or a pattern; one row per sale.")],
    sales: SaleOptions,
    options: IndexAuditOptions,
    output: ReportedOutput,
) -> None:
    """Choose products, print."""
    output.require_place(file)
    with progress_bar(f"Drawing indices for {file}"):
        plan = index_audit(file, **vars(sales), **vars(options))
    output.write_report(plan, file)
    if output.as_json:
        output.answer("audit index", plan.to_dict())
        return
    output.text(plan.heading() + ".", "bold")
    output.rows(plan.rows())
    output.say_where()
