"""The Tally: the empirical distribution of the scores of each class, of which almost every metric is a function."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Column, Floats, Ints, Label, Masses, Scores
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
from tallymark.summaries.cutoffs import Cutoffs
from tallymark.summaries.run import Run, checked_run, require_same_kind
from tallymark.summaries.sorting import sort_in_place
from tallymark.summaries.views import Views


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Shown):
    """Sorted scores of each class: the sufficient statistic of almost every metric.

    Make one with :func:`tallymark.tally`.

    Parameters
    ----------
    runs
        Ascending scores of the negatives and of the positives; a single run without labels.
    labels
        Names of the negative and of the positive class; None without labels.
    prior
        Prevalence the classes are reweighted to (:meth:`at_prevalence`); None for the sample's.
    grid
        The cells that scores were rounded to; None when they are exact.
    clusters
        Which rows belong to the same cluster; None when rows are independent.

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
        cluster: Column | None = None,
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
            columns = [np.compress(part, scores) for part in parts]
            sort_in_place(columns)
            return cls(tuple(map(Run.sorted_units, columns)), labels)
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
    def views(self) -> Views:
        """Ranks and cut-offs, computed once; for kernels, and subject to change."""
        return Views(self.runs)

    @property
    def negative(self) -> Run:
        """Scores of the negatives."""
        return self.views.classes[0]

    @property
    def positive(self) -> Run:
        """Scores of the positives."""
        return self.views.classes[1]

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
        negative, positive = (run.scores for run in self.views.classes)
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
        """Factors that reweight (negative, positive) mass to the stated prevalence; (1, 1) when none is stated."""
        if self.prior is None:
            return 1.0, 1.0
        return (1.0 - self.prior) * self.n / self.negatives, self.prior * self.n / self.positives

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest score."""
        return self.views.range

    @property
    def is_probability(self) -> bool:
        """All scores lie in [0, 1]."""
        low, high = self.range
        return low >= 0.0 and high <= 1.0

    def at_prevalence(self, prevalence: float | None) -> Tally:
        """Reweight the classes to another prevalence: counts stay, metrics that depend on the prevalence change.

        Parameters
        ----------
        prevalence
            Share of positives between 0 and 1; None for the sample's.

        Returns
        -------
        Tally
            The same scores with the stated prevalence.

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
        reweighted = replace(self, prior=prior)
        reweighted.__dict__["views"] = self.views
        return reweighted

    def at(self, threshold: float | str) -> BinaryConfusion:
        """The confusion matrix at a threshold; a row is predicted positive when ``score >= threshold``.

        Parameters
        ----------
        threshold
            A number, which is first rounded to the scores' dtype, or a policy that chooses one (``"youden"``,
            ``"tpr:0.9"``, ``"cost:1,50"``, …).

        Returns
        -------
        BinaryConfusion

        """
        matrix, notes = matrix_at(self, threshold)
        emit(notes)
        return matrix

    def threshold_for(self, threshold: float | str) -> float:
        """The threshold that a policy chooses on this data; a number is returned as it is."""
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
        """Round scores to cells of about 13 significant bits, each with its lowest and highest score.

        Far smaller, still exact wherever a cell holds one score, at the given thresholds, and in the moments;
        :func:`tallymark.bound` says how far any metric can be off.

        Parameters
        ----------
        thresholds
            Scores at which cells are cut, so that confusion matrices there stay exact.

        Returns
        -------
        Tally

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
        cuts = {float(dtype.type(_check.real(t, "thresholds"))) for t in thresholds}
        grid = score_grid.Grid(tuple(sorted(cuts)), str(dtype))
        return replace(self, runs=score_grid.quantised(self.runs, grid), grid=grid)

    @property
    def cutoffs(self) -> Cutoffs:
        """Masses at every distinct score, as they are in the sample."""
        return self.views.cutoffs

    def cells(self, tp: Masses, fp: Masses) -> Cells:
        """The four cells at cut-offs with these positives and negatives at or above, at the stated prevalence."""
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
        storage.write(path, "tally", *packed(self))

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
                "Cannot merge a tally that has clusters with one that does not; give both cluster=, or neither."
            )
        return None if self.clusters is None or other.clusters is None else self.clusters.merge(other.clusters)


def _common_labels(mine: Any, theirs: Any) -> tuple[Label, Label] | None:
    """Labels of a merged tally; where the negatives go by different names they become "not" the positive one."""
    if mine is None or theirs is None or mine[1] != theirs[1]:
        if mine is not theirs:
            raise InputError(f"Cannot merge tallies with labels {mine} and {theirs}.")
        return None
    return mine if mine == theirs else (f"not {mine[1]}", mine[1])


def matrix_at(tally: Tally, threshold: float | str) -> tuple[BinaryConfusion, tuple[Note, ...]]:
    """The matrix of :meth:`Tally.at`; and notes on a threshold that was moved to an edge of a cell, or is above 1."""
    cut, notes = _on_an_edge(tally, tally.threshold_for(threshold))
    notes += _above_probabilities(tally, threshold)
    table: list[Any] = []
    squares: list[Any] = []
    rows: list[Any] = []
    for run in (tally.negative, tally.positive):
        index = int(np.searchsorted(run.scores, cut, "left"))
        table.append([run.mass_before(index), run.mass_from(index)])
        if run.squares is not None and run.rows is not None:
            squares.append([run.squares[:index].sum(), run.squares[index:].sum()])
            rows.append([run.rows[:index].sum(), run.rows[index:].sum()])
    matrix = BinaryConfusion(
        np.array(table),
        tally.labels,  # type: ignore[arg-type]
        positive=1,
        prior=tally.prior,
        threshold=float(cut),
        squares=np.array(squares) if len(squares) == 2 else None,
        rows_per_cell=np.array(rows) if len(rows) == 2 else None,
        of_probabilities=tally.is_probability,
    )
    return matrix, notes


def _above_probabilities(tally: Tally, threshold: float | str) -> tuple[Note, ...]:
    """A note on a threshold above 1 for probabilities, like a percentage."""
    try:
        number = float(threshold)
    except ValueError:
        return ()
    if not 1.0 < number < math.inf or not tally.is_probability:
        return ()
    low, high = tally.range
    message = (
        f"the threshold {number:g} is above every score ({low:g} to {high:g}), so no row is called positive; "
        "probabilities end at 1 (write 0.5 for 50 %)"
    )
    return (Note("TM122", message),)


def _on_an_edge(tally: Tally, threshold: float) -> tuple[Any, tuple[Note, ...]]:
    """The threshold in the scores' dtype, on the edge of a cell; and a note if it was moved."""
    dtype = tally.runs[0].scores.dtype if tally.grid is None else np.dtype(tally.grid.dtype)
    with np.errstate(over="ignore"):
        cut = dtype.type(threshold)
    if tally.grid is None:
        return cut, ()
    for run in tally.runs:
        cell = int(np.searchsorted(run.scores, cut, "left")) - 1
        if cell >= 0 and run.hi is not None and run.hi[cell] >= cut:
            moved = run.scores[cell]
            message = (
                f"the threshold {cut} lies inside a cell and was moved to {moved}; "
                f"quantise(thresholds=[{cut}]) keeps it exact"
            )
            return moved, (Note("TM106", message),)
    return cut, ()


