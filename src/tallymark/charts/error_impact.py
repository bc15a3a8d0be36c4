"""Charts of the impact of classification errors on a value: distribution by kind of error, shift of the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import DASHES, Chart, altair, finished, palette, require_kind, rows

if TYPE_CHECKING:
    from tallymark.prices.error_impact import Impact

#: The groups that are drawn, in the order of their colours.
_DRAWN = ("labelled", "classified", "false positives", "false negatives")


def impact(data: Impact, *, part: int = -1, theme: str = "light") -> Chart:
    """Distributions of a value among labelled positives, classified positives and both kinds of error.

    Parameters
    ----------
    data
        The result of :func:`tallymark.prices.impact`.
    part
        Index among ``data.parts``, a period and class; the last by default.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 30, "c": [0, 1, 1, 0, 0, 1] * 10, "v": [float(i % 7) for i in range(60)]})
    >>> tm.charts.impact(tm.prices.impact(frame, label="y", predicted="c", value="v")).to_dict()["title"]["text"]
    'v of class 1 and of errors'
    """
    require_kind(data, "Impact", "tm.prices.impact")
    alt = altair()
    colours = palette(theme)
    one = data.parts[part]
    names = [name for name in _DRAWN if one.counts[name].sum() > 0.0]
    items = [
        {"group": name, "from": float(low), "to": float(high), "share": float(count / one.counts[name].sum())}
        for name in names
        for low, high, count in zip(one.edges[:-1], one.edges[1:], one.counts[name], strict=True)
    ]
    spread = float(one.edges[0]) > 0.0 and float(one.edges[-1]) > 10.0 * float(one.edges[0])
    colour_of = dict(zip(_DRAWN, (colours.ink, colours.models[0], colours.positive, colours.models[3]), strict=True))
    hues = alt.Scale(domain=names, range=[colour_of[name] for name in names])
    dashes = alt.Scale(domain=names, range=[DASHES[i] for i in range(len(names))])
    legend = alt.Legend(title=None, orient="bottom", columns=2)
    x = alt.Scale(type="log" if spread else "linear", nice=False, zero=False)
    base = alt.Chart(rows(items)).mark_line(interpolate="step-after", strokeWidth=2)
    lines = base.encode(
        x=alt.X("from:Q", title=data.value, scale=x),
        y=alt.Y("share:Q", title="share of its rows", axis=alt.Axis(format="%")),
        color=alt.Color("group:N", scale=hues, legend=legend),
        strokeDash=alt.StrokeDash("group:N", scale=dashes, legend=legend),
        tooltip=[*tips("group", "from", "to", text=("group",)), alt.Tooltip("share:Q", format=".1%")],
    )
    when = "" if one.period is None else f", {one.period}"
    return finished(alt.layer(lines), f"{data.value} of class {one.label} and of errors{when}", theme, width=460)


@picture_of("Impact")
def impact_by_period(data: Impact, *, label: str | None = None, theme: str = "light") -> Chart:
    """Shift of the mean by false positives and false negatives, with intervals, by period.

    Shifts within the tolerance are shaded.

    Parameters
    ----------
    data
        The result of :func:`tallymark.prices.impact`.
    label
        The class; the first by default.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> frame = pd.DataFrame({"y": [0, 1] * 30, "c": [0, 1, 1, 0, 0, 1] * 10, "v": [float(i % 7) for i in range(60)]})
    >>> result = tm.prices.impact(frame, label="y", predicted="c", value="v")
    >>> tm.charts.impact_by_period(result).to_dict()["title"]["text"]
    'What errors do to the mean v'
    """
    require_kind(data, "Impact", "tm.prices.impact")
    alt = altair()
    colours = palette(theme)
    chosen = data.parts[0].label if label is None else label
    names = {"fp": "false positives", "fn": "false negatives"}
    items = []
    for part in (one for one in data.parts if one.label == chosen):
        period = "all" if part.period is None else str(part.period)
        for key, name in names.items():
            shift, low, high = part.relative(key)
            item = {"period": period, "errors": name, "shift": shift, "low": low, "high": high}
            items.append(item | {"verdict": part.verdict(key)})
    order, kinds = list(dict.fromkeys(item["period"] for item in items)), list(names.values())
    x = alt.X("period:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, labelOverlap=True))
    side = alt.XOffset("errors:N", sort=kinds)
    colour = alt.Color(
        "errors:N",
        scale=alt.Scale(domain=kinds, range=[colours.positive, colours.models[3]]),
        legend=alt.Legend(title=None, orient="bottom"),
    )
    shown = [
        *tips("period", "errors", "shift", "low", "high", text=("period", "errors"), format="+.2%"),
        alt.Tooltip("verdict:N"),
    ]
    base = alt.Chart(rows(items))
    tolerated = alt.Chart(rows([{"low": -data.tolerance, "high": data.tolerance}]))
    minimal = tolerated.mark_rect(opacity=0.15, color=colours.faint).encode(
        y=alt.Y("low:Q", title="shift of the level", axis=alt.Axis(format="+%")), y2="high:Q"
    )
    spans = base.mark_rule(strokeWidth=2).encode(x=x, xOffset=side, y="low:Q", y2="high:Q", color=colour, tooltip=shown)
    shape = alt.Shape("errors:N", sort=kinds, legend=None)
    dots = base.mark_point(filled=True, size=60).encode(
        x=x, xOffset=side, y="shift:Q", color=colour, shape=shape, tooltip=shown
    )
    return finished(alt.layer(minimal, spans, dots), f"What errors do to the mean {data.value}", theme, width=460)
