"""The confidence interval as a value, and checks of its options."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._display import Limited, Row, Shown, plain
from tallymark._numbers import number
from tallymark.errors import InputError, Undefined

Seed = int | np.random.Generator
Sampling = Literal["stratified", "plain"]


@dataclass(frozen=True, repr=False)
class Interval(Shown, Limited):
    """An estimate with its confidence interval.

    Parameters
    ----------
    value
        The estimate.
    low, high
        The limits.
    interval_method
        How they were computed.
    level
        Nominal confidence level.

    >>> import tallymark as tm
    >>> tm.intervals.proportion(5, 5)
    1.0000 (0.5493 to 1.0000, 95 % mid_p)
    """

    value: float
    low: float
    high: float
    interval_method: str
    level: float

    def __repr__(self) -> str:
        return (
            f"{number(float(self.value))} ({number(float(self.low))} to {number(float(self.high))}, "
            f"{100 * self.level:g} % {self.interval_method})"
        )

    def heading(self) -> str:
        """The estimate."""
        return repr(self)

    def rows(self) -> list[Row]:
        """One line."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in asdict(self).items()}


def checked_level(level: object) -> float:
    """A confidence level as a share between 0 and 1."""
    value = _check.real(level, "level")
    if not 0.0 < value < 1.0:
        hint = f"; for {value:g} % write {value / 100:g}" if 1.0 < value < 100.0 else ""
        raise InputError(f"level is {level!r}, expected a share between 0 and 1 such as 0.95{hint}.")
    return value


def require_separate_rows(clusters: object, method: str) -> None:
    """Refuse rows in clusters where a method assumes independent rows."""
    if clusters is not None:
        raise InputError(
            f"{method} takes rows one by one, and these come in clusters: "
            "use tm.evaluate or tm.compare, or leave cluster= out."
        )


def or_nan(compute: Callable[[Any], float], summary: object) -> float:
    """A metric, nan where it is undefined."""
    try:
        return compute(summary)
    except Undefined:
        return math.nan


def checked_number(value: object, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    return _check.whole(value, name, least)
