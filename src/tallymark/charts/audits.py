"""Charts of audits: the sample of rows to check, and the estimates from checked rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.audits.class_estimates import AuditEstimate
    from tallymark.audits.estimates import BinaryAuditEstimate
    from tallymark.audits.plan_results import AuditPlan


@picture_of("AuditPlan")
def audit_plan(data: AuditPlan, *, theme: str = "light") -> Chart:
    """The strata of an audit plan: shares of all rows and of the rows to check.

    Parameters
    ----------
    data
        The result of :func:`tallymark.audits.plan`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> plan = tm.audits.plan(pd.DataFrame({"p": [i / 200 for i in range(200)]}), score="p", size=40)
    >>> tm.charts.audit_plan(plan).to_dict()["title"]["text"]
    'Where the 40 rows to check are'
    """
    require_kind(data, "AuditPlan", "tm.audits.plan")
    alt = altair()
    colours = palette(theme)
    total, checked = sum(row["rows"] for row in data.strata), max(data.size, 1)
    items = [
        {
            "stratum": ", ".join(
                [f"{row['score_from']:.3g} to {row['score_to']:.3g}", *(str(row[name]) for name in data.by)]
            ),
            "what": what,
            "share": row[column] / whole,
            "rows": row[column],
        }
        for row in data.strata
        for what, column, whole in (("of all rows", "rows", total), ("of the rows to check", "check", checked))
    ]
    order = list(dict.fromkeys(item["stratum"] for item in items))
    names = ["of all rows", "of the rows to check"]
    bars = alt.Chart(rows(items)).mark_bar()
    bars = bars.encode(
        y=alt.Y("stratum:N", sort=order, title=None),
        x=alt.X("share:Q", title="share", axis=alt.Axis(format="%")),
        yOffset=alt.YOffset("what:N", sort=names),
        color=alt.Color(
            "what:N",
            scale=alt.Scale(domain=names, range=[colours.faint, colours.positive]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=[
            alt.Tooltip("stratum:N", title="score"),
            alt.Tooltip("what:N", title=" "),
            alt.Tooltip("rows:Q"),
            alt.Tooltip("share:Q", format=".1%"),
        ],
    )
    return finished(alt.layer(bars), f"Where the {data.size} rows to check are", theme, height=max(80, 34 * len(order)))


@picture_of("AuditEstimate")
def audit_counts(data: AuditEstimate, *, theme: str = "light") -> Chart:
    """Estimated count (or area) of each class with its interval, by group where there are groups.

    Parameters
    ----------
    data
        The result of :func:`tallymark.audits.estimate` or :func:`tallymark.audits.from_matrix`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> audit = tm.audits.from_matrix([[66, 9], [4, 321]], [2_000, 60_000], classes=["forest", "other"])
    >>> tm.charts.audit_counts(audit).to_dict()["title"]["text"]
    'Estimated rows by class, with 95 % intervals'
    """
    require_kind(data, "AuditEstimate", "tm.audits.estimate")
    alt = altair()
    colour = palette(theme).models[0]
    items = [
        {
            "class": ", ".join((*map(str, key), str(label))),
            "value": one.value,
            "low": one.low,
            "high": one.high,
        }
        for key, estimate in (data.with_all() if data.groups else [((), data)])
        for label, one in estimate.counts.items()
        if one.low is not None
    ]
    base = alt.Chart(rows(items)).encode(y=alt.Y("class:N", sort=None, title=None))
    shown = [alt.Tooltip("class:N", title=" "), *tips("value", "low", "high")]
    bars = base.mark_bar(opacity=0.35, color=colour).encode(x=alt.X("value:Q", title=data.unit), tooltip=shown)
    spans = base.mark_rule(strokeWidth=2, color=colour).encode(x="low:Q", x2="high:Q", tooltip=shown)
    dots = base.mark_point(filled=True, size=60, color=colour).encode(x="value:Q", tooltip=shown)
    title = f"Estimated {data.unit} by class, with {100 * data.level:g} % intervals"
    return finished(alt.layer(bars, spans, dots), title, theme, height=max(60, 28 * len(items)))


@picture_of("BinaryAuditEstimate")
def audit_estimate(data: BinaryAuditEstimate, *, theme: str = "light") -> Chart:
    """Estimates from checked rows with intervals: the share of all rows, of each group, and metrics.

    Parameters
    ----------
    data
        The result of :func:`tallymark.audits.estimate`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> checked = [float(i > 150) if i % 5 == 0 else None for i in range(200)]
    >>> frame = pd.DataFrame({"p": [i / 200 for i in range(200)], "checked": checked})
    >>> estimate = tm.audits.estimate(frame, label="checked", score="p", threshold=0.5)
    >>> tm.charts.audit_estimate(estimate).to_dict()["title"]["text"]
    'What 40 checked rows tell, with 95 % intervals'
    """
    require_kind(data, "BinaryAuditEstimate", "tm.audits.estimate")
    alt = altair()
    colour = palette(theme).models[0]
    items = [dict(row) for row in data.rows() if row["low"] is not None]
    base = alt.Chart(rows(items)).encode(y=alt.Y("of:N", sort=None, title=None))
    shown = [alt.Tooltip("of:N", title=" "), *tips("value", "low", "high")]
    spans = base.mark_rule(strokeWidth=2, color=colour).encode(
        x=alt.X("low:Q", title="share"), x2="high:Q", tooltip=shown
    )
    dots = base.mark_point(filled=True, size=60, color=colour).encode(x="value:Q", tooltip=shown)
    level = data.prevalence.level or 0.95
    title = f"What {int(data.prevalence.details['checked'])} checked rows tell, with {100 * level:g} % intervals"
    return finished(alt.layer(spans, dots), title, theme, height=max(60, 24 * len(items)))
