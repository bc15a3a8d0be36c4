"""Jackknife limits of metrics of rows in clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tallymark.inference.declared import inference_of
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.resampling.jackknife import Jackknife, jackknifed
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Name of the method.
METHOD = "cluster jackknife"


def clustered_limits(
    values: Mapping[str, float],
    tally: Tally,
    threshold: float | None,
    level: float,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Limits]:
    """Limits of each metric, by its value; none where leaving out some clusters leaves it undefined."""
    entries: dict[str, Limits] = {}
    for name, without in jackknifed(list(values), tally, threshold, parameters).items():
        base, factor = inference_of(name).multiple_of or (name, 1.0)
        facts = METRICS[base]
        low, high = Jackknife.of(without / factor).limits(values[name] / factor, level, facts.low, facts.high)
        if not math.isnan(low):
            entries[name] = (factor * low, factor * high, METHOD)
    return entries
