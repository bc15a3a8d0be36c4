"""Limits of a mean of outcomes: of independent rows, of repeated runs of items, and of clusters."""

from __future__ import annotations

import math

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Interval
from tallymark.inference.limits.proportions import limits
from tallymark.inference.scales import student_value
from tallymark.summaries.outcomes import Outcomes


def group_error(values: Floats, outcomes: Outcomes) -> float:
    """Standard error of a mean from the sums of deviations of independent groups of rows."""
    sums = np.bincount(outcomes.group, values - values.mean())
    groups = len(sums)
    return math.sqrt(groups / (groups - 1) * float(sums @ sums)) / len(values) if groups > 1 else math.nan


def rate_of(outcomes: Outcomes, place: int, level: float) -> Interval:
    """The mean of a system with its limits: mid-p of pass rates, at an effective size in groups; else Student's."""
    values = outcomes.values[:, place]
    mean, groups = float(values.mean()), outcomes.groups
    if not outcomes.binary:
        reach = student_value(level, groups - 1) * group_error(values, outcomes) if groups > 1 else math.nan
        return Interval(mean, mean - reach, mean + reach, "t", level)
    size, method = float(outcomes.n), "mid_p"
    if not outcomes.independent:
        error = group_error(values, outcomes)
        # Never more than the rows; of rates at 0 or 1, whose error is 0, the groups.
        size, method = float(groups), "mid_p, effective size"
        if error > 0.0:
            wider = (student_value(level, groups - 1) / student_value(level, math.inf)) ** 2
            size = min(mean * (1.0 - mean) / (error**2 * wider), float(outcomes.n))
    low, high = limits(mean * size, size, level)
    return Interval(mean, float(low), float(high), method, level)
