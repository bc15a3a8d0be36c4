"""Charts of studies: critical-difference diagram, losses by method, prevalence and data set, pairs of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tallymark.charts.parts import axis, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows, shape_of
from tallymark.errors import InputError

if TYPE_CHECKING:
    from tallymark.study.outcomes import StudyResults, StudyTest
    from tallymark.study.rank_tests import TestResult

#: Height of a method's line in a diagram, and the width of charts, in pixels.
_LINE, _WIDTH = 18, 460


@picture_of("TestResult", "StudyTest")
def critical_difference(data: TestResult | StudyTest, *, theme: str = "light") -> Chart:
    """Critical-difference diagram: mean ranks of methods, best on top; bars join methods that do not differ.

    Demšar (2006), J. Mach. Learn. Res. 7; with a line per method.

    Parameters
    ----------
    data
        A test with a critical difference, or the tests of a study.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> tm.charts.critical_difference(tm.study.nemenyi(table)).to_dict()["title"]["text"]
    'Mean ranks, critical difference 1.353 (Nemenyi, 6 data sets)'
    """
    require_kind(data, ("TestResult", "StudyTest"), "tm.study.nemenyi")
    test = cast("TestResult", getattr(data, "nemenyi", data))
    if test.critical_difference is None:
        raise InputError(f"{test.test} has no critical difference; draw tm.study.nemenyi or bonferroni_dunn.")
    alt = altair()
    colours = palette(theme)
    order = sorted(test.mean_ranks, key=lambda name: test.mean_ranks[name])
    items = [{"method": name, "rank": test.mean_ranks[name]} for name in order]
    scale = alt.Scale(domain=[1, len(order)], nice=False)
    y = alt.Y("method:N", sort=order, title=None, axis=alt.Axis(grid=True, domain=False, ticks=False))
    x = alt.X("rank:Q", title="mean rank (1 is best)", scale=scale)
    points = alt.Chart(rows(items)).mark_point(filled=True, size=70, color=colours.models[0])
    dots = points.encode(x=x, y=y, tooltip=tips("method", "rank", text=("method",), format=".3f"))
    # A bar stands on the line of its best member and reaches from the best rank to the worst.
    bars = [
        {
            "method": group[0],
            "low": test.mean_ranks[group[0]],
            "high": test.mean_ranks[group[-1]],
            "members": ", ".join(group),
        }
        for group in test.groups
    ]
    rules = alt.Chart(rows(bars)).mark_rule(strokeWidth=5, opacity=0.45, color=colours.ink)
    joined = rules.encode(
        x=alt.X("low:Q", scale=scale), x2="high:Q", y=y, tooltip=[alt.Tooltip("members:N", title="not told apart")]
    )
    layers = [joined, dots] if bars else [dots]
    title = f"Mean ranks, critical difference {test.critical_difference:.3f} ({test.test}, {test.n} data sets)"
    return finished(alt.layer(*layers), title, theme, width=_WIDTH, height=max(_LINE * len(order), 60))


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
