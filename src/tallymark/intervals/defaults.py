"""Which interval each metric gets when none is named (the docs' tables show what was simulated)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.intervals.base import NO_SPREAD, Sampling, Seed, on_scale, scale_of
from tallymark.intervals.calibrated import BINNED, calibration_limits
from tallymark.intervals.effects import EFFECTS
from tallymark.intervals.influence import design_of
from tallymark.intervals.maxima import MAXIMA
from tallymark.intervals.perfect import limits_of_perfection
from tallymark.intervals.pool import Pool
from tallymark.intervals.rates import Limits
from tallymark.intervals.replicates import bootstrap
from tallymark.metrics.at_k import TOP
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Entries a default bootstrap resamples at most: the spread of a metric does not need more.
_MOST = 2**12


#: With more entries than this, intervals are computed from as many cells: limits move by far less than they are wide.
_THIN = 2**16

#: Replicates of a default bootstrap, which only needs a mean and a standard error.
_REPLICATES = 400


def tally_limits(
    names: Iterable[str], tally: Tally, level: float, sampling: Sampling = "stratified", *,
    replicates: int = _REPLICATES, seed: Seed = 0, known: Mapping[str, float] | None = None,
) -> dict[str, Limits]:  # fmt: skip
    """Low, high and method of metrics of a whole tally; those without an interval are left out.

    `known` are values of the metrics that were computed already.
    """
    found: dict[str, Limits] = {}
    values = dict(known or {})
    if sum(map(len, tally.runs)) > _THIN:
        tally, values = Pool.of(tally, _THIN).thinned(), {}
    resampled = []
    low, high = tally.range
    wanted = list(names)
    for name in dict.fromkeys(_MULTIPLES[name][0] if name in _MULTIPLES else name for name in wanted):
        if low == high and METRICS[name].rank_only:
            # One score for all ranks nothing, and no spread of it tells how sure that is.
            continue
        if name in BINNED:
            found[name] = calibration_limits(name, tally, level, seed)
        elif name not in EFFECTS:
            resampled.append(name)
        elif (limits := _closed_form(name, tally, level, sampling, values.get(name))) is not None:
            found[name] = limits
    if resampled:
        needed = dict.fromkeys(MAXIMA[name].overshoot if name in MAXIMA else name for name in resampled)
        drawn = [name for name in needed if name is not None]
        draws = (
            bootstrap(tally, drawn, sampling=sampling, replicates=replicates, seed=seed, most=_MOST) if drawn else None
        )
        for name in resampled:
            if name in MAXIMA:
                limits = _of_maximum(name, tally, level, sampling, draws)
            elif draws is not None:
                limits = _of_replicates(name, tally, level, sampling, draws.estimates[name], draws[name])
            if limits is not None:
                found[name] = limits
    for name in (name for name in wanted if name in _MULTIPLES):
        base, factor = _MULTIPLES[name]
        if base in found:
            low, high, method = found[base]
            found[name] = (factor * low, factor * high, method)
    return {name: found[name] for name in wanted if name in found}


#: Metrics that are a multiple of another one, whose limits they share.
_MULTIPLES = {"lift_at_k": ("recall_at_k", 1.0 / TOP)}


def _of_maximum(
    name: str, tally: Tally, level: float, sampling: Sampling, draws: Mapping[str, Floats] | None
) -> Limits | None:
    """Limits of a metric that takes the best of all thresholds."""
    own = MAXIMA[name]
    try:
        value = METRICS[name].compute(tally)
        design = design_of(name, tally, plain=sampling == "plain" and tally.prior is None)
        overshoot = 0.0
        if own.overshoot is not None and draws is not None:
            known = draws[own.overshoot][np.isfinite(draws[own.overshoot])]
            overshoot = float(known.mean()) - METRICS[own.overshoot].compute(tally) if len(known) else 0.0
    except Undefined:
        return None
    if not math.isfinite(value):
        return None
    low, high = own.limits(tally, value, overshoot, level, design)
    return low, high, "beta, extra row, choice included"


def _closed_form(
    name: str, tally: Tally, level: float, sampling: Sampling, known: float | None = None
) -> Limits | None:
    facts = METRICS[name]
    try:
        value = facts.compute(tally) if known is None else known
        effect = EFFECTS[name](tally)
        design = design_of(name, tally, plain=sampling == "plain" and tally.prior is None)
    except Undefined:
        return None
    if effect.bounded is not None and math.isfinite(value):
        low, high = effect.limits(value, level, design)
        if math.isnan(float(low)) or math.isnan(float(high)):
            return None
        if not float(high) > float(low):
            return _of_perfection(name, tally, level)
        kind = "beta" if math.isfinite(effect.bounded.high - effect.bounded.low) else "student"
        return max(float(low), facts.low), min(float(high), facts.high), f"{kind}, extra row"
    spread = effect.spread(design)
    if math.isnan(spread.error):
        return None
    if not facts.low < value < facts.high or spread.error <= NO_SPREAD * abs(value):
        return _of_perfection(name, tally, level)
    scale = scale_of(facts.low, facts.high)
    low, high = on_scale(value, spread.error, spread.freedom, level, scale)
    return low, high, f"influence, {scale.name}"


def _of_replicates(
    name: str, tally: Tally, level: float, sampling: Sampling, value: float, drawn: Floats
) -> Limits | None:
    """Student's interval on the metric's scale, centred where the bootstrap's own bias is taken off.

    Percentiles would double the bias of metrics that are maxima (KS, hulls): these overshoot in every resample.
    """
    facts = METRICS[name]
    if math.isnan(value):
        return None
    known = drawn[np.isfinite(drawn)]
    if not facts.low < value < facts.high or (len(known) and float(np.ptp(known)) <= NO_SPREAD * abs(value)):
        return _of_perfection(name, tally, level)
    if len(known) < _DEFINED * len(drawn):
        return None
    from scipy.special import stdtrit

    scale, fewest = scale_of(facts.low, facts.high), min(run.n_rows for run in tally.runs)
    # Half a row short of perfect: a resample without errors is no proof of infinite odds.
    margin = (facts.high - facts.low if math.isfinite(facts.high) else value) / (2 * fewest)
    there = np.array([scale.there(v) for v in np.clip(known, facts.low + margin, facts.high - margin).tolist()])
    error = float(there.std(ddof=1))
    reach = float(stdtrit(max(fewest - 1, 1), 0.5 + level / 2)) * error
    middle = 2.0 * scale.there(min(max(value, facts.low + margin), facts.high - margin)) - float(there.mean())
    low, high = scale.back(middle - reach), scale.back(middle + reach)
    return min(low, value), max(high, value), f"{sampling} bootstrap, bias-corrected"


def _of_perfection(name: str, tally: Tally, level: float) -> Limits | None:
    low, high = limits_of_perfection(name, tally, level)
    return None if math.isnan(low) else (low, high, "exact")


#: A metric undefined in more resamples than this leaves has no interval.
_DEFINED = 0.9
