"""Counts of rare events: what each variant says, and what the class weight does to it."""

from __future__ import annotations

from typing import Any

from tallymark.charts.theme import altair, by_model, finished, palette, require_kind, rows
from tallymark.rare.results import ClassWeightSweep, RareCount


def rare_count(data: RareCount, *, theme: str = "light") -> Any:
    """The four variants of a count, the calibrated ones with their interval, beside the truth where it is known.

    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> count = tm.rare.bootstrap(texts, [1] * 20 + [0] * 60, texts, machines=5)
    >>> tm.charts.rare_count(count).to_dict()["title"]["text"]
    'How many there are, by bootstrap'
    """
    require_kind(data, RareCount, "tm.rare.bootstrap")
    alt = altair()
    colours = palette(theme)
    items = [
        {"variant": f"{row['by']}, {'calibrated' if row['calibrated'] == 'yes' else 'as they come'}",
         "count": row["estimate"], "low": row.get("low"), "high": row.get("high")}
        for row in data.table
    ]  # fmt: skip
    order = [item["variant"] for item in items]
    # Uncalibrated counts are often ten times too large; from the least that can be shown.
    scale = alt.Scale(type="symlog", constant=10, domainMin=0)
    base = alt.Chart(rows(items)).encode(y=alt.Y("variant:N", sort=order, title=None))
    tips = [alt.Tooltip("variant:N"), *(alt.Tooltip(f"{name}:Q", format=",.1f") for name in ("count", "low", "high"))]
    points = base.mark_point(filled=True, size=80, color=colours.models[0]).encode(
        x=alt.X("count:Q", title="texts counted", scale=scale), tooltip=tips
    )
    limits = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color=colours.models[0]).encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q"
    )  # fmt: skip
    layers = [limits, points]
    if data.positive is not None:
        truth = alt.Chart(rows([{"truth": data.table[0]["P"]}])).mark_rule(strokeDash=[4, 3], color=colours.faint)
        layers.insert(
            0, truth.encode(x=alt.X("truth:Q", scale=scale), tooltip=[alt.Tooltip("truth:Q", title="true count")])
        )
    return finished(alt.layer(*layers), f"How many there are, by {data.method}", theme, width=420, height=150)


def class_weight_sweep(data: ClassWeightSweep, *, theme: str = "light") -> Any:
    """What every class weight would have counted, before and after calibration; the chosen one is marked.

    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> sweep = tm.rare.class_weight_sweep(texts, [1] * 20 + [0] * 60, texts, weights=[1, 10], replicates=2)
    >>> tm.charts.class_weight_sweep(sweep).to_dict()["title"]["text"]
    'Texts counted, by the weight of positives in training'
    """
    require_kind(data, ClassWeightSweep, "tm.rare.class_weight_sweep")
    alt = altair()
    colours = palette(theme)
    kinds = ["uncalibrated", "calibrated"]
    items = [{"weight": row["weight"], "model": kind, "count": row[kind]} for row in data.sweep for kind in kinds]
    scale = alt.Scale(type="symlog", constant=10, domainMin=0)
    x = alt.X("weight:Q", title="weight of positives", scale=alt.Scale(type="log"))
    lines = alt.Chart(rows(items)).mark_line(point=True).encode(
        x=x, y=alt.Y("count:Q", title="texts counted", scale=scale), **by_model(kinds, theme),
        tooltip=[alt.Tooltip("model:N", title="scores"), alt.Tooltip("weight:Q", format=".4~g"), alt.Tooltip("count:Q", format=",.1f")],
    )  # fmt: skip
    chosen = alt.Chart(rows([{"weight": data.weight}])).mark_rule(strokeDash=[4, 3], color=colours.faint).encode(
        x=x, tooltip=[alt.Tooltip("weight:Q", title="chosen weight", format=".4~g")]
    )  # fmt: skip
    layers = [chosen, lines]
    if data.positive is not None:
        truth = alt.Chart(rows([{"truth": data.table[0]["P"]}])).mark_rule(color=colours.faint)
        layers.insert(
            0, truth.encode(y=alt.Y("truth:Q", scale=scale), tooltip=[alt.Tooltip("truth:Q", title="true count")])
        )
    return finished(alt.layer(*layers), "Texts counted, by the weight of positives in training", theme, width=420)
