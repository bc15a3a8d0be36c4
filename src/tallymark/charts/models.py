"""What a picture is drawn of: tallies by name, and as many points of a curve as the eye can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.errors import InputError
from tallymark.intervals.pool import Pool
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Points of a curve that are drawn.
_MOST = 600


def tallies_of(data: object) -> dict[str, Tally]:
    """Labelled tallies by name: of a tally, a curve, several by name, a panel."""
    found: dict[str, Any]
    if isinstance(data, Panel):
        data = data.tallies()
    if isinstance(data, Tallies):
        found = {", ".join(map(str, key)): tally for key, tally in data.entries.items()}
    elif isinstance(data, Mapping):
        found = {str(name): one for name, one in data.items()}
    else:
        found = {"model": data}
    if not found:
        raise InputError("There is no model to draw; pass a labelled tally, a panel, or several by name.")
    made = {name: one if isinstance(one, Tally) else getattr(one, "tally", None) for name, one in found.items()}
    for name, tally in made.items():
        if not isinstance(tally, Tally) or not tally.labelled:
            raise InputError(
                f"{name!r} is a {type(found[name]).__name__}, expected a labelled tally or a curve of one; "
                "pass tm.tally(y, scores), a panel, or several by name."
            )
    return made  # type: ignore[return-value]


#: Entries from which a tally is made lighter before it is drawn, and what it then has.
_HEAVY, _LIGHT = 2**17, 2**14

_LIGHTER: WeakKeyDictionary[Tally, Tally] = WeakKeyDictionary()


def lighter(tally: Tally) -> Tally:
    """A tally with fewer thresholds, each with its exact counts: all that a curve of millions of points can show."""
    if sum(map(len, tally.runs)) <= _HEAVY:
        return tally
    if tally not in _LIGHTER:
        _LIGHTER[tally] = Pool.of(tally, _LIGHT).thinned()
    return _LIGHTER[tally]


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
