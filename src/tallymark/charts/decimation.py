"""Decimation of curves: as many points as a screen can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints

#: Points of a curve that are drawn at most.
_MOST = 400


def thinned(x: Floats, y: Floats, most: int = _MOST) -> Ints:
    """Indices of about `most` finite points that keep the shape of a curve: its ends, and equal steps along it."""
    finite = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(finite) <= most:
        return finite
    kept = [v[finite] for v in (x, y)]
    steps = sum(np.abs(np.diff(v)) / (np.ptp(v) or 1.0) for v in kept)
    length, last = np.concatenate(([0.0], np.cumsum(steps))), len(finite) - 1
    places = np.searchsorted(length, np.linspace(0.0, length[-1], most))
    return np.asarray(finite[np.unique(np.concatenate(([0], np.minimum(places, last), [last])))])


def points(columns: Mapping[str, Any], x: str, y: str, **more: Any) -> list[dict[str, Any]]:
    """The drawn points of a curve as rows, with constant columns added."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}
    # A further column may be infinite where the curve is not; the row then lacks that entry.
    return [
        {name: float(values[i]) for name, values in arrays.items() if np.isfinite(values[i])} | {"order": k} | more
        for k, i in enumerate(thinned(arrays[x], arrays[y]).tolist())
    ]
