"""Histograms of scores by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Floats
from tallymark.curves.base import Curve, of_a_tally
from tallymark.summaries.tally import Tally

#: More bins than any picture can show.
_MOST_BINS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class ScoreHistogram(Curve):
    """Mass and share of each class in bins of equal width between `low` and `high`; one line per class and bin."""

    label: NDArray[Any]
    low: Floats
    high: Floats
    count: Floats
    share: Floats

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Class, edges of the bin, mass and share of the class."""
        return {"class": self.label, "low": self.low, "high": self.high, "count": self.count, "share": self.share}


@of_a_tally
def score_histogram(tally: Tally, *, bins: int = 40) -> ScoreHistogram:
    """How the scores of each class are distributed: over [0, 1] for probabilities, else over their range.

    >>> import tallymark as tm
    >>> h = tm.score_histogram(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), bins=2)
    >>> h.count.tolist(), h.share.tolist()
    ([2.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.5, 0.5])
    """
    number = _check.whole(bins, "bins", 1, _MOST_BINS)
    low, high = (0.0, 1.0) if tally.is_probability else tally.range
    edges = np.linspace(low, high if high > low else low + 1.0, number + 1)
    counts = []
    for run in tally.runs:
        places = np.append(np.searchsorted(run.scores, edges[:-1], "left"), len(run))
        places[0] = 0
        counts.append(np.diff(run.mass_before(places)).astype(np.float64))
    shares = [held / float(run.total) for held, run in zip(counts, tally.runs, strict=True)]
    labels = np.repeat(np.array([str(label) for label in tally.labels or ()], dtype=object), number)
    both = [np.concatenate(parts) for parts in (counts, shares)]
    return ScoreHistogram(labels, np.tile(edges[:-1], 2), np.tile(edges[1:], 2), both[0], both[1])
