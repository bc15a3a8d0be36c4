"""Bins and kernels, against their definitions."""

import numpy as np
import pytest
from scipy.stats import norm

import tallymark as tm
from tallymark.quantify.kernels.densities import Binned, Kernels, adaptive_edges, pooled
from tallymark.quantify.kernels.samples import Validation


def validation(n=400, seed=0, *, probabilities=False):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    s = rng.normal(2.0 * y)
    s = 1 / (1 + np.exp(-s)) if probabilities else s
    t = tm.tally(y, s)
    return Validation.of(t, tm.tally(scores=s), None), y, s


@pytest.mark.parametrize("bins", [2, 5, 20])
def test_bins_hold_about_the_same_share_of_both_classes(bins):
    known, y, s = validation()
    edges = adaptive_edges(known, bins)
    assert len(edges) == bins + 1
    assert (edges[0], edges[-1]) == (-np.inf, np.inf)
    shares = [np.histogram(s[y == c], edges)[0] / np.sum(y == c) for c in (0, 1)]
    assert sum(shares) / 2 == pytest.approx(1 / bins, abs=0.01)


def test_the_number_of_bins_grows_with_the_cube_root_of_the_rows():
    assert [len(adaptive_edges(validation(n)[0])) - 1 for n in (10, 200, 2_000)] == [4, 9, 20]


def test_binned_densities_are_the_shares_of_the_bin():
    edges = np.array([-np.inf, 0.0, 1.0, np.inf])
    up, down = Binned(edges, np.array([[0.2, 0.3, 0.5]]), np.array([[0.6, 0.3, 0.1]])).at(
        np.array([-5.0, 0.0, 0.5, 1.0])
    )
    assert up[0].tolist() == [0.6, 0.3, 0.3, 0.1]
    assert down[0].tolist() == [0.2, 0.3, 0.3, 0.5]


def test_pooled_values_rise_and_keep_their_mean():
    rng = np.random.default_rng(2)
    values, weights = rng.random(30), rng.random(30) + 0.1
    found = pooled(values, weights)
    assert (np.diff(found) >= -1e-12).all()
    assert np.average(found, weights=weights) == pytest.approx(np.average(values, weights=weights))


def test_kernel_densities_are_means_of_normal_curves():
    known, y, s = validation(300)
    at = np.linspace(-2.0, 4.0, 9)
    up, down = Kernels.on_line(known, 0.4).at(at)
    ratio = up[0] / down[0]
    spread = np.std(np.concatenate((s[y == 1], s[y == 0])))
    wanted = [norm.pdf((at[:, None] - s[y == c][None]) / 0.4).mean(axis=1) for c in (1, 0)]
    if not np.allclose(ratio, wanted[0] / wanted[1], rtol=0.05):
        wanted = [norm.pdf((at[:, None] - s[y == c][None]) / (0.4 * spread)).mean(axis=1) for c in (1, 0)]
    assert ratio == pytest.approx(wanted[0] / wanted[1], rel=0.1)
