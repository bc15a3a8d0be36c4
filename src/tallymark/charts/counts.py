"""Estimated counts: by method and group, over time, by class, and how they grew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark._numbers import with_limits
from tallymark._periods import in_order
from tallymark.charts.theme import altair, by_model, finished, palette, require_kind, rows, shape_of
from tallymark.errors import InputError
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity


def prevalences(
    data: Prevalence | Prevalences | Mapping[str, Any], *, counts: bool = False, theme: str = "light"
) -> Any:
    """Estimated shares (or counts) with their intervals, by method and by group.

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> u = tm.tally(scores=[0.1, 0.2, 0.3, 0.9])
    >>> found = {name: tm.quantify.estimate(name, t, u) for name in ("cc", "ac")}
    >>> tm.charts.prevalences(found).to_dict()["title"]["text"]
    'Estimated prevalence with 95 % intervals'
    """
    require_kind(data, (Prevalence, Prevalences, Mapping), "tm.quantify.estimate")
    alt = altair()
    several = (
        {data.method: data}
        if isinstance(data, Prevalence)
        else data
        if isinstance(data, Mapping) and not isinstance(data, Prevalences)
        else {"": data}
    )
    lines: list[dict[str, Any]] = []
    for name, entry in several.items():
        require_kind(entry, (Prevalence, Mapping), "tm.quantify.estimate")
        parts = (
            {(): entry}
            if isinstance(entry, Prevalence)
            else {k if isinstance(k, tuple) else (k,): v for k, v in entry.items()}
        )
        for key, one in parts.items():
            require_kind(one, Prevalence, "tm.quantify.estimate")
            if not np.isfinite(one.prevalence):
                continue
            factor = float(one.n) if counts else 1.0
            lines.append(
                {
                    "method": one.method if not name else str(name),
                    "group": ", ".join(map(str, key)),
                    "value": factor * one.prevalence,
                    "low": None if one.low is None else factor * one.low,
                    "high": None if one.high is None else factor * one.high,
                    "level": one.level,
                }
            )
    if not lines:
        raise InputError("There is nothing to draw: no estimate has a value.")
    grouped = any(line["group"] for line in lines)
    methods = list(dict.fromkeys(line["method"] for line in lines))
    side = {"yOffset": alt.YOffset("method:N", sort=methods)} if grouped and len(methods) > 1 else {}
    main = "group" if grouped else "method"
    for line in lines:
        line["model"] = line["method"]
    colour = by_model(methods, theme, legend=grouped)["color"]
    base = alt.Chart(rows(lines)).encode(y=alt.Y(f"{main}:N", sort=None, title=None), color=colour, **side)
    tips = [
        alt.Tooltip("method:N"),
        alt.Tooltip("group:N"),
        *(alt.Tooltip(f"{n}:Q", format=".5~g") for n in ("value", "low", "high")),
    ]
    what = "count" if counts else "prevalence"
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=what), x2="high:Q", tooltip=tips)
    dots = base.mark_point(filled=True, size=70).encode(
        x=alt.X("value:Q", title=what), shape=shape_of(methods), tooltip=tips
    )
    level = next((line["level"] for line in lines if line["level"] is not None), None)
    title = f"Estimated {what}" + ("" if level is None else f" with {100 * level:g} % intervals")
    height = 28 * len(dict.fromkeys(line[main] for line in lines)) * (max(1, len(methods)) if side else 1)
    said = "; ".join(
        f"{line['group']} {line['method']} {with_limits(line['value'], line['low'], line['high'])}".strip()
        for line in lines[:24]
    )
    return finished(alt.layer(spans, dots), title, theme, says=f"{said}.", height=max(60, height))


def counts_over_time(
    data: Prevalences | Mapping[str, Prevalences], *, along: str, order: Sequence[Any] | None = None, counts: bool = True,
    theme: str = "light",
) -> Any:  # fmt: skip
    """Estimated counts (or shares) over the periods of one key with a band for each method; other keys are added up.

    `order` lists the periods where their order in time cannot be read off them.

    >>> import pandas as pd, tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> frame = pd.DataFrame({"year": [1] * 4 + [2] * 4, "p": [0.1, 0.2, 0.3, 0.9, 0.2, 0.8, 0.9, 0.9]})
    >>> u = tm.tally(frame, score="p", by="year")
    >>> chart = tm.charts.counts_over_time(tm.quantify.estimate("ac", t, u, threshold=0.5, replicates=100), along="year")
    >>> chart.to_dict()["title"]["text"]
    'Estimated count by year with 95 % intervals'
    """
    require_kind(data, (Prevalences, Mapping), "tm.quantify.estimate with groups")
    alt = altair()
    named = {data.total.method: data} if isinstance(data, Prevalences) else dict(data)
    lines: list[dict[str, Any]] = []
    for name, entry in named.items():
        require_kind(entry, Prevalences, "tm.quantify.estimate with groups")
        if along not in entry.names:
            raise InputError(f"The estimates have no key {along!r}; they have {', '.join(entry.names)}.")
        by = entry if entry.names == (along,) else entry.subtotals()[along]
        for period in in_order(by, along, order):
            one = by[period]
            if np.isfinite(one.prevalence):
                factor = float(one.n) if counts else 1.0
                limits = {"low": factor * one.low, "high": factor * one.high} if one.interval is not None else {}  # type: ignore[operator]
                lines.append(
                    {
                        "model": str(name),
                        "at": str(period),
                        "value": factor * one.prevalence,
                        "level": one.level,
                        **limits,
                    }
                )
    if not lines:
        raise InputError("There is nothing to draw: no estimate has a value.")
    names = list(named)
    look = by_model(names, theme)
    times = list(dict.fromkeys(line["at"] for line in lines))
    what = "count" if counts else "prevalence"
    base = alt.Chart(rows(lines)).encode(x=alt.X("at:O", sort=times, title=along, axis=alt.Axis(labelAngle=0 if len(times) < 9 else -40)))  # fmt: skip
    tips = [alt.Tooltip("model:N"), alt.Tooltip("at:N", title=along), *(alt.Tooltip(f"{n}:Q", format=",.5~g") for n in ("value", "low", "high"))]  # fmt: skip
    y = alt.Y("value:Q", title=what, scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=what), y2="high:Q", color=look["color"])
    joined = base.mark_line().encode(y=y, **look)
    dots = base.mark_point(filled=True, size=60).encode(y=y, color=look["color"], shape=shape_of(names), tooltip=tips)
    level = next((line["level"] for line in lines if line["level"] is not None), None)
    title = f"Estimated {what} by {along}" + ("" if level is None else f" with {100 * level:g} % intervals")
    said = "; ".join(f"{line['model']} {line['at']} {with_limits(line['value'], line.get('low'), line.get('high'))}" for line in lines[:24])  # fmt: skip
    return finished(
        alt.layer(band, joined, dots), title, theme, says=f"{said}.", width=max(340, min(560, 46 * len(times)))
    )


def growth(data: Mapping[str, Sequence[Mapping[str, Any]]], *, theme: str = "light") -> Any:
    """Growth of a count from period to period in per cent, with limits; `data` are lines of ``Prevalences.growths`` by method.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.4
    >>> t = tm.tally(y, rng.normal(y * 2.0))
    >>> frame = pd.DataFrame({"year": np.repeat([1, 2], 300), "p": rng.normal((rng.random(600) < 0.3) * 2.0)})
    >>> found = tm.quantify.estimate("ac", t, tm.tally(frame, score="p", by="year"), threshold=1.0, replicates=100)
    >>> tm.charts.growth({"ac": found.growths("year")}).to_dict()["title"]["text"]
    'Growth of the count'
    """
    require_kind(data, Mapping, "{method: estimates.growths(key)}")
    for found in data.values():
        require_kind(found, list, "estimates.growths(key)")
    alt = altair()
    lines = [
        {"model": name, "step": f"{row['from']} to {row['to']}" + (f", {', '.join(map(str, row['group'].values()))}" if row["group"] else ""),
         "value": 100 * row["growth"], "low": 100 * row["low"], "high": 100 * row["high"]}
        for name, found in data.items()
        for row in found
        if row["reason"] is None and np.isfinite([row["growth"], row["low"], row["high"]]).all()
    ]  # fmt: skip
    if not lines:
        raise InputError("There is nothing to draw: no growth has a value and limits.")
    names = list(data)
    colour = by_model(names, theme)["color"]
    side = {"yOffset": alt.YOffset("model:N", sort=names)} if len(names) > 1 else {}
    base = alt.Chart(rows(lines)).encode(y=alt.Y("step:N", sort=None, title=None), color=colour, **side)
    tips = [alt.Tooltip("model:N"), alt.Tooltip("step:N"), *(alt.Tooltip(f"{n}:Q", format="+.3~g") for n in ("value", "low", "high"))]  # fmt: skip
    none = alt.Chart(rows([{"x": 0.0}])).mark_rule(strokeDash=[3, 3], color=palette(theme).ink).encode(x="x:Q")
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="growth in %"), x2="high:Q", tooltip=tips)
    dots = base.mark_point(filled=True, size=60).encode(x="value:Q", shape=shape_of(names), tooltip=tips)
    said = "; ".join(f"{line['model']} {line['step']} {with_limits(line['value'], line['low'], line['high'])} %" for line in lines[:24])  # fmt: skip
    height = max(60, 26 * len(dict.fromkeys(line["step"] for line in lines)) * len(names))
    return finished(alt.layer(none, spans, dots), "Growth of the count", theme, says=f"{said}.", height=height)


def class_prevalences(data: Mapping[str, ClassPrevalences], *, theme: str = "light") -> Any:
    """Estimated shares of K classes with their limits, by method.

    >>> import numpy as np, tallymark as tm
    >>> rows = np.tile(np.eye(3) * 0.7 + 0.1, (20, 1))
    >>> known, new = tm.class_panel([0, 1, 2] * 20, rows, classes=[0, 1, 2]), tm.class_panel(scores=rows, classes=[0, 1, 2])
    >>> found = tm.quantify.estimate("em", known, new, replicates=100)
    >>> tm.charts.class_prevalences({"em": found}).to_dict()["title"]["text"]
    'Estimated shares of the classes'
    """
    require_kind(data, Mapping, "{method: tm.quantify.estimate(…) of class panels}")
    for entry in data.values():
        require_kind(entry, ClassPrevalences, "tm.quantify.estimate of class panels")
    alt = altair()
    lines: list[dict[str, Any]] = [
        {"model": name, "class": str(label), "value": one.prevalence, "low": one.low, "high": one.high}
        for name, entry in data.items()
        for label, one in entry.items()
        if np.isfinite(one.prevalence)
    ]
    if not lines:
        raise InputError("There is nothing to draw: no estimate has a value.")
    names = list(data)
    order = list(dict.fromkeys(line["class"] for line in lines))
    side = {"yOffset": alt.YOffset("model:N", sort=names)} if len(names) > 1 else {}
    base = alt.Chart(rows(lines)).encode(y=alt.Y("class:N", sort=order, title=None), **side)
    colour = by_model(names, theme)["color"]
    tips = [alt.Tooltip("model:N"), alt.Tooltip("class:N"), *(alt.Tooltip(f"{n}:Q", format=".4~g") for n in ("value", "low", "high"))]  # fmt: skip
    bars = base.mark_bar(opacity=0.45).encode(x=alt.X("value:Q", title="share of the rows"), color=colour, tooltip=tips)
    spans = base.mark_rule(strokeWidth=2, color=palette(theme).ink).encode(x="low:Q", x2="high:Q", tooltip=tips)
    said = "; ".join(f"{line['class']} {line['model']} {with_limits(line['value'], line['low'], line['high'])}" for line in lines[:24])  # fmt: skip
    height = max(60, 18 * len(order) * len(names))
    return finished(alt.layer(bars, spans), "Estimated shares of the classes", theme, says=f"{said}.", height=height)


def sensitivity(data: Sensitivity, *, theme: str = "light") -> Any:
    """How far a count would be off if the positives' scores had moved, and how surely the data would have told.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> t, u = tm.tally(y, rng.normal(y * 2.0)), tm.tally(scores=rng.normal((rng.random(300) < 0.2) * 2.0))
    >>> tm.charts.sensitivity(tm.quantify.sensitivity(t, u, methods=["ac"], threshold=1.0)).to_dict()["title"]["text"]
    "What a move of the positives' scores would do"
    """
    require_kind(data, Sensitivity, "tm.quantify.sensitivity")
    alt = altair()
    names = list(data.changes)
    lines = [
        {"model": name, "shift": row["shift"], "moves": row[name], "noticed": row["noticed"]}
        for row in data.rows()
        for name in names
        if np.isfinite(row[name])
    ]
    base = alt.Chart(rows(lines)).encode(
        x=alt.X("shift:Q", title="move of the positives' scores, in standard deviations")
    )
    tips = [alt.Tooltip("model:N"), *(alt.Tooltip(f"{n}:Q", format=".3~g") for n in ("shift", "moves", "noticed"))]
    look = by_model(names, theme)
    joined = base.mark_line().encode(y=alt.Y("moves:Q", title="the count moves by"), **look)
    dots = base.mark_point(filled=True).encode(
        y="moves:Q", color=look["color"], shape=shape_of(names), tooltip=tips,
        size=alt.Size("noticed:Q", scale=alt.Scale(domain=[0, 1], range=[25, 160]), legend=alt.Legend(title="noticed", format=".0%", orient="bottom", values=[0, 0.5, 1])),
    )  # fmt: skip
    return finished(alt.layer(joined, dots), "What a move of the positives' scores would do", theme, says=data.sentence)
