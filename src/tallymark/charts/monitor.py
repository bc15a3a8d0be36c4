"""Charts of a monitored classifier: prevalence by period with signals, and the control charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.monitor.results import Watch


@picture_of("Watch")
def watch(data: Watch, *, theme: str = "light") -> Chart:
    """The share of positives by period with its interval; periods with a signal are marked.

    Where nothing could be counted it is the mean score.

    Parameters
    ----------
    data
        The result of :func:`tallymark.monitor.watch`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"m": np.repeat(np.arange(8), 50), "s": rng.normal(size=400)})
    >>> tm.charts.watch(tm.monitor.watch(frame, period="m", score="s")).to_dict()["title"]["text"]
    'Mean score by period'
    """
    require_kind(data, "Watch", "tm.monitor.watch")
    alt = altair()
    colours = palette(theme)
    what = "prevalence" if data.counted else "mean_score"
    items = [
        {
            "period": str(row["period"]),
            "share": row.get(what),
            **{name: row.get(name) for name in ("low", "high", "audit")},
            **{name: row.get(name, "") for name in ("signal", "advice")},
        }
        for row in data.history
    ]
    title = "share of positives" if data.counted else "mean score"
    order = [item["period"] for item in items]
    base = alt.Chart(rows(items)).encode(
        x=alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    )
    fields = ("period", "share", "low", "high", "audit", "signal", "advice")
    shown = tips(*fields, text=("period", "signal", "advice"))
    scale = alt.Scale(zero=False)
    band = base.transform_filter("isValid(datum.low)").mark_area(opacity=0.2, color=colours.models[0])
    audits = base.transform_filter("isValid(datum.audit)").mark_point(shape="diamond", size=70, color=colours.ink)
    signals = base.transform_filter("datum.signal != ''").mark_point(size=160, strokeWidth=2, color=colours.positive)
    line = base.mark_line(color=colours.models[0], point=True)
    layers = [
        band.encode(y=alt.Y("low:Q", title=title, scale=scale), y2="high:Q"),
        line.encode(y=alt.Y("share:Q", title=title, scale=scale), tooltip=shown),
        audits.encode(y="audit:Q", tooltip=shown),
        signals.encode(y="share:Q", tooltip=shown),
    ]
    return finished(alt.layer(*layers), f"{title.capitalize()} by period", theme, width=460)


def watch_signals(data: Watch, *, theme: str = "light") -> Chart:
    """The cumulative sums (CUSUM) of the control charts against their limit.

    Parameters
    ----------
    data
        The result of :func:`tallymark.monitor.watch`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"m": np.repeat(np.arange(8), 50), "s": rng.normal(size=400)})
    >>> tm.charts.watch_signals(tm.monitor.watch(frame, period="m", score="s")).to_dict()["title"]["text"]
    'Cumulative sums and their limit'
    """
    require_kind(data, "Watch", "tm.monitor.watch")
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
    base = alt.Chart(rows(items)).mark_line(point=True)
    lines = base.encode(
        x=alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True)),
        y=alt.Y("sum:Q", title="cumulative sum"),
        color=alt.Color(
            "chart:N",
            scale=alt.Scale(domain=names, range=list(colours.models[: len(names)])),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=tips("period", "chart", "sum", text=("period", "chart"), format=".2f"),
    )
    limit = alt.Chart(rows([{"limit": data.limit}])).mark_rule(strokeDash=[4, 3], color=colours.positive)
    return finished(alt.layer(lines, limit.encode(y="limit:Q")), "Cumulative sums and their limit", theme, width=460)
