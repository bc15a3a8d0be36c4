"""Charts of quantification: estimated prevalences and counts by method, group, class and period, and their growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tallymark import _check
from tallymark._periods import in_order
from tallymark.charts.inputs import group_name
from tallymark.charts.parts import described, tips, with_level
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, by_model, finished, is_kind, palette, require_kind, rows, shape_of
from tallymark.errors import InputError, shown

if TYPE_CHECKING:
    from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
    from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
    from tallymark.quantify.estimation.sensitivity import Sensitivity

_LIMITS = ("value", "low", "high")


@picture_of("Prevalences")
def prevalences(
    data: Prevalence | Prevalences | Mapping[str, Any], *, counts: bool = False, theme: str = "light"
) -> Chart:
    """Estimated shares (or counts) with their intervals, by method and by group.

    Parameters
    ----------
    data
        An estimate, estimates by group, or several of either by method.
    counts
        Draw counts instead of shares.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> u = tm.tally(scores=[0.1, 0.2, 0.3, 0.9])
    >>> estimates = {name: tm.quantify.estimate(name, t, u) for name in ("cc", "ac")}
    >>> tm.charts.prevalences(estimates).to_dict()["title"]["text"]
    'Estimated prevalence with 95 % intervals'
    """
    alt = altair()
    lines: list[dict[str, Any]] = [
        {"method": method, "group": group, **_values(one, counts=counts), "level": one.level, "model": method}
        for method, group, one in _estimates(data)
        if np.isfinite(one.prevalence)
    ]
    _require_lines(lines)
    grouped = any(line["group"] for line in lines)
    methods = list(dict.fromkeys(line["method"] for line in lines))
    side = {"yOffset": alt.YOffset("method:N", sort=methods)} if grouped and len(methods) > 1 else {}
    main = "group" if grouped else "method"
    colour = by_model(methods, theme, legend=grouped, shapes=True)["color"]
    base = alt.Chart(rows(lines)).encode(y=alt.Y(f"{main}:N", sort=None, title=None), color=colour, **side)
    shown = tips("method", "group", *_LIMITS, text=("method", "group"), format=".5~g")
    what = "count" if counts else "prevalence"
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=what), x2="high:Q", tooltip=shown)
    dots = base.mark_point(filled=True, size=70).encode(
        x=alt.X("value:Q", title=what), shape=shape_of(methods), tooltip=shown
    )
    height = 28 * len(dict.fromkeys(line[main] for line in lines)) * (max(1, len(methods)) if side else 1)
    return finished(
        alt.layer(spans, dots),
        with_level(f"Estimated {what}", _level(lines)),
        theme,
        says=described(lines, "group", "method"),
        height=max(60, height),
    )


def _estimates(data: Any) -> list[tuple[str, str, Prevalence]]:
    """Method, group and estimate of every line: of one estimate, of groups, or of several methods by name."""
    made_by = "tm.quantify.estimate"
    require_kind(data, ("Prevalence", Mapping), made_by)
    if is_kind(data, "Prevalence"):
        return [(data.method, "", data)]
    if is_kind(data, "Prevalences"):
        return [(one.method, group_name(key), one) for key, one in data.items()]
    estimates = []
    for name, entry in data.items():
        require_kind(entry, ("Prevalence", Mapping), made_by)
        parts = {(): entry} if is_kind(entry, "Prevalence") else entry
        for key, one in parts.items():
            require_kind(one, "Prevalence", made_by)
            estimates.append((str(name) if name else one.method, group_name(key), one))
    return estimates


def _values(one: Prevalence, *, counts: bool) -> dict[str, float | None]:
    """An estimate with its limits, as a share or as a count."""
    factor = float(one.n) if counts else 1.0
    low, high = (None, None) if one.interval is None else one.interval
    return {
        "value": factor * one.prevalence,
        "low": None if low is None else factor * low,
        "high": None if high is None else factor * high,
    }


def _level(lines: Sequence[Mapping[str, Any]]) -> float | None:
    return next((line["level"] for line in lines if line["level"] is not None), None)


def _require_lines(lines: Sequence[Any]) -> None:
    if not lines:
        raise InputError("There is nothing to draw: no estimate has a value.")


def counts_over_time(
    data: Prevalences | Mapping[str, Prevalences],
    *,
    along: str,
    order: Sequence[Any] | None = None,
    counts: bool = True,
    truth: Mapping[Any, float] | None = None,
    theme: str = "light",
) -> Chart:
    """Estimated counts (or shares) over periods, with a band for each method; other keys are added up.

    Parameters
    ----------
    data
        Estimates by group, or several by method.
    along
        The key of the periods.
    order
        The periods in order, where it cannot be inferred.
    counts
        Draw counts instead of shares.
    truth
        The true count (or share) of each period, where it is known: a line of its own.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import pandas as pd, tallymark as tm
    >>> t = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.4, 0.35, 0.8, 0.9])
    >>> frame = pd.DataFrame({"year": [1] * 4 + [2] * 4, "p": [0.1, 0.2, 0.3, 0.9, 0.2, 0.8, 0.9, 0.9]})
    >>> u = tm.tally(frame, score="p", by="year")
    >>> estimates = tm.quantify.estimate("ac", t, u, threshold=0.5, replicates=100)
    >>> tm.charts.counts_over_time(estimates, along="year").to_dict()["title"]["text"]
    'Estimated count by year with 95 % intervals'
    """
    require_kind(data, ("Prevalences", Mapping), "tm.quantify.estimate with groups")
    alt = altair()
    named: Mapping[str, Any] = cast("Any", data)
    if is_kind(data, "Prevalences"):
        named = {cast("Prevalences", data).total.method: data}
    lines: list[dict[str, Any]] = []
    for name, entry in named.items():
        require_kind(entry, "Prevalences", "tm.quantify.estimate with groups")
        if along not in entry.names:
            raise InputError(f"The estimates have no key {along!r}; they have {', '.join(entry.names)}.")
        by = entry if entry.names == (along,) else entry.subtotals()[along]
        lines += [
            {"model": str(name), "at": str(period), **_values(by[period], counts=counts), "level": by[period].level}
            for period in in_order(by, along, order)
            if np.isfinite(by[period].prevalence)
        ]
    _require_lines(lines)
    names = list(named)
    look = by_model(names, theme, shapes=True)
    times = list(dict.fromkeys(line["at"] for line in lines))
    what = "count" if counts else "prevalence"
    x = alt.X("at:O", sort=times, title=along, axis=alt.Axis(labelAngle=0 if len(times) < 9 else -40))
    base = alt.Chart(rows(lines)).encode(x=x)
    model, *limits = tips("model", *_LIMITS, format=",.5~g")
    y = alt.Y("value:Q", title=what, scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q", title=what), y2="high:Q", color=look["color"])
    joined = base.mark_line().encode(y=y, **look)
    dots = base.mark_point(filled=True, size=60).encode(
        y=y, color=look["color"], shape=shape_of(names), tooltip=[model, alt.Tooltip("at:N", title=along), *limits]
    )
    known = [] if truth is None else [_true_values(truth, times, theme, x)]
    return finished(
        alt.layer(band, *known, joined, dots),
        with_level(f"Estimated {what} by {along}", _level(lines)),
        theme,
        says=described(lines, "model", "at"),
        width=max(340, min(560, 46 * len(times))),
    )


def _true_values(truth: Mapping[Any, float], times: Sequence[str], theme: str, x: Any) -> Any:
    """The line of the true values, in the colour of text."""
    alt = altair()
    by_period = {str(period): _check.real(value, "truth") for period, value in truth.items()}
    items = [{"at": period, "truth": by_period[period]} for period in times if period in by_period]
    if not items:
        raise InputError(f"truth has none of the periods {shown(times)}; it is a mapping from each period to a number.")
    line = alt.Chart(rows(items)).mark_line(color=palette(theme).ink, strokeWidth=1.2)
    return line.encode(x=x, y="truth:Q", tooltip=[alt.Tooltip("at:N", title="period"), alt.Tooltip("truth:Q")])


def growth(data: Mapping[str, Sequence[Mapping[str, Any]]], *, theme: str = "light") -> Chart:
    """Growth of a count from period to period in per cent, with limits.

    Parameters
    ----------
    data
        Results of ``Prevalences.growths`` by method.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.4
    >>> t = tm.tally(y, rng.normal(y * 2.0))
    >>> frame = pd.DataFrame({"year": np.repeat([1, 2], 300), "p": rng.normal((rng.random(600) < 0.3) * 2.0)})
    >>> u = tm.tally(frame, score="p", by="year")
    >>> estimates = tm.quantify.estimate("ac", t, u, threshold=1.0, replicates=100)
    >>> tm.charts.growth({"ac": estimates.growths("year")}).to_dict()["title"]["text"]
    'Growth of the count'
    """
    require_kind(data, Mapping, "{method: estimates.growths(key)}")
    for steps in data.values():
        require_kind(steps, list, "estimates.growths(key)")
    alt = altair()
    lines = [
        {
            "model": name,
            "step": ", ".join([f"{row['from']} to {row['to']}", *map(str, (row["group"] or {}).values())]),
            "value": 100 * row["growth"],
            "low": 100 * row["low"],
            "high": 100 * row["high"],
        }
        for name, steps in data.items()
        for row in steps
        if row["reason"] is None and np.isfinite([row["growth"], row["low"], row["high"]]).all()
    ]
    if not lines:
        raise InputError("There is nothing to draw: no growth has a value and limits.")
    names = list(data)
    colour = by_model(names, theme, shapes=True)["color"]
    side = {"yOffset": alt.YOffset("model:N", sort=names)} if len(names) > 1 else {}
    base = alt.Chart(rows(lines)).encode(y=alt.Y("step:N", sort=None, title=None), color=colour, **side)
    shown = tips("model", "step", *_LIMITS, text=("model", "step"), format="+.3~g")
    none = alt.Chart(rows([{"x": 0.0}])).mark_rule(strokeDash=[3, 3], color=palette(theme).ink).encode(x="x:Q")
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="growth in %"), x2="high:Q", tooltip=shown)
    dots = base.mark_point(filled=True, size=60).encode(x="value:Q", shape=shape_of(names), tooltip=shown)
    says = described(lines, "model", "step", unit=" %")
    height = max(60, 26 * len(dict.fromkeys(line["step"] for line in lines)) * len(names))
    return finished(alt.layer(none, spans, dots), "Growth of the count", theme, says=says, height=height)


@picture_of("ClassPrevalences")
def class_prevalences(data: ClassPrevalences | Mapping[str, ClassPrevalences], *, theme: str = "light") -> Chart:
    """Estimated shares of K classes with their limits, by method.

    Parameters
    ----------
    data
        Estimates of K classes, or several by method.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rows, classes = np.tile(np.eye(3) * 0.7 + 0.1, (20, 1)), [0, 1, 2]
    >>> validation = tm.class_panel([0, 1, 2] * 20, rows, classes=classes)
    >>> estimates = tm.quantify.estimate("em", validation, tm.class_panel(scores=rows, classes=classes), replicates=100)
    >>> tm.charts.class_prevalences({"em": estimates}).to_dict()["title"]["text"]
    'Estimated shares of the classes'
    """
    require_kind(data, Mapping, "{method: tm.quantify.estimate(…) of class panels}")
    named: Mapping[str, Any] = cast("Any", data)
    if is_kind(data, "ClassPrevalences"):
        named = {next(iter(named.values())).method: data}
    for entry in named.values():
        require_kind(entry, "ClassPrevalences", "tm.quantify.estimate of class panels")
    alt = altair()
    lines: list[dict[str, Any]] = [
        {"model": name, "class": str(label), "value": one.prevalence, "low": one.low, "high": one.high}
        for name, entry in named.items()
        for label, one in entry.items()
        if np.isfinite(one.prevalence)
    ]
    _require_lines(lines)
    names = list(named)
    order = list(dict.fromkeys(line["class"] for line in lines))
    side = {"yOffset": alt.YOffset("model:N", sort=names)} if len(names) > 1 else {}
    base = alt.Chart(rows(lines)).encode(y=alt.Y("class:N", sort=order, title=None), **side)
    colour = by_model(names, theme)["color"]
    shown = tips("model", "class", *_LIMITS, text=("model", "class"))
    x = alt.X("value:Q", title="share of the rows")
    bars = base.mark_bar(opacity=0.45).encode(x=x, color=colour, tooltip=shown)
    spans = base.mark_rule(strokeWidth=2, color=palette(theme).ink).encode(x="low:Q", x2="high:Q", tooltip=shown)
    says = described(lines, "class", "model")
    height = max(60, 18 * len(order) * len(names))
    return finished(alt.layer(bars, spans), "Estimated shares of the classes", theme, says=says, height=height)


@picture_of("Sensitivity")
def sensitivity(data: Sensitivity, *, theme: str = "light") -> Chart:
    """Error of a count if the positives' scores had shifted, and the power to detect the shift.

    Parameters
    ----------
    data
        The result of :func:`tallymark.quantify.sensitivity`.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.3
    >>> t, u = tm.tally(y, rng.normal(y * 2.0)), tm.tally(scores=rng.normal((rng.random(300) < 0.2) * 2.0))
    >>> tm.charts.sensitivity(tm.quantify.sensitivity(t, u, methods=["ac"], threshold=1.0)).to_dict()["title"]["text"]
    "What a move of the positives' scores would do"
    """
    require_kind(data, "Sensitivity", "tm.quantify.sensitivity")
    alt = altair()
    names = list(data.changes)
    lines = [
        {"model": name, "shift": row["shift"], "moves": row[name], "noticed": row["noticed"]}
        for row in data.rows()
        for name in names
        if np.isfinite(row[name])
    ]
    x = alt.X("shift:Q", title="move of the positives' scores, in standard deviations")
    base = alt.Chart(rows(lines)).encode(x=x)
    look = by_model(names, theme, shapes=True)
    joined = base.mark_line().encode(y=alt.Y("moves:Q", title="the count moves by"), **look)
    legend = alt.Legend(title="noticed", format=".0%", orient="bottom", values=[0, 0.5, 1])
    dots = base.mark_point(filled=True).encode(
        y="moves:Q",
        color=look["color"],
        shape=shape_of(names),
        tooltip=tips("model", "shift", "moves", "noticed", format=".3~g"),
        size=alt.Size("noticed:Q", scale=alt.Scale(domain=[0, 1], range=[25, 160]), legend=legend),
    )
    return finished(alt.layer(joined, dots), "What a move of the positives' scores would do", theme, says=data.sentence)
