"""Pictures of the documents that are no results of the library: lines by name, and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tallymark.charts.theme import by_model, finished, rows


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


def _titled(facets: Any, title: str) -> Any:
    """Small charts under one title, in the font of the others."""
    chart = facets.properties(title=alt.Title(title, anchor="start"))
    return chart.configure(
        font="system-ui, sans-serif", view={"stroke": None}, title={"fontSize": 14, "fontWeight": 600}
    )
