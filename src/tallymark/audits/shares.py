r"""Model-assisted estimates of a share of a finite population from a sample, with a score of every row.

With the mean score :math:`\mu` of all rows and a slope :math:`\lambda`,

.. math:: e = \lambda\mu + \overline{y - \lambda p}, \qquad V = (1 - f)\,\mathrm{Var}(y - \lambda p)/n,

every estimator is a choice of the slope: 0 expands the sample, 1 is the difference estimator, :math:`\bar y/\bar p` the
ratio estimator, the regression's slope GREG, and that slope kept within [0, 1] power-tuned prediction-powered inference
(Angelopoulos, Duchi & Zrnic 2023), which cannot lose by a bad score what it gains by a good one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tallymark.audits.draws import Draws, drawn
from tallymark.audits.strata import Stratum
from tallymark.inference.limits.proportions import limits
from tallymark.registry import choose

#: Positives (or negatives) found at which half of what the score seems to gain is believed.
_BELIEF = 5.0


@dataclass(frozen=True, eq=False)
class Share:
    """An estimated share with what its limits rest on: its strata, variance, rows checked and positives found."""

    value: float
    #: The variance of the design, as survey packages have it; 0 where no positive was found, which the limits do not
    #: believe.
    variance: float
    slope: float
    strata: tuple[Stratum, ...]
    #: Draws of the positives that were made already, together with others; None where they are made when needed.
    joint_draws: Draws | None = None

    @property
    def checked(self) -> int:
        """Rows that were checked."""
        return sum(len(s.truth) for s in self.strata)

    @property
    def found(self) -> int:
        """Positives among them."""
        return int(sum(s.truth.sum() for s in self.strata))

    @property
    def complete(self) -> bool:
        """Whether every row was checked."""
        return bool(self.strata) and all(s.complete for s in self.strata)

    @property
    def is_simple(self) -> bool:
        """Whether the checked rows are a simple random sample."""
        return self.joint_draws is None and len(self.strata) == 1 and self.strata[0].even

    @property
    def interval_method(self) -> str:
        """What the limits are made of."""
        return "mid_p" if self.is_simple or self.complete else "draws"

    @property
    def spread(self) -> float:
        """The variance that the limits go by: of strata that of the draws, which is not 0 where none was found."""
        if self.is_simple or self.complete:
            return self.variance
        return float(np.var(self.draws.upper)) / sum(s.size for s in self.strata) ** 2

    def limits(self, level: float) -> tuple[float, float]:
        """Mid-p limits of a simple random sample, at the size that its variance is worth; of strata and unequal weights
        quantiles of draws.
        """
        if math.isnan(self.value):
            return math.nan, math.nan
        if self.complete:
            return self.value, self.value
        if self.is_simple:
            rows = len(self.strata[0].truth) / (1.0 - float(self.strata[0].inclusion.min()))
            return effective_limits(self.value, self.variance, self.checked, self.found, rows, level)
        low, high = self.draws.limits(level)
        size = sum(s.size for s in self.strata)
        return low / size, high / size

    @cached_property
    def draws(self) -> Draws:
        """Draws of the positives."""
        return drawn([self.strata], self.slope)[0] if self.joint_draws is None else self.joint_draws


def effective_limits(
    value: float, variance: float, checked: int, positives: int, rows: float, level: float
) -> tuple[float, float]:
    """Mid-p limits at the effective sample size of the variance; a gain over `rows` counts as far as there are
    positives.
    """
    few = 0.5 / checked
    q = min(max(value, few), 1.0 - few)
    gain = max(q * (1.0 - q) / (variance * rows), 0.5) if variance > 0.0 else 1.0
    rarer = min(positives, checked - positives)
    if gain > 1.0:
        gain = 1.0 + (gain - 1.0) * rarer / (rarer + _BELIEF)
    size = rows * gain
    centre = min(max(value, 0.0), 1.0)
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
    strata = tuple(s for s in strata if s.size > 0.0)
    size = sum(s.size for s in strata)
    value = variance = 0.0 if strata else math.nan
    for s in strata:
        rest = s.truth - slope * s.score
        part = s.size / size
        value += part * (slope * s.mean_score + s.mean(rest) if len(rest) else math.nan)
        variance += part**2 * s.variance(rest)
    return Share(math.nan if math.isnan(variance) else value, variance, slope, strata)


def united(shares: Sequence[Share], draws: Sequence[Draws]) -> Share:
    """The share of several parts together, with the draws of each."""
    whole = share([s for one in shares for s in one.strata], shares[0].slope)
    first, *others = draws
    for more in others:
        first += more
    return replace(whole, joint_draws=first)
