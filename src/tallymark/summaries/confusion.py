"""Confusion matrices of two or K classes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple, Self

import numpy as np

from tallymark import _check
from tallymark._check import Column, Floats, Ints, Label, Masses
from tallymark._display import Row, Shown
from tallymark._mappings import Sealed
from tallymark._numbers import noun, number
from tallymark.errors import InputError, shown
from tallymark.summaries import invariants, storage


class Cells(NamedTuple):
    """The four cells of a binary confusion matrix, as numbers or as arrays over many thresholds."""

    tp: Any
    fp: Any
    fn: Any
    tn: Any

    @property
    def independent(self) -> Cells:
        """Expected cells if prediction and truth were independent, with the same margins."""
        tp, fp, fn, tn = self
        up, down, predicted = tp + fn, fp + tn, tp + fp
        n = up + down
        rest = n - predicted
        return Cells(up * predicted / n, down * predicted / n, up * rest / n, down * rest / n)


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(Shown, Sealed):
    """Confusion matrix: rows are the truth, columns the prediction.

    Parameters
    ----------
    matrix
        K×K counts, or sums of weights.
    labels
        Names of the classes.
    positive
        Index of the positive class; a matrix that has one is a :class:`BinaryConfusion`.
    prior
        Prevalence the classes are reweighted to (:meth:`at_prevalence`); None for the sample's. The counts stay.
    threshold
        Where scores were cut; None for predicted labels.
    squares, rows_per_cell
        For weighted data, the sum of squared weights and the number of rows of each cell.
    of_probabilities
        Whether the scores all lie in [0, 1].

    >>> import tallymark as tm
    >>> c = tm.confusion([1, 1, 0, 0, 0], [1, 0, 0, 0, 1])
    >>> c.tp, c.fp, c.fn, c.tn
    (1, 1, 1, 2)
    """

    matrix: Masses
    labels: tuple[Label, ...]
    positive: int | None = None
    prior: float | None = None
    threshold: float | None = None
    squares: Floats | None = None
    rows_per_cell: Ints | None = None
    of_probabilities: bool = True

    def __new__(cls, *cells: Any, **named: Any) -> Self:
        """A matrix with a positive class is a :class:`BinaryConfusion`."""
        positive = cells[2] if len(cells) > 2 else named.get("positive")
        return super().__new__(BinaryConfusion if cls is Confusion and positive is not None else cls)  # type: ignore[return-value]

    def __post_init__(self) -> None:
        k = len(self.labels)
        if np.shape(self.matrix) != (k, k):
            raise InputError(f"The matrix has shape {np.shape(self.matrix)} for {k} labels; rows are the truth.")
        # A copy: the caller's array stays writable.
        object.__setattr__(self, "matrix", np.array(self.matrix))
        if self.matrix.dtype.kind not in "iufb":
            raise InputError(
                "The matrix has cells that are no numbers, or too large for one; expected counts or sums of weights."
            )
        if not ((self.matrix >= 0) & np.isfinite(self.matrix)).all():
            raise InputError(
                "The matrix has cells that are negative or no numbers; expected counts or sums of weights."
            )
        if self.positive is not None and (k != 2 or self.positive not in (0, 1)):
            raise InputError(
                f"positive={self.positive!r} of {k} classes: "
                "the positive class is the first (0) or the second (1) of two."
            )
        if self.matrix.dtype.kind in "iu":
            _check.countable(float(self.matrix.sum(dtype=np.float64)), "The cells")
        for array in (self.matrix, self.squares, self.rows_per_cell):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def of_cells(
        cls, *, tp: float, fp: float, fn: float, tn: float, labels: tuple[Label, Label] = (0, 1)
    ) -> BinaryConfusion:
        """From the four counts.

        >>> Confusion.of_cells(tp=231, fp=32, fn=27, tn=54).n
        344
        """
        for name, value in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn)):
            _check.real(value, name)
        cells = np.array([[tn, fp], [fn, tp]])
        if (cells < 0).any() or not cells.any():
            raise InputError(f"tp={tp}, fp={fp}, fn={fn}, tn={tn}: expected counts of 0 or more, not all zero.")
        return BinaryConfusion(cells, labels, positive=1)

    @classmethod
    def of_codes(
        cls,
        truth: Ints,
        predicted: Ints,
        labels: Sequence[Label],
        *,
        positive: int | None = None,
        counts: Ints | None = None,
        weights: Floats | None = None,
    ) -> Confusion:
        """From positions in `labels`, already checked."""
        k = len(labels)
        cell = truth * k + predicted

        def tabulate(mass: Any) -> Column:
            return np.bincount(cell, mass, k * k).reshape(k, k)

        if weights is not None:
            rows = tabulate(weights > 0).astype(np.int64)
            return cls(tabulate(weights), tuple(labels), positive, squares=tabulate(weights**2), rows_per_cell=rows)
        if counts is None:
            return cls(tabulate(None), tuple(labels), positive)
        # bincount adds in float64; whole numbers stay exact to 2**53 only, so add as integers.
        table = np.zeros(k * k, dtype=np.int64)
        np.add.at(table, cell, counts)
        return cls(table.reshape(k, k), tuple(labels), positive)

    @property
    def tp(self) -> float:
        """Positives predicted positive."""
        return self.binary.tp

    @property
    def fp(self) -> float:
        """Negatives predicted positive."""
        return self.binary.fp

    @property
    def fn(self) -> float:
        """Positives predicted negative."""
        return self.binary.fn

    @property
    def tn(self) -> float:
        """Negatives predicted negative."""
        return self.binary.tn

    @property
    def n(self) -> Any:
        """Total mass."""
        return self.matrix.sum().item()

    @property
    def n_rows(self) -> int:
        """Number of rows, whatever their weight."""
        return int(self.n if self.rows_per_cell is None else self.rows_per_cell.sum())

    @property
    def truth(self) -> Masses:
        """Mass of each true class."""
        sums: Masses = self.matrix.sum(axis=1)
        return sums

    @property
    def predicted(self) -> Masses:
        """Mass of each predicted class."""
        sums: Masses = self.matrix.sum(axis=0)
        return sums

    def _cell(self, truth: int, predicted: int) -> float:
        value: float = self.matrix[truth, predicted].item()
        return value

    @property
    def prevalence(self) -> float:
        """Share of the positive class: the stated one, or the sample's."""
        return self.binary.prevalence

    @property
    def predicted_prevalence(self) -> float:
        """Share predicted positive, p′, at the stated prevalence."""
        return self.binary.predicted_prevalence

    @property
    def cells(self) -> Cells:
        """tp, fp, fn, tn at the stated prevalence."""
        return self.binary.cells

    @property
    def seen(self) -> Masses:
        """The matrix that metrics use: each true class rescaled to the stated prevalence."""
        return self.matrix

    @property
    def binary(self) -> BinaryConfusion:
        """The matrix itself, where it has two classes and a known positive one; else the call that makes one."""
        if len(self.labels) == 2:
            raise InputError(
                f"Which of {shown(self.labels)} is positive? "
                f"Say tm.confusion(y, predicted, pos_label={self.labels[1]!r})."
            )
        raise InputError(
            f"tp, fp, fn and tn need two classes, this matrix has {len(self.labels)} ({shown(self.labels)}). "
            "Take one class with .one_vs_rest(label), or average over classes, e.g. tm.metrics.f1(c, average='macro')."
        )

    def at_prevalence(self, prevalence: float | None) -> BinaryConfusion:
        """Reweight the classes to another prevalence; None for the sample's.

        >>> c = Confusion.of_cells(tp=231, fp=32, fn=27, tn=54).at_prevalence(0.25)
        >>> c.tp, c.prevalence
        (231, 0.25)
        """
        return self.binary.at_prevalence(prevalence)

    def independent(self) -> Confusion:
        """Expected matrix if prediction and truth were independent, with the same margins."""
        matrix = self.seen
        expected = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
        return type(self)(
            expected, self.labels, self.positive, threshold=self.threshold, of_probabilities=self.of_probabilities
        )

    @property
    def acts_from(self) -> float | None:
        """The threshold where it is a probability, nan where it is another score; None without a threshold."""
        return self.threshold if self.threshold is None or self.of_probabilities else math.nan

    def one_vs_rest(self, label: Label) -> BinaryConfusion:
        """The binary matrix of one class against all others."""
        i = self._index(label)
        parts = [
            # Differences of sums of weights may round to less than 0.
            np.maximum([[total - row[i] - column[i] + hit[i], column[i] - hit[i]], [row[i] - hit[i], hit[i]]], 0)
            for total, row, column, hit in self._sums
        ]
        squares, rows = parts[1:] or (None, None)
        names = (f"not {label}", self.labels[i])
        return BinaryConfusion(parts[0], names, positive=1, squares=squares, rows_per_cell=rows)

    @cached_property
    def _sums(self) -> list[tuple[Any, Masses, Masses, Masses]]:
        """Total, row sums, column sums and diagonal of the matrix, of the squares and of the numbers of rows."""
        cells = (
            self.seen,
            *(each for each in (self.squares, self.rows_per_cell) if each is not None and self.prior is None),
        )
        # Columns in one piece, so that they are added as rows are.
        return [(m.sum(), m.sum(axis=1), np.ascontiguousarray(m.T).sum(axis=1), m.diagonal()) for m in cells]

    @cached_property
    def _places(self) -> dict[Label, int]:
        """The index of each class."""
        return {label: place for place, label in enumerate(self.labels)}

    def known(self, classes: Sequence[Label]) -> tuple[Label, ...]:
        """The given classes, each once; refuse one that the matrix does not have."""
        if isinstance(classes, str) or not isinstance(classes, Iterable) or not list(classes):
            raise InputError(f"classes is {classes!r}, expected a list of some of {shown(self.labels)}.")
        return tuple(self.labels[self._index(label)] for label in dict.fromkeys(classes))

    def overall(self, classes: Sequence[Label] | None = None) -> BinaryConfusion:
        """Sum of the one-vs-rest matrices, of all classes (its total is K·n, and FP = FN) or of some."""
        parts = [self.one_vs_rest(label).matrix for label in (self.labels if classes is None else self.known(classes))]
        return BinaryConfusion(np.sum(parts, axis=0), ("rest", "class"), positive=1)

    def merge(self, other: Confusion) -> Confusion:
        """The matrix of both samples together; labels are matched by name."""
        if (self.squares is None) != (other.squares is None):
            raise InputError("Cannot merge a weighted and an unweighted confusion matrix.")
        if self.prior != other.prior:
            raise InputError("Cannot merge matrices seen at different prevalences; merge first, then at_prevalence().")
        labels = (*self.labels, *(label for label in other.labels if label not in self.labels))
        named = {one.labels[one.positive] for one in (self, other) if one.positive is not None}
        if len(named) > 1:
            raise InputError(f"Cannot merge: positive is {shown(named)}, each in one of the matrices.")
        positive = labels.index(named.pop()) if named and len(labels) == 2 else _check.obvious_positive(labels)

        def add(a: Column, b: Column) -> Column:
            total = np.zeros((len(labels), len(labels)), dtype=np.result_type(a, b))
            for part, names in ((a, self.labels), (b, other.labels)):
                at = [labels.index(name) for name in names]
                total[np.ix_(at, at)] += part
            return total

        rows = None
        if self.rows_per_cell is not None and other.rows_per_cell is not None:
            rows = add(self.rows_per_cell, other.rows_per_cell)
        return Confusion(
            add(self.matrix, other.matrix),
            labels,
            positive,
            prior=self.prior,
            threshold=self.threshold if self.threshold == other.threshold else None,
            squares=None if self.squares is None or other.squares is None else add(self.squares, other.squares),
            rows_per_cell=rows,
            of_probabilities=self.of_probabilities and other.of_probabilities,
        )

    def heading(self) -> str:
        """What is counted."""
        at = "" if self.threshold is None else f", threshold {number(self.threshold)}"
        lens = "" if self.prior is None else f", seen at prevalence {number(self.prior)}"
        weight = "" if self.n == self.n_rows else f" of weight {number(self.n)}"
        return (
            f"Confusion of {self.n_rows} {noun(self.n_rows, 'row')}{weight} (truth down, prediction across{at}{lens})"
        )

    def rows(self) -> list[Row]:
        """One line per true class."""
        return [
            {"truth": str(label)} | {str(other): value.item() for other, value in zip(self.labels, line, strict=True)}
            for label, line in zip(self.labels, self.matrix, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Labels and matrix as plain values."""
        return {
            "labels": list(self.labels),
            "matrix": self.matrix.tolist(),
            "positive": None if self.positive is None else self.labels[self.positive],
            "threshold": self.threshold,
            "prevalence": self.prior,
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        header, arrays = self.pack()
        storage.write(path, "confusion", header, arrays)

    def pack(self) -> tuple[storage.Header, storage.Arrays]:
        """Header and arrays for a file."""
        names = ("labels", "positive", "prior", "threshold", "of_probabilities")
        header = {name: getattr(self, name) for name in names}
        arrays = {"matrix": self.matrix, "squares": self.squares, "rows_per_cell": self.rows_per_cell}
        return header, {name: array for name, array in arrays.items() if array is not None}

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> Confusion:
        """From what :meth:`save` wrote."""
        labels = invariants.labels(header["labels"], least=1)
        shape, positive, threshold = (len(labels), len(labels)), header["positive"], header["threshold"]
        invariants.only(arrays, {"matrix", "squares", "rows_per_cell"})
        invariants.require(
            "matrix" in arrays and ("squares" in arrays) == ("rows_per_cell" in arrays), "parts are missing"
        )
        matrix = invariants.numbers(arrays["matrix"], "if", shape, "cells", least=0.0)
        if "squares" in arrays:
            rows = invariants.numbers(arrays["rows_per_cell"], "i", shape, "rows", least=0)
            invariants.squares_of_weights(invariants.numbers(arrays["squares"], "f", shape, "squares"), matrix, rows)
        invariants.require(
            positive is None or (len(labels) == 2 and positive in (0, 1) and not isinstance(positive, bool | float)),
            "the positive class is none of the two",
        )
        invariants.require(threshold is None or not math.isnan(float(threshold)), "the threshold is no number")
        prior = invariants.prior(header["prior"])
        invariants.require(
            prior is None or (positive is not None and matrix.sum(axis=1).all()), "a prevalence of one class"
        )
        # Older files do not have it.
        of_probabilities = header.get("of_probabilities", True)
        invariants.require(
            isinstance(of_probabilities, bool), "whether scores are probabilities is neither true nor false"
        )
        return cls(
            matrix,
            labels,
            positive,
            prior,
            threshold,
            arrays.get("squares"),
            arrays.get("rows_per_cell"),
            of_probabilities,
        )

    def _index(self, label: Label) -> int:
        if not isinstance(label, Hashable) or label not in self._places:
            raise InputError(f"No class {label!r}; the matrix has {shown(self.labels)}.")
        return self._places[label]


@dataclass(frozen=True, eq=False, repr=False)
class BinaryConfusion(Confusion):
    """Confusion matrix of two classes, one of which is positive; parameters as of :class:`Confusion`."""

    positive: int = 1

    @property
    def tp(self) -> float:
        """Positives predicted positive."""
        return self._cell(self.positive, self.positive)

    @property
    def fp(self) -> float:
        """Negatives predicted positive."""
        return self._cell(1 - self.positive, self.positive)

    @property
    def fn(self) -> float:
        """Positives predicted negative."""
        return self._cell(self.positive, 1 - self.positive)

    @property
    def tn(self) -> float:
        """Negatives predicted negative."""
        return self._cell(1 - self.positive, 1 - self.positive)

    @property
    def prevalence(self) -> float:
        """Share of the positive class: the stated one, or the sample's."""
        if self.prior is not None:
            return self.prior
        return float((self.tp + self.fn) / self.n) if self.n else math.nan

    @property
    def predicted_prevalence(self) -> float:
        """Share predicted positive, p′, at the stated prevalence."""
        cells = self.cells
        return float((cells.tp + cells.fp) / sum(cells))

    @property
    def binary(self) -> BinaryConfusion:
        """Itself."""
        return self

    @property
    def seen(self) -> Masses:
        """The matrix that metrics use: each true class rescaled to the stated prevalence."""
        if self.prior is None:
            return self.matrix
        wanted = np.full(2, 1.0 - self.prior)
        wanted[self.positive] = self.prior
        rescaled: Masses = self.matrix * (wanted * self.n / self.truth)[:, None]
        return rescaled

    @property
    def cells(self) -> Cells:
        """tp, fp, fn, tn at the stated prevalence."""
        i, j = self.positive, 1 - self.positive
        matrix = self.seen
        return Cells(matrix[i, i].item(), matrix[j, i].item(), matrix[i, j].item(), matrix[j, j].item())

    def at_prevalence(self, prevalence: float | None) -> BinaryConfusion:
        """Reweight the classes to another prevalence; None for the sample's."""
        prior = None if prevalence is None else _check.probability(prevalence, "prevalence")
        if prior is not None and not self.truth.all():
            raise InputError("Another prevalence needs rows of both classes; this matrix has one class only.")
        return replace(self, prior=prior)
