"""The facts behind a report's sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.decide.verdicts import comparison_facts, count_facts, model_facts
from tallymark.quantify import Prevalence
from tallymark.registry import QUANTIFIERS

CORRECTED = [name for name, method in QUANTIFIERS.items() if method.shift_proof]


def estimate(name, share, width):
    low, high = max(0.0, share - width), min(1.0, share + width)
    return Prevalence(
        method=name, prevalence=share, n=1000, low=low, high=high, level=0.95, interval_method="bootstrap"
    )


@given(
    st.lists(st.tuples(st.sampled_from(sorted(QUANTIFIERS)), st.floats(0.2, 0.8), st.floats(0.001, 0.2)), max_size=6)
)
def test_which_estimate_speaks_does_not_depend_on_the_intervals(drawn):
    estimates = [estimate(*one) for one in {one[0]: one for one in drawn}.values()]
    facts = count_facts(estimates)
    corrected = [one for one in estimates if QUANTIFIERS[one.method].shift_proof]
    assert (facts.speaks is None) == (not corrected)
    if facts.speaks is not None:
        assert QUANTIFIERS[facts.speaks.method].precedence == min(
            QUANTIFIERS[one.method].precedence for one in corrected
        )
    narrower = [estimate(one.method, one.prevalence, 1e-4) for one in estimates]
    again = count_facts(narrower).speaks
    assert (again and again.method) == (facts.speaks and facts.speaks.method)


@given(
    st.lists(st.tuples(st.sampled_from(CORRECTED), st.floats(0.1, 0.9), st.floats(0.01, 0.2)), min_size=2, max_size=5)
)
def test_methods_are_apart_when_their_intervals_do_not_meet(drawn):
    estimates = [estimate(*one) for one in {one[0]: one for one in drawn}.values()]
    meet = all(a.low <= b.high and b.low <= a.high for a in estimates for b in estimates)
    assert (count_facts(estimates).apart is None) == meet


def test_an_estimate_without_a_value_does_not_speak():
    nothing = Prevalence(method="bayes", prevalence=float("nan"), n=10, reason="no")
    assert count_facts([nothing, estimate("ac", 0.3, 0.1)]).speaks.method == "ac"
    assert count_facts([nothing]).speaks is None
    assert count_facts([estimate("cc", 0.3, 0.1)]).naive.method == "cc"


@given(st.integers(0, 2**32 - 1))
def test_leaders_have_the_highest_values(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3 == 0
    panel = tm.panel(y, {name: rng.normal(scale * y) for name, scale in (("a", 1.0), ("b", 1.0), ("c", 0.5))})
    evaluations = {
        key[0]: ev for key, ev in tm.evaluate(panel, metrics=["auroc", "average_precision"], level=None).entries.items()
    }
    facts = model_facts(evaluations)
    for metric, leader in facts.leaders.items():
        assert evaluations[leader][metric].value == max(ev[metric].value for ev in evaluations.values())
    assert facts.speaks == facts.leaders["auroc"]
    assert (facts.rivals is None) == (facts.leaders["auroc"] == facts.leaders["average_precision"])
    assert facts.same_rows
    assert model_facts(evaluations, same_rows=False).rivals is None


@pytest.mark.parametrize(
    ("positives", "rows", "rare", "few"), [(4, 100, True, True), (49, 500, False, True), (60, 200, False, False)]
)
def test_rare_and_few(positives, rows, rare, few):
    y = np.arange(rows) < positives
    ev = tm.evaluate(tm.tally(y, np.random.default_rng(0).random(rows)), metrics=["auroc"], level=None)
    facts = model_facts({"m": ev})
    assert (facts.rare, facts.few) == (rare, few)


def test_samples_of_other_sizes_are_not_the_same_rows():
    rng = np.random.default_rng(0)
    evaluations = {
        str(n): tm.evaluate(tm.tally(np.arange(n) % 2, rng.random(n)), metrics=["auroc"], level=None) for n in (40, 60)
    }
    assert not model_facts(evaluations).same_rows


def test_who_is_ahead_in_the_clearest_pair():
    rng = np.random.default_rng(1)
    y = rng.random(600) < 0.4
    names = {"strong": 2.0, "weak": 0.5, "also weak": 0.5}
    found = tm.compare(tm.panel(y, {name: rng.normal(scale * y) for name, scale in names.items()}))
    facts = comparison_facts(found)
    assert facts.ahead[0] == "strong"
    assert facts.pairs == 3
    assert facts.undecided == sum(pair.p_holm >= 0.05 for pair in found.pairs)
    nothing = comparison_facts(tm.compare(tm.panel(y, {"a": (s := rng.random(600)), "b": s})))
    assert nothing.ahead is None
    assert nothing.undecided == 1


def test_losses_are_led_by_the_lower():
    rng = np.random.default_rng(2)
    y = rng.random(800) < 0.4
    good = np.clip(np.where(y, 0.8, 0.2) + rng.normal(0, 0.1, 800), 0, 1)
    found = tm.compare(tm.panel(y, {"bad": rng.random(800), "good": good}), metric="brier")
    assert comparison_facts(found).ahead == ("good", "bad")
