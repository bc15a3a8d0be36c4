"""Corrections of p-values for multiple tests, which control the family-wise error rate."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tallymark._check import Floats, Ints

#: P-values that differ by less, relatively, are equal: identical models give the same one up to rounding.
_TIED = 1e-9


def bonferroni(p_values: Floats) -> Floats:
    """Bonferroni's adjustment: every p-value times their number."""
    return np.minimum(p_values * len(p_values), 1.0)


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment; equal p-values have equal adjusted ones. Holm (1979), Scand. J. Stat. 6(2)."""
    order, first = _steps(p_values)
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    # Ties are tested together, at their first step.
    return _placed(order, np.minimum(stepped[first], 1.0))


def holm_levels(p_values: Floats, alpha: float) -> list[float]:
    """The level at which Holm's procedure tests each hypothesis; the first kept and those after it share one."""
    order, first = _steps(p_values)
    levels, allowed = np.empty(len(p_values)), alpha / len(p_values)
    going = True
    for place, step in zip(order, first, strict=True):
        if going:
            allowed = alpha / (len(p_values) - step)
            going = bool(p_values[place] < allowed)
        levels[place] = 1.0 - allowed
    return [float(level) for level in levels]


def _steps(p_values: Floats) -> tuple[Ints, Ints]:
    """The order of the p-values, and the step at which each is tested: that of the first of its ties."""
    order = np.argsort(p_values, kind="stable")
    ordered = p_values[order]
    places = np.arange(len(ordered))
    new = np.append(True, ~(np.diff(ordered) <= _TIED * ordered[1:]))[: len(ordered)]
    return order, np.maximum.accumulate(np.where(new, places, 0))


def hochberg(p_values: Floats) -> Floats:
    """Hochberg's step-up adjustment. Hochberg (1988), Biometrika 75(4)."""
    order = np.argsort(-p_values, kind="stable")
    stepped = np.minimum.accumulate(p_values[order] * np.arange(1, len(p_values) + 1))
    return _placed(order, np.minimum(stepped, 1.0))


def hommel(p_values: Floats) -> Floats:
    """Hommel's adjustment, by closing Simes' test. Hommel (1988), Biometrika 75(2); Wright (1992), Biometrics 48(4)."""
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    p = p_values[order]
    adjusted = np.full(m, np.min(m * p / np.arange(1, m + 1)) if m else 1.0)
    for size in range(m - 1, 1, -1):
        # The largest p-values in turn are taken as those of the true hypotheses.
        rest = size * p[m - size + 1 :] / np.arange(2, size + 1)
        least = float(rest.min())
        low = np.minimum(size * p[: m - size + 1], least)
        bound = np.concatenate((low, np.full(size - 1, low[-1])))
        adjusted = np.maximum(adjusted, bound)
    return _placed(order, np.minimum(np.maximum(adjusted, p), 1.0))


def shaffer(p_values: Floats, methods: int) -> Floats:
    """Shaffer's static adjustment for all pairs of `methods`: not every number of pairs can be equal at once.

    Shaffer (1986), J. Am. Stat. Assoc. 81.
    """
    pairs = len(p_values)
    possible = np.array(sorted(numbers_of_equal_pairs(methods)))
    order = np.argsort(p_values, kind="stable")
    # When i hypotheses are rejected, at most the largest possible number up to the rest can be true.
    left = pairs - np.arange(pairs)
    most = possible[np.searchsorted(possible, left, "right") - 1]
    stepped = np.maximum.accumulate(p_values[order] * np.maximum(most, 1))
    return _placed(order, np.minimum(stepped, 1.0))


@lru_cache
def numbers_of_equal_pairs(methods: int) -> frozenset[int]:
    """How many pairs of so many methods can be equal at once: methods fall into groups of equals."""
    if methods < 2:
        return frozenset({0})
    return frozenset(
        size * (size - 1) // 2 + rest
        for size in range(1, methods + 1)
        for rest in numbers_of_equal_pairs(methods - size)
    )


def _placed(order: Ints, values: Floats) -> Floats:
    adjusted = np.empty(len(values))
    adjusted[order] = values
    return adjusted
