"""Chart of the payoff of predictions over thresholds, with costs of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows
from tallymark.errors import InputError

if TYPE_CHECKING:
    from tallymark.decisions.item_costs import Costs


@picture_of("Costs")
def costs(data: Costs, *, theme: str = "light") -> Chart:
    """Payoff per row over thresholds for each model.

    The threshold of each model is marked; the dashed line is predicting none positive.

    Parameters
    ----------
    data
        The result of :func:`tallymark.decisions.costs`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 20, "p": [i / 40 for i in range(40)]})
    >>> tm.charts.costs(tm.decisions.costs(frame, label="y", score="p")).to_dict()["title"]["text"]
    'Payoff a row over thresholds'
    """
    require_kind(data, "Costs", "tm.decisions.costs")
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
    shown = tips("model", "threshold", "payoff")
    x = alt.X("threshold:Q", title="threshold", scale=alt.Scale(zero=False))
    y = alt.Y("payoff:Q", title="payoff a row", scale=alt.Scale(zero=False))
    none = next(iter(named.values())).call_none / data.weight
    layers = [
        alt.Chart(rows([{"payoff": none}])).mark_rule(strokeDash=[4, 3], color=palette(theme).faint).encode(y=y),
        alt.Chart(rows(items)).mark_line().encode(x=x, y=y, tooltip=shown, **look),
        alt.Chart(rows(cuts)).mark_point(filled=True, size=80).encode(x=x, y=y, color=look["color"], tooltip=shown),
    ]
    return finished(alt.layer(*layers), "Payoff a row over thresholds", theme, width=460)
