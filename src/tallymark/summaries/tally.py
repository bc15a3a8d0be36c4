"""The Tally: how the scores of each class are distributed. Almost every number is a function of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label, Masses, Scores
from tallymark._display import Row, Shown
from tallymark._numbers import noun
from tallymark._numbers import number as shown_number
from tallymark._policies import parse_policy
from tallymark._rounding import rounding
from tallymark.errors import InputError
from tallymark.notes import Note, emit
from tallymark.summaries import invariants, score_grid, storage
from tallymark.summaries.clusters import Clusters
from tallymark.summaries.confusion import BinaryConfusion, Cells
from tallymark.summaries.cutoffs import Cutoffs, Outcomes, Steps, all_cutoffs, outcomes_of, steps_at
from tallymark.summaries.run import Run, ScoreMoments, checked_run, require_same_kind
from tallymark.summaries.sorting import BLOCK, blocks, placements, sort_in_place, starts_of_groups


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Shown):
    """One ascending run of scores per class: (negative, positive), or a single run without labels.

    Make one with :func:`tallymark.tally`. `prior` is the prevalence the data is looked at
    (:meth:`at_prevalence`); `grid` says how the scores were put into cells, None when they are exact.

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.n, t.positives, t.prevalence
    (4, 2, 0.5)
    >>> t.at(0.4).tp
    1
    """

    runs: tuple[Run, ...]
    labels: tuple[Label, Label] | None = None
    prior: float | None = None
    grid: score_grid.Grid | None = None
    #: Which rows belong together; None where each stands for itself.
    clusters: Clusters | None = None

    @classmethod
    def of(
        cls,
        scores: Scores,
        is_positive: Bools | None = None,
        labels: tuple[Label, Label] | None = None,
        *,
        counts: Ints | None = None,
        weights: Floats | None = None,
        cluster: NDArray[Any] | None = None,
    ) -> Tally:
        """From clean columns."""
        if cluster is not None:
            parts = [slice(None)] if is_positive is None else [~is_positive, is_positive]
            together = Clusters.of(cluster, scores, parts, counts if counts is not None else weights)
            return replace(cls.of(scores, is_positive, labels, counts=counts, weights=weights), clusters=together)
        if is_positive is None:
            return cls((Run.of(scores, counts, weights),))
        parts = [~is_positive, is_positive]
        if counts is None and weights is None:
            own = [np.compress(part, scores) for part in parts]
            sort_in_place(own)
            return cls(tuple(map(Run.sorted_units, own)), labels)
        runs = [
            Run.of(scores[part], None if counts is None else counts[part], None if weights is None else weights[part])
            for part in parts
        ]
        return cls(tuple(runs), labels)

    @property
    def labelled(self) -> bool:
        """Whether the classes are known."""
        return self.labels is not None

    @cached_property
    def negative(self) -> Run:
        """Scores of the negatives."""
        return self._class_runs()[0]

    @cached_property
    def positive(self) -> Run:
        """Scores of the positives."""
        return self._class_runs()[1]

    @property
    def positives(self) -> float | int:
        """Mass of the positives: a count, or the sum of their weights."""
        return self.positive.total

    @property
    def negatives(self) -> float | int:
        """Mass of the negatives."""
        return self.negative.total

    @cached_property
    def n(self) -> float | int:
        """Mass of all rows."""
        return sum(run.total for run in self.runs)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, whatever their weight."""
        return sum(run.n_rows for run in self.runs)

    @property
    def weighted(self) -> bool:
        """Made with ``weights=``."""
        return any(run.kind == "weights" for run in self.runs)

    @cached_property
    def rounding(self) -> float:
        """How far equal quotients of its masses may differ by rounding, relative to their size."""
        return rounding(max(run.terms for run in self.runs))

    @cached_property
    def separation(self) -> int:
        """1 where every positive scores above every negative, -1 where every one scores below, 0 where they overlap."""
        negative, positive = (run.scores for run in self._class_runs())
        if not len(negative) or not len(positive):
            return 0
        return int(negative[-1] < positive[0]) - int(positive[-1] < negative[0])

    @property
    def exact(self) -> bool:
        """No cell holds different scores, so nothing is known only up to a bound."""
        return all(run.exact for run in self.runs)

    @property
    def prevalence(self) -> float:
        """Share of positives: the stated one, or the sample's."""
        if self.prior is not None:
            return self.prior
        return self.positives / self.n if self.n else math.nan

    @property
    def scale(self) -> tuple[float, float]:
        """What a unit of (negative, positive) mass counts at the prevalence looked at; (1, 1) at the sample's own."""
        if self.prior is None:
            return 1.0, 1.0
        return (1.0 - self.prior) * self.n / self.negatives, self.prior * self.n / self.positives

    @cached_property
    def range(self) -> tuple[float, float]:
        """Lowest and highest score."""
        ends = [
            (float(run.scores[0]), float(run.scores[-1] if run.hi is None else run.hi[-1]))
            for run in self.runs
            if len(run)
        ]
        if not ends:
            return math.nan, math.nan
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def is_probability(self) -> bool:
        """All scores lie in [0, 1]."""
        low, high = self.range
        return low >= 0.0 and high <= 1.0

    def at_prevalence(self, prevalence: float | None) -> Tally:
        """The same data seen at another prevalence: counts stay, prior-dependent numbers move.

        >>> import tallymark as tm
        >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> round(tm.metrics.precision(t.at_prevalence(0.002).at(0.35)), 4)
        0.004
        """
        prior = None if prevalence is None else _check.probability(prevalence, "prevalence")
        if prior is not None and not (self.positives and self.negatives):
            raise InputError("Another prevalence needs rows of both classes; this tally has one class only.")
        if prior == self.prior:
            return self
        seen = Tally(self.runs, self.labels, prior, self.grid, self.clusters)
        # What was computed from the counts alone holds under every lens.
        seen.__dict__.update({name: view for name, view in self.__dict__.items() if name in _LENS_FREE})
        return seen

    def at(self, threshold: float | str) -> BinaryConfusion:
        """The confusion matrix at a threshold or policy (``"youden"``, ``"tpr:0.9"``, ``"cost:1,50"``, …).

        Positive means ``score >= threshold``; the threshold is first rounded to the scores' dtype.
        """
        matrix, notes = self.cut_at(threshold)
        emit(notes)
        return matrix

    def cut_at(self, threshold: float | str) -> tuple[BinaryConfusion, tuple[Note, ...]]:
        """The matrix of :meth:`at`, and notes on a threshold that was moved to an edge of a cell, or that no probability reaches."""
        cut, notes = self._on_an_edge(self.threshold_for(threshold))
        notes += self._beyond(threshold)
        table: list[Any] = []
        squares: list[Any] = []
        rows: list[Any] = []
        for run in self._class_runs():
            index = int(np.searchsorted(run.scores, cut, "left"))
            table.append([run.mass_before(index), run.mass_from(index)])
            if run.squares is not None and run.rows is not None:
                squares.append([run.squares[:index].sum(), run.squares[index:].sum()])
                rows.append([run.rows[:index].sum(), run.rows[index:].sum()])
        matrix = BinaryConfusion(
            np.array(table),
            self.labels,  # type: ignore[arg-type]
            positive=1,
            prior=self.prior,
            threshold=float(cut),
            squares=np.array(squares) if len(squares) == 2 else None,
            rows_per_cell=np.array(rows) if len(rows) == 2 else None,
            of_probabilities=self.is_probability,
        )
        return matrix, notes

    def _beyond(self, threshold: float | str) -> tuple[Note, ...]:
        """A note on a number above 1 that cuts probabilities, like a percentage."""
        try:
            number = float(threshold)
        except ValueError:
            return ()
        if not 1.0 < number < math.inf or not self.is_probability:
            return ()
        low, high = self.range
        said = (
            f"the threshold {number:g} is above every score ({low:g} to {high:g}), so no row is called positive; probabilities end at 1 "
            "(write 0.5 for 50 %)"
        )
        return (Note("TM122", said),)

    def threshold_for(self, threshold: float | str) -> float:
        """The number a threshold or policy stands for on this data."""
        if isinstance(threshold, str):
            try:
                number = float(threshold)
            except ValueError:
                policy, arguments = parse_policy(threshold)
                return float(policy.choose(self, *arguments))
        else:
            try:
                number = math.nan if isinstance(threshold, bool) else float(threshold)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
        if math.isnan(number):
            raise InputError(f"threshold is {threshold!r}, expected a number or the name of a policy like 'youden'.")
        return number

    def merge(self, *others: Tally) -> Tally:
        """The tally of all samples together, equal to one made from all rows at once."""
        merged = self
        for other in others:
            merged = merged._merge(other)
        return merged

    def quantise(self, thresholds: Iterable[float] = ()) -> Tally:
        """Scores put into cells of about 13 significant bits, each with its lowest and highest score.

        Far smaller, still exact wherever a cell holds one score, at the asked `thresholds`, and in the moments;
        :func:`tallymark.bound` says how far any metric can be off.

        >>> import numpy as np, tallymark as tm
        >>> rng = np.random.default_rng(0)
        >>> t = tm.tally(rng.random(100_000) < 0.3, rng.random(100_000))
        >>> q = t.quantise()
        >>> sum(map(len, q.runs))
        46292
        >>> low, high = tm.bound(q, "auroc")
        >>> low <= tm.metrics.auroc(t) <= high
        True
        """
        if self.grid is not None:
            raise InputError("This tally is quantised already; quantise the exact one.")
        dtype = self.runs[0].scores.dtype
        asked = {float(dtype.type(_check.real(t, "thresholds"))) for t in thresholds}
        grid = score_grid.Grid(tuple(sorted(asked)), str(dtype))
        return replace(self, runs=score_grid.quantised(self.runs, grid), grid=grid)

    @cached_property
    def extremes(self) -> tuple[Tally, Tally]:
        """Two exact tallies the truth lies between: cells' positives above their negatives, and below them."""
        negative, positive = (
            run if run.lo is not None else replace(run, lo=run.scores, hi=run.scores) for run in self.runs
        )

        def at(run: Run, scores: Any) -> Run:
            return replace(run, scores=scores, lo=None, hi=None, known_moments=None)

        best = (at(negative, negative.lo), at(positive, positive.hi))
        worst = (at(negative, negative.hi), at(positive, positive.lo))
        return replace(self, runs=best, grid=None), replace(self, runs=worst, grid=None)

    @cached_property
    def scaled_moments(self) -> tuple[ScoreMoments, ...]:
        """Moments of each run for numbers that do not depend on the unit of the scores.

        Squares of 1e-200 vanish and those of 1e200 overflow, so scores that far out are first scaled by a power of two.
        """
        exponent = self._unit_exponent
        if not exponent:
            return tuple(run.moments for run in self.runs)
        return tuple(_scaled_moments(run, -exponent) for run in self.runs)

    @cached_property
    def scaled_gap(self) -> float:
        """Mean score of the positives less that of the negatives, in the unit of :attr:`scaled_moments`.

        Two means far from 0 and near each other have lost digits to rounding; then their difference is taken around a score.
        """
        down, up = self.scaled_moments
        gap = up.mean - down.mean
        if abs(gap) > _LOST * max(abs(up.mean), abs(down.mean)) or any(run.known_moments for run in self.runs):
            return gap
        exponent = self._unit_exponent
        pivot = float(self.positive.scores[len(self.positive) // 2])
        means = [run.sum_of(lambda s: np.ldexp(s - pivot, -exponent)) / float(run.total) for run in self.runs]
        return means[1] - means[0]

    @property
    def _unit_exponent(self) -> int:
        """The power of two that scores far out are first divided by; 0 for all others."""
        _, exponent = math.frexp(max(map(abs, self.range)))
        return exponent if abs(exponent) > _SAFE_EXPONENT else 0

    @cached_property
    def placements(self) -> tuple[Ints, Ints]:
        """For each entry of the positive run, the negative entries strictly below it and at or below it."""
        return placements(self.negative.scores, self.positive.scores)

    def steps(self) -> Steps:
        """Masses at the distinct positive scores, as they are in the sample (no stated prevalence applied)."""
        return self._few_steps or self._steps_at(slice(0, self._n_steps))

    def step_blocks(self) -> Iterator[Steps]:
        """The same steps in blocks that stay in a core's cache, from the highest threshold down."""
        if self._few_steps is not None:
            yield self._few_steps
            return
        for block in reversed(list(blocks(self._n_steps))):
            yield self._steps_at(block)

    @cached_property
    def wins(self) -> float:
        """Mass of (positive, negative) pairs in which the positive scores higher; ties count one half."""
        positive, negative = self.positive, self.negative
        below, at_or_below = self.placements
        if positive.kind == negative.kind == "unit":
            return (int(below.sum()) + int(at_or_below.sum())) / 2
        beaten = negative.mass_before(below) + negative.mass_before(at_or_below)
        # As floats: counts times counts overflow int64 at about 3e9 rows a class.
        return float(np.sum(positive.mass.astype(np.float64) * beaten)) / 2

    @cached_property
    def cutoffs(self) -> Cutoffs:
        """Masses at every distinct score, as they are in the sample."""
        return all_cutoffs(self.positive, self.negative, self.placements[0])

    @cached_property
    def outcomes(self) -> Outcomes:
        """What happened at every distinct score, at the prevalence looked at."""
        return outcomes_of(self.cutoffs, self.scale)

    def cells(self, tp: Masses, fp: Masses) -> Cells:
        """The four cells at cut-offs with these positives and negatives at or above, at the prevalence looked at."""
        down, up = self.scale
        hits, false = tp * up, fp * down
        return Cells(hits, false, float(self.positives) * up - hits, float(self.negatives) * down - false)

    def heading(self) -> str:
        """Kind and size."""
        notes = [
            f"weight {shown_number(self.n)}" if self.weighted else "",
            "" if self.prior is None else f"seen at prevalence {shown_number(self.prior)}",
            "" if self.clusters is None else f"in {len(self.clusters)} {noun(len(self.clusters), 'cluster')}",
            "" if self.grid is None else f"quantised to {sum(map(len, self.runs))} cells",
        ]
        what = "Tally" if self.labelled else "Unlabelled tally"
        return ", ".join([f"{what} of {self.n_rows} {noun(self.n_rows, 'row')}", *filter(None, notes)])

    def rows(self) -> list[Row]:
        """One line per class."""
        names = self.labels or ("all",)
        return [
            {
                "class": str(name),
                "n": run.total,
                "lowest": float(run.scores[0]),
                "mean": run.moments.mean,
                "highest": float(run.scores[-1] if run.hi is None else run.hi[-1]),
            }
            if len(run)
            else {"class": str(name), "n": 0}
            for name, run in zip(names, self.runs, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Sizes and ranges as plain values."""
        return {"n": self.n, "prevalence": self.prevalence if self.labelled else None, "classes": list(self.rows())}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads; the same numbers come back."""
        header, arrays = self.pack()
        storage.write(path, "tally", header, arrays)

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Header and arrays for a file."""
        header = {
            "labels": self.labels,
            "prior": self.prior,
            "grid": None if self.grid is None else (self.grid.thresholds, self.grid.dtype),
            "moments": [
                None if (m := run.known_moments) is None else (m.mass, m.mean, m.m2, m.m3) for run in self.runs
            ],
        }
        arrays = {f"{i}.{name}": array for i, run in enumerate(self.runs) for name, array in run.columns().items()}
        return header, arrays if self.clusters is None else arrays | self.clusters.pack()

    @classmethod
    def unpack(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Tally:
        """From what :meth:`pack` gave, with every promise checked."""
        labels = None if header["labels"] is None else invariants.labels(header["labels"], least=2, most=2)
        moments = header["moments"]
        invariants.require(
            isinstance(moments, list) and len(moments) == (1 if labels is None else 2),
            "the number of runs does not fit the labels",
        )
        parts = [
            {name.removeprefix(f"{i}."): array for name, array in arrays.items() if name.startswith(f"{i}.")}
            for i in range(len(moments))
        ]
        together = {
            name.removeprefix("cluster."): array for name, array in arrays.items() if name.startswith("cluster.")
        }
        invariants.require(sum(map(len, parts)) + len(together) == len(arrays), "there are unknown parts")
        runs = tuple(checked_run(part, known) for part, known in zip(parts, moments, strict=True))
        require_same_kind(runs[0], runs[-1])
        grid = None if header["grid"] is None else score_grid.Grid.unpack(header["grid"])
        cells = [run.lo is not None for run in runs]
        invariants.require(all(cells) if grid else not any(cells), "cells and grid do not belong together")
        prior = invariants.prior(header["prior"])
        invariants.require(
            prior is None or (labels and all(map(len, runs))), "a prevalence is stated of a single class"
        )
        clusters = Clusters.unpack(together, runs) if "names" in together else None
        invariants.require(clusters is not None or not together, "clusters have no names")
        return cls(runs, labels, prior, grid, clusters)  # type: ignore[arg-type]

    def _class_runs(self) -> tuple[Run, ...]:
        if not self.labelled:
            raise InputError(
                "This tally has no labels, so it has no positives or negatives; make it with tm.tally(y, scores)."
            )
        return self.runs

    def _on_an_edge(self, threshold: float) -> tuple[Any, tuple[Note, ...]]:
        """The threshold as the scores' type has it, on the edge of a cell; and a note if it was moved."""
        dtype = self.runs[0].scores.dtype if self.grid is None else np.dtype(self.grid.dtype)
        with np.errstate(over="ignore"):
            cut = dtype.type(threshold)
        if self.grid is None:
            return cut, ()
        for run in self.runs:
            cell = int(np.searchsorted(run.scores, cut, "left")) - 1
            if cell >= 0 and run.hi is not None and run.hi[cell] >= cut:
                moved = run.scores[cell]
                said = f"the threshold {cut} lies inside a cell and was moved to {moved}; quantise(thresholds=[{cut}]) keeps it exact"
                return moved, (Note("TM106", said),)
        return cut, ()

    def _merge(self, other: Tally) -> Tally:
        labels = _common_labels(self.labels, other.labels)
        if self.prior != other.prior:
            raise InputError("Cannot merge tallies seen at different prevalences; merge first, then at_prevalence().")
        if self.grid is None and other.grid is None:
            runs = tuple(a.merge(b) for a, b in zip(self.runs, other.runs, strict=True))
            return replace(self, runs=runs, labels=labels, clusters=self._clusters_with(other))
        grids = {tally.grid for tally in (self, other) if tally.grid is not None}
        if len(grids) > 1:
            raise InputError("Cannot merge tallies quantised with different thresholds or dtypes; quantise both alike.")
        (grid,) = grids
        mine, theirs = (t.runs if t.grid else score_grid.quantised(t.runs, grid) for t in (self, other))
        return replace(
            self,
            runs=score_grid.merged(mine, theirs, grid),
            labels=labels,
            grid=grid,
            clusters=self._clusters_with(other),
        )

    def _clusters_with(self, other: Tally) -> Clusters | None:
        if (self.clusters is None) != (other.clusters is None):
            raise InputError(
                "Cannot merge a tally that knows its clusters with one that does not; give both cluster=, or neither."
            )
        return None if self.clusters is None or other.clusters is None else self.clusters.merge(other.clusters)

    @cached_property
    def first_of_score(self) -> Ints | None:
        """Where each distinct score begins in the positive run; None when all are distinct anyway."""
        scores = self.positive.scores
        return None if self.positive.n_distinct == len(scores) else starts_of_groups(scores)

    @cached_property
    def untied(self) -> bool:
        """Whether every row has a score of its own, told without merging the classes."""
        below, at_or_below = self.placements
        return below is at_or_below and all(run.kind == "unit" and run.n_distinct == len(run) for run in self.runs)

    @cached_property
    def _few_steps(self) -> Steps | None:
        """All steps, kept because several metrics ask for them, where they make up one block."""
        return self._steps_at(slice(0, self._n_steps)) if 0 < self._n_steps <= BLOCK else None

    def _steps_at(self, block: slice) -> Steps:
        return steps_at(block, self.positive, self.negative, self.placements, self.first_of_score)

    @property
    def _n_steps(self) -> int:
        return len(self.positive) if self.first_of_score is None else len(self.first_of_score)


#: Scores below 2**300 in size have finite third powers, above 2**-300 ones that do not vanish.
_SAFE_EXPONENT = 300

#: Means nearer to each other than this, relative to their size, are compared around a score of their own.
_LOST = 1e-2

#: Spreads stored in floats too small to keep their digits.
_FAINT = 1e-290


def _scaled_moments(run: Run, exponent: int) -> ScoreMoments:
    """Moments of a run's scores times a power of two; nan where stored ones have lost their digits."""
    known = run.known_moments
    if known is None:
        return Run(np.ldexp(run.scores, exponent), run.counts, run.weights).moments
    kept = math.isfinite(known.m2) and (known.m2 > _FAINT or float(run.scores[0]) == float(run.scores[-1]))
    m2 = math.ldexp(known.m2, 2 * exponent) if kept else math.nan
    m3 = math.ldexp(known.m3, 3 * exponent) if math.isfinite(known.m3) else math.nan
    return ScoreMoments(known.mass, math.ldexp(known.mean, exponent), m2, m3)


#: Cached views that do not depend on the stated prevalence.
_LENS_FREE = frozenset(
    {
        "negative",
        "positive",
        "n",
        "n_rows",
        "range",
        "placements",
        "cutoffs",
        "first_of_score",
        "rounding",
        "separation",
        "untied",
        "wins",
        "_few_steps",
    }
)


def _common_labels(mine: Any, theirs: Any) -> tuple[Label, Label] | None:
    """Labels of a merged tally; where the negatives go by different names they become "not" the positive one."""
    if mine is None or theirs is None or mine[1] != theirs[1]:
        if mine is not theirs:
            raise InputError(f"Cannot merge tallies with labels {mine} and {theirs}.")
        return None
    return mine if mine == theirs else (f"not {mine[1]}", mine[1])
