r"""A share of a finite population from a checked sample of it, helped by a score that every row has.

With the mean score :math:`\mu` of all rows and a slope :math:`\lambda`,

.. math:: e = \lambda\mu + \overline{y - \lambda p}, \qquad V = (1 - f)\,\mathrm{Var}(y - \lambda p)/n,

every estimator is a choice of the slope: 0 expands the sample, 1 is the difference estimator, :math:`\bar y/\bar p` the ratio
estimator, the regression's slope GREG, and that slope kept within [0, 1] power-tuned prediction-powered inference (Angelopoulos, Duchi
& Zrnic 2023), which cannot lose by a bad score what it gains by a good one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats
from tallymark.inference.limits.proportions import limits
from tallymark.registry import choose

#: Positives (or negatives) found at which half of what the score seems to gain is believed.
_BELIEF = 5.0


@dataclass(frozen=True)
class Stratum:
    """Rows that were drawn alike: how many there are, what they are worth, and those of them that were checked.

    `size` is the sum of `worth` over all rows (their number, unless they are weighed by a value), `mean_score` the mean score of
    all of them by worth; `inclusion` is the probability with which each checked row was drawn.
    """

    size: float
    mean_score: float
    truth: Floats
    score: Floats
    worth: Floats
    inclusion: Floats

    @property
    def mass(self) -> Floats:
        """What each checked row stands for."""
        return self.worth / self.inclusion

    @property
    def complete(self) -> bool:
        """Whether every row was checked."""
        return bool(len(self.truth)) and bool((self.inclusion >= 1.0).all())

    def mean(self, values: Floats) -> float:
        """A mean over all rows, estimated from the checked ones."""
        return float(self.mass @ values / self.mass.sum())

    def variance(self, values: Floats) -> float:
        """Variance of that mean; nan with a single checked row of several."""
        n = len(values)
        if self.complete:
            return 0.0
        if n < 2:
            return math.nan
        deviations = self.mass * (values - self.mean(values)) / self.mass.sum()
        return float(n / (n - 1) * ((1.0 - self.inclusion) @ deviations**2))


@dataclass(frozen=True)
class Share:
    """An estimated share with what its limits rest on: variance, rows checked (as many as they count for) and positives found."""

    value: float
    variance: float
    checked: int
    found: int
    slope: float
    #: Checked rows that would carry as much without the score, in an endless population.
    rows: float
    complete: bool

    def limits(self, level: float) -> tuple[float, float]:
        """Mid-p limits at the size that the variance is worth; the gain of the score counts as far as positives were found."""
        if math.isnan(self.value):
            return math.nan, math.nan
        if self.complete:
            return self.value, self.value
        few = 0.5 / self.checked
        q = min(max(self.value, few), 1.0 - few)
        gain = max(q * (1.0 - q) / (self.variance * self.rows), 0.5) if self.variance > 0.0 else 1.0
        seen = min(self.found, self.checked - self.found)
        if gain > 1.0:
            gain = 1.0 + (gain - 1.0) * seen / (seen + _BELIEF)
        size = self.rows * gain
        centre = min(max(self.value, 0.0), 1.0)
        low, high = limits(centre * size, size, level, "mid_p")
        return float(low), float(high)


def _expansion(strata: Sequence[Stratum]) -> float:  # noqa: ARG001 - every estimator has the same form
    return 0.0


def _difference(strata: Sequence[Stratum]) -> float:  # noqa: ARG001
    return 1.0


def _ratio(strata: Sequence[Stratum]) -> float:
    """Σ y / Σ p, both expanded."""
    total = sum(s.size * s.mean(s.score) for s in strata)
    return sum(s.size * s.mean(s.truth) for s in strata) / total if total else 0.0


def _regression(strata: Sequence[Stratum]) -> float:
    """The slope of truth on score within strata."""
    both = spread = 0.0
    for s in strata:
        away = s.score - s.mean(s.score)
        mass = s.mass / s.mass.sum() * s.size
        both += float(mass @ (away * (s.truth - s.mean(s.truth))))
        spread += float(mass @ away**2)
    return both / spread if spread > 0.0 else 0.0


def _tuned(strata: Sequence[Stratum]) -> float:
    return min(max(_regression(strata), 0.0), 1.0)


#: Slopes by the estimator's name.
ESTIMATORS: Mapping[str, Callable[[Sequence[Stratum]], float]] = {
    "ppi": _tuned,
    "expansion": _expansion,
    "difference": _difference,
    "ratio": _ratio,
    "greg": _regression,
}


def slope_of(strata: Sequence[Stratum], estimator: str) -> float:
    """The slope of an estimator, over the strata that have checked rows."""
    slope: float = choose("estimator", estimator, ESTIMATORS)([s for s in strata if len(s.truth)])
    return slope


def share(strata: Sequence[Stratum], slope: float) -> Share:
    """The share of positives over all strata; nan where one has too few checked rows to say."""
    strata = [s for s in strata if s.size > 0.0]
    if not strata:
        return Share(math.nan, math.nan, 0, 0, slope, 0.0, complete=False)
    size = sum(s.size for s in strata)
    value = variance = rows = 0.0
    several = len(strata) > 1
    for s in strata:
        rest = s.truth - slope * s.score
        part = s.size / size
        value += part * (slope * s.mean_score + (s.mean(rest) if len(rest) else math.nan))
        spread = s.variance(rest) if len(rest) else math.nan
        if several and not s.complete and len(rest):
            spread = max(_least(s), 0.0 if math.isnan(spread) else spread)
        variance += part**2 * spread
    checked, found = sum(len(s.truth) for s in strata), int(sum(s.truth.sum() for s in strata))
    complete = all(s.complete for s in strata)
    if not several:
        rows = _single(strata[0])
    else:
        rows = float(checked)
    if math.isnan(variance):
        value = math.nan
    return Share(value, variance, checked, found, slope, rows, complete)


def _single(s: Stratum) -> float:
    """Rows a simple sample counts for: more, the more of the population it is; fewer, the more unequal its masses are."""
    kish = float(s.mass.sum() ** 2 / (s.mass**2).sum()) if len(s.mass) else 0.0
    left = 1.0 - float(np.mean(s.inclusion)) if len(s.inclusion) and np.ptp(s.inclusion) == 0.0 else 1.0
    return kish / left if left > 0.0 else kish


def _least(s: Stratum) -> float:
    """A stratum's variance is not below what half a guess by the score leaves: none found in ten is not none."""
    n = len(s.truth)
    guess = min(max(s.mean_score, 0.0), 1.0)
    p = (float(s.truth.sum()) + guess) / (n + 1)
    return (1.0 - float(np.mean(s.inclusion))) * p * (1.0 - p) * float((s.mass**2).sum() / s.mass.sum() ** 2)
