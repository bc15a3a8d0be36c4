"""Sorted scores of one class, with counts or weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Column, Floats, Ints, Masses, Scores
from tallymark._mappings import Sealed
from tallymark.errors import InputError
from tallymark.summaries import invariants
from tallymark.summaries.sorting import blocks, starts_of_groups


@dataclass(frozen=True)
class ScoreMoments:
    """Mass, mean and the second and third central sums of a run's scores."""

    mass: float
    mean: float
    m2: float
    m3: float

    @property
    def variance(self) -> float:
        """Variance with the mass as divisor."""
        return self.m2 / self.mass

    @property
    def skewness(self) -> float:
        """Third standardised moment; 0 for a constant, or what is one to the last digit."""
        with np.errstate(over="ignore"):
            spread = np.float64(max(self.m2, 0.0)) ** 1.5
        return 0.0 if spread == 0.0 else float(np.sqrt(self.mass) * self.m3 / spread)

    def merge(self, other: ScoreMoments) -> ScoreMoments:
        """Moments of both samples together (Pébay 2008, SAND2008-6212)."""
        if not self.mass or not other.mass:
            return self if self.mass else other
        # NumPy's numbers, whose powers are infinite where Python's raise.
        mass, gap = self.mass + other.mass, np.float64(other.mean) - self.mean
        share = other.mass / mass
        with np.errstate(over="ignore", invalid="ignore"):
            m2 = self.m2 + other.m2 + gap**2 * self.mass * share
            m3 = (
                self.m3
                + other.m3
                + gap**3 * self.mass * share * (self.mass - other.mass) / mass
                + 3.0 * gap * (self.mass * other.m2 - other.mass * self.m2) / mass
            )
        return ScoreMoments(mass, float(self.mean + gap * share), float(m2), float(m3))


