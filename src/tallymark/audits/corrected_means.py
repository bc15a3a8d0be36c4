r"""Means of human verdicts over all items from those on some and a judge's on all, and differences of two systems.

With verdicts :math:`h` of people on the labelled items and :math:`j` of the judge on all, the mean is
:math:`\lambda\bar j + \overline{h - \lambda j}`, where :math:`\lambda` is the regression of h on j within [0, 1]
(power-tuned prediction-powered inference; Angelopoulos, Duchi & Zrnic 2023). Of two systems h and j are differences.
Limits are Student's with half a pseudo-item at either end of the range, without which they hold far too seldom where
nearly all verdicts are alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark.audits.checked_rows import stratum_codes
from tallymark.audits.class_estimates import AuditMeasure
from tallymark.errors import InputError, Undefined
from tallymark.inference.hypothesis_tests.difference import Difference
from tallymark.inference.scales import including, student_value
from tallymark.sources.any_columns import numbers

#: What a rate is of: the items at hand, or those that they are a random sample of.
Population = Literal["suite", "items"]

#: How the limits are called.
METHOD = "prediction-powered, two half pseudo-items"

#: Weight of each of the two pseudo-items.
_PSEUDO = 0.5

#: Labelled items (or clusters of them) from which a mean is estimated.
_FEWEST = 3


@dataclass(frozen=True)
class LabelDesign:
    """How the labelled items were drawn: what each stands for, its stratum, its cluster, and the share left out."""

    weight: Floats
    stratum: Ints
    unit: Ints
    #: Share of the items like each that were not labelled (the finite population correction).
    unlabelled: Floats

    @classmethod
    def of(cls, labelled: Bools, stratum: Ints | None, inclusion: Floats | None, cluster: Ints | None) -> LabelDesign:
        """From columns of all items: a random sample within strata, of given probabilities, or of whole clusters."""
        layer = np.zeros(len(labelled), np.int64) if stratum is None else stratum
        share = inclusion
        if share is None:
            share = (np.bincount(layer, labelled) / np.maximum(np.bincount(layer), 1))[layer]
            if not share.all():
                raise Undefined("a stratum has no labelled item, so that nothing is known of it")
        chance = share[labelled]
        unit = np.arange(len(labelled)) if cluster is None else cluster
        return cls(1.0 / chance, layer[labelled], unit[labelled], 1.0 - chance)

    @classmethod
    def of_columns(
        cls,
        columns: Mapping[str, Any],
        labelled: Bools,
        layers: Sequence[str],
        inclusion: str | None,
        cluster: str | None,
    ) -> LabelDesign:
        """From the columns of a table."""
        design = design_columns(columns, layers, inclusion, cluster)
        return cls.of(labelled, design.get("stratum"), design.get("inclusion"), design.get("cluster"))

    def variance(self, residuals: Floats, centre: float, *, finite: bool = True) -> tuple[float, float]:
        """Variance of a weighted sum of residuals around a centre, and the degrees of freedom.

        Not `finite` is that of items which are themselves a sample of many more.
        """
        pairs, unit = np.unique(np.column_stack((self.stratum, self.unit)), axis=0, return_inverse=True)
        unit, stratum = unit.ravel(), pairs[:, 0]
        sums = np.bincount(unit, self.weight * (residuals - centre))
        unlabelled = np.bincount(unit, self.unlabelled) / np.bincount(unit) if finite else np.ones(len(sums))
        number = np.bincount(stratum)
        means = np.bincount(stratum, sums) / np.maximum(number, 1)
        several = number[stratum] > 1
        if (unlabelled[~several] > 0.0).any():
            raise Undefined("a stratum has a single labelled item, which tells nothing of its spread")
        factor = np.where(several, number[stratum] / np.maximum(number[stratum] - 1.0, 1.0), 0.0)
        freedom = len(stratum) - int((number > 0).sum())
        return float(factor * unlabelled @ (sums - means[stratum]) ** 2), float(freedom)


def design_columns(
    columns: Mapping[str, Any], layers: Sequence[str], inclusion: str | None, cluster: str | None
) -> dict[str, Any]:
    """How items were drawn: codes of strata and clusters and inclusion probabilities, those that were named."""
    design: dict[str, Any] = {}
    if layers:
        keys = [_check.groups(columns[name], name) for name in layers]
        design["stratum"] = stratum_codes(keys, len(keys[0]))[0]
    if inclusion is not None:
        chance = numbers(columns[inclusion], inclusion)
        if not ((chance > 0.0) & (chance <= 1.0)).all():
            raise InputError(f"{inclusion} has values that are no probabilities above 0; every item needs its own.")
        design["inclusion"] = chance
    if cluster is not None:
        design["cluster"] = np.unique(_check.groups(columns[cluster], cluster), return_inverse=True)[1].ravel()
    return design


@dataclass(frozen=True)
class CorrectedMean:
    """A corrected mean: estimate, the centre of its limits, their standard error and degrees of freedom, the range."""

    value: float
    centre: float
    error: float
    freedom: float
    ends: tuple[float, float]
    #: How much of the judge's verdict the correction uses.
    slope: float = 0.0

    def limits(self, level: float) -> tuple[float, float]:
        """Student's limits around the centre, within the range and around the estimate."""
        reach = student_value(level, self.freedom) * self.error
        low, high = including(self.value, self.centre - reach, self.centre + reach)
        return max(low, self.ends[0]), min(high, self.ends[1])

    def difference(self) -> Difference:
        """As a difference that is tested against 0."""
        if self.error > 0.0:
            p = 2.0 * float(stdtr(self.freedom, -abs(self.centre) / self.error))
        else:
            p = float(self.value == 0.0)
        return Difference(self.value, self.error, p, METHOD, self.limits)

    def less(self, other: CorrectedMean, covariance: float) -> CorrectedMean:
        """The difference from a mean that was estimated from other labels (Welch's degrees of freedom)."""
        # The covariance is an estimate: it cannot be larger than that of two means that move as one.
        least = abs(self.error - other.error)
        error = max(math.sqrt(max(self.error**2 + other.error**2 - 2.0 * covariance, 0.0)), least)
        parts = self.error**4 / self.freedom + other.error**4 / other.freedom
        return CorrectedMean(
            value=self.value - other.value,
            centre=self.centre - other.centre,
            error=error,
            freedom=error**4 / parts if parts > 0.0 else min(self.freedom, other.freedom),
            ends=(self.ends[0] - other.ends[1], self.ends[1] - other.ends[0]),
        )


