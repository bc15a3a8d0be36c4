"""Charts of studies: losses by method, by prevalence and by data set, estimates, pairs of methods."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark import _check
from tallymark._numbers import per_cent
from tallymark.charts.parts import axis, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import (
    HEIGHT,
    Chart,
    altair,
    by_model,
    finished,
    finished_panels,
    palette,
    require_kind,
    rows,
    shape_of,
)
from tallymark.errors import InputError, shown

if TYPE_CHECKING:
    from tallymark.study.outcomes import StudyResults

#: Width of charts in pixels, and panels beside each other.
_WIDTH, _COLUMNS = 460, 4


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
    y = alt.Y("method:N", sort=list(data.methods), title=None, axis=alt.Axis(labelOverlap=False))
    chart = boxes.encode(x=alt.X("value:Q", title=loss), y=y)
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
    hints = [alt.Tooltip("model:N", title="method"), alt.Tooltip("prevalence:Q"), *tips("value", format=".4f")]
    y = alt.Y("value:Q", title=f"mean {loss}")
    dots = base.mark_point(filled=True).encode(y=y, tooltip=hints, color=look["color"], shape=shape_of(data.methods))
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
    hints = [alt.Tooltip("model:N", title="method"), alt.Tooltip("prevalence:Q"), *tips("estimate", format=".3f")]
    base = alt.Chart(rows(items)).encode(
        x=axis("x", "prevalence", "true prevalence"), y=axis("y", "estimate", "mean estimate")
    )
    dots = base.mark_point(filled=True).encode(tooltip=hints, color=look["color"], shape=shape_of(data.methods))
    layers = [_diagonal(1.0, theme), base.mark_line().encode(**look), dots]
    return finished(alt.layer(*layers), "Estimates on the diagonal are right", theme)


def _diagonal(end: float, theme: str) -> Any:
    alt = altair()
    line = alt.Chart(rows([{"a": 0.0, "b": 0.0}, {"a": end, "b": end}]))
    return line.mark_line(strokeDash=[3, 3], color=palette(theme).faint).encode(x="a:Q", y="b:Q")


def errors_by_dataset(
    data: StudyResults,
    *,
    loss: str = "ae",
    methods: Sequence[str] | None = None,
    prevalences: Mapping[str, float] | None = None,
    theme: str = "light",
) -> Chart:
    """Bars of the loss of every method at every prevalence, a panel for each data set.

    Nothing is averaged but folds: losses at different prevalences are not of one size, and outliers would decide.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    loss
        Name of the quantification loss.
    methods
        Names of the methods to draw; all by default.
    prevalences
        Prevalence of each data set, by name: written into the titles of the panels, which are sorted by it.
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
    errors = _errors(data, loss)
    kept = list(data.methods) if methods is None else [_known(data, name) for name in methods]
    titles = {name: name for name in data.datasets}
    if prevalences is not None:
        missing = [name for name in data.datasets if name not in prevalences]
        if missing:
            raise InputError(f"prevalences has no entry for {shown(missing)}; it needs one for each data set.")
        titles = {
            name: f"{name} ({per_cent(prevalences[name])})"
            for name in sorted(data.datasets, key=prevalences.__getitem__)
        }
    alt = altair()
    items = [
        {"dataset": title, "model": method, "prevalence": at, "value": float(value)}
        for name, title in titles.items()
        for method in kept
        for at, value in zip(
            data.prevalences, errors[data.datasets.index(name), :, data.methods.index(method)], strict=True
        )
        if np.isfinite(value)
    ]
    several = {"xOffset": alt.XOffset("model:N", sort=kept)} if len(kept) > 1 else {}
    few = "indexof([0, 0.5, 1], datum.value) >= 0 ? datum.label : ''" if len(data.prevalences) > 5 else "datum.label"
    bars = alt.Chart(rows(items)).mark_bar()
    chart = bars.encode(
        x=alt.X("prevalence:O", title="prevalence", axis=alt.Axis(labelAngle=0, labelExpr=few, ticks=False)),
        y=alt.Y("value:Q", title=loss),
        color=by_model(kept, theme, shapes=True)["color"],
        tooltip=tips("dataset", "model", "prevalence", "value", text=("dataset", "model"), format=".4f"),
        facet=alt.Facet("dataset:N", title=None, columns=_COLUMNS, sort=list(titles.values())),
        **several,
    )
    width, title = max(130, 2 * len(kept) * len(data.prevalences)), f"{loss} by data set and prevalence"
    return finished(chart, title, theme, width=width, height=90)


