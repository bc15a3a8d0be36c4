"""Limits of metrics whose rows come in clusters."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.resampling.jackknife import Jackknife, jackknifed
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: What the limits are called.
METHOD = "cluster jackknife"


def clustered_limits(
    values: Mapping[str, float], tally: Tally, threshold: float | None, level: float,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Limits]:  # fmt: skip
    """Limits of each metric, by its value; none where leaving out some clusters leaves it undefined."""
    made: dict[str, Limits] = {}
    for name, without in jackknifed(list(values), tally, threshold, parameters).items():
        facts = METRICS[name]
        low, high = Jackknife.of(without).limits(values[name], level, facts.low, facts.high)
        if not math.isnan(low):
            made[name] = (low, high, METHOD)
    return made
