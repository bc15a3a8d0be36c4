"""Tests of many methods on many data sets, against SciPy, published examples and enumeration."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from tallymark.inference.hypothesis_tests import corrections, ranks
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.hypothesis_tests.signed_ranks import signed_rank_posterior

#: Demšar (2006), table 6: AUC of C4.5, with m, with cf, with both, on 14 data sets.
DEMSAR = np.array([[float(x) for x in line.split()] for line in [".763 .768 .771 .798", ".599 .591 .590 .569", ".954 .971 .968 .967", ".628 .661 .654 .657", ".882 .888 .886 .898", ".936 .931 .916 .931", ".661 .668 .609 .685", ".583 .583 .563 .625", ".775 .838 .866 .875", "1 1 1 1", ".940 .962 .965 .962", ".619 .666 .614 .669", ".972 .981 .975 .975", ".957 .978 .946 .970"]])  # fmt: skip
#: The ranks he publishes: two of his numbers print alike and rank apart.
PUBLISHED = [3.143, 2.000, 2.893, 1.964]


def tables(least=3, most=5):
    return st.integers(least, most).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=3, max_size=8)
    )


def test_demsars_example():
    nudged = DEMSAR.copy()
    nudged[12, 2] += 1e-4
    found = tm.study.friedman(nudged, better="higher", ties=False)
    assert list(found.mean_ranks.values()) == pytest.approx(PUBLISHED, abs=6e-4)
    assert found.statistic == pytest.approx(9.28, abs=0.005)
    assert tm.study.iman_davenport(nudged, better="higher", ties=False).statistic == pytest.approx(3.69, abs=0.005)
    assert tm.study.critical_difference(4, 14, level=0.9) == pytest.approx(1.1180602)
    assert tm.study.critical_difference(4, 14) == pytest.approx(1.2535591)
    assert tm.study.critical_difference(4, 14, control=True) == pytest.approx(1.1681425)
    wilcoxon = tm.study.wilcoxon(DEMSAR[:, :2], better="higher", exact=False)
    assert (wilcoxon.statistic, wilcoxon.p_value) == pytest.approx((12.0, 0.01097), abs=1e-5)
    z = tm.study.holm(nudged, "1", better="higher").pairs
    assert [pair["p"] for pair in z] == pytest.approx([0.0191725, 0.6084078, 0.0157200], abs=1e-6)


def test_demsars_printed_digits_in_nemenyis_test():
    wanted = [0.0887, 0.9717, 0.0617, 0.2267, 0.9989, 0.1701]
    assert tm.study.nemenyi(DEMSAR, better="higher").p_values == pytest.approx(wanted, abs=5e-5)


@pytest.mark.parametrize(("k", "n", "wanted"), [(10, 24, 2.7650828), (10, 22, 2.8880348)])
def test_critical_differences_of_the_thesis(k, n, wanted):
    assert tm.study.critical_difference(k, n) == pytest.approx(wanted, abs=1e-6)


#: Demšar's table 5; its 2.724 at k = 9 is a misprint of 2.734.
NEMENYI = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
BONFERRONI = [1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.734, 2.773]


def test_critical_values_are_the_printed_ones():
    assert [ranks.critical_value(k, 0.05) for k in range(2, 11)] == pytest.approx(NEMENYI, abs=1.1e-3)
    assert [ranks.critical_value(k, 0.05, control=True) for k in range(2, 11)] == pytest.approx(BONFERRONI, abs=1e-3)


@given(tables())
def test_friedman_is_scipys(table):
    values = np.array(table, dtype=float)
    found = tm.study.friedman(values, exact=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        peer = stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(peer.statistic, abs=1e-9, nan_ok=True)
    assert found.p_value == pytest.approx(peer.pvalue, abs=1e-12, nan_ok=True)


def test_the_exact_distribution_is_enumerated():
    # k = 3, N = 4: the chance of each value of the statistic or more.
    wanted = {
        8.0: 0.00463,
        6.5: 0.041667,
        6.0: 0.069444,
        4.5: 0.125,
        3.5: 0.273148,
        2.0: 0.430556,
        1.5: 0.652778,
        0.5: 0.930556,
    }
    seen = {}
    for rest in itertools.product(itertools.permutations([1.0, 2.0, 3.0]), repeat=3):
        table = np.array([[1.0, 2.0, 3.0], *rest])
        found = tm.study.friedman(table, ties=False)
        seen[round(found.statistic, 6)] = found.p_value
    for statistic, p in wanted.items():
        assert seen[statistic] == pytest.approx(p, abs=1e-6)


def test_the_exact_test_keeps_its_size_with_ties():
    rng = np.random.default_rng(0)
    rejected = np.mean(
        [tm.study.friedman(rng.integers(0, 3, (6, 3)).astype(float) + 0.0).p_value <= 0.05 for _ in range(400)]
    )
    assert rejected <= 0.08


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_corrections_are_ordered(p):
    values = np.array(p)
    bonferroni, of_holm = corrections.bonferroni(values), holm(values)
    hochberg, hommel = corrections.hochberg(values), corrections.hommel(values)
    assert (values <= hommel + 1e-12).all()
    assert (hommel <= hochberg + 1e-12).all()
    assert (hochberg <= of_holm + 1e-12).all()
    assert (of_holm <= bonferroni + 1e-12).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_hommel_is_the_closure_of_simes(p):
    values = np.array(p)
    wanted = []
    for one in range(len(values)):
        others = [i for i in range(len(values)) if i != one]
        subsets = itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(len(others) + 1))
        simes = []
        for subset in subsets:
            part = np.sort(values[[one, *subset]])
            simes.append(float(np.min(len(part) * part / np.arange(1, len(part) + 1))))
        wanted.append(min(max(simes), 1.0))
    assert corrections.hommel(values) == pytest.approx(wanted, abs=1e-12)


def test_shaffers_numbers_of_true_hypotheses():
    assert corrections.numbers_of_equal_pairs(4) == {0, 1, 2, 3, 6}
    assert corrections.numbers_of_equal_pairs(5) == {0, 1, 2, 3, 4, 6, 10}
    p = np.array([0.001, 0.01, 0.02, 0.03, 0.2, 0.6])
    wanted = np.maximum.accumulate([0.001 * 6, 0.01 * 3, 0.02 * 3, 0.03 * 3, 0.2 * 2, 0.6 * 1])
    assert tm.study.shaffer(p.tolist()).p_values == pytest.approx(wanted)
    with pytest.raises(tm.InputError, match="no such number"):
        tm.study.shaffer([0.1, 0.2])


@given(st.lists(st.integers(-8, 8).filter(bool), min_size=3, max_size=12))
def test_wilcoxon_is_scipys(differences):
    table = {"a": differences, "b": [0] * len(differences)}
    normal = stats.wilcoxon(differences, method="asymptotic")
    assert tm.study.wilcoxon(table, exact=False).p_value == pytest.approx(normal.pvalue, abs=1e-9)
    assert tm.study.wilcoxon(table).statistic == normal.statistic
    signs = list(itertools.product((-1, 1), repeat=len(differences)))
    if len(signs) <= 1_024:
        sizes = stats.rankdata(np.abs(differences))
        sums = [min(sizes[np.array(s) > 0].sum(), sizes[np.array(s) < 0].sum()) for s in signs]
        share = np.mean([total <= normal.statistic + 1e-9 for total in sums])
        assert tm.study.wilcoxon(table).p_value == pytest.approx(share, abs=1e-9)


@pytest.mark.parametrize(("zeros", "theirs"), [("split", "zsplit"), ("pratt", "pratt"), ("wilcox", "wilcox")])
def test_what_becomes_of_zeros(zeros, theirs):
    first, second = DEMSAR[:, 0], DEMSAR[:, 1]
    peer = stats.wilcoxon(first - second, zero_method=theirs, method="asymptotic")
    found = tm.study.wilcoxon({"a": first, "b": second}, zeros=zeros, exact=False)
    assert (found.statistic, found.p_value) == pytest.approx((peer.statistic, peer.pvalue))
    assert zeros in found.conventions[0]


@pytest.mark.parametrize("zeros", ["split", "pratt", "wilcox"])
@given(st.lists(st.integers(-2, 2), min_size=1, max_size=9).filter(any))
def test_wilcoxon_with_zeros_and_ties_enumerates_the_signs(zeros, differences):
    """With a zero difference the normal distribution was used: [1, 1, 1, 1, 0] had p = 0.048, its exact p is 0.125."""
    values = np.array([d for d in differences if d or zeros != "wilcox"], dtype=float)
    sizes = stats.rankdata(np.abs(values))
    half = sizes[values == 0].sum() / 2 if zeros == "split" else 0.0

    def smaller_sum(signed):
        return half + min(sizes[signed > 0].sum(), sizes[signed < 0].sum())

    signs = itertools.product(*[(-1, 1) if d else (0,) for d in values])
    share = np.mean([smaller_sum(np.array(s)) <= smaller_sum(values) + 1e-9 for s in signs])
    found = tm.study.wilcoxon({"a": differences, "b": [0] * len(differences)}, zeros=zeros)
    assert found.p_value == pytest.approx(share, abs=1e-12)
    assert "exact" in found.conventions[0]


def test_four_wins_and_a_tie_are_not_significant():
    assert tm.study.wilcoxon({"a": [1, 1, 1, 1, 0], "b": [0] * 5}).p_value == 0.125


def test_the_bayesian_signed_rank_test():
    # baycomp: about (0, .332, .668) with a rope of .01 and (.0009, 0, .9991) without, known to .003.
    table = {"C4.5": DEMSAR[:, 0], "+m": DEMSAR[:, 1]}
    found = tm.study.bayesian_signed_rank(table, rope=0.01, better="higher")
    assert found.probabilities == pytest.approx((0.0, 0.332, 0.668), abs=0.01)
    assert 0.0 < found.error < 0.003
    assert found.probabilities == tm.study.bayesian_signed_rank(table, rope=0.01, better="higher").probabilities
    assert tm.study.bayesian_signed_rank(table, rope=0.0, better="higher").better_second > 0.997
    swapped = tm.study.bayesian_signed_rank(table, rope=0.01, better="lower")
    assert (swapped.better_first, swapped.better_second) == (found.better_second, found.better_first)


def test_the_posterior_of_signed_ranks_is_the_definition():
    differences, rope = np.array([0.3, -0.1, 0.02]), 0.05
    draws = signed_rank_posterior(differences, rope, 500, np.random.default_rng(0))
    weights = np.random.default_rng(0).dirichlet([0.5, 1, 1, 1], 500)
    z = [0.0, *differences]
    for w, (below, within, above) in zip(weights[:20], draws, strict=False):
        parts = {"below": 0.0, "within": 0.0, "above": 0.0}
        for i, j in itertools.product(range(4), repeat=2):
            mean = (z[i] + z[j]) / 2
            parts["below" if mean < -rope else "above" if mean > rope else "within"] += w[i] * w[j]
        assert (below, within, above) == pytest.approx(tuple(parts.values()))


def test_the_correlated_t_test():
    x = [0.81, 0.83, 0.79, 0.80, 0.85, 0.82, 0.78, 0.84, 0.80, 0.83]
    y = [0.80, 0.81, 0.80, 0.78, 0.84, 0.80, 0.79, 0.82, 0.79, 0.82]
    found = tm.study.correlated_t({"x": x, "y": y}, better="higher")
    assert found.probabilities == pytest.approx((0.5, 0.4977907001, 0.0022092999), abs=1e-8)
    exact = tm.study.correlated_t({"x": x, "y": y}, rope=0.0, better="higher")
    assert (exact.better_first, exact.better_second) == pytest.approx((0.9539541727, 0.0460458273), abs=1e-8)
    assert tm.study.correlated_t({"x": x, "y": x}).probabilities == (0.0, 1.0, 0.0)


def test_friedmans_test_keeps_its_size_and_has_power():
    rng = np.random.default_rng(1)
    null = np.mean([tm.study.friedman(rng.normal(size=(24, 5))).p_value <= 0.05 for _ in range(600)])
    assert null == pytest.approx(0.05, abs=0.03)
    shifted = np.mean(
        [tm.study.friedman(rng.normal(np.array([0, 0, 0, 0, 1.3]), size=(24, 5))).p_value <= 0.05 for _ in range(200)]
    )
    assert shifted > 0.9
    family = np.mean([(tm.study.nemenyi(rng.normal(size=(24, 5))).p_values <= 0.05).any() for _ in range(600)])
    assert family <= 0.08


def test_any_table_is_read(tmp_path):
    wide = pd.DataFrame({"set": ["d1", "d2", "d3"], "a": [1.0, 2.0, 3.0], "b": [2.0, 1.0, 4.0], "c": [3.0, 5.0, 6.0]})
    tidy = wide.melt("set", var_name="method", value_name="loss").rename(columns={"set": "dataset"})
    wide.to_csv(tmp_path / "w.csv", index=False)
    wide.to_parquet(tmp_path / "w.parquet")
    wanted = tm.study.friedman(wide).statistic
    for data in (
        pl.from_pandas(wide),
        tidy,
        wide[["a", "b", "c"]].to_numpy(),
        {n: wide[n] for n in "abc"},
        tmp_path / "w.csv",
        tmp_path / "w.parquet",
    ):
        found = tm.study.friedman(data)
        assert found.statistic == pytest.approx(wanted)
        assert found.n == 3


def test_missing_cells_are_left_out_openly():
    table = {"set": ["d1", "d2", "d3", "d4"], "a": [1, 2, math.nan, 1], "b": [2, 1, 4, 2], "c": [3, 5, 6, 3]}
    found = tm.study.nemenyi(pd.DataFrame(table))
    assert found.n == 3
    assert any("d3" in line and "3 of 4" in line for line in found.conventions)


def test_groups_are_those_that_cannot_be_told_apart():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 5)) + np.array([0.0, 0.1, 2.0, 2.1, 5.0])
    found = tm.study.nemenyi(table)
    assert [set(group) for group in found.groups] == [{"1", "2"}, {"3", "4"}]
    for group in found.groups:
        spread = [found.mean_ranks[name] for name in group]
        assert max(spread) - min(spread) < found.critical_difference


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: tm.study.friedman([[1, 2], [2, 1]]), "2 methods, expected 3"),
        (lambda: tm.study.friedman([[1, 2, 3]]), "ranks need two or more"),
        (lambda: tm.study.friedman([1, 2, 3]), "shape"),
        (lambda: tm.study.friedman({"a": ["x", "y"]}), "0 column"),
        (lambda: tm.study.friedman({"a": [1, 2], "b": ["x", "y"]}), "holds text"),
        (lambda: tm.study.friedman({"a": [1, math.inf], "b": [1, 2], "c": [3, 4]}), "infinite"),
        (lambda: tm.study.friedman(DEMSAR, better="more"), "better='more'"),
        (lambda: tm.study.friedman(np.random.default_rng(0).random((40, 6)), exact=True), "too many"),
        (lambda: tm.study.bonferroni_dunn(DEMSAR, "z"), "No method 'z'"),
        (lambda: tm.study.holm([0.1, 2.0]), "between 0 and 1"),
        (lambda: tm.study.wilcoxon({"a": [1, 1], "b": [1, 1]}, zeros="wilcox"), "equal on every"),
        (lambda: tm.study.bayesian_signed_rank(DEMSAR), "two methods"),
        (lambda: tm.study.bayesian_signed_rank(DEMSAR[:, :2], rope=-1), "rope is -1"),
        (lambda: tm.study.critical_difference(1, 5), "k is 1"),
        (lambda: tm.study.friedman(pd.DataFrame({"set": ["d", "d"], "a": [1, 2], "b": [2, 3], "c": [3, 4]})), "two lines"),
    ],
)  # fmt: skip
def test_wrong_things_are_named(call, told):
    with pytest.raises(tm.InputError, match=told):
        call()
