"""A metric of every resample of a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError, Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.interval import or_nan
from tallymark.inference.resampling.resamples import Resamples
from tallymark.metrics.declare import cell_settings
from tallymark.registry import METRICS, Metric


def _at_threshold(facts: Metric, draws: Resamples, threshold: float, parameters: Mapping[str, float] | None) -> Floats:
    cells = cells_at(draws, threshold)
    try:
        acts_from = threshold if draws.pool.tally.is_probability else np.nan
        settings = cell_settings(facts, {}, acts_from) if parameters is None else parameters
    except Undefined:
        return np.full(len(draws), np.nan)
    values: Floats = facts.cells(*cells, **settings)  # type: ignore[misc]
    return values


def cells_at(draws: Resamples, threshold: float) -> tuple[Floats, Floats, Floats, Floats]:
    """True and false positives, false and true negatives of every replicate, at the stated prevalence."""
    tp, fp, fn, tn = draws.cells(threshold)
    prior = draws.pool.tally.prior
    if prior is not None:
        up, down, n = tp + fn, fp + tn, tp + fn + fp + tn
        tp, fn = (cell / up * prior * n for cell in (tp, fn))
        fp, tn = (cell / down * (1.0 - prior) * n for cell in (fp, tn))
    return tp, fp, fn, tn


def at_rates(
    facts: Metric, tp: Any, fp: Any, positives: Any, negatives: Any, parameters: Mapping[str, float] | None = None
) -> Floats:
    """A metric at one threshold, of many true and false positives at once."""
    settings = facts.parameters if parameters is None else parameters
    # Differences of sums of weights may be below 0 by rounding.
    rest = (np.maximum(total - part, 0) for total, part in ((positives, tp), (negatives, fp)))
    values: Floats = facts.cells(tp, fp, *rest, **settings)  # type: ignore[misc]
    return values


def _blockwise(facts: Metric, values_in: Callable[[Resamples], Floats], draws: Resamples) -> Floats:
    values = np.full(len(draws), np.nan)
    if facts.needs == "probabilities" and not draws.pool.tally.is_probability:
        return values
    # A class may have no mass where weights vary, and the metric is undefined.
    both = (draws.totals[0] > 0.0) & (draws.totals[1] > 0.0)
    if both.all():
        return values_in(draws)
    if both.any():
        values[both] = values_in(Resamples(draws.pool, draws.negative[both], draws.positive[both]))
    return values


def values_of(
    name: str, draws: Resamples, threshold: float | None, parameters: Mapping[str, float] | None = None
) -> Floats:
    """A metric of every replicate of a block."""
    facts = METRICS[name]
    if facts.needs == "confusion":
        if threshold is None:
            raise InputError(f"{name} needs a threshold: bootstrap(tally, {name!r}, threshold=0.5).")
        return _at_threshold(facts, draws, threshold, parameters)
    blockwise = inference_of(name).blockwise
    if blockwise is not None:
        return _blockwise(facts, blockwise, draws)
    if facts.moments:
        tallies = draws.tallies_of_moments
    else:
        tallies = draws.tallies_by_cell if facts.rank_only else draws.tallies_by_score
    return np.array([or_nan(facts.compute, tally) for tally in tallies])
