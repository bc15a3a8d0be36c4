"""Optimism of metrics at a threshold chosen on the same rows, and limits that include the choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from tallymark._check import Floats
from tallymark._display import Limited, Row, Shown, plain
from tallymark._policies import parse_policy
from tallymark.curves.base import with_both_classes
from tallymark.errors import InputError, Undefined
from tallymark.inference.interval import Sampling, Seed, checked_level
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.resampling.bootstrapping import over_replicates
from tallymark.inference.resampling.cluster_draws import clustered_resamples
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.threshold_choice import at_choices, chosen_in, masses_above
from tallymark.inference.scales import critical_value
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.parameters import stated_parameters
from tallymark.registry import METRICS, Metric
from tallymark.summaries.tally import Tally

#: Resamples of the choice for a mean optimism.
REPLICATES = 200

#: Entries resampled at most: enough thresholds to choose from.
_MOST = 2**13

#: The mean optimism of resamples is about two thirds of what a new sample would show, so it counts one and a half
#: times.
_SHORT_OF = 1.5


#: Transform of a metric to the scale on which optimism is subtracted.
Scale = Callable[[Any], Any]


def _as_is(values: Any) -> Any:
    return values


@dataclass(frozen=True, eq=False)
class Choices:
    """The thresholds that a policy chooses in resamples, and the masses above them in the resample and the sample."""

    tally: Tally
    cuts: Floats
    #: True and false positives, positives and negatives: of the resample, then of the sample at the same threshold.
    resampled: tuple[Floats, Floats, Floats, Floats]
    original: tuple[Floats, Floats, Floats, Floats]

    @classmethod
    def of(cls, tally: Tally, policy: str, resampling: Resampling) -> Choices:
        """Resample the rows, or the clusters they come in, and choose anew in each resample.

        Resamples in which the policy is undefined, or a class has no rows, are left out.
        """

        def chosen(draws: Resamples) -> Floats:
            cuts, rates = chosen_in(draws, policy)
            return np.stack((cuts, *rates))

        if tally.clusters is not None:
            blocks = [
                chosen(block) for block in clustered_resamples(tally, resampling.replicates, resampling.seed, _MOST)
            ]
        else:
            blocks = over_replicates(tally, chosen, resampling, most=_MOST)
        columns = np.concatenate(blocks, axis=1)
        columns = columns[:, ~np.isnan(columns[0])]
        if columns.shape[1] < resampling.replicates / 2:
            raise Undefined(f"the policy {policy!r} is undefined in most resamples")
        cuts, tp, fp, up, down = columns
        original = np.array([masses_above(tally, cut) for cut in cuts]).T
        return cls(tally, cuts, (tp, fp, up, down), tuple(original))

    def optimism(self, facts: Metric, given: Mapping[str, float], scale: Scale = _as_is) -> Floats:
        """The metric of each resample at its threshold, less that of the sample at the same threshold, on a scale."""
        resampled, original = (
            at_choices(facts, self.cuts, self._reweighted(cells), given) for cells in (self.resampled, self.original)
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            values: Floats = scale(resampled) - scale(original)
        return values[np.isfinite(values)]

    def _reweighted(self, cells: tuple[Floats, Floats, Floats, Floats]) -> tuple[Any, Any, Any, Any]:
        """Masses at the stated prevalence."""
        tp, fp, up, down = cells
        prior = self.tally.prior
        return cells if prior is None else (tp / up * prior, fp / down * (1.0 - prior), prior, 1.0 - prior)


def with_choice(
    limits: Mapping[str, Limits],
    values: Mapping[str, float],
    choices: Choices,
    given: Mapping[str, float],
    level: float,
) -> tuple[dict[str, Limits], dict[str, float]]:
    r"""Limits of metrics at a threshold chosen on the same rows, and the optimism of each, from limits at a fixed one.

    With v the value, L and U its limits and o the mean optimism, the interval lies around :math:`v - 1.5 o` and reaches
    :math:`\sqrt{(v - L)^2 + (z o)^2}` down and :math:`\sqrt{(U - v)^2 + (z o)^2}` up, all on the logarithmic scale for
    metrics that range from 0 to infinity. It covers the value that the chosen threshold has in the population. Chosen
    by simulation (docs); the optimism is Efron & Gong's (1983), Am. Stat. 37(1).
    """
    z = critical_value(level)
    with_choices, optimism = {}, {}
    for name, (low, high, method) in limits.items():
        facts = METRICS[name]
        settings = {k: v for k, v in given.items() if k in facts.parameters}
        value = values[name]
        scale, back = _scale_of(facts, value)
        mean = _mean(choices.optimism(facts, settings, scale))
        optimism[name] = _in_units_of_value(mean, value, back)
        if not math.isfinite(value):
            with_choices[name] = (low, high, method)
            continue
        with np.errstate(divide="ignore"):
            at, down, up = (float(scale(v)) for v in (value, low, high))
        centre, noise = at - _SHORT_OF * mean, z * mean
        with_choices[name] = (
            max(facts.low, float(back(centre - math.hypot(at - down, noise)))),
            min(facts.high, float(back(centre + math.hypot(up - at, noise)))),
            f"{method}, choice included",
        )
    return with_choices, optimism


def _scale_of(facts: Metric, value: float) -> tuple[Scale, Scale]:
    """The scale on which optimism is subtracted, and its inverse: logarithmic for ratios, which stay above 0 then."""
    ratio = (facts.low, facts.high) == (0.0, math.inf) and 0.0 < value < math.inf
    return (np.log, np.exp) if ratio else (_as_is, _as_is)


def _in_units_of_value(optimism: float, value: float, back: Scale) -> float:
    """Optimism in units of the value."""
    return value - value / float(back(optimism)) if back is np.exp else optimism


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


@dataclass(frozen=True, repr=False)
class ChosenThreshold(Shown, Limited):
    """A threshold that a policy chose, its stability, and the optimism of the choice.

    Parameters
    ----------
    policy
        The policy.
    threshold, low, high
        The threshold, and percentiles of the thresholds chosen in resamples.
    metric
        Name of the metric that the threshold is judged by.
    apparent
        The metric at the threshold on the rows that chose it.
    optimism
        By how much that is too good on average.
    corrected
        The apparent value less the optimism.
    level
        Level of the percentiles.
    replicates
        Resamples in which the policy is defined.
    """

    policy: str
    threshold: float
    low: float
    high: float
    metric: str
    apparent: float
    optimism: float
    corrected: float
    level: float
    replicates: int
    interval_method: ClassVar[str] = "percentiles of the choice in resamples"

    @property
    def value(self) -> float:
        """The threshold."""
        return self.threshold

    def heading(self) -> str:
        """The policy."""
        return f"Threshold by {self.policy}, {self.replicates} resamples"

    def rows(self) -> list[Row]:
        """One line."""
        return [{name: value for name, value in asdict(self).items() if name not in {"policy", "replicates"}}]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in asdict(self).items()}


def chosen_threshold(
    tally: Tally,
    policy: str,
    *,
    metric: str | None = None,
    level: float = 0.95,
    replicates: int = 500,
    seed: Seed = 0,
    jobs: int | None = None,
    sampling: Sampling = "plain",
    **parameters: float,
) -> ChosenThreshold:
    r"""Stability and optimism of a threshold chosen on the same rows, by resampling the choice.

    In each resample the policy chooses anew; the metric there, less the metric of that threshold on the original rows,
    is the optimism, and its mean is subtracted from the apparent value (which removes about two thirds of it). Efron &
    Gong (1983), Am. Stat. 37(1); Harrell, Lee & Mark (1996), Stat. Med. 15(4).

    Parameters
    ----------
    tally
        A labelled tally.
    policy
        A policy such as ``"f1"`` or ``"cost:1,50"``.
    metric
        Name of the metric to judge the threshold by; by default what the policy optimises: F1 for ``f1``, the expected
        cost at those costs for ``cost:1,50``.
    level
        Level of the percentiles of the threshold.
    replicates, seed
        Number and seed of the resamples.
    jobs
        Number of threads; by default one for each core, at most 8.
    sampling
        ``"plain"`` draws all rows at random, ``"stratified"`` within each class.
    **parameters
        Parameters of the metric.

    Returns
    -------
    ChosenThreshold

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(200) < 0.2
    >>> choice = tm.intervals.chosen_threshold(tm.tally(y, rng.normal(y * 1.0)), "f1")
    >>> choice.corrected < choice.apparent
    True
    """
    with_both_classes(tally, "intervals.chosen_threshold")
    if not isinstance(policy, str):
        raise InputError(f"policy is {policy!r}, expected a policy such as 'f1': a number is not chosen from the data.")
    chooser, numbers = parse_policy(policy)
    facts, confidence = METRICS[chooser.judged_by if metric is None else metric], checked_level(level)
    if facts.needs != "confusion":
        raise InputError(f"{metric} is not a metric at one threshold; take one such as f1 or balanced_accuracy.")
    if unknown := set(parameters) - set(facts.parameters):
        cell_settings(facts, {name: parameters[name] for name in unknown})
    given = {k: v for k, v in stated_parameters(policy, parameters).items() if k in facts.parameters}
    threshold = float(chooser.choose(tally, *numbers))
    choices = Choices.of(tally, policy, Resampling(replicates, seed, jobs, sampling))
    tails = [(1.0 - confidence) / 2, (1.0 + confidence) / 2]
    low, high = (float(v) for v in np.quantile(choices.cuts, tails, method="nearest"))
    apparent = facts.compute(tally.at(threshold), **given)
    scale, back = _scale_of(facts, apparent)
    optimism = choices.optimism(facts, given, scale)
    off = _in_units_of_value(_mean(optimism), apparent, back) if len(optimism) else math.nan
    return ChosenThreshold(
        policy=policy,
        threshold=threshold,
        low=low,
        high=high,
        metric=facts.name,
        apparent=apparent,
        optimism=off,
        corrected=apparent - off,
        level=confidence,
        replicates=len(choices.cuts),
    )
