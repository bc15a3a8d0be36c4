"""Charts of studies: critical-difference diagram, losses by method, prevalence and data set, pairs of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.charts.parts import axis, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows, shape_of
from tallymark.errors import InputError

if TYPE_CHECKING:
    from tallymark.study.outcomes import StudyResults

#: Height of a method's line in a diagram, and the width of charts, in pixels.
_LINE, _WIDTH = 18, 460


@picture_of("StudyResults")
def study_errors(data: StudyResults, *, loss: str = "ae", theme: str = "light") -> Chart:
    """Box plots of a loss over data sets and prevalences, one per method.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    loss
        Name of the quantification loss.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.study_errors.__name__
    'study_errors'
    """
    errors = _errors(data, loss)
    alt = altair()
    items = [
        {"method": name, "value": float(value)}
        for place, name in enumerate(data.methods)
        for value in errors[:, :, place].ravel()
        if np.isfinite(value)
    ]
    boxes = alt.Chart(rows(items)).mark_boxplot(color=palette(theme).models[0], size=12)
    chart = boxes.encode(x=alt.X("value:Q", title=loss), y=alt.Y("method:N", sort=list(data.methods), title=None))
    title, height = f"{loss} over data sets and prevalences", max(24 * len(data.methods), 60)
    return finished(alt.layer(chart), title, theme, width=_WIDTH, height=height)


def errors_by_prevalence(data: StudyResults, *, loss: str = "ae", theme: str = "light") -> Chart:
    """Mean loss at each prevalence, with a band of one standard error over data sets.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    loss
        Name of the quantification loss.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.errors_by_prevalence.__name__
    'errors_by_prevalence'
    """
    errors = _errors(data, loss)
    alt = altair()
    items = []
    for place, name in enumerate(data.methods):
        for at, values in zip(data.prevalences, errors[:, :, place].T, strict=True):
            finite = values[np.isfinite(values)]
            if len(finite):
                error = float(finite.std(ddof=1) / np.sqrt(len(finite))) if len(finite) > 1 else 0.0
                mean = float(finite.mean())
                items.append(
                    {"model": name, "prevalence": at, "value": mean, "low": mean - error, "high": mean + error}
                )
    look = by_model(list(data.methods), theme, shapes=True)
    base = alt.Chart(rows(items)).encode(x=axis("x", "prevalence", "prevalence"))
    band = base.mark_area(opacity=0.12).encode(y="low:Q", y2="high:Q", color=look["color"])
    shown = [alt.Tooltip("model:N", title="method"), alt.Tooltip("prevalence:Q"), *tips("value", format=".4f")]
    y = alt.Y("value:Q", title=f"mean {loss}")
    dots = base.mark_point(filled=True).encode(y=y, tooltip=shown, color=look["color"], shape=shape_of(data.methods))
    lines = base.mark_line().encode(y=y, **look)
    return finished(alt.layer(band, lines, dots), f"{loss} by prevalence, with one standard error", theme, width=_WIDTH)


def diagonal(data: StudyResults, *, theme: str = "light") -> Chart:
    """Mean estimates against true prevalences, over data sets and folds; unbiased estimates lie on the diagonal.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.diagonal.__name__
    'diagonal'
    """
    require_kind(data, "StudyResults", "tm.study.Study.results")
    alt = altair()
    sums: dict[tuple[str, float], list[float]] = {}
    for cell in data.cells:
        if cell.estimates is None or cell.nominal.ndim > 1:
            continue
        for at, value in zip(cell.nominal, cell.estimates[:, -1], strict=True):
            if np.isfinite(value):
                sums.setdefault((cell.method, round(float(at), 6)), []).append(float(value))
    items = [
        {"model": name, "prevalence": at, "estimate": float(np.mean(values))} for (name, at), values in sums.items()
    ]
    look = by_model(list(data.methods), theme, shapes=True)
    shown = [alt.Tooltip("model:N", title="method"), alt.Tooltip("prevalence:Q"), *tips("estimate", format=".3f")]
    base = alt.Chart(rows(items)).encode(
        x=axis("x", "prevalence", "true prevalence"), y=axis("y", "estimate", "mean estimate")
    )
    dots = base.mark_point(filled=True).encode(tooltip=shown, color=look["color"], shape=shape_of(data.methods))
    layers = [_diagonal(1.0, theme), base.mark_line().encode(**look), dots]
    return finished(alt.layer(*layers), "Estimates on the diagonal are right", theme)


def _diagonal(end: float, theme: str) -> Any:
    alt = altair()
    line = alt.Chart(rows([{"a": 0.0, "b": 0.0}, {"a": end, "b": end}]))
    return line.mark_line(strokeDash=[3, 3], color=palette(theme).faint).encode(x="a:Q", y="b:Q")


def errors_by_dataset(data: StudyResults, *, loss: str = "ae", theme: str = "light") -> Chart:
    """Heat map of the mean loss, method by data set.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    loss
        Name of the quantification loss.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.errors_by_dataset.__name__
    'errors_by_dataset'
    """
    require_kind(data, "StudyResults", "tm.study.Study.results")
    alt = altair()
    table = data.table(loss)
    items = [
        {"dataset": name, "method": method, "value": float(value)}
        for name, line in zip(table.datasets, table.values, strict=True)
        for method, value in zip(table.methods, line, strict=True)
        if np.isfinite(value)
    ]
    base = alt.Chart(rows(items)).encode(
        x=alt.X("method:N", sort=list(table.methods), title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=False)),
        y=alt.Y("dataset:N", sort=list(table.datasets), title=None, axis=alt.Axis(labelOverlap=False)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("value:Q", title=loss, scale=alt.Scale(scheme="blues", reverse=table.better == "higher")),
        tooltip=tips("dataset", "method", "value", text=("dataset", "method"), format=".4f"),
    )
    width, height = max(36 * len(table.methods), 200), max(16 * len(table.datasets), 80)
    return finished(alt.layer(cells), f"Mean {loss} by data set", theme, width=width, height=height)


def pairwise(data: StudyResults, pivot: str, other: str, *, loss: str = "ae", theme: str = "light") -> Chart:
    """Losses of two methods, a point for each data set and prevalence; above the diagonal the pivot is better.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    pivot, other
        Names of the two methods.
    loss
        Name of the quantification loss.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.charts.pairwise.__name__
    'pairwise'
    """
    errors = _errors(data, loss)
    for name in (pivot, other):
        if name not in data.methods:
            raise InputError(f"No method {name!r}; the study has {', '.join(data.methods)}.")
    alt = altair()
    first, second = (errors[:, :, data.methods.index(name)] for name in (pivot, other))
    items: list[dict[str, Any]] = [
        {"pivot": float(first[d, p]), "other": float(second[d, p]), "dataset": name, "prevalence": at}
        for d, name in enumerate(data.datasets)
        for p, at in enumerate(data.prevalences)
        if np.isfinite(first[d, p]) and np.isfinite(second[d, p])
    ]
    line = next(one for one in data.pairwise(pivot, loss).lines if one["method"] == other)
    most = max((max(row["pivot"], row["other"]) for row in items), default=1.0)
    points = alt.Chart(rows(items)).mark_point(size=18, color=palette(theme).models[0])
    dots = points.encode(
        x=alt.X("pivot:Q", title=f"{loss} of {pivot}"),
        y=alt.Y("other:Q", title=f"{loss} of {other}"),
        tooltip=tips("dataset", "prevalence", "pivot", "other", text=("dataset",), format=".4f"),
    )
    result = f"{line['wins']} wins, {line['losses']} losses, {line['ties']} ties ({line['difference']:+.2f} points)"
    return finished(alt.layer(_diagonal(most, theme), dots), f"{pivot} beside {other}: {result}", theme)


def _errors(data: StudyResults, loss: str) -> Any:
    require_kind(data, "StudyResults", "tm.study.Study.results")
    return data.errors(loss)
