"""Quantised tallies: what is promised of them holds on smooth, spiky, heavy-tailed and narrow data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from samples import labelled_scores
from tallymark.registry import METRICS
from tallymark.summaries.score_grid import cell_key

SHAPES = {
    "smooth": lambda rng, n: rng.normal(size=n),
    "spiky": lambda rng, n: rng.normal(size=n).round(1) + rng.integers(0, 2, n) * 1e-9,
    "heavy": lambda rng, n: rng.standard_cauchy(size=n) ** 3,
    "narrow": lambda rng, n: 1.0 + 1e-4 * rng.normal(size=n),
}


def sample(shape, n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    s = SHAPES[shape](rng, n)
    y = (rng.random(n) < 0.3).astype(int)
    return y, s + y * np.std(np.clip(s, *np.quantile(s, [0.1, 0.9])))


def probabilities(shape, **options):
    y, s = sample(shape, **options)
    z = (s - np.median(s)) / (np.subtract(*np.quantile(s, [0.75, 0.25])) or 1.0)
    return y, 1 / (1 + np.exp(-np.clip(z, -30, 30)))


of_tally = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", of_tally)
def test_the_rows_metric_lies_in_the_bound(shape, name):
    draw = probabilities if METRICS[name].needs == "probabilities" else sample
    for seed in range(4):
        t = tm.tally(*draw(shape, seed=seed))
        low, high = tm.bound(t.quantise(), name)
        exact = METRICS[name].compute(t)
        slack = 1e-9 * max(1.0, abs(exact))
        assert low - slack <= exact <= high + slack
        if shape == "smooth":
            assert METRICS[name].compute(t.quantise()) == pytest.approx(exact, rel=0.01, abs=1e-3)


@given(labelled_scores(st.floats(0.5, 0.5005)))
def test_the_bound_holds_when_cells_are_crowded(sample):
    t = tm.tally(*sample)
    for name, options in [
        ("auroc", {}), ("average_precision", {}), ("ks", {}), ("h_measure", {}), ("log_loss", {}), ("ece", {}),
        ("ace", {"bins": 3}), ("spearman", {}), ("kendall", {}),
        *(("pr_auc", {"interpolation": i}) for i in ("step", "trapezoid", "davis_goadrich")),
        *(("partial_auc", {"fpr": (0.2, 0.7), "standard": s}) for s in ("none", "box", "mcclish", "concordant")),
        *(("partial_auc", {"tpr": (0.2, 0.7), "standard": s}) for s in ("none", "concordant")),
    ]:  # fmt: skip
        try:
            exact = METRICS[name].compute(t, **options)
            low, high = tm.bound(t.quantise(), name, **options)
        except tm.Undefined:
            continue
        assert low - 1e-9 <= exact <= high + 1e-9, name


def test_the_bound_is_narrow_on_large_smooth_data():
    t = tm.tally(*sample("smooth", 1_000_000))
    low, high = tm.bound(t.quantise(), "auroc")
    assert 0 < high - low < 1e-4
    assert sum(map(len, t.quantise().runs)) < 250_000


def test_repeated_scores_stay_exact():
    y, s = sample("smooth")
    t = tm.tally(y, s.round(1))
    q = t.quantise()
    assert q.exact
    for name in ("auroc", "average_precision", "spcc", "kendall"):
        assert METRICS[name].compute(q) == pytest.approx(METRICS[name].compute(t), rel=1e-12)
        assert tm.bound(q, name)[0] == tm.bound(q, name)[1]


def test_asked_thresholds_are_exact_and_others_say_where_they_moved():
    y, s = sample("narrow")
    t = tm.tally(y, s)
    q = t.quantise(thresholds=[1.00005])
    assert q.at(1.00005).tp == t.at(1.00005).tp
    with pytest.warns(tm.GuardWarning, match="TM106.*was moved to") as caught:
        c = q.at(1.000051)
    assert c.threshold != 1.000051
    assert c.tp == t.at(c.threshold).tp
    assert caught[0].message.code == "TM106"


def test_thresholds_are_rounded_to_the_scores_own_dtype():
    s = np.array([0.7, 0.7, 0.3, 0.9, 0.1, 0.7], dtype=np.float32)
    t = tm.tally([0, 1, 0, 1, 0, 1], s)
    np.testing.assert_array_equal(t.quantise(thresholds=[0.7]).at(0.7).matrix, t.at(0.7).matrix)


def test_weighted_and_unweighted_cells_do_not_merge():
    y, s = sample("smooth", 50)
    with pytest.raises(tm.InputError, match="weighted and unweighted"):
        tm.tally(y, s).quantise().merge(tm.tally(y, s, weights=np.ones(50)).quantise())
    with pytest.raises(tm.InputError, match="quantised"):
        tm.mann_whitney(tm.tally(*sample("narrow", 50)).quantise())


def test_moments_stay_exact():
    y, s = sample("heavy")
    t, q = tm.tally(y, s), tm.tally(y, s).quantise()
    for exact, kept in zip(t.runs, q.runs, strict=True):
        assert exact.moments == kept.moments
    assert tm.metrics.spcc(q) == tm.metrics.spcc(t)


@pytest.mark.parametrize("kind", ["unit", "counts", "weights"])
@pytest.mark.parametrize("shape", SHAPES)
def test_merging_quantised_tallies_equals_one_pass(shape, kind):
    y, s = sample(shape)
    mass = {"counts": np.arange(len(y)) % 3 + 1, "weights": np.arange(len(y)) % 7 + 0.5}

    def part(rows):
        options = {} if kind == "unit" else {kind: mass[kind][rows]}
        return tm.tally(y[rows], s[rows], **options)

    thresholds = [0.25, 1.0]
    halves = [part(slice(0, 1_500)), part(slice(1_500, None))]
    merged = halves[0].quantise(thresholds).merge(halves[1].quantise(thresholds))
    mixed = halves[0].quantise(thresholds).merge(halves[1])  # an exact tally joins a quantised one
    whole = part(slice(None)).quantise(thresholds)
    for other in (merged, mixed):
        for a, b in zip(other.runs, whole.runs, strict=True):
            assert a.columns().keys() == b.columns().keys()
            for name, column in a.columns().items():
                np.testing.assert_allclose(column, b.columns()[name], rtol=1e-12)
            assert a.moments.m3 == pytest.approx(b.moments.m3, rel=1e-6)
    with pytest.raises(tm.InputError, match="different thresholds"):
        halves[0].quantise([0.5]).merge(halves[1].quantise([0.6]))
    with pytest.raises(tm.InputError, match="quantised already"):
        whole.quantise()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=40))
def test_the_key_is_monotone_and_close(values):
    s = np.sort(np.array(values))
    key = cell_key(s)
    assert not np.isnan(key).any()
    assert (key[1:] >= key[:-1]).all()
    finite = np.isfinite(key) & (np.abs(s) > 1e-290)
    assert (np.abs(key - s)[finite] <= np.abs(s[finite]) * 2**-12).all()


def _adversarial(rng):
    """Scores built to break bounds: spikes and spreads inside single cells, offsets, extreme scales, ties at bin edges."""
    n = int(rng.integers(20, 400))
    base = rng.choice([0.5, 0.25, 0.3, 0.1, 0.9])
    parts = []
    for _ in range(int(rng.integers(1, 5))):
        kind, size = rng.integers(4), int(rng.integers(1, n))
        if kind == 0:
            parts.append(np.full(size, base))
        elif kind == 1:
            parts.append(base + 1e-7 * np.arange(1, size + 1))
        elif kind == 2:
            parts.append(rng.random(size))
        else:
            parts.append(np.round(rng.random(size), 1))
    s = np.clip(np.concatenate(parts), 0.0, 1.0)
    y = rng.random(len(s)) < rng.random()
    # A spike of one class beside a spread of the other is the hardest case.
    if rng.random() < 0.5:
        y = np.where(s == base, int(rng.integers(2)), y)
    y[:2], s[:2] = (0, 1), (base, base + 1e-7)
    return y.astype(int), s


@pytest.mark.parametrize("name", [n for n in METRICS if METRICS[n].needs in {"tally", "probabilities"}])
def test_bounds_hold_on_data_built_to_break_them(name):
    rng = np.random.default_rng(0)
    for _ in range(60):
        y, s = _adversarial(rng)
        scale = 1.0 if METRICS[name].needs == "probabilities" else float(rng.choice([1.0, 1e-150, 1e150, -3.0]))
        offset = 0.0 if METRICS[name].needs == "probabilities" else float(rng.choice([0.0, 0.0, 1e6]))
        exact = tm.tally(y, s * scale + offset * (abs(scale) < 10))
        try:
            truth = METRICS[name].compute(exact)
            low, high = tm.bound(exact.quantise(), name)
        except tm.Undefined:
            continue
        room = 1e-9 * max(1.0, abs(truth)) if math.isfinite(truth) else 0.0
        assert low - room <= truth <= high + room, (name, truth, low, high)
