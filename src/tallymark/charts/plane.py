"""Rows as points of a plane, by their true and their predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._numbers import counted
from tallymark.charts.parts import tips
from tallymark.charts.theme import Chart, altair, by_model, finished, palette, rows, shape_of
from tallymark.errors import InputError


def class_points(
    data: Any,
    truth: Any,
    predicted: Any = None,
    *,
    names: tuple[str, str] = ("x1", "x2"),
    line: tuple[float, float, float] | None = None,
    theme: str = "light",
) -> Chart:
    """Rows of two attributes as points: the symbol is the true class, the colour the predicted one.

    Without predictions the colour is the true class too. Rows whose predicted class is another than the true one have
    a ring.

    Parameters
    ----------
    data
        Two numbers for each row.
    truth, predicted
        The class of each row.
    names
        Names of the two attributes.
    line
        Coefficients a, b, c of a linear classifier, whose boundary a·x + b·y + c = 0 is drawn.
    theme
        ``"light"`` or ``"dark"``.

    Returns
    -------
    altair.Chart
        The chart; ``save`` writes it as HTML, PNG, SVG or PDF.

    Examples
    --------
    >>> import tallymark as tm
    >>> chart = tm.charts.class_points([[0, 1], [1, 2], [3, 3]], ["a", "a", "b"], ["a", "b", "b"])
    >>> chart.to_dict()["title"]["text"]
    'Points by true and predicted class'
    """
    places = _two_numbers_each(data)
    y = _check.labels(truth, "truth")
    called = y if predicted is None else _check.labels(predicted, "predicted")
    for name, column in (("truth", y), ("predicted", called)):
        if len(column) != len(places):
            raise InputError(
                f"There are {len(places)} points and {len(column)} labels in {name}; each point needs one."
            )
    classes = [str(one) for one in dict.fromkeys([*_check.distinct(y, "truth"), *_check.distinct(called, "predicted")])]
    items = [
        {"x": float(a), "y": float(b), "model": str(p), "truth": str(t), "wrong": str(t) != str(p)}
        for (a, b), t, p in zip(places, y.tolist(), called.tolist(), strict=True)
    ]
    alt, colours = altair(), palette(theme)
    ends = [(float(side.min()), float(side.max())) for side in places.T]
    pads = [0.04 * (high - low or 1.0) for low, high in ends]
    domains = [[low - pad, high + pad] for (low, high), pad in zip(ends, pads, strict=True)]
    x, yy = (
        kind(f"{field}:Q", title=name, scale=alt.Scale(domain=domain, nice=False))
        for kind, field, name, domain in zip((alt.X, alt.Y), ("x", "y"), names, domains, strict=True)
    )
    base = alt.Chart(rows(items)).encode(x=x, y=yy)
    shape = shape_of(classes)
    shape.shorthand = "truth:N"
    colour = by_model(classes, theme, "class", shapes=True)["color"]
    dots = base.mark_point(filled=True, size=40, opacity=0.8)
    layers = [dots.encode(color=colour, shape=shape, tooltip=tips("x", "y", "truth", "model", text=("truth", "model")))]
    wrong = sum(bool(item["wrong"]) for item in items)
    if wrong:
        rings = base.transform_filter("datum.wrong").mark_point(size=130, color=colours.ink, strokeWidth=1.2)
        layers.append(rings)
    if line is not None:
        layers.insert(0, _boundary(line, domains, theme))
    title = "Points by true class" if predicted is None else "Points by true and predicted class"
    says = (
        ""
        if predicted is None
        else f"{counted(wrong, 'point')} of {len(items)} in rings: another class than the true one."
    )
    return finished(alt.layer(*layers), title, theme, says=says, under=says)


def _boundary(line: tuple[float, float, float], domains: list[list[float]], theme: str) -> Any:
    """Where a·x + b·y + c is 0, inside of the plot."""
    a, b, c = (_check.real(value, "line") for value in line)
    if a == 0.0 and b == 0.0:
        raise InputError("line has two coefficients of 0, which is no line; expected a, b and c of a·x + b·y + c = 0.")
    if b != 0.0:
        ends = [(x, -(a * x + c) / b) for x in domains[0]]
    else:
        ends = [(-c / a, y) for y in domains[1]]
    drawn = altair().Chart(rows({"x": float(x), "y": float(y)} for x, y in ends))
    return drawn.mark_line(clip=True, strokeDash=[4, 3], color=palette(theme).ink).encode(x="x:Q", y="y:Q")


def _two_numbers_each(data: Any) -> Floats:
    try:
        places = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise InputError(f"Got a {type(data).__name__}, expected two finite numbers for each row.") from None
    if places.ndim != 2 or places.shape[1] != 2 or not len(places) or not np.isfinite(places).all():
        raise InputError(
            f"The points have the shape {places.shape}, expected two finite numbers for each of one or more rows."
        )
    return places
