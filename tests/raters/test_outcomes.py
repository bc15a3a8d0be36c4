"""Outcomes without a true label: means, paired differences, repeated runs, clusters."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import stdtrit

import tallymark as tm
from tallymark.__main__ import main

A = np.r_[np.ones(70), np.zeros(30)]
B = np.r_[np.ones(52), np.zeros(23), np.ones(3), np.zeros(22)]


def test_pass_rates_are_compared_by_mcnemar():
    comparison = tm.compare(tm.outcomes({"a": A, "b": B}), mcnemar_kind="exact")
    assert comparison.p_value == pytest.approx(stats.binomtest(3, 21).pvalue)
    assert comparison.difference == pytest.approx(0.15)
    assert comparison.rates["a"].interval == tm.intervals.proportion(70, 100).interval
    assert comparison.best == "a"


def test_grades_are_compared_by_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(3.2, 1, 60), rng.normal(3, 1, 60)
    comparison = tm.compare(tm.outcomes({"a": a, "b": b}))
    expected = stats.ttest_rel(a, b)
    assert comparison.p_value == pytest.approx(expected.pvalue)
    assert (comparison.low, comparison.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))


def test_copies_of_an_item_are_no_further_evidence():
    rng = np.random.default_rng(1)
    a, b = rng.normal(3.2, 1, 60), rng.normal(3, 1, 60)
    once = tm.compare(tm.outcomes({"a": a, "b": b}))
    copied = tm.compare(tm.outcomes({"a": np.repeat(a, 4), "b": np.repeat(b, 4)}, items=np.repeat(np.arange(60), 4)))
    assert copied.p_value == pytest.approx(once.p_value)
    assert copied.rates["a"].interval == pytest.approx(once.rates["a"].interval)


def test_several_systems_have_letters_and_holm():
    comparison = tm.compare(tm.outcomes({"a": A, "b": B, "c": B}), equivalence=0.1)
    assert comparison.letters == {"a": "a", "b": "b", "c": "b"}
    assert comparison["b", "c"].verdict == "equivalent within 0.1"


def test_pass_at_k_is_the_mean_over_all_choices_of_runs():
    rng = np.random.default_rng(2)
    runs = rng.integers(0, 2, (7, 5))
    summary = tm.outcomes({"a": runs.ravel()}, items=np.repeat(np.arange(7), 5))
    for k in (1, 2, 3, 5):
        choices = [list(c) for c in itertools.combinations(range(5), k)]
        at_least_one = [np.mean([row[c].max() for c in choices]) for row in runs]
        every_one = [np.mean([row[c].min() for c in choices]) for row in runs]
        assert summary.pass_at(k)[:, 0] == pytest.approx(at_least_one)
        assert summary.pass_all(k)[:, 0] == pytest.approx(every_one)


def test_evaluate_gives_the_same_means():
    summary = tm.outcomes({"a": A, "b": B}, clusters=np.arange(100) // 4)
    evaluation, comparison = tm.evaluate(summary), tm.compare(summary)
    assert evaluation["a"]["pass_rate"].interval == comparison.rates["a"].interval


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tm.outcomes([1, 0]), "columns by name"),
        (lambda: tm.compare(tm.outcomes({"a": A})), "two systems"),
        (lambda: tm.compare(tm.outcomes({"a": A, "b": B}), metric="f1"), "leave out metric"),
        (lambda: tm.compare(tm.outcomes({"a": A, "b": B}, items=np.arange(100) // 2), method="mcnemar"), "mcnemar"),
        (lambda: tm.outcomes({"a": A, "b": B[:50]}), "length|rows"),
        (lambda: tm.outcomes({"a": A * 0.5}).pass_at(1), "graded"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(tm.InputError, match=message):
        call()


def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"id": range(100), "a": A.astype(int), "b": B.astype(int)}).to_csv("runs.csv", index=False)

    def answer(*words):
        monkeypatch.setattr("sys.argv", ["tallymark", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code
        return capsys.readouterr().out

    compared = json.loads(answer("compare", "runs.csv", "--outcome", "a,b", "--json"))
    assert compared["pairs"][0]["difference"] == pytest.approx(0.15)
    assert compared["rates"]["a"]["value"] == pytest.approx(0.7)
    agreed = json.loads(
        answer("agree", "runs.csv", "--rater", "a,b", "--item", "id", "--disagreements", "d.csv", "--json")
    )
    assert agreed["coefficients"]["observed"]["value"] == pytest.approx(0.79)
    assert len(pd.read_csv("d.csv")) == agreed["disagreements"] == 21
    assert "cohen_kappa" in answer("agree", "runs.csv", "--rater", "a,b", "--report", "a.html")


def test_pass_at_k_is_compared_item_by_item():
    rng = np.random.default_rng(21)
    items = np.repeat(np.arange(60), 5)
    chance = rng.beta(2, 1, 60)[items]
    runs = tm.outcomes({"a": rng.random(300) < chance, "b": rng.random(300) < 0.8 * chance}, items=items)
    best, every = runs.best_of(3), runs.all_of(3)
    assert best.name == "pass@3"
    assert best.values == pytest.approx(runs.pass_at(3))
    comparison = tm.compare(best)
    gap = runs.pass_at(3)[:, 0] - runs.pass_at(3)[:, 1]
    assert comparison.difference == pytest.approx(gap.mean())
    assert comparison.pairs[0].error == pytest.approx(gap.std(ddof=1) / np.sqrt(60))
    rate = tm.evaluate(every)["a"]["pass^3"]
    assert rate.low < rate.value < rate.high
    assert rate.value < runs.values[:, 0].mean() < best.values[:, 0].mean()


def test_unequal_clusters_count_like_fewer():
    rng = np.random.default_rng(22)
    sizes = np.r_[np.full(3, 40), np.full(30, 3)]
    cluster = np.repeat(np.arange(33), sizes)
    values = rng.normal(size=33)[cluster] + rng.normal(size=len(cluster))
    outcomes = tm.outcomes({"a": values, "b": np.zeros(len(cluster))}, clusters=cluster)
    total, n = values.sum(), len(values)
    sums = np.bincount(cluster, values)
    without = (total - sums) / (n - sizes)
    error = np.sqrt(32 / 33 * ((without - without.mean()) ** 2).sum())
    pair = tm.compare(outcomes).pairs[0]
    assert pair.error == pytest.approx(error)
    reach = (pair.high - pair.low) / 2
    assert reach == pytest.approx(stdtrit(n**2 / (sizes**2).sum() - 1, 0.975) * error)


@pytest.mark.slow
def test_the_test_keeps_its_size_with_unequal_clusters():
    rng = np.random.default_rng(23)
    sizes = np.r_[np.full(4, 60), np.full(30, 3)]
    cluster = np.repeat(np.arange(34), sizes)
    repeats, shown = 600, 0
    for _ in range(repeats):
        mood = rng.normal(size=34)[cluster]
        a, b = (rng.normal(size=len(cluster)) + mood + rng.normal(size=34)[cluster] > 0 for _ in range(2))
        shown += tm.compare(tm.outcomes({"a": a, "b": b}, clusters=cluster)).p_value < 0.05
    assert shown / repeats < 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / repeats) + 0.02


def test_a_difference_that_never_varies_has_limits():
    constant = tm.compare(tm.outcomes({"a": [3.0] * 12, "b": [2.0] * 12}))
    assert constant.difference == 1.0
    assert constant.low < 1.0 <= constant.high
    assert constant.p_value < 0.01
    with pytest.raises(tm.InputError, match="one scale"):
        tm.outcomes({"a": [0, 1, 1], "g": [1, 5, 3]})


def test_a_dataframe_of_outcomes():
    frame = pd.DataFrame({"a": [1, 0, 1, 1], "b": [1, 1, 0, 0]})
    assert tm.compare(tm.outcomes(frame)).difference == 0.25


def test_rows_that_show_a_difference():
    rng = np.random.default_rng(24)
    comparison = tm.compare(tm.outcomes({"a": rng.random(200) < 0.8, "b": rng.random(200) < 0.7}))
    assert set(comparison.sample_size(0.05)) == {"n"}
    assert comparison.sample_size(0.05)["n"] > comparison.sample_size(0.1)["n"]


def test_a_system_that_is_not_worse_says_so():
    rng = np.random.default_rng(25)
    a = rng.random(2_000) < 0.8
    b = a ^ (rng.random(2_000) < 0.02)
    comparison = tm.compare(tm.outcomes({"a": a, "b": b}), noninferiority=0.02)
    (pair,) = comparison.pairs
    wide = tm.compare(tm.outcomes({"a": a, "b": b}), level=0.9)
    assert pair.not_worse == tuple(name for name, least in (("a", wide.low), ("b", -wide.high)) if least > -0.02)
    assert "not worse by 0.02" in pair.verdict
    with pytest.raises(tm.InputError, match="noninferiority"):
        tm.compare(tm.outcomes({"a": a, "b": b}), noninferiority=-0.1)


def test_the_bootstrap_of_items_is_close_to_students_limits():
    rng = np.random.default_rng(26)
    outcomes = tm.outcomes({"a": rng.integers(1, 6, 300), "b": rng.integers(1, 5, 300)})
    one, other = (tm.compare(outcomes, method=method) for method in ("t", "bootstrap"))
    assert other.difference == one.difference
    assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=0.05)
    assert other.p_value == tm.compare(outcomes, method="bootstrap", jobs=1).p_value
    clustered = tm.outcomes({"a": rng.integers(1, 6, 300), "b": rng.integers(1, 5, 300)}, clusters=np.arange(300) // 30)
    assert tm.compare(clustered, method="bootstrap").pairs[0].method == "bootstrap"


@pytest.mark.parametrize("n", [40, 100])
def test_limits_of_pass_at_k_hold_where_nearly_all_items_pass(n):
    rng, repeats, held = np.random.default_rng(30), 150, 0
    true = 1 - 1 / (9 * 10 * 11 / 6)  # rates of items are Beta(8, 1), so that pass@3 is 1 less 3! / (9 · 10 · 11)
    for _ in range(repeats):
        passed = rng.random((n, 4)) < rng.beta(8, 1, n)[:, None]
        runs = tm.outcomes({"a": passed.ravel(), "b": ~passed.ravel()}, items=np.repeat(np.arange(n), 4))
        rate = tm.evaluate(runs.best_of(3))["a"]["pass@3"]
        assert 0 <= rate.low <= rate.value <= rate.high <= 1
        held += rate.low <= true <= rate.high
    assert held / repeats > 0.93


def test_grades_that_are_all_alike_have_limits_by_the_range_of_the_others_or_none():
    beside = tm.compare(tm.outcomes({"a": [5] * 40, "b": [4, 5] * 20})).rates["a"]
    assert beside.value == beside.high == 5
    assert 4.9 < beside.low < 5
    alone = tm.evaluate(tm.outcomes({"a": [5] * 40}))["a"]["mean"]
    assert alone.interval is None
    assert "alike" in alone.no_interval
