"""Coefficients of agreement: known answers, a naive loop, invariance, limits, and every form of input."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallymark as tm

#: Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four raters, twelve items, gaps.
_ = None
GAPS = {
    "a": [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    "b": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    "c": [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    "d": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
}
#: Fourteen raters, ten items, five classes.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def values(result):
    return {name: one.value for name, one in result.items()}


def test_the_textbook_table_of_two_raters():
    kappa = tm.raters.agreement([[20, 5], [10, 15]])["cohen_kappa"]
    assert kappa.value == pytest.approx(0.4)
    assert kappa.standard_error == pytest.approx(0.126996, abs=5e-7)


@pytest.mark.parametrize(
    ("weights", "alpha", "conger", "fleiss", "ac", "bp"),
    [
        ("nominal", 0.743421, 0.76207, 0.76117, 0.77544, 0.77273),
        # α as the package krippendorff has it, the others as irrCAC.
        ("ordinal", 0.815388, 0.84308, 0.85021, 0.89894, 0.88636),
        ("quadratic", 0.849107, 0.85717, 0.86494, 0.91400, 0.90152),
        ("interval", 0.849107, 0.85717, 0.86494, 0.91400, 0.90152),
    ],
)
def test_ratings_with_gaps_as_other_programs_have_them(weights, alpha, conger, fleiss, ac, bp):
    result = tm.raters.agreement(GAPS, weights=weights)
    assert result["krippendorff_alpha"].value == pytest.approx(alpha, abs=1e-6)
    others = [result[name].value for name in ("cohen_kappa", "fleiss_kappa", "gwet_ac", "brennan_prediger")]
    assert others == pytest.approx([conger, fleiss, ac, bp], abs=6e-6)


def test_ratio_alpha():
    assert tm.raters.agreement(GAPS, weights="ratio")["krippendorff_alpha"].value == pytest.approx(0.797403, abs=1e-6)


def test_counts_of_items_by_classes():
    result = tm.raters.agreement(FLEISS)
    assert result["fleiss_kappa"].value == pytest.approx(0.209931, abs=1e-6)
    assert math.isnan(result["cohen_kappa"].value)
    assert "who gave which rating" in result["cohen_kappa"].reason
    assert result.pairs == ()


def naive(columns, distance):
    """Pairs of ratings one by one: observed agreement, Conger's kappa, Fleiss's kappa, Krippendorff's alpha."""
    raters = list(columns)
    if len(raters) == 2:
        # Items that one of two raters rated alone are left out.
        both = [i for i, row in enumerate(zip(*columns.values(), strict=True)) if None not in row]
        columns = {name: [column[i] for i in both] for name, column in columns.items()}
    classes = sorted({x for column in columns.values() for x in column if x is not None})
    items = [[x for x in row if x is not None] for row in zip(*columns.values(), strict=True)]
    rated = [row for row in items if row]
    paired = [row for row in items if len(row) > 1]
    observed = np.mean([np.mean([1 - distance(x, y) for x, y in itertools.permutations(row, 2)]) for row in paired])
    share = {k: np.mean([row.count(k) / len(row) for row in rated]) for k in classes}
    fleiss = sum(share[k] * share[j] * (1 - distance(k, j)) for k in classes for j in classes)
    own = {}
    for rater in raters:
        given_ = [x for x in columns[rater] if x is not None]
        own[rater] = {k: given_.count(k) / len(given_) for k in classes}
    conger = np.mean(
        [
            sum(own[a][k] * own[b][j] * (1 - distance(k, j)) for k in classes for j in classes)
            for a, b in itertools.permutations(raters, 2)
        ]
    )
    pool = [x for row in paired for x in row]
    apart = sum(distance(x, y) / (len(row) - 1) for row in paired for x, y in itertools.permutations(row, 2)) / len(
        pool
    )
    expected = np.mean([distance(x, y) for x, y in itertools.permutations(pool, 2)])
    return {
        "observed": observed,
        "cohen_kappa": (observed - conger) / (1 - conger),
        "fleiss_kappa": (observed - fleiss) / (1 - fleiss),
        "krippendorff_alpha": 1 - apart / expected,
    }


