"""Intervals of metrics of a K-class matrix: each true class's answers are drawn, and every metric of all draws at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import Sampling, Seed, seeds
from tallymark.intervals.rates import Limits
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

#: Draws of a K-class matrix, and cells drawn at a time.
_DRAWS, _HELD = 1_000, 2**21

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
    tables = list(_drawn(confusion, sampling, seed))
    tail = (1.0 - level) / 2
    found = {}
    for name, (metric, average) in metrics.items():
        values = np.concatenate([class_values(table, metric, average) for table in tables])
        if not np.isnan(values).all():
            low, high = np.nanquantile(values, [tail, 1.0 - tail])
            found[name] = (float(low), float(high), "dirichlet")
    return found


def _drawn(confusion: Confusion, sampling: Sampling, seed: Seed) -> Iterator[Floats]:
    """Drawn matrices, a block at a time."""
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
    for times, entropy in zip(sizes, seeds(seed, len(sizes)), strict=True):
        rng = np.random.default_rng(entropy)
        gammas = rng.standard_gamma(matrix + 1.0 / k**2, (times, k, k))
        totals = gammas.sum(axis=2, keepdims=True)
        shares = np.divide(gammas, totals, out=np.zeros_like(gammas), where=totals > 0)
        if sampling == "stratified":
            yield shares * truth[:, None]
        else:
            drawn = rng.standard_gamma(effective + 1.0 / k, (times, k))
            # In units of each class's weight.
            drawn *= np.divide(truth, effective, out=np.zeros_like(truth), where=effective > 0)
            yield shares * (drawn * (truth.sum() / drawn.sum(axis=1, keepdims=True)))[:, :, None]


def class_values(tables: Floats, metric: str, average: str | None) -> Floats:
    """A metric of many K-class matrices at once, averaged over the classes; nan where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _AS_IT_STANDS[metric](tables) if average is None else _averaged(tables, metric, average)


def _cells(tables: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Each class against the rest: tp, fp, fn, tn by matrix and class."""
    tp = np.einsum("dkk->dk", tables)
    truth, predicted = tables.sum(axis=2), tables.sum(axis=1)
    return tp, predicted - tp, truth - tp, tables.sum(axis=(1, 2))[:, None] - truth - predicted + tp


def _averaged(tables: Floats, metric: str, average: str) -> Floats:
    facts = METRICS[metric]
    cells = _cells(tables)
    if average == "micro":
        found: Floats = facts.cells(*(cell.sum(axis=1) for cell in cells), **facts.parameters)  # type: ignore[misc]
        return found
    truth = tables.sum(axis=2)
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


def _accuracy(tables: Floats) -> Floats:
    found: Floats = np.einsum("dkk->d", tables) / tables.sum(axis=(1, 2))
    return found


def _chance(tables: Floats) -> Floats:
    n = tables.sum(axis=(1, 2))
    found: Floats = np.einsum("dk,dk->d", tables.sum(axis=2), tables.sum(axis=1)) / n**2
    return found


def _kappa(tables: Floats) -> Floats:
    by_chance = _chance(tables)
    return (_accuracy(tables) - by_chance) / (1.0 - by_chance)


def _mcc(tables: Floats) -> Floats:
    n = tables.sum(axis=(1, 2))[:, None]
    spread = [1.0 - ((tables.sum(axis=side) / n) ** 2).sum(axis=1) for side in (2, 1)]
    found: Floats = (_accuracy(tables) - _chance(tables)) / np.sqrt(spread[0] * spread[1])
    return found


def _balanced_accuracy(tables: Floats) -> Floats:
    return _averaged(tables, "recall", "macro")


#: Metrics that K classes have without averaging.
_AS_IT_STANDS: Mapping[str, Callable[[Floats], Floats]] = {
    "accuracy": _accuracy, "error": lambda tables: 1.0 - _accuracy(tables), "balanced_accuracy": _balanced_accuracy,
    "kappa": _kappa, "mcc": _mcc,
}  # fmt: skip
