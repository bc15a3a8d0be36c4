"""Resampled masses of a pool, and every metric of a whole block of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tallymark._check import Floats, Masses, Scores
from tallymark.errors import InputError
from tallymark.intervals.base import or_nan
from tallymark.intervals.pool import MOST, Pool, Stratum
from tallymark.registry import METRICS, Metric
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False)
class Draws:
    """A block of resamples: masses of every entry, one row per replicate."""

    pool: Pool
    negative: Masses
    positive: Masses

    @classmethod
    def of(cls, tally: Tally, most: int = MOST, edges: Iterable[float] = ()) -> Draws:
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
    def _at(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def at(self, threshold: float) -> tuple[Floats, Floats]:
        """Positives and negatives at or above a threshold."""
        if threshold not in self._at:
            self._at[threshold] = self._count_at(threshold)
        return self._at[threshold]

    def _count_at(self, threshold: float) -> tuple[Floats, Floats]:
        down, up = self.pool.strata
        tp, fp = (
            masses[:, np.searchsorted(stratum.cells, threshold, "left") :].sum(axis=1)
            for masses, stratum in ((self.positive, up), (self.negative, down))
        )
        return tp, fp

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
    def tallies_by_cell(self) -> list[Tally]:
        """Each replicate as a tally whose entries stand at the edges of their cells: right for rankings."""
        return self._tallies([stratum.cells for stratum in self.pool.strata])

    @cached_property
    def tallies_by_score(self) -> list[Tally]:
        """Each replicate as a tally whose entries stand at their own mean score: right for sums."""
        return self._tallies([stratum.scores for stratum in self.pool.strata])

    def _tallies(self, scores: Sequence[Scores]) -> list[Tally]:
        return [
            self._tally([
                Run(own[held], weights=mass[held], squares=mass[held], rows=np.ones(np.count_nonzero(held), np.int64))
                for own, mass in zip(scores, masses, strict=True)
                for held in [mass > 0]
            ])
            for masses in zip(*self.as_floats, strict=True)
        ]  # fmt: skip

    @cached_property
    def tallies_of_moments(self) -> list[Tally]:
        """Each replicate as a tally that knows its classes' masses and moments, and no score but the extremes."""
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


#: Spreads below this, relative to the squares they are the rest of, may be rounding.
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
        held = np.flatnonzero(masses[row])
        if len(held) == 1:
            mean[row], m2[row] = stratum.scores[held[0]], 0.0
    # No metric of moments looks at the third one.
    return [ScoreMoments(n, a, b, math.nan) for n, a, b in zip(total.tolist(), mean.tolist(), m2.tolist(), strict=True)]


def _auroc(draws: Draws) -> Floats:
    down, up = draws.totals
    found: Floats = np.einsum("rk,rk->r", draws.as_floats[1], draws.beaten.astype(np.float64, copy=False)) / (down * up)
    return found


def _average_precision(draws: Draws) -> Floats:
    down, up = draws.pool.tally.scale
    tp, fp = draws.above
    called = tp + (fp if down == up else fp * (down / up))
    # A replicate without the entry and all above it has 0 of 0 there, which adds nothing.
    precision = tp / np.maximum(called, np.finfo(np.float64).tiny)
    found: Floats = np.einsum("rk,rk->r", draws.as_floats[1], precision) / draws.totals[1]
    return found


def _ks(draws: Draws) -> Floats:
    down, up = draws.totals
    tp, fp = draws.above
    gaps = tp * (1.0 / up)[:, None]
    gaps -= fp * (1.0 / down)[:, None]
    found: Floats = np.maximum(gaps.max(axis=1), 0.0)
    return found


def _d_b(draws: Draws) -> Floats:
    from scipy.special import ndtri

    found: Floats = 2.0 * ndtri((1.0 + _ks(draws)) / 2)
    return found


def _sums(masses: Floats, values: Floats) -> Floats:
    """Masses times values, where nothing of infinity is nothing."""
    endless = np.isinf(values)
    found: Floats = np.einsum("rk,k->r", masses, np.where(endless, 0.0, values) if endless.any() else values)
    return np.where(masses[:, endless].any(axis=1), np.inf, found) if endless.any() else found


def _log_loss(draws: Draws) -> Floats:
    p = draws.pool.tally.prior
    totals = draws.totals
    shares = totals[1] / (totals[0] + totals[1]) if p is None else p
    of_negative, of_positive = (
        _sums(masses, loss) / total
        for masses, loss, total in zip(draws.as_floats, draws.pool.log_losses, totals, strict=True)
    )
    found: Floats = shares * of_positive + (1.0 - shares) * of_negative
    return found


#: Metrics computed for a whole block of replicates at once.
_BLOCKWISE: dict[str, Callable[[Draws], Floats]] = {
    "auroc": _auroc,
    "gini": lambda draws: 2.0 * _auroc(draws) - 1.0,
    "average_precision": _average_precision,
    "ks": _ks,
    "d_b": _d_b,
    "log_loss": _log_loss,
}


def _at_threshold(facts: Metric, draws: Draws, threshold: float, parameters: Mapping[str, float] | None) -> Floats:
    tp, fp = draws.at(threshold)
    down, up = draws.totals
    prior = draws.pool.tally.prior
    if prior is not None:
        n = down + up
        tp, fp, up, down = tp / up * prior * n, fp / down * (1.0 - prior) * n, prior * n, (1.0 - prior) * n
    return at_rates(facts, tp, fp, up, down, parameters)


def at_rates(
    facts: Metric, tp: Any, fp: Any, positives: Any, negatives: Any, parameters: Mapping[str, float] | None = None
) -> Floats:
    """A metric at one threshold, of many true and false positives at once."""
    settings = facts.parameters if parameters is None else parameters
    found: Floats = facts.cells(tp, fp, positives - tp, negatives - fp, **settings)  # type: ignore[misc]
    return found


def values_of(
    name: str, draws: Draws, threshold: float | None, parameters: Mapping[str, float] | None = None
) -> Floats:
    """A metric of every replicate of a block."""
    facts = METRICS[name]
    if facts.needs == "confusion":
        if threshold is None:
            raise InputError(f"{name} needs a threshold: bootstrap(tally, {name!r}, threshold=0.5).")
        return _at_threshold(facts, draws, threshold, parameters)
    if name in _BLOCKWISE:
        return _BLOCKWISE[name](draws)
    if facts.bound == "moments":
        tallies = draws.tallies_of_moments
    else:
        tallies = draws.tallies_by_cell if facts.rank_only else draws.tallies_by_score
    return np.array([or_nan(facts.compute, tally) for tally in tallies])