@dataclass(frozen=True, eq=False)
class Run(Sealed):
    """Ascending scores, each of one row, of `counts` rows, or of a sum of `weights`.

    A unit run may repeat a score; with counts or weights each score occurs once. Weights keep their sum of
    squares and the number of rows, which is all a linearised variance needs. In a quantised run an entry is a
    cell: `scores` is the cell's lower edge, `lo` and `hi` this class's lowest and highest score in it, and the
    exact moments are carried along.
    """

    scores: Scores
    counts: Ints | None = None
    weights: Floats | None = None
    squares: Floats | None = None
    rows: Ints | None = None
    lo: Scores | None = None
    hi: Scores | None = None
    known_moments: ScoreMoments | None = None

    def __post_init__(self) -> None:
        for array in self.columns().values():
            array.flags.writeable = False

    @classmethod
    def of(cls, scores: Scores, counts: Ints | None = None, weights: Floats | None = None) -> Run:
        """From clean columns in any order. Rows of mass 0 are left out."""
        mass: Masses | None = weights if counts is None else counts
        if mass is None:
            return cls.sorted_units(np.sort(scores))
        kept = np.flatnonzero(mass)
        order = kept[np.argsort(scores[kept])]
        ascending = scores[order] + 0.0
        if counts is not None:
            return _grouped(cls(ascending, counts=counts[order]))
        ordered = mass[order]
        return _grouped(cls(ascending, weights=ordered, squares=ordered**2, rows=np.ones(len(ordered), dtype=np.int64)))

    @classmethod
    def sorted_units(cls, ascending: Scores) -> Run:
        """From scores that are sorted already."""
        # -0.0 and 0.0 are equal but print and divide differently; adding zero makes them one.
        ascending += 0.0
        return cls(ascending)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def kind(self) -> Literal["unit", "counts", "weights"]:
        """Whether scores are of single rows, counts or weights."""
        if self.weights is not None:
            return "weights"
        return "unit" if self.counts is None else "counts"

    @property
    def exact(self) -> bool:
        """Every entry is a single score, not a cell of several."""
        return self.hi is None or bool(np.array_equal(self.scores, self.hi))

    @cached_property
    def n_distinct(self) -> int:
        """How many different scores there are."""
        return int(np.count_nonzero(self.scores[1:] != self.scores[:-1])) + 1 if len(self) else 0

    @cached_property
    def mass(self) -> Masses:
        """The mass of each entry."""
        if self.weights is not None:
            return self.weights
        return np.ones(len(self), dtype=np.int64) if self.counts is None else self.counts

    @cached_property
    def cumulative(self) -> Masses:
        """Mass of the first 0, 1, 2, … entries."""
        mass = self.mass
        sums: Masses = np.zeros(len(self) + 1, dtype=mass.dtype)
        np.cumsum(mass, out=sums[1:])
        sums.flags.writeable = False
        return sums

    @cached_property
    def cumulative_from_top(self) -> Masses:
        """Mass of the entries from each place on, added from the top so that small weights there are not lost."""
        sums: Masses = np.zeros(len(self) + 1, dtype=self.mass.dtype)
        np.cumsum(self.mass[::-1], out=sums[-2::-1])
        sums.flags.writeable = False
        return sums

    @cached_property
    def total(self) -> float | int:
        """Mass of all entries: a count, or the sum of the weights."""
        if self.kind == "unit":
            return len(self)
        total: float | int = self.cumulative_from_top[0].item()
        return total

    @cached_property
    def n_rows(self) -> int:
        """How many rows the run was made from."""
        if self.rows is not None:
            return int(self.rows.sum())
        return int(self.total)

    @property
    def centres(self) -> Scores:
        """The score of each entry, of a cell its middle."""
        return self.scores if self.hi is None else (self.scores + self.hi) / 2

    @property
    def terms(self) -> int:
        """Number of weights that are added up; 0 for counts, which add up exactly."""
        return self.n_rows if self.kind == "weights" else 0

    @cached_property
    def effective_size(self) -> float:
        """Kish's effective sample size: fewer than the rows where weights differ."""
        return float(self.total) if self.squares is None else float(self.total) ** 2 / float(self.squares.sum())

    def mass_before(self, index: Any) -> Any:
        """Mass of the entries before an index, or before each of many."""
        return index if self.kind == "unit" else self.cumulative[index]

    def mass_from(self, index: Any) -> Any:
        """Mass of the entries from an index on, or from each of many."""
        return len(self) - index if self.kind == "unit" else self.cumulative_from_top[index]

    @cached_property
    def moments(self) -> ScoreMoments:
        """Exact moments of the scores behind this run."""
        if self.known_moments is not None:
            return self.known_moments
        if not len(self):
            return ScoreMoments(0.0, 0.0, 0.0, 0.0)
        # Around one of the scores, so that equal scores have their exact mean and no spread.
        pivot = float(self.scores[len(self) // 2])
        mean = pivot + self.sum_of(lambda s: s - pivot) / self.total
        return ScoreMoments(float(self.total), mean, *self._central_sums(mean))

    def _central_sums(self, mean: float) -> tuple[float, float]:
        """Sums of the squares and cubes of the distances from the mean, a block at a time."""
        squares, cubes = 0.0, 0.0
        for block in blocks(len(self)):
            with np.errstate(over="ignore", invalid="ignore"):
                gap = self.scores[block].astype(np.float64) - mean
                # A power of 3 takes ten times as long as two products.
                square = gap * gap if self.kind == "unit" else gap * gap * self.mass[block]
                squares += float(np.sum(square))
                cubes += float(np.sum(square * gap))
        return squares, cubes

    def sum_of(self, function: Callable[[Floats], Floats]) -> float:
        """Mass-weighted sum of a function of the score, a block at a time."""
        total = 0.0
        for block in blocks(len(self)):
            # Scores near the largest float overflow to inf, which callers check.
            with np.errstate(over="ignore", invalid="ignore"):
                values = function(self.scores[block].astype(np.float64, copy=False))
                # Not a dot product: BLAS results depend on the number of threads.
                total += float(np.sum(values if self.kind == "unit" else values * self.mass[block]))
        return total

    def merge(self, *others: Run) -> Run:
        """The run of all samples together."""
        runs = (self, *others)
        require_same_kind(*runs)
        if all(run.kind == "unit" and run.lo is None for run in runs):
            together = np.concatenate([run.scores for run in runs])
            together.sort(kind="stable")  # merges the sorted parts
            return Run(together)
        joined = concatenated(*(run.counted() for run in runs))
        order = np.argsort(joined.scores, kind="stable")
        return _grouped(joined.take(order))

    def counted(self) -> Run:
        """The same run with explicit counts (weighted runs stay as they are)."""
        if self.kind != "unit":
            return self
        return _grouped(replace(self, counts=np.ones(len(self), dtype=np.int64)))

    def take(self, index: Column) -> Run:
        """The entries at the given places, in that order."""
        columns: Any = {name: array[index] for name, array in self.columns().items()}
        return replace(self, **columns)

    def columns(self) -> dict[str, Column]:
        """The arrays this run is made of, by name."""
        names = ("scores", "counts", "weights", "squares", "rows", "lo", "hi")
        return {name: array for name in names if (array := getattr(self, name)) is not None}


def require_same_kind(*runs: Run) -> None:
    """Refuse to put weighted and unweighted rows together."""
    if len({run.kind == "weights" for run in runs if len(run)}) > 1:
        raise InputError("Cannot merge weighted and unweighted tallies; give both weights=, or neither.")


def concatenated(*runs: Run) -> Run:
    """Entries of all runs one after the other, not sorted. An empty run takes on the others' kind."""
    filled = [run for run in runs if len(run)] or runs[-1:]
    if len(filled) == 1:
        return filled[0]
    columns = [run.columns() for run in filled]
    joined: Any = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return Run(**joined)


def _grouped(run: Run) -> Run:
    """Entries with equal scores joined into one. Scores ascending."""
    starts = starts_of_groups(run.scores)
    if len(starts) == len(run):
        return run
    return grouped_at(run, starts)


def grouped_at(run: Run, starts: Ints) -> Run:
    """Consecutive entries joined: one group begins at each of `starts`."""
    summed: Any = {
        name: np.add.reduceat(array, starts)
        for name, array in run.columns().items()
        if name in {"counts", "weights", "squares", "rows"}
    }
    if run.lo is not None and run.hi is not None:
        summed |= {"lo": np.minimum.reduceat(run.lo, starts), "hi": np.maximum.reduceat(run.hi, starts)}
    return replace(run, scores=run.scores[starts], **summed)


def checked_run(columns: Mapping[str, Any], moments: Any = None) -> Run:
    """A run read from a file, with every invariant checked."""
    invariants.only(columns, {"scores", "counts", "weights", "squares", "rows", "lo", "hi"})
    invariants.require("scores" in columns, "there are no scores")
    shape = np.shape(columns["scores"])[:1]
    scores = invariants.numbers(columns["scores"], "f", shape, "scores")
    named = set(columns) - {"scores", "lo", "hi"}
    invariants.require(named in (set(), {"counts"}, {"weights", "squares", "rows"}), "counts and weights are mixed")
    invariants.require(("lo" in columns) == ("hi" in columns), "one end of the cells is missing")
    steps = np.diff(scores)
    invariants.require(not (steps < 0).any() and (not named or (steps > 0).all()), "scores are not ascending")
    if "counts" in columns:
        _check.countable(
            float(invariants.numbers(columns["counts"], "i", shape, "counts", least=1).sum(dtype=float)), "counts"
        )
    if "weights" in columns:
        weights = invariants.numbers(columns["weights"], "f", shape, "weights", least=0.0)
        rows = invariants.numbers(columns["rows"], "i", shape, "rows", least=1)
        invariants.squares_of_weights(
            invariants.numbers(columns["squares"], "f", shape, "squares", least=0.0), weights, rows
        )
    if "lo" in columns:
        lo, hi = (invariants.numbers(columns[end], "f", shape, "ends of cells") for end in ("lo", "hi"))
        invariants.require((scores <= lo).all() and (lo <= hi).all() and (hi[:-1] < scores[1:]).all(), "cells overlap")
    invariants.require(moments is None or "lo" in columns, "moments of scores that are exact")
    run = Run(**columns)
    if moments is None:
        return run
    mass = np.asarray(run.mass, dtype=np.float64)
    stored = invariants.moments(moments, mass, *(np.asarray(columns[end], dtype=np.float64) for end in ("lo", "hi")))
    return replace(run, known_moments=ScoreMoments(*stored))
