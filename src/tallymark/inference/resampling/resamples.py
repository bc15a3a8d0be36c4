"""A block of bootstrap resamples: masses of every entry in each replicate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallymark._check import Floats, Ints, Masses, Scores
from tallymark.inference.resampling.strata import MOST, Pool, Stratum
from tallymark.metrics.hull import upper_hulls
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False)
class Resamples:
    """A block of resamples: masses of every entry, one row per replicate."""

    pool: Pool
    negative: Masses
    positive: Masses

    @classmethod
    def of(cls, tally: Tally, most: int = MOST, edges: Iterable[float] = ()) -> Resamples:
        """The sample itself as the only replicate."""
        pool = Pool.of(tally, most, edges)
        return cls(pool, *(stratum.mass[None, :] for stratum in pool.strata))

    def __len__(self) -> int:
        return len(self.positive)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Masses of the classes."""
        down, up = (masses.sum(axis=1).astype(np.float64) for masses in (self.negative, self.positive))
        return down, up

    @cached_property
    def as_floats(self) -> tuple[Floats, Floats]:
        """The masses of both classes as floats."""
        down, up = (masses.astype(np.float64, copy=False) for masses in (self.negative, self.positive))
        return down, up

    @cached_property
    def _cells(self) -> dict[float, tuple[Floats, Floats, Floats, Floats]]:
        return {}

    def cells(self, threshold: float) -> tuple[Floats, Floats, Floats, Floats]:
        """True and false positives, false and true negatives at a threshold, each a sum so that an empty cell is 0."""
        if threshold not in self._cells:
            down, up = (int(np.searchsorted(stratum.cells, threshold, "left")) for stratum in self.pool.strata)
            self._cells[threshold] = (
                self.positive[:, up:].sum(axis=1),
                self.negative[:, down:].sum(axis=1),
                self.positive[:, :up].sum(axis=1),
                self.negative[:, :down].sum(axis=1),
            )
        return self._cells[threshold]

    @cached_property
    def above(self) -> tuple[Masses, Masses]:
        """Positives and negatives at or above each positive entry."""
        tp = np.cumsum(self.positive[:, ::-1], axis=1)[:, ::-1]
        return tp, self._before[:, -1:] - self._below[0]

    @cached_property
    def beaten(self) -> Masses:
        """Negatives below each positive entry, ties counted one half."""
        below, at_or_below = self._below
        return below if below is at_or_below else (below + at_or_below) / 2

    @cached_property
    def _before(self) -> Masses:
        """Negatives before each negative entry, and all of them."""
        before = np.zeros((len(self), self.negative.shape[1] + 1), dtype=self.negative.dtype)
        np.cumsum(self.negative, axis=1, out=before[:, 1:])
        return before

    @cached_property
    def _below(self) -> tuple[Masses, Masses]:
        """Negatives strictly below, and at or below, each positive entry; one array when nothing is tied."""
        places = self.pool.placements
        below = np.take(self._before, places[0], axis=1)
        return below, below if places[0] is places[1] else np.take(self._before, places[1], axis=1)

    @cached_property
    def scales(self) -> tuple[Floats, Floats]:
        """Factors that reweight (negative, positive) mass of each replicate to the stated prevalence."""
        down, up = self.totals
        prior = self.pool.tally.prior
        if prior is None:
            return np.ones(len(self)), np.ones(len(self))
        return (1.0 - prior) * (down + up) / down, prior * (down + up) / up

    @cached_property
    def prevalences(self) -> Floats:
        """Prevalence of each replicate: the stated one, or the share of positives."""
        down, up = self.totals
        prior = self.pool.tally.prior
        return up / (down + up) if prior is None else np.full(len(self), prior)

    def merged(self, places: tuple[Ints, Ints]) -> tuple[Masses, Masses]:
        """Masses of the negatives and of the positives with each entry at its place among those of both classes."""
        width = 1 + max(int(place[-1]) for place in places)
        sides = []
        for masses, place in zip((self.negative, self.positive), places, strict=True):
            side = np.zeros((len(self), width), dtype=masses.dtype)
            side[:, place] = masses
            sides.append(side)
        return sides[0], sides[1]

    @cached_property
    def hulls(self) -> list[tuple[Floats, Floats]]:
        """False positive rates and recalls at the corners of the convex hull of each replicate's ROC curve."""
        tp, fp = self.above
        # The same sums as above: others, with other rounding, would bend the end of the curve.
        down, up = self._before[:, -1], tp[:, 0]
        # From no row predicted positive to all; an entry that was not drawn adds a point that is no corner.
        x, y = (np.column_stack((np.zeros(len(self)), side[:, ::-1], total)) for side, total in ((fp, down), (tp, up)))
        corners = upper_hulls(x.ravel(), y.ravel(), np.repeat(np.arange(len(self)), x.shape[1]))
        replicate = corners // x.shape[1]
        fpr, tpr = x.ravel()[corners] / down[replicate], y.ravel()[corners] / up[replicate]
        ends = np.searchsorted(replicate, np.arange(1, len(self)))
        return list(zip(np.split(fpr, ends), np.split(tpr, ends), strict=True))

    @cached_property
    def tallies_by_cell(self) -> list[Tally]:
        """Each replicate as a tally with entries at the edges of their cells: exact for rankings."""
        return self._tallies([stratum.cells for stratum in self.pool.strata])

    @cached_property
    def tallies_by_score(self) -> list[Tally]:
        """Each replicate as a tally with entries at their mean score: exact for sums."""
        return self._tallies([stratum.scores for stratum in self.pool.strata])

    def _tallies(self, scores: Sequence[Scores]) -> list[Tally]:
        # The squared weights of an entry are proportional to its mass.
        per_mass = [stratum.squares / stratum.mass for stratum in self.pool.strata]

        def run(entries: Scores, mass: Floats, square: Floats) -> Run:
            drawn = mass > 0
            rows = np.ones(np.count_nonzero(drawn), np.int64)
            return Run(entries[drawn], weights=mass[drawn], squares=mass[drawn] * square[drawn], rows=rows)

        return [
            self._tally([run(*side) for side in zip(scores, masses, per_mass, strict=True)])
            for masses in zip(*self.as_floats, strict=True)
        ]

    @cached_property
    def tallies_of_moments(self) -> list[Tally]:
        """Each replicate as a tally of the masses and moments of its classes, and the extreme scores only."""
        ends = [np.array([run.scores[0], run.scores[-1]]) for run in self.pool.tally.runs]
        sides = [_moments(s, m) for s, m in zip(self.pool.strata, self.as_floats, strict=True)]
        return [
            self._tally(
                [Run(end, weights=np.full(2, m.mass / 2), known_moments=m) for end, m in zip(ends, pair, strict=True)]
            )
            for pair in zip(*sides, strict=True)
        ]

    def _tally(self, runs: Sequence[Run]) -> Tally:
        return Tally(tuple(runs), self.pool.tally.labels, self.pool.tally.prior)


#: Variances below this, relative to the mean square, may be rounding.
_ROUNDING = 1e-12


def _moments(stratum: Stratum, masses: Floats) -> list[ScoreMoments]:
    """Moments of the class in every replicate. Sums by einsum: BLAS results depend on the number of threads."""
    centre, gap, square = stratum.gaps
    total = masses.sum(axis=1)
    # Scores near the largest float overflow; their metrics are undefined then.
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = (np.einsum("rk,k->r", masses, values) / total for values in (gap, square))
        m2 = np.maximum(second - first**2, 0.0) * total
    mean = centre + first
    # A resample of one score alone has exactly that mean and no spread, whatever the rounding.
    for row in np.flatnonzero(m2 <= _ROUNDING * second * total):
        drawn = np.flatnonzero(masses[row])
        if len(drawn) == 1:
            mean[row], m2[row] = stratum.scores[drawn[0]], 0.0
    # No metric of moments uses the third one.
    return [ScoreMoments(n, a, b, math.nan) for n, a, b in zip(total.tolist(), mean.tolist(), m2.tolist(), strict=True)]
