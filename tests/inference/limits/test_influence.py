"""Standard errors in closed form, against leaving rows out one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_probabilities, probability_sample, with_counts
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.influence import STEP, _scaled, design_of
from tallymark.registry import METRICS

#: Influence functions in closed form.
EFFECTS = {name: influence for name in METRICS if (influence := inference_of(name).influence) is not None}
MAXIMA = [name for name in METRICS if inference_of(name).maximum is not None]


def _jackknife_error(name, y, s):
    """Class sizes held fixed: each class's delete-one jackknife, the variances added. A naive loop."""
    total = 0.0
    for side in (0, 1):
        rows = np.flatnonzero(y == side)
        prior = float(np.mean(y))
        left = [METRICS[name].compute(tm.tally(np.delete(y, i), np.delete(s, i)).at_prevalence(prior)) for i in rows]
        total += (len(rows) - 1) * np.var(left)
    return math.sqrt(total)


@pytest.mark.parametrize("name", sorted(set(EFFECTS) - {"positive_estimate"}))
@pytest.mark.parametrize("decimals", [1, 6])
def test_errors_are_those_of_the_jackknife(name, decimals):
    y, s = probability_sample(400, 0.3, seed=3, decimals=decimals)
    s = np.clip(s, 0.01, 0.99)
    found = EFFECTS[name](tm.tally(y, s)).spread().error
    # With ten scores only, the end of partial_auc's range lies inside a tie, which the jackknife sees and influence does not.
    assert found == pytest.approx(_jackknife_error(name, y, s), rel=0.08 if name == "partial_auc" else 0.05)


@given(with_counts(labelled_probabilities()), st.sampled_from(sorted(EFFECTS)))
def test_counts_are_repeated_rows(sample, name):
    y, s, c = sample
    try:
        found = EFFECTS[name](tm.tally(y, s, counts=c)).spread()
        wanted = EFFECTS[name](tm.tally(np.repeat(y, c), np.repeat(s, c))).spread()
    except Undefined:
        return
    for one, other in ((found.error, wanted.error), (found.freedom, wanted.freedom)):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_weights_count_by_proportion_only(name):
    y, s = probability_sample(200, 0.3, seed=1)
    s = np.clip(s, 0.01, 0.99)
    w = np.random.default_rng(0).exponential(size=200) + 0.1
    one, other = (EFFECTS[name](tm.tally(y, s, weights=k * w)).spread() for k in (1.0, 1000.0))
    factor = 1000.0 if name == "positive_estimate" else 1.0
    assert other.error == pytest.approx(factor * one.error, rel=1e-6)
    equal = EFFECTS[name](tm.tally(y, s, weights=np.full(200, 3.0))).spread()
    plain = EFFECTS[name](tm.tally(y, s)).spread()
    assert equal.error == pytest.approx(plain.error * (3.0 if name == "positive_estimate" else 1.0), rel=1e-6)


@pytest.mark.parametrize("name", ["auroc", "average_precision", "spcc", "log_loss"])
def test_influence_of_rows_adds_up_to_nothing_and_to_the_error(name):
    y, s = probability_sample(300, 0.3, seed=2)
    s = np.clip(s, 0.01, 0.99)
    effect = EFFECTS[name](tm.tally(y, s))
    variance = 0.0
    for side in (False, True):
        values = effect.of_rows(s[y == side], positive=side)
        assert np.mean(values) == pytest.approx(0.0, abs=1e-9)
        variance += np.var(values, ddof=1) / len(values)
    assert effect.spread().error == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted({*EFFECTS, *MAXIMA}))
def test_how_a_metric_minds_the_masses_of_the_classes(name, weighted):
    """The slopes by the prevalence are those of multiplying each class's mass."""
    rng = np.random.default_rng(4)
    y = rng.random(300) < 0.3
    s = np.round(1 / (1 + np.exp(-(rng.normal(size=300) + y))), 2)
    t = tm.tally(y, s, weights=rng.random(300) + 0.5 if weighted else None)
    compute = METRICS[name].compute
    slopes = [
        (compute(_scaled(t, side, 1 + STEP)) - compute(_scaled(t, side, 1 - STEP))) / (2 * STEP) for side in (0, 1)
    ]
    assert design_of(name, t, plain=True).by_mass == pytest.approx(slopes, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", sorted(EFFECTS))
@pytest.mark.parametrize("decimals", [1, 6])
def test_a_known_slope_over_the_odds_is_that_of_the_metric(name, decimals):
    y, s = probability_sample(300, 0.2, seed=5, decimals=decimals)
    tally = tm.tally(y, s, weights=np.random.default_rng(0).exponential(size=300) + 0.1)
    known = EFFECTS[name](tally).by_odds
    assert (known is not None) == (name in {"average_precision", "partial_average_precision"})
    if known is not None:
        by_difference = design_of(name, tally, plain=True).by_mass
        assert design_of(name, tally, plain=True, by_odds=known).by_mass == pytest.approx(by_difference, rel=1e-6)
