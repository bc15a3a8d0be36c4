"""Charts of price indices, alone and under classification error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.prices.index_errors import IndexUnderError
    from tallymark.prices.price_index import PriceIndex

#: Quantiles of the replicates between which the bands of a fan chart lie, with their opacity.
_BANDS = ((0.025, 0.975, 0.15), (0.25, 0.75, 0.3))


@picture_of("PriceIndex")
def price_index(data: PriceIndex | Mapping[str, PriceIndex], *, theme: str = "light") -> Chart:
    """A price index over its periods, or several by name.

    Parameters
    ----------
    data
        One or several price indices.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> prices, quantities = [1.0, 2.0, 1.1, 2.4], [10, 5, 9, 5]
    >>> sales = pd.DataFrame({"m": [1, 1, 2, 2], "id": ["a", "b", "a", "b"], "p": prices, "q": quantities})
    >>> index = tm.prices.index(sales, period="m", product="id", price="p", quantity="q")
    >>> tm.charts.price_index(index).to_dict()["title"]["text"]
    'Price index'
    """
    named: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {getattr(data, "formula", "index"): data}
    for one in named.values():
        require_kind(one, "PriceIndex", "tm.prices.index")
    alt = altair()
    items = [
        {"model": name, "period": str(row["period"]), "index": row["index"], "matched": row["matched"]}
        for name, one in named.items()
        for row in one.rows()
    ]
    base = alt.Chart(rows(items)).mark_line(point=True)
    lines = base.encode(
        x=_periods(list(dict.fromkeys(item["period"] for item in items))),
        y=_index_axis("index"),
        tooltip=[
            alt.Tooltip("model:N", title="formula"),
            *tips("period", "index", text=("period",), format=".4f"),
            alt.Tooltip("matched:Q", format=".1%"),
        ],
        **by_model(list(named), theme),
    )
    return finished(alt.layer(lines), "Price index", theme, width=460)


def _periods(order: list[str]) -> Any:
    alt = altair()
    return alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))


def _index_axis(field: str) -> Any:
    alt = altair()
    return alt.Y(f"{field}:Q", title="index, base 1", scale=alt.Scale(zero=False))


@picture_of("IndexUnderError")
def index_under_error(data: IndexUnderError, *, theme: str = "light") -> Chart:
    """Fan chart of an index under classification error: bands of half and 95 % of the draws, median, true index.

    Parameters
    ----------
    data
        The result of :func:`tallymark.prices.index_under_error`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.index_under_error.__name__
    'index_under_error'
    """
    require_kind(data, "IndexUnderError", "tm.prices.index_under_error")
    alt = altair()
    order = [str(period) for period in data.periods]
    x = _periods(order)
    layers = []
    for low, high, opacity in () if data.fixed else _BANDS:
        items = [
            {"period": p, "low": float(a), "high": float(b), "draws": f"{100 * (high - low):g} %"}
            for p, a, b in zip(order, *data.quantiles((low, high)), strict=True)
        ]
        shown = [
            alt.Tooltip("period:N"),
            alt.Tooltip("draws:N", title="share of draws"),
            *tips("low", "high", format=".4f"),
        ]
        band = alt.Chart(rows(items)).mark_area(opacity=opacity, color=palette(theme).models[0])
        layers.append(band.encode(x=x, y=_index_axis("low"), y2="high:Q", tooltip=shown))
    other = "products as they were called" if data.fixed else "median of the draws"
    lines = [
        {"model": name, "period": p, "index": float(v)}
        for name, values in (("true index", data.truth), (other, data.quantiles((0.5,))[0]))
        for p, v in zip(order, values, strict=True)
    ]
    shown = [alt.Tooltip("model:N", title=" "), *tips("period", "index", text=("period",), format=".4f")]
    base = alt.Chart(rows(lines)).mark_line()
    layers.append(base.encode(x=x, y=_index_axis("index"), tooltip=shown, **by_model(["true index", other], theme)))
    real = math.isnan(data.metric_value)
    how = "by a real classifier" if real else f"at {data.metric} {data.metric_value:g}"
    return finished(alt.layer(*layers), f"{data.formula} with products classified {how}", theme, width=460)
