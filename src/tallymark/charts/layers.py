"""Layers of charts of curves: lines, bands, convex hulls, marks, logarithmic and log-odds axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._numbers import number
from tallymark.charts import placement
from tallymark.charts.decimation import points
from tallymark.charts.inputs import Drawn
from tallymark.charts.parts import axis, tips
from tallymark.charts.theme import HEIGHT, WIDTH, altair, by_model, palette, rows, symbol
from tallymark.curves.isolines import precision_at_f
from tallymark.errors import InputError
from tallymark.summaries.confusion import BinaryConfusion
from tallymark.summaries.tally import Tally


def only(models: Mapping[str, Any]) -> tuple[str, Any]:
    """Name and value of the one model that a chart shows."""
    if len(models) != 1:
        raise InputError(f"This picture shows one model, got {len(models)}; draw one for each.")
    return next(iter(models.items()))


def apart(drawn: Mapping[str, Drawn]) -> tuple[dict[str, Tally], dict[str, Any]]:
    """Tallies by name, and curves by name."""
    return {name: one.tally for name, one in drawn.items()}, {name: one.curve for name, one in drawn.items()}


def with_area(name: str, drawn: Drawn) -> str:
    """A name and its area, for a legend."""
    return name if drawn.area is None else f"{name} ({drawn.area:.3f})"


def areas_described(what: str, drawn: Mapping[str, Drawn]) -> str:
    """Areas as text, for readers who cannot see the chart."""
    areas = [f"{name} {one.area:.3f}" for name, one in drawn.items() if one.area is not None]
    return f"{what}: {', '.join(areas)}." if areas else ""


def area_said(what: str, drawn: Mapping[str, Drawn]) -> str:
    """The area of one curve for the line under the title; several have theirs in the legend."""
    area = next(iter(drawn.values())).area if len(drawn) == 1 else None
    return "" if area is None else f"{what} {area:.3f}"


def lines(
    items: list[dict[str, Any]],
    x: Any,
    y: Any,
    names: Sequence[str],
    theme: str,
    legend: str | None = None,
    *,
    steps: str = "linear",
    more: Sequence[str] = (),
) -> Any:
    """A line for each model; `x` and `y` are axes, `legend` is the legend's title, `more` are fields of the tooltip."""
    alt = altair()
    fields = [str(side.shorthand).partition(":")[0] for side in (x, y)]
    shown = [name for name in (*fields, *more) if items and name in items[len(items) // 2]]
    base = alt.Chart(rows(items)).mark_line(strokeWidth=2, interpolate=steps)
    return base.encode(x=x, y=y, order="order:Q", tooltip=tips("model", *shown), **by_model(names, theme, legend))


def rate_axis(field: str, title: str, least: float | None) -> Any:
    """A horizontal axis of rates: linear, or logarithmic from `least` on, which shows the rates of rare events."""
    alt = altair()
    if least is None:
        return axis("x", field, title)
    scale = alt.Scale(type="log", domain=[least, 1.0], clamp=True)
    powers = [10.0**k for k in range(int(np.floor(np.log10(least))), 1)]
    # Vega writes 5%; a space belongs between.
    ticks = alt.Axis(values=powers, format=".4~%", labelExpr="replace(datum.label, '%', ' %')")
    return alt.X(f"{field}:Q", title=f"{title} (logarithmic)", scale=scale, axis=ticks)


def logit_axis(field: str, title: str, low: float, high: float, *, named: bool = True) -> Any:
    """An axis of log odds, labelled with probabilities; without a title unless `named`."""
    alt = altair()
    inside = [p for p in ODDS if low <= np.log(p / (1.0 - p)) <= high] or [0.5]
    places = {p: float(np.log(p / (1.0 - p))) for p in inside}
    words = " : ".join(f"abs(datum.value - ({at:.6f})) < 0.001 ? '{p:g}'" for p, at in places.items())
    ticks = list(places.values())
    return alt.X(
        f"{field}:Q",
        title=f"{title} (log odds)" if named else None,
        scale=alt.Scale(domain=[low, high], nice=False, clamp=True),
        axis=alt.Axis(values=ticks, labelExpr=f"{words} : ''", labelOverlap="greedy", labelSeparation=6),
    )


#: Probabilities that label an axis of log odds.
ODDS = (1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


def log_odds(scores: Any, *, most: float = 12.0) -> Any:
    """Log odds of probabilities, clipped to ±`most`."""
    p = np.asarray(scores, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.log(p) - np.log1p(-p), -most, most)


def bands(limits: Mapping[str, Mapping[str, Any]], names: Sequence[str], theme: str) -> Any:
    """An area between the limits of each model."""
    alt = altair()
    items = [
        {"model": name, "x": float(x), "low": float(low), "high": float(high)}
        for name, band in limits.items()
        for x, low, high in zip(band["x"], band["low"], band["high"], strict=True)
        if np.isfinite([x, low, high]).all()
    ]
    return (
        alt.Chart(rows(items))
        .mark_area(opacity=0.18)
        .encode(x="x:Q", y=alt.Y("low:Q"), y2="high:Q", color=by_model(names, theme, legend=False)["color"])
    )


def hulls(curves: Mapping[str, Any], names: Sequence[str], theme: str) -> Any:
    """The convex hull of each ROC curve."""
    items = []
    for shown, curve in zip(names, curves.values(), strict=True):
        hull = curve.hull()
        items += points({"x": hull.fpr, "y": hull.tpr}, "x", "y", model=shown)
    colour = by_model(names, theme, legend=False)["color"]
    base = altair().Chart(rows(items)).mark_line(strokeWidth=1, opacity=0.8)
    return base.encode(x="x:Q", y="y:Q", order="order:Q", color=colour, detail="model:N")


def shaded(curves: Mapping[str, Any], names: Sequence[str], partial: tuple[float, float], theme: str) -> Any:
    """The area under each ROC curve between two false positive rates."""
    alt = altair()
    low, high = _check.pair(partial, "partial")
    grid = np.linspace(low, high, 100)
    items = [
        {"model": shown, "x": float(x), "y": float(y)}
        for shown, curve in zip(names, curves.values(), strict=True)
        for x, y in zip(grid, np.interp(grid, curve.fpr, curve.tpr), strict=True)
    ]
    return (
        alt.Chart(rows(items))
        .mark_area(opacity=0.2)
        .encode(x="x:Q", y=alt.Y("y:Q", stack=None), color=by_model(names, theme, legend=False)["color"])
    )


def marks(
    items: list[dict[str, Any]], x: str, y: str, names: Sequence[str], theme: str, *, lines: Sequence[Floats] = ()
) -> Any:
    """Points at thresholds, with the colour and the shape of their model and their text beside them.

    Each of `items` has its place in the plot, from 0 to 1 on both sides, as `place`; `lines` are the corners of curves
    in these units, which texts keep off.
    """
    at = np.array([item.pop("place") for item in items])
    beside = placement.beside(at, [item["text"] for item in items], (WIDTH, HEIGHT), lines)
    # The symbol itself is in the data: a scale of symbols would change the lines of the legend into symbols.
    items = [
        item | offset | {"symbol": symbol(names.index(item["model"]))}
        for item, offset in zip(items, beside, strict=True)
    ]
    colour = by_model(names, theme, legend=False)["color"]
    base = altair().Chart(rows(items)).encode(x=f"{x}:Q", y=f"{y}:Q")
    dots = base.mark_point(size=80, filled=True).encode(
        color=colour, shape=altair().Shape("symbol:N", scale=None), tooltip=tips("model", "at", "threshold", x, y)
    )
    return dots + texts(base, theme, colour if len(names) > 1 else None)


def texts(base: Any, theme: str, colour: Any = None) -> Any:
    """The field `text` beside each point, where :func:`placement.beside` says, on a strip of the paper's colour."""
    colours = palette(theme)
    offset = {name: {"expr": f"datum.{name}"} for name in ("dx", "dy", "align")}
    strip = base.mark_text(**offset, baseline="middle", stroke=colours.paper, strokeWidth=4, strokeOpacity=0.8)
    words = base.mark_text(**offset, baseline="middle", color=colours.ink).encode(text="text:N")
    return strip.encode(text="text:N") + (words if colour is None else words.encode(color=colour))


def merged_marks(
    names: Sequence[str], tallies: Mapping[str, Tally], thresholds: Sequence[float | str]
) -> list[tuple[str, Tally, BinaryConfusion, dict[str, Any]]]:
    """What thresholds mark on each curve: model, tally, cells, and a row that says which thresholds these are.

    Thresholds that make the same cells of a model are one mark with all their names.
    """
    found = []
    for name, tally in zip(names, tallies.values(), strict=True):
        same: dict[tuple[float, float], dict[str, BinaryConfusion]] = {}
        for threshold in _check.listed(thresholds):
            cells = tally.at(threshold)
            same.setdefault((float(cells.tp), float(cells.fp)), {})[str(threshold)] = cells
        for policies in same.values():
            cells = next(iter(policies.values()))
            row: dict[str, Any] = {"model": name, "at": ", ".join(policies), "text": _policies_said(policies)}
            if np.isfinite(threshold_of(cells)):
                row["threshold"] = threshold_of(cells)
            found.append((name, tally, cells, row))
    return found


def threshold_of(cells: BinaryConfusion) -> float:
    """The threshold at which rows were predicted positive; nan where there is none."""
    return float("nan") if cells.threshold is None else float(cells.threshold)


def _policies_said(policies: Mapping[str, BinaryConfusion]) -> str:
    """Names of policies with the threshold that each chooses; those of one threshold together."""
    chosen: dict[float, list[str]] = {}
    for name, cells in policies.items():
        chosen.setdefault(threshold_of(cells), []).append(name)
    texts = []
    for value, names in chosen.items():
        named = [name for name in names if not _is_number(name)]
        texts.append(f"{', '.join(named)} ({number(value)})" if named else names[0])
    return ", ".join(texts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def marked(value: float, field: str, text: str, theme: str, *, left: bool = False, row: int = 0) -> list[Any]:
    """A dashed vertical line, and its text on its right or on its left, in the given row of texts from the top."""
    alt = altair()
    place = alt.Chart(rows([{field: float(value), "text": text}])).encode(x=f"{field}:Q")
    line = place.mark_rule(strokeDash=[4, 3], color=palette(theme).ink)
    side = {"align": "right", "dx": -4} if left else {"align": "left", "dx": 4}
    look = {**side, "dy": 6 + 14 * row, "baseline": "top"}
    strip = place.mark_text(**look, stroke=palette(theme).paper, strokeWidth=4, strokeOpacity=0.8)
    words = place.mark_text(**look, color=palette(theme).ink)
    return [line, strip.encode(y=alt.value(0), text="text:N"), words.encode(y=alt.value(0), text="text:N")]


def threshold_text(value: float) -> str:
    """The text beside a marked threshold."""
    return f"threshold {number(float(value))}"


def equal_f(levels: Sequence[float], beta: float, theme: str) -> Any:
    """Lines of equal F-beta: precision = F r / ((1 + b²) r - b² F)."""
    alt = altair()
    items, ends = [], []
    beta = _check.real(beta, "beta")
    for level in (_check.probability(one, "isolines") for one in _check.listed(levels)):
        r = np.linspace(0.001, 1.0, 200)
        p = precision_at_f(level, beta, r)
        finite = np.isfinite(p)
        items += [{"x": float(a), "y": float(b), "level": level} for a, b in zip(r[finite], p[finite], strict=True)]
        if finite.any():
            ends.append({"x": 1.0, "y": float(p[finite][-1]), "text": f"F {level:g}"})
    colour = palette(theme).faint
    drawn = (
        alt.Chart(rows(items))
        .mark_line(strokeWidth=0.7, color=colour, opacity=0.7)
        .encode(x="x:Q", y="y:Q", detail="level:N")
    )
    # Labels stand beside the plot, where no line crosses them.
    words = (
        alt.Chart(rows(ends))
        .mark_text(align="left", dx=3, fontSize=10, color=colour)
        .encode(x="x:Q", y="y:Q", text="text:N")
    )
    return drawn + words
