"""Logistic regression on a few features of a score, for many resamples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallymark._check import Floats

#: Newton steps; ten are usual.
_STEPS = 60

#: Log odds beyond which the probability is 0 or 1 to all digits.
_FAR = 35.0

#: Ridge penalty, so that classes that do not overlap have finite slopes.
_RIDGE = 1e-9


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)) without overflow."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -_FAR * 20, _FAR * 20)))


#: Distance from 0 and 1 to which probabilities are clipped before a logarithm.
_EDGE = 1e-12


def log_odds(probabilities: ArrayLike) -> tuple[Floats, Floats]:
    """The two terms of the log odds, ln p and -ln(1 - p)."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), _EDGE, 1.0 - _EDGE)
    return np.log(p), -np.log1p(-p)


def logit(probabilities: ArrayLike) -> Floats:
    """Log odds, ln(p / (1 - p))."""
    log_p, minus_log_q = log_odds(probabilities)
    return log_p + minus_log_q


def fit_logistic(features: Floats, outcomes: Floats, mass: Floats, *, intercept: bool = True) -> Floats:
    """Maximum-likelihood coefficients of the rows of `features` for `outcomes` (shares), one line per line of masses.

    The coefficient of the `intercept` comes last. Newton's method with step halving on standardised features; a very
    small ridge penalty keeps coefficients finite where the classes do not overlap.
    """
    share = mass.sum(axis=0) / mass.sum()
    centre = features @ share if intercept else np.zeros(len(features))
    spread = np.sqrt(((features - centre[:, None]) ** 2) @ share)
    scale = np.where(spread > 0.0, spread, 1.0)
    x = (features - centre[:, None]) / scale[:, None]
    if intercept:
        x = np.vstack((x, np.ones(x.shape[1])))
    weight = mass / mass.sum(axis=1, keepdims=True)
    beta = np.zeros((len(mass), len(x)))
    loss = _loss(beta, x, outcomes, weight)
    for _ in range(_STEPS):
        slope, curve = _derivatives(beta, x, outcomes, weight)
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        size = np.ones(len(mass))
        for _ in range(30):
            tried = beta + size[:, None] * step
            new = _loss(tried, x, outcomes, weight)
            worse = new > loss + 1e-14
            if not worse.any():
                break
            size = np.where(worse, size / 2.0, size)
        beta, loss, moved = tried, new, np.abs(size[:, None] * step).max()
        if moved < 1e-9:
            break
    slopes = beta[:, : len(features)] / scale
    if not intercept:
        return np.asarray(slopes)
    return np.column_stack((slopes, beta[:, -1] - slopes @ centre))


def _derivatives(beta: Floats, x: Floats, outcomes: Floats, weight: Floats) -> tuple[Floats, Floats]:
    p = sigmoid(beta @ x)
    slope = np.einsum("bg,fg->bf", weight * (outcomes - p), x) - _RIDGE * beta
    curve = np.einsum("bg,fg,hg->bfh", weight * p * (1.0 - p), x, x, optimize=True) + _RIDGE * np.eye(len(x))
    return slope, curve


def _loss(beta: Floats, x: Floats, outcomes: Floats, weight: Floats) -> Floats:
    z = beta @ x
    # Negative log likelihood; logaddexp does not overflow.
    cost = np.logaddexp(0.0, z) - outcomes * z
    values: Floats = np.einsum("bg,bg->b", weight, cost) + 0.5 * _RIDGE * (beta**2).sum(axis=1)
    return values
