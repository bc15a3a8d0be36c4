"""How scores are distributed, and whether a target's are a mixture of the classes'."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import curves
from tallymark.charts.inputs import by_name, curves_of
from tallymark.charts.theme import altair, finished, palette, require_kind, rows, spell_out, titled
from tallymark.curves.histogram import ScoreHistogram
from tallymark.quantify.estimation.mixture_test import MixtureFit
from tallymark.summaries.tally import Tally


def score_histogram(
    data: object, *, bins: int = 40, log: bool = False, calibrated: Tally | None = None, theme: str = "light"
) -> Any:
    """Histograms of the scores by class: shares of each class, so that a rare one can be seen.

    `log` draws counts on a logarithmic scale instead; `calibrated` (the tally after calibration) is shown below.

    >>> import tallymark as tm
    >>> tm.charts.score_histogram(tm.tally([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.35])).to_dict()["title"]["text"]
    'Scores by class'
    """
    alt = altair()
    colours = palette(theme)
    parts: Mapping[str, Any] = by_name(data)
    if calibrated is not None:
        (first,) = parts.values()
        parts = {"before": first, "after": calibrated}
    made = curves_of(parts, ScoreHistogram, lambda tally: curves.score_histogram(tally, bins=bins))
    items = [
        {"model": name, **dict(zip(columns, line, strict=True))}
        for name, drawn in made.items()
        for columns in [drawn.curve.columns()]
        for line in zip(*(values.tolist() for values in columns.values()), strict=True)
    ]
    labels = list(dict.fromkeys(row["class"] for row in items))
    field, title = ("count", "rows") if log else ("share", "share of the class")
    scale = alt.Scale(type="log", domainMin=0.5) if log else alt.Scale()
    chart = alt.Chart(rows(row for row in items if row["count"] > 0)).mark_bar(opacity=0.55).encode(
        x=alt.X("low:Q", title="score", bin="binned"), x2="high:Q", y=alt.Y(f"{field}:Q", title=title, stack=None, scale=scale),
        **({"y2": alt.datum(0.5)} if log else {}),
        color=alt.Color("class:N", scale=alt.Scale(domain=labels, range=[colours.negative, colours.positive]),
                        legend=alt.Legend(title=None, orient="bottom")),
        tooltip=[alt.Tooltip("class:N"), alt.Tooltip("low:Q", format=".4~g"), alt.Tooltip("high:Q", format=".4~g"),
                 alt.Tooltip("count:Q", format=",.6~g"), alt.Tooltip("share:Q", format=".4~g")],
    )  # fmt: skip
    if len(parts) == 1:
        return finished(chart, titled("Scores by class", next(iter(parts))), theme)
    sized = chart.properties(width=340, height=140).facet(
        row=alt.Row("model:N", title=None, sort=list(parts), header=alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start"))
    ).resolve_scale(y="independent", x="independent")  # fmt: skip
    return _themed_facets(sized, "Scores by class", theme)


def _themed_facets(chart: Any, title: str, theme: str) -> Any:
    """Facets have sizes of their own."""
    made = finished(altair().layer(), title, theme)
    spell_out(chart)
    chart = chart.properties(title=made.title)
    chart.config = made.config
    return chart


def mixture_fit(data: MixtureFit, *, theme: str = "light") -> Any:
    """Bins of a target's scores (bars) beside the best mixture of the classes (points): is this prior shift?

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> fit = tm.quantify.mixture_fit(t, tm.tally(scores=[0.1, 0.2, 0.3, 0.9]))
    >>> tm.charts.mixture_fit(fit).to_dict()["title"]["text"].startswith("Scores to be counted")
    True
    """
    require_kind(data, MixtureFit, "tm.quantify.mixture_fit")
    alt = altair()
    colours = palette(theme)
    lines = data.rows()
    items = [
        {
            "bin": f"{i + 1}",
            "from": _text(row["from"]),
            "to": _text(row["to"]),
            "observed": row["observed"],
            "expected": row["expected"],
            "of positives": data.prevalence * row["positive"],
        }
        for i, row in enumerate(lines)
    ]
    order = [row["bin"] for row in items]
    base = alt.Chart(rows(items)).encode(
        x=alt.X("bin:N", sort=order, title="bin of the score, low to high", axis=alt.Axis(labelAngle=0))
    )
    tips = [
        alt.Tooltip("from:N"),
        alt.Tooltip("to:N"),
        *(alt.Tooltip(f"{n}:Q", format=".4~g") for n in ("observed", "expected", "of positives")),
    ]
    bars = base.mark_bar(opacity=0.35, color=colours.faint).encode(
        y=alt.Y("observed:Q", title="share of the target's rows"), tooltip=tips
    )
    positive = base.mark_bar(opacity=0.7, color=colours.positive).encode(y="of positives:Q", tooltip=tips)
    dots = base.mark_point(filled=True, size=60, color=colours.ink).encode(y="expected:Q", tooltip=tips)
    title = f"Scores to be counted, mixture at {100 * data.prevalence:.1f} % (points)"
    return finished(alt.layer(bars, positive, dots), title, theme, width=420)


def _text(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "−∞" if value < 0 else "∞"
