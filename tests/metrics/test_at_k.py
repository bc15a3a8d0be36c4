"""The top of the list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

import tallymark as tm
from samples import labelled_scores, normal_sample

m = tm.metrics


@given(labelled_scores(), st.integers(1, 6))
def test_precision_at_k_is_the_mean_over_all_orders_of_ties(sample, k):
    y, s = sample
    if k > len(y) or y.min() == y.max():
        return
    rng = np.random.default_rng(0)
    naive = np.mean([y[np.lexsort((rng.random(len(y)), -s))[:k]].mean() for _ in range(2000)])
    assert m.precision_at_k(tm.tally(y, s), k=k) == pytest.approx(naive, abs=0.06)


def test_shares_and_numbers_of_rows_agree():
    y, s = normal_sample(200, 0.2)
    t = tm.tally(y, s)
    assert m.precision_at_k(t) == m.precision_at_k(t, k=20) == m.precision_at_k(t, share=0.1)
    assert m.recall_at_k(t, k=200) == 1.0
    assert m.lift_at_k(t, k=50) == pytest.approx(m.precision_at_k(t, k=50) / t.prevalence)
    top = np.argsort(-s)[:37]
    assert m.precision_at_k(t, k=37) == pytest.approx(y[top].mean())
    assert m.recall_at_k(t, k=37) == pytest.approx(y[top].sum() / y.sum())
    for options, message in (({"k": 0}, "above 0"), ({"k": 201}, "up to 200"), ({"k": 1, "share": 0.1}, "not both")):
        with pytest.raises(tm.InputError, match=message):
            m.precision_at_k(t, **options)


def test_limits_of_lift_are_those_of_recall():
    t = tm.tally(np.r_[np.ones(6), np.zeros(54)], np.r_[np.linspace(0.9, 0.8, 6), np.linspace(0.7, 0.1, 54)])
    ev = tm.evaluate(t, metrics=["lift_at_k", "recall_at_k"])
    assert ev["lift_at_k"].interval == pytest.approx(tuple(10 * end for end in ev["recall_at_k"].interval))


def test_at_another_prevalence_the_list_is_longer():
    t = tm.tally(*normal_sample(2000, 0.5))
    assert m.precision_at_k(t.at_prevalence(0.01)) < m.precision_at_k(t)
    assert m.recall_at_k(t.at_prevalence(0.01)) > m.recall_at_k(t)


@given(labelled_scores())
def test_partial_average_precision_up_to_all_positives_is_average_precision(sample):
    y, s = sample
    if y.min() == y.max():
        return
    whole = m.partial_average_precision(tm.tally(y, s), recall=1.0)
    assert whole == pytest.approx(average_precision_score(y, s))
    halves = [m.partial_average_precision(tm.tally(y, s), recall=r) * r for r in (0.25, 0.5, 0.75, 1.0)]
    assert halves == sorted(halves)
    with pytest.raises(tm.InputError, match="recall is 0"):
        m.partial_average_precision(tm.tally(y, s), recall=0)
