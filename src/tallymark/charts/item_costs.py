"""What calls earn over thresholds."""

from __future__ import annotations

from typing import Any

from tallymark.charts.theme import altair, by_model, finished, palette, require_kind, rows
from tallymark.decisions.item_costs import Costs
from tallymark.errors import InputError


def costs(data: Costs, *, theme: str = "light") -> Any:
    """The payoff a row over thresholds for each model, its cut marked; the dashed line is what calling none earns.

    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 20, "p": [i / 40 for i in range(40)]})
    >>> tm.charts.costs(tm.decisions.costs(frame, label="y", score="p")).to_dict()["title"]["text"]
    'Payoff a row over thresholds'
    """
    require_kind(data, Costs, "tm.decisions.costs")
    named = {one.name: one for one in data.models if len(one.curve[0])}
    if not named:
        raise InputError("There is nothing to draw: calls have no thresholds; pass scores.")
    alt = altair()
    items = [
        {"model": name, "threshold": float(t), "payoff": float(v)}
        for name, one in named.items()
        for t, v in zip(*one.curve, strict=True)
    ]
    cuts = [
        {"model": name, "threshold": one.threshold, "payoff": one.total / data.weight}
        for name, one in named.items()
        if abs(one.threshold) < float("inf")
    ]
    look = by_model(list(named), theme)
    tips = [alt.Tooltip("model:N"), alt.Tooltip("threshold:Q", format=".4~g"), alt.Tooltip("payoff:Q", format=".4~g")]
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False))
    y = alt.Y("payoff:Q", title="payoff a row", scale=alt.Scale(zero=False))
    none = next(iter(named.values())).call_none / data.weight
    layers = [
        alt.Chart(rows([{"payoff": none}])).mark_rule(strokeDash=[4, 3], color=palette(theme).faint).encode(y=y),
        alt.Chart(rows(items)).mark_line().encode(x=x, y=y, tooltip=tips, **look),
        alt.Chart(rows(cuts)).mark_point(filled=True, size=80).encode(x=x, y=y, color=look["color"], tooltip=tips),
    ]
    return finished(alt.layer(*layers), "Payoff a row over thresholds", theme, width=460)
