"""Charts of raters: pass rates of a judge as judged and as corrected, by system, verdict and segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.raters.judgements import Judgement

#: What the two kinds of points are called.
_JUDGED, _CORRECTED = "as judged", "corrected by people"


@picture_of("Judgement")
def judgement(data: Judgement, *, theme: str = "light") -> Chart:
    """Pass rates (or mean grades) as judged, and as corrected with their intervals, by system, verdict and segment.

    Parameters
    ----------
    data
        The result of :func:`tallymark.raters.judge`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> items = {"judge": [1, 1, 0, 1] * 50, "human": [1, 0, 0, 1] * 20 + [None] * 120}
    >>> result = tm.raters.judge(items, judge="judge", human="human")
    >>> tm.charts.judgement(result).to_dict()["title"]["text"]
    'Pass rate as judged and as corrected, with 95 % intervals'
    """
    require_kind(data, "Judgement", "tm.raters.judge")
    alt = altair()
    colours = palette(theme).models
    items: list[dict[str, Any]] = []
    for named, part in data.parts():
        of = ", ".join(filter(None, named.values())) or "all items"
        for kind, one in ((_JUDGED, part.judged), (_CORRECTED, part.corrected)):
            if one is not None and not one.reason:
                items.append({"of": of, "kind": kind, "value": one.value, "low": one.low, "high": one.high})
    kinds = alt.Color("kind:N", title=None, scale=alt.Scale(domain=[_JUDGED, _CORRECTED], range=list(colours[:2])))
    base = alt.Chart(rows(items)).encode(y=alt.Y("of:N", sort=None, title=None), color=kinds)
    shown = [alt.Tooltip("of:N", title=" "), alt.Tooltip("kind:N", title=" "), *tips("value", "low", "high")]
    what = "mean grade" if data.scale == "grades" else "pass rate" if data.scale == "pass" else "share"
    scale = alt.Scale(zero=False, nice=True)
    spans = (
        base.transform_filter("datum.low !== null")
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", scale=scale), x2="high:Q", tooltip=shown)
    )
    shape = alt.Shape("kind:N", title=None, scale=alt.Scale(domain=[_JUDGED, _CORRECTED], range=["diamond", "circle"]))
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=alt.X("value:Q", title=what, scale=scale), shape=shape, tooltip=shown
    )
    title = f"{what.capitalize()} as judged and as corrected, with {100 * data.level:g} % intervals"
    lines = len({item["of"] for item in items})
    return finished(alt.layer(spans, dots), title, theme, height=max(60, 28 * lines))
