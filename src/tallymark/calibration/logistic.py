"""Logistic regression on a few features of a score, for many resamples at once: what most calibrators are."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats

#: Newton steps; ten are usual.
_STEPS = 60

#: Log odds beyond which nothing changes.
_FAR = 35.0

#: A nudge that keeps classes that do not overlap from giving infinite slopes.
_RIDGE = 1e-9


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + exp(-x)) without overflow."""
    return 1.0 / (1.0 + np.exp(-np.clip(x, -_FAR * 20, _FAR * 20)))


def fit_logistic(features: Floats, wanted: Floats, mass: Floats) -> Floats:
    """Coefficients of features (lines) that make `wanted` shares most likely, one line for each line of masses.

    Newton's method with halved steps; a minute ridge keeps the answer finite where the classes do not overlap.
    """
    scale = np.maximum(np.abs(features).max(axis=1), 1e-300)
    x = features / scale[:, None]
    total = mass.sum(axis=1, keepdims=True)
    weight = mass / total
    beta = np.zeros((len(mass), len(x)))
    loss = _loss(beta, x, wanted, weight)
    eye = _RIDGE * np.eye(len(x))
    for _ in range(_STEPS):
        p = sigmoid(beta @ x)
        slope = np.einsum("bg,fg->bf", weight * (wanted - p), x) - _RIDGE * beta
        curve = np.einsum("bg,fg,hg->bfh", weight * p * (1.0 - p), x, x, optimize=True) + eye
        step = np.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        size = np.ones(len(mass))
        for _ in range(30):
            tried = beta + size[:, None] * step
            new = _loss(tried, x, wanted, weight)
            worse = new > loss + 1e-14
            if not worse.any():
                break
            size = np.where(worse, size / 2.0, size)
        beta, moved = tried, np.abs(size[:, None] * step).max()
        loss = new
        if moved < 1e-9:
            break
    return np.asarray(beta / scale)


def _loss(beta: Floats, x: Floats, wanted: Floats, weight: Floats) -> Floats:
    z = beta @ x
    # -log likelihood, from log(1 + exp) that does not overflow.
    cost = np.logaddexp(0.0, z) - wanted * z
    found: Floats = np.einsum("bg,bg->b", weight, cost) + 0.5 * _RIDGE * (beta**2).sum(axis=1)
    return found
