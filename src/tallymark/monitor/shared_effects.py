r"""Random effects of periods shared by all their rows, and the distribution of test statistics under them.

A campaign, a software release or the weather shifts all scores of a period. The labelled rows of the reference show by
how much: with normal scores of their ranks, :math:`\bar g_{ct}` the mean of class c in period t and
:math:`s_c^2/n_{ct}` its sampling variance, the covariance of the means over periods less the mean sampling variances
estimates the covariance of the shifts of both classes. The shifts of a new period then have, about the reference's
mean, a bivariate Student distribution with one degree of freedom less than periods, and a :math:`\chi^2` statistic of
that period has a noncentral distribution, averaged over the shifts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Bools, Floats
from tallymark.quantify.estimation.mixture_test import MixtureFit, mixture_covariance

#: Tail probabilities of the size of a shift; shifts between two of them are taken for equally large. And the number of
#: directions of shifts.
_TAILS = np.array(
    [1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-7]
)
_DIRECTIONS = 16

#: Shares of positives at which a mixture is fitted to shifted classes.
_SHARES = np.linspace(0.0, 1.0, 51)

#: Labelled rows of each class that a period needs to be compared with others, and periods that have them.
_FEWEST_ROWS, _FEWEST_PERIODS = 5, 3


@dataclass(frozen=True, eq=False)
class SharedEffect:
    """Distribution of the shifts of a period's negatives and positives, in normal scores, estimated
    from the reference.
    """

    covariance: Floats
    periods: int
    #: p-value of the hypothesis that each class has one mean in all periods.
    p_value: float
    #: Scores of the reference in order; ranks among them make the normal scores.
    reference: Floats
    #: Normal scores of each class's rows less the shift of their period, in order.
    classes: tuple[Floats, Floats]
    prevalence: float

    @classmethod
    def of(cls, scores: Floats, truth: Bools, periods: Sequence[NDArray[Any]]) -> Self | None:
        """Estimate from labelled rows of the reference's `periods`; None where fewer than three have five of each
        class.
        """
        from scipy.special import chdtrc

        used = [rows for rows in periods if _rarer(truth[rows]) >= _FEWEST_ROWS]
        if len(used) < _FEWEST_PERIODS:
            return None
        every = np.concatenate(used)
        reference = np.sort(scores[every])
        means, noise, centred, between = [], [], [], 0.0
        for label in (False, True):
            parts = [_normal_scores(reference, scores[rows[truth[rows] == label]]) for rows in used]
            sizes, by_period = np.array([len(part) for part in parts]), np.array([part.mean() for part in parts])
            mean = float(by_period @ sizes / sizes.sum())
            rest = np.concatenate([part - part.mean() for part in parts])
            variance = float(rest @ rest) / (len(rest) - len(used))
            means.append(by_period)
            noise.append(variance * float(np.mean(1.0 / sizes)))
            centred.append(np.sort(rest + mean))
            between += float(sizes @ (by_period - mean) ** 2) / variance
        values, vectors = np.linalg.eigh(np.cov(np.array(means)) - np.diag(noise))
        covariance = (vectors * np.maximum(values, 0.0)) @ vectors.T
        p = float(chdtrc(2 * (len(used) - 1), between))
        return cls(covariance, len(used), p, reference, (centred[0], centred[1]), float(truth[every].mean()))

    def p_of_misfit(self, fit: MixtureFit, sizes: Sequence[float]) -> float:
        """p-value of a mixture test, if the period's rows share an effect as those of the reference's periods do.

        `sizes` are the (effective) rows of the validation sample's negatives and positives, and of the period.
        """
        if not self.covariance.any() or fit.freedom < 1:
            return fit.p_value
        return self._averaged(fit.statistic, fit.freedom, self._misfits(fit, sizes))

    def p_of_drift(self, p: float, negatives: int, positives: int) -> float:
        """p-value of a test of both classes' locations, given the one for independent rows and the number of labelled
        rows.
        """
        if not self.covariance.any():
            return p
        precision = np.array([n / side.var() for n, side in zip((negatives, positives), self.classes, strict=True)])
        # A chi-square of two degrees of freedom exceeds -2 log p with probability p.
        return self._averaged(-2.0 * float(np.log(max(p, 1e-300))), 2, self._shifts[0] ** 2 @ precision)

    def _averaged(self, statistic: float, freedom: int, noncentrality: Floats) -> float:
        """Probability of a larger chi-square, averaged over the shifts and their noncentralities."""
        from scipy.special import chdtrc, chndtr

        weights = self._shifts[1]
        larger = np.where(
            noncentrality > 0.0, 1.0 - chndtr(statistic, freedom, noncentrality), chdtrc(freedom, statistic)
        )
        return float(weights @ larger / weights.sum())

    @cached_property
    def _shifts(self) -> tuple[Floats, Floats]:
        """Shifts of both classes, and their probabilities."""
        freedom = self.periods - 1.0
        tails = (_TAILS[:-1] + _TAILS[1:]) / 2.0
        radii = np.sqrt(freedom * (tails ** (-2.0 / freedom) - 1.0) * (1.0 + 1.0 / self.periods))
        angles = 2.0 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        circle = np.stack((np.cos(angles), np.sin(angles)), axis=-1) @ root.T
        return (radii[:, None, None] * circle).reshape(-1, 2), np.repeat(-np.diff(_TAILS) / _DIRECTIONS, _DIRECTIONS)

    def _misfits(self, fit: MixtureFit, sizes: Sequence[float]) -> Floats:
        """The statistic of the best mixture for classes after each shift, without sampling error."""
        shifts = self._shifts[0]
        # A bin begins at its edge.
        inner = _of_ranks(np.searchsorted(self.reference, fit.edges[1:-1], "left").astype(np.float64), self.reference)
        ends = np.concatenate(([-np.inf], inner, [np.inf]))
        # A period without a shift has the bins of the validation sample.
        shares = (1.0 - self.prevalence) * fit.negative + self.prevalence * fit.positive
        for place, (side, share) in enumerate(zip(self.classes, (1.0 - self.prevalence, self.prevalence), strict=True)):
            below = [np.searchsorted(side, end) for end in (ends - shifts[:, place, None], ends)]
            shares = shares + share * np.diff(below[0] - below[1], axis=1) / len(side)
        kept = (fit.negative + fit.positive + fit.observed) > 0.0
        down, up = fit.negative[kept], fit.positive[kept]
        least = np.full(len(shifts), np.inf)
        for share in _SHARES:
            gap = (shares[:, kept] - share * up - (1.0 - share) * down)[:, 1:]
            solved = np.linalg.solve(mixture_covariance(share, down, up, sizes), gap.T)
            least = np.minimum(least, (gap.T * solved).sum(axis=0))
        return least


def _rarer(truth: Bools) -> int:
    """Rows of the class that has fewer."""
    return int(min(np.count_nonzero(truth), np.count_nonzero(~truth)))


def _normal_scores(reference: Floats, values: Floats) -> Floats:
    """Normal scores of values among ordered ones; ties are spread evenly over their ranks, so that a
    shift moves some.
    """
    distinct, counts = np.unique(values, return_counts=True)
    low, high = (np.repeat(np.searchsorted(reference, distinct, side), counts) for side in ("left", "right"))
    place = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _of_ranks(low + (high - low) * (place + 0.5) / np.repeat(counts, counts), reference)


def _of_ranks(ranks: Floats, reference: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri((ranks + 0.5) / (len(reference) + 1.0)))
