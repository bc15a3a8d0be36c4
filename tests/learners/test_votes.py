"""Weighted votes: the published table, the theorem, and ties that floats would break."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.learners.votes import class_weights, ranked, vote_ranks, winners

#: Barranquero's table 5.1: the weight of a class by its share, for alpha from 1 to 5.
SHARES = (1, 50, 60, 70, 80, 90, 99)
TABLE = {
    1: (1, 1, 0.67, 0.43, 0.25, 0.11, 0.01),
    2: (1, 1, 0.82, 0.65, 0.50, 0.33, 0.10),
    3: (1, 1, 0.87, 0.75, 0.63, 0.48, 0.22),
    4: (1, 1, 0.90, 0.81, 0.71, 0.58, 0.32),
    5: (1, 1, 0.92, 0.84, 0.76, 0.64, 0.40),
}


@pytest.mark.parametrize(("alpha", "share", "weight"), [
    (alpha, share, weight) for alpha, line in TABLE.items() for share, weight in zip(SHARES, line, strict=True)
])  # fmt: skip
def test_the_published_weights(alpha, share, weight):
    assert class_weights([share, 100 - share], alpha)[0] == pytest.approx(weight, abs=0.005 + 1e-12)


def test_pwk_and_pwk_of_alpha_one_predict_the_same():
    # Theorem 5.1, for all class sizes below 60, every k and every number of votes.
    for few, many in itertools.combinations_with_replacement(range(1, 60, 3), 2):
        for k in (1, 3, 10, 45):
            counts = np.column_stack((np.arange(k + 1), k - np.arange(k + 1)))
            one, other = (winners(vote_ranks([few, many], k, alpha), counts) for alpha in (None, 1))
            assert (one == other).all()


@given(
    st.lists(st.integers(1, 200), min_size=2, max_size=5),
    st.integers(1, 40),
    st.sampled_from([None, 1, 1.5, 2, 3.25, 5, np.inf]),
)
def test_ranks_order_votes_as_exact_arithmetic_does(sizes, k, alpha):
    ranks = vote_ranks(sizes, k, alpha)
    weights = class_weights(sizes, alpha)
    votes = np.arange(k + 1) * weights[:, None]
    apart = votes[:, :, None, None] - votes[None, None]
    order = np.sign(ranks[:, :, None, None] - ranks[None, None])
    # Votes that floats tell apart clearly are told apart the same way; ties are exact.
    clear = np.abs(apart) > 1e-9 * np.maximum(1.0, votes.max())
    assert (order[clear] == np.sign(apart)[clear]).all()
    if alpha == 1:
        exact = [[Fraction(j, rows) for j in range(k + 1)] for rows in sizes]
        same = np.array([[[[a == b for b in other] for other in exact] for a in line] for line in exact])
        assert ((order == 0) == same).all()


def test_floats_would_break_ties():
    # 7 votes of a class of 21 and 14 of one of 42 tie at alpha 1; 1 - N/S is not exact in floats.
    sizes, k = [21, 42], 21
    counts = np.array([[7, 14]])
    assert np.ptp(ranked(vote_ranks(sizes, k, 1), counts)) == 0
    broken = 0
    for few, many in itertools.product(range(1, 60), range(1, 60)):
        weights = class_weights([few, many], None)
        j = np.arange(22)
        floats = j * weights[0] > (21 - j) * weights[1]
        exact = j * many > (21 - j) * few
        broken += int((floats != exact).sum())
    assert broken > 0


def test_equal_votes_are_knn():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(9, [0.3, 0.3, 0.4], 200)
    predicted = winners(vote_ranks([5, 50, 500], 9, np.inf), counts)
    assert (counts[np.arange(200), predicted] == counts.max(axis=1)).all()


@pytest.mark.parametrize("alpha", [0.5, 0, -1, "two", True, np.nan])
def test_alphas_below_one_are_refused(alpha):
    with pytest.raises(tm.InputError, match="alpha is"):
        class_weights([3, 4], alpha)
