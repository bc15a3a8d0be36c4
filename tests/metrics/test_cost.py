import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from samples import labelled_scores, normal_sample
from tallymark.metrics.hull import upper_hull, upper_hulls

m = tm.metrics


def naive_h(y, s, a, b, points=20_001):
    """1 - mean least loss / mean least loss of constant answers, by brute force over thresholds and costs."""
    p1 = y.mean()
    cuts = [np.inf, *np.unique(s)]
    fpr = np.array([np.mean(s[y == 0] >= c) for c in cuts])
    fnr = np.array([np.mean(s[y == 1] < c) for c in cuts])
    # Midpoints of equal-probability slices of the cost distribution.
    c = stats.beta.ppf((np.arange(points) + 0.5) / points, a, b)
    loss = np.min(c[None] * (1 - p1) * fpr[:, None] + (1 - c[None]) * p1 * fnr[:, None], axis=0)
    constant = np.minimum(c * (1 - p1), (1 - c) * p1)
    return 1 - loss.mean() / constant.mean()


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("prevalence", [0.1, 0.5, 0.8])
def test_h_measure_by_brute_force(prevalence, decimals):
    y, s = normal_sample(60, prevalence, 1.0, decimals=decimals)
    t, p1 = tm.tally(y, s), y.mean()
    assert m.h_measure(t) == pytest.approx(naive_h(y, s, 1 + p1, 2 - p1), abs=2e-4)
    for ratio in (0.2, 1.0, 5.0):
        assert m.h_measure(t, severity_ratio=ratio) == pytest.approx(naive_h(y, s, 2, 1 + 1 / ratio), abs=2e-4)


def test_h_measure_ends():
    assert m.h_measure(tm.tally([0, 0, 1], [1, 2, 3])) == pytest.approx(1.0)
    assert m.h_measure(tm.tally([0, 0, 1], [3, 2, 1])) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(tm.InputError, match="severity_ratio is -1, expected a positive number"):
        m.h_measure(tm.tally([0, 1], [0, 1]), severity_ratio=-1)


@given(labelled_scores())
def test_the_cost_envelope_is_the_least_cost_at_every_mix(sample):
    y, s = sample
    t = tm.tally(y, s)
    curve = tm.cost_curve(t)
    x = np.linspace(0, 1, 101)
    cut = tm.roc(t)
    least = np.min((1 - cut.tpr)[:, None] * x + cut.fpr[:, None] * (1 - x), axis=0)
    np.testing.assert_allclose(np.interp(x, curve.probability_cost, curve.cost), least, atol=1e-9)
    assert m.aucc(t) == pytest.approx(curve.auc)
    assert m.aucc(t) == pytest.approx(np.trapezoid(least, x), abs=1e-3)


@given(labelled_scores(), st.floats(0.05, 0.95))
def test_envelope_corners_are_hull_edges(sample, _):
    t = tm.tally(*sample)
    hull, curve = tm.roc(t).hull(), tm.cost_curve(t)
    slope = np.diff(hull.tpr) / np.maximum(np.diff(hull.fpr), 1e-300)
    np.testing.assert_allclose(curve.probability_cost[1:-1], 1 / (1 + slope), atol=1e-9)


@given(st.lists(labelled_scores(st.integers(-4, 4).map(float)), min_size=1, max_size=4))
def test_hulls_of_many_curves_are_those_of_each(samples):
    curves = [tm.tally(*sample).cutoffs for sample in samples]
    x, y = (
        np.concatenate([side.astype(float) for side in sides])
        for sides in zip(*((c.fp, c.tp) for c in curves), strict=True)
    )
    starts = np.cumsum([0, *(len(c.fp) for c in curves)])
    each = [
        upper_hull(c.fp.astype(float), c.tp.astype(float)) + start for c, start in zip(curves, starts[:-1], strict=True)
    ]
    curve = np.repeat(np.arange(len(curves)), np.diff(starts))
    assert upper_hulls(x, y, curve).tolist() == np.concatenate(each).tolist()