def extremes(tally: Tally) -> tuple[Tally, Tally]:
    """Two exact tallies the truth lies between: cells' positives above their negatives, and below them."""
    best, worst = (replace(tally, runs=views.runs, grid=None) for views in tally.views.extremes)
    for exact, views in zip((best, worst), tally.views.extremes, strict=True):
        exact.__dict__["views"] = views
    return best, worst


def packed(tally: Tally) -> tuple[storage.Header, storage.Arrays]:
    """Header and arrays for a file."""
    header = {
        "labels": tally.labels,
        "prior": tally.prior,
        "grid": None if tally.grid is None else (tally.grid.thresholds, tally.grid.dtype),
        "moments": [None if (m := run.known_moments) is None else (m.mass, m.mean, m.m2, m.m3) for run in tally.runs],
    }
    arrays = {f"{i}.{name}": array for i, run in enumerate(tally.runs) for name, array in run.columns().items()}
    return header, arrays if tally.clusters is None else arrays | tally.clusters.pack()


def unpacked(header: storage.Header, arrays: storage.Arrays) -> Tally:
    """From what :func:`packed` gave, with every invariant checked."""
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
    together = {name.removeprefix("cluster."): array for name, array in arrays.items() if name.startswith("cluster.")}
    invariants.require(sum(map(len, parts)) + len(together) == len(arrays), "there are unknown parts")
    runs = tuple(checked_run(part, stored) for part, stored in zip(parts, moments, strict=True))
    require_same_kind(runs[0], runs[-1])
    grid = None if header["grid"] is None else score_grid.Grid.unpack(header["grid"])
    cells = [run.lo is not None for run in runs]
    invariants.require(all(cells) if grid else not any(cells), "cells and grid do not belong together")
    prior = invariants.prior(header["prior"])
    invariants.require(prior is None or (labels and all(map(len, runs))), "a prevalence is stated of a single class")
    clusters = Clusters.unpack(together, runs) if "names" in together else None
    invariants.require(clusters is not None or not together, "clusters have no names")
    return Tally(runs, labels, prior, grid, clusters)  # type: ignore[arg-type]
