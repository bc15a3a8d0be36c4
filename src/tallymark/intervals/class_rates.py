"""Intervals of metrics of a K-class matrix: each true class's answers are drawn, and every metric of all draws at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import Sampling, Seed, in_threads, seeds
from tallymark.intervals.rates import Limits
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

#: Draws of a K-class matrix, and cells drawn at a time.
_DRAWS, _HELD = 1_000, 2**21

#: Cells of a matrix from which draws have half the digits, which takes half the time: they are sums of so many more.
_MANY_CELLS = 2_500

#: A metric of a K-class matrix and how it is averaged over the classes (None: as it stands).
Averaged = tuple[str, str | None]


def class_limits(
    confusion: Confusion, metrics: Mapping[str, Averaged], level: float, sampling: Sampling = "plain", seed: Seed = 0
) -> dict[str, Limits]:
    """Limits of metrics of a K-class matrix: each true class's answers drawn from a Dirichlet posterior.

    A class of n rows is drawn as if it had n - 2, which gives its shares the variance of a sample; one pseudo-row in all
    is spread over the K × K cells, so that nothing is certain and small classes are hardly pulled towards guessing.
    `plain` draws the class sizes too.
    """
    blocks = _drawn(confusion, sampling, seed)
    tail = (1.0 - level) / 2
    found = {}
    for name, (metric, average) in metrics.items():
        values = np.concatenate([class_values(margins, metric, average) for margins in blocks])
        if not np.isnan(values).all():
            low, high = np.nanquantile(values, [tail, 1.0 - tail])
            found[name] = (float(low), float(high), "dirichlet")
    return found


class Margins(NamedTuple):
    """What metrics ask of K-class matrices: the diagonal, and the sums of rows and columns, a row for each matrix."""

    hits: Floats
    truth: Floats
    predicted: Floats

    @classmethod
    def of(cls, tables: Any) -> Margins:
        """Of matrices with the truth down."""
        return cls(*(np.asarray(part, dtype=np.float64) for part in (
            np.einsum("dkk->dk", tables), tables.sum(axis=2), tables.sum(axis=1)
        )))  # fmt: skip

    @property
    def total(self) -> Floats:
        """All mass of each matrix."""
        found: Floats = self.truth.sum(axis=1)
        return found

    @property
    def cells(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Each class against the rest: tp, fp, fn, tn by matrix and class."""
        tp = self.hits
        return tp, self.predicted - tp, self.truth - tp, self.total[:, None] - self.truth - self.predicted + tp


def _drawn(confusion: Confusion, sampling: Sampling, seed: Seed) -> list[Margins]:
    """Margins of drawn matrices, in blocks."""
    matrix = confusion.matrix.astype(np.float64)
    k = len(confusion.labels)
    if confusion.squares is not None:
        totals, squares = matrix.sum(axis=1, keepdims=True), confusion.squares.sum(axis=1, keepdims=True)
        matrix = matrix * np.divide(totals, squares, out=np.zeros_like(totals), where=squares > 0)
    rows = matrix.sum(axis=1, keepdims=True)
    matrix = matrix * np.divide(np.maximum(rows - 2.0, 0.5), rows, out=np.zeros_like(rows), where=rows > 0)
    truth = confusion.truth.astype(np.float64)
    effective = rows[:, 0]
    step = max(1, min(_DRAWS, _HELD // k**2))
    sizes = [min(step, _DRAWS - start) for start in range(0, _DRAWS, step)]
    digits = np.dtype(np.float32 if k**2 > _MANY_CELLS else np.float64)

    def block(part: tuple[int, Any]) -> Margins:
        times, entropy = part
        rng = np.random.default_rng(entropy)
        shares: Any = rng.standard_gamma((matrix + 1.0 / k**2).astype(digits), (times, k, k), dtype=digits)  # type: ignore[arg-type]
        totals = shares.sum(axis=2, keepdims=True)
        shares /= np.where(totals > 0, totals, 1.0)
        if sampling == "stratified":
            shares *= truth[:, None].astype(digits)
        else:
            drawn = rng.standard_gamma(effective + 1.0 / k, (times, k))
            # In units of each class's weight.
            drawn *= np.divide(truth, effective, out=np.zeros_like(truth), where=effective > 0)
            shares *= (drawn * (truth.sum() / drawn.sum(axis=1, keepdims=True)))[:, :, None].astype(digits)
        return Margins.of(shares)

    return in_threads(block, zip(sizes, seeds(seed, len(sizes)), strict=True), None)


def class_values(margins: Margins, metric: str, average: str | None) -> Floats:
    """A metric of many K-class matrices at once, averaged over the classes; nan where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _AS_IT_STANDS[metric](margins) if average is None else _averaged(margins, metric, average)


def _averaged(margins: Margins, metric: str, average: str) -> Floats:
    facts = METRICS[metric]
    cells = margins.cells
    if average == "micro":
        found: Floats = facts.cells(*(cell.sum(axis=1) for cell in cells), **facts.parameters)  # type: ignore[misc]
        return found
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
    found: Floats = np.where(shares > 0, values * shares, 0.0).sum(axis=1)
    return found


def _accuracy(margins: Margins) -> Floats:
    found: Floats = margins.hits.sum(axis=1) / margins.total
    return found


def _chance(margins: Margins) -> Floats:
    found: Floats = np.einsum("dk,dk->d", margins.truth, margins.predicted) / margins.total**2
    return found


def _kappa(margins: Margins) -> Floats:
    by_chance = _chance(margins)
    return (_accuracy(margins) - by_chance) / (1.0 - by_chance)


def _mcc(margins: Margins) -> Floats:
    n = margins.total[:, None]
    spread = [1.0 - ((side / n) ** 2).sum(axis=1) for side in (margins.truth, margins.predicted)]
    found: Floats = (_accuracy(margins) - _chance(margins)) / np.sqrt(spread[0] * spread[1])
    return found


def _balanced_accuracy(margins: Margins) -> Floats:
    return _averaged(margins, "recall", "macro")


#: Metrics that K classes have without averaging.
_AS_IT_STANDS: Mapping[str, Callable[[Margins], Floats]] = {
    "accuracy": _accuracy, "error": lambda margins: 1.0 - _accuracy(margins), "balanced_accuracy": _balanced_accuracy,
    "kappa": _kappa, "mcc": _mcc,
}  # fmt: skip
