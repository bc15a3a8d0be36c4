r"""Rank tests of several methods on several data sets: Friedman, Iman–Davenport, Nemenyi.

Tables are clean arrays with a line for each data set and a column for each method. Ranks are 1 for the best; ties share
the mean of their ranks.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations
from typing import NamedTuple

import numpy as np

from tallymark._check import Floats

#: Most methods whose ranks are permuted, and most sums for one data set, in the exact test.
_METHODS, _WORK = 6, 1_000_000


def ranked(table: Floats, *, higher_is_better: bool) -> Floats:
    """Ranks within each line."""
    from scipy.stats import rankdata

    ranks: Floats = rankdata(-table if higher_is_better else table, axis=1)
    return ranks


class Friedman(NamedTuple):
    """Friedman's statistic without and with the correction for ties, and its degrees of freedom."""

    plain: float
    corrected: float
    freedom: int


def friedman_statistic(ranks: Floats) -> Friedman:
    r""":math:`\chi^2_F = \frac{12N}{k(k+1)}\left(\sum_j R_j^2 - \frac{k(k+1)^2}{4}\right)`. Friedman (1937), J. Am.
    Stat. Assoc. 32.

    The correction divides by the share of the ranks' variance that ties leave; nan where every line is one tie.
    """
    n, k = ranks.shape
    plain = 12.0 * n / (k * (k + 1)) * (float((ranks.mean(axis=0) ** 2).sum()) - k * (k + 1) ** 2 / 4.0)
    spread = float(((ranks - (k + 1) / 2.0) ** 2).sum())
    full = n * k * (k * k - 1) / 12.0
    return Friedman(plain, plain * full / spread if spread > 0.0 else math.nan, k - 1)


def iman_davenport_statistic(chi_square: float, n: int, k: int) -> float:
    r""":math:`F_F = \frac{(N-1)\chi^2_F}{N(k-1)-\chi^2_F}`. Iman & Davenport (1980), Commun. Stat. A9."""
    rest = n * (k - 1) - chi_square
    return math.inf if rest <= 0.0 else (n - 1) * chi_square / rest


def exact_friedman(ranks: Floats) -> float | None:
    """Exact p-value: the probability of rank sums at least as uneven as these when the ranks of each line are permuted.

    Ties are kept. None where the permutations are too many.
    """
    if ranks.shape[1] > _METHODS:
        return None
    states: Counter[tuple[int, ...]] = Counter({(0,) * ranks.shape[1]: 1})
    for ranked_line in ranks:
        line = Counter(permutations((2.0 * ranked_line).astype(int).tolist()))
        if len(states) * len(line) > _WORK:
            return None
        following: Counter[tuple[int, ...]] = Counter()
        for sums, ways in states.items():
            for permuted, times in line.items():
                # Sorted, because only the spread of the sums matters.
                following[tuple(sorted(map(sum, zip(sums, permuted, strict=True))))] += ways * times
        states = following
    observed = float(((2.0 * ranks).sum(axis=0) ** 2).sum())
    total = sum(states.values())
    extreme = sum(ways for sums, ways in states.items() if sum(s * s for s in sums) >= observed - 1e-6)
    return extreme / total


def critical_value(k: int, alpha: float, *, control: bool = False) -> float:
    """Quantile of the critical difference: the studentised range over √2 (Nemenyi), or Bonferroni–Dunn's.

    The latter, for k − 1 pairs with a `control`, is a normal quantile.
    """
    from scipy.stats import norm, studentized_range

    if control:
        return float(norm.isf(alpha / (2.0 * (k - 1))))
    return float(studentized_range.isf(alpha, k, np.inf)) / math.sqrt(2.0)


def rank_error(n: int, k: int) -> float:
    """Standard error of a difference of two mean ranks, √(k(k+1)/6N)."""
    return math.sqrt(k * (k + 1) / (6.0 * n))


def nemenyi_p_values(differences: Floats, n: int, k: int) -> Floats:
    """p-values of differences of mean ranks, for all pairs together."""
    from scipy.stats import studentized_range

    return np.asarray(studentized_range.sf(np.abs(differences) / rank_error(n, k) * math.sqrt(2.0), k, np.inf))


def normal_p_values(differences: Floats, n: int, k: int) -> Floats:
    """p-values of differences of mean ranks, each alone."""
    from scipy.special import ndtr

    return np.asarray(2.0 * ndtr(-np.abs(differences) / rank_error(n, k)))
