"""The entries of each class to resample, few enough to be drawn thousands of times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tallymark._check import Floats, Ints, Masses, Scores
from tallymark.inference.limits.influence import masses
from tallymark.metrics.probability import log_to_one, log_to_zero
from tallymark.summaries.run import Run
from tallymark.summaries.sorting import placements
from tallymark.summaries.tally import Tally

#: Up to so many entries every distinct score is one; beyond, neighbouring scores share a cell.
MOST = 2**17

#: Rows are drawn one by one while there are at most so many for each entry; beyond, entries draw their counts.
_ROWS_PER_ENTRY = 8


#: NumPy draws without replacement from fewer rows than this.
_MANY = 10**9


@dataclass(frozen=True, eq=False)
class Stratum:
    """Entries of one class: the lower edge of their cell, their mean score, rows, mass and squared weights.

    `cells` ascend and are shared by the classes: equal cells are tied.
    """

    cells: Scores
    scores: Floats
    rows: Ints
    mass: Floats
    squares: Floats

    @cached_property
    def n(self) -> int:
        """Rows of the class."""
        return int(self.rows.sum())

    @cached_property
    def gaps(self) -> tuple[float, Floats, Floats]:
        """The mean score, and each entry's distance from it, plain and squared."""
        # Scores near the largest float overflow; their metrics have no spread then.
        with np.errstate(over="ignore", invalid="ignore"):
            centre = float(np.sum(self.scores * (self.mass / self.mass.sum())))
            gap = self.scores - centre
            return centre, gap, gap**2

    @cached_property
    def _entry_of_row(self) -> Ints | None:
        return None if self.n == len(self.rows) else np.repeat(np.arange(len(self.rows)), self.rows)

    @cached_property
    def _weight(self) -> Floats | None:
        """Mean weight of an entry's rows; None when every row counts one."""
        weight = self.mass / self.rows
        return None if (weight == 1.0).all() else weight

    @cached_property
    def _weight_sd(self) -> Floats | None:
        """Spread of the weights within an entry; None when it has none."""
        mean = self.mass / self.rows
        variance = np.maximum(self.squares / self.rows - mean**2, 0.0)
        # Smaller variances are rounding of equal weights.
        variance[variance <= 1e-12 * mean**2] = 0.0
        return np.sqrt(variance) if variance.any() else None

    def draw(self, rng: np.random.Generator, times: int, size: int | None = None) -> Masses:
        """Masses of the entries in `times` resamples of the class's rows, with replacement; counts stay integers."""
        n, entries = self.n if size is None else size, len(self.rows)
        if n <= _ROWS_PER_ENTRY * entries:
            # int64 throughout: bincount would convert anything else, at five times the cost.
            place = rng.integers(0, self.n, (times, n))
            if self._entry_of_row is not None:
                place = self._entry_of_row[place]
            place += np.arange(times)[:, None] * entries
            counts = np.bincount(place.ravel(), minlength=times * entries).reshape(times, entries)
        else:
            counts = rng.multinomial(n, self.rows / self.n, times)
        if self._weight is None:
            return counts
        drawn = counts.astype(np.float64)
        masses: Floats = drawn * self._weight
        if self._weight_sd is not None:
            # Which rows of an entry are drawn is not known; their sum varies with the weights.
            masses += np.sqrt(drawn) * self._weight_sd * rng.standard_normal(drawn.shape)
        return np.maximum(masses, 0.0)

    def subsample(self, rng: np.random.Generator, size: int, times: int) -> Masses:
        """Masses of the entries in `times` samples of `size` rows without replacement."""
        if self.n == len(self.rows):
            counts = np.zeros((times, self.n), dtype=np.int64)
            for row in counts:
                row[rng.choice(self.n, size, replace=False, shuffle=False)] = 1
        elif self.n < _MANY:
            counts = rng.multivariate_hypergeometric(self.rows, size, times, method="marginals")
        else:
            # Of so many rows hardly one is drawn twice.
            counts = rng.multinomial(size, self.rows / self.n, times)
        return counts if self._weight is None else counts * self._weight


