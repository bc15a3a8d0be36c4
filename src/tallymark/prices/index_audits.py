"""Sampling plan of products to check by hand for a price index of classified products (``tm.prices.index_audit``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import noun
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.resampling.parallel import seeds
from tallymark.prices.price_index import levels, require_formula
from tallymark.prices.price_tables import PriceTable, price_table
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: Share by which a product's membership is moved to find what it does to the index.
_STEP = 1e-4

#: Truths the checked products may turn out to have, and sets of the others drawn for each.
_TRUTHS, _SETS = 40, 250

#: A probability is not believed to be closer to 0 or 1 than this.
_SURE = 0.001


@dataclass(frozen=True, eq=False, repr=False)
class IndexAudit(Shown):
    """Products to check, the most telling first, and how wide the last period's index is expected to be without and
    with them.
    """

    formula: str
    products: tuple[Any, ...]
    probabilities: Floats
    effects: Floats
    width_before: float
    width: float
    level: float

    @property
    def n(self) -> int:
        """How many products are to be checked."""
        return len(self.products)

    def heading(self) -> str:
        """How many, and what that brings."""
        return (
            f"Check {self.n} {noun(self.n, 'product')}: the {100 * self.level:g} % stretch of {self.formula} in the "
            f"last period is expected to shrink from {self.width_before:.4f} to {self.width:.4f}, if the probabilities "
            "are right"
        )

    def rows(self) -> Sequence[Row]:
        """A line per product; `effect` is what its membership does to the index."""
        return [
            {"product": name, "probability": float(p), "effect": float(effect)}
            for name, p, effect in zip(self.products, self.probabilities, self.effects, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "formula": self.formula,
            "n": self.n,
            "width_before": self.width_before,
            "width": self.width,
            "level": self.level,
            "products": plain([dict(row) for row in self.rows()]),
        }


@named_columns
def index_audit(
    data: Any,
    *,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None = None,
    score: str,
    formula: str = "fisher",
    chained: bool = False,
    n: int | None = None,
    width: float | None = None,
    level: float = 0.95,
    seed: Seed = 0,
    order: Sequence[Any] | None = None,
) -> IndexAudit:
    r"""Sampling plan for a price index: the products to check by hand, until the index is known to a `width`, or `n` of
    them.

    A product matters by the effect of its membership on the index, :math:`d_i`, and by how uncertain it is: products
    are taken by :math:`|d_i| \sqrt{p_i(1-p_i)}`. The width that remains is found by simulating the verdicts on the
    checked products, and the others given these; the probabilities are taken for right.

    Parameters
    ----------
    data, period, product, price, quantity, formula, chained, order
        As of :func:`tallymark.prices.index`.
    score
        Column of each product's probability to belong to the class.
    n, width
        Number of products to check, or the width of the middle `level` of the index; one of the two.
    level
        Share of the simulated indices within the width.
    seed
        Seed of the simulation.

    Returns
    -------
    IndexAudit
        The products in order of value, and the widths before and after.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> product, month = np.tile(np.arange(60), 6), np.repeat(np.arange(6), 60)
    >>> sales = pd.DataFrame({"m": month, "id": product, "q": rng.integers(1, 20, 360)})
    >>> sales["s"] = rng.beta(0.4, 0.4, 60)[product]
    >>> sales["p"] = np.exp(rng.normal(0, 0.2, 60)[product] + rng.normal(0.01, 0.02, 60)[product] * month)
    >>> plan = tm.prices.index_audit(sales, period="m", product="id", price="p", quantity="q", score="s", n=15)
    >>> bool(plan.width < plan.width_before), plan.n
    (True, 15)

    """
    require_formula(formula, quantity)
    if (n is None) == (width is None):
        raise InputError(
            "Say how many products can be checked with n=, or how wide the index may remain with width=; one of the "
            "two."
        )
    confidence = checked_level(level)
    table, chance = _probabilities(data, period, product, price, quantity, score, order)
    ranked, effects = _telling(table, formula, chance, chained=chained)
    rng_seed = seeds(seed, 1)[0]

    def remaining(number: int) -> float:
        return _width(
            table, formula, chance, ranked[:number], confidence, np.random.default_rng(rng_seed), chained=chained
        )

    whole = remaining(0)
    if n is not None:
        number = _check.whole(n, "n", 1, len(ranked))
    else:
        wide = _check.real(width, "width")
        if wide <= 0.0:
            raise InputError(f"width is {width!r}, expected a difference of the index above 0.")
        few, number = 0, len(ranked)
        while few < number:
            middle = (few + number) // 2
            few, number = (few, middle) if remaining(middle) <= wide else (middle + 1, number)
    first = ranked[:number]
    return IndexAudit(
        formula=formula,
        products=tuple(table.products[i] for i in first),
        probabilities=chance[first],
        effects=effects[first],
        width_before=whole,
        width=remaining(number),
        level=confidence,
    )


def _probabilities(
    data: Any,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None,
    score: str,
    order: Sequence[Any] | None = None,
) -> tuple[PriceTable, Floats]:
    keys = tuple(column_names(product, "product="))
    table = price_table(data, period, product, price, quantity, order=order)
    columns = any_columns(data, [Wanted(score, "score=", "number"), *(Wanted(name, "product=") for name in keys)])
    mean = table.lines(columns).probabilities(columns[score], score)
    return table, np.clip(mean, _SURE, 1.0 - _SURE)


def _telling(table: PriceTable, formula: str, chance: Floats, *, chained: bool) -> tuple[Ints, Floats]:
    """Products by what knowing them would tell, and what the membership of each does to the last period's index."""
    moved = np.repeat(chance[None, :], len(chance) + 1, axis=0)
    moved[np.arange(len(chance)) + 1, np.arange(len(chance))] += _STEP
    last = levels(table, formula, moved, chained=chained)[:, -1]
    effects = (last[1:] - last[0]) / _STEP
    return np.argsort(-np.abs(np.nan_to_num(effects)) * np.sqrt(chance * (1.0 - chance)), kind="stable"), effects


def _width(
    table: PriceTable,
    formula: str,
    chance: Floats,
    checked: Ints,
    level: float,
    rng: np.random.Generator,
    *,
    chained: bool,
) -> float:
    """The mean width of the middle `level` of the index over truths of the checked products."""
    if len(checked) == len(chance):
        return 0.0
    widths = []
    for _ in range(_TRUTHS if len(checked) else 1):
        sets = (rng.random((_SETS, len(chance))) < chance).astype(np.float64)
        sets[:, checked] = sets[0, checked]
        last = levels(table, formula, sets, chained=chained)[:, -1]
        defined = last[np.isfinite(last)]
        if len(defined):
            low, high = np.quantile(defined, [(1.0 - level) / 2, (1.0 + level) / 2])
            widths.append(float(high - low))
    return float(np.mean(widths)) if widths else float("nan")
