"""How numbers and their intervals depend on how much data there is, and how much is needed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError
from tallymark.inference.interval import checked_level
from tallymark.inference.scales import normal_quantile


@dataclass(frozen=True, eq=False, repr=False)
class SampleSize(Shown):
    """Rows and positives needed to show a difference of AUROCs."""

    n: int
    positives: int
    conditions: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", FrozenDict(self.conditions))

    def heading(self) -> str:
        """The answer."""
        return f"{self.n} rows, {self.positives} of them positive"

    def rows(self) -> list[Row]:
        """What it was computed for."""
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
    r"""Rows needed to tell two models on the same rows apart by their AUROC, before any data.

    Scores are taken as normal in each class, those of the positives `sd_ratio` times as spread as the negatives'. With
    :math:`V_1, V_2` the variances of AUROCs of `auroc` ± `difference`/2 for one positive and r the `correlation` of the two
    estimates, :math:`P = (z_{1-\alpha/2} + z_{\mathrm{power}})^2 (V_1 + V_2 - 2 r \sqrt{V_1 V_2}) / \delta^2`, and a few more,
    because with P positives the test looks at Student's t. From a pilot, use
    ``tm.compare(panel).sample_size(difference)`` instead. Obuchowski & McClish (1997), Stat. Med. 16(13).

    >>> import tallymark as tm
    >>> tm.sample_size(auroc=0.85, difference=0.05, prevalence=0.1).positives
    127
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
    ratio = (1.0 - prevalence) / prevalence
    first, second = (binormal_variance(auroc + side * difference / 2, sd_ratio, ratio) for side in (-1.0, 1.0))
    variance = first + second - 2.0 * correlation * math.sqrt(first * second)
    ratio_of_errors = (normal_quantile(0.5 + confidence / 2) + normal_quantile(power)) / difference
    needed = variance * ratio_of_errors * min(ratio_of_errors, _TOO_MANY)
    if not needed < _TOO_MANY:
        raise InputError(
            f"A difference of {difference!r} would take more rows than can be counted; ask for a larger one."
        )
    positives = math.ceil(_with_student(needed, ratio, confidence, power))
    return SampleSize(
        math.ceil(positives / prevalence),
        positives,
        {**shares, "correlation": correlation, "sd_ratio": sd_ratio, "level": confidence},
    )


#: Positives beyond which a plan is not one.
_TOO_MANY = 1e15


def _with_student(positives: float, ratio: float, level: float, power: float) -> float:
    """More positives, so that Student's quantiles at their number promise the same power as normal ones."""
    from scipy.special import stdtrit

    normal = normal_quantile(0.5 + level / 2) + normal_quantile(power)
    wanted = positives
    for _ in range(_ROUNDS):
        freedom = max(wanted * min(1.0, ratio) - 1.0, 1.0)
        student = float(stdtrit(freedom, 0.5 + level / 2)) + float(stdtrit(freedom, power))
        wanted = positives * (student / normal) ** 2
    return wanted


#: Rounds after which a number of positives and its quantiles agree.
_ROUNDS = 20


def binormal_variance(auroc: float, sd_ratio: float, negatives: float) -> float:
    r"""Variance of an AUROC of normal scores, for one positive and so many negatives.

    :math:`\mathrm{Var}(\Phi(X^+)) + \mathrm{Var}(1 - G(X^-)) / (N/P)`, the variances of the two classes' placements, by
    Gauss–Hermite quadrature.
    """
    from scipy.special import ndtr, ndtri

    z, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    weight = weight / weight.sum()
    apart = float(ndtri(auroc)) * math.hypot(1.0, sd_ratio)
    of_positive, of_negative = ndtr(apart + sd_ratio * z), ndtr((apart - z) / sd_ratio)
    up, down = (float(np.sum(weight * p**2) - np.sum(weight * p) ** 2) for p in (of_positive, of_negative))
    return up + down / negatives


#: Points of the quadrature.
_NODES = 200
