"""Delete-a-group jackknife for clustered rows.

Leaving out one cluster (or, of many, one of a few hundred groups of them) at a time gives the influence of each on a
metric, and the sum of squares its variance, whatever the dependence inside a cluster. Kott (2001), J. Off. Stat. 17(4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.inference.limits.proportions import limits
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.resampling.values import values_of
from tallymark.inference.scales import NO_SPREAD, critical_value, on_scale, scale_of, student_value
from tallymark.summaries.clusters import Clusters
from tallymark.summaries.tally import Tally

#: More clusters than this are assigned to as many groups at random.
MOST_GROUPS = 400

#: Masses in memory at once.
_BLOCK = 2**22

#: Entries of a tally that is left out group by group.
_ENTRIES = 2**16


@dataclass(frozen=True)
class Jackknife:
    """A jackknife standard error and the effective number of groups: fewer where a few of them dominate it."""

    error: float
    groups: float

    @classmethod
    def of(cls, values: Floats) -> Jackknife:
        """From the estimates without each group."""
        if len(values) < 2 or not np.isfinite(values).all():
            return cls(math.nan, 0.0)
        n = len(values)
        moved = values - values.mean()
        squares = float(np.sum(moved**2))
        if squares == 0.0:
            return cls(0.0, float(n))
        # Three over the kurtosis: the number of groups where their influence is normal.
        return cls(math.sqrt((n - 1) / n * squares), min(float(n), 3.0 * squares**2 / float(np.sum(moved**4))))

    def plus(self, other: Jackknife) -> Jackknife:
        """Of two independent samples; degrees of freedom by Welch and Satterthwaite."""
        if math.isnan(self.error) or math.isnan(other.error):
            return Jackknife(math.nan, 0.0)
        parts = [(one.error**2, one.freedom) for one in (self, other)]
        variance = sum(v for v, _ in parts)
        if variance == 0.0:
            return Jackknife(0.0, min(self.groups, other.groups))
        return Jackknife(math.sqrt(variance), variance**2 / sum(v**2 / free for v, free in parts) + 1.0)

    @property
    def freedom(self) -> float:
        """Degrees of freedom."""
        return max(self.groups - 1.0, 1.0)

    def limits(self, value: float, level: float, low: float, high: float) -> tuple[float, float]:
        """Limits of an estimate in the range `low` to `high`.

        In a finite range they are those of a proportion with the same variance; at an end, or without variance, with as
        many rows as there are groups.
        """
        if math.isnan(self.error):
            return math.nan, math.nan
        # Smaller errors are rounding.
        varies = self.error > NO_SPREAD * abs(value)
        if not math.isfinite(high - low):
            if not (varies and low < value):
                return math.nan, math.nan
            return on_scale(value, self.error, self.freedom, level, scale_of(low, high))
        p = (value - low) / (high - low)
        shrunk = (critical_value(level) / student_value(level, self.freedom)) ** 2
        rows = p * (1.0 - p) / (self.error / (high - low)) ** 2 if varies and 0.0 < p < 1.0 else self.groups
        ends = limits(p * rows * shrunk, rows * shrunk, level)
        return low + float(ends[0]) * (high - low), low + float(ends[1]) * (high - low)


def groups_of(clusters: Clusters, most: int = MOST_GROUPS) -> Ints:
    """The group of each cluster; each is a group where there are few."""
    number = len(clusters)
    if number <= most:
        return np.arange(number)
    # A fixed order: the same data has the same limits.
    return np.random.default_rng(0).permutation(number) % most


def without_each(tally: Tally, edges: Sequence[float] = (), most: int = MOST_GROUPS) -> Iterator[Resamples]:
    """The tally without each group of clusters in turn, in blocks."""
    clusters = tally.clusters
    if clusters is None:
        return
    group = groups_of(clusters, most)
    pool = Pool.of(tally, _ENTRIES, edges)
    sides = []
    for members, stratum in zip(clusters.members, pool.strata, strict=True):
        place = np.maximum(np.searchsorted(stratum.cells, members.scores, "right") - 1, 0)
        order = np.argsort(group[members.codes], kind="stable")
        starts = np.searchsorted(group[members.codes][order], np.arange(group.max() + 2))
        sides.append((place[order], members.mass[order], starts, stratum.mass))
    number = int(group.max()) + 1
    size = max(1, _BLOCK // max(pool.size, 1))
    for first in range(0, number, size):
        blocks = []
        for place, mass, starts, whole in sides:
            left = np.repeat(whole[None, :], min(size, number - first), axis=0)
            for row in range(len(left)):
                group_rows = slice(starts[first + row], starts[first + row + 1])
                left[row] -= np.bincount(place[group_rows], mass[group_rows], len(whole))
            blocks.append(np.maximum(left, 0.0) * (left > 1e-9 * whole))
        yield Resamples(pool, blocks[0], blocks[1])


def jackknifed(
    names: Sequence[str],
    tally: Tally,
    threshold: float | None,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Floats]:
    """Each metric without each group of clusters in turn; nan where a class is left without rows."""
    edges = () if threshold is None or math.isinf(threshold) else (threshold,)
    settings = parameters or {}
    parts: dict[str, list[Floats]] = {name: [] for name in names}
    for block in without_each(tally, edges):
        both = (block.totals[0] > 0.0) & (block.totals[1] > 0.0)
        kept = block if both.all() else Resamples(block.pool, block.negative[both], block.positive[both])
        for name in names:
            values = np.full(len(both), np.nan)
            if both.any():
                values[both] = values_of(name, kept, threshold, settings.get(name))
            parts[name].append(values)
    return {name: np.concatenate(values) for name, values in parts.items()}
