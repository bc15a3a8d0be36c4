r"""Beta limits of a bounded mean with a boundary pseudo-observation (after Gaffke).

An estimate :math:`\theta` in [0, 1] is a function of rows, each with an influence. For the lower limit a
pseudo-observation is added where it lowers the estimate most, and the distribution of the estimate under the Bayesian
bootstrap of all rows is matched by a Beta distribution in mean and variance; its quantile is the limit. The upper limit
is symmetric. For a plain proportion with a pseudo-observation of weight 1 this is Clopper and Pearson's limit, and for
any bounded mean close to Gaffke's bound. Rubin (1981), Ann. Stat. 9(1); Gaffke (2005), preprint 05-6, University of
Magdeburg. The weight was chosen by simulation (see the docs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats

#: Nearer to 0 than this a mean, or smaller than this a variance, has its limit at 0.
_NOTHING, _NO_VARIANCE = 1e-7, 1e-14

#: A Beta distribution has less variance than the two points 0 and 1 at the same mean.
_MOST_VARIANCE = 0.999


@dataclass(frozen=True)
class ClassPart:
    """Variance of the contribution of one class, its rows, and the influence of a row in the worst and best place."""

    variance: float
    rows: float
    worst: float
    best: float

    @property
    def mirrored(self) -> ClassPart:
        """The same for one minus the estimate."""
        return ClassPart(self.variance, self.rows, worst=-self.best, best=-self.worst)


@dataclass(frozen=True)
class Bounded:
    """Range of an estimate, and the pseudo-observation that its limits add.

    `negative` and `positive` are the influence of a row of the class in the worst and in the best place. `extra` is the
    weight of the pseudo-observation, most of it in the smaller class; with `each` all of it in both.
    """

    low: float
    high: float
    negative: tuple[float, float]
    positive: tuple[float, float]
    extra: float
    each: bool = False
    #: The value that the prevalence does not change, where it multiplies the distance from there.
    anchor: float | None = None
    #: Whether the lower limit is at most that of a perfect estimate from as many rows.
    capped: bool = False

    def limits(
        self, value: float, variances: Sequence[float], rows: Sequence[float], level: Any, freedom: float
    ) -> tuple[Any, Any]:
        """Limits of the estimate at one or several levels, from the classes' variances and rows (negative, positive).

        An unbounded estimate has Student's limits of the same means and variances, with `freedom` degrees of freedom.
        """
        masses = [self.extra] * 2 if self.each else shared_out(self.extra, rows)
        tail = (1.0 - np.asarray(level, dtype=np.float64)) / 2
        finite = np.isfinite(self.high - self.low)
        start, unit = (self.low, self.high - self.low) if finite else (0.0, 1.0)
        parts = [
            ClassPart(variance / unit**2, n, worst / unit, best / unit)
            for variance, n, (worst, best) in zip(variances, rows, (self.negative, self.positive), strict=True)
        ]
        share = (value - start) / unit
        if finite:
            low, high = beta_limits(share, parts, masses, tail)
            if self.capped:
                perfect = lower_limit(1.0, [ClassPart(0.0, n, -1.0, 0.0) for n in rows], masses, tail)
                low, high = np.minimum(low, perfect), np.maximum(high, 1.0 - perfect)
        else:
            low = _student_limit(share, parts, masses, tail, freedom)
            high = -_student_limit(-share, [part.mirrored for part in parts], masses, tail, freedom)
        return start + unit * np.minimum(low, share), start + unit * np.maximum(high, share)


def shared_out(extra: float, rows: Sequence[float]) -> list[float]:
    """The weight of the pseudo-observation divided between the classes, by the inverse of their rows."""
    inverse = [1.0 / n for n in rows]
    return [extra * one / sum(inverse) for one in inverse]


def beta_limits(
    share: float, parts: Sequence[ClassPart], masses: Sequence[float], tail: Floats
) -> tuple[Floats, Floats]:
    """Both limits of an estimate in [0, 1], each leaving `tail` outside."""
    low = lower_limit(share, parts, masses, tail)
    return low, 1.0 - lower_limit(1.0 - share, [part.mirrored for part in parts], masses, tail)


def _with_extra(share: float, parts: Sequence[ClassPart], masses: Sequence[float]) -> tuple[float, float]:
    """Mean and variance of the estimate with pseudo-observations, under the Bayesian bootstrap."""
    mean, variance = share, 0.0
    for part, mass in zip(parts, masses, strict=True):
        rows = part.rows + mass
        mean += mass * part.worst / rows
        squares = part.variance * part.rows**2 + mass * part.rows / rows * part.worst**2
        variance += squares / (rows * (rows + 1.0))
    return mean, variance


def lower_limit(share: float, parts: Sequence[ClassPart], masses: Sequence[float], tail: Floats) -> Floats:
    """The lower limit of an estimate in [0, 1] that leaves `tail` below it; one for each tail."""
    from scipy.special import betaincinv

    mean, variance = _with_extra(share, parts, masses)
    # The pseudo-observation must not raise the estimate, even where any further row of a class would.
    mean = min(mean, share, 1.0)
    variance = min(variance, _MOST_VARIANCE * mean * (1.0 - mean))
    if not (mean > _NOTHING and variance > _NO_VARIANCE):
        return np.full(np.shape(tail), mean if mean > _NOTHING else 0.0)
    size = mean * (1.0 - mean) / variance - 1.0
    limits: Floats = betaincinv(mean * size, (1.0 - mean) * size, tail)
    return limits


def _student_limit(
    value: float, parts: Sequence[ClassPart], masses: Sequence[float], tail: Floats, freedom: float
) -> Floats:
    from scipy.special import stdtrit

    mean, variance = _with_extra(value, parts, masses)
    values: Floats = mean + stdtrit(freedom, tail) * np.sqrt(variance)
    return values
