"""Wilcoxon's signed-rank test of two methods on the same data sets, and its Bayesian counterpart."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from tallymark._check import Floats

#: Treatment of zero differences: their ranks are split between the signs, they are ranked and then left out (Pratt), or
#: left out before ranking (Wilcoxon).
Zeros = Literal["split", "pratt", "wilcox"]

#: Differences up to which the distribution is enumerated.
EXACT = 50


class SignedRanks(NamedTuple):
    """Sums of the ranks of positive and of negative differences, the ranks of both, and the number of zeros.

    `shared` holds the ranks of zeros that were split between the two sums.
    """

    plus: float
    minus: float
    ranks: Floats
    zeros: int
    shared: Floats


def signed_ranks(differences: Floats, zeros: Zeros) -> SignedRanks:
    """Ranks of the absolute differences, by sign."""
    from scipy.stats import rankdata

    none = int(np.count_nonzero(differences == 0.0))
    if zeros == "wilcox":
        differences = differences[differences != 0.0]
    ranks: Floats = rankdata(np.abs(differences))
    plus, minus = (float(ranks[side].sum()) for side in (differences > 0.0, differences < 0.0))
    shared = ranks[(differences == 0.0) & (zeros == "split")]
    half = float(shared.sum()) / 2.0
    return SignedRanks(plus + half, minus + half, ranks[differences != 0.0], none, shared)


def exact_p_value(sums: SignedRanks) -> float:
    """The probability of a smaller sum at most this small when every sign is equally likely.

    Ties keep their mean ranks. A zero has no sign, so its shared rank is the same whatever the other signs are.
    """
    doubled = np.rint(2.0 * sums.ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[: len(ways) - rank]
        ways = (ways + shifted) / 2.0
    least = 2.0 * min(sums.plus, sums.minus) - float(sums.shared.sum())
    return min(2.0 * float(ways[: math.floor(least + 1e-9) + 1].sum()), 1.0)


def normal_z(sums: SignedRanks) -> float:
    """The smaller sum, centred and over its deviation; ties and the ranks of zeros are in the variance."""
    ranks = np.concatenate((sums.ranks, sums.shared))
    mean = ranks.sum() / 2.0
    deviation = math.sqrt(float((ranks**2).sum()) / 4.0)
    return (min(sums.plus, sums.minus) - mean) / deviation if deviation else 0.0


def signed_rank_posterior(differences: Floats, rope: float, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of the three probabilities that a new difference is below, within and above the region of equivalence.

    A Dirichlet process with half a pseudo-observation at 0, of the mean of two observations. Benavoli et al. (2014),
    ICML.
    """
    z = np.concatenate(([0.0], differences))
    means = (z[:, None] + z[None, :]) / 2.0
    # Slightly wider, because differences of decimals miss the edge by rounding.
    edge = rope * (1.0 + 1e-9) + 1e-12
    left, right = (means < -edge).astype(np.float64), (means > edge).astype(np.float64)
    weights = rng.dirichlet(np.concatenate(([0.5], np.ones(len(differences)))), draws)
    below = np.einsum("si,ij,sj->s", weights, left, weights, optimize=True)
    above = np.einsum("si,ij,sj->s", weights, right, weights, optimize=True)
    return np.column_stack((below, 1.0 - below - above, above))


def correlated_t_probabilities(differences: Floats, rho: float, rope: float) -> tuple[float, float, float]:
    """Probabilities that the mean difference is below, within and above the region, for differences of correlation
    `rho`.

    Corani & Benavoli (2015), Mach. Learn. 100: Student's t with the variance of Nadeau & Bengio.
    """
    from scipy.stats import t

    n = len(differences)
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    scale = math.sqrt(variance * (1.0 / n + rho / (1.0 - rho)))
    if scale == 0.0:
        return float(mean < -rope), float(abs(mean) <= rope), float(mean > rope)
    below, above = float(t.cdf(-rope, n - 1, mean, scale)), float(t.sf(rope, n - 1, mean, scale))
    return below, 1.0 - below - above, above
