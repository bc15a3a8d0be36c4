"""Nominal 95 % is 95 %: a short version of `make coverage`. Limits allow for the noise of the simulations."""

import numpy as np
import pytest
from bench.coverage import METRICS_SHOWN, coverage, size

_REPEATS = 400


@pytest.mark.parametrize("name", METRICS_SHOWN)
@pytest.mark.parametrize("prevalence", [0.5, 0.05])
def test_default_intervals_hold_the_truth(name, prevalence):
    # 93 to 97 % is the claim; three standard errors of 400 simulations are 3.3 points.
    assert 0.907 <= coverage(name, 50, prevalence, _REPEATS) <= 0.983


@pytest.mark.parametrize("name", ["auroc", "average_precision", "f1"])
def test_they_do_so_with_twenty_rare_positives(name):
    assert 0.897 <= coverage(name, 20, 0.002, 250) <= 0.99


@pytest.mark.parametrize("name", ["auroc", "average_precision", "balanced_accuracy"])
def test_they_do_so_with_weights(name):
    """Weights that have nothing to do with the score: the same truth, fewer effective rows."""
    found = coverage(name, 60, 0.2, _REPEATS, weights=lambda rng, x: rng.gamma(1.0, 1.0, len(x)) + 0.1)
    assert 0.9 <= found <= 0.985


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "auroc"},
        {"metric": "average_precision"},
        {"metric": "accuracy", "threshold": 0.75},
        {"metric": "f1", "threshold": 0.75, "replicates": 200},
    ],
)
def test_paired_tests_keep_their_size(options):
    repeats = 200 if "replicates" in options else 800
    found = size(repeats, 60, 240, **options)
    # 4 to 6 % is the claim; three standard errors more on either side.
    noise = 3 * np.sqrt(0.05 * 0.95 / repeats)
    assert 0.04 - noise <= found <= 0.06 + noise
