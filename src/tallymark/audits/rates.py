"""Sensitivity and specificity of a test: known exactly, published with an interval, or counted."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tallymark import _check
from tallymark.errors import InputError
from tallymark.inference.limits.proportions import limits

#: What `sensitivity` and `specificity` may be: a number, (value, low, high), or (right, rows).
GivenRate = float | Sequence[float]

#: Rows that stand for a rate which is known exactly: its variance is then below every rounding of an answer.
KNOWN = 1e15

#: Bisections that leave nothing but rounding.
_HALVINGS = 45

#: More effective rows than this are no longer told apart from a known rate.
_MOST_ROWS = 1e9


class Rate(NamedTuple):
    """A share of rows: hits, rows (effective ones of a published interval, `KNOWN` ones of a known rate), estimate."""

    hits: float
    rows: float
    value: float

    @property
    def known(self) -> bool:
        """Whether it is taken without error."""
        return self.rows >= KNOWN

    @property
    def counted(self) -> tuple[float, float]:
        """Hits and rows."""
        return self.hits, self.rows

    @property
    def complement(self) -> Rate:
        """The share of the other rows."""
        return Rate(self.rows - self.hits, self.rows, 1.0 - self.value)


class RateWithLimits(NamedTuple):
    """A rate, and its own limits."""

    rate: Rate
    low: float
    high: float


def of_counts(hits: float, rows: float) -> Rate:
    """A counted rate; nan without rows."""
    return Rate(hits, rows, hits / rows if rows else math.nan)


def rates_of_test(
    sensitivity: GivenRate | None, specificity: GivenRate | None, level: float
) -> tuple[RateWithLimits, RateWithLimits]:
    """Both rates of a test that is better than chance."""
    if sensitivity is None or specificity is None:
        missing = "sensitivity" if sensitivity is None else "specificity"
        raise InputError(
            f"{missing} is missing; a test needs both, each a number, (value, low, high) or (right, rows)."
        )
    right = read_rate(sensitivity, "sensitivity", level), read_rate(specificity, "specificity", level)
    values = [one.rate.value for one in right]
    if not sum(values) > 1.0:
        raise InputError(
            f"sensitivity {values[0]:g} and specificity {values[1]:g} add up to {sum(values):g}, expected more than 1: "
            "such a test says nothing of the truth, or its results are the wrong way round."
        )
    return right


def read_rate(given: object, name: str, level: float) -> RateWithLimits:
    """A rate as users write it; published limits are taken to be at `level`."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        value = _share(given, name)
        return RateWithLimits(Rate(value * KNOWN, KNOWN, value), value, value)
    parts = [_check.real(part, name) for part in given]
    if len(parts) == 2:
        return _from_counts(parts[0], parts[1], name, level)
    if len(parts) != 3:
        raise InputError(
            f"{name} has {len(parts)} numbers, expected one (known exactly), two (right, rows) or three "
            "(value, low, high)."
        )
    value, low, high = (_share(part, name) for part in parts)
    if not low <= value <= high:
        raise InputError(f"{name} is {value:g} with limits {low:g} to {high:g}, expected low <= value <= high.")
    return RateWithLimits(_from_limits(value, low, high, level), low, high)


def _share(given: object, name: str) -> float:
    value = _check.real(given, name)
    if not 0.0 <= value <= 1.0:
        hint = f"; for {value:g} % write {value / 100:g}" if 1.0 < value <= 100.0 else ""
        raise InputError(f"{name} is {given!r}, expected a share from 0 to 1{hint}.")
    return value


def _from_counts(right: float, rows: float, name: str, level: float) -> RateWithLimits:
    if not (right.is_integer() and rows.is_integer()):
        raise InputError(
            f"{name} is ({right:g}, {rows:g}), expected whole numbers (right, rows), such as (57, 60), or an estimate "
            "with its limits (value, low, high)."
        )
    if not 0.0 <= right <= rows or not rows:
        raise InputError(f"{name} has {right:g} right of {rows:g} rows, expected 0 <= right <= rows and rows > 0.")
    low, high = limits(right, rows, level)
    return RateWithLimits(of_counts(right, rows), float(low), float(high))


def _from_limits(value: float, low: float, high: float, level: float) -> Rate:
    """The counts whose Jeffreys posterior, a Beta distribution, has the published limits as its quantiles.

    A limit of 0 or 1 says nothing of the number of rows; that number is then found from the other limit, as a mid-p
    limit of the published value.
    """
    if low == high:
        return Rate(value * KNOWN, KNOWN, value)
    if low > 0.0 and high < 1.0:
        hits, rows = _beta_of(low, high, level)
    elif low > 0.0 or high < 1.0:
        rows = _rows_of_limit(value, low, level) if low > 0.0 else _rows_of_limit(1.0 - value, 1.0 - high, level)
        hits = value * rows
    else:
        hits, rows = 0.0, 0.0
    return Rate(hits, rows, value)


@functools.lru_cache(maxsize=1024)  # Each method that is compared asks for the same interval again.
def _beta_of(low: float, high: float, level: float) -> tuple[float, float]:
    """Hits and rows of the Beta(hits + 1/2, rows - hits + 1/2) that has half of 1 - level below low, half above high.

    For a number of rows the mean is found at which both tails are equal; more rows make the tails smaller.
    """
    from scipy.special import betainc, betaincc

    def tails(total: float, mean: float) -> tuple[float, float]:
        shape = total * mean, total * (1.0 - mean)
        return float(betainc(*shape, low)), float(betaincc(*shape, high))

    def balanced(total: float) -> float:
        least, most = low, high
        for _ in range(_HALVINGS):
            mean = (least + most) / 2.0
            below, above = tails(total, mean)
            least, most = (mean, most) if below > above else (least, mean)
        return (least + most) / 2.0

    few, many = 1e-3, _MOST_ROWS
    for _ in range(_HALVINGS):
        total = math.sqrt(few * many)
        few, many = (total, many) if sum(tails(total, balanced(total))) > 1.0 - level else (few, total)
    total = math.sqrt(few * many)
    mean = balanced(total)
    hits, misses = (max(total * share - 0.5, 0.0) for share in (mean, 1.0 - mean))
    return hits, hits + misses


def _rows_of_limit(value: float, low: float, level: float) -> float:
    """Rows at which the lower mid-p limit of `value` is `low`."""
    few, many = 1e-3, _MOST_ROWS
    for _ in range(_HALVINGS):
        rows = math.sqrt(few * many)
        few, many = (rows, many) if limits(value * rows, rows, level)[0] < low else (few, rows)
    return math.sqrt(few * many)
