"""What choosing a threshold on the same rows does."""

import math

import numpy as np
import pytest
from bench.worlds import binormal
from scipy import special

import tallymark as tm
from samples import normal_sample
from tallymark.registry import METRICS

DISTANCE = 1.5


def sample(rng, positives, prevalence):
    """Negatives N(0, 1) and positives N(1.5, 1), class sizes fixed."""
    world = binormal(float(special.ndtr(DISTANCE / math.sqrt(2))))
    return tm.tally(*world.sample(rng, positives, prevalence, "fixed"))


def test_choosing_on_the_same_rows_is_optimistic():
    rng = np.random.default_rng(0)
    apparent, corrected, honest = [], [], []
    for i in range(40):
        tally, fresh = sample(rng, 25, 0.2), sample(rng, 2500, 0.2)
        found = tm.intervals.chosen_threshold(tally, "f1", replicates=60, seed=i)
        apparent.append(found.apparent)
        corrected.append(found.corrected)
        honest.append(METRICS["f1"].compute(fresh.at(found.threshold)))
        assert found.low <= found.threshold <= found.high
    # The correction takes off a good part of the optimism, not all of it.
    optimism = np.mean(apparent) - np.mean(honest)
    assert optimism > 0.02
    assert 0.25 * optimism < np.mean(apparent) - np.mean(corrected) < 1.5 * optimism


def test_choosing_needs_a_policy_and_a_metric_at_one_threshold():
    tally = tm.tally(*normal_sample(50))
    with pytest.raises(tm.InputError, match="not a metric at one threshold"):
        tm.intervals.chosen_threshold(tally, "f1", metric="auroc")
    with pytest.raises(tm.InputError, match="not chosen from the data"):
        tm.intervals.chosen_threshold(tally, 0.5)
    with pytest.raises(tm.InputError, match="No threshold policy"):
        tm.intervals.chosen_threshold(tally, "nonsense")


@pytest.mark.parametrize("policy", ["f1", "youden", "cost:1,5"])
def test_ratios_are_corrected_by_factors(policy):
    """An interval of a ratio at a chosen threshold must not reach 0 where that at the same fixed threshold is far from it."""
    ratios = [name for name, facts in METRICS.items() if facts.needs == "confusion" and (facts.low, facts.high) == (0, math.inf)]  # fmt: skip
    assert {"lr_plus", "diagnostic_odds_ratio"} <= set(ratios)
    tally = sample(np.random.default_rng(1), 30, 0.05)
    chosen = tm.evaluate(tally, threshold=policy, metrics=ratios)
    fixed = tm.evaluate(tally, threshold=float(chosen.threshold), metrics=ratios)
    for name in ratios:
        low, high = chosen[name].interval
        assert 0.1 * fixed[name].low < low < high < 10.0 * fixed[name].high, name
        assert chosen[name].value - chosen[name].optimism > 0.0
        one = tm.intervals.chosen_threshold(tally, policy, metric=name, replicates=50)
        assert one.corrected > 0.0
        assert one.corrected == pytest.approx(one.apparent - one.optimism)
