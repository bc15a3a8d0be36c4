"""The critical-difference diagram of Demšar (2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from tallymark.charts.parts import tips
from tallymark.charts.pictures import picture_of
from tallymark.charts.theme import Chart, altair, finished, palette, require_kind, rows
from tallymark.errors import InputError

if TYPE_CHECKING:
    from tallymark.study.outcomes import StudyTest
    from tallymark.study.rank_tests import TestResult

#: Width of the diagram; heights of the critical difference, of the axis, of a bar and of a name, in pixels.
_WIDTH, _DIFFERENCE, _AXIS, _BAR, _NAME = 400, 6, 40, 8, 17


@picture_of("TestResult", "StudyTest")
def critical_difference(data: TestResult | StudyTest, *, theme: str = "light") -> Chart:
    """Critical-difference diagram: an axis of mean ranks, best on the left, with a line from each method's to its name.

    Thick bars join methods that do not differ; where all are compared with a control, the bar on the axis spans the
    ranks that do not differ from it. Demšar (2006), J. Mach. Learn. Res. 7.

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
    ranks, worst = test.mean_ranks, len(test.methods)
    order = sorted(ranks, key=lambda name: ranks[name])
    bars = _bars(test)
    first = _AXIS + 10 + _BAR * (1 + max((bar["level"] for bar in bars), default=0))
    half = math.ceil(len(order) / 2)
    height = first + _NAME * half
    # Lines do not cross: the outermost name of each side is the highest.
    depths = {
        name: first + _NAME * place
        for part in (order[:half], order[: half - 1 : -1])
        for place, name in enumerate(part)
    }
    edge = 0.03 * (worst - 1)
    ends = {name: 1.0 - edge if place < half else worst + edge for place, name in enumerate(order)}
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[1.0 - edge, worst + edge], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    colours = palette(theme)

    def path(points: Sequence[tuple[str, float, float]], colour: str, width: float, **more: Any) -> Any:
        places = rows({"line": line, "x": a, "y": b, "order": i} for i, (line, a, b) in enumerate(points))
        base = alt.Chart(places).mark_line(color=colour, strokeWidth=width, **more)
        return base.encode(x=x, y=y, detail="line:N", order="order:Q")

    drawn = [path([("axis", 1.0, _AXIS), ("axis", worst, _AXIS)], colours.ink, 1.2)]
    ticks = [1.0 + step / 2 for step in range(2 * worst - 1)]
    lengths = {tick: 6 if tick.is_integer() else 3 for tick in ticks}
    drawn.append(path([(f"{t}", t, _AXIS - end) for t in ticks for end in (0, lengths[t])], colours.ink, 1.0))
    named = alt.Chart(rows({"x": t, "y": _AXIS - 14, "text": f"{t:g}"} for t in ticks if t.is_integer()))
    drawn.append(named.mark_text(color=colours.ink).encode(x=x, y=y, text="text:N"))
    for name in order:
        corners = [(ranks[name], _AXIS), (ranks[name], depths[name]), (ends[name], depths[name])]
        drawn.append(path([(name, *corner) for corner in corners], colours.faint, 1.0))
    drawn += [
        path(
            [(f"bar {place}", bar["low"], bar["y"]), (f"bar {place}", bar["high"], bar["y"])],
            colours.ink, 4.5, strokeCap="round",
        )
        for place, bar in enumerate(bars)
    ]  # fmt: skip
    drawn += _difference(test.critical_difference, worst, path, (x, y), theme)
    items = [{"method": name, "rank": ranks[name], "x": ranks[name], "y": _AXIS} for name in order]
    dots = alt.Chart(rows(items)).mark_point(filled=True, size=45, opacity=1, color=colours.models[0])
    drawn.append(dots.encode(x=x, y=y, tooltip=tips("method", "rank", text=("method",), format=".3f")))
    for side, kept, shift in (("right", order[:half], -5), ("left", order[half:], 5)):
        labels = [{"x": ends[name], "y": depths[name], "text": f"{name} ({ranks[name]:.2f})"} for name in kept]
        words = alt.Chart(rows(labels)).mark_text(align=side, dx=shift, color=colours.ink)
        drawn.append(words.encode(x=x, y=y, text="text:N"))
    title = f"Mean ranks, critical difference {test.critical_difference:.3f} ({test.test}, {test.n} data sets)"
    under = "" if test.control is None else f"compared with {test.control}: the bar spans what is not told from it"
    says = _said(test, order)
    return finished(alt.layer(*drawn), title, theme, says=says, under=under, width=_WIDTH, height=height)


def _bars(test: TestResult) -> list[dict[str, Any]]:
    """Ranks that a bar joins and its height: groups that do not differ, or what does not differ from the control."""
    ranks, reach = test.mean_ranks, test.critical_difference or 0.0
    if test.control is not None:
        low, high = max(ranks[test.control] - reach, 1.0), min(ranks[test.control] + reach, float(len(ranks)))
        return [{"low": low, "high": high, "level": 0, "y": _AXIS}]
    bars: list[dict[str, Any]] = []
    margin = 0.012 * (len(ranks) - 1)
    for group in test.groups:
        low, high = ranks[group[0]] - margin, ranks[group[-1]] + margin
        # The highest level that has room.
        level = next(n for n in range(len(bars) + 1) if all(b["level"] != n or b["high"] < low for b in bars))
        bars.append({"low": low, "high": high, "level": level, "y": _AXIS + 9 + _BAR * level})
    return bars


def _difference(width: float, worst: int, path: Any, sides: tuple[Any, Any], theme: str) -> list[Any]:
    """The critical difference as a line from the best rank on; a text alone where it is longer than the axis."""
    alt, colours = altair(), palette(theme)
    fits = width <= worst - 1
    text = f"CD {width:.2f}" + ("" if fits else ", more than the axis is long")
    at = {"x": 1.0 + width if fits else 1.0, "y": _DIFFERENCE, "text": text}
    words = alt.Chart(rows([at])).mark_text(align="left", dx=6 if fits else 0, color=colours.ink)
    drawn = [words.encode(x=sides[0], y=sides[1], text="text:N")]
    if fits:
        ends = [1.0, 1.0, 1.0, 1.0 + width, 1.0 + width, 1.0 + width]
        heights = [_DIFFERENCE + end for end in (-4, 4, 0, 0, -4, 4)]
        drawn.append(path([("cd", a, b) for a, b in zip(ends, heights, strict=True)], colours.ink, 1.5))
    return drawn


def _said(test: TestResult, order: Sequence[str]) -> str:
    """Ranks and groups as text."""
    listed = ", ".join(f"{name} {test.mean_ranks[name]:.2f}" for name in order)
    if test.control is not None:
        alike = [name for pair in test.pairs for name in [pair["first"]] if not pair["differ"]]
        return f"{listed}. Not told from {test.control}: {', '.join(alike) or 'none'}."
    groups = "; ".join(", ".join(group) for group in test.groups)
    return f"{listed}. Not told apart: {groups or 'none'}."
