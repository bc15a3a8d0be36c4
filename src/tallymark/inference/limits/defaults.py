"""Default intervals of metrics of a tally (their coverage is in the docs)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.interval import Sampling, Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.influence import design_of
from tallymark.inference.limits.maximised import Best, Maximum
from tallymark.inference.limits.replicated import replicated_limits
from tallymark.inference.limits.separation import separation_limits
from tallymark.inference.resampling.bootstrapping import bootstrap
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.scales import NO_SPREAD, on_scale, scale_of
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Entries a default bootstrap resamples at most: the spread of a metric does not need more.
_MOST = 2**12


#: With more entries than this, intervals are computed from as many cells, which hardly changes them.
_THIN = 2**16

#: Replicates of a default bootstrap, which only needs a mean and a standard error.
_REPLICATES = 400


def tally_limits(
    names: Iterable[str],
    tally: Tally,
    level: float,
    sampling: Sampling = "stratified",
    *,
    replicates: int = _REPLICATES,
    seed: Seed = 0,
    jobs: int | None = None,
    computed: Mapping[str, float] | None = None,
) -> dict[str, Limits]:
    """Low, high and method of metrics of a whole tally; those without an interval are left out.

    `computed` are values of the metrics, where the caller has them.
    """
    entries: dict[str, Limits] = {}
    values = dict(computed or {})
    if sum(map(len, tally.runs)) > _THIN:
        tally, values = Pool.of(tally, _THIN).thinned(), {}
    resampled = []
    low, high = tally.range
    wanted = list(names)
    multiples = {name: of for name in wanted if (of := inference_of(name).multiple_of) is not None}
    for name in dict.fromkeys(multiples[name][0] if name in multiples else name for name in wanted):
        declared = inference_of(name)
        if low == high and METRICS[name].rank_only:
            # With one score for all rows there is no ranking, and no interval.
            continue
        if declared.limits is not None:
            entries[name] = declared.limits(tally, level, seed)
        elif declared.influence is None:
            resampled.append(name)
        elif (limits := _closed_form(name, declared.influence, tally, level, sampling, values.get(name))) is not None:
            entries[name] = limits
    if resampled:
        entries |= _resampled(resampled, tally, level, sampling, replicates, seed, jobs)
    for name, (base, factor) in multiples.items():
        if base in entries:
            low, high, method = entries[base]
            entries[name] = (factor * low, factor * high, method)
    return {name: entries[name] for name in wanted if name in entries}


def _resampled(
    names: Sequence[str],
    tally: Tally,
    level: float,
    sampling: Sampling,
    replicates: int,
    seed: Seed,
    jobs: int | None,
) -> dict[str, Limits]:
    """Limits of metrics by the bootstrap, from one set of resamples."""
    maxima = {name: maximum for name in names if (maximum := inference_of(name).maximum) is not None}
    needed = dict.fromkeys(maxima[name].overshoot if name in maxima else name for name in names)
    drawn = [name for name in needed if name is not None]
    draws = None
    if drawn:
        draws = bootstrap(tally, drawn, sampling=sampling, replicates=replicates, seed=seed, jobs=jobs, most=_MOST)
    limits = {}
    for name in names:
        if name in maxima:
            limits[name] = _of_maximum(name, maxima[name], tally, level, sampling, draws)
        elif draws is not None:
            limits[name] = _of_replicates(name, tally, level, sampling, draws.estimates[name], draws[name])
    return {name: ends for name, ends in limits.items() if ends is not None}


def _of_maximum(
    name: str, maximum: Maximum, tally: Tally, level: float, sampling: Sampling, draws: Mapping[str, Floats] | None
) -> Limits | None:
    """Limits of a metric maximised over thresholds."""
    try:
        value = METRICS[name].compute(tally)
        design = design_of(name, tally, plain=sampling == "plain" and tally.prior is None)
        overshoot = 0.0
        if maximum.overshoot is not None and draws is not None:
            drawn = draws[maximum.overshoot][np.isfinite(draws[maximum.overshoot])]
            overshoot = float(drawn.mean()) - METRICS[maximum.overshoot].compute(tally) if len(drawn) else 0.0
    except Undefined:
        return None
    if not math.isfinite(value):
        return None
    low, high = maximum.limits(Best(tally, value, overshoot, level, design))
    return low, high, "beta, extra row, choice included"


def _closed_form(
    name: str,
    influence: Callable[[Tally], Effect],
    tally: Tally,
    level: float,
    sampling: Sampling,
    computed: float | None = None,
) -> Limits | None:
    facts = METRICS[name]
    try:
        value = facts.compute(tally) if computed is None else computed
        effect = influence(tally)
        plain = sampling == "plain" and tally.prior is None
        design = design_of(name, tally, plain=plain, by_odds=effect.by_odds)
    except Undefined:
        return None
    if effect.bounded is not None and math.isfinite(value):
        low, high = effect.limits(value, level, design)
        if math.isnan(float(low)) or math.isnan(float(high)):
            return None
        if not float(high) > float(low):
            return _separated(name, tally, level)
        kind = "beta" if math.isfinite(effect.bounded.high - effect.bounded.low) else "student"
        return max(float(low), facts.low), min(float(high), facts.high), f"{kind}, extra row"
    spread = effect.spread(design)
    if math.isnan(spread.error):
        return None
    if not facts.low < value < facts.high or spread.error <= NO_SPREAD * abs(value):
        return _separated(name, tally, level)
    scale = scale_of(facts.low, facts.high)
    low, high = on_scale(value, spread.error, spread.freedom, level, scale)
    # A sum over rows, each at most 1, cannot exceed their number.
    return low, min(high, float(tally.n)) if facts.extensive else high, f"influence, {scale.name}"


def _of_replicates(
    name: str, tally: Tally, level: float, sampling: Sampling, value: float, drawn: Floats
) -> Limits | None:
    if math.isnan(value):
        return None
    fewest = min(run.n_rows for run in tally.runs)
    limits = replicated_limits(METRICS[name], value, drawn, fewest, level)
    return _separated(name, tally, level) if limits is None else (*limits, f"{sampling} bootstrap, bias-corrected")


def _separated(name: str, tally: Tally, level: float) -> Limits | None:
    low, high = separation_limits(name, tally, level)
    return None if math.isnan(low) else (low, high, "exact")
