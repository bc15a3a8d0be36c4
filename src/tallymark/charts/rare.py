"""Charts of counts of a rare class in texts: the variants of a count, and the sweep over class weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.rare.results import ClassWeightSweep, RareCount


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
            "variant": f"{row['by']}, {'calibrated' if row['calibrated'] == 'yes' else 'as they come'}",
            "count": row["estimate"],
            "low": row.get("low"),
            "high": row.get("high"),
        }
        for row in data.table
    ]
    order = [item["variant"] for item in items]
    base = alt.Chart(rows(items)).encode(y=alt.Y("variant:N", sort=order, title=None))
    shown = tips("variant", "count", "low", "high", text=("variant",), format=",.1f")
    points = base.mark_point(filled=True, size=80, color=colour).encode(
        x=alt.X("count:Q", title="texts counted", scale=_scale()), tooltip=shown
    )
    limits = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color=colour)
    layers = [*_truth(data, alt.X, theme, dashed=True), limits.encode(x=alt.X("low:Q", scale=_scale()), x2="high:Q")]
    return finished(alt.layer(*layers, points), f"How many there are, by {data.method}", theme, width=420, height=150)


@picture_of("ClassWeightSweep")
def class_weight_sweep(data: ClassWeightSweep, *, theme: str = "light") -> Chart:
    """Counts by every class weight, before and after calibration; the chosen weight is marked.

    Parameters
    ----------
    data
        The result of :func:`tallymark.rare.class_weight_sweep`.
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
    >>> sweep = tm.rare.class_weight_sweep(texts, [1] * 20 + [0] * 60, texts, weights=[1, 10], replicates=2)
    >>> tm.charts.class_weight_sweep(sweep).to_dict()["title"]["text"]
    'Texts counted, by the weight of positives in training'
    """
    require_kind(data, "ClassWeightSweep", "tm.rare.class_weight_sweep")
    alt = altair()
    kinds = ["uncalibrated", "calibrated"]
    items = [{"weight": row["weight"], "model": kind, "count": row[kind]} for row in data.sweep for kind in kinds]
    x = alt.X("weight:Q", title="weight of positives", scale=alt.Scale(type="log"))
    base = alt.Chart(rows(items)).mark_line(point=True)
    lines = base.encode(
        x=x,
        y=alt.Y("count:Q", title="texts counted", scale=_scale()),
        tooltip=[alt.Tooltip("model:N", title="scores"), *tips("weight"), alt.Tooltip("count:Q", format=",.1f")],
        **by_model(kinds, theme),
    )
    mark = alt.Chart(rows([{"weight": data.weight}])).mark_rule(strokeDash=[4, 3], color=palette(theme).faint)
    chosen = mark.encode(x=x, tooltip=[alt.Tooltip("weight:Q", title="chosen weight", format=".4~g")])
    title = "Texts counted, by the weight of positives in training"
    return finished(alt.layer(*_truth(data, alt.Y, theme), chosen, lines), title, theme, width=420)


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
