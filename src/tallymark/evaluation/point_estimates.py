"""Point estimate of a metric, with its chance level, error bound and the reason where it is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tallymark.errors import Undefined
from tallymark.measures import Measure
from tallymark.metrics.bounds import bound
from tallymark.registry import Metric
from tallymark.summaries.confusion import BinaryConfusion
from tallymark.summaries.tally import Tally

#: Below this a chance level is rounding noise.
_NOISE = 1e-12


def measure_of(facts: Metric, summary: Any, name: str | None = None, **options: Any) -> Measure:
    """A metric of a summary with its chance level, bound and reason, without an interval."""
    name = name or facts.name
    has_prevalence = isinstance(summary, Tally | BinaryConfusion)
    prevalence = summary.prevalence if has_prevalence and not facts.prevalence_free else None
    try:
        value = facts.compute(summary, **options)
    except Undefined as error:
        return Measure(name=name, value=math.nan, prevalence=prevalence, reason=error.reason)
    error_bound = bound(summary, facts.name, **options) if isinstance(summary, Tally) and not summary.exact else None
    return Measure(
        name=name,
        value=value,
        chance=None if facts.better in {"neither", "zero"} else _or_none(lambda: facts.chance(summary, **options)),
        prevalence=prevalence,
        bound=error_bound,
        parameters={key: value for key, value in options.items() if key in facts.parameters},
    )


def _or_none(compute: Callable[[], float]) -> float | None:
    try:
        level = compute()
    except Undefined:
        return None
    # Expected tables carry rounding noise; a chance level of 1e-19 is 0.
    return 0.0 if abs(level) < _NOISE else level
