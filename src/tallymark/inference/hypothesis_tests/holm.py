"""Holm's correction for several tests."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats, Ints

#: P-values that differ by less, relatively, are equal: identical models give the same one up to rounding.
_TIED = 1e-9


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment; equal p-values have equal adjusted ones. Holm (1979), Scand. J. Stat. 6(2)."""
    order, first = _steps(p_values)
    stepped = np.maximum.accumulate(p_values[order] * (len(p_values) - np.arange(len(p_values))))
    adjusted = np.empty(len(p_values))
    # All of a tie are decided about at its first step.
    adjusted[order] = np.minimum(stepped[first], 1.0)
    return adjusted


def holm_levels(p_values: Floats, alpha: float) -> list[float]:
    """The level at which Holm's procedure decides about each pair; all it does not reach share that of the first left."""
    order, first = _steps(p_values)
    found, allowed = np.empty(len(p_values)), alpha / len(p_values)
    going = True
    for place, step in zip(order, first, strict=True):
        if going:
            allowed = alpha / (len(p_values) - step)
            going = bool(p_values[place] < allowed)
        found[place] = 1.0 - allowed
    return [float(one) for one in found]


def _steps(p_values: Floats) -> tuple[Ints, Ints]:
    """The order of the p-values, and for each in that order the step at which it, or the first that is equal, is decided about."""
    order = np.argsort(p_values, kind="stable")
    ordered = p_values[order]
    places = np.arange(len(ordered))
    new = np.append(True, ~(np.diff(ordered) <= _TIED * ordered[1:]))[: len(ordered)]
    return order, np.maximum.accumulate(np.where(new, places, 0))
