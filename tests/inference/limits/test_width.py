"""No interval of any metric ends at its value, unless the value is at an end of its range."""

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.metrics.ranking import auroc_of
from tallymark.registry import METRICS

_SHAPES = {
    "as they are": lambda s: s,
    "rounded": np.round,
    "many zeros": lambda s: np.maximum(s, 0.0),
    "skewed": np.exp,
}


def two_classes(seed, shape):
    """Labels, scores and masses of a small sample, of other size, separation and masses for each seed."""
    rng = np.random.default_rng(seed)
    n, prevalence, distance = rng.choice([8, 15, 40, 120]), rng.choice([0.1, 0.3, 0.5]), rng.choice([-1, 0, 1, 3])
    y = (rng.random(n) < prevalence).astype(int)
    y[:4] = 0, 1, 0, 1
    masses = [{}, {"counts": rng.integers(1, 4, n)}, {"weights": rng.lognormal(0.0, 1.0, n)}][seed % 3]
    return y, _SHAPES[shape](rng.normal(size=n) + distance * y), masses


def k_classes(seed):
    rng = np.random.default_rng(seed)
    k, n = [2, 3, 5][seed % 3], int(rng.choice([10, 40, 150]))
    y = np.concatenate([np.repeat(np.arange(k), 2), rng.integers(0, k, n)])
    x = rng.normal(size=(len(y), k))
    x[np.arange(len(y)), y] += rng.choice([0.0, 1.0, 3.0, 6.0])
    p = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    masses = [{}, {"counts": rng.integers(1, 4, len(y))}, {"weights": rng.lognormal(0.0, 1.0, len(y))}][seed // 3 % 3]
    return tm.class_panel(y, p, classes=list(range(k)), **masses)


def ends_of(name, tally):
    """What a metric can be at least and at most on this tally."""
    facts, influence = METRICS[name], inference_of(name).influence
    try:
        bounded = None if influence is None else influence(tally).bounded
    except Undefined:
        bounded = None
    if bounded is None or bounded.anchor == 1.0:
        return facts.low, facts.high
    return max(facts.low, bounded.low), min(facts.high, bounded.high)


def touching(found, ends):
    """Metrics with a limit at their value that does not lie at an end of the range."""
    items = []
    for name, one in found.items():
        if one.low is None or not math.isfinite(one.value):
            continue
        low, high = ends(name)
        near = 1e-9 * max(1.0, abs(one.value))
        if (one.low >= one.value > low + near) or (one.high <= one.value < high - near):
            items.append(one)
    return items


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_limits_of_two_classes_lie_on_both_sides_of_the_value(seed, shape):
    y, s, masses = two_classes(seed, shape)
    for scores, threshold in ((1.0 / (1.0 + np.exp(-s)), 0.5), (s, "youden")):
        tally = tm.tally(y, scores, **masses)
        found = tm.evaluate(tally, threshold=threshold, sampling="stratified" if seed % 2 else "plain")
        separated = min(auroc_of(tally), 1.0 - auroc_of(tally)) < 1e-12
        cells = [found.confusion.tp, found.confusion.fp, found.confusion.fn, found.confusion.tn]
        kept = {
            name: one
            for name, one in found.items()
            # A rate at its end, or complete separation, is an end of the range of what is made of it.
            if not (min(cells) == 0 if METRICS[name].needs == "confusion" else separated)
        }
        assert touching(kept, lambda name, tally=tally: ends_of(name, tally)) == []


@pytest.mark.parametrize("seed", range(6))
def test_limits_of_k_classes_lie_on_both_sides_of_the_value(seed):
    found = tm.evaluate(k_classes(seed))
    facts = {name: METRICS[name if name in METRICS else CLASS_METRICS[name].metric] for name in found}
    assert touching(found, lambda name: (facts[name].low, facts[name].high)) == []
    assert {"auroc_ovr", "auroc_ovo", "brier_multiclass"} <= {
        name for name, one in found.items() if one.low is not None
    }


def test_no_row_on_the_other_side_of_the_best_threshold_is_no_certainty():
    """KS is 0, and rounding made its interval 5e-18 wide, that of d_b 0."""
    tally = tm.tally([0, 0, 0, 0, 0, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 2.0, -1.0, 0.0, 0.0],
                     weights=[5.0, 5.05, 5.1, 4.6, 0.9, 0.7, 3.2, 3.1])  # fmt: skip
    found = tm.evaluate(tally, metrics=["ks", "d_b"])
    assert all(one.high > 0.1 for one in found.values())


def test_a_policy_is_evaluated_where_resamples_may_lack_a_class():
    """It raised InputError when the weights of a class added up to nothing in a resample."""
    y, s = [0, 1, 0, 1, 0, 0, 1, 1], [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0]
    tally = tm.tally(y, s, weights=[1.739, 1.325, 10.409, 1.389, 0.381, 7.468, 1.322, 0.502])
    found = tm.evaluate(tally, metrics=["recall"], threshold="youden", seed=213)
    assert found["recall"].low < found["recall"].value
