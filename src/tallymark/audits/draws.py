r"""Draws of the positives in audited strata, from which limits of counts, precision and recall are quantiles.

Every checked row gets a random exponential weight (within a stratum of rows drawn alike the share of positives is then
:math:`\mathrm{Beta}(x, n - x)`), and each *part* (all strata, or the strata of rows called positive and those of the
others) gets one more checked row, the pseudo-row, in every draw: in a stratum chosen in proportion to what a row stands
for there, and positive at random. With a single stratum this reproduces the mid-p limits; where none was found it gives
a positive upper limit. Strata that were checked completely stay known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats
from tallymark.audits.strata import Stratum

#: Draws behind every limit, and the seed that makes them the same in every run.
DRAWS = 10_000
SEED = 20_261_118

#: Fewer draws where there are many checked rows, whose weights are drawn one by one.
FEWEST = 2_000
NUMBERS = 40_000_000

#: Numbers in memory at a time.
CHUNK = 4_000_000

#: The chance that the pseudo-row moves a limit outwards. One half gives mid-p limits, 1 exact ones; by enumeration of
#: samples in which a complete stratum stands beside a large one with few positives, .6 is the least chance with which
#: no coverage is below 93 %.
OUTWARDS = 0.6


@dataclass(frozen=True)
class Draws:
    """Draws of the positives of one part, for its lower and for its upper limit; both come from the same random
    numbers.
    """

    lower: Floats
    upper: Floats

    def __add__(self, other: Draws) -> Draws:
        return Draws(self.lower + other.lower, self.upper + other.upper)

    def limits(self, level: float) -> tuple[float, float]:
        """Quantiles with equal tails."""
        return quantiles(self.lower, self.upper, level)

    def unknown(self) -> Draws:
        """As many draws of what cannot be estimated."""
        return Draws(self.lower * math.nan, self.upper * math.nan)


def quantiles(lower: Floats, upper: Floats, level: float) -> tuple[float, float]:
    """The lower limit from the one set of draws, the upper one from the other; draws in which nothing is defined are
    left out.
    """
    tail = (1.0 - level) / 2.0
    return float(np.nanquantile(lower, tail)), float(np.nanquantile(upper, 1.0 - tail))


def drawn(parts: Sequence[Sequence[Stratum]], slope: float) -> list[Draws]:
    """Draws of the positives of each part (their worth, where rows have one), all from the same random numbers."""
    weighted = sum(len(s.truth) for part in parts for s in part if not s.complete and not _alike(s, slope))
    number = int(np.clip(NUMBERS // max(weighted, 1), FEWEST, DRAWS))
    # What is known takes no random numbers, so that the same unknown strata give the same draws in every division into
    # parts.
    rng = np.random.default_rng(SEED)
    return [_of_part(part, slope, number, rng) for part in parts]


def _of_part(strata: Sequence[Stratum], slope: float, number: int, rng: np.random.Generator) -> Draws:
    weights = np.array([0.0 if s.complete else _weight(s) for s in strata])
    certain = sum(float(s.worth @ s.truth) for s, weight in zip(strata, weights, strict=True) if not weight > 0.0)
    total = Draws(np.full(number, certain), np.full(number, certain))
    unknown, weights = [s for s, weight in zip(strata, weights, strict=True) if weight > 0.0], weights[weights > 0.0]
    if not unknown:
        return total
    chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(number), side="right")
    extra, coin = rng.exponential(size=number), rng.random(number)
    hits = (coin < 1.0 - OUTWARDS, coin < OUTWARDS)
    for code, s in enumerate(unknown):
        added = np.where(chosen == code, extra, 0.0)
        total += _equal(s, added, hits, rng) if _alike(s, slope) else _unequal(s, slope, added, hits, rng)
    return total


def _alike(s: Stratum, slope: float) -> bool:
    """Whether each checked row stands for as many rows, and is worth one; without a score."""
    return slope == 0.0 and s.even and bool((s.worth == 1.0).all())


def _weight(s: Stratum) -> float:
    """What a checked row of the stratum stands for besides itself; heavy rows count by their weight."""
    left = s.mass * (1.0 - s.inclusion)
    return float(left @ left / left.sum()) if left.sum() > 0.0 else 0.0


def _weights_by_class(s: Stratum) -> list[float]:
    r"""What the pseudo-row stands for where it is negative, and where it is positive.

    The more the checked rows of its class weigh, :math:`\rho \ge 1` times as much as all on average, the likelier are
    rows of it with the largest weights that were not drawn: :math:`w_{max} - (w_{max} - w^*)/\rho`, with :math:`w^*`
    the weight of a class like the others.
    """
    left = s.mass * (1.0 - s.inclusion)
    most, typical = float(left.max()), _weight(s)
    heavier = [
        max(float(left[one].mean() / left.mean()), 1.0) if one.any() else 1.0 for one in (s.truth == 0.0, s.truth > 0.0)
    ]
    return [most - (most - typical) / ratio for ratio in heavier]


def _equal(s: Stratum, added: Floats, hits: tuple[Bools, Bools], rng: np.random.Generator) -> Draws:
    """Checked rows, and among the others a binomial number with a share drawn from the gamma weights of the checked
    ones.
    """
    n, positives = len(s.truth), int(s.truth.sum())
    yes, no = rng.gamma(positives, size=len(added)), rng.gamma(n - positives, size=len(added))
    rest = max(round(s.size) - n, 0)
    below, above = (np.clip((yes + added * hit) / (yes + no + added), 0.0, 1.0) for hit in hits)
    lower = rng.binomial(rest, below)
    upper = lower.copy()
    # Most pseudo-rows, and all of other strata, are the same for both limits.
    moved = above > below
    upper[moved] = rng.binomial(rest, above[moved])
    return Draws(positives + lower.astype(np.float64), positives + upper.astype(np.float64))


def _unequal(s: Stratum, slope: float, added: Floats, hits: tuple[Bools, Bools], rng: np.random.Generator) -> Draws:
    """Exponential weights of each checked row, less variable the more of the rows like it were checked."""
    mass, spread = s.mass, np.sqrt(1.0 - s.inclusion)
    rest = s.truth - slope * s.score
    over, under = np.empty(len(added)), np.empty(len(added))
    for start in range(0, len(added), step := max(CHUNK // len(mass), 1)):
        weights = rng.exponential(size=(min(step, len(added) - start), len(mass)))
        weights = mass * (1.0 + spread * (weights - 1.0))
        over[start : start + step], under[start : start + step] = weights @ rest, weights.sum(axis=1)
    of_negative, of_positive = _weights_by_class(s)
    # The pseudo-row has the mean score of the checked rows.
    average = slope * s.mean(s.score)
    least, most = float(s.worth @ s.truth), s.size - float(s.worth @ (1.0 - s.truth))

    def total(hit: Bools) -> Floats:
        extra = added * np.where(hit, of_positive, of_negative)
        estimates = s.size * (slope * s.mean_score + (over + extra * (hit - average)) / (under + extra))
        return np.clip(estimates, least, most)

    return Draws(total(hits[0]), total(hits[1]))
