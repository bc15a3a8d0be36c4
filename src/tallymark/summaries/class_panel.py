"""Row-level scores for each of K classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from tallymark._check import Bools, Column, Floats, Ints, Label, Masses
from tallymark._display import Row, Shown
from tallymark._mappings import Sealed
from tallymark._numbers import noun
from tallymark.errors import InputError
from tallymark.summaries import invariants, storage
from tallymark.summaries.class_scores import ClassScores


@dataclass(frozen=True, eq=False, repr=False)
class ClassPanel(Shown, Sealed):
    """Scores for each of K classes, row by row.

    Make one with :func:`tallymark.class_panel`.

    Parameters
    ----------
    labels
        Names of the classes.
    scores
        A row for each row of data, a column for each class.
    codes
        Index of each row's true class in `labels`; None without labels.
    counts, weights
        How often each row occurs, or its weight.

    >>> import tallymark as tm
    >>> p = tm.class_panel(["a", "b", "c"], [[.8, .1, .1], [.3, .6, .1], [.5, .1, .4]], classes=["a", "b", "c"])
    >>> p.n, p.labels
    (3, ('a', 'b', 'c'))
    """

    labels: tuple[Label, ...]
    scores: Floats
    codes: Ints | None = None
    counts: Ints | None = None
    weights: Floats | None = None

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            array.flags.writeable = False

    @property
    def n(self) -> int:
        """Number of rows kept (a row with a count of 3 is one)."""
        return len(self.scores)

    @property
    def labelled(self) -> bool:
        """Whether the true classes are known."""
        return self.codes is not None

    @property
    def mass(self) -> Masses:
        """Count or weight of each row."""
        if self.weights is not None:
            return self.weights
        return np.ones(self.n, dtype=np.int64) if self.counts is None else self.counts

    @cached_property
    def class_scores(self) -> ClassScores:
        """The summary of the rows."""
        if self.codes is None:
            raise InputError("These rows have no labels; make the panel with tm.class_panel(y, scores, classes=…).")
        return ClassScores.of(self.codes, self.scores, self.labels, counts=self.counts, weights=self.weights)

    def keep(self, rows: Bools | Ints) -> ClassPanel:
        """The chosen rows only, marked or by number; this panel stays as it is."""
        return ClassPanel(self.labels, **{name: array[rows] for name, array in self._arrays().items()})

    def merge(self, other: ClassPanel) -> ClassPanel:
        """The rows of both, one after the other."""
        mine, theirs = self._arrays(), other._arrays()
        if mine.keys() != theirs.keys() or self.labels != other.labels:
            raise InputError(
                f"Cannot merge panels of classes {self.labels} and {other.labels}, "
                f"with {', '.join(mine)} and {', '.join(theirs)}."
            )
        return ClassPanel(self.labels, **{name: np.concatenate((mine[name], theirs[name])) for name in mine})

    def heading(self) -> str:
        """Size."""
        kind = "labelled" if self.labelled else "unlabelled"
        return f"Class panel of {self.n} {kind} {noun(self.n, 'row')}, {len(self.labels)} classes"

    def rows(self) -> list[Row]:
        """One line per class: its rows and the mean score for it."""
        sizes = None if self.codes is None else np.bincount(self.codes, self.mass, len(self.labels))
        total = float(self.mass.sum())
        means = (self.mass @ self.scores) / total if total else np.full(len(self.labels), np.nan)
        return [
            {"class": str(label)}
            | ({} if sizes is None else {"n": float(sizes[k]) if self.weights is not None else int(sizes[k])})
            | {"mean score": float(means[k])}
            for k, label in enumerate(self.labels)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Sizes as plain values."""
        return {"n": self.n, "labels": list(self.labels), "labelled": self.labelled}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        storage.write(path, "class panel", {"labels": self.labels}, self._arrays())

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> ClassPanel:
        """From what :meth:`save` wrote."""
        labels = invariants.labels(header["labels"], least=2)
        invariants.require("scores" in arrays and set(arrays) <= set(_KINDS), "columns are missing or unknown")
        invariants.require(not {"counts", "weights"} <= arrays.keys(), "counts and weights are mixed")
        rows = np.shape(arrays["scores"])[:1]
        for name, array in arrays.items():
            shape = (*rows, len(labels)) if name == "scores" else rows
            invariants.numbers(array, _KINDS[name], shape, name, least=None if name == "scores" else 0)
        if "codes" in arrays:
            invariants.require(
                not len(arrays["codes"]) or int(arrays["codes"].max()) < len(labels), "a class is unknown"
            )
        return cls(labels, **arrays)

    def _arrays(self) -> dict[str, Column]:
        parts = {name: getattr(self, name) for name in _KINDS}
        return {name: array for name, array in parts.items() if array is not None}


#: The columns of a panel and the kinds of number in each, by NumPy's letters.
_KINDS = {"scores": "f", "codes": "i", "counts": "i", "weights": "f"}
