r"""How far the rows of a period move together, and how large misfits and differences of the classes such moves give.

A campaign, a release of a program or the weather moves all scores of a period. The labelled rows of the reference show by how much: with normal
scores of their ranks, :math:`\bar g_{ct}` the mean of class c in period t and :math:`s_c^2/n_{ct}` its sampling variance, the covariance of the
means over periods less the mean sampling variances estimates the covariance of the moves of both classes. The moves of a new period then have,
about the reference's mean, a bivariate Student distribution with one degree of freedom less than periods, and a :math:`\chi^2` statistic of that
period has a noncentral distribution, averaged over the moves.
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

#: Probabilities of a larger move, in steps; the moves between two of them are taken for equally large. And directions of moves.
_TAILS = np.array(
    [1.0, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-7]
)
_DIRECTIONS = 16

#: Shares of positives at which a mixture is fitted to moved classes.
_SHARES = np.linspace(0.0, 1.0, 51)

#: Labelled rows of each class that a period needs to be compared with others, and periods that have them.
_FEWEST_ROWS, _FEWEST_PERIODS = 5, 3


@dataclass(frozen=True, eq=False)
class SharedEffect:
    """What the reference's periods tell of the moves of a period's negatives and positives, in normal scores."""

    covariance: Floats
    periods: int
    #: p-value of no effect: that each class has one mean in all periods.
    p_value: float
    #: Scores of the reference in order, whose ranks make the normal scores.
    usual: Floats
    #: Normal scores of each class's rows without the move of their period, in order.
    classes: tuple[Floats, Floats]
    prevalence: float

    @classmethod
    def of(cls, scores: Floats, truth: Bools, periods: Sequence[NDArray[Any]]) -> Self | None:
        """The effect in the labelled rows of the reference's `periods`; None where fewer than three have five rows of each class."""
        from scipy.special import chdtrc

        held = [rows for rows in periods if _rarer(truth[rows]) >= _FEWEST_ROWS]
        if len(held) < _FEWEST_PERIODS:
            return None
        every = np.concatenate(held)
        usual = np.sort(scores[every])
        means, noise, still, between = [], [], [], 0.0
        for label in (False, True):
            parts = [_normal_scores(usual, scores[rows[truth[rows] == label]]) for rows in held]
            sizes, own = np.array([len(part) for part in parts]), np.array([part.mean() for part in parts])
            mean = float(own @ sizes / sizes.sum())
            rest = np.concatenate([part - part.mean() for part in parts])
            variance = float(rest @ rest) / (len(rest) - len(held))
            means.append(own)
            noise.append(variance * float(np.mean(1.0 / sizes)))
            still.append(np.sort(rest + mean))
            between += float(sizes @ (own - mean) ** 2) / variance
        values, vectors = np.linalg.eigh(np.cov(np.array(means)) - np.diag(noise))
        covariance = (vectors * np.maximum(values, 0.0)) @ vectors.T
        p = float(chdtrc(2 * (len(held) - 1), between))
        return cls(covariance, len(held), p, usual, (still[0], still[1]), float(truth[every].mean()))

    def p_of_misfit(self, fit: MixtureFit, sizes: Sequence[float]) -> float:
        """Probability of a misfit as large as this, if the period's rows moved as those of the reference's periods do.

        `sizes` are the (effective) rows of the validation sample's negatives and positives, and of the period.
        """
        if not self.covariance.any() or fit.freedom < 1:
            return fit.p_value
        return self._averaged(fit.statistic, fit.freedom, self._misfits(fit, sizes))

    def p_of_drift(self, p: float, negatives: int, positives: int) -> float:
        """The same for a test of both classes' locations, given its p-value for independent rows and the period's labelled rows."""
        if not self.covariance.any():
            return p
        precision = np.array([n / side.var() for n, side in zip((negatives, positives), self.classes, strict=True)])
        # A chi-square of two degrees of freedom exceeds -2 log p with probability p.
        return self._averaged(-2.0 * float(np.log(max(p, 1e-300))), 2, self._moves[0] ** 2 @ precision)

    def _averaged(self, statistic: float, freedom: int, away: Floats) -> float:
        """Probability of a larger chi-square, averaged over the moves and their noncentralities."""
        from scipy.special import chdtrc, chndtr

        chances = self._moves[1]
        larger = np.where(away > 0.0, 1.0 - chndtr(statistic, freedom, away), chdtrc(freedom, statistic))
        return float(chances @ larger / chances.sum())

    @cached_property
    def _moves(self) -> tuple[Floats, Floats]:
        """Moves of both classes, and their probabilities."""
        freedom = self.periods - 1.0
        tails = (_TAILS[:-1] + _TAILS[1:]) / 2.0
        radii = np.sqrt(freedom * (tails ** (-2.0 / freedom) - 1.0) * (1.0 + 1.0 / self.periods))
        angles = 2.0 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        circle = np.stack((np.cos(angles), np.sin(angles)), axis=-1) @ root.T
        return (radii[:, None, None] * circle).reshape(-1, 2), np.repeat(-np.diff(_TAILS) / _DIRECTIONS, _DIRECTIONS)

    def _misfits(self, fit: MixtureFit, sizes: Sequence[float]) -> Floats:
        """The misfit of the best mixture to classes after each move, without noise."""
        moves = self._moves[0]
        # A bin begins at its edge.
        inner = _of_ranks(np.searchsorted(self.usual, fit.edges[1:-1], "left").astype(np.float64), self.usual)
        ends = np.concatenate(([-np.inf], inner, [np.inf]))
        # What a period shows that did not move is the validation sample itself.
        held = (1.0 - self.prevalence) * fit.negative + self.prevalence * fit.positive
        for place, (side, share) in enumerate(zip(self.classes, (1.0 - self.prevalence, self.prevalence), strict=True)):
            below = [np.searchsorted(side, end) for end in (ends - moves[:, place, None], ends)]
            held = held + share * np.diff(below[0] - below[1], axis=1) / len(side)
        kept = (fit.negative + fit.positive + fit.observed) > 0.0
        down, up = fit.negative[kept], fit.positive[kept]
        least = np.full(len(moves), np.inf)
        for share in _SHARES:
            gap = (held[:, kept] - share * up - (1.0 - share) * down)[:, 1:]
            solved = np.linalg.solve(mixture_covariance(share, down, up, sizes), gap.T)
            least = np.minimum(least, (gap.T * solved).sum(axis=0))
        return least


def _rarer(truth: Bools) -> int:
    """Rows of the class that has fewer."""
    return int(min(np.count_nonzero(truth), np.count_nonzero(~truth)))


def _normal_scores(usual: Floats, values: Floats) -> Floats:
    """Normal scores of values among ordered ones; equal values are spread evenly over their ranks, so that a move takes part of them along."""
    distinct, counts = np.unique(values, return_counts=True)
    low, high = (np.repeat(np.searchsorted(usual, distinct, side), counts) for side in ("left", "right"))
    place = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _of_ranks(low + (high - low) * (place + 0.5) / np.repeat(counts, counts), usual)


def _of_ranks(ranks: Floats, usual: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri((ranks + 0.5) / (len(usual) + 1.0)))
