"""Mergeable moments of K score components within each class."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints, Label, Masses
from tallymark._display import Row, Shown
from tallymark._mappings import Sealed
from tallymark._numbers import number
from tallymark.errors import InputError
from tallymark.summaries import invariants, storage
from tallymark.summaries.sorting import blocks

#: Scores whose moments are computed at once.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Shown, Sealed):
    """Mean and central sums of each score component (column) within each class (row).

    Make one with :func:`tallymark.moments`.

    Parameters
    ----------
    labels
        Names of the classes.
    mass
        Count or sum of weights of each class.
    squares, n_rows
        Sum of squared weights and number of rows of each class.
    mean, m2, m3
        Mean, and sums of the squares and cubes of the distances from it.

    >>> import tallymark as tm
    >>> m = tm.moments(["a", "b", "b"], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]], classes=["a", "b"])
    >>> m.mean.round(2).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """

    labels: tuple[Label, ...]
    mass: Floats
    squares: Floats
    n_rows: Ints
    mean: Floats
    m2: Floats
    m3: Floats

    def __post_init__(self) -> None:
        for array in self._arrays().values():
            array.flags.writeable = False

    @classmethod
    def of(
        cls,
        codes: Ints,
        components: Floats,
        labels: tuple[Label, ...],
        *,
        counts: Ints | None = None,
        weights: Floats | None = None,
    ) -> Moments:
        """From clean columns: positions in `labels` and one score column per class."""
        k = len(labels)
        mass: Masses = counts if counts is not None else np.ones(len(codes)) if weights is None else weights
        totals = np.bincount(codes, mass, k).astype(np.float64)
        squares: Floats = totals if weights is None else np.bincount(codes, weights**2, k).astype(np.float64)
        n_rows = totals.astype(np.int64) if weights is None else np.bincount(codes, weights > 0, k).astype(np.int64)
        has_rows = (totals > 0)[:, None]
        divisor = np.where(has_rows, totals[:, None], 1.0)
        # Around one of the rows, so that equal scores have their exact mean and no spread.
        first = np.zeros(k, dtype=np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        mean, m2, m3 = (np.zeros((k, components.shape[1])) for _ in range(3))
        for block in blocks(components.shape[1], max(1, _BLOCK // max(len(codes), k))):
            columns = components[:, block]
            places = codes[:, None] * columns.shape[1] + np.arange(columns.shape[1])

            def sums(values: Floats, places: Ints = places) -> Floats:
                """Sums by class and component."""
                each = np.bincount(places.ravel(), (mass[:, None] * values).ravel(), k * values.shape[1])
                return each.astype(np.float64, copy=False).reshape(k, -1)

            pivot = columns[first] if len(columns) else np.zeros((k, columns.shape[1]))
            mean[:, block] = np.where(has_rows, pivot + sums(columns - pivot[codes]) / divisor, 0.0)
            gap = columns - mean[codes, block]
            m2[:, block] = sums(gap * gap)
            m3[:, block] = sums(gap * gap * gap)
        return cls(labels, totals, squares, n_rows, mean, m2, m3)

    def merge(self, other: Moments) -> Moments:
        """Moments of both samples together (Pébay 2008, SAND2008-6212)."""
        if self.labels != other.labels:
            raise InputError(f"Cannot merge moments of classes {self.labels} and {other.labels}.")
        a, b = self.mass[:, None], other.mass[:, None]
        mass = a + b
        divisor = np.where(mass > 0, mass, 1.0)
        gap = other.mean - self.mean
        return Moments(
            self.labels,
            self.mass + other.mass,
            self.squares + other.squares,
            self.n_rows + other.n_rows,
            self.mean + gap * b / divisor,
            self.m2 + other.m2 + gap**2 * a * b / divisor,
            self.m3
            + other.m3
            + gap**3 * a * b * (a - b) / divisor**2
            + 3.0 * gap * (a * other.m2 - b * self.m2) / divisor,
        )

    @property
    def n(self) -> float:
        """Total mass."""
        return float(self.mass.sum())

    @property
    def variance(self) -> Floats:
        """Variance with the mass as divisor; nan for a class without rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.m2 / self.mass[:, None]

    def heading(self) -> str:
        """Kind and size."""
        return f"Moments of {len(self.labels)} score components in {number(self.n)} rows (mean score by true class)"

    def rows(self) -> list[Row]:
        """One line per class, the mean of each component across."""
        return [
            {"class": str(label), "n": self.mass[i].item()}
            | {str(other): self.mean[i, j].item() for j, other in enumerate(self.labels)}
            for i, label in enumerate(self.labels)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"labels": list(self.labels)} | {name: array.tolist() for name, array in self._arrays().items()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        storage.write(path, "moments", *self.pack())

    def pack(self) -> tuple[storage.Header, storage.Arrays]:
        """Header and arrays for a file."""
        return {"labels": self.labels}, self._arrays()

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> Moments:
        """From what :meth:`save` wrote."""
        labels = invariants.labels(header["labels"], least=2)
        k = len(labels)
        invariants.require(set(arrays) == {"mass", "squares", "n_rows", "mean", "m2", "m3"}, "parts are missing")
        mass = invariants.numbers(arrays["mass"], "f", (k,), "masses", least=0.0)
        rows = invariants.numbers(arrays["n_rows"], "i", (k,), "rows", least=0)
        invariants.squares_of_weights(invariants.numbers(arrays["squares"], "f", (k,), "squares"), mass, rows)
        invariants.numbers(arrays["mean"], "f", (k, k), "means")
        invariants.numbers(arrays["m2"], "f", (k, k), "second moments", least=0.0)
        invariants.numbers(arrays["m3"], "f", (k, k), "third moments")
        return cls(labels, **arrays)

    def _arrays(self) -> storage.Arrays:
        return {name: getattr(self, name) for name in ("mass", "squares", "n_rows", "mean", "m2", "m3")}