@dataclass(frozen=True, eq=False)
class Pool:
    """The entries of both classes of a tally, to be resampled."""

    tally: Tally
    negative: Stratum
    positive: Stratum
    #: For each positive entry, the negative entries strictly below it and at or below it.
    placements: tuple[Ints, Ints]

    @classmethod
    def of(cls, tally: Tally, most: int = MOST, edges: Iterable[float] = ()) -> Pool:
        """The entries of a tally, in at most about `most` cells; `edges` are thresholds no cell may straddle."""
        negative, positive = strata_of(tally.runs, most, edges)
        return cls(tally, negative, positive, placements(negative.cells, positive.cells))

    @property
    def strata(self) -> tuple[Stratum, Stratum]:
        """Negatives, positives."""
        return self.negative, self.positive

    @cached_property
    def places_by_cell(self) -> tuple[Ints, Ints]:
        """Where the entries of each class stand among the cells of both, ascending."""
        return _places(self.negative.cells, self.positive.cells)[1]

    @cached_property
    def places_by_score(self) -> tuple[Floats, tuple[Ints, Ints]]:
        """The scores of both classes, ascending, and where the entries of each stand among them."""
        return _places(self.negative.scores, self.positive.scores)

    @cached_property
    def log_losses(self) -> tuple[Floats, Floats]:
        """Log loss of each entry of the negatives and of the positives."""
        return log_to_zero(self.negative.scores), log_to_one(self.positive.scores)

    def thinned(self) -> Tally:
        """The pool as a tally of fewer entries.

        Entries are at the edges of their cells, so that ties between the classes are kept; moments stay exact.
        """
        runs = []
        for run, stratum in zip(self.tally.runs, self.strata, strict=True):
            columns: dict[str, Any] = {"scores": stratum.cells, "known_moments": run.moments}
            if run.kind == "weights":
                columns |= {"weights": stratum.mass, "squares": stratum.squares, "rows": stratum.rows}
            else:
                columns |= {"counts": stratum.rows}
            runs.append(Run(**columns))
        return replace(self.tally, runs=tuple(runs), grid=None)

    @property
    def size(self) -> int:
        """Entries of both classes."""
        return len(self.negative.rows) + len(self.positive.rows)


def _places(negative: Scores, positive: Scores) -> tuple[Scores, tuple[Ints, Ints]]:
    scores = np.union1d(negative, positive)
    return scores, (np.searchsorted(scores, negative), np.searchsorted(scores, positive))


def strata_of(runs: Sequence[Run], most: int = MOST, edges: Iterable[float] = ()) -> list[Stratum]:
    """Each run as a stratum, in at most about `most` cells that they share; `edges` are scores no cell may straddle."""
    distinct = [run if run.n_distinct == len(run) else run.counted() for run in runs]
    if sum(map(len, distinct)) <= most:
        return [_of_run(run) for run in distinct]
    parts = most // len(runs)
    cuts = np.unique(np.concatenate([*(_quantiles(run, parts) for run in distinct), np.asarray(list(edges))]))
    return [_joined(run, cuts) for run in runs]


def _columns(run: Run) -> tuple[Ints, Floats, Floats]:
    mass, squares, rows = masses(run)
    return rows.astype(np.int64), mass, squares


def _of_run(run: Run) -> Stratum:
    return Stratum(run.scores, run.centres.astype(np.float64), *_columns(run))


def _quantiles(run: Run, most: int) -> Scores:
    """Scores of a run that cut it into about `most` equal parts; all of them when they are few."""
    if len(run) <= most:
        return run.scores
    return run.scores[np.linspace(0, len(run) - 1, most).astype(np.int64)]


def _joined(run: Run, cuts: Scores) -> Stratum:
    """Entries between neighbouring cuts put together."""
    starts = np.searchsorted(run.scores, cuts, "left")
    starts[0] = 0
    ends = np.append(starts[1:], len(run))
    filled = ends > starts
    middle = run.centres
    if run.kind == "unit":
        # Rows are differences of places, without a column of ones.
        rows = (ends - starts)[filled]
        mass = squares = rows.astype(np.float64)
        sums = np.add.reduceat(middle, starts[filled], dtype=np.float64)
    else:
        rows, mass, squares = (np.add.reduceat(column, starts[filled]) for column in _columns(run))
        sums = np.add.reduceat(middle * run.mass, starts[filled])
    return Stratum(cuts[filled], sums / mass, rows, mass, squares)


#: Entries from which a tally is thinned before it is plotted, and the entries it then has.
_HEAVY, _LIGHT = 2**17, 2**14


_LIGHTER: WeakKeyDictionary[Tally, Tally] = WeakKeyDictionary()


def lighter(tally: Tally) -> Tally:
    """A tally with fewer thresholds, each with exact counts, for curves of millions of points."""
    if sum(map(len, tally.runs)) <= _HEAVY:
        return tally
    if tally not in _LIGHTER:
        _LIGHTER[tally] = Pool.of(tally, _LIGHT).thinned()
    return _LIGHTER[tally]
