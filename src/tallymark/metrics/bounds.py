"""Bounds of the metrics of a quantised tally."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark.errors import InputError
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally, extremes


def bound(tally: Tally, name: str, **options: Any) -> tuple[float, float]:
    r"""Lowest and highest possible value of a metric of the rows behind a quantised tally.

    A metric that only gets better when a positive rises or a negative falls is bracketed by the two extreme orders
    inside cells. Metrics of moments stay exact, up to the rounding of means that are large relative to the spread of
    the scores. Other metrics declare their bounds.

    Parameters
    ----------
    tally : Tally
        Labelled scores, quantised (:meth:`Tally.quantise`) or not.
    name : str
        A metric of a tally.
    **options
        Options of the metric.

    Returns
    -------
    tuple of float
        Equal where the tally is exact.

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.35, 0.350001, 0.8])
    >>> tm.bound(t, "auroc")
    (1.0, 1.0)
    >>> tm.bound(t.quantise(), "auroc")
    (0.875, 1.0)
    """
    if isinstance(tally, str):
        raise InputError("The data comes first: tm.bound(tally, 'auroc').")
    metric = METRICS[name]
    if not isinstance(tally, Tally) or metric.needs not in {"tally", "probabilities"}:
        raise InputError(f"bound() takes metrics of a Tally; {name} of {type(tally).__name__} is exact.")
    value = metric.compute(tally, **options)
    if tally.exact:
        return value, value
    if metric.moments:
        lost = _rounding(tally)
        if lost > _TOO_MUCH:
            return metric.low, metric.high
        off = (1.0 + abs(value)) * lost if math.isfinite(value) else 0.0
        return max(value - off, metric.low), min(value + off, metric.high)
    if callable(metric.bound):
        low, high = metric.bound(tally, **options)
    else:
        values = [metric.compute(extreme, **options) for extreme in extremes(tally)]
        low, high = min(values), max(values)
    return min(low, value), max(high, value)


#: Rounding errors of a mean and a spread, in units of the last digit.
_ROUNDINGS = 64.0

#: Relative errors below the first are ordinary rounding; beyond the second the value is unknown.
_USUAL, _TOO_MUCH = 1e-12, 1e-3


def _rounding(tally: Tally) -> float:
    """How far rounding of the means can have moved a metric of stored moments, in units of the scores' spread."""
    for run, moments in zip(tally.runs, tally.views.scaled_moments, strict=True):
        if (
            len(run)
            and not moments.variance > 0.0
            and float(run.scores[0]) < float((run.scores if run.hi is None else run.hi)[-1])
        ):
            # Scores that differ have lost all of their spread.
            return math.inf
    spreads = [math.sqrt(m.variance) for m in tally.views.scaled_moments if m.mass and m.variance > 0.0]
    sizes = [abs(m.mean) for m in tally.views.scaled_moments if m.mass]
    lost = _ROUNDINGS * float(np.finfo(np.float64).eps) * max(sizes, default=0.0) / min(spreads, default=math.inf)
    return lost if lost > _USUAL else 0.0
