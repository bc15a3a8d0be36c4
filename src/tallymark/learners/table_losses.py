"""Losses of contingency tables with P positives and N negatives, and their upper bounds over blocks of tables.

A table is its true positives a and false positives b. The bounds let a search discard most blocks.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.errors import InputError, nearest
from tallymark.registry import LOSSES, METRICS, CellMetric, Loss, Metric

#: Name of the loss that combines a classification and a quantification score.
Q = "q"

#: Width of the smallest blocks whose maxima of a user's function are computed; the next are four times as wide.
_BLOCK = 16

#: Cells of a user's function evaluated at a time.
_PART = 2**20


class TableLoss(ABC):
    """A loss between 0 and 1 of tables with so many positives and negatives."""

    @abstractmethod
    def at(self, a: Ints, b: Ints) -> Floats:
        """The loss of `a` true and `b` false positives."""

    @abstractmethod
    def at_most(self, low_a: Ints, high_a: Ints, low_b: Ints, high_b: Ints) -> Floats:
        """Upper bound of the loss over blocks of tables, ends included."""


@dataclass(frozen=True)
class CountLoss(TableLoss):
    """A loss of the number of predicted positives; `values` for 0 to n of them."""

    values: Floats

    def at(self, a: Ints, b: Ints) -> Floats:
        """The loss of a + b predicted positives."""
        return np.asarray(self.values[a + b])

    def at_most(self, low_a: Ints, high_a: Ints, low_b: Ints, high_b: Ints) -> Floats:
        """The largest value in between."""
        return range_maxima(self.values, low_a + low_b, high_a + high_b)


@dataclass(frozen=True)
class OrderedLoss(TableLoss):
    """A loss that falls with true positives and rises with false positives."""

    score: Callable[[Ints, Ints], Floats]

    def at(self, a: Ints, b: Ints) -> Floats:
        """One minus the score."""
        return 1.0 - self.score(a, b)

    def at_most(self, low_a: Ints, high_a: Ints, low_b: Ints, high_b: Ints) -> Floats:  # noqa: ARG002
        """The loss of the fewest true and the most false positives."""
        return self.at(low_a, high_b)


@dataclass(frozen=True)
class QLoss(TableLoss):
    r"""One minus :math:`Q_\beta` of an ordered classification score and a score of the count."""

    classification: Callable[[Ints, Ints], Floats]
    quantification: Floats
    beta: float

    def at(self, a: Ints, b: Ints) -> Floats:
        """One minus the Q-measure."""
        return 1.0 - self._combined(self.classification(a, b), self.quantification[a + b])

    def at_most(self, low_a: Ints, high_a: Ints, low_b: Ints, high_b: Ints) -> Floats:
        """Q rises with both scores, so their minima bound it."""
        least = -range_maxima(-self.quantification, low_a + low_b, high_a + high_b)
        return 1.0 - self._combined(self.classification(low_a, high_b), least)

    def _combined(self, c: Floats, q: Floats) -> Floats:
        if math.isinf(self.beta):
            return np.where(c > 0.0, q, 0.0)
        square = self.beta**2
        total = square * c + q
        # Q is 0 where one of them is; with both 0 the quotient is undefined.
        return np.divide((1.0 + square) * c * q, total, out=np.zeros_like(total), where=total > 0.0)


class UserLoss(TableLoss):
    """A function that is not known to be monotone, such as a user's: its maxima by block are computed once."""

    def __init__(self, function: Callable[..., Any], positives: int, negatives: int) -> None:
        self.function, self.positives, self.negatives = function, positives, negatives
        self.maxima = self._maxima()

    def at(self, a: Ints, b: Ints) -> Floats:
        """The function's value, checked."""
        a, b = np.broadcast_arrays(a, b)
        P, N = self.positives, self.negatives
        name = getattr(self.function, "__name__", "loss")
        with np.errstate(divide="ignore", invalid="ignore"):
            given = self.function(*(x.astype(np.float64) for x in (a, b, P - a, N - b)))
        try:
            values = np.broadcast_to(np.asarray(given, dtype=np.float64), a.shape)
        except (TypeError, ValueError):
            raise InputError(f"{name} did not give one number for each of the arrays tp, fp, fn, tn.") from None
        if not ((values >= 0.0) & (values <= 1.0)).all():
            raise InputError(f"{name} gave {values.min():g} to {values.max():g}; a loss must be from 0 to 1.")
        return values

    def at_most(self, low_a: Ints, high_a: Ints, low_b: Ints, high_b: Ints) -> Floats:
        """The maximum of the smallest precomputed block that contains it."""
        width = max(int(np.max(high_a - low_a + 1, initial=1)), int(np.max(high_b - low_b + 1, initial=1)))
        size = next(size for size in self.maxima if size >= width)
        return self.maxima[size][low_a // size, low_b // size]

    def _maxima(self) -> dict[int, Floats]:
        """Maxima of blocks with a side of 16, 64, … tables."""
        lines, columns = self.positives + 1, self.negatives + 1
        first = np.empty((-(-lines // _BLOCK), -(-columns // _BLOCK)))
        step = max(_PART // columns // _BLOCK, 1) * _BLOCK
        for start in range(0, lines, step):
            a = np.arange(start, min(start + step, lines))
            values = self.at(a[:, None], np.arange(columns)[None, :])
            part = _block_maxima(values, _BLOCK)
            first[start // _BLOCK : start // _BLOCK + len(part)] = part
        levels = {_BLOCK: first}
        while max(first.shape) > 1:
            size = max(levels)
            first = _block_maxima(first, 4)
            levels[size * 4] = first
        return levels


def _block_maxima(values: Floats, width: int) -> Floats:
    """Maxima of square blocks of a matrix."""
    by_rows = np.maximum.reduceat(values, np.arange(0, values.shape[0], width), axis=0)
    return np.asarray(np.maximum.reduceat(by_rows, np.arange(0, values.shape[1], width), axis=1))


def range_maxima(values: Floats, low: Ints, high: Ints) -> Floats:
    """Maxima of ``values[low]`` to ``values[high]`` for many ranges, each covered by two windows of a power of two."""
    power = np.frexp((high - low + 1).astype(np.float64))[1] - 1
    best = np.empty(np.broadcast(low, high).shape)
    window = values
    for exponent in range(int(power.max(initial=0)) + 1):
        if exponent:
            window = np.maximum(window[: -(1 << (exponent - 1))], window[1 << (exponent - 1) :])
        of_power = power == exponent
        best[of_power] = np.maximum(window[low[of_power]], window[high[of_power] - (1 << exponent) + 1])
    return best


def table_loss(
    loss: str | Callable[..., Any],
    positives: int,
    negatives: int,
    *,
    beta: float = 2.0,
    classification: str = "recall",
    quantification: str = "nas",
) -> TableLoss:
    r"""A loss by name, for a sample with so many positives and negatives.

    ``"q"`` is :math:`1 - Q_\beta` of a `classification` and a `quantification` score; a registered quantification loss
    is a function of the count (divided by its maximum where it is unbounded), a metric at one threshold with a
    direction and a finite range one of the table; a function takes arrays tp, fp, fn, tn and gives losses from 0 to 1.
    """
    size = (positives, negatives)
    if isinstance(beta, bool) or not isinstance(beta, int | float | np.number) or not beta >= 0.0:
        raise InputError(f"beta is {beta!r}, expected a number of 0 or more.")
    if callable(loss):
        return UserLoss(loss, *size)
    if loss == Q:
        score, counts = _score_of_table(METRICS[classification], *size), _losses_of_count(LOSSES[quantification], *size)
        return QLoss(score, 1.0 - counts, float(beta))
    if loss in LOSSES:
        return CountLoss(_losses_of_count(LOSSES[loss], *size))
    if loss in METRICS:
        facts = METRICS[loss]
        parameters: dict[str, Any] = {"beta": float(beta)} if has_beta(loss) else {}
        score = _score_of_table(facts, *size, **parameters)
        if isinstance(facts, CellMetric) and (facts.errors_cancel or facts.name in METRICS.user_defined):
            # Of the library's other metrics it is tested that correcting an error never makes them worse.
            return UserLoss(lambda tp, fp, fn, tn: 1.0 - _scaled(facts, tp, fp, fn, tn, **parameters), *size)
        return OrderedLoss(score)
    names = [Q, *LOSSES, *(name for name in METRICS if METRICS[name].cells)]
    raise InputError(
        f"loss={loss!r} is not known.{nearest(loss, names)} Give 'q', a quantification loss, a metric at one "
        f"threshold, or a function of arrays tp, fp, fn, tn. There are: {', '.join(names)}."
    )


def has_beta(loss: object) -> bool:
    """Whether the loss is a metric with a parameter beta."""
    return isinstance(loss, str) and loss not in LOSSES and loss in METRICS and "beta" in METRICS[loss].parameters


def _losses_of_count(facts: Loss, positives: int, negatives: int) -> Floats:
    """A quantification loss of 0 to n predicted positives, from 0 to 1."""
    n = positives + negatives
    shares = np.arange(n + 1) / n
    truth = np.array([[negatives / n, positives / n]])
    if facts.better not in {"lower", "higher"}:
        raise InputError(f"{facts.name} is neither better high nor low; take a loss such as ae, nas or kld.")
    options = {"size": n} if facts.smoothed_by_size else {}
    values = np.asarray(facts.compute(truth, np.column_stack((1.0 - shares, shares)), **options), dtype=np.float64)
    losses: Floats = values if facts.better == "lower" else 1.0 - values
    if math.isinf(facts.high):
        losses = losses / losses.max()
    return np.clip(losses, 0.0, 1.0)


def _score_of_table(
    facts: Metric, positives: int, negatives: int, **parameters: float
) -> Callable[[Ints, Ints], Floats]:
    """A metric at one threshold as a score from 0 to 1 of true and false positives."""
    directed = facts.better in {"higher", "lower"} and math.isfinite(facts.low) and math.isfinite(facts.high)
    if not isinstance(facts, CellMetric) or not directed:
        raise InputError(
            f"{facts.name} cannot be learnt: it must be a metric at one threshold with a best and a worst value, "
            "such as accuracy, f1, geometric_mean or mcc."
        )

    def score(a: Ints, b: Ints) -> Floats:
        tp, fp = a.astype(np.float64), b.astype(np.float64)
        return _scaled(facts, tp, fp, positives - tp, negatives - fp, **parameters)

    return score


def _scaled(facts: CellMetric, tp: Any, fp: Any, fn: Any, tn: Any, **parameters: float) -> Floats:
    cells = [np.asarray(cell, dtype=np.float64) for cell in (tp, fp, fn, tn)]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = facts.cells(*cells, **{**facts.parameters, **parameters})
    # An undefined table gets the value 0.
    if np.isnan(values.sum()):
        values = np.nan_to_num(values, nan=0.0)
    if (facts.low, facts.high) != (0.0, 1.0):
        values = (values - facts.low) / (facts.high - facts.low)
    return values if facts.better == "higher" else 1.0 - values