def corrected_mean(
    human: Floats,
    judged: Floats,
    labelled: Bools,
    ends: tuple[float, float],
    design: LabelDesign,
    population: Population = "suite",
) -> CorrectedMean:
    """The mean of human verdicts over all items.

    Parameters
    ----------
    human, judged
        Verdicts of people and of the judge; people's are used of the labelled items alone.
    labelled
        Which items people labelled.
    ends
        The range of verdicts.
    design
        How the labelled items were drawn.
    population
        Whether the mean is that of these items, or of those that they are a random sample of.
    """
    n = len(np.unique(design.unit))
    if n < _FEWEST:
        raise Undefined(f"{n} labelled items or clusters of items, fewer than {_FEWEST}")
    h, j, w = human[labelled], judged[labelled], design.weight / design.weight.sum()
    deviation = j - float(w @ j)
    spread = float(w @ deviation**2)
    slope = min(max(float(w @ (deviation * h)) / spread, 0.0), 1.0) if spread > 0.0 else 0.0
    residuals = h - slope * j
    mean = float(w @ residuals)
    # Pseudo-items have the judge's mean verdict, so that the slope is that of the items.
    pseudo = np.array(ends) - slope * float(w @ j)
    total = float(design.weight.sum())
    one = total / len(h)
    size = total + 2.0 * _PSEUDO * one
    centre = (mean * total + _PSEUDO * one * float(pseudo.sum())) / size
    variance, freedom = design.variance(residuals, mean)
    left = float(design.unlabelled.mean())
    if population == "items":
        variance += (1.0 - left) * design.variance(h, float(w @ h), finite=False)[0]
        left = 1.0
    variance += left * _PSEUDO * one**2 * float(((pseudo - centre) ** 2).sum())
    predicted = slope * float(judged.mean())
    return CorrectedMean(
        value=predicted + mean,
        centre=predicted + (centre if left > 0.0 else mean),
        error=math.sqrt(variance) / size,
        freedom=freedom,
        ends=ends,
        slope=slope,
    )


def measure_of(name: str, mean: CorrectedMean, level: float) -> AuditMeasure:
    """A corrected mean as a measure."""
    low, high = mean.limits(level)
    return AuditMeasure(
        name=name, value=mean.value, low=low, high=high, standard_error=mean.error, interval_method=METHOD, level=level
    )
