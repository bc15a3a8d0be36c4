"""Pieces that pictures share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallymark.charts.theme import altair, palette, rows

_UNIT = (0.0, 1.0)


def axis(side: str, field: str, title: str, *, unit: bool = True) -> Any:
    """An axis of numbers, of the unit interval unless said otherwise."""
    alt = altair()
    kind = alt.X if side == "x" else alt.Y
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=list(_UNIT)) if unit else alt.Scale(zero=False))


def tips(*fields: str) -> list[Any]:
    """Numbers shown where the pointer is."""
    alt = altair()
    return [
        alt.Tooltip(f"{field}:N") if field in {"model", "at", "who"} else alt.Tooltip(f"{field}:Q", format=".4~g")
        for field in fields
    ]


def line_of_chance(ends: Sequence[tuple[float, float]], theme: str) -> Any:
    """A broken line through the places that chance reaches."""
    alt = altair()
    places = rows({"x": x, "y": y, "order": i} for i, (x, y) in enumerate(ends))
    return (
        alt.Chart(places)
        .mark_line(strokeDash=[3, 3], strokeWidth=1, color=palette(theme).faint)
        .encode(x="x:Q", y="y:Q", order="order:Q")
    )
