"""What classification errors look like in price, and what they do to its level."""

from __future__ import annotations

from typing import Any

from tallymark.charts.theme import DASHES, altair, finished, palette, require_kind, rows
from tallymark.prices.error_impact import Impact

#: The groups that are drawn, in the order of their colours.
_DRAWN = ("labelled", "classified", "false positives", "false negatives")


def impact(data: Impact, *, part: int = -1, theme: str = "light") -> Any:
    """The values of labelled and classified positives and of both kinds of error, each as a share of its own; of one period and class.

    `part` chooses among ``data.parts``; left out, the last.

    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 30, "c": [0, 1, 1, 0, 0, 1] * 10, "v": [float(i % 7) for i in range(60)]})
    >>> tm.charts.impact(tm.prices.impact(frame, label="y", predicted="c", value="v")).to_dict()["title"]["text"]
    'v of class 1 and of errors'
    """
    require_kind(data, Impact, "tm.prices.impact")
    alt = altair()
    colours = palette(theme)
    one = data.parts[part]
    names = [name for name in _DRAWN if one.counts[name].sum() > 0.0]
    items = [
        {"group": name, "from": float(low), "to": float(high), "share": float(count / one.counts[name].sum())}
        for name in names
        for low, high, count in zip(one.edges[:-1], one.edges[1:], one.counts[name], strict=True)
    ]
    spread = float(one.edges[0]) > 0.0 and float(one.edges[-1]) > 10.0 * float(one.edges[0])
    look = {
        "labelled": colours.ink,
        "classified": colours.models[0],
        "false positives": colours.positive,
        "false negatives": colours.models[3],
    }
    scale = {"domain": names}
    legend = alt.Legend(title=None, orient="bottom", columns=2)
    lines = alt.Chart(rows(items)).mark_line(interpolate="step-after", strokeWidth=2).encode(
        x=alt.X("from:Q", title=data.value, scale=alt.Scale(type="log" if spread else "linear", nice=False, zero=False)),
        y=alt.Y("share:Q", title="share of its rows", axis=alt.Axis(format="%")),
        color=alt.Color("group:N", scale=alt.Scale(**scale, range=[look[name] for name in names]), legend=legend),
        strokeDash=alt.StrokeDash("group:N", scale=alt.Scale(**scale, range=[DASHES[i] for i in range(len(names))]), legend=legend),
        tooltip=[alt.Tooltip("group:N"), alt.Tooltip("from:Q", format=".4~g"), alt.Tooltip("to:Q", format=".4~g"), alt.Tooltip("share:Q", format=".1%")],
    )  # fmt: skip
    when = "" if one.period is None else f", {one.period}"
    return finished(alt.layer(lines), f"{data.value} of class {one.label} and of errors{when}", theme, width=460)


def impact_by_period(data: Impact, *, label: str | None = None, theme: str = "light") -> Any:
    """What false positives and false negatives do to the level, with intervals, by period; the shaded stretch counts as minimal.

    `label` chooses a class where there are several; left out, the first.

    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 30, "c": [0, 1, 1, 0, 0, 1] * 10, "v": [float(i % 7) for i in range(60)]})
    >>> tm.charts.impact_by_period(tm.prices.impact(frame, label="y", predicted="c", value="v")).to_dict()["title"]["text"]
    'What errors do to the mean v'
    """
    require_kind(data, Impact, "tm.prices.impact")
    alt = altair()
    colours = palette(theme)
    chosen = data.parts[0].label if label is None else label
    items = [
        {"period": "all" if part.period is None else str(part.period), "errors": name, "shift": value, "low": low, "high": high, "verdict": part.verdict(key)}
        for part in data.parts
        if part.label == chosen
        for key, name in (("fp", "false positives"), ("fn", "false negatives"))
        for value, low, high in [part.relative(key)]
    ]  # fmt: skip
    order = list(dict.fromkeys(item["period"] for item in items))
    names = ["false positives", "false negatives"]
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    side = alt.XOffset("errors:N", sort=names)
    colour = alt.Color(
        "errors:N",
        scale=alt.Scale(domain=names, range=[colours.positive, colours.models[3]]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    tips = [
        alt.Tooltip("period:N"),
        alt.Tooltip("errors:N"),
        *(alt.Tooltip(f"{n}:Q", format="+.2%") for n in ("shift", "low", "high")),
        alt.Tooltip("verdict:N"),
    ]
    base = alt.Chart(rows(items))
    minimal = alt.Chart(rows([{"low": -data.tolerance, "high": data.tolerance}])).mark_rect(opacity=0.15, color=colours.faint).encode(
        y=alt.Y("low:Q", title="shift of the level", axis=alt.Axis(format="+%")), y2="high:Q"
    )  # fmt: skip
    spans = base.mark_rule(strokeWidth=2).encode(x=x, xOffset=side, y="low:Q", y2="high:Q", color=colour, tooltip=tips)
    dots = base.mark_point(filled=True, size=60).encode(
        x=x, xOffset=side, y="shift:Q", color=colour, shape=alt.Shape("errors:N", sort=names, legend=None), tooltip=tips
    )
    return finished(alt.layer(minimal, spans, dots), f"What errors do to the mean {data.value}", theme, width=460)
