"""Sampling at given class shares."""

import itertools

import numpy as np

from tallymark.quantify.protocols import class_counts, draw_samples


def test_counts_are_rounded_down_and_the_largest_class_takes_the_rest():
    shares = np.array([[0.6, 0.4], [1 / 3, 2 / 3], [0.0, 1.0], [0.25, 0.75]])
    assert class_counts(shares, 20).tolist() == [[12, 8], [6, 14], [0, 20], [5, 15]]
    assert class_counts(np.array([[0.29, 0.31, 0.4]]), 10).tolist() == [[2, 3, 5]]


def test_samples_have_their_counts_and_follow_their_generators():
    members = [np.arange(5), np.arange(5, 9), np.array([], dtype=int)]
    shares = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    (first, second), again = (
        draw_samples(members, shares, 8, itertools.repeat(np.random.default_rng(3))) for _ in range(2)
    )
    assert np.bincount(np.searchsorted([5], first, "right"), minlength=2).tolist() == [4, 4]
    assert set(second) <= {5, 6, 7, 8}
    assert [first.tolist(), second.tolist()] == [rows.tolist() for rows in again]
    weights = [np.array([0.0, 0, 1, 0, 0]), np.ones(4), np.array([])]
    members, weights = members[:2], weights[:2]
    heavy = draw_samples(members, shares[:, :2], 8, (np.random.default_rng(place) for place in (1, 2)), weights)
    assert heavy[0][:4].tolist() == [2, 2, 2, 2]
