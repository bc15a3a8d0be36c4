"""Histograms of scores by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Floats
from tallymark.curves.base import Columns, Curve, of_a_tally
from tallymark.errors import InputError
from tallymark.summaries.tally import Tally

#: The largest number of bins that is accepted.
_MOST_BINS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class ScoreHistogram(Curve):
    """Mass and share of each class in bins of equal width between `low` and `high`; one line per class and bin."""

    label: NDArray[Any]
    low: Floats
    high: Floats
    count: Floats
    share: Floats

    def columns(self) -> Columns:
        """Class, edges of the bin, mass and share of the class."""
        return {"class": self.label, "low": self.low, "high": self.high, "count": self.count, "share": self.share}


@of_a_tally
def score_histogram(tally: Tally, *, bins: int = 40, logit: bool = False) -> ScoreHistogram:
    """Histogram of the scores of each class, over [0, 1] for probabilities, else over their range.

    Parameters
    ----------
    tally : Tally
        Labelled scores with rows of both classes.
    bins : int
        Number of bins.
    logit : bool
        Give bins of probabilities equal width in log odds, which shows the ends where rare positives lie; `low`
        and `high` stay probabilities.

    Returns
    -------
    ScoreHistogram

    Examples
    --------
    >>> import tallymark as tm
    >>> h = tm.score_histogram(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), bins=2)
    >>> h.count.tolist(), h.share.tolist()
    ([2.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.5, 0.5])
    """
    number = _check.whole(bins, "bins", 1, _MOST_BINS)
    edges = _log_odds_edges(tally, number) if logit else _equal_edges(tally, number)
    counts = []
    for run in tally.runs:
        places = np.append(np.searchsorted(run.scores, edges[:-1], "left"), len(run))
        places[0] = 0
        counts.append(np.diff(run.mass_before(places)).astype(np.float64))
    shares = [count / float(run.total) for count, run in zip(counts, tally.runs, strict=True)]
    labels = np.repeat(np.array([str(label) for label in tally.labels or ()], dtype=object), number)
    both = [np.concatenate(parts) for parts in (counts, shares)]
    return ScoreHistogram(labels, np.tile(edges[:-1], 2), np.tile(edges[1:], 2), both[0], both[1])


def _equal_edges(tally: Tally, number: int) -> Floats:
    low, high = (0.0, 1.0) if tally.is_probability else tally.range
    # Halved, because the difference of two large floats may overflow.
    return 2.0 * np.linspace(low / 2, (high if high > low else low + 1.0) / 2, number + 1)


#: Log odds of the outermost edges: a probability of one in a hundred thousand.
_FURTHEST = 11.5


def _log_odds_edges(tally: Tally, number: int) -> Floats:
    """Edges between the lowest and highest log odds of the scores, in equal steps; the outer bins reach 0 and 1."""
    if not tally.is_probability:
        raise InputError("logit=True is for probabilities; these scores lie outside [0, 1].")
    with np.errstate(divide="ignore"):
        ends = [np.clip(np.log(p) - np.log1p(-p), -_FURTHEST, _FURTHEST) for p in tally.range]
    low, high = (float(end) for end in ends)
    steps = np.linspace(low, high if high > low else low + 1.0, number + 1)
    return np.asarray(1.0 / (1.0 + np.exp(-steps)))
