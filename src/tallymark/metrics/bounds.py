"""How far a metric of a quantised tally can be from that of the rows."""

from __future__ import annotations

from typing import Any

from tallymark.errors import InputError
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally


def bound(name: str, tally: Tally, **options: Any) -> tuple[float, float]:
    """The least and the most the metric of the rows behind a tally can be; equal when the tally is exact.

    For a metric that only gets better when a positive rises or a negative falls, the two extreme orders inside
    cells bracket it. Metrics of moments stay exact. The rest bring their own argument.

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.35, 0.350001, 0.8])
    >>> tm.bound("auroc", t)
    (1.0, 1.0)
    >>> tm.bound("auroc", t.quantise())
    (0.875, 1.0)
    """
    metric = METRICS[name]
    if not isinstance(tally, Tally) or metric.needs not in {"tally", "probabilities"}:
        raise InputError(f"bound() speaks of metrics of a Tally; {name} of {type(tally).__name__} is exact.")
    value = metric.compute(tally, **options)
    if tally.exact or metric.bound == "moments":
        return value, value
    if callable(metric.bound):
        low, high = metric.bound(tally, **options)
    else:
        found = [metric.compute(extreme, **options) for extreme in tally.extremes]
        low, high = min(found), max(found)
    return min(low, value), max(high, value)
