"""Profile likelihood limits of the adjusted count: a search over a grid, agreement of doors, coverage."""

import numpy as np
import pytest
from scipy.special import xlog1py, xlogy

import tallymark as tm
from tallymark.quantify.estimation.adjusted_count_limits import profile_limits


def by_grid(target, positive, negative, z=1.959964):
    """The same by brute force: the likelihood over a grid of both rates, at every share of a grid."""
    (k, n), (x, p), (y, m) = ((hits + 0.5, rows + 1.0) for hits, rows in (target, positive, negative))
    t, f = np.meshgrid(np.linspace(0.001, 0.999, 500), np.linspace(0.001, 0.999, 500))
    of_rates = xlogy(x, t) + xlog1py(p - x, -t) + xlogy(y, f) + xlog1py(m - y, -f)
    shares = np.linspace(0.0, 1.0, 401)
    best = []
    for share in shares:
        q = share * t + (1 - share) * f
        best.append((of_rates + xlogy(k, q) + xlog1py(n - k, -q)).max())
    best = np.array(best)
    inside = shares[2 * (best.max() - best) <= z**2]
    return inside.min(), inside.max()


@pytest.mark.parametrize(
    "counts",
    [
        ((30, 200), (25, 30), (3, 30)),
        ((2, 50), (18, 20), (1, 40)),
        ((45, 50), (18, 20), (4, 40)),
        ((0, 80), (10, 12), (0, 30)),
        ((80, 80), (12, 12), (2, 30)),
    ],
)
def test_limits_are_those_of_a_search(counts):
    low, high = profile_limits(*counts, 0.95)
    assert (low, high) == pytest.approx(by_grid(*counts), abs=0.004)


def test_rates_that_tell_nothing_leave_everything_open():
    assert profile_limits((30, 100), (10, 20), (10, 20), 0.95) == (0.0, 1.0)
    low, high = profile_limits((1338, 2110), (63, 148), (36, 87), 0.95)
    assert (low, high) == (0.0, 1.0)


def test_estimate_takes_them_by_name():
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(40), np.zeros(60)]
    validation = tm.tally(y, rng.normal(5.0 * y))
    target = tm.tally(scores=rng.normal(5.0 * (rng.random(900) < 0.02)))
    options = {"validation": validation, "target": target, "threshold": 2.5}
    usual, profile = (tm.quantify.estimate("ac", **options, interval=kind) for kind in ("analytic", "profile"))
    assert profile.interval_method == "profile"
    assert profile.value == usual.value
    assert profile.high - profile.low < usual.high - usual.low
    with pytest.raises(tm.InputError, match="maximises no likelihood"):
        tm.quantify.estimate("cc", **options, interval="profile")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.002, 0.02, 0.3])
def test_they_cover(share):
    rng = np.random.default_rng(1)
    repeats, held = 1_000, 0
    for _ in range(repeats):
        counts = (
            (rng.binomial(800, share * 0.8 + (1 - share) * 0.05), 800),
            (rng.binomial(50, 0.8), 50),
            (rng.binomial(80, 0.05), 80),
        )
        low, high = profile_limits(*counts, 0.95)
        held += low <= share <= high
    assert held / repeats > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)
