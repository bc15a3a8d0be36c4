"""Price indices, alone and under classification error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tallymark.charts.theme import altair, by_model, finished, palette, require_kind, rows
from tallymark.prices.index_errors import IndexUnderError
from tallymark.prices.price_index import PriceIndex

#: Shares of the draws that the fan's bands hold.
_BANDS = ((0.025, 0.975), (0.25, 0.75))


def price_index(data: PriceIndex | Mapping[str, PriceIndex], *, theme: str = "light") -> Any:
    """A price index over its periods, or several by name.

    >>> import pandas as pd, tallymark as tm
    >>> sales = pd.DataFrame({"m": [1, 1, 2, 2], "id": ["a", "b", "a", "b"], "p": [1.0, 2.0, 1.1, 2.4], "q": [10, 5, 9, 5]})
    >>> made = tm.prices.index(sales, period="m", product="id", price="p", quantity="q")
    >>> tm.charts.price_index(made).to_dict()["title"]["text"]
    'Price index'
    """
    named = dict(data) if isinstance(data, Mapping) else {getattr(data, "formula", "index"): data}
    for one in named.values():
        require_kind(one, PriceIndex, "tm.prices.index")
    alt = altair()
    items = [
        {"model": name, "period": str(row["period"]), "index": row["index"], "matched": row["matched"]}
        for name, one in named.items()
        for row in one.rows()
    ]
    order = list(dict.fromkeys(item["period"] for item in items))
    tips = [
        alt.Tooltip("model:N", title="formula"),
        alt.Tooltip("period:N"),
        alt.Tooltip("index:Q", format=".4f"),
        alt.Tooltip("matched:Q", format=".1%"),
    ]
    lines = alt.Chart(rows(items)).mark_line(point=True).encode(
        x=alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True)),
        y=alt.Y("index:Q", title="index, base 1", scale=alt.Scale(zero=False)), tooltip=tips, **by_model(list(named), theme),
    )  # fmt: skip
    return finished(alt.layer(lines), "Price index", theme, width=460)


def index_under_error(data: IndexUnderError, *, theme: str = "light") -> Any:
    """The fan of an index under classification error: half and 95 % of the draws, their median, and the true index.

    >>> import tallymark as tm
    >>> tm.charts.index_under_error.__name__
    'index_under_error'
    """
    require_kind(data, IndexUnderError, "tm.prices.index_under_error")
    alt = altair()
    colours = palette(theme)
    order = [str(period) for period in data.periods]
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    layers = []
    for (low, high), opacity in [] if data.fixed else zip(_BANDS, (0.15, 0.3), strict=True):
        ends = data.quantiles((low, high))
        items = [
            {"period": p, "low": float(a), "high": float(b), "draws": f"{100 * (high - low):g} %"}
            for p, a, b in zip(order, *ends, strict=True)
        ]
        tips = [
            alt.Tooltip("period:N"),
            alt.Tooltip("draws:N", title="share of draws"),
            alt.Tooltip("low:Q", format=".4f"),
            alt.Tooltip("high:Q", format=".4f"),
        ]
        layers.append(
            alt.Chart(rows(items)).mark_area(opacity=opacity, color=colours.models[0]).encode(
                x=x, y=alt.Y("low:Q", title="index, base 1", scale=alt.Scale(zero=False)), y2="high:Q", tooltip=tips
            )
        )  # fmt: skip
    other = "products as they were called" if data.fixed else "median of the draws"
    lines = [
        {"model": name, "period": p, "index": float(v)}
        for name, values in (("true index", data.truth), (other, data.quantiles((0.5,))[0]))
        for p, v in zip(order, values, strict=True)
    ]
    tips = [alt.Tooltip("model:N", title=" "), alt.Tooltip("period:N"), alt.Tooltip("index:Q", format=".4f")]
    layers.append(
        alt.Chart(rows(lines))
        .mark_line()
        .encode(
            x=x,
            y=alt.Y("index:Q", title="index, base 1", scale=alt.Scale(zero=False)),
            tooltip=tips,
            **by_model(["true index", other], theme),
        )
    )
    title = f"{data.formula} with products classified " + (
        "by a real classifier" if math.isnan(data.metric_value) else f"at {data.metric} {data.metric_value:g}"
    )
    return finished(alt.layer(*layers), title, theme, width=460)
