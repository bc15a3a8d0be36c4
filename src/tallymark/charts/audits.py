"""Audits: which rows are checked, and what they tell."""

from __future__ import annotations

from typing import Any

from tallymark.audits.estimates import AuditEstimate
from tallymark.audits.plans import AuditPlan
from tallymark.charts.theme import altair, finished, palette, require_kind, rows


def audit_plan(data: AuditPlan, *, theme: str = "light") -> Any:
    """The strata of a plan: the share of all rows in each (hollow) and the share of the rows to check (filled).

    >>> import pandas as pd, tallymark as tm
    >>> plan = tm.audits.plan(pd.DataFrame({"p": [i / 200 for i in range(200)]}), score="p", n=40)
    >>> tm.charts.audit_plan(plan).to_dict()["title"]["text"]
    'Where the 40 rows to check are'
    """
    require_kind(data, AuditPlan, "tm.audits.plan")
    alt = altair()
    colours = palette(theme)
    total, checked = sum(row["rows"] for row in data.strata), max(data.n, 1)
    items = [
        {"stratum": f"{row['score_from']:.3g} to {row['score_to']:.3g}" + "".join(f", {row[name]}" for name in data.by),
         "what": what, "share": row[column] / whole, "rows": row[column]}
        for row in data.strata
        for what, column, whole in (("of all rows", "rows", total), ("of the rows to check", "check", checked))
    ]  # fmt: skip
    order = list(dict.fromkeys(item["stratum"] for item in items))
    names = ["of all rows", "of the rows to check"]
    colour = alt.Color(
        "what:N",
        scale=alt.Scale(domain=names, range=[colours.faint, colours.positive]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    bars = alt.Chart(rows(items)).mark_bar().encode(
        y=alt.Y("stratum:N", sort=order, title=None), x=alt.X("share:Q", title="share", axis=alt.Axis(format="%")),
        yOffset=alt.YOffset("what:N", sort=names), color=colour,
        tooltip=[alt.Tooltip("stratum:N", title="score"), alt.Tooltip("what:N", title=" "), alt.Tooltip("rows:Q"), alt.Tooltip("share:Q", format=".1%")],
    )  # fmt: skip
    return finished(alt.layer(bars), f"Where the {data.n} rows to check are", theme, height=max(80, 34 * len(order)))


def audit_estimate(data: AuditEstimate, *, theme: str = "light") -> Any:
    """What an audit says, with intervals: the share of all rows, of each group, and the metrics of the calls.

    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"p": [i / 200 for i in range(200)], "checked": [float(i > 150) if i % 5 == 0 else None for i in range(200)]})
    >>> found = tm.audits.estimate(frame, label="checked", score="p", threshold=0.5)
    >>> tm.charts.audit_estimate(found).to_dict()["title"]["text"]
    'What 40 checked rows tell, with 95 % intervals'
    """
    require_kind(data, AuditEstimate, "tm.audits.estimate")
    alt = altair()
    colours = palette(theme)
    items = [dict(row) for row in data.rows() if row["low"] is not None]
    base = alt.Chart(rows(items)).encode(y=alt.Y("of:N", sort=None, title=None))
    tips = [
        alt.Tooltip("of:N", title=" "),
        *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("value", "low", "high")),
    ]
    spans = base.mark_rule(strokeWidth=2, color=colours.models[0]).encode(
        x=alt.X("low:Q", title="share"), x2="high:Q", tooltip=tips
    )
    dots = base.mark_point(filled=True, size=60, color=colours.models[0]).encode(x="value:Q", tooltip=tips)
    level = data.prevalence.level or 0.95
    title = f"What {int(data.prevalence.details['checked'])} checked rows tell, with {100 * level:g} % intervals"
    return finished(alt.layer(spans, dots), title, theme, height=max(60, 24 * len(items)))
