"""Tables of prices and quantities by period and product, aggregated from transaction lines and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from tallymark._check import Bools, Floats, Ints
from tallymark._periods import in_order
from tallymark.errors import InputError, shown
from tallymark.sources.any_columns import numbers
from tallymark.sources.columns import group_values
from tallymark.sources.duck import quoted
from tallymark.sources.engine import engine
from tallymark.sources.files import Reading
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import is_frame, order_of, read_columns


@dataclass(frozen=True, eq=False)
class PriceTable:
    """Unit values and quantities (periods × products); nan where a product was not sold. `product` names what makes a
    product.
    """

    periods: tuple[Any, ...]
    products: tuple[Any, ...]
    prices: Floats
    quantities: Floats
    product: tuple[str, ...]
    weighted: bool

    @property
    def sold(self) -> Bools:
        """Which product was sold when."""
        return np.isfinite(self.prices)

    @property
    def values(self) -> Floats:
        """Expenditure, or one for each product sold where there are no quantities."""
        return np.where(self.sold, self.prices * self.quantities if self.weighted else 1.0, 0.0)

    def lines(self, columns: Mapping[str, Any]) -> ProductLines:
        """The lines of columns that name the products, by product."""
        parts = [np.ma.getdata(columns[name]).tolist() for name in self.product]
        place = {name: number for number, name in enumerate(self.products)}
        keys = parts[0] if len(parts) == 1 else zip(*parts, strict=True)
        places = np.array([place.get(key, -1) for key in keys], dtype=np.int64)
        sold = places >= 0
        return ProductLines(sold, places[sold], len(self.products))

    def require_common(self, *, chained: bool) -> None:
        """Refuse a period that shares no product with the one it is compared with."""
        for t in range(1, len(self.periods)):
            base = t - 1 if chained else 0
            if not (self.sold[t] & self.sold[base]).any():
                raise InputError(
                    f"The periods {self.periods[base]} and {self.periods[t]} have no product in common, so there is "
                    "nothing to compare; check the product column, or take a multilateral formula such as geks_fisher."
                )

    def require_connected(self, window: int | None = None) -> None:
        """Refuse periods that no chain of common products joins, in every window."""
        size = len(self.periods) if window is None else min(window, len(self.periods))
        for start in range(len(self.periods) - size + 1):
            sold = self.sold[start : start + size]
            reached = np.zeros(size, dtype=np.bool_)
            reached[0] = True
            while True:
                further = (sold & sold[reached].any(axis=0)).any(axis=1) | reached
                if (further == reached).all():
                    break
                reached = further
            if not reached.all():
                apart = [self.periods[start + t] for t in np.flatnonzero(~reached)]
                raise InputError(
                    f"No chain of common products joins {shown(apart)} with {self.periods[start]}; an index over them "
                    "has no meaning."
                )

    def matched(self, *, chained: bool) -> Floats:
        """Share of each period's expenditure in products that the period it is compared with has too."""
        values = self.values
        shares = np.ones(len(self.periods))
        for t in range(1, len(self.periods)):
            both = self.sold[t] & self.sold[t - 1 if chained else 0]
            shares[t] = values[t, both].sum() / values[t].sum()
        return shares

    def turnover(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Products of each period, those new since the period before, and those gone."""
        sold = self.sold
        before = np.vstack((sold[:1], sold[:-1]))
        counts = (sold.sum(axis=1), (sold & ~before).sum(axis=1), (before & ~sold).sum(axis=1))
        products, entering, leaving = (tuple(map(int, part)) for part in counts)
        return products, entering, leaving


@dataclass(frozen=True, eq=False)
class ProductLines:
    """Lines of the data by product: which lines are of a product that was sold, and of which one."""

    sold: Bools
    product: Ints
    number: int

    def means(self, values: Any) -> Floats:
        """Mean of a column (a value for every line of the data) by product."""
        counts = np.bincount(self.product, minlength=self.number)
        return np.asarray(np.bincount(self.product, np.asarray(values)[self.sold], self.number) / counts)

    def probabilities(self, column: Any, name: str) -> Floats:
        """Mean of a column of probabilities by product."""
        p = numbers(column, name)
        if not (np.isfinite(p) & (p >= 0.0) & (p <= 1.0)).all():
            raise InputError(f"{name} must hold probabilities from 0 to 1 in every line.")
        return self.means(p)


def price_table(
    data: Any,
    period: str,
    product: str | Sequence[str],
    price: str,
    quantity: str | None,
    where: str | None = None,
    order: Sequence[Any] | None = None,
) -> PriceTable:
    """A table from a dataframe or from files, whose lines the engine puts together."""
    keys = tuple(column_names(product, "product="))
    if not keys:
        raise InputError("product= names no column; say which column, or columns, make two lines the same product.")
    wanted = [
        Wanted(period, "period="),
        *(Wanted(name, "product=") for name in keys),
        Wanted(price, "price=", "number"),
        *([] if quantity is None else [Wanted(quantity, "quantity=", "number")]),
    ]
    if isinstance(data, str | PathLike | list):
        lines = _of_files(data, wanted, period, keys, price, quantity, where)
    elif is_frame(data):
        if where is not None:
            raise InputError("where= is for files; filter the dataframe before you pass it.")
        lines = _of_frame(data, wanted, period, keys, price, quantity)
    else:
        raise InputError(
            f"Got a {type(data).__name__}, expected a dataframe or the path of a file with a line per sale."
        )
    times = {
        value: place
        for place, value in enumerate(in_order(group_values(lines[0]), period, order_of(data, period, order)))
    }
    return _tabled(times, *lines, keys, weighted=quantity is not None)


def _of_files(
    paths: Any,
    wanted: Sequence[Wanted],
    period: str,
    keys: Sequence[str],
    price: str,
    quantity: str | None,
    where: str | None,
) -> tuple[Any, list[Any], Floats, Floats]:
    p, q = f"{quoted(price)}::DOUBLE", "1.0" if quantity is None else f"{quoted(quantity)}::DOUBLE"
    with engine(paths, wanted, where=where) as source:
        condition = "" if where is None else f" WHERE ({where})"
        bad = (
            f"{p} IS NULL OR isnan({p}) OR isinf({p}) OR {p} <= 0 OR {q} IS NULL OR isnan({q}) OR isinf({q}) OR {q} < 0"
        )
        refused = source.query(
            f"SELECT count(*) AS n, min({quoted(period)}::VARCHAR) AS first FROM (SELECT * FROM "
            f"{source.reader}{condition}) WHERE {bad}"
        )
        if int(refused["n"][0]):
            raise InputError(_refusal(int(refused["n"][0]), f"the first in period {refused['first'][0]}", quantity))
        named = ", ".join(f"{quoted(name)} AS k{i}" for i, name in enumerate(keys))
        groups = ", ".join(["1", *(str(i + 2) for i in range(len(keys)))])
        lines = source.query(
            f"SELECT {quoted(period)} AS t, {named}, sum({p} * {q}) AS v, sum({q}) AS q, avg({p}) AS p FROM "
            f"{source.reader}{condition} GROUP BY {groups} HAVING sum({q}) > 0 ORDER BY {groups}"
        )
    amounts = np.asarray(lines["q"], dtype=np.float64)
    prices = np.asarray(lines["p"] if quantity is None else lines["v"] / lines["q"], dtype=np.float64)
    columns = {period: lines["t"], **{name: lines[f"k{i}"] for i, name in enumerate(keys)}}
    times, *names = (Reading.of(c, untyped=name in source.untyped)(c) for name, c in columns.items())
    return np.asarray(times), [np.asarray(name) for name in names], prices, amounts


def _of_frame(
    frame: Any, wanted: Sequence[Wanted], period: str, keys: Sequence[str], price: str, quantity: str | None
) -> tuple[Any, list[Any], Floats, Floats]:
    columns = read_columns(frame, wanted)
    p = numbers(columns[price], price)
    q = np.ones(len(p)) if quantity is None else numbers(columns[quantity], quantity)
    with np.errstate(invalid="ignore"):
        bad = ~(np.isfinite(p) & (p > 0.0) & np.isfinite(q) & (q >= 0.0))
    if bad.any():
        rows = np.flatnonzero(bad)
        first = f"{', '.join(map(str, rows[:5]))}{', …' if len(rows) > 5 else ''}"
        periods = shown(dict.fromkeys(np.asarray(columns[period])[rows].tolist()), 3)
        where = f"rows {first}, periods {periods}"
        raise InputError(_refusal(len(rows), where, quantity))
    for name in (period, *keys):
        if isinstance(column := columns[name], np.ma.MaskedArray):
            raise InputError(
                f"{name} is missing in {int(np.ma.getmaskarray(column).sum())} rows; leave them out, or say what they "
                "are."
            )
    return np.asarray(columns[period]), [np.asarray(columns[name]) for name in keys], p, q


def _refusal(rows: int, where: str, quantity: str | None) -> str:
    amounts = "" if quantity is None else ", or a quantity missing or below 0,"
    return (
        f"{rows} lines have a price that is missing, 0 or below{amounts} ({where}); an index of them would be a number "
        "without a meaning. Leave them out, or mend them."
    )


def _tabled(
    times: dict[Any, int],
    periods: Any,
    keys: list[Any],
    prices: Floats,
    amounts: Floats,
    product: tuple[str, ...],
    *,
    weighted: bool,
) -> PriceTable:
    """Lines put together: quantities added up, prices averaged by quantity (plainly where there are none)."""
    t = np.fromiter((times[value] for value in group_values(periods)), np.int64, len(periods))
    codes = np.zeros(len(t), dtype=np.int64)
    for key in keys:
        values, code = np.unique(key, return_inverse=True)
        codes = codes * len(values) + code
    names, i = np.unique(codes, return_inverse=True)
    first = np.zeros(len(names), dtype=np.int64)
    first[i[::-1]] = np.arange(len(i))[::-1]
    labels = tuple(tuple(key[row].item() if hasattr(key[row], "item") else key[row] for key in keys) for row in first)
    shape = (len(times), len(names))
    place = t * len(names) + i
    quantity = np.bincount(place, amounts, shape[0] * shape[1])
    value = np.bincount(place, prices * amounts, shape[0] * shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(quantity > 0.0, value / quantity, np.nan).reshape(shape)
    if not np.isfinite(price).any(axis=1).all():
        empty = [list(times)[row] for row in np.flatnonzero(~np.isfinite(price).any(axis=1))]
        raise InputError(
            f"In {shown(map(str, empty))} nothing was sold (every quantity is 0); leave those periods out."
        )
    if len(times) < 2:
        raise InputError(f"There is one period only, {next(iter(times), 'none')}; an index compares two or more.")
    sold = np.asarray(np.isfinite(price).any(axis=0))
    listed = tuple(one[0] if len(one) == 1 else one for one, keep in zip(labels, sold, strict=True) if keep)
    return PriceTable(
        tuple(times),
        listed,
        price[:, sold],
        np.where(np.isfinite(price), quantity.reshape(shape), 0.0)[:, sold],
        product,
        weighted,
    )
