"""Chart of a metric by group: sorted, beside all rows together and the range expected by chance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallymark._numbers import with_limits
from tallymark.charts.inputs import group_name
from tallymark.charts.parts import described, tips, with_level
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.heterogeneity import FEWEST
from tallymark.measures import Evaluation
from tallymark.registry import METRICS


def groups(
    data: Mapping[Any, Evaluation], *, metric: str = "auroc", total: Evaluation | None = None, theme: str = "light"
) -> Chart:
    """A metric of each group with its interval, the best on top.

    The grey bar of a group is the range expected by chance if it were like the total: its limits around the total's
    value. Groups with fewer than ten rows of a class are drawn hollow.

    Parameters
    ----------
    data
        Evaluations by group.
    metric
        Name of the metric.
    total
        The evaluation of all rows, drawn as a line.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> y = np.arange(90) % 2
    >>> frame = pd.DataFrame({"y": y, "p": y + np.arange(90) % 7, "g": ["a", "b", "c"] * 30})
    >>> found = tm.evaluate(tm.tally(frame, label="y", score="p", by="g"), metrics=["auroc"])
    >>> tm.charts.groups(found).to_dict()["title"]["text"]
    'AUROC by group with 95 % intervals'
    """
    require_kind(data, Mapping, "tm.evaluate with groups")
    alt = altair()
    colours = palette(theme)
    facts = METRICS[metric]
    centre = None if total is None or metric not in total else total[metric]
    items: list[dict[str, Any]] = []
    for key, one in data.items():
        require_kind(one, "Evaluation", "tm.evaluate with groups")
        if metric not in one or one[metric].reason is not None:
            continue
        m = one[metric]
        few = one.fewest < FEWEST
        row = {
            "group": group_name(key),
            "value": m.value,
            "few": few,
            "positives": float(one.positives or 0),
            "rows": float(one.n),
            "low": m.low,
            "high": m.high,
        }
        if centre is not None and m.low is not None and m.high is not None:
            row |= {
                "from": max(centre.value - (m.high - m.value), facts.low),
                "to": min(centre.value + (m.value - m.low), facts.high),
            }
        items.append(row)
    if not items:
        raise InputError(f"There is nothing to draw: {facts.name} has a value in none of the groups.")
    items.sort(key=lambda row: (row["few"], row["value"] if facts.better == "lower" else -row["value"]))
    order = [row["group"] for row in items]
    y = alt.Y("group:N", sort=order, title=None)
    shown = tips("group", "value", "low", "high", "positives", "rows", text=("group",), format=",.4~g")
    base = alt.Chart(rows(items)).encode(y=y, tooltip=shown)
    x = alt.X("low:Q", title=facts.label, scale=alt.Scale(zero=False))
    drawn = [base.mark_bar(color=colours.grid, height=13).encode(x="from:Q", x2="to:Q")] if centre is not None else []
    drawn.append(base.mark_rule(strokeWidth=2, color=colours.negative).encode(x=x, x2="high:Q"))
    for few in sorted({row["few"] for row in items}):
        part = alt.Chart(rows([row for row in items if row["few"] == few])).encode(y=y, tooltip=shown, x="value:Q")
        fill = colours.paper if few else colours.negative
        drawn.append(part.mark_point(size=60, color=colours.negative, filled=not few, fill=fill))
    if centre is not None:
        line = alt.Chart(rows([{"x": centre.value}])).mark_rule(strokeDash=[4, 3], color=colours.ink)
        drawn.append(line.encode(x="x:Q"))
    level = next((one[metric].level for one in data.values() if metric in one and one[metric].level is not None), None)
    whole = "" if centre is None else f"All rows {with_limits(centre.value, centre.low, centre.high)}. "
    says = whole + described(items, "group", most=30)
    title = with_level(f"{facts.label} by group", level)
    return finished(altair().layer(*drawn), title, theme, says=says, height=max(60, 20 * len(items)))
