"""Ranks, cut-offs and moments of a tally against plain loops."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import tallymark as tm
from samples import labelled_scores
from tallymark.summaries.tally import extremes


def pairs_won(y, s, mass):
    """Mass of pairs that the positive wins, ties one half, pair by pair."""
    return sum(
        float(mass[i] * mass[j]) * ((s[i] > s[j]) + (s[i] == s[j]) / 2)
        for i in np.flatnonzero(y)
        for j in np.flatnonzero(~np.asarray(y, bool))
    )


@given(labelled_scores())
def test_wins_are_those_of_all_pairs(data):
    y, s = (np.asarray(column) for column in data)
    counts = np.arange(len(y)) % 3 + 1
    assert tm.tally(y, s).views.wins == pytest.approx(pairs_won(y, s, np.ones(len(y))))
    assert tm.tally(y, s, counts=counts).views.wins == pytest.approx(pairs_won(y, s, counts))


@given(labelled_scores())
def test_untied_means_that_no_score_occurs_twice(data):
    y, s = (np.asarray(column) for column in data)
    assert tm.tally(y, s).views.untied == (len(np.unique(s)) == len(s))


def test_the_truth_lies_between_the_extremes():
    rng = np.random.default_rng(0)
    y = rng.random(3_000) < 0.3
    tally = tm.tally(y, rng.normal(y * 1.0) * 1e-5 + 1.0)
    worst, best = (tm.metrics.auroc(one) for one in reversed(extremes(tally.quantise())))
    assert worst < tm.metrics.auroc(tally) < best


def test_a_difference_of_means_far_from_0_keeps_its_digits():
    s = np.array([1e9 + 1e-3, 1e9 + 2e-3, 1e9 + 4e-3, 1e9 + 3e-3])
    mean = [sum(map(Fraction, s[rows])) / 2 for rows in ([0, 1], [2, 3])]
    assert tm.tally([0, 0, 1, 1], s).views.scaled_gap == pytest.approx(float(mean[1] - mean[0]), rel=1e-12)


def test_views_are_shared_at_another_prevalence_and_outcomes_follow_it():
    tally = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    other = tally.at_prevalence(0.2)
    assert other.views is tally.views
    assert tally.views.outcomes(tally.scale).share.tolist() == [0.0, 0.5, 1.0]
    assert other.views.outcomes(other.scale).share.tolist() == pytest.approx([0.0, 0.2, 1.0])


def test_without_labels_there_are_no_ranks():
    with pytest.raises(tm.InputError, match="has no labels"):
        tm.tally(scores=[0.1, 0.2]).views.wins
