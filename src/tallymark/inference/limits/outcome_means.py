"""Limits of a mean of outcomes: of independent rows, of repeated runs of items, and of clusters."""

from __future__ import annotations

import math

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Interval
from tallymark.inference.limits.proportions import limits
from tallymark.inference.scales import student_value
from tallymark.summaries.outcomes import Outcomes


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
    """The mean of a system with its limits: mid-p of pass rates, at an effective size in groups; else Student's."""
    values = outcomes.values[:, place]
    mean, (error, freedom) = float(values.mean()), group_error(values, outcomes)
    if not outcomes.binary:
        reach = student_value(level, freedom) * error if outcomes.groups > 1 else math.nan
        return Interval(mean, mean - reach, mean + reach, "t", level)
    size, method = float(outcomes.n), "mid_p"
    if not outcomes.independent:
        # Never more than the rows; of rates at 0 or 1, whose error is 0, the groups.
        size, method = freedom + 1.0, "mid_p, effective size"
        if error > 0.0:
            wider = (student_value(level, freedom) / student_value(level, math.inf)) ** 2
            size = min(mean * (1.0 - mean) / (error**2 * wider), float(outcomes.n))
    low, high = limits(mean * size, size, level)
    return Interval(mean, float(low), float(high), method, level)
