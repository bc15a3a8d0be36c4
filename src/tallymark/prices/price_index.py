"""Price indices by bilateral and multilateral formulas (``tm.prices.index``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.interval import checked_number
from tallymark.prices.formulas import BILATERAL, MULTILATERAL, UNWEIGHTED, time_product_dummy
from tallymark.prices.price_tables import PriceTable, price_table
from tallymark.registry import require_one_of
from tallymark.sources.frames import named_columns

Splice = Literal["movement", "window", "half", "mean"]

#: Every formula by its name.
FORMULAS = (*BILATERAL, *MULTILATERAL)


@dataclass(frozen=True, eq=False, repr=False)
class PriceIndex(Shown):
    """An index by period, base 1, and what it rests on.

    `matched` is the share of a period's expenditure (of its products without quantities) in products that the period it
    is compared with also has; `entering` and `leaving` count products that are new, and gone, since the period before.
    """

    formula: str
    chained: bool
    periods: tuple[Any, ...]
    values: Floats
    matched: Floats
    products: tuple[int, ...]
    entering: tuple[int, ...]
    leaving: tuple[int, ...]
    product: tuple[str, ...]
    window: int | None = None
    splice: str | None = None

    def heading(self) -> str:
        """The formula, and what a product was taken to be."""
        whole = "fixed base" if self.formula in BILATERAL else "all periods at once"
        rolled = f"rolling window of {self.window}, {self.splice} splice" if self.window else whole
        how = "chained" if self.chained else rolled
        what = " × ".join(self.product)
        return f"Price index by {self.formula}, {how}; a product is a {what}, base {self.periods[0]} = 1"

    def rows(self) -> Sequence[Row]:
        """A line per period."""
        return [
            {"period": p, "index": float(v), "matched": float(m), "products": n, "entering": e, "leaving": gone}
            for p, v, m, n, e, gone in zip(
                self.periods, self.values, self.matched, self.products, self.entering, self.leaving, strict=True
            )
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "formula": self.formula,
            "chained": self.chained,
            "window": self.window,
            "splice": self.splice,
            "product": list(self.product),
            "n": len(self.periods),
            "periods": plain([dict(row) for row in self.rows()]),
        }


@named_columns
def index(
    data: Any,
    *,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None = None,
    formula: str = "fisher",
    chained: bool = False,
    window: int | None = None,
    splice: Splice = "movement",
    where: str | None = None,
    order: Sequence[Any] | None = None,
) -> PriceIndex:
    """Price index by period, by a bilateral or multilateral formula.

    Lines of one product in one period are aggregated: quantities added up, prices averaged by quantity (unit values).
    Bilateral formulas compare every period with the first on the products both have; multilateral ones
    (``geks_jevons``, ``geks_fisher``, ``geks_tornqvist``, ``geary_khamis``, ``time_product_dummy``) use all periods at
    once. Prices must be above 0 and present, and every comparison needs a common product; other data are refused by
    period and line.

    Parameters
    ----------
    data
        A dataframe or file with a line per sale, or per product and period.
    period
        Column of the period: numbers, dates or texts such as 2024-01, Q1 2024 or January 2024.
    product
        Column, or columns, that make two lines the same product: an article, or an article in an outlet, which is
        another index.
    price, quantity
        Columns of prices and quantities; formulas without weights need no quantities.
    formula
        Name of the formula.
    chained
        Compare each period with the one before instead of the first.
    window, splice
        Number of periods of a rolling window of a multilateral formula, and how windows are joined.
    where
        SQL condition on the rows of files.
    order
        The periods in order of time, where it cannot be read from them; an ordered categorical has its order.

    Returns
    -------
    PriceIndex
        The index by period, with the matched share and the turnover of products.

    Examples
    --------
    >>> import tallymark as tm
    >>> sales = {"month": [1, 1, 2, 2], "id": ["a", "b", "a", "b"], "p": [1.0, 2.0, 1.1, 2.4], "q": [10, 5, 9, 5]}
    >>> import pandas as pd
    >>> index = tm.prices.index(pd.DataFrame(sales), period="month", product="id", price="p", quantity="q")
    >>> index.values.round(4).tolist()
    [1.0, 1.1513]

    """
    require_formula(formula, quantity)
    table = price_table(data, period, product, price, quantity, where, order)
    return index_of(table, formula, chained=chained, window=window, splice=splice)


def require_formula(formula: str, quantity: str | None) -> None:
    """Refuse an unknown formula, and one that needs quantities where none are named."""
    require_one_of("formula", formula, FORMULAS)
    if quantity is None and formula not in UNWEIGHTED:
        raise InputError(
            f"{formula} weighs products by what was bought; name the column with quantity=, or take one of "
            f"{', '.join(sorted(UNWEIGHTED))}."
        )


def index_of(
    table: PriceTable, formula: str, *, chained: bool = False, window: int | None = None, splice: str = "movement"
) -> PriceIndex:
    """The index of a clean table."""
    if window is None and require_one_of("splice", splice, _SPLICES) != "movement":
        raise InputError(f"splice={splice!r} joins rolling windows; say how long they are with window=.")
    members = np.ones((1, len(table.products)))
    if formula in BILATERAL:
        if window is not None:
            raise InputError(f"window= goes with multilateral formulas; {formula} compares two periods.")
        table.require_common(chained=chained)
    else:
        if chained:
            raise InputError(
                f"chained=True goes with bilateral formulas; {formula} uses all periods at once (or window=)."
            )
        table.require_connected(window)
    values = levels(table, formula, members, chained=chained, window=window, splice=splice)[0]
    return PriceIndex(
        formula,
        chained,
        table.periods,
        values,
        table.matched(chained=chained),
        *table.turnover(),
        table.product,
        None if window is None else window,
        splice if window is not None else None,
    )


def levels(
    table: PriceTable,
    formula: str,
    members: Floats,
    *,
    chained: bool = False,
    window: int | None = None,
    splice: str = "movement",
) -> Floats:
    """Levels of the index for every set of products: lines of `members`, columns periods."""
    P, Q = table.prices, table.quantities
    if formula in BILATERAL:
        bilateral = BILATERAL[formula]
        steps = [
            bilateral.between(P[t - 1 if chained else 0], Q[t - 1 if chained else 0], P[t], Q[t], members)
            for t in range(1, len(P))
        ]
        first = np.ones((len(members), 1))
        values = np.column_stack([first, *steps])
        return np.asarray(np.cumprod(values, axis=1) if chained else values, dtype=np.float64)
    if window is not None:
        return _rolled(
            table, formula, members, checked_number(window, "window", 2), require_one_of("splice", splice, _SPLICES)
        )
    return _multilateral(table, formula, P, Q, members)


def _multilateral(table: PriceTable, formula: str, P: Floats, Q: Floats, members: Floats) -> Floats:
    if formula == "time_product_dummy" and not table.weighted:
        return time_product_dummy(P, Q, members, weighted=False)
    return MULTILATERAL[formula](P, Q, members)


def _rolled(table: PriceTable, formula: str, members: Floats, window: int, splice: str) -> Floats:
    """Windows of so many periods, each new one tied to what was published before."""
    P, Q = table.prices, table.quantities
    if window >= len(P):
        return _multilateral(table, formula, P, Q, members)
    published = _multilateral(table, formula, P[:window], Q[:window], members)
    last = published
    for end in range(window + 1, len(P) + 1):
        fresh = _multilateral(table, formula, P[end - window : end], Q[end - window : end], members)
        # `last` and `fresh` share window - 1 periods; each could tie the new one on.
        ways = [fresh[:, -1] / fresh[:, at] * (last[:, at + 1] / last[:, -1]) for at in range(window - 1)]
        step = _SPLICES[splice](ways, window)
        published = np.column_stack((published, published[:, -1] * step))
        last = fresh
    return published


#: How the overlap of two windows ties a new period on: by its newest period, its oldest, the one half way, or all of
#: them.
_SPLICES: dict[str, Any] = {
    "movement": lambda ways, window: ways[-1],  # noqa: ARG005
    "window": lambda ways, window: ways[0],  # noqa: ARG005
    "half": lambda ways, window: ways[(window - 1) // 2],
    "mean": lambda ways, window: np.exp(np.mean(np.log(ways), axis=0)),  # noqa: ARG005
}
