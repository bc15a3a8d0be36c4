"""The upper convex hull of ROC curves against SciPy's."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tallymark.metrics.hull import upper_hull, upper_hulls


def curve(seed, n=60):
    rng = np.random.default_rng(seed)
    return np.concatenate(([0.0], np.sort(rng.random(n)), [1.0])), np.concatenate(
        ([0.0], np.sort(rng.random(n)), [1.0])
    )


@pytest.mark.parametrize("seed", range(5))
def test_corners_are_those_of_scipy(seed):
    x, y = curve(seed)
    # With (1, 0) the hull of the points is the upper hull and the two sides.
    corners = set(ConvexHull(np.column_stack((np.append(x, 1.0), np.append(y, 0.0)))).vertices) - {len(x)}
    assert upper_hull(x, y).tolist() == sorted(corners)


def test_several_curves_are_each_by_itself():
    curves = [curve(seed) for seed in range(4)]
    x, y = (np.concatenate(side) for side in zip(*curves, strict=True))
    number = np.repeat(np.arange(4), [len(one) for one, _ in curves])
    starts = np.cumsum([0, *(len(one) for one, _ in curves)])
    alone = [upper_hull(*one) + start for one, start in zip(curves, starts, strict=False)]
    assert upper_hulls(x, y, number).tolist() == np.concatenate(alone).tolist()


def test_points_on_a_line_or_on_one_another_are_no_corners():
    x = np.array([0.0, 0.0, 0.25, 0.5, 0.5, 1.0])
    y = np.array([0.0, 0.5, 0.625, 0.75, 0.75, 1.0])
    assert upper_hull(x, y).tolist() == [0, 1, 5]
