"""Whether groups differ: size, power, and the minimum it claims."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

import tallymark as tm
from tallymark.inference.hypothesis_tests.heterogeneity import least_distance, moments_given_margins, pearson
from tallymark.measures import Measure


def groups(rng, sizes, gaps, prevalence=0.2):
    label = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.random(len(label)) < prevalence
    frame = pd.DataFrame({"y": y, "p": rng.normal(y * np.asarray(gaps)[label]), "g": label})
    return tm.tally(frame, label="y", score="p", by="g")


def measure(value, low, high):
    return Measure(name="auroc", value=value, low=low, high=high, level=0.95)


@pytest.mark.parametrize("seed", range(5))
def test_the_common_value_is_the_nearest(seed):
    rng = np.random.default_rng(seed)
    values = rng.random(6)
    ones = [measure(v, v - rng.random(), v + rng.random()) for v in values]

    def q(mu):
        side = [(m.value - m.low if mu < m.value else m.high - m.value) / 1.959964 for m in ones]
        return sum(((m.value - mu) / s) ** 2 for m, s in zip(ones, side, strict=True))

    found, at = least_distance(ones)
    slow = optimize.minimize_scalar(q, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert found == pytest.approx(slow.fun, rel=1e-6)
    assert at == pytest.approx(slow.x, abs=1e-4)


def test_even_limits_give_cochrans_q():
    values, errors = np.array([0.7, 0.75, 0.9]), np.array([0.03, 0.02, 0.05])
    z = stats.norm.ppf(0.975)
    found, at = least_distance([measure(v, v - z * e, v + z * e) for v, e in zip(values, errors, strict=True)])
    weights = errors**-2.0
    centre = np.average(values, weights=weights)
    assert (found, at) == pytest.approx((float((weights * (values - centre) ** 2).sum()), centre))


def test_a_value_at_the_end_of_its_range_is_as_far_as_on_the_other_side():
    found, at = least_distance([measure(1.0, 0.8, 1.0), measure(0.9, 0.8, 1.0)])
    assert np.isfinite(found)
    assert 0.9 <= at <= 1.0


def test_alike_groups_are_seldom_called_different():
    # 5 % would be 6 of 120; the limits are wide for few rows, so that fewer are called.
    rng = np.random.default_rng(0)
    called = {"auroc": 0, "recall": 0, "precision": 0}
    for _ in range(120):
        found = tm.evaluate(groups(rng, [150] * 5, [1.5] * 5), metrics=list(called), threshold=0.75)
        for metric in called:
            called[metric] += tm.intervals.heterogeneity(found, metric).p_value < 0.05
    assert max(called.values()) <= 14, called


def test_groups_that_differ_are_found():
    rng = np.random.default_rng(1)
    found = sum(
        tm.intervals.heterogeneity(tm.evaluate(groups(rng, [300] * 5, [2.0] * 4 + [0.8]), metrics=["auroc"])).p_value < 0.05
        for _ in range(20)
    )  # fmt: skip
    assert found >= 18


def test_small_groups_are_left_out():
    rng = np.random.default_rng(2)
    found = tm.intervals.heterogeneity(tm.evaluate(groups(rng, [400, 400, 12], [1.0] * 3), metrics=["auroc"]))
    assert found.left_out == ("2",)
    assert found.freedom == 1
    assert "Q = " in repr(found)


@pytest.mark.parametrize("bad", [None, "auroc", 3])
def test_what_is_no_evaluation_by_group_is_refused(bad):
    with pytest.raises(tm.InputError, match="by group"):
        tm.intervals.heterogeneity(bad)


def test_one_group_has_nothing_to_differ_from():
    t = groups(np.random.default_rng(3), [300], [1.0])
    with pytest.raises(tm.InputError, match="needs two groups"):
        tm.intervals.heterogeneity(tm.evaluate(t, metrics=["auroc"]))


def test_moments_of_pearsons_statistic_are_those_of_all_tables():
    groups, hits = np.array([2.0, 3.0, 4.0]), 3
    label = np.repeat([0, 1, 2], [2, 3, 4])
    values = []
    for chosen in itertools.combinations(range(9), hits):
        found = np.bincount(label[list(chosen)], minlength=3)
        values.append(pearson(np.stack([found, groups - found], axis=1))[0])
    mean, variance = moments_given_margins(groups, np.array([hits, 9.0 - hits]))
    assert (mean, variance) == pytest.approx((np.mean(values), np.var(values)), rel=1e-12)


def test_a_proportion_is_tested_by_pearsons_statistic():
    rng = np.random.default_rng(5)
    label = np.repeat(np.arange(6), 100)
    y = rng.random(600) < 0.4
    frame = pd.DataFrame({"y": y, "p": rng.normal(y * 1.5), "g": label})
    tallies = tm.tally(frame, label="y", score="p", by="g")
    found = tm.intervals.heterogeneity(tm.evaluate(tallies, threshold=0.7), "specificity")
    table = [[np.sum(~y & (label == g) & ((frame.p < 0.7) == low)) for low in (True, False)] for g in range(6)]
    assert found.q == pytest.approx(stats.chi2_contingency(table, correction=False)[0])
    # Where the threshold was chosen in each group, its own limits tell how sure it is.
    chosen = tm.evaluate(tallies, threshold="youden")
    assert (
        tm.intervals.heterogeneity(chosen, "specificity").q
        == least_distance([e["specificity"] for e in chosen.values()])[0]
    )


def test_proportions_of_many_alike_groups_are_seldom_called_different():
    """Of 40 groups of 120 negatives 8.7 % were called different in specificity, 0.7 to 1.3 % in precision."""
    rng = np.random.default_rng(6)
    for share in (0.9, 0.98):
        rows = np.maximum(rng.poisson(120, (600, 40)), 1)
        hits = rng.binomial(rows, share)
        p = [pearson(np.stack([h, n - h], axis=1).astype(float))[1] for h, n in zip(hits, rows, strict=True)]
        assert 0.025 < np.mean(np.array(p) < 0.05) < 0.08


def test_groups_without_a_single_miss_are_alike():
    assert pearson(np.array([[20.0, 0.0], [30.0, 0.0]])) == (0.0, 1.0, 1.0)
