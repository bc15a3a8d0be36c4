r"""Logistic regression of sparse rows by Newton's method with conjugate gradients.

The model of scikit-learn's ``LogisticRegression(C=C)``: :math:`\frac12\|w\|^2 + C\sum_i m_i \ln(1 + e^{-y_i f_i})` with
a free intercept. A thousand small fits would spend most of their time in the wrapper of a general solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallymark._check import Floats

#: Newton steps at most, conjugate-gradient steps within each, and halvings of a step that does not descend.
_STEPS, _INNER, _HALVINGS = 50, 200, 30

#: The gradient must shrink to this share of its first length.
_TOLERANCE = 1e-6


def fit_logistic(X: Any, positive: Floats, mass: Floats, C: float = 1.0) -> tuple[Floats, float]:
    """Coefficients and intercept for rows with labels 0 or 1 and weights `mass`."""
    transposed = X.T.tocsr()
    sign = 2.0 * positive - 1.0
    mass = C * mass
    w, b = np.zeros(X.shape[1]), 0.0
    margins = np.zeros(X.shape[0])
    value = float(mass.sum() * np.log(2.0))
    first = None
    for _ in range(_STEPS):
        pull = -sign * mass / (1.0 + np.exp(sign * margins))
        gradient, gradient_b = w + transposed @ pull, float(pull.sum())
        length = float(np.sqrt(gradient @ gradient + gradient_b**2))
        first = length if first is None else first
        if length <= _TOLERANCE * first:
            break
        curvature = mass * np.exp(-np.logaddexp(0.0, margins) - np.logaddexp(0.0, -margins))
        step, step_b, moved = _newton_step(X, transposed, curvature, gradient, gradient_b, length, first)
        scale = 1.0
        for _ in range(_HALVINGS):
            trial, trial_margins = w + scale * step, margins + scale * moved
            reached = 0.5 * float(trial @ trial) + float(mass @ np.logaddexp(0.0, -sign * trial_margins))
            if reached <= value:
                break
            scale /= 2.0
        else:
            break
        w, b, margins, value = trial, b + scale * step_b, trial_margins, reached
    return w, b


def _newton_step(
    X: Any, transposed: Any, curvature: Floats, gradient: Floats, gradient_b: float, length: float, first: float
) -> tuple[Floats, float, Floats]:
    """Solve (I + X'DX) s = −g roughly: closer as the gradient shrinks."""
    s, s_b, moved = np.zeros_like(gradient), 0.0, np.zeros(X.shape[0])
    r, r_b = -gradient, -gradient_b
    p, p_b = r.copy(), r_b
    rest = float(r @ r + r_b**2)
    enough = (0.5 * min(0.1, np.sqrt(length / first)) * length) ** 2
    for _ in range(_INNER):
        along = X @ p + p_b
        pulled = curvature * along
        q, q_b = p + transposed @ pulled, float(pulled.sum())
        bend = float(p @ q + p_b * q_b)
        if bend <= 0.0:
            break
        step = rest / bend
        s, s_b, moved = s + step * p, s_b + step * p_b, moved + step * along
        r, r_b = r - step * q, r_b - step * q_b
        now = float(r @ r + r_b**2)
        if now <= enough:
            break
        p, p_b = r + now / rest * p, r_b + now / rest * p_b
        rest = now
    return s, s_b, moved
