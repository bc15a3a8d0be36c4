"""Intervals of AUROC averaged over classes."""

import numpy as np
import pytest

import tallymark as tm
from tallymark.inference.declared import inference_of
from tallymark.inference.limits.class_auroc import EXTRA, by_size, macro, one_vs_one
from tallymark.inference.limits.mover import Mover
from tallymark.inference.limits.rank_effects import auroc_effect
from tallymark.registry import METRICS

NAMES = ("auroc_ovr", "auroc_ovr_weighted", "auroc_ovo")


def rows(seed, n=150, shares=(0.6, 0.32, 0.08), distance=3.0):
    rng = np.random.default_rng(seed)
    k = len(shares)
    y = np.concatenate([np.repeat(np.arange(k), 3), rng.choice(k, n - 3 * k, p=shares)])
    x = rng.normal(size=(n, k))
    x[np.arange(n), y] += distance
    return y, x


def panel(y, x, **masses):
    return tm.class_panel(y, x, classes=list(range(x.shape[1])), **masses)


@pytest.mark.parametrize("seed", range(5))
def test_limits_lie_on_both_sides_of_the_value(seed):
    """The resamples were clipped to half a row short of perfect, so the upper limit was the value itself."""
    found = tm.evaluate(panel(*rows(seed)), metrics=NAMES)
    for measure in found.values():
        assert measure.low < measure.value < measure.high < 1.0 or measure.value == 1.0 > measure.low


@pytest.mark.parametrize("decimals", [6, 0])
def test_two_classes_have_the_limits_of_two_classes(decimals):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3 == 0
    s = (rng.normal(size=90) + y).round(decimals)
    effect = auroc_effect(tm.tally(y, s))
    expected = effect.limits(tm.metrics.auroc(tm.tally(y, s)), 0.95, mover=Mover(EXTRA))
    for name in NAMES:
        found = inference_of(name).class_effect(panel(y.astype(int), np.stack([-s, s], axis=1)))
        assert found.limits(0.95, plain=True) == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("name", NAMES)
def test_influence_is_what_a_little_more_weight_does(name):
    y, x = rows(3, 60, distance=1.0)
    x = x.round(1)
    effect = inference_of(name).class_effect(panel(y, x))
    weights = [np.bincount([i], minlength=len(y)) * 1e-5 for i in range(len(y))]
    values = [METRICS[name].compute(panel(y, x, weights=1.0 + w).class_scores) for w in weights]
    seen = (np.array(values) - METRICS[name].compute(panel(y, x).class_scores)) / 1e-5
    for c, (side, slope) in enumerate(zip(effect.sides, effect.by_mass, strict=True)):
        members = y == c
        assert seen[members] == pytest.approx((side.values + slope) / members.sum(), abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_counts_are_repeated_rows_and_weights_have_no_unit(name):
    y, x = rows(4)
    counts = np.random.default_rng(0).integers(1, 4, len(y))
    found = [
        tm.evaluate(panel(*data, **masses), metrics=name)[name].interval
        for data, masses in (
            ((y, x), {"counts": counts}),
            ((np.repeat(y, counts), np.repeat(x, counts, axis=0)), {}),
            ((y, x), {"weights": np.exp(x[:, 0])}),
            ((y, x), {"weights": 1e6 * np.exp(x[:, 0])}),
        )
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert found[2] == pytest.approx(found[3], abs=1e-9)


def test_uneven_weights_widen_the_limits():
    y, x = rows(5)
    weights = np.random.default_rng(0).lognormal(0.0, 1.0, len(y))
    even, uneven = (tm.evaluate(panel(y, x, weights=w), metrics=NAMES) for w in (np.ones(len(y)), weights))
    for name in NAMES:
        widths = [one[name].high - one[name].low for one in (even, uneven)]
        assert widths[1] > 1.1 * widths[0], name


def test_fixed_class_sizes_are_not_drawn():
    y, x = rows(6, 200, (0.4, 0.3, 0.3), 1.0)
    x[y == 1] *= 3.0
    plain, fixed = (tm.evaluate(panel(y, x), metrics=NAMES, sampling=way) for way in ("plain", "stratified"))
    assert plain["auroc_ovo"].interval == pytest.approx(fixed["auroc_ovo"].interval, abs=1e-9)
    for name in NAMES[:2]:
        assert plain[name].high - plain[name].low > fixed[name].high - fixed[name].low


@pytest.mark.parametrize("weights", [macro, by_size, one_vs_one])
def test_weights_of_the_pairs_add_up_to_one(weights):
    g = np.outer(*weights(np.array([10.0, 30.0, 5.0])))
    assert g.sum() - np.trace(g) == pytest.approx(1.0)


def test_of_many_rows_some_are_placed(monkeypatch):
    from tallymark.inference.limits import class_auroc

    y, x = rows(7, 3_000, (0.5, 0.3, 0.2), 1.5)
    whole = tm.evaluate(panel(y, x), metrics=NAMES)
    monkeypatch.setattr(class_auroc, "_MOST", 0)
    monkeypatch.setattr(class_auroc, "_LEAST", 400)
    some = tm.evaluate(panel(y, x), metrics=NAMES)
    for name in NAMES:
        widths = [one[name].high - one[name].low for one in (whole, some)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1), name
