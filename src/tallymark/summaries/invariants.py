"""Invariants checked when a stored summary is loaded. Each check raises an InputError that says what is broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Column, Floats, Label
from tallymark.errors import InputError

#: Sums that were added in another order agree to this, relative to their size.
_ROUNDING = 1e-6


def require(satisfied: object, what: str) -> None:
    """Refuse a file that violates an invariant."""
    if not satisfied:
        raise InputError(what)


def labels(value: Any, *, least: int = 1, most: int | None = None) -> tuple[Label, ...]:
    """A list of different labels."""
    require(
        isinstance(value, list) and len(value) >= least and (most is None or len(value) <= most), "labels are missing"
    )
    listed = tuple(map(_check.plain_label, value))
    require(len(set(listed)) == len(listed), "a label occurs twice")
    require(not any(isinstance(label, float) and np.isnan(label) for label in listed), "a label is NaN")
    return listed


def prior(value: Any) -> float | None:
    """A stated prevalence, or none."""
    return None if value is None else _check.probability(value, "prior")


def names(value: Any, what: str) -> tuple[str, ...]:
    """A list of different texts."""
    require(isinstance(value, list) and all(isinstance(name, str) for name in value), f"{what} are not text")
    require(len(set(value)) == len(value), f"{what} occur twice")
    return tuple(value)


def numbers(array: Any, kinds: str, shape: tuple[int, ...], what: str, *, least: float | None = None) -> Column:
    """Finite numbers of a kind (NumPy's letters) and shape, none below `least`."""
    require(isinstance(array, np.ndarray) and array.dtype.kind in kinds, f"{what} are of the wrong type")
    require(
        array.dtype.isnative and (array.dtype.kind != "f" or array.dtype.itemsize >= 4), f"{what} are of the wrong type"
    )
    require(array.shape == shape, f"{what} have the shape {array.shape} instead of {shape}")
    require(array.dtype.kind == "b" or np.isfinite(array).all(), f"{what} are not finite")
    require(least is None or not (array < least).any(), f"{what} are too small")
    values: Column = array
    return values


def squares_of_weights(squares: Floats, weights: Floats, rows: Column) -> None:
    """Sums of squared weights lie between those of equal weights and that of a single one."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        most = weights**2
        least = np.where(rows > 0, most / np.maximum(rows, 1), 0.0)
    wide = 1.0 + _ROUNDING
    require((squares <= most * wide).all() and (squares * wide >= least).all(), "squares do not belong to the weights")
    require(((weights > 0) == (rows > 0)).all(), "rows do not belong to the weights")


def moments(value: Any, mass: Floats, low: Floats, high: Floats) -> tuple[float, float, float, float]:
    """Mass, mean and central sums that scores within these limits can have."""
    require(isinstance(value, list) and len(value) == 4, "moments are not four numbers")
    require(
        all(isinstance(one, float | int) and not isinstance(one, bool) for one in value), "moments are not four numbers"
    )
    total, mean, m2, m3 = map(float, value)
    if not len(mass):
        require((total, mean, m2, m3) == (0.0, 0.0, 0.0, 0.0), "moments of no rows")
        return total, mean, m2, m3
    with np.errstate(over="ignore", invalid="ignore"):
        # NumPy's, whose powers are infinite where Python's raise.
        size = np.float64(max(abs(low[0]), abs(high[-1]), high[-1] - low[0]))
        require(np.isclose(total, mass.sum(), rtol=_ROUNDING), "moments have another mass")
        _between(mean, float(np.sum(mass * (low / total))), float(np.sum(mass * (high / total))), size, "mean")
        below, above = low - mean, high - mean
        near = np.maximum(0.0, np.maximum(below, -above))
        far = np.maximum(np.abs(below), np.abs(above))
        _between(m2, float(np.sum(mass * near**2)), float(np.sum(mass * far**2)), total * size**2, "second moment")
        _between(m3, float(np.sum(mass * below**3)), float(np.sum(mass * above**3)), total * size**3, "third moment")
    require(not m2 < 0.0, "the second moment is negative")
    return total, mean, m2, m3


def _between(value: float, low: float, high: float, size: np.float64, what: str) -> None:
    """Within limits, but for rounding; scores whose powers overflow have moments that are not finite."""
    if np.isfinite(size) and np.isfinite([low, high]).all():
        slack = _ROUNDING * size
        require(low - slack <= value <= high + slack, f"the {what} cannot be that of the scores")


def only(arrays: Mapping[str, Any], allowed: set[str]) -> None:
    """No arrays but the allowed ones."""
    require(set(arrays) <= allowed, f"there are unknown parts: {sorted(set(arrays) - allowed)}")
