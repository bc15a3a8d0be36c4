"""Outcomes without a true label: means, paired differences, repeated runs, clusters."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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
