"""Pictures of the documents that are no results of the library: points of two classes, images, curves of a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np

from tallymark.charts.theme import by_model, finished, rows, shape_of
from tallymark.registry import METRICS


def plane(
    points: Mapping[str, Any],
    title: str,
    *,
    line: tuple[float, float, float] | None = None,
    axes: tuple[str, str] = ("x₁", "x₂"),
) -> Any:
    """Points of several classes; a line w₁x₁ + w₂x₂ + b = 0 among them."""
    dots = [{"x": float(x), "y": float(y), "model": name} for name, part in points.items() for x, y in part]
    names = list(points)
    x = alt.X("x:Q", title=axes[0], scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", title=axes[1], scale=alt.Scale(zero=False))
    look = by_model(names, "light")
    marks = alt.Chart(rows(dots)).mark_point(size=22, opacity=0.8)
    layers = [marks.encode(x=x, y=y, color=look["color"], shape=shape_of(names))]
    if line is not None:
        first, second, offset = line
        ends = [min(dot["x"] for dot in dots), max(dot["x"] for dot in dots)]
        cut = [{"x": end, "y": -(offset + first * end) / second} for end in ends]
        layers.append(alt.Chart(rows(cut)).mark_line(clip=True, strokeDash=[5, 3], color="#57606a").encode(x=x, y=y))
    return finished(alt.layer(*layers), title, "light")


def lines(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    title: str,
    axes: tuple[str, str],
    *,
    points: bool = False,
) -> Any:
    """Lines by name."""
    values = [
        {"x": float(x), "y": float(y), "model": name}
        for name, (xs, ys) in series.items()
        for x, y in zip(xs, ys, strict=True)
    ]
    marks = alt.Chart(rows(values)).mark_line(point=points)
    chart = marks.encode(
        x=alt.X("x:Q", title=axes[0]), y=alt.Y("y:Q", title=axes[1]), **by_model(list(series), "light")
    )
    return finished(chart, title, "light")


def images(pixels: Any, names: Sequence[str], title: str) -> Any:
    """Grey images of one size in a row."""
    _, height, width = pixels.shape
    squares = [
        {"x": int(column), "y": int(row), "grey": float(image[row, column]), "name": name}
        for image, name in zip(pixels, names, strict=True)
        for row in range(height)
        for column in range(width)
    ]
    axis = alt.Axis(labels=False, ticks=False, domain=False, title=None, grid=False)
    grey = alt.Color("grey:Q", legend=None, scale=alt.Scale(scheme="greys"))
    marks = alt.Chart(rows(squares)).mark_rect()
    cells = marks.encode(x=alt.X("x:O", axis=axis), y=alt.Y("y:O", axis=axis), color=grey)
    return _titled(cells.properties(width=110, height=110).facet("name:N", title=None), title)


def surfaces(metrics: Sequence[str], P: int, N: int, title: str, settings: Mapping[str, Any] | None = None) -> Any:
    """Values of metrics or losses at one threshold over all numbers of false positives and negatives."""
    values = settings or {}
    steps = [np.linspace(0, most, 41) for most in (N, P)]
    cells = []
    for name in metrics:
        of = values.get(name) or _metric(name)
        for fp in steps[0]:
            for fn in steps[1]:
                value = float(of(*map(np.float64, (P - fn, fp, fn, N - fp))))
                cells.append({"fp": float(fp), "fn": float(fn), "value": value, "name": name})
    colour = alt.Color("value:Q", title="score", scale=alt.Scale(scheme="blues"))
    marks = alt.Chart(rows([cell for cell in cells if np.isfinite(cell["value"])])).mark_rect()
    grid = marks.encode(
        x=alt.X("fp:Q", title="FP", bin=alt.Bin(maxbins=41, extent=[0, N * 1.025]), axis=alt.Axis(tickCount=4)),
        y=alt.Y("fn:Q", title="FN", bin=alt.Bin(maxbins=41, extent=[0, P * 1.025]), axis=alt.Axis(tickCount=4)),
        color=colour,
    )
    facets = grid.properties(width=150, height=150).facet("name:N", columns=4, title=None)
    return _titled(facets.resolve_scale(color="independent"), title)


def _metric(name: str) -> Any:
    metric = METRICS[name]
    return partial(metric.cells, **metric.parameters)


def _titled(facets: Any, title: str) -> Any:
    """Small charts under one title, in the font of the others."""
    chart = facets.properties(title=alt.Title(title, anchor="start"))
    return chart.configure(
        font="system-ui, sans-serif", view={"stroke": None}, title={"fontSize": 14, "fontWeight": 600}
    )