def pairwise(
    data: StudyResults,
    pivot: str,
    other: str | Sequence[str] | None = None,
    *,
    loss: str = "ae",
    by_prevalence: bool = False,
    theme: str = "light",
) -> Chart:
    """Losses of a method beside those of others, a point for each data set and prevalence.

    Above the diagonal the pivot is better. Beside the points of each other method stand wins, losses and ties of the
    pivot, their difference (DWL) and the mean difference of the losses in points (MDAE); panels where the pivot loses
    more often than it wins have another colour. Barranquero (2014), figures 5.3 and 5.4.

    Parameters
    ----------
    data
        The result of :func:`tallymark.study.Study.results`.
    pivot
        Name of the method on the horizontal axis.
    other
        Names of the others; all by default.
    loss
        Name of the quantification loss.
    by_prevalence
        Draw a row of panels for each prevalence.
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
    _known(data, pivot)
    named = [name for name in data.methods if name != pivot] if other is None else list(_check.listed(other))
    others = [_known(data, name) for name in named]
    alt = altair()
    lines = data.pairwise(pivot, loss, by_prevalence=by_prevalence).lines
    facts = {(line["method"], line.get("prevalence")): line for line in lines}
    first = errors[:, :, data.methods.index(pivot)]
    most = max((float(v) for v in errors.ravel() if np.isfinite(v)), default=1.0) or 1.0
    items: list[dict[str, Any]] = []
    panels: list[float | None] = [float(f"{at:g}") for at in data.prevalences] if by_prevalence else [None]
    for method, panel in itertools.product(others, panels):
        line, second = facts[method, panel], errors[:, :, data.methods.index(method)]
        where = {"method": method} | ({} if panel is None else {"panel": panel})
        result = "better" if line["dwl"] > 0 else "worse" if line["dwl"] < 0 else "as often"
        places = range(len(data.prevalences)) if panel is None else [panels.index(panel)]
        items += [
            where | {"pivot": float(first[d, p]), "other": float(second[d, p]), "dataset": name, "result": result,
                     "prevalence": data.prevalences[p], "kind": "point"}
            for d, name in enumerate(data.datasets) for p in places if np.isfinite([first[d, p], second[d, p]]).all()
        ]  # fmt: skip
        items += [where | {"pivot": end, "other": end, "kind": "line"} for end in (0.0, most)]
        sums = f"{line['dwl']} ({line['difference']:.2f})".replace("-", "−")
        cells = [f"{line['wins']}–{line['losses']}–{line['ties']}", sums]
        items.append(where | {"words": cells, "pivot": most, "other": 0.0, "result": result, "kind": "words"})
    size = 90 if by_prevalence else 150 if len(others) > 1 else HEIGHT
    panel_of_pairs = _pairs(pivot, loss, theme, others).properties(width=size, height=size)
    columns = {"field": "method", "type": "nominal", "sort": others, "title": None}
    if by_prevalence:
        at = alt.Row("panel:O", title="prevalence", header=alt.Header(labelAngle=0, labelAlign="left"))
        chart = panel_of_pairs.facet(data=rows(items), row=at, column=alt.Column(**columns), spacing=10)
    else:
        chart = panel_of_pairs.facet(data=rows(items), facet=alt.Facet(**columns), columns=_COLUMNS)
    title = f"{loss} of {pivot} beside {'the others' if other is None else ', '.join(others)}"
    under = f"wins–losses–ties of {pivot}; DWL (MDAE in points)"
    totals = data.pairwise(pivot, loss).lines
    says = "; ".join(f"{line['method']}: {_won(line)}" for line in totals if line["method"] in others)
    return finished_panels(chart, title, theme, says=says, under=under)


def _pairs(pivot: str, loss: str, theme: str, others: Sequence[str]) -> Any:
    """The layers of a panel of pairs: the diagonal, the points, and what they add up to."""
    alt, colours = altair(), palette(theme)
    base = alt.Chart().encode(
        x=alt.X("pivot:Q", title=f"{loss} of {pivot}", axis=alt.Axis(tickCount=3)),
        y=alt.Y("other:Q", title=loss if len(others) > 1 else f"{loss} of {others[0]}", axis=alt.Axis(tickCount=3)),
    )
    kinds = {kind: base.transform_filter(f"datum.kind == '{kind}'") for kind in ("line", "point", "words")}
    scale = alt.Scale(
        domain=["better", "as often", "worse"], range=[colours.models[0], colours.faint, colours.models[4]]
    )
    colour = alt.Color("result:N", scale=scale, legend=None)
    shown_fields = tips("dataset", "method", "prevalence", "pivot", "other", text=("dataset", "method"), format=".4f")
    words = kinds["words"].mark_text(
        align="right", baseline="bottom", lineBreak="\n", fontSize=10, lineHeight=12, dy=-13
    )
    return alt.layer(
        kinds["line"].mark_line(strokeDash=[3, 3], color=colours.faint),
        kinds["point"].mark_point(size=14).encode(color=colour, tooltip=shown_fields),
        words.encode(text="words:N", color=colour),
    )


def _won(line: Mapping[str, Any]) -> str:
    return f"{line['wins']} wins, {line['losses']} losses, {line['ties']} ties ({line['difference']:+.2f} points)"


def _known(data: StudyResults, name: str) -> str:
    if name not in data.methods:
        raise InputError(f"No method {name!r}; the study has {', '.join(data.methods)}.")
    return name


def _errors(data: StudyResults, loss: str) -> Any:
    require_kind(data, "StudyResults", "tm.study.Study.results")
    return data.errors(loss)
