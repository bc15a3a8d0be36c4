"""As many points of a curve as the eye can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints

#: Points of a curve that are drawn.
_MOST = 400


def thinned(x: Floats, y: Floats, most: int = _MOST) -> Ints:
    """Places of at most about `most` finite points that keep the look of a curve: the ends, and equal steps along it."""
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(finite) <= most:
        return finite
    kept = [v[finite] for v in (x, y)]
    steps = sum(np.abs(np.diff(v)) / (np.ptp(v) or 1.0) for v in kept)
    way = np.concatenate(([0.0], np.cumsum(steps)))
    places = np.searchsorted(way, np.linspace(0.0, way[-1], most))
    return np.asarray(finite[np.unique(np.concatenate(([0], np.minimum(places, len(finite) - 1), [len(finite) - 1])))])


def points(columns: Mapping[str, Any], x: str, y: str, **more: Any) -> list[dict[str, Any]]:
    """The drawn points of a curve as rows, with constant columns added."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    # A third column may be infinite where the curve is not: then the row has no such entry.
    return [
        {name: float(values[i]) for name, values in arrays.items() if np.isfinite(values[i])} | {"order": k} | more
        for k, i in enumerate(thinned(arrays[x], arrays[y]).tolist())
    ]
