"""Metrics of many K-class matrices at once, from their diagonals and margins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark.registry import METRICS


class Margins(NamedTuple):
    """What metrics ask of K-class matrices: the diagonal, and the sums of rows and columns, a row for each matrix."""

    hits: Floats
    truth: Floats
    predicted: Floats

    @classmethod
    def of(cls, tables: Any) -> Margins:
        """Of matrices with the truth down."""
        return cls(
            *(
                np.asarray(part, dtype=np.float64)
                for part in (np.einsum("dkk->dk", tables), tables.sum(axis=2), tables.sum(axis=1))
            )
        )

    @property
    def total(self) -> Floats:
        """All mass of each matrix."""
        values: Floats = self.truth.sum(axis=1)
        return values

    @property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Each class against the rest: tp, fp, fn, tn by matrix and class."""
        tp = self.hits
        return tp, self.predicted - tp, self.truth - tp, self.total[:, None] - self.truth - self.predicted + tp


def class_values(margins: Margins, metric: str, average: str | None) -> Floats:
    """A metric of many K-class matrices at once, averaged over the classes; nan where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return METRICS[metric].of_classes(margins) if average is None else averaged(margins, metric, average)  # type: ignore[misc]


def averaged(margins: Margins, metric: str, average: str) -> Floats:
    """A metric of each class against the rest, averaged over the classes."""
    facts = METRICS[metric]
    cells = margins.cells
    if average == "micro":
        values: Floats = facts.cells(*(cell.sum(axis=1) for cell in cells), **facts.parameters)  # type: ignore[misc]
        return values
    truth = margins.truth
    shares = (
        truth / truth.sum(axis=1, keepdims=True)
        if average == "weighted"
        else np.full(truth.shape, 1.0 / truth.shape[1])
    )
    if average == "f_of_means":
        precision, recall = (_mean(METRICS[part].cells(*cells), shares) for part in ("precision", "recall"))  # type: ignore[misc]
        square = facts.parameters.get("beta", 1.0) ** 2
        return (1.0 + square) * precision * recall / (square * precision + recall)
    return _mean(facts.cells(*cells, **facts.parameters), shares)  # type: ignore[misc]


def _mean(values: Floats, shares: Floats) -> Floats:
    total: Floats = np.where(shares > 0, values * shares, 0.0).sum(axis=1)
    return total
