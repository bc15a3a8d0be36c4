"""A stratum of an audit: rows with one sampling design."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats

#: Masses that differ by no more than this part of them differ by rounding.
_EVEN = 1e-9


@dataclass(frozen=True)
class Stratum:
    """Rows that were drawn alike: how many there are, what they are worth, and those of them that were checked.

    `size` is the sum of `worth` over all rows (their number, unless they are weighed by a value), `mean_score` the mean
    score of all of them by worth; `inclusion` is the probability with which each checked row was drawn.
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
    def even(self) -> bool:
        """Whether each checked row stands for as much as any other."""
        return bool(len(self.truth)) and float(np.ptp(self.mass)) <= _EVEN * float(self.mass.max())

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
