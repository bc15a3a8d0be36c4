"""Sample size for a comparison of two AUROCs, before any data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError
from tallymark.inference.declared import OF_AREAS
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.mover import difference_limits
from tallymark.inference.limits.pseudo_observation import Bounded
from tallymark.inference.scales import normal_quantile


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Shown):
    """Sample size that shows a difference of AUROCs: rows, positives, and the conditions it was computed for."""

    n: int
    positives: int
    conditions: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", FrozenDict(self.conditions))

    def heading(self) -> str:
        """Rows and positives."""
        return f"{self.n} rows, {self.positives} of them positive"

    def rows(self) -> list[Row]:
        """The conditions."""
        return [dict(self.conditions)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"n": self.n, "positives": self.positives, **self.conditions}


def sample_size(
    *,
    auroc: float,
    difference: float,
    prevalence: float = 0.5,
    correlation: float = 0.5,
    sd_ratio: float = 1.0,
    power: float = 0.8,
    level: float = 0.95,
) -> SampleSize:
    r"""Sample size of a paired comparison of two AUROCs, before any data.

    With :math:`V_1, V_2` the variances of AUROCs of `auroc` ± `difference`/2 for P positives and r the `correlation` of
    the two estimates, P is the least number with :math:`L \ge z_{\mathrm{power}} \sqrt{V_1 + V_2 - 2 r \sqrt{V_1
    V_2}}`, L the lower limit that the default test (MOVER) then expects. From a pilot, use
    ``tm.compare(panel).sample_size(difference)`` instead. Obuchowski & McClish (1997), Stat. Med. 16(13), with the
    limits of Zou & Donner (2008), Stat. Med. 27(10).

    Parameters
    ----------
    auroc
        Mean of the two AUROCs.
    difference
        Their difference.
    prevalence
        Share of positives.
    correlation
        Correlation of the two estimates.
    sd_ratio
        Standard deviation of the positives' scores over that of the negatives', both normal.
    power
        The chance to show the difference.
    level
        Confidence level of the test.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.sample_size(auroc=0.85, difference=0.05, prevalence=0.1).positives
    128
    """
    shares = {"auroc": auroc, "difference": difference, "prevalence": prevalence, "power": power}
    for name, value in shares.items():
        if not 0.0 < _check.real(value, name) < 1.0:
            raise InputError(f"{name} is {value!r}, expected a number between 0 and 1.")
    if not -1.0 < _check.real(correlation, "correlation") < 1.0:
        raise InputError(f"correlation is {correlation!r}, expected a number between -1 and 1.")
    if not 0.0 < _check.real(sd_ratio, "sd_ratio") < math.inf:
        raise InputError(f"sd_ratio is {sd_ratio!r}, expected a number above 0.")
    if not difference / 2 < min(auroc, 1.0 - auroc):
        raise InputError(f"Two AUROCs around {auroc!r} cannot differ by {difference!r}.")
    confidence = checked_level(level)
    test = _Planned((auroc + difference / 2, auroc - difference / 2), prevalence, correlation, sd_ratio)
    positives = math.ceil(test.positives(power, confidence))
    return SampleSize(
        math.ceil(positives / prevalence),
        positives,
        {**shares, "correlation": correlation, "sd_ratio": sd_ratio, "level": confidence},
    )


#: Fewest and most positives of a plan.
_FEWEST, _TOO_MANY = 2.0, 1e12


@dataclass(frozen=True)
class _Planned:
    """A comparison of two AUROCs by MOVER, of normal scores."""

    aurocs: tuple[float, float]
    prevalence: float
    correlation: float
    sd_ratio: float

    def positives(self, power: float, level: float) -> float:
        """The least number of positives at which the expected lower limit is above 0 by enough standard errors."""
        from scipy.optimize import brentq

        def margin(log_positives: float) -> float:
            low, error = self._expected(math.exp(log_positives), level)
            return low - float(normal_quantile(power)) * error

        least = most = math.log(_FEWEST)
        while not margin(most) > 0.0:
            most += 1.0
            if most > math.log(_TOO_MANY):
                gap = self.aurocs[0] - self.aurocs[1]
                raise InputError(
                    f"A difference of {gap!r} would take more rows than can be counted; ask for a larger one."
                )
        return _FEWEST if most == least else math.exp(float(brentq(margin, most - 1.0, most)))

    def _expected(self, positives: float, level: float) -> tuple[float, float]:
        """Expected lower limit of the difference, and its standard error."""
        negatives = positives * (1.0 - self.prevalence) / self.prevalence
        areas, variances = [], []
        for area, (down, up) in zip(self.aurocs, self._placements, strict=True):
            parts = [down / negatives, up / positives]
            ends = -area, 1.0 - area
            bounded = Bounded(0.0, 1.0, ends, ends, OF_AREAS.extra, each=OF_AREAS.each, capped=True)
            low, high = bounded.limits(area, parts, [negatives, positives], level, math.inf)
            areas.append((area, float(low), float(high)))
            variances.append(sum(parts))
        shared = 2.0 * self.correlation * math.sqrt(variances[0] * variances[1])
        return difference_limits(areas[0], areas[1], self.correlation)[0], math.sqrt(sum(variances) - shared)

    @cached_property
    def _placements(self) -> list[tuple[float, float]]:
        return [binormal_placements(area, self.sd_ratio) for area in self.aurocs]


def binormal_placements(auroc: float, sd_ratio: float) -> tuple[float, float]:
    r"""Variances of the placements of normal scores: of the negatives, and of the positives.

    :math:`\mathrm{Var}(1 - G(X^-))` and :math:`\mathrm{Var}(\Phi(X^+))`, by Gauss–Hermite quadrature; over the rows of
    the classes their sum is the variance of the AUROC.
    """
    from scipy.special import ndtr, ndtri

    z, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    weight = weight / weight.sum()
    apart = float(ndtri(auroc)) * math.hypot(1.0, sd_ratio)
    of_negative, of_positive = ndtr((apart - z) / sd_ratio), ndtr(apart + sd_ratio * z)
    down, up = (float(np.sum(weight * p**2) - np.sum(weight * p) ** 2) for p in (of_negative, of_positive))
    return down, up


#: Points of the quadrature.
_NODES = 200
