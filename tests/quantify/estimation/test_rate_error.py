"""The error of an adjusted count from its error rates: by simulation, symmetry, refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm

error = tm.quantify.adjusted_count_error
SIZE = st.integers(1, 10**6)


def test_it_is_the_spread_of_adjusted_counts():
    rng = np.random.default_rng(0)
    p, n, tpr, fpr = 400, 900, 0.8, 0.1
    t, f = rng.binomial(p, tpr, 20_000) / p, rng.binomial(n, fpr, 20_000) / n
    shares = rng.random(20_000)
    counted = shares * tpr + (1 - shares) * fpr
    off = (counted - f) / (t - f) - shares
    cells = tm.Confusion.of_cells(tp=320, fp=90, fn=80, tn=810)
    assert error(cells) == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.03)


@given(SIZE, SIZE, SIZE, SIZE)
def test_naming_the_other_class_positive_or_turning_every_prediction_changes_nothing(tp, fp, fn, tn):
    one = error(tm.Confusion.of_cells(tp=tp, fp=fp, fn=fn, tn=tn))
    assert error(tm.Confusion.of_cells(tp=tn, fp=fn, fn=fp, tn=tp)) == pytest.approx(one, rel=1e-9)
    assert error(tm.Confusion.of_cells(tp=fn, fp=tn, fn=tp, tn=fp)) == pytest.approx(one, rel=1e-9)


def test_no_error_is_known_to_be_none():
    assert 0.0 < error(tm.Confusion.of_cells(tp=5, fp=0, fn=0, tn=5)) < 0.5
    assert error(tm.Confusion.of_cells(tp=1, fp=1, fn=1, tn=1)) == math.inf


@pytest.mark.parametrize("wrong", [3, None, tm.Confusion.of_cells(tp=0, fp=1, fn=0, tn=1)])
def test_what_has_no_error_is_refused(wrong):
    with pytest.raises(tm.InputError):
        error(wrong)
