"""Sets of models that cannot be told apart."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.comparison.letters import alike


@given(st.integers(1, 7), st.randoms(use_true_random=False))
def test_the_sets_are_all_largest_ones(count, rng):
    names = [f"m{i}" for i in range(count)]
    shown = {frozenset(pair) for pair in itertools.combinations(names, 2) if rng.random() < 0.5}
    apart = lambda a, b: frozenset((a, b)) in shown
    found = {frozenset(one) for one in alike(names, apart)}
    together = [
        frozenset(part) for size in range(1, count + 1) for part in itertools.combinations(names, size)
        if not any(apart(a, b) for a, b in itertools.combinations(part, 2))
    ]  # fmt: skip
    assert found == {one for one in together if not any(one < other for other in together)}


@given(st.integers(0, 10_000))
def test_models_share_a_letter_exactly_where_no_difference_is_shown(seed):
    rng = np.random.default_rng(seed)
    y = rng.random(200) < 0.4
    panel = tm.panel(y, {name: rng.normal(y * gap) for name, gap in zip("abcd", rng.uniform(0, 2, 4), strict=True)})
    found = tm.compare(panel)
    for one, other in itertools.combinations(found.letters, 2):
        shared = bool(set(found.letters[one]) & set(found.letters[other]))
        assert shared != found.told_apart(one, other)
    if found.best is not None:
        assert all(pair.p_holm < 0.05 for pair in found.pairs if found.best in {pair.first, pair.second})
        assert found.values[found.best] == max(found.values.values())


def test_the_best_of_a_loss_is_the_lowest():
    rng = np.random.default_rng(2)
    y = rng.random(800) < 0.4
    good = np.clip(np.where(y, 0.8, 0.2) + rng.normal(0, 0.1, 800), 0, 1)
    found = tm.compare(tm.panel(y, {"bad": rng.random(800), "good": good}), metric="brier")
    assert found.best == "good"
    assert found.ranked == ("good", "bad")


def test_the_same_scores_are_never_told_apart():
    rng = np.random.default_rng(1)
    y, s = rng.random(300) < 0.4, rng.random(300)
    found = tm.compare(tm.panel(y, {"a": s, "b": s}))
    assert found.best is None
    assert found.alike == (("a", "b"),)