def drawn(seed, n=30, raters=3, classes=4, missing=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    table = np.where(rng.random((raters, n)) < 0.7, truth, rng.integers(classes, size=(raters, n)))
    gone = rng.random((raters, n)) < missing
    return {f"r{i}": [None if g else int(x) for x, g in zip(table[i], gone[i], strict=True)] for i in range(raters)}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weights", ["nominal", "linear", "quadratic"])
def test_a_loop_over_pairs_says_the_same(seed, weights):
    columns = drawn(seed, raters=2 + seed % 3)
    apart = {"nominal": lambda d: d != 0, "linear": lambda d: abs(d) / 3, "quadratic": lambda d: d**2 / 9}[weights]
    expected = naive(columns, lambda x, y: float(apart(x - y)))
    result = tm.raters.agreement(columns, weights=weights)
    for name, value in expected.items():
        assert result[name].value == pytest.approx(value, abs=1e-12), name


def test_the_standard_error_is_the_derivative():
    """Influence against a numerical derivative by one item's weight."""
    from tallymark.raters.coefficients import Agreements
    from tallymark.raters.ratings import read_ratings
    from tallymark.raters.weights import agreement_weights

    patterns = read_ratings(drawn(3), None, None, None, None).patterns
    for weights in ("nominal", "ordinal"):
        matrix, ranked = agreement_weights(weights, patterns.classes, ordered=False), weights == "ordinal"
        # Many items, so that α's correction for small samples has no part in the derivative.
        mass = patterns.mass * 1e5
        exact = Agreements(patterns, matrix, mass[None, :], ranked=ranked).coefficients()
        moved = Agreements(patterns, matrix, mass + np.eye(len(mass)), ranked=ranked).coefficients()
        for name, one in exact.items():
            assert moved[name].values - one.values == pytest.approx(one.influence, rel=1e-3, abs=1e-10), name


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.3]))
def test_names_and_order_do_not_matter(seed, missing):
    columns = drawn(seed, n=15, missing=missing)
    base = values(tm.raters.agreement(columns))
    rng = np.random.default_rng(seed)
    words = dict(zip(range(4), rng.permutation(["w", "x", "y", "z"]).tolist(), strict=True)) | {None: None}
    order = rng.permutation(15)
    changed = {name: [words[columns[name][i]] for i in order] for name in reversed(columns)}
    assert values(tm.raters.agreement(changed)) == pytest.approx(base, abs=1e-12, nan_ok=True)
    twice = values(tm.raters.agreement({name: column * 2 for name, column in columns.items()}))
    del twice["krippendorff_alpha"], base["krippendorff_alpha"]
    assert twice == pytest.approx(base, abs=1e-12, nan_ok=True)


def test_wide_long_file_and_matrix_are_the_same(tmp_path):
    wide = pd.DataFrame({"id": list("pqrstu"), "ann": list("ynnynn"), "bob": list("ynyynn")})
    long = wide.melt("id", var_name="who", value_name="verdict")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    results = [
        tm.raters.agreement(wide, rater=["ann", "bob"], item="id"),
        tm.raters.agreement(long, rater="who", item="id", rating="verdict"),
        tm.raters.agreement(tmp_path / "wide.csv", rater=["ann", "bob"], item="id"),
        tm.raters.agreement(tm.confusion(wide["ann"].to_list(), wide["bob"].to_list(), pos_label="y")),
    ]
    for one in results[1:]:
        assert values(one) == pytest.approx(values(results[0]))
    assert [one.disagreements for one in results[:3]] == [[{"item": "r", "ann": "n", "bob": "y"}]] * 3


def test_kappa_is_that_of_evaluate():
    matrix = tm.confusion(np.repeat([0, 0, 1, 1], [40, 4, 3, 13]), np.repeat([0, 1, 0, 1], [40, 4, 3, 13]))
    kappa = tm.evaluate(matrix, metrics=["kappa"])["kappa"].value
    assert tm.raters.agreement(matrix)["cohen_kappa"].value == pytest.approx(kappa)


def test_complete_agreement_has_limits_of_some_width():
    for ratings in ([[12, 0], [0, 18]], {"a": ["x"] * 30, "b": ["x"] * 30}):
        result = tm.raters.agreement(ratings)
        assert result["observed"].value == result["observed"].high == 1.0
        assert 0.8 < result["observed"].low < 0.96
    assert result["cohen_kappa"].reason == "all ratings are of one class, so that chance alone would agree on all"


def test_specific_agreement_of_two_classes():
    result = tm.raters.agreement([[40, 9], [6, 45]])
    assert result.specific[0].value == pytest.approx(80 / (80 + 15))
    assert result.specific[1].value == pytest.approx(90 / (90 + 15))


def test_who_differs_and_the_matrix():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    wide = {
        name: np.where(rng.random(300) < right, truth, 1 - truth)
        for name, right in zip("abcd", [0.95, 0.95, 0.95, 0.6], strict=True)
    }
    result = tm.raters.agreement(wide)
    assert [one.rater for one in result.raters if one.differs] == ["d"]
    matrix = result.matrix()
    assert np.allclose(matrix, matrix.T)
    pair = tm.raters.agreement({name: wide[name] for name in "ad"})
    assert matrix[0, 3] == pytest.approx(pair["cohen_kappa"].value)


