"""A classifier over time: how many there are, and when something moved."""

from __future__ import annotations

from typing import Any

from tallymark.charts.theme import altair, finished, palette, require_kind, rows
from tallymark.monitor.results import Watch


def watch(data: Watch, *, theme: str = "light") -> Any:
    """The share of positives by period with its interval, history included; marked periods have a signal.

    Where nothing could be counted it is the mean score.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"m": np.repeat(np.arange(8), 50), "s": rng.normal(size=400)})
    >>> tm.charts.watch(tm.monitor.watch(frame, period="m", score="s")).to_dict()["title"]["text"]
    'Mean score by period'
    """
    require_kind(data, Watch, "tm.monitor.watch")
    alt = altair()
    colours = palette(theme)
    what = "prevalence" if data.counted else "mean_score"
    items = [
        {"period": str(row["period"]), "share": row.get(what), "low": row.get("low"), "high": row.get("high"), "audit": row.get("audit"),
         "signal": row.get("signal", ""), "advice": row.get("advice", "")}
        for row in data.history
    ]  # fmt: skip
    order = [item["period"] for item in items]
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    title = "share of positives" if data.counted else "mean score"
    tips = [
        alt.Tooltip("period:N"),
        *(alt.Tooltip(f"{n}:Q", format=".4~g") for n in ("share", "low", "high", "audit")),
        alt.Tooltip("signal:N"),
        alt.Tooltip("advice:N"),
    ]
    base = alt.Chart(rows(items))
    scale = alt.Scale(zero=False)
    layers = [
        base.transform_filter("isValid(datum.low)").mark_area(opacity=0.2, color=colours.models[0]).encode(x=x, y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"),
        base.mark_line(color=colours.models[0], point=True).encode(x=x, y=alt.Y("share:Q", title=title, scale=scale), tooltip=tips),
        base.transform_filter("isValid(datum.audit)").mark_point(shape="diamond", size=70, color=colours.ink).encode(x=x, y="audit:Q", tooltip=tips),
        base.transform_filter("datum.signal != ''").mark_point(size=160, strokeWidth=2, color=colours.positive).encode(x=x, y="share:Q", tooltip=tips),
    ]  # fmt: skip
    return finished(
        alt.layer(*layers), f"{'Share of positives' if data.counted else 'Mean score'} by period", theme, width=460
    )


def watch_signals(data: Watch, *, theme: str = "light") -> Any:
    """The cumulative sums of the charts against their limit.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"m": np.repeat(np.arange(8), 50), "s": rng.normal(size=400)})
    >>> tm.charts.watch_signals(tm.monitor.watch(frame, period="m", score="s")).to_dict()["title"]["text"]
    'Cumulative sums and their limit'
    """
    require_kind(data, Watch, "tm.monitor.watch")
    alt = altair()
    colours = palette(theme)
    items = [
        {"period": str(row["period"]), "chart": name, "sum": row[key]}
        for row in data.history
        for name, key in (("scores", "score_sum"), ("values", "value_sum"))
        if row.get(key) is not None
    ]
    order = list(dict.fromkeys(item["period"] for item in items))
    names = list(dict.fromkeys(item["chart"] for item in items))
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    colour = alt.Color(
        "chart:N",
        scale=alt.Scale(domain=names, range=list(colours.models[: len(names)])),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    lines = alt.Chart(rows(items)).mark_line(point=True).encode(
        x=x, y=alt.Y("sum:Q", title="cumulative sum"), color=colour, tooltip=[alt.Tooltip("period:N"), alt.Tooltip("chart:N"), alt.Tooltip("sum:Q", format=".2f")]
    )  # fmt: skip
    limit = (
        alt.Chart(rows([{"limit": data.limit}]))
        .mark_rule(strokeDash=[4, 3], color=colours.positive)
        .encode(y="limit:Q")
    )
    return finished(alt.layer(lines, limit), "Cumulative sums and their limit", theme, width=460)
