"""Limits of a mean of outcomes: of independent rows, of repeated runs of items, and of clusters.

Limits of grades and of pass@k have half a pseudo-item at either end of the range, as those of corrected means have:
where nearly all items have the best value, Student's limits alone hold far too seldom.
"""

from __future__ import annotations

import math

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Interval
from tallymark.inference.limits.proportions import limits
from tallymark.inference.scales import including, student_value
from tallymark.summaries.outcomes import Outcomes

#: Weight of each of the two pseudo-items, in groups of rows.
_PSEUDO = 0.5


def group_error(values: Floats, outcomes: Outcomes) -> tuple[float, float]:
    r"""Jackknife standard error of a mean over independent groups of rows, and its degrees of freedom.

    Groups of :math:`n_g` rows count like :math:`(\sum n_g)^2 / \sum n_g^2` of equal size.
    """
    sums, sizes = np.bincount(outcomes.group, values), np.bincount(outcomes.group)
    groups, n = len(sizes), len(values)
    if groups < 2:
        return math.nan, 0.0
    without = (sums.sum() - sums) / (n - sizes)
    error = math.sqrt((groups - 1) / groups * float(((without - without.mean()) ** 2).sum()))
    return error, n**2 / float((sizes.astype(np.float64) ** 2).sum()) - 1.0


def rate_of(outcomes: Outcomes, place: int, level: float) -> Interval:
    """The mean of a system with its limits: mid-p of pass rates, at an effective size in groups; else Student's.

    Values that are all alike, and no shares, tell nothing of their spread: their mean has no limits.
    """
    values = outcomes.values[:, place]
    mean, (error, freedom) = float(values.mean()), group_error(values, outcomes)
    if not outcomes.binary:
        low, high = _within_range(mean, error, freedom, outcomes.range, level)
        return Interval(mean, low, high, "t, two half pseudo-items", level)
    size, method = float(outcomes.n), "mid_p"
    if not outcomes.independent:
        # Never more than the rows; of rates at 0 or 1, whose error is 0, the groups.
        size, method = freedom + 1.0, "mid_p, effective size"
        if error > 0.0:
            wider = (student_value(level, freedom) / student_value(level, math.inf)) ** 2
            size = min(mean * (1.0 - mean) / (error**2 * wider), float(outcomes.n))
    of_rate = limits(mean * size, size, level)
    return Interval(mean, float(of_rate[0]), float(of_rate[1]), method, level)


def _within_range(
    mean: float, error: float, freedom: float, ends: tuple[float, float], level: float
) -> tuple[float, float]:
    """Student's limits of a mean with half a pseudo-item at either end of the range; nan where nothing varies."""
    low, high = ends
    if math.isnan(error) or low == high:
        return math.nan, math.nan
    groups = freedom + 1.0
    size = groups + 2.0 * _PSEUDO
    centre = (mean * groups + _PSEUDO * (low + high)) / size
    variance = (error * groups) ** 2 + _PSEUDO * ((low - centre) ** 2 + (high - centre) ** 2)
    reach = student_value(level, freedom) * math.sqrt(variance) / size
    lower, upper = including(mean, centre - reach, centre + reach)
    return max(lower, low), min(upper, high)
