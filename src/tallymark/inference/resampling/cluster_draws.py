"""Cluster bootstrap: whole clusters drawn with replacement."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Seed
from tallymark.inference.resampling.parallel import seeds
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool, Stratum
from tallymark.inference.scales import critical_value, student_value
from tallymark.summaries.tally import Tally


class ClusterDraws:
    """Clusters of several tallies drawn together: one that is in two of them is drawn equally often in both."""

    def __init__(self, tallies: Sequence[Tally]) -> None:
        named = [tally.clusters.names.astype(str) for tally in tallies if tally.clusters is not None]
        self._names = np.unique(np.concatenate(named)) if named else np.array([], dtype=str)

    def multiplicities(self, rng: np.random.Generator, times: int) -> Floats:
        """How often each cluster is drawn, in each of `times` resamples."""
        number = len(self._names)
        if not number:
            return np.zeros((times, 0))
        return rng.multinomial(number, np.full(number, 1.0 / number), times).astype(np.float64)

    def masses(self, tally: Tally, side: int, stratum: Stratum, times: Floats) -> Floats | None:
        """Masses of the entries of a class in each resample; None without clusters."""
        if tally.clusters is None:
            return None
        members = tally.clusters.members[side]
        drawn = times[:, np.searchsorted(self._names, tally.clusters.names.astype(str))][:, members.codes]
        place = np.maximum(np.searchsorted(stratum.cells, members.scores, "right") - 1, 0)
        size = len(stratum.cells)
        masses = np.stack([np.bincount(place, line * members.mass, size) for line in drawn]).astype(np.float64)
        # A resample without any row of the class takes those of the sample.
        empty = masses.sum(axis=1) == 0.0
        masses[empty] = stratum.mass
        return masses


#: Masses of rows in memory at once.
_BLOCK = 2**22


def clustered_resamples(tally: Tally, replicates: int, seed: Seed, most: int) -> Iterator[Resamples]:
    """Resamples of the clusters of a tally, in blocks."""
    draws, pool = ClusterDraws([tally]), Pool.of(tally, most)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    step = max(1, min(replicates, _BLOCK // max(tally.n_rows, 1)))
    for start in range(0, replicates, step):
        times = draws.multiplicities(rng, min(step, replicates - start))
        down, up = (draws.masses(tally, side, stratum, times) for side, stratum in enumerate(pool.strata))
        if down is None or up is None:
            return
        yield Resamples(pool, down, up)


def fewest_clusters(tallies: Sequence[Tally]) -> int | None:
    """The fewest clusters in which any class of the tallies has rows; None without clusters."""
    present = (tally.clusters for tally in tallies if tally.clusters is not None)
    return min((len(np.unique(one.codes)) for clusters in present for one in clusters.members), default=None)


def widened(draws: Floats, estimate: Floats, clusters: int, level: float) -> Floats:
    """Draws moved away from the estimate, by Student's t and n/(n - 1) for few clusters."""
    freedom = max(clusters - 1, 1)
    factor = student_value(level, freedom) / critical_value(level) * math.sqrt(clusters / freedom)
    return np.asarray(estimate + (draws - estimate) * factor)
