"""Places of labels beside points: no label covers another one, a point or, where there is room, a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from tallymark._check import Floats

#: Width of a character, height of a line and distance to keep from other points, in pixels.
_CHARACTER, _LINE, _POINT = 6.0, 13.0, 9.0

#: What a label costs per pixel that it covers of another label, of a point, of a line, or outside of the plot.
_ON_LABEL, _ON_POINT, _ON_LINE, _OUTSIDE = 100.0, 20.0, 1.0, 50.0


def beside(
    points: Floats, texts: Sequence[str], size: tuple[float, float], lines: Sequence[Floats] = ()
) -> list[dict[str, Any]]:
    """Where to write a text beside each point: ``dx``, ``dy`` and ``align`` of a mark.

    Parameters
    ----------
    points
        Places from the lower left corner (0, 0) to the upper right one (1, 1), a row each.
    texts
        What is written beside them.
    size
        Width and height of the plot in pixels.
    lines
        Corners of lines that texts should not cross, as places.
    """
    width, height = size
    pixels = [(float(x) * width, (1.0 - float(y)) * height) for x, y in points]
    crossed = np.concatenate([_along(line * [width, -height] + [0.0, height]) for line in lines] or [np.empty((0, 2))])
    labels: list[_Box] = []
    places: list[dict[str, Any]] = [{}] * len(pixels)
    # From the top down, so that texts of points close together stand in the order of the points.
    for place in sorted(range(len(pixels)), key=lambda i: pixels[i][1]):
        (x, y), text = pixels[place], texts[place]
        dots = [_around_point(*pixel) for i, pixel in enumerate(pixels) if i != place]
        costs = []
        for dx, dy, align in _around():
            box = _box(x + dx, y + dy, _CHARACTER * len(text), align)
            costs.append((_cost(box, labels, dots, crossed, size) + 0.05 * abs(dy), dx, dy, align, box))
        _, dx, dy, align, box = min(costs, key=lambda one: one[0])
        labels.append(box)
        places[place] = {"dx": dx, "dy": dy, "align": align}
    return places


#: Left, top, right and bottom.
_Box = tuple[float, float, float, float]


def _around() -> Iterator[tuple[float, float, str]]:
    """Offsets to try, the nearest first: beside, below and above, on the right and on the left."""
    for dy, (dx, align) in product((0.0, 11.0, -11.0, 24.0, -24.0, 37.0, -37.0), ((9.0, "left"), (-9.0, "right"))):
        yield dx, dy, align


def _around_point(x: float, y: float) -> _Box:
    return x - _POINT, y - _POINT, x + _POINT, y + _POINT


def _box(x: float, y: float, length: float, align: str) -> _Box:
    left = x if align == "left" else x - length
    return left, y - _LINE / 2, left + length, y + _LINE / 2


def _cost(box: _Box, labels: Sequence[_Box], dots: Sequence[_Box], crossed: Floats, size: tuple[float, float]) -> float:
    left, top, right, bottom = box
    inside = (crossed > [left, top]) & (crossed < [right, bottom])
    outside = max(-left, 0.0) + max(right - size[0], 0.0) + max(-top, 0.0) + max(bottom - size[1], 0.0)
    return (
        _ON_LABEL * sum(_shared(box, other) for other in labels)
        + _ON_POINT * sum(_shared(box, other) for other in dots)
        + _ON_LINE * float(np.count_nonzero(inside.all(axis=1)))
        + _OUTSIDE * outside
    )


def _shared(one: _Box, other: _Box) -> float:
    """Area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def _along(corners: Floats) -> Floats:
    """Points along a line, a pixel apart."""
    kept = corners[np.isfinite(corners).all(axis=1)]
    if len(kept) < 2:
        return kept
    length = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(kept, axis=0).T))))
    at = np.arange(0.0, length[-1], 1.0)
    return np.column_stack([np.interp(at, length, side) for side in kept.T])
