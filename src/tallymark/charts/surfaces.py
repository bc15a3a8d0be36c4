"""Metrics and quantification losses over every number of false positives and false negatives."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._numbers import number
from tallymark.charts.theme import Chart, altair, finished_panels, palette, rows
from tallymark.errors import InputError, shown
from tallymark.metrics.declare import cell_settings
from tallymark.registry import LOSSES, METRICS, CellMetric

#: Cells along each side of a panel, its size in pixels, and panels beside each other.
_STEPS, _SIZE, _COLUMNS = 28, 150, 3

#: How far a cell reaches over its edge, in halves of a cell: without an overlap there would be hairlines.
_OVER = 1.4


def metric_surfaces(
    data: Sequence[str] | Mapping[str, tuple[str, Mapping[str, float]]],
    *,
    positives: int,
    negatives: int,
    theme: str = "light",
) -> Chart:
    """Metrics over every number of false positives and false negatives, a panel each; darker is better.

    They show which errors a metric tells apart: one of counting is best wherever both cancel. Barranquero (2014),
    figures 6.2 to 6.7.

    Parameters
    ----------
    data
        Names of metrics of the four cells or of quantification losses; or by title the name and its parameters, as in
        ``{"Q2": ("q_measure", {"beta": 2})}``.
    positives, negatives
        Rows of each class.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.metric_surfaces(["recall", "nas", "kld"], positives=100, negatives=1000)
    >>> chart.to_dict()["title"]["text"]
    'Metrics by errors of both kinds: 100 positives, 1000 negatives'
    """
    up, down = (_check.whole(value, name, 1) for value, name in ((positives, "positives"), (negatives, "negatives")))
    named = data if isinstance(data, Mapping) else {name: (name, {}) for name in _check.listed(data)}
    if not named:
        raise InputError("There is nothing to draw: name one or more metrics or losses.")
    panels = [
        _panel(title, _values(*of, up, down), (up, down), theme, lower=_lower(of[0])) for title, of in named.items()
    ]
    chart = altair().concat(*panels, columns=_COLUMNS, spacing=14).resolve_scale(color="independent")
    title = f"Metrics by errors of both kinds: {number(up)} positives, {number(down)} negatives"
    return finished_panels(chart, title, theme, under="darker is better")


def _lower(name: str) -> bool:
    facts = METRICS[name] if name in METRICS else LOSSES[name]
    return facts.better == "lower"


def _middles(most: int) -> Floats:
    """Whole numbers of errors in the middle of each step from 0 to `most`."""
    edges = np.linspace(0.0, most, _STEPS + 1)
    return np.asarray((edges[:-1] + edges[1:]) / 2.0)


def _cells(most: int) -> list[tuple[float, float, float]]:
    """Middle and ends of each step from 0 to `most`."""
    half = most / _STEPS / 2.0
    return [(at, at - half, min(at + _OVER * half, float(most))) for at in _middles(most).tolist()]


def _values(name: str, parameters: Mapping[str, float], up: int, down: int) -> Floats:
    """A metric or loss at the middle of each step: a row for each number of false negatives."""
    fn, fp = (grid.ravel() for grid in np.meshgrid(_middles(up), _middles(down), indexing="ij"))
    tp, tn = up - fn, down - fp
    if name in METRICS:
        facts = METRICS[name]
        if not isinstance(facts, CellMetric):
            raise InputError(f"{name} is not a metric of the four cells; choose one such as recall, gm, nas or f1.")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(facts.cells(tp, fp, fn, tn, **cell_settings(facts, parameters)), dtype=np.float64)
    if name not in LOSSES:
        raise InputError(f"No metric or loss {name!r}; losses are {shown(list(LOSSES))}.")
    n = up + down
    true, estimated = (np.column_stack([1.0 - share, share]) for share in (np.full(len(fp), up / n), (tp + fp) / n))
    return np.asarray(LOSSES[name].compute(true, estimated, **parameters), dtype=np.float64)


def _panel(title: str, values: Floats, sizes: tuple[int, int], theme: str, *, lower: bool) -> Any:
    """A heat map of the values over false positives and false negatives."""
    alt, colours = altair(), palette(theme)
    fields = ("fn", "fn1", "fn2", "fp", "fp1", "fp2")
    places = itertools.product(*(_cells(size) for size in sizes))
    items = [
        dict(zip(fields, (*fn, *fp), strict=True)) | {"value": float(value)}
        for (fn, fp), value in zip(places, values, strict=True)
        if np.isfinite(value)
    ]
    ends = [colours.paper, colours.models[0]] if theme == "light" else [colours.models[0], colours.paper]
    legend = alt.Legend(title=None, gradientLength=_SIZE, gradientThickness=8, tickCount=3)
    colour = alt.Color(
        "value:Q", scale=alt.Scale(range=ends[::-1] if lower else ends, interpolate="rgb"), legend=legend
    )
    return (
        alt.Chart(rows(items), title=alt.Title(title, anchor="start", fontSize=12, fontWeight="normal"))
        .mark_rect()
        .encode(
            x=alt.X("fp1:Q", title="false positives", scale=alt.Scale(domain=[0, sizes[1]], nice=False)),
            x2="fp2:Q",
            y=alt.Y("fn1:Q", title="false negatives", scale=alt.Scale(domain=[0, sizes[0]], nice=False)),
            y2="fn2:Q",
            color=colour,
            tooltip=[alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("fp", "fn", "value")],
        )
        .properties(width=_SIZE, height=_SIZE)
    )
