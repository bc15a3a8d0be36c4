"""Parts that charts share: axes, tooltips, reference lines, texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallymark._numbers import with_limits
from tallymark.charts.theme import altair, palette, rows

_UNIT = (0.0, 1.0)


def axis(side: str, field: str, title: str, *, unit: bool = True) -> Any:
    """An axis of numbers, from 0 to 1 with `unit`."""
    alt = altair()
    kind = alt.X if side == "x" else alt.Y
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=list(_UNIT)) if unit else alt.Scale(zero=False))


def tips(*fields: str, text: Sequence[str] = ("model", "at", "who"), format: str = ".4~g") -> list[Any]:  # noqa: A002 - Altair's word
    """Tooltips of fields: those in `text` as they are, the others as numbers."""
    alt = altair()
    return [
        alt.Tooltip(f"{field}:N") if field in text else alt.Tooltip(f"{field}:Q", format=format) for field in fields
    ]


#: Values with limits that a description lists at most.
_DESCRIBED = 24


def described(lines: Sequence[Mapping[str, Any]], *names: str, unit: str = "", most: int = _DESCRIBED) -> str:
    """Values with limits as text, for readers who cannot see the chart; `names` are the fields that name a line."""
    texts = [
        " ".join([*(str(line[name]) for name in names if line[name]), _limits(line)]).strip() + unit
        for line in lines[:most]
    ]
    return f"{'; '.join(texts)}."


def _limits(line: Mapping[str, Any]) -> str:
    return with_limits(line["value"], line.get("low"), line.get("high"))


def with_level(title: str, level: float | None) -> str:
    """A title that states the level of the intervals, where there are any."""
    return title if level is None else f"{title} with {100 * level:g} % intervals"


def line_of_chance(ends: Sequence[tuple[float, float]], theme: str) -> Any:
    """A dashed line through the points that chance reaches."""
    alt = altair()
    points = rows({"x": x, "y": y, "order": i} for i, (x, y) in enumerate(ends))
    return (
        alt.Chart(points)
        .mark_line(strokeDash=[3, 3], strokeWidth=1, color=palette(theme).faint)
        .encode(x="x:Q", y="y:Q", order="order:Q")
    )
