"""Bias-corrected Student limits from bootstrap replicates, on the metric's scale."""

from __future__ import annotations

import math

import numpy as np

from tallymark._check import Floats
from tallymark.inference.scales import NO_SPREAD, scale_of, student_value
from tallymark.registry import Metric

#: A metric undefined in more resamples than this leaves has no interval.
_DEFINED = 0.9


def replicated_limits(
    facts: Metric, value: float, drawn: Floats, fewest: int, level: float
) -> tuple[float, float] | None:
    r"""Limits of a metric inside its range from its values in resamples; None where these do not vary, or are
    undefined.

    With s the standard deviation and b the bias of the resamples on the metric's scale (logit, log or plain), by the
    derivative there, the limits are :math:`v - b \pm \sqrt{(t s)^2 + b^2}`, so that they lie on both sides of the
    value. Percentiles would double the bias of metrics that are maxima (KS, hulls): these overshoot in every resample.
    `fewest` is the number of rows of the smallest class.
    """
    defined = drawn[np.isfinite(drawn)]
    if not facts.low < value < facts.high or len(defined) < _DEFINED * len(drawn):
        return None
    error = float(defined.std(ddof=1))
    if error <= NO_SPREAD * abs(value):
        return None
    scale = scale_of(facts.low, facts.high)
    slope = scale.slope(value)
    bias = (float(defined.mean()) - value) * slope
    reach = math.hypot(student_value(level, max(fewest - 1, 1)) * error * slope, bias)
    centre = scale.forward(value) - bias
    return scale.inverse(centre - reach), scale.inverse(centre + reach)
