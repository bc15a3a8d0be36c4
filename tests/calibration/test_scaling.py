"""Temperature and vector scaling of K classes against a direct search and their defining gradients."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from tallymark.calibration.scaling import fit_scaling

rng = np.random.default_rng(0)
CODES = rng.integers(0, 3, 500)
LOGITS = rng.normal(size=(500, 3)) + 2.0 * np.eye(3)[CODES]
P = softmax(3.0 * LOGITS, axis=1)
W = rng.random(500) + 0.1


def loss(q):
    return -np.average(np.log(q[np.arange(500), CODES]), weights=W)


def test_temperature_scaling_is_the_best_single_slope():
    best = minimize_scalar(lambda w: loss(softmax(w * np.log(P), axis=1)), bounds=(0.01, 5.0), method="bounded")
    scaled = fit_scaling(CODES, P, "ts", W)(P)
    assert loss(scaled) == pytest.approx(best.fun, abs=1e-6)
    assert scaled == pytest.approx(softmax(best.x * np.log(P), axis=1), abs=1e-3)


@pytest.mark.parametrize("kind", ["bcts", "vs"])
def test_with_a_bias_the_classes_add_up(kind):
    scaled = fit_scaling(CODES, P, kind, W)(P)
    shares = np.array([np.average(c == CODES, weights=W) for c in range(3)])
    assert np.average(scaled, axis=0, weights=W) == pytest.approx(shares, abs=1e-3)
    assert loss(scaled) <= loss(fit_scaling(CODES, P, "ts", W)(P)) + 1e-9
