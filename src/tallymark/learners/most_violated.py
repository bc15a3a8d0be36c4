r"""Exact search for the most violated constraint of a structured SVM, by branch and bound over contingency tables.

Among labellings with a true and b false positives the best takes the highest scores of each class, so the search is
over :math:`\Delta(a, b) + A_a + B_b`, where A and B are sums of the highest scores. Both are concave, so each has its
maximum over a range at one place; with a bound of the loss in a block of tables most blocks are discarded at once.
Joachims (2005), ICML.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.learners.table_losses import CountLoss, TableLoss

#: Maximum number of blocks to begin with, and the width at which their tables are evaluated; they are split by four.
_BLOCKS, _SMALLEST = 10_000, 4

#: Small blocks whose tables are evaluated together.
_TOGETHER = 4_096


class Labelling(NamedTuple):
    """Rows that are true and false positives in a labelling, its loss, and its loss plus scores."""

    hits: Ints
    false_alarms: Ints
    loss: float
    value: float


def most_violated(loss: TableLoss, positive: Floats, negative: Floats) -> Labelling:
    """The labelling with the largest loss plus scores of its predicted positives; the first of several."""
    if isinstance(loss, CountLoss):
        return _by_count(loss, positive, negative)
    up, down = (np.argsort(-scores) for scores in (positive, negative))
    A, B = (np.concatenate(([0.0], np.cumsum(scores[order]))) for scores, order in ((positive, up), (negative, down)))
    a, b, value = _search(loss, A, B)
    return Labelling(up[:a], down[:b], float(loss.at(np.array([a]), np.array([b]))[0]), value)


def _by_count(loss: CountLoss, positive: Floats, negative: Floats) -> Labelling:
    """For a loss of the number of predicted positives: these have the highest scores of all rows."""
    scores = np.concatenate((positive, negative))
    order = np.argsort(-scores)
    values = loss.values + np.concatenate(([0.0], np.cumsum(scores[order])))
    best = int(np.argmax(values))
    chosen = order[:best]
    hits = chosen < len(positive)
    return Labelling(chosen[hits], chosen[~hits] - len(positive), float(loss.values[best]), float(values[best]))


def _search(loss: TableLoss, A: Floats, B: Floats) -> tuple[int, int, float]:
    last_a, last_b = len(A) - 1, len(B) - 1
    top_a, top_b = int(np.argmax(A)), int(np.argmax(B))
    size = _SMALLEST
    while (last_a // size + 1) * (last_b // size + 1) > _BLOCKS:
        size *= 4
    starts = np.arange(0, last_a + 1, size), np.arange(0, last_b + 1, size)
    low_a, low_b = (grid.ravel() for grid in np.meshgrid(*starts, indexing="ij"))
    best = (0, 0, -np.inf)
    while len(low_a):
        high_a, high_b = np.minimum(low_a + size - 1, last_a), np.minimum(low_b + size - 1, last_b)
        at_a, at_b = np.clip(top_a, low_a, high_a), np.clip(top_b, low_b, high_b)
        limit = loss.at_most(low_a, high_a, low_b, high_b) + A[at_a] + B[at_b]
        best = _better(best, loss, A, B, at_a, at_b)
        open_ = limit > best[2]
        low_a, low_b, limit = low_a[open_], low_b[open_], limit[open_]
        if size == _SMALLEST:
            return _evaluated(best, loss, A, B, low_a, low_b, limit)
        size //= 4
        steps = size * np.arange(4)
        low_a = (low_a[:, None, None] + steps[None, :, None] + np.zeros(4, dtype=np.int64)).ravel()
        low_b = (low_b[:, None, None] + np.zeros((4, 1), dtype=np.int64) + steps).ravel()
        inside = (low_a <= last_a) & (low_b <= last_b)
        low_a, low_b = low_a[inside], low_b[inside]
    return best


def _evaluated(
    best: tuple[int, int, float], loss: TableLoss, A: Floats, B: Floats, low_a: Ints, low_b: Ints, limit: Floats
) -> tuple[int, int, float]:
    """The best table of the remaining blocks, those with the highest bound first."""
    order = np.argsort(-limit, kind="stable")
    steps = np.arange(_SMALLEST)
    for start in range(0, len(order), _TOGETHER):
        part = order[start : start + _TOGETHER]
        part = part[limit[part] > best[2]]
        if not len(part):
            break
        a = (low_a[part, None, None] + steps[:, None] + np.zeros(_SMALLEST, dtype=np.int64)).ravel()
        b = (low_b[part, None, None] + np.zeros((_SMALLEST, 1), dtype=np.int64) + steps).ravel()
        inside = (a < len(A)) & (b < len(B))
        best = _better(best, loss, A, B, a[inside], b[inside])
    return best


def _better(
    best: tuple[int, int, float], loss: TableLoss, A: Floats, B: Floats, a: Ints, b: Ints
) -> tuple[int, int, float]:
    values = loss.at(a, b) + A[a] + B[b]
    place = int(np.argmax(values))
    return (int(a[place]), int(b[place]), float(values[place])) if values[place] > best[2] else best
