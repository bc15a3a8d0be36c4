"""The dual of the cutting planes against a general solver, and the primal against a direct search."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tallymark.learners.cutting_plane import dual_optimum, minimise


@pytest.mark.parametrize("seed", range(4))
def test_the_dual_is_that_of_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    slopes, heights, C = rng.normal(size=(8, 5)), rng.random(8), 2.0
    products = slopes @ slopes.T
    start = np.eye(8)[0] * C
    ours = dual_optimum(products, heights, C, start)

    def negative(alpha):
        return 0.5 * alpha @ products @ alpha - heights @ alpha

    theirs = minimize(
        negative, np.full(8, C / 8), bounds=[(0.0, None)] * 8, tol=1e-12,
        constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - C},
    )  # fmt: skip
    assert (ours >= 0.0).all()
    assert ours.sum() == pytest.approx(C)
    assert negative(ours) <= theirs.fun + 1e-8


def test_the_optimum_of_a_largest_of_planes():
    slopes, heights = np.array([[1.0], [-0.5]]), np.array([1.0, 0.2])

    def oracle(w):
        best = int(np.argmax(heights - slopes @ w))
        return slopes[best], float(heights[best])

    found = minimise(oracle, np.zeros(1), 10.0, 1e-9, 500)
    grid = np.linspace(-3.0, 3.0, 600_001)
    values = 0.5 * grid**2 + 10.0 * np.maximum((heights[:, None] - slopes * grid).max(axis=0), 0.0)
    assert found.converged
    assert found.w[0] == pytest.approx(grid[np.argmin(values)], abs=1e-4)
    assert found.bound <= values.min() + 1e-8
