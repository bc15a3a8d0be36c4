"""Temperature and vector scaling of the probabilities of K classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.registry import require_one_of

_EDGE = 1e-12


def fit_scaling(codes: Ints, probabilities: Floats, kind: str, weights: Floats) -> Callable[[Floats], Floats]:
    r"""Maximum-likelihood map :math:`\mathrm{softmax}(w \cdot \ln p + b)` for (weighted) labels.

    ``bcts`` (bias-corrected temperature scaling) has one w and a bias for each class, ``vs`` (vector scaling) a w and a
    bias for each class, ``ts`` (temperature scaling) one w and no bias. Guo et al. (2017), ICML; Alexandari, Kundaje &
    Shrikumar (2020), ICML.
    """
    from scipy.optimize import minimize

    require_one_of("calibration", kind, ("bcts", "vs", "ts"))
    k = probabilities.shape[1]
    logs = np.log(np.clip(probabilities, _EDGE, None))
    truth = np.eye(k)[codes]
    share = weights / weights.sum()

    def parts(theta: Floats) -> tuple[Floats, Floats]:
        slope = theta[:k] if kind == "vs" else np.full(k, theta[0])
        bias = np.zeros(k) if kind == "ts" else np.append(0.0, theta[-(k - 1) :])
        return slope, bias

    def cost(theta: Floats) -> tuple[float, Floats]:
        slope, bias = parts(theta)
        likely = _log_softmax(slope * logs + bias)
        gap = (np.exp(likely) - truth) * share[:, None]
        by_slope = (gap * logs).sum(axis=0)
        by_bias = gap.sum(axis=0)[1:]
        slopes = by_slope if kind == "vs" else np.array([by_slope.sum()])
        gradient = slopes if kind == "ts" else np.concatenate((slopes, by_bias))
        return -float(np.sum(share * likely[np.arange(len(codes)), codes])), gradient

    start = np.concatenate((np.ones(k if kind == "vs" else 1), np.zeros(0 if kind == "ts" else k - 1)))
    slope, bias = parts(minimize(cost, start, jac=True, method="L-BFGS-B").x)

    def scaled(p: Floats) -> Floats:
        return np.asarray(np.exp(_log_softmax(slope * np.log(np.clip(p, _EDGE, None)) + bias)))

    return scaled


def _log_softmax(z: Floats) -> Floats:
    """Logarithm of the softmax; SciPy's has an overhead that counts in hundreds of calls a fit."""
    below = z - z.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.exp(below).sum(axis=1, keepdims=True)))
