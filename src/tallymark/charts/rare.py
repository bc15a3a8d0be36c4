"""Charts of counts of a rare class in texts: the variants of a count, and the sweep over class weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark.charts.parts import described, tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import (
    Chart,
    altair,
    by_model,
    finished,
    nothing_to_draw,
    palette,
    require_kind,
    rows,
    shape_of,
)
from tallymark.errors import InputError, shown

if TYPE_CHECKING:
    from tallymark.rare.results import ClassWeightSweep, RareComparison, RareCount


@picture_of("RareCount")
def rare_count(data: RareCount, *, theme: str = "light") -> Chart:
    """The four variants of a count, calibrated ones with interval, beside the true count where labels are given.

    Parameters
    ----------
    data
        A count of a rare class.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> count = tm.rare.bootstrap(texts, [1] * 20 + [0] * 60, texts, machines=5)
    >>> tm.charts.rare_count(count).to_dict()["title"]["text"]
    'How many there are, by bootstrap'
    """
    require_kind(data, "RareCount", "tm.rare.bootstrap")
    alt = altair()
    colour = palette(theme).models[0]
    items = [
        {
            "variant": _variant(row),
            "count": row["estimate"],
            "low": row.get("low"),
            "high": row.get("high"),
        }
        for row in data.table
    ]
    order = [item["variant"] for item in items]
    base = alt.Chart(rows(items)).encode(y=alt.Y("variant:N", sort=order, title=None))
    hints = tips("variant", "count", "low", "high", text=("variant",), format=",.1f")
    points = base.mark_point(filled=True, size=80, color=colour).encode(
        x=alt.X("count:Q", title="texts counted", scale=_scale()), tooltip=hints
    )
    limits = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color=colour)
    layers = [*_truth(data, alt.X, theme, dashed=True), limits.encode(x=alt.X("low:Q", scale=_scale()), x2="high:Q")]
    return finished(alt.layer(*layers, points), f"How many there are, by {data.method}", theme, width=420, height=150)


@picture_of("RareComparison")
def rare_counts(data: RareComparison, *, theme: str = "light") -> Chart:
    """The calibrated count of each method with its interval, beside the true count where labels are given.

    Parameters
    ----------
    data
        The result of :func:`tallymark.rare.compare`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> found = tm.rare.compare(texts, [1] * 20 + [0] * 60, texts, methods=["balanced"])
    >>> tm.charts.rare_counts(found).to_dict()["title"]["text"]
    'How many there are, by method'
    """
    require_kind(data, "RareComparison", "tm.rare.compare")
    alt = altair()
    items = [
        {"model": row["method"], **{side: row.get(side) for side in ("estimate", "low", "high")}}
        for row in data.rows()
        if np.isfinite(row["estimate"])
    ]
    title = "How many there are, by method"
    if not items:
        return nothing_to_draw(title, "No method finds that words tell the classes of labelled texts apart.", theme)
    names = list(data.counts)
    colour = by_model(names, theme, legend=False)["color"]
    hints = tips("model", "estimate", "low", "high", format=",.1f")
    base = alt.Chart(rows(items)).encode(y=alt.Y("model:N", sort=names, title=None))
    x = alt.X("estimate:Q", title="texts counted", scale=_scale())
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=x, color=colour, shape=shape_of(names), tooltip=hints
    )
    limits = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    drawn = limits.encode(x=alt.X("low:Q", scale=_scale(), title="texts counted"), x2="high:Q", color=colour)
    first = next(iter(data.counts.values()))
    says = described([row | {"value": row["estimate"]} for row in items], "model")
    layers = [*_truth(first, alt.X, theme, dashed=True), drawn, dots]
    return finished(alt.layer(*layers), title, theme, says=says, width=420, height=34 * len(names))


@picture_of("ClassWeightSweep")
def class_weight_sweep(data: ClassWeightSweep, *, measure: str | None = None, theme: str = "light") -> Chart:
    """Counts by every class weight, before and after calibration, or a measure of all four variants.

    The chosen weight is marked.

    Parameters
    ----------
    data
        The result of :func:`tallymark.rare.class_weight_sweep`.
    measure
        A column of the variants, such as ``bias`` or ``spcc``, to draw for all four; by default the counts by
        probabilities are drawn.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> texts = ["buy cheap pills now"] * 20 + ["see you at the meeting"] * 60
    >>> sweep = tm.rare.class_weight_sweep(texts, [1] * 20 + [0] * 60, texts, weights=[1, 10], machines=2)
    >>> tm.charts.class_weight_sweep(sweep).to_dict()["title"]["text"]
    'Texts counted, by the weight of positives in training'
    """
    require_kind(data, "ClassWeightSweep", "tm.rare.class_weight_sweep")
    alt = altair()
    if measure is None:
        kinds = ["uncalibrated", "calibrated"]
        items = [{"weight": row["weight"], "model": kind, "value": row[kind]} for row in data.sweep for kind in kinds]
        title, y = "Texts counted", alt.Y("value:Q", title="texts counted", scale=_scale())
        across, form = _truth(data, alt.Y, theme), ",.1f"
    else:
        measured = [name for name, value in data.variants[0].items() if isinstance(value, float) and name != "weight"]
        if measure not in measured:
            raise InputError(
                f"measure is {measure!r}; the variants of this sweep have {shown(measured)}. Bias and metrics need "
                "target_labels=."
            )
        items = [
            {"weight": row["weight"], "model": _variant(row), "value": float(row[measure])}
            for row in data.variants
            if row[measure] is not None and np.isfinite(row[measure])
        ]
        kinds = list(dict.fromkeys(map(_variant, data.variants)))
        title, y = measure, alt.Y("value:Q", title=measure)
        across, form = [], ".4~g"
    x = alt.X("weight:Q", title="weight of positives", scale=alt.Scale(type="log", nice=False, padding=8))
    base = alt.Chart(rows(items)).mark_line(point=True)
    lines = base.encode(
        x=x,
        y=y,
        tooltip=[alt.Tooltip("model:N", title="scores"), *tips("weight"), alt.Tooltip("value:Q", format=form)],
        **by_model(kinds, theme),
    )
    mark = alt.Chart(rows([{"weight": data.weight}])).mark_rule(strokeDash=[4, 3], color=palette(theme).faint)
    chosen = mark.encode(x=x, tooltip=[alt.Tooltip("weight:Q", title="chosen weight", format=".4~g")])
    title = f"{title}, by the weight of positives in training"
    return finished(alt.layer(*across, chosen, lines), title, theme, width=420)


def _variant(row: Mapping[str, Any]) -> str:
    """A variant of a count in words."""
    return f"{row['by']}, {'calibrated' if row['calibrated'] == 'yes' else 'as they come'}"


def _scale() -> Any:
    """A scale of counts that shows small ones: uncalibrated counts are often ten times too large."""
    return altair().Scale(type="symlog", constant=10, domainMin=0)


def _truth(data: RareCount, side: Any, theme: str, *, dashed: bool = False) -> list[Any]:
    """The true count as a line across the chart, where labels are given."""
    if data.positive is None:
        return []
    alt = altair()
    dash = {"strokeDash": [4, 3]} if dashed else {}
    line = alt.Chart(rows([{"truth": data.table[0]["P"]}])).mark_rule(color=palette(theme).faint, **dash)
    place = side("truth:Q", scale=_scale())
    tooltip = [alt.Tooltip("truth:Q", title="true count")]
    return [line.encode(**{"x" if side is alt.X else "y": place}, tooltip=tooltip)]
