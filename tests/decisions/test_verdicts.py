"""The facts behind a report's sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.decisions.verdicts import (
    RARE_SHARE,
    alarms,
    class_facts,
    count_facts,
    group_facts,
    group_metrics,
    leading_metrics,
    model_facts,
)
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


def evaluated(panel, **options):
    return {key[0]: one for key, one in tm.evaluate(panel, **options).entries.items()}


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.3]))
def test_only_a_test_makes_a_model_best(seed, share):
    rng = np.random.default_rng(seed)
    y = np.arange(300) < share * 300
    panel = tm.panel(y, {name: rng.normal(scale * y) for name, scale in zip("abc", rng.uniform(0, 3, 3), strict=True)})
    evaluations = evaluated(panel, metrics=["auroc", "average_precision"], level=None)
    comparisons = [tm.compare(panel, metric=metric) for metric in ("auroc", "average_precision")]
    facts = model_facts(evaluations, comparisons)
    assert facts.leading == ("average_precision" if share < RARE_SHARE else "auroc")
    values = {name: one[facts.leading].value for name, one in evaluations.items()}
    assert [values[name] for name in facts.order] == sorted(values.values(), reverse=True)
    tested = next(one for one in comparisons if one.metric == facts.leading)
    worse = {name for name in facts.order[1:] if tested.told_apart(facts.order[0], name)}
    assert (facts.best == facts.order[0]) == (len(worse) == 2)
    assert facts.best is not None or set(facts.tied) == set(facts.order) - worse
    if facts.otherwise is not None:
        comparison, pair = facts.otherwise
        assert comparison.metric != facts.leading
        assert pair.p_holm < 0.05
        assert comparison.values[facts.order[0]] < max(comparison.values[pair.first], comparison.values[pair.second])


def test_without_a_test_nobody_is_best():
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    evaluations = evaluated(tm.panel(y, {"a": y + 0.1 * rng.random(100), "b": rng.random(100)}), metrics=["auroc"])
    facts = model_facts(evaluations)
    assert facts.best is None
    assert facts.tested is None


def test_costs_that_were_asked_for_lead():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.02
    one = tm.evaluate(tm.tally(y, rng.normal(y * 2.0)), threshold="cost:1,50", level=None)
    assert leading_metrics(one)[0] == "expected_cost"
    assert leading_metrics(tm.evaluate(tm.tally(y, rng.normal(y * 2.0)), level=None))[0] == "average_precision"
    # The prevalence that is looked at decides, not the sample's.
    seen = tm.evaluate(tm.tally(y, rng.normal(y * 2.0)), prevalence=0.4, level=None)
    assert leading_metrics(seen)[0] == "auroc"


def test_alarms_are_the_cells():
    y, s = [0, 0, 0, 1, 1], [0.1, 0.9, 0.2, 0.8, 0.3]
    found = alarms(tm.evaluate(tm.tally(y, s), threshold=0.5))
    assert (found.found, found.positives, found.called) == (1, 2, 2)
    # At another prevalence nobody has counted anything.
    assert alarms(tm.evaluate(tm.tally(y, s), threshold=0.5, prevalence=0.1)) is None


def test_no_group_below_ten_positives_is_named():
    rng = np.random.default_rng(0)
    sizes = {"large": (40, 200), "also": (30, 100), "lucky": (1, 50)}
    entries = {}
    for name, (up, down) in sizes.items():
        y = np.arange(up + down) < up
        entries[name] = tm.tally(y, rng.normal(y * (9.0 if name == "lucky" else 1.0)))
    own = {name: tm.evaluate(one, metrics=["auroc"]) for name, one in entries.items()}
    total = tm.evaluate(entries["large"].merge(entries["also"], entries["lucky"]), metrics=["auroc"])
    facts = group_facts(own, total, "auroc")
    assert own["lucky"]["auroc"].value > max(own["large"]["auroc"].value, own["also"]["auroc"].value)
    assert facts.small == ("lucky",)
    assert set(facts.order) == {"large", "also"}
    assert facts.worst == min(("large", "also"), key=lambda name: own[name]["auroc"].value)
    assert facts.test.groups == ("large", "also")


def test_groups_with_thresholds_of_their_own_are_compared_by_ranking_alone():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    own = {name: tm.evaluate(tm.tally(y, rng.normal(y * 1.0)), threshold="f1", level=None) for name in "ab"}
    assert group_metrics(own) == ("auroc",)
    fixed = {name: tm.evaluate(tm.tally(y, rng.normal(y * 1.0)), threshold=0.5, level=None) for name in "ab"}
    assert set(group_metrics(fixed)) == {"auroc", "recall", "precision", "specificity"}


@pytest.mark.parametrize(
    ("positives", "rows", "rare", "few"), [(4, 100, True, True), (49, 500, False, True), (60, 200, False, False)]
)
def test_rare_and_few(positives, rows, rare, few):
    y = np.arange(rows) < positives
    ev = tm.evaluate(tm.tally(y, np.random.default_rng(0).random(rows)), metrics=["auroc"], level=None)
    facts = model_facts({"m": ev})
    assert (facts.rare, facts.few) == (rare, few)


def classes(**shares):
    return {
        name: Prevalence(method="ac", prevalence=share, n=100, low=low, high=high, level=0.95)
        for name, (share, low, high) in shares.items()
    }


def test_the_order_of_classes_is_named_only_where_intervals_show_it():
    close = class_facts(classes(bread=(0.48, 0.43, 0.52), wine=(0.47, 0.43, 0.52), milk=(0.05, 0.03, 0.08)))
    assert (close.order, close.largest, close.ordered) == (("bread", "wine", "milk"), 2, False)
    apart = class_facts(classes(a=(0.6, 0.55, 0.65), b=(0.3, 0.25, 0.35), c=(0.1, 0.05, 0.15), d=(0.0, 0.0, 0.02)))
    assert (apart.largest, apart.ordered) == (3, True)
    assert class_facts(classes(a=(0.4, 0.2, 0.6), b=(0.3, 0.1, 0.5), c=(0.3, 0.1, 0.5))).largest == 0
    # All classes of all are no largest ones, and without intervals nothing is shown.
    assert class_facts(classes(a=(0.9, 0.8, 0.95), b=(0.1, 0.05, 0.2))).largest == 1
    assert (
        class_facts({n: Prevalence(method="ac", prevalence=v, n=100) for n, v in (("a", 0.9), ("b", 0.1))}).largest == 0
    )
