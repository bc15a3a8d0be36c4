"""Variance-stabilising scales, on which an estimate with a standard error gets limits inside its range."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Scale(NamedTuple):
    """A variance-stabilising transform: forward, inverse and derivative."""

    name: str
    forward: Callable[[float], float]
    inverse: Callable[[float], float]
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
    """Limits of a Student interval on the scale, transformed back."""
    reach = student_value(level, freedom) * error * scale.slope(value)
    low, high = (scale.inverse(scale.forward(value) + side * reach) for side in (-1.0, 1.0))
    return including(value, low, high)


def critical_value(level: Any) -> Any:
    """Normal quantile of a two-sided interval: 1.96 at the level 0.95."""
    return normal_quantile(0.5 + level / 2)


def student_value(level: float, freedom: float) -> float:
    """Student's quantile of a two-sided interval, with `freedom` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2))


def including(value: float, low: float, high: float) -> tuple[float, float]:
    """Limits, widened to include the estimate where rounding or a method's approximation leaves it out."""
    return min(low, value), max(high, value)


def normal_quantile(share: Any) -> Any:
    """The standard normal quantile, of a number or of many."""
    from scipy.special import ndtri

    return float(ndtri(share)) if np.ndim(share) == 0 else ndtri(share)
