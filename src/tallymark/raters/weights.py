"""Weights of partial agreement between two classes: 1 for the same class, 0 for the two furthest apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark.errors import InputError
from tallymark.registry import choose

WeightName = Literal["nominal", "ordinal", "linear", "quadratic", "interval", "ratio"]


def _ordinal(gaps: Floats) -> Floats:
    return gaps * (gaps + 1.0) / 2.0


#: Disagreement by the number of classes that two classes are apart.
_BY_PLACE: dict[str, Callable[[Floats], Floats]] = {
    "nominal": np.sign,
    "ordinal": _ordinal,
    "linear": np.asarray,
    "quadratic": np.square,
}


def _ratio(a: Floats, b: Floats) -> Floats:
    return np.divide(a - b, a + b, out=np.zeros(np.broadcast(a, b).shape), where=a + b > 0.0) ** 2


#: Disagreement by the values of two classes.
BY_VALUE: dict[str, Callable[[Floats, Floats], Floats]] = {"interval": lambda a, b: (a - b) ** 2, "ratio": _ratio}


def agreement_weights(weights: Any, classes: Sequence[Label], *, ordered: bool) -> Floats:
    """The weights by name, or a matrix that was passed, for these classes."""
    if not isinstance(weights, str):
        return _checked_matrix(weights, len(classes))
    choose("weights", weights, {**_BY_PLACE, **BY_VALUE})
    values = np.array([]) if any(isinstance(one, str) for one in classes) else np.array(classes, dtype=np.float64)
    if weights in BY_VALUE:
        if not values.size or (weights == "ratio" and values.min() < 0.0):
            needed = "numbers" if weights == "interval" else "numbers of 0 or more"
            raise InputError(f"weights={weights!r} needs ratings that are {needed}; use another weight, or a matrix.")
        apart = BY_VALUE[weights](values[:, None], values[None, :])
    else:
        if weights != "nominal" and not values.size and not ordered:
            raise InputError(
                f"weights={weights!r} needs an order of the classes, which text does not have: rate by numbers such as "
                "1, 2, 3, pass an ordered categorical, or pass a matrix of weights for the classes in sorted order."
            )
        place = np.arange(len(classes), dtype=np.float64)
        apart = _BY_PLACE[weights](np.abs(place[:, None] - place[None, :]))
    furthest = apart.max(initial=0.0)
    agreement: Floats = 1.0 - apart / furthest if furthest > 0.0 else np.ones_like(apart)
    return agreement


def _checked_matrix(weights: Any, classes: int) -> Floats:
    matrix = _check.matrix(weights, "weights", columns=classes)
    if matrix.shape != (classes, classes):
        raise InputError(
            f"weights has shape {matrix.shape}, expected a row and a column for each of {classes} classes."
        )
    if not (np.allclose(np.diag(matrix), 1.0) and np.allclose(matrix, matrix.T) and matrix.min() >= 0.0):
        raise InputError("weights must be symmetric, with 1 on the diagonal and 0 or more beside it.")
    if matrix.max() > 1.0:
        raise InputError(f"weights has an entry of {matrix.max():g}, expected at most 1, the weight of the same class.")
    return matrix
