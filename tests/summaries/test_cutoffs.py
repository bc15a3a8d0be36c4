"""Masses at every threshold, against a naive loop."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_scores, with_counts


@given(with_counts(labelled_scores(st.integers(-4, 4).map(float))))
def test_cutoffs_are_a_loop_over_thresholds(sample):
    y, s, counts = sample
    kept = counts > 0
    cut = tm.tally(y, s, counts=counts).cutoffs
    wanted = [np.inf, *sorted(set(s[kept].tolist()), reverse=True)]
    assert cut.thresholds.tolist() == wanted
    for threshold, tp, fp in zip(cut.thresholds, cut.tp, cut.fp, strict=True):
        above = s >= threshold
        assert tp == counts[above & (y == 1)].sum()
        assert fp == counts[above & (y == 0)].sum()


@given(labelled_scores(st.integers(-4, 4).map(float)))
def test_steps_are_the_cutoffs_at_positive_scores(sample):
    y, s = sample
    tally = tm.tally(y, s)
    steps = tally.views.steps()
    assert steps.thresholds.tolist() == sorted(set(s[y == 1].tolist()), reverse=True)
    for threshold, tp, fp in zip(steps.thresholds, steps.tp, steps.fp, strict=True):
        assert (tp, fp) == (np.sum((s >= threshold) & (y == 1)), np.sum((s >= threshold) & (y == 0)))
    together = [block.thresholds for block in tally.views.step_blocks()]
    assert np.concatenate(together).tolist() == steps.thresholds.tolist()


@given(labelled_scores(st.integers(0, 6).map(float)))
def test_outcomes_are_shares_of_positives_by_score(sample):
    y, s = sample
    scores, share, mass = tm.tally(y, s).views.outcomes((1.0, 1.0))
    assert scores.tolist() == sorted(set(s.tolist()))
    for score, own, held in zip(scores, share, mass, strict=True):
        assert held == np.sum(s == score)
        assert own == np.mean(y[s == score])
