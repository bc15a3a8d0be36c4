"""Limits with a pseudo-observation: known limits where these are special cases."""

import numpy as np
import pytest
from scipy.stats import beta

from tallymark.inference.limits.pseudo_observation import Bounded, ClassPart, beta_limits, lower_limit, shared_out

TAIL = np.array(0.025)


@pytest.mark.parametrize(("hits", "n"), [(1, 5), (3, 10), (10, 10), (17, 400)])
def test_a_proportion_with_a_whole_row_has_clopper_and_pearsons_limits(hits, n):
    share = hits / n
    part = ClassPart(share * (1 - share) / n, n, worst=-share, best=1 - share)
    low, high = beta_limits(share, [part], [1.0], TAIL)
    assert low == pytest.approx(beta.ppf(0.025, hits, n - hits + 1))
    assert high == pytest.approx(1.0 if hits == n else beta.ppf(0.975, hits + 1, n - hits))


def test_limits_widen_with_the_weight_the_level_and_fewer_rows():
    def width(weight=0.5, level=0.95, rows=(50, 20)):
        bounded = Bounded(0.0, 1.0, (-0.8, 0.2), (-0.8, 0.2), weight)
        low, high = bounded.limits(0.8, [0.1 / n for n in rows], rows, level, np.inf)
        return float(high - low)

    assert width() < width(weight=1.0)
    assert width() < width(level=0.99)
    assert width() < width(rows=(25, 10))


def test_the_weight_is_divided_by_the_inverse_of_the_rows():
    assert shared_out(0.6, [10, 20]) == pytest.approx([0.4, 0.2])


def test_an_estimate_of_0_has_the_limit_0():
    assert lower_limit(0.0, [ClassPart(0.0, 10, 0.0, 1.0)], [1.0], TAIL) == 0.0
