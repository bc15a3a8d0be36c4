"""Holm's correction for several tests."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment. Holm (1979), Scand. J. Stat. 6(2)."""
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def holm_levels(p_values: Floats, alpha: float) -> list[float]:
    """The level at which Holm's procedure decides about each pair; all it does not reach share that of the first left."""
    order = np.argsort(p_values, kind="stable")
    found, allowed = np.empty(len(p_values)), alpha / len(p_values)
    going = True
    for step, place in enumerate(order):
        if going:
            allowed = alpha / (len(p_values) - step)
            going = bool(p_values[place] < allowed)
        found[place] = 1.0 - allowed
    return [float(one) for one in found]
