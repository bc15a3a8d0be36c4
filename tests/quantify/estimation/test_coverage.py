import math
from statistics import NormalDist

import pytest
from bench.quantify_coverage import coverages

pytestmark = pytest.mark.slow


def _error(rows, share):
    """Standard error of the adjusted count with 100 rows of each class, from its closed form."""
    tpr, fpr = NormalDist().cdf(1.5), NormalDist().cdf(-1.5)
    called = share * tpr + (1 - share) * fpr
    spread = called * (1 - called) / rows + (share**2 * tpr * (1 - tpr) + (1 - share) ** 2 * fpr * (1 - fpr)) / 100
    return math.sqrt(spread) / (tpr - fpr)


@pytest.mark.parametrize(("rows", "share"), [(500, 0.2), (500, 0.02), (5_000, 0.02)])
def test_intervals_hold_the_truth_and_the_target_alone_does_not(rows, share):
    found = coverages(("ac", "pacc", "em", "ms"), rows, share, 120, naive=True)
    for name in ("ac", "pacc", "em", "ms"):
        # Three standard errors of 120 simulated samples beyond 93 to 97 %.
        assert found[name] >= 0.93 - 0.07, name
        # Not by being wide: about four standard errors of the adjusted count at the best threshold.
        assert found[name, "width"] <= 2.0 * 4.0 * _error(rows, share), name
    assert found["ac", "target alone"] < 0.87
