"""Charts of ROC space and precision–recall space: classifiers as points, with isolines of a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallymark.charts.parts import axis, line_of_chance, tips
from tallymark.charts.theme import Chart, altair, finished, palette, rows
from tallymark.curves.isolines import dominated, metric_at_rates, recall_at_level
from tallymark.errors import InputError
from tallymark.summaries.confusion import BinaryConfusion, Confusion

_LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def roc_space(
    data: Mapping[str, Confusion],
    *,
    metric: str = "accuracy",
    prevalence: float | None = None,
    levels: Sequence[float] = _LEVELS,
    theme: str = "light",
    **parameters: float,
) -> Chart:
    """ROC space: classifiers as points (fpr, tpr), with isolines of a metric.

    Hollow points are dominated: another classifier has at least the same recall at no higher false positive rate.

    Parameters
    ----------
    data
        Confusion matrices of two classes by name.
    metric
        The metric of the isolines.
    prevalence
        Prevalence of the isolines; that of the first matrix by default.
    levels
        Values of the isolines.
    theme
        ``"light"`` or ``"dark"``.
    **parameters
        Parameters of the metric.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> a = tm.confusion([1, 1, 0, 0], [1, 0, 0, 0])
    >>> b = tm.confusion([1, 1, 0, 0], [1, 0, 1, 0])
    >>> [row["dominated"] for row in tm.charts.roc_space({"a": a, "b": b}).to_dict()["layer"][-1]["data"]["values"]]
    [False, True]
    """
    rates = _of(data)
    share = _share(data, prevalence)
    cells = [
        {
            "name": name,
            "x": fpr,
            "y": tpr,
            "dominated": dominated(name, rates),
            metric: _value(metric, tpr, fpr, share, parameters),
        }
        for name, (tpr, fpr) in rates.items()
    ]
    lines = []
    for level in levels:
        for fpr in np.linspace(0.0, 1.0, 80):
            tpr = recall_at_level(metric, float(fpr), level, share, parameters)
            if tpr is not None:
                lines.append({"x": float(fpr), "y": tpr, "level": level})
    chart = altair().layer(
        _isolines(lines, metric, theme),
        line_of_chance([(0, 0), (1, 1)], theme),
        _naive(theme),
        _points(cells, "false positive rate", "true positive rate", metric, theme),
    )
    return finished(chart, f"ROC space, lines of equal {metric} at prevalence {share:.3g}", theme)


def pr_space(
    data: Mapping[str, Confusion],
    *,
    metric: str = "f1",
    prevalence: float | None = None,
    levels: Sequence[float] = _LEVELS,
    theme: str = "light",
    **parameters: float,
) -> Chart:
    """Precision–recall space: classifiers as points (recall, precision), with isolines of a metric.

    Hollow points are dominated in ROC space.

    Parameters
    ----------
    data
        Confusion matrices of two classes by name.
    metric
        The metric of the isolines.
    prevalence
        Prevalence of the isolines; that of the first matrix by default.
    levels
        Values of the isolines.
    theme
        ``"light"`` or ``"dark"``.
    **parameters
        Parameters of the metric.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> a = tm.confusion([1, 1, 0, 0], [1, 0, 0, 0])
    >>> tm.charts.pr_space({"a": a}).to_dict()["title"]["text"]
    'PR space, lines of equal f1 at prevalence 0.5'
    """
    rates = _of(data)
    share = _share(data, prevalence)
    cells = []
    for name, (tpr, fpr) in rates.items():
        predicted = share * tpr + (1 - share) * fpr
        if predicted > 0:
            value = _value(metric, tpr, fpr, share, parameters)
            precision = share * tpr / predicted
            cells.append({"name": name, "x": tpr, "y": precision, "dominated": dominated(name, rates), metric: value})
    lines = []
    for level in levels:
        for fpr in np.concatenate((np.geomspace(1e-5, 1e-2, 60), np.linspace(0.01, 1.0, 120))):
            recall = recall_at_level(metric, float(fpr), level, share, parameters)
            if recall:
                precision = share * recall / (share * recall + (1 - share) * float(fpr))
                lines.append({"x": recall, "y": precision, "level": level})
    chart = altair().layer(
        _isolines(lines, metric, theme),
        line_of_chance([(0, share), (1, share)], theme),
        _points(cells, "recall", "precision", metric, theme),
    )
    return finished(chart, f"PR space, lines of equal {metric} at prevalence {share:.3g}", theme)


def _of(points: Mapping[str, Confusion]) -> dict[str, tuple[float, float]]:
    if not isinstance(points, Mapping) or not points:
        raise InputError("There is no classifier to draw; pass confusions by name.")
    entries = {}
    for name, c in points.items():
        if not isinstance(c, BinaryConfusion) or not all(c.truth):
            raise InputError(
                f"{name!r} must be a confusion of two classes with a known positive one, like tally.at(0.5)."
            )
        entries[str(name)] = (float(c.tp / (c.tp + c.fn)), float(c.fp / (c.fp + c.tn)))
    return entries


def _share(points: Mapping[str, Confusion], prevalence: float | None) -> float:
    return float(next(iter(points.values())).prevalence) if prevalence is None else prevalence


def _value(metric: str, tpr: float, fpr: float, share: float, parameters: Mapping[str, float]) -> float:
    return float(metric_at_rates(metric, tpr, fpr, share, parameters))


def _naive(theme: str) -> Any:
    """The trivial classifiers: none predicted positive, all predicted positive."""
    alt = altair()
    ends = [
        {"x": 0.0, "y": 0.0, "who": "call none", "side": "left"},
        {"x": 1.0, "y": 1.0, "who": "call all", "side": "right"},
    ]
    base = alt.Chart(rows(ends))
    colour = palette(theme).faint
    marks = base.mark_point(shape="cross", size=70, filled=True, color=colour).encode(
        x="x:Q", y="y:Q", tooltip=[alt.Tooltip("who:N", title=" ")]
    )
    left, right = (
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=side, dx=shift, dy=-9, fontSize=10, color=colour)
        .encode(x="x:Q", y="y:Q", text="who:N")
        for side, shift in (("left", 8), ("right", -8))
    )
    return marks + left + right


def _isolines(lines: list[dict[str, Any]], metric: str, theme: str) -> Any:
    alt = altair()
    base = alt.Chart(rows(lines))
    ends = {line["level"]: line for line in lines}
    colour = palette(theme).faint
    drawn = base.mark_line(strokeWidth=0.8, opacity=0.8, color=colour).encode(
        x="x:Q", y="y:Q", detail="level:N", tooltip=[alt.Tooltip("level:Q", title=metric)]
    )
    words = (
        alt.Chart(rows(ends.values()))
        .mark_text(fontSize=9, dy=-5, color=colour)
        .encode(x="x:Q", y="y:Q", text="level:Q")
    )
    return drawn + words


def _points(cells: list[dict[str, Any]], x_title: str, y_title: str, metric: str, theme: str) -> Any:
    alt = altair()
    colours = palette(theme)
    base = alt.Chart(rows(cells)).encode(x=axis("x", "x", x_title), y=axis("y", "y", y_title))
    dots = base.mark_point(size=90, strokeWidth=2, color=colours.models[0]).encode(
        fill=alt.condition("datum.dominated", alt.value(colours.paper), alt.value(colours.models[0])),
        tooltip=[
            alt.Tooltip("name:N"),
            *tips("x", "y"),
            alt.Tooltip(f"{metric}:Q", format=".4~g"),
            alt.Tooltip("dominated:N"),
        ],
    )
    chart = dots + base.mark_text(align="left", dx=10, color=colours.ink, limit=120).encode(text="name:N")
    return chart.properties(data=rows(cells))
