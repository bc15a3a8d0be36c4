"""Mergeable summary of scores for each of K classes: score distributions, confusion matrix and moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints, Label, Scores
from tallymark._display import Row, Shown
from tallymark._numbers import number
from tallymark.errors import InputError
from tallymark.summaries import invariants, storage
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.run import Run, checked_run
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores(Shown):
    """Summary of a score for each class and row.

    Make one with :func:`tallymark.class_scores`.

    Parameters
    ----------
    labels
        Names of the classes.
    runs
        ``runs[i][c]`` are the scores for class i of the rows whose true class is c.
    confusion
        Truth against the class with the highest score; the first wins a tie.
    moments
        Moments of each score component within each class.
    answers
        Highest scores of the rows predicted wrongly and rightly; None in older files.

    >>> import tallymark as tm
    >>> s = tm.class_scores(["a", "b", "c"], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=["a", "b", "c"])
    >>> round(tm.metrics.accuracy(s.confusion), 4)
    0.6667
    """

    labels: tuple[Label, ...]
    runs: Sequence[Sequence[Run]]
    confusion: Confusion
    moments: Moments
    answers: tuple[Run, Run] | None = None

    @classmethod
    def of(
        cls,
        codes: Ints,
        scores: Floats,
        labels: tuple[Label, ...],
        *,
        counts: Ints | None = None,
        weights: Floats | None = None,
    ) -> ClassScores:
        """From clean columns."""
        members = [np.flatnonzero(codes == c) for c in range(len(labels))]

        def run(values: Floats, rows: Ints) -> Run:
            return Run.of(
                values[rows], None if counts is None else counts[rows], None if weights is None else weights[rows]
            )

        if counts is None and weights is None:
            # All components of a class at once.
            ascending = [np.sort(np.ascontiguousarray(scores[rows].T)) + 0.0 for rows in members]
            runs = tuple(tuple(Run(of_class[i]) for of_class in ascending) for i in range(len(labels)))
        else:
            runs = tuple(tuple(run(scores[:, i], rows) for rows in members) for i in range(len(labels)))
        predicted = scores.argmax(axis=1)
        right, highest = predicted == codes, scores.max(axis=1)
        return cls(
            labels,
            runs,
            Confusion.of_codes(codes, predicted, labels, counts=counts, weights=weights),
            Moments.of(codes, scores, labels, counts=counts, weights=weights),
            (run(highest, np.flatnonzero(~right)), run(highest, np.flatnonzero(right))),
        )

    def one_vs_one(self, i: int, j: int) -> Tally:
        """Component i on the rows of classes i (positive) and j."""
        return Tally((self.runs[i][j], self.runs[i][i]), (self.labels[j], self.labels[i]))

    def one_vs_rest(self, i: int) -> Tally:
        """Component i, class i against all others."""
        first, *others = (run for c, run in enumerate(self.runs[i]) if c != i)
        return Tally((first.merge(*others), self.runs[i][i]), (f"not {self.labels[i]}", self.labels[i]))

    @cached_property
    def wins(self) -> tuple[Floats, Floats]:
        """Mass of the pairs of a row of class i and one of class j in which the first has the higher score i, by i and
        j, and of those in which it has the lower; ties count one half each.
        """
        k = len(self.labels)
        won, lost = np.zeros((k, k)), np.zeros((k, k))
        for i, runs in enumerate(self.runs):
            own, scores, codes = runs[i], *self.component(i)
            left, right = (np.searchsorted(own.scores, scores, side) for side in ("left", "right"))
            for pairs, part in ((won, own.mass_from), (lost, own.mass_before)):
                mass = (part(left) + part(right)) * self.masses(i)
                pairs[i] = np.bincount(codes, mass, k) / 2
                pairs[i, i] = 0.0
        return won, lost

    def component(self, i: int) -> tuple[Scores, Ints]:
        """Component i of all rows and their classes, class by class in ascending order."""
        runs = self.runs[i]
        return np.concatenate([run.scores for run in runs]), np.repeat(np.arange(len(runs)), [len(run) for run in runs])

    def masses(self, i: int) -> Floats | float:
        """The masses of the same rows; 1 where each is a single row."""
        if all(run.kind == "unit" for run in self.runs[i]):
            return 1.0
        # As floats: counts times counts overflow.
        return np.concatenate([run.mass for run in self.runs[i]]).astype(np.float64)

    def merge(self, other: ClassScores) -> ClassScores:
        """Both samples together."""
        if self.labels != other.labels:
            raise InputError(f"Cannot merge scores of classes {self.labels} and {other.labels}.")
        runs = tuple(
            tuple(a.merge(b) for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip(self.runs, other.runs, strict=True)
        )
        answers = None
        if self.answers is not None and other.answers is not None:
            answers = (self.answers[0].merge(other.answers[0]), self.answers[1].merge(other.answers[1]))
        return ClassScores(
            self.labels, runs, self.confusion.merge(other.confusion), self.moments.merge(other.moments), answers
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        parts = {"confusion": self.confusion.pack(), "moments": self.moments.pack()}
        arrays = {f"{part}/{name}": array for part, (_, columns) in parts.items() for name, array in columns.items()}
        for i, runs in enumerate(self.runs):
            for c, run in enumerate(runs):
                arrays |= {f"{i}/{c}/{name}": array for name, array in run.columns().items()}
        for side, run in zip(("wrong", "right"), self.answers or (), strict=self.answers is not None):
            arrays |= {f"{side}/{name}": array for name, array in run.columns().items()}
        header = {"labels": self.labels, **{part: head for part, (head, _) in parts.items()}}
        storage.write(path, "class scores", header, arrays)

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> ClassScores:
        """From what :meth:`save` wrote."""

        def under(prefix: str) -> storage.Arrays:
            return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

        labels = invariants.labels(header["labels"], least=2)
        k = len(labels)
        confusion = Confusion.unpack(header["confusion"], under("confusion/"))
        moments = Moments.unpack(header["moments"], under("moments/"))
        invariants.require(confusion.labels == moments.labels == labels, "parts are of different classes")
        runs = tuple(tuple(checked_run(under(f"{i}/{c}/")) for c in range(k)) for i in range(k))
        totals = np.array([[run.total for run in component] for component in runs], dtype=np.float64)
        invariants.require(np.allclose(totals, moments.mass, rtol=1e-6), "parts are of different rows")
        invariants.require(np.allclose(confusion.truth, moments.mass, rtol=1e-6), "parts are of different rows")
        means = np.array([[run.moments.mean if len(run) else 0.0 for run in component] for component in runs]).T
        size = max(
            (float(np.abs(run.scores).max()) for component in runs for run in component if len(run)), default=0.0
        )
        invariants.require(np.allclose(moments.mean, means, rtol=1e-6, atol=1e-6 * size), "means are of other scores")
        answers = (checked_run(under("wrong/")), checked_run(under("right/"))) if under("right/") else None
        if answers is not None:
            right = float(np.trace(confusion.matrix))
            sums = [float(run.total) for run in answers]
            invariants.require(np.allclose(sums, [confusion.n - right, right], rtol=1e-6), "answers are of other rows")
        return cls(labels, runs, confusion, moments, answers)

    def heading(self) -> str:
        """Kind and size."""
        return f"Scores of {len(self.labels)} classes in {number(self.moments.n)} rows (mean score by true class)"

    def rows(self) -> list[Row]:
        """One line per class."""
        return self.moments.rows()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"confusion": self.confusion.to_dict(), "moments": self.moments.to_dict()}
