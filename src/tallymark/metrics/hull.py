"""The upper convex hull of an ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Floats, Ints
from tallymark.summaries.tally import Tally

#: Vectorised passes that drop all points below their neighbours' chord, before the rest is done point by point.
_PASSES = 64


class Hull(NamedTuple):
    """Corners from (0, 0) to (1, 1) and their `thresholds`, the first ``+inf``."""

    thresholds: Floats
    fpr: Floats
    tpr: Floats


def roc_hull(tally: Tally) -> Hull:
    """Corners of the convex hull (Provost & Fawcett 2001, Mach. Learn. 42(3)).

    Only cut-offs at a positive's score can be corners: any other has more false positives for the same recall.
    """
    steps = tally.views.steps()
    lowest = min(tally.range)
    fp = np.concatenate(([0.0], steps.fp, [tally.negatives])).astype(np.float64)
    tp = np.concatenate(([0.0], steps.tp, [tally.positives])).astype(np.float64)
    thresholds = np.concatenate(([np.inf], steps.thresholds, [lowest])).astype(np.float64)
    corners = upper_hull(fp, tp)
    return Hull(thresholds[corners], fp[corners] / tally.negatives, tp[corners] / tally.positives)


def upper_hull(x: Floats, y: Floats) -> Ints:
    """Indices of the strict corners of the upper hull of points with ascending x (and ascending y where x ties)."""
    return upper_hulls(x, y, np.zeros(len(x), dtype=np.int8))


def upper_hulls(x: Floats, y: Floats, curve: NDArray[Any]) -> Ints:
    """The same for several concatenated curves; `curve` is the number of each point's curve."""
    # Of coincident points only one is kept, as each lies on the chord of the other.
    kept = np.flatnonzero(np.concatenate(([True], (x[1:] != x[:-1]) | (y[1:] != y[:-1]) | (curve[1:] != curve[:-1]))))
    for _ in range(_PASSES):
        below = np.zeros(len(kept), dtype=np.bool_)
        px, py, number = x[kept], y[kept], curve[kept]
        # A point on or below the chord of its neighbours is no corner, whichever others are dropped.
        chord = (py[2:] - py[:-2]) * (px[1:-1] - px[:-2])
        below[1:-1] = ((py[1:-1] - py[:-2]) * (px[2:] - px[:-2]) <= chord) & (number[2:] == number[:-2])
        if not below.any():
            return kept
        kept = kept[~below]
    starts = np.flatnonzero(np.diff(curve[kept])) + 1
    return np.concatenate([_one_by_one(x, y, part) for part in np.split(kept, starts)])


def _one_by_one(x: Floats, y: Floats, points: Ints) -> Ints:
    corners: list[int] = []
    for i in points.tolist():
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners)
