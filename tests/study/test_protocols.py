"""Protocols: sizes, prevalences, seeds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.study.protocols import largest_sample

TWO = np.repeat([0, 1], [137, 63])
THREE = np.repeat(["a", "b", "c"], [40, 50, 30])


def test_folds_are_stratified_and_every_row_is_tested_once():
    made = tm.study.protocol(TWO)
    tested = np.concatenate([split.test for split in made])
    assert sorted(tested) == list(range(200))
    for split in made:
        assert not set(split.test) & set(split.train)
        assert TWO[split.test].sum() in (6, 7)


def test_the_thesiss_samples():
    made = tm.study.protocol(TWO)
    for split in made:
        y = TWO[split.test]
        assert split.nominal == pytest.approx(np.linspace(0, 1, 11))
        for share, rows, drawn in zip(split.nominal, split.index, split.drawn, strict=True):
            assert len(set(rows)) == len(rows)
            assert drawn[1] == pytest.approx(y[rows].mean())
            if 0 < share < 1:
                assert 0 < drawn[1] < 1
        # Without positives every negative is used, and the other way round.
        assert len(split.index[0]) == (y == 0).sum()
        assert len(split.index[-1]) == (y == 1).sum()


@given(st.floats(0.01, 0.99), st.integers(1, 50), st.integers(1, 50))
def test_samples_are_as_large_as_they_can_be(share, positives, negatives):
    hits, others = largest_sample(share, positives, negatives)
    assert 1 <= hits <= positives
    assert 1 <= others <= negatives
    # One class is used up, or one row of the other would spoil the prevalence.
    assert (
        hits == positives
        or others == negatives
        or min(positives / share, negatives / (1 - share)) - (hits + others) < 2
    )


@pytest.mark.parametrize("kind", ["app", "npp", "given"])
def test_the_literatures_samples(kind):
    options = {"prevalences": [0.1, 0.5]} if kind == "given" else {}
    split = tm.study.protocol(TWO, kind, folds=2, samples=42, size=50, **options).split(0)
    assert [len(rows) for rows in split.index] == [50] * 42
    if kind == "npp":
        assert split.drawn[:, 1].mean() == pytest.approx(TWO.mean(), abs=0.05)
        assert np.ptp(split.drawn[:, 1]) > 0.05
    else:
        assert split.drawn[:, 1] == pytest.approx(split.nominal, abs=0.02 + 1e-9)
    if kind == "given":
        assert set(split.nominal) == {0.1, 0.5}


def test_the_simplex_is_covered_evenly():
    split = tm.study.protocol(THREE, "simplex", folds=2, samples=400, size=60).split(1)
    assert split.nominal.shape == split.drawn.shape == (400, 3)
    assert split.nominal.mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.03)
    # Of a uniform distribution over the simplex each share is Beta(1, 2).
    assert (split.nominal[:, 0] > 0.5).mean() == pytest.approx(0.25, abs=0.05)
    assert np.abs(split.nominal - split.drawn).max() <= 3 / 60


def test_a_fold_is_the_same_whatever_was_asked_before():
    one, other = tm.study.protocol(TWO, seed=3), tm.study.protocol(TWO, seed=3)
    list(other)
    first, second = one.split(7), other.split(7)
    assert all((a == b).all() for a, b in zip(first.index, second.index, strict=True))
    assert (first.test != tm.study.protocol(TWO, seed=4).split(7).test).any()


def test_it_meets_estimate_many():
    rng = np.random.default_rng(0)
    scores = 1 / (1 + np.exp(-rng.normal(2.0 * TWO - 1.0)))
    split = tm.study.protocol(TWO, folds=2).split(0)
    tally = tm.tally(TWO[split.train], scores[split.train])
    together = tm.quantify.estimate_many("ac", tally, scores[split.test], list(split.index), threshold=0.5)
    for rows, share in zip(split.index, together, strict=True):
        alone = tm.quantify.estimate("ac", tally, tm.tally(scores=scores[split.test][rows]), threshold=0.5, level=None)
        assert share == pytest.approx(alone.prevalence, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "fold"}, "Did you mean 'folds'"),
        ({"folds": 1}, "folds is 1"),
        ({"folds": 64}, "smallest class has 63"),
        ({"samples": 5}, "samples goes with"),
        ({"kind": "npp", "prevalences": 3}, "leave prevalences"),
        ({"kind": "given"}, "needs prevalences"),
        ({"kind": "given", "prevalences": [2.0]}, "add up to 1"),
        ({"labels": np.zeros(9)}, "one class only"),
        ({"labels": THREE}, "two classes"),
    ],
)
def test_wrong_things_are_named(options, told):
    with pytest.raises(tm.InputError, match=told):
        tm.study.protocol(options.pop("labels", TWO), **options)
