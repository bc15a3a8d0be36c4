"""Metrics of many K-class confusion matrices at once, from their diagonals and margins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Floats
from tallymark.registry import cell_metric_named

#: Averages in which a class counts by its size, or by its weight.
WEIGHTED = ("weighted", "f_of_weighted_means")

#: Averages that are the F-measure of averaged precision and recall.
F_OF_MEANS = ("f_of_means", "f_of_weighted_means")


class Margins(NamedTuple):
    """Diagonal, row sums and column sums of K-class matrices, one line per matrix."""

    hits: Floats
    truth: Floats
    predicted: Floats

    @classmethod
    def of(cls, tables: NDArray[Any]) -> Margins:
        """Of matrices whose rows are the true classes."""
        parts = (np.einsum("dkk->dk", tables), tables.sum(axis=2), tables.sum(axis=1))
        return cls(*(np.asarray(part, dtype=np.float64) for part in parts))

    @property
    def total(self) -> Floats:
        """Sum of each matrix."""
        values: Floats = self.truth.sum(axis=1)
        return values

    @property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Each class against the rest: tp, fp, fn, tn by matrix and class."""
        tp = self.hits
        return tp, self.predicted - tp, self.truth - tp, self.total[:, None] - self.truth - self.predicted + tp


def class_values(margins: Margins, metric: str, average: str | None, classes: Sequence[int] | None = None) -> Floats:
    """A metric of many K-class matrices, averaged over `classes` unless `average` is None; nan where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if average is not None:
            return averaged(margins, metric, average, classes)
        of_classes = cell_metric_named(metric).of_classes
        if of_classes is None:
            raise ValueError(f"{metric} has no K-class definition without averaging")
        return of_classes(margins)


def averaged(margins: Margins, metric: str, average: str, classes: Sequence[int] | None = None) -> Floats:
    """A metric of each class against the rest, averaged over the classes, or over those at these places."""
    facts = cell_metric_named(metric)
    chosen = slice(None) if classes is None else list(classes)
    cells = tuple(cell[:, chosen] for cell in margins.cells)
    if average == "micro":
        return facts.cells(*(cell.sum(axis=1) for cell in cells), **facts.parameters)
    truth = margins.truth[:, chosen]
    if average in WEIGHTED:
        shares = truth / truth.sum(axis=1, keepdims=True)
    else:
        shares = np.full(truth.shape, 1.0 / truth.shape[1])
    if average in F_OF_MEANS:
        precision, recall = (_mean(cell_metric_named(part).cells(*cells), shares) for part in ("precision", "recall"))
        square = facts.parameters.get("beta", 1.0) ** 2
        return (1.0 + square) * precision * recall / (square * precision + recall)
    return _mean(facts.cells(*cells, **facts.parameters), shares)


def _mean(values: Floats, shares: Floats) -> Floats:
    total: Floats = np.where(shares > 0, values * shares, 0.0).sum(axis=1)
    return total
