"""Sampling designs of an audit: stratification by score, allocation, and inclusion probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats, Ints

#: Share of the sample that is spread evenly over all rows, whatever the scores say: scores that are too sure of
#: themselves would otherwise leave the rows they call impossible unchecked, and limits that hold only for honest scores
#: (88 % instead of 95 % at a tenth).
_EVEN = 0.3

#: Probabilities are clipped to this distance from 0 and 1, so that a plan does not rely on a score alone.
_SURE = 0.001


def doubt(score: Floats) -> Floats:
    """Standard deviation of a row's label, if its score were its probability."""
    p = np.clip(score, _SURE, 1.0 - _SURE)
    return np.sqrt(p * (1.0 - p))


def cut_strata(score: Floats, number: int) -> Ints:
    """Strata of about equal sums of doubt, cut along the score.

    Where f is the density of what is measured, boundaries at equal steps of Σ√f come near the least variance (Dalenius
    & Hodges 1959); of a label whose probability is p the deviation is √(p(1 − p)).
    """
    values, codes = np.unique(score, return_inverse=True)
    mass = np.bincount(codes, doubt(score))
    steps = np.cumsum(mass) / mass.sum()
    # The middle of a value's own step says where it belongs; equal scores are never parted.
    cells = np.minimum(((steps - mass / mass.sum() / 2.0) * number).astype(np.int64), number - 1)
    _, renumbered = np.unique(cells, return_inverse=True)
    return np.asarray(renumbered[codes], dtype=np.int64) if len(values) else codes


@dataclass(frozen=True)
class Layers:
    """Strata: their rows, the deviation expected in each, and the mean score."""

    sizes: Floats
    spreads: Floats
    means: Floats

    @classmethod
    def of(cls, codes: Ints, score: Floats, worth: Floats) -> Layers:
        """The strata of rows; each row counts by its worth."""
        number = int(codes.max()) + 1
        sizes = np.bincount(codes, minlength=number).astype(np.float64)
        means = np.bincount(codes, score * worth, number) / sizes
        squares = np.bincount(codes, np.clip(score, _SURE, 1 - _SURE) * worth**2, number) / sizes
        return cls(sizes, np.sqrt(np.maximum(squares - means**2, 1e-12)), means)

    def variance(self, taken: Floats) -> float:
        """Variance of the mean over all rows with so many rows checked in each stratum."""
        part = self.sizes / self.sizes.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = part**2 * (1.0 - taken / self.sizes) * self.spreads**2 / taken
        return float(np.where(taken >= self.sizes, 0.0, terms).sum())


def _proportional(layers: Layers) -> Floats:
    return layers.sizes


def _neyman(layers: Layers) -> Floats:
    return layers.sizes * layers.spreads


def _power(layers: Layers) -> Floats:
    # Bankier (1988), with the square root of the size: small strata get more than their share, large ones less.
    return np.sqrt(layers.sizes) * layers.spreads / np.maximum(layers.means, _SURE)


#: Shares of a sample by stratum, up to a factor.
ALLOCATIONS: Mapping[str, Callable[[Layers], Floats]] = {
    "neyman": _neyman,
    "power": _power,
    "proportional": _proportional,
}


def allocated(layers: Layers, n: int, least: int | Ints, allocation: str) -> Ints:
    """How many rows of each stratum are checked: `n` in all, at least `least` each, none more than it has."""
    floor = np.minimum(layers.sizes, np.asarray(least, dtype=np.float64))
    wanted = ALLOCATIONS[allocation](layers)
    wanted = (1.0 - _EVEN) * wanted / wanted.sum() + _EVEN * layers.sizes / layers.sizes.sum()
    taken = floor.copy()
    free = np.ones(len(taken), dtype=np.bool_)
    # A stratum that would get less than its least, or more than it has, is settled there; the rest is shared anew.
    while free.any():
        left = n - taken[~free].sum()
        sought = np.where(free, left * wanted / max(wanted[free].sum(), 1e-300), taken)
        over, under = free & (sought > layers.sizes), free & (sought < floor)
        if not (over | under).any():
            taken = sought
            break
        fixed = under if under.any() else over
        taken = np.where(fixed, np.where(under, floor, layers.sizes) if under.any() else layers.sizes, taken)
        free &= ~fixed
    return _rounded(np.clip(taken, floor, layers.sizes), n)


def _rounded(taken: Floats, n: int) -> Ints:
    """Whole numbers with the same sum, the largest fractions rounded up."""
    whole = np.floor(taken).astype(np.int64)
    short = min(round(taken.sum()), n) - int(whole.sum())
    if short > 0:
        whole[np.argsort(whole - taken, kind="stable")[:short]] += 1
    return whole


def chances(doubts: Floats, n: int) -> Floats:
    """Probabilities of being drawn, in proportion to doubt, part of the sample spread evenly; none
    above 1, `n` in all.
    """
    wanted = (1.0 - _EVEN) * doubts / doubts.sum() + _EVEN / len(doubts)
    certain: Bools = np.zeros(len(doubts), dtype=np.bool_)
    while True:
        left = n - certain.sum()
        probabilities = np.where(certain, 1.0, left * wanted / max(wanted[~certain].sum(), 1e-300))
        over = (probabilities > 1.0) & ~certain
        if not over.any():
            return probabilities
        certain |= over


def drawn_within(codes: Ints, taken: Ints, rng: np.random.Generator) -> Ints:
    """Rows drawn without replacement, so many of each stratum, in order."""
    order = np.lexsort((rng.random(len(codes)), codes))
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(taken)))[:-1]))
    return np.sort(np.concatenate([order[start : start + k] for start, k in zip(starts, taken, strict=True)]))


def drawn_by(chance: Floats, rng: np.random.Generator) -> Ints:
    """Rows drawn with these probabilities: systematically along a random order, so that as many come as
    were asked for.
    """
    order = rng.permutation(len(chance))
    steps = np.cumsum(chance[order])
    # Rounding must not lose a row that is certain.
    points = rng.random() + np.arange(round(float(steps[-1])))
    places = np.minimum(np.searchsorted(steps, points, side="right"), len(chance) - 1)
    return np.sort(np.unique(order[places]))