def test_clusters_that_repeat_one_item_have_the_limits_of_the_items():
    items = drawn(1, n=40, missing=0.0)
    copies = {name: np.repeat(column, 10) for name, column in items.items()} | {"talk": np.repeat(np.arange(40), 10)}
    alone = tm.raters.agreement(items)["fleiss_kappa"]
    together = tm.raters.agreement(copies, rater=list(items), cluster="talk")["fleiss_kappa"]
    assert together.value == pytest.approx(alone.value)
    assert together.interval == pytest.approx(alone.interval, abs=0.03)
    assert together.standard_error == pytest.approx(alone.standard_error * math.sqrt(40 / 39))


def test_a_rare_class_that_lowers_kappa_is_explained():
    with pytest.warns(tm.GuardWarning, match="TM127.*chance alone would agree"):
        result = tm.raters.agreement([[185, 6], [7, 2]])
    assert [note.code for note in result.warnings] == ["TM127"]
    assert tm.raters.agreement([[90, 10], [10, 90]]).warnings == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tm.raters.agreement({"a": [1, 0, 1]}), "two raters or more"),
        (lambda: tm.raters.agreement({"a": [1, 0, "x"], "b": [1, 1, 0]}), "mix"),
        (lambda: tm.raters.agreement({"a": [1, None], "b": [None, 1]}), "No item has two ratings"),
        (lambda: tm.raters.agreement({"a": list("xy"), "b": list("xx")}, weights="ordinal"), "order of the classes"),
        (lambda: tm.raters.agreement({"a": list("xy"), "b": list("xx")}, weights="ratio"), "numbers of 0 or more"),
        (lambda: tm.raters.agreement([[1, 2], [3, 4]], weights=[[1, 2], [2, 1]]), "at most 1"),
        (lambda: tm.raters.agreement([[1, 2], [3, 4]], weights="cubic"), "cubic"),
        (lambda: tm.raters.agreement([[1, 2], [3, 4]], rater=["a", "b"]), "no columns to name"),
        (lambda: tm.raters.agreement([[0.5, 2], [3, 4]]), "whole numbers"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(tm.InputError, match=message):
        call()


def test_a_rater_who_rated_an_item_twice_is_refused():
    long = pd.DataFrame({"who": ["a", "a", "b"], "id": [1, 1, 1], "v": [0, 1, 1]})
    with pytest.raises(tm.InputError, match="more than once"):
        tm.raters.agreement(long, rater="who", item="id", rating="v")


def test_an_ordered_categorical_states_the_order():
    kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    words = pd.DataFrame(
        {"a": ["low", "mid", "high", "mid", "low"], "b": ["low", "high", "high", "mid", "mid"]}, dtype=kind
    )
    grades = {"a": [0, 1, 2, 1, 0], "b": [0, 2, 2, 1, 1]}
    by_words, by_grades = (tm.raters.agreement(one, weights="quadratic") for one in (words, grades))
    assert values(by_words) == pytest.approx(values(by_grades))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rare", "raters"), [(20, 0.3, 2), (50, 0.05, 3), (100, 0.03, 2)])
def test_limits_cover(n, rare, raters):
    rng = np.random.default_rng([n, raters])

    def sample(size):
        truth = rng.random(size) < rare
        return {f"r{i}": np.where(rng.random(size) < np.where(truth, 0.85, 0.98), truth, ~truth) for i in range(raters)}

    true = values(tm.raters.agreement(sample(400_000)))
    hits, seen = dict.fromkeys(true, 0), dict.fromkeys(true, 0)
    for _ in range(300):
        for name, one in tm.raters.agreement(sample(n)).items():
            if one.interval is not None:
                seen[name] += 1
                hits[name] += one.low <= true[name] <= one.high
    assert min(hits[name] / seen[name] for name in true) >= 0.91  # 93 % less 1.5 standard errors


def test_a_rater_who_never_differs_has_a_kappa_of_exactly_0():
    assert tm.raters.agreement([[0, 0], [7, 43]])["cohen_kappa"].value == 0.0


def test_values_are_compared_without_a_common_label():
    first, second = np.array([1.0, 2, 3, 4]), np.array([1.5, 2.5, 2.75, 4.5])
    gaps = np.subtract.outer(first, second) ** 2
    kappa = tm.raters.agreement({"a": first, "b": second}, weights="interval")["cohen_kappa"].value
    assert kappa == pytest.approx(1 - np.diag(gaps).mean() / gaps.mean())
    with pytest.raises(tm.InputError, match="same labels"):
        tm.raters.agreement({"a": first, "b": second})
