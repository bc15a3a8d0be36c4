"""Scores at which a mass is reached, against merging the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_scores, normal_sample, with_counts
from tallymark.summaries.bisection import lowest_scores, mass_above


@given(with_counts(labelled_scores(st.integers(-4, 4).map(float))), st.sampled_from([None, 0.2]))
def test_masses_are_those_of_the_cutoffs(sample, prior):
    y, s, counts = sample
    tally = tm.tally(y, s, counts=counts).at_prevalence(prior)
    cut, (down, up) = tally.cutoffs, tally.scale
    total, hits = mass_above(tally, cut.thresholds, "left")
    assert hits.tolist() == (cut.tp * up).tolist()
    assert total.tolist() == (cut.tp * up + cut.fp * down).tolist()
    assert mass_above(tally, cut.thresholds[1:], "right")[0].tolist() == total[:-1].tolist()


@given(labelled_scores(st.one_of(st.integers(-4, 4).map(float), st.floats(-9.0, 9.0))))
def test_halving_finds_what_a_walk_over_the_merged_scores_does(sample):
    y, s = sample
    tally = tm.tally(y, s)
    sizes = np.arange(-1, len(y) + 2)
    found = lowest_scores(tally, lambda scores: mass_above(tally, scores, "left")[0] <= sizes, len(sizes))
    walked = [min((score for score in s if np.sum(s >= score) <= size), default=np.inf) for size in sizes]
    assert found.tolist() == walked


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_top_and_bins_of_equal_mass_are_those_of_the_merged_scores(dtype, weighted):
    y, s = normal_sample(3_000, 0.2, decimals=2 if weighted else None)
    p = (1 / (1 + np.exp(-s))).astype(dtype)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    tally = tm.tally(y, p, weights=weights).at_prevalence(0.4 if weighted else None)
    cut, (down, up) = tally.cutoffs, tally.scale
    called = cut.tp * up + cut.fp * down
    for share in (0.001, 0.1, 0.5, 1.0):
        hits = np.interp(share * tally.n, called, cut.tp * up)
        assert tm.metrics.recall_at_k(tally, share=share) == hits / (tally.prevalence * tally.n)
    middle = 1.0 - (called[:-1] + called[1:]) / 2 / called[-1]
    number = np.minimum((middle * 10 + 1e-9).astype(int), 9)
    mass, hits = (np.diff(side) for side in (called, cut.tp * up))
    gaps = [
        abs(hits[here].sum() - np.sum(mass[here] * cut.thresholds[1:][here].astype(float)))
        for here in (number == b for b in range(10))
    ]
    assert tm.metrics.ace(tally) == pytest.approx(sum(gaps) / called[-1], rel=1e-12)
