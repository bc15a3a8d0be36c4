"""Default intervals of metrics of a tally (their coverage is in the docs)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.effect import Effect
from tallymark.inference.limits.influence import design_of
from tallymark.inference.limits.maximised import Best, Maximum
from tallymark.inference.limits.proportions import limits as proportion_limits
from tallymark.inference.limits.replicated import replicated_limits
from tallymark.inference.limits.separation import separation_limits
from tallymark.inference.resampling.bootstrapping import bootstrap
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.scales import NO_SPREAD, on_scale, scale_of
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Entries a default bootstrap resamples at most: the spread of a metric does not need more.
_MOST = 2**12


#: With more entries than this, intervals are computed from as many cells, which hardly changes them.
_THIN = 2**16

#: Replicates of a default bootstrap, which only needs a mean and a standard error.
DEFAULT_REPLICATES = 400


def tally_limits(
    names: Iterable[str],
    tally: Tally,
    level: float,
    resampling: Resampling = Resampling(DEFAULT_REPLICATES, sampling="stratified"),  # noqa: B008 - it is immutable
    computed: Mapping[str, float] | None = None,
) -> dict[str, Limits]:
    """Low, high and method of metrics of a whole tally; those without an interval are left out.

    `computed` are values of the metrics, where the caller has them.
    """
    values = dict(computed or {})
    if sum(map(len, tally.runs)) > _THIN:
        tally, values = Pool.of(tally, _THIN).thinned(), {}
    case = _Case(tally, level, resampling)
    wanted = list(names)
    scales = {name: of for name in wanted if (of := inference_of(name).increasing_in) is not None}
    needed = dict.fromkeys(scales[name].base if name in scales else name for name in wanted)
    low, high = tally.range
    # With one score for all rows there is no ranking, and no interval.
    needed = {name: None for name in needed if not (low == high and METRICS[name].rank_only)}
    limits: dict[str, Limits | None] = {}
    for name in needed:
        declared = inference_of(name)
        if declared.limits is not None:
            limits[name] = declared.limits(tally, level, resampling.seed)
        elif declared.influence is not None:
            limits[name] = case.closed_form(name, declared.influence, values.get(name))
    limits |= case.resampled([name for name in needed if name not in limits])
    entries = {name: ends for name, ends in limits.items() if ends is not None}
    for name, scale in scales.items():
        if scale.base in entries:
            low, high, method = entries[scale.base]
            entries[name] = (scale.of_base(low), scale.of_base(high), method)
    return {name: entries[name] for name in wanted if name in entries}


@dataclass(frozen=True, eq=False)
class _Case:
    """A tally whose metrics get limits, their level, and the options of resampling."""

    tally: Tally
    level: float
    resampling: Resampling

    @property
    def plain(self) -> bool:
        """Whether class sizes are random."""
        return self.resampling.sampling == "plain" and self.tally.prior is None

    def resampled(self, names: Sequence[str]) -> dict[str, Limits | None]:
        """Limits of metrics by the bootstrap, from one set of resamples."""
        maxima = {name: maximum for name in names if (maximum := inference_of(name).maximum) is not None}
        needed = dict.fromkeys(maxima[name].overshoot if name in maxima else name for name in names)
        drawn = [name for name in needed if name is not None]
        draws = None
        if drawn:
            options = self.resampling
            draws = bootstrap(
                self.tally,
                drawn,
                sampling=options.sampling,
                replicates=options.replicates,
                seed=options.seed,
                jobs=options.jobs,
                most=_MOST,
            )
        limits: dict[str, Limits | None] = {}
        for name in names:
            if name in maxima:
                limits[name] = self._of_maximum(name, maxima[name], draws)
            elif draws is not None:
                limits[name] = self._of_replicates(name, draws.estimates[name], draws[name])
        return limits

    def _of_maximum(self, name: str, maximum: Maximum, draws: Mapping[str, Floats] | None) -> Limits | None:
        """Limits of a metric maximised over thresholds."""
        try:
            value = METRICS[name].compute(self.tally)
            design = design_of(name, self.tally, plain=self.plain)
            overshoot = 0.0
            if maximum.overshoot is not None and draws is not None:
                drawn = draws[maximum.overshoot][np.isfinite(draws[maximum.overshoot])]
                overshoot = float(drawn.mean()) - METRICS[maximum.overshoot].compute(self.tally) if len(drawn) else 0.0
        except Undefined:
            return None
        if not math.isfinite(value):
            return None
        low, high = maximum.limits(Best(self.tally, value, overshoot, self.level, design))
        return low, high, "beta, extra row, choice included"

    def closed_form(self, name: str, influence: Callable[[Tally], Effect], computed: float | None) -> Limits | None:
        """Limits from the influence function of a metric."""
        facts = METRICS[name]
        try:
            value = facts.compute(self.tally) if computed is None else computed
            effect = influence(self.tally)
            design = design_of(name, self.tally, plain=self.plain, by_odds=effect.by_odds)
        except Undefined:
            return None
        if effect.bounded is not None and math.isfinite(value):
            low, high = map(float, effect.limits(value, self.level, design))
            if math.isnan(low) or math.isnan(high):
                return None
            if not high > low:
                return self._separated(name)
            kind = "beta" if math.isfinite(effect.bounded.high - effect.bounded.low) else "student"
            return max(low, facts.low), min(high, facts.high), f"{kind}, extra row"
        spread = effect.spread(design)
        if math.isnan(spread.error):
            return None
        if not facts.low < value < facts.high or spread.error <= NO_SPREAD * abs(value):
            return self._separated(name)
        scale = scale_of(facts.low, facts.high)
        low, high = on_scale(value, spread.error, spread.freedom, self.level, scale)
        # A sum over rows, each at most 1, cannot exceed their number.
        return low, min(high, float(self.tally.n)) if facts.extensive else high, f"influence, {scale.name}"

    def _of_replicates(self, name: str, value: float, drawn: Floats) -> Limits | None:
        if math.isnan(value):
            return None
        fewest = min(run.n_rows for run in self.tally.runs)
        limits = replicated_limits(METRICS[name], value, drawn, fewest, self.level)
        if limits is None:
            return self._separated(name) or self._of_share(name, value)
        return (*limits, f"{self.resampling.sampling} bootstrap, bias-corrected")

    def _of_share(self, name: str, value: float) -> Limits | None:
        share_of = inference_of(name).share_of
        if share_of is None:
            return None
        rows = share_of(self.tally)
        low, high = proportion_limits(value * rows, rows, self.level)
        return float(low), float(high), "mid-p"

    def _separated(self, name: str) -> Limits | None:
        low, high = separation_limits(name, self.tally, self.level)
        return None if math.isnan(low) else (low, high, "exact")
