"""Jackknife limits of metrics of rows in clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tallymark._check import Floats
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.resampling.jackknife import Jackknife, jackknifed, without_each
from tallymark.inference.resampling.values import cells_at
from tallymark.metrics.declare import smooth_cells
from tallymark.registry import METRICS, Metric
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
    settings = parameters or {}
    scales = {name: of for name in values if (of := inference_of(name).increasing_in) is not None}
    bases = {scales[name].base if name in scales else name: name for name in values}
    kinked = {base: parts for base in bases if len(parts := smooth_cells(METRICS[base])) > 1}
    ends: dict[str, tuple[float, float]] = {}
    if threshold is not None:
        for base, parts in kinked.items():
            chosen = settings.get(base, METRICS[base].parameters)
            ends[base] = _kinked(METRICS[base], parts, chosen, tally, threshold, level)
    smooth = [base for base in bases if base not in kinked]
    for base, without in jackknifed(smooth, tally, threshold, settings).items():
        name, facts = bases[base], METRICS[base]
        value = values[base] if base in values else scales[name].to_base(values[name])
        ends[base] = Jackknife.of(without).limits(value, level, facts.low, facts.high)
    entries = {}
    for name in values:
        low, high = ends.get(scales[name].base if name in scales else name, (math.nan, math.nan))
        if name in scales:
            low, high = scales[name].of_base(low), scales[name].of_base(high)
        if not math.isnan(low):
            entries[name] = (low, high, METHOD)
    return entries


def _kinked(
    facts: Metric,
    parts: Sequence[Callable[..., Floats]],
    settings: Mapping[str, float],
    tally: Tally,
    threshold: float,
    level: float,
) -> tuple[float, float]:
    """Limits of the smallest of several smooth functions of the cells: the smallest of their lower and upper limits."""
    cells = tally.at(threshold).cells
    blocks = [cells_at(block, threshold) for block in without_each(tally, [threshold])]
    ends = []
    for part in parts:
        without = np.concatenate([part(*block, **settings) for block in blocks])
        ends.append(Jackknife.of(without).limits(float(part(*cells, **settings)), level, -math.inf, math.inf))
    low, high = np.min(ends, axis=0).tolist()
    return max(low, facts.low), min(high, facts.high)
