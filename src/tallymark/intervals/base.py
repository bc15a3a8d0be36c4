"""What every interval is, and how an estimate with a standard error becomes one that keeps inside its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tallymark import _check
from tallymark._show import Row, Shown, number, plain
from tallymark.errors import InputError, Undefined

Seed = int | np.random.Generator
Sampling = Literal["stratified", "plain"]


@dataclass(frozen=True, repr=False)
class Interval(Shown):
    """An estimate with its confidence limits, the method that gave them and their nominal level.

    >>> import tallymark as tm
    >>> tm.intervals.proportion(5, 5)
    1.0000 (0.5493 to 1.0000, 95 % mid_p)
    """

    value: float
    low: float
    high: float
    method: str
    level: float

    def __repr__(self) -> str:
        return (
            f"{number(float(self.value))} ({number(float(self.low))} to {number(float(self.high))}, "
            f"{100 * self.level:g} % {self.method})"
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


class Scale(NamedTuple):
    """A scale on which estimates are nearly normal: there, back, and the slope of the way there."""

    name: str
    there: Callable[[float], float]
    back: Callable[[float], float]
    slope: Callable[[float], float]


#: Beyond this an exponential leaves the floats.
_FAR = 700.0

#: Spreads below this, relative to the value, are rounding.
NO_SPREAD = 1e-12

_LOG = Scale("log", math.log, lambda x: math.exp(min(x, _FAR)), lambda v: 1.0 / v)
_PLAIN = Scale("plain", float, float, lambda _: 1.0)


def _logit(low: float, high: float) -> Scale:
    """Logit of where a value lies between its ends; for correlations that is Fisher's z, but for a factor."""
    width = high - low
    return Scale(
        "logit",
        lambda v: math.log((v - low) / (high - v)),
        lambda x: low + width / (1.0 + math.exp(min(-x, _FAR))),
        lambda v: width / ((v - low) * (high - v)),
    )


def scale_of(low: float, high: float) -> Scale:
    """The usual scale for values of a given range."""
    if math.isfinite(high - low):
        return _logit(low, high)
    return _LOG if low == 0.0 else _PLAIN


def on_scale(value: float, error: float, freedom: float, level: float, scale: Scale) -> tuple[float, float]:
    """Limits of a Student interval on the scale, put back."""
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, 0.5 + level / 2)) * error * scale.slope(value)
    low, high = (scale.back(scale.there(value) + side * reach) for side in (-1.0, 1.0))
    return min(low, value), max(high, value)


def checked_level(level: object) -> float:
    """A confidence level as a share between 0 and 1."""
    value = _check.real(level, "level")
    if not 0.0 < value < 1.0:
        hint = f"; for {value:g} % write {value / 100:g}" if 1.0 < value < 100.0 else ""
        raise InputError(f"level is {level!r}, expected a share between 0 and 1 such as 0.95{hint}.")
    return value


def or_nan(compute: Callable[[Any], float], summary: object) -> float:
    """A metric, nan where it is undefined."""
    try:
        return compute(summary)
    except Undefined:
        return math.nan


def normal_quantile(share: Any) -> Any:
    """The standard normal quantile, of a number or of many."""
    from scipy.special import ndtri

    return float(ndtri(share)) if np.ndim(share) == 0 else ndtri(share)


def checked_number(value: object, name: str, least: int) -> int:
    """A whole number of at least `least`."""
    return _check.whole(value, name, least)


def in_threads(work: Callable[[Any], Any], parts: Iterable[Any], jobs: int | None) -> list[Any]:
    """Work on each part, in order; NumPy works outside the interpreter lock, so two threads nearly halve the time."""
    with ThreadPoolExecutor(2 if jobs is None else checked_number(jobs, "jobs", 1)) as workers:
        return list(workers.map(work, parts))


def seeds(seed: Seed, blocks: int) -> list[np.random.SeedSequence]:
    """One seed for each block of work, the same whatever number of jobs does them."""
    if isinstance(seed, np.random.Generator):
        return list(np.random.SeedSequence(int(seed.integers(2**63))).spawn(blocks))
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed is {seed!r}, expected a whole number of 0 or more, or a numpy.random.Generator.")
    return list(np.random.SeedSequence(int(seed)).spawn(blocks))
