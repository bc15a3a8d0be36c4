"""Each quantifier against a naive loop, a published property or another library's algorithm written out here."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import energy_distance, norm

import tallymark as tm
from tallymark.registry import QUANTIFIERS

RANKS = ("ac", "max", "x", "t50", "ms", "sweep", "bayes")


def sample(n, share, seed=0, distance=2.0, probabilities=True):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < round(n * share)).astype(int)
    s = rng.normal(distance * y)
    return y, (1 / (1 + np.exp(-s)) if probabilities else s)


@pytest.fixture(scope="module")
def data():
    y, s = sample(301, 0.4, 1)
    _, u = sample(400, 0.2, 2)
    return y, s, u


def share_of(name, y, s, u, **options):
    return tm.quantify.estimate(name, tm.tally(y, s), tm.tally(scores=u), level=None, **options).prevalence


def trained_at(method, prevalence):
    """The training prevalence as an option, for methods that have a use for it."""
    used = method.uses_training_prevalence or method.trusts_probabilities
    return {"training_prevalence": prevalence} if used else {}


def adjusted(y, s, u, t):
    tpr, fpr, q = np.mean(s[y == 1] >= t), np.mean(s[y == 0] >= t), np.mean(u >= t)
    return (min(1, max(0, (q - fpr) / (tpr - fpr))) if tpr != fpr else math.nan), tpr, fpr


def test_counting_at_one_threshold(data):
    y, s, u = data
    assert share_of("cc", y, s, u) == np.mean(u >= 0.5)
    assert share_of("ac", y, s, u, threshold=0.6) == pytest.approx(adjusted(y, s, u, 0.6)[0])
    assert share_of("bl", y, s, u) == pytest.approx(np.mean(y))


def test_thresholds_chosen_on_the_validation_sample(data):
    y, s, u = data
    every = [adjusted(y, s, u, t) for t in np.unique(s)]
    usable = [e for e in every if e[1] != e[2]]
    naive = {
        "max": max(usable, key=lambda e: e[1] - e[2])[0],
        "x": min(usable, key=lambda e: abs(1 - e[1] - e[2]))[0],
        "t50": min(usable, key=lambda e: abs(e[1] - 0.5))[0],
        "ms": np.median([e[0] for e in every if e[1] - e[2] >= 0.25]),
        "sweep": np.median([e[0] for e in usable]),
    }
    for name, value in naive.items():
        assert share_of(name, y, s, u) == pytest.approx(value, abs=1e-12), name


def test_median_sweep_falls_back_to_max():
    rng = np.random.default_rng(0)
    y, s = np.repeat([0, 1], 50), rng.random(100)
    u = rng.random(60)
    rates = [(np.mean(s[y == 1] >= t), np.mean(s[y == 0] >= t)) for t in s]
    assert max(tpr - fpr for tpr, fpr in rates) < 0.25
    assert share_of("ms", y, s, u) == share_of("max", y, s, u)


def test_probabilistic_counts(data):
    y, s, u = data
    assert share_of("pcc", y, s, u) == pytest.approx(u.mean())
    down, up = s[y == 0].mean(), s[y == 1].mean()
    assert share_of("pacc", y, s, u) == pytest.approx((u.mean() - down) / (up - down))


@pytest.mark.parametrize("training", [0.4, 0.1])
def test_em_is_where_saerens_iteration_ends(data, training):
    y, s, u = data
    pi = training
    for _ in range(100_000):
        up, down = u * pi / training, (1 - u) * (1 - pi) / (1 - training)
        new = np.mean(up / (up + down))
        if abs(new - pi) < 1e-14:
            break
        pi = new
    assert share_of("em", y, s, u, training_prevalence=training) == pytest.approx(pi, abs=1e-7)


@pytest.mark.parametrize(("u", "ends"), [([0.0, 0.0, 0.1], 0.0), ([1.0, 0.9, 1.0], 1.0)])
def test_em_at_the_ends(u, ends):
    assert share_of("em", [0, 1, 0, 1], [0.1, 0.8, 0.4, 0.6], u) == ends


def hellinger(p, q):
    return np.sqrt(np.sum((np.sqrt(p) - np.sqrt(q)) ** 2))


def test_hdy_is_a_search_over_histograms(data):
    y, s, u = data
    best = []
    for b in range(10, 111, 10):
        up, down, held = (np.histogram(v, b, (0, 1))[0] / len(v) for v in (s[y == 1], s[y == 0], u))
        grid = np.linspace(0, 1, 100)
        best.append(grid[np.argmin([hellinger(p * up + (1 - p) * down, held) for p in grid])])
    assert share_of("hdy", y, s, u) == pytest.approx(np.median(best), abs=1e-12)


@pytest.mark.parametrize("distance", ["topsoe", "hellinger"])
def test_dys_is_a_search_over_histograms(data, distance):
    y, s, u = data

    def topsoe(p, q):
        both = p + q
        return sum(a * math.log(2 * a / c) for v in (p, q) for a, c in zip(v, both, strict=True) if a > 0)

    loss = {"topsoe": topsoe, "hellinger": hellinger}[distance]
    best = []
    for b in (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 30):
        up, down, held = (np.histogram(v, b, (0, 1))[0] / len(v) for v in (s[y == 1], s[y == 0], u))
        found = minimize_scalar(
            lambda p, up=up, down=down, held=held: loss(p * up + (1 - p) * down, held), bounds=(0, 1), method="bounded",
            options={"xatol": 1e-9},
        )  # fmt: skip
        best.append(found.x)
    assert share_of("dys", y, s, u, distance=distance) == pytest.approx(np.median(best), abs=1e-4)


def test_sord_is_the_area_between_cumulative_curves(data):
    y, s, u = data
    grid = np.unique(np.concatenate((s, u)))
    up, down, held = (np.searchsorted(np.sort(v), grid, "right") / len(v) for v in (s[y == 1], s[y == 0], u))

    def area(p):
        return np.sum(np.abs(p * up + (1 - p) * down - held)[:-1] * np.diff(grid))

    found = minimize_scalar(area, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    assert share_of("sord", y, s, u) == pytest.approx(found.x, abs=1e-4)


def test_energy_is_scipys_energy_distance_at_its_least(data):
    y, s, u = data

    def distance(p):
        weights = np.where(y == 1, p / (y == 1).sum(), (1 - p) / (y == 0).sum())
        return energy_distance(s, u, u_weights=weights)

    found = minimize_scalar(distance, bounds=(0, 1), method="bounded", options={"xatol": 1e-9})
    assert share_of("energy", y, s, u) == pytest.approx(found.x, abs=1e-4)


def test_kde_is_the_likelihood_of_kernel_densities(data):
    y, s, u = data
    width = 0.1 / math.sqrt(2)
    up, down = (norm.pdf((u[:, None] - v) / width).mean(axis=1) for v in (s[y == 1], s[y == 0]))
    found = minimize_scalar(
        lambda p: -np.sum(np.log(p * up + (1 - p) * down)), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}
    )
    assert share_of("kde", y, s, u) == pytest.approx(found.x, abs=1e-4)


def test_continuous_sweep_is_an_integral_of_adjusted_counts():
    y, s = sample(400, 0.5, 3, probabilities=False)
    _, u = sample(500, 0.2, 4, probabilities=False)
    curves = {c: norm(s[y == c].mean(), s[y == c].std(ddof=1)) for c in (0, 1)}
    t = np.linspace(-4, 7, 200_001)
    tpr, fpr = curves[1].sf(t), curves[0].sf(t)
    q = 1 - np.searchsorted(np.sort(u), t, "left") / len(u)
    held = tpr - fpr >= 0.25
    naive = np.mean((q[held] - fpr[held]) / (tpr[held] - fpr[held]))
    assert share_of("cs", y, s, u, normal=True) == pytest.approx(naive, abs=2e-3)


def test_bayes_finds_the_share_of_large_samples():
    y, s = sample(100_000, 0.5, 5, probabilities=False)
    _, u = sample(200_000, 0.05, 6, probabilities=False)
    for options in ({}, {"density": "kde"}, {"bins": 20}):
        assert share_of("bayes", y, s, u, **options) == pytest.approx(0.05, abs=0.004), options


@pytest.mark.parametrize(
    "name", [name for name, m in QUANTIFIERS.items() if m.shift_proof and name not in {"hdy", "dys"}]
)
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_large_samples_give_the_truth_under_prior_shift(name, share):
    rng = np.random.default_rng(7)

    def draw(n, p):
        y = (rng.random(n) < p).astype(int)
        return y, 1 / (1 + np.exp(-2 * rng.normal(2 * y - 1)))

    y, s = draw(40_000, 0.5)
    truth, u = draw(40_000, share)
    assert share_of(name, y, s, u, **trained_at(QUANTIFIERS[name], 0.5)) == pytest.approx(truth.mean(), abs=0.015)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_batch_and_single_estimates_are_the_same(seed):
    rng = np.random.default_rng(seed)
    y, s = sample(80, 0.5, seed)
    pool = np.round(sample(200, 0.3, seed + 1)[1], 2)
    index = rng.integers(0, len(pool), (5, 40))
    for name, method in QUANTIFIERS.items():
        found = tm.quantify.estimate_many(name, tm.tally(y, s), pool, index)
        alone = [share_of(name, y, s, pool[rows]) for rows in index]
        # Range of the histograms comes from all scores unless they are probabilities, which these are.
        assert found == pytest.approx(alone, abs=1e-9, nan_ok=True), name
        assert method.name == name


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_methods_of_ranks_do_not_see_an_increasing_map(seed):
    y, s = sample(60, 0.5, seed, probabilities=False)
    _, u = sample(50, 0.3, seed + 1, probabilities=False)
    for name in RANKS:
        cut = {"threshold": 0.8} if name == "ac" else {}
        moved = {"threshold": math.exp(0.8)} if name == "ac" else {}
        before, after = share_of(name, y, s, u, **cut), share_of(name, y, np.exp(s), np.exp(u), **moved)
        assert before == pytest.approx(after, abs=1e-9), name


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_swapping_the_classes_swaps_the_shares(seed):
    y, s = sample(60, 0.5, seed)
    _, u = sample(50, 0.3, seed + 1)
    for name in ("pacc", "em", "sord", "energy", "kde", "pcc", "cs"):
        assert share_of(name, 1 - y, 1 - s, 1 - u) == pytest.approx(1 - share_of(name, y, s, u), abs=2e-4), name


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_counts_are_repeated_rows_and_weights_have_no_unit(seed):
    rng = np.random.default_rng(seed)
    y, s = sample(40, 0.5, seed)
    u = sample(30, 0.3, seed + 1)[1]
    c, d = rng.integers(1, 4, len(y)), rng.integers(1, 4, len(u))
    for name in QUANTIFIERS:
        repeated = share_of(name, np.repeat(y, c), np.repeat(s, c), np.repeat(u, d))
        for kind, factor in (("counts", 1), ("weights", 1.0), ("weights", 7.5)):
            t = tm.tally(y, s, **{kind: c * factor})
            v = tm.tally(scores=u, **{kind: d * factor})
            found = tm.quantify.estimate(name, t, v, level=None).prevalence
            # Weights are worth fewer rows than counts, so Bayesian Calibration takes fewer bins.
            if name != "bayes" or kind == "counts":
                assert found == pytest.approx(repeated, abs=1e-6, nan_ok=True), (name, kind)


def test_any_label_type_gives_the_same_share(data):
    y, s, u = data
    words = np.where(y == 1, "yes", "no")
    target = tm.tally(scores=u)
    for name in QUANTIFIERS:
        by_word = tm.quantify.estimate(name, tm.tally(words, s, pos_label="yes"), target, level=None)
        assert by_word.prevalence == share_of(name, y, s, u), name


def test_relabelled_float32_and_integers_work(data):
    y, s, u = data
    for dtype in (np.float32, np.float64):
        found = share_of("ac", y, s.astype(dtype), u.astype(dtype))
        assert found == pytest.approx(share_of("ac", y, s, u), abs=0.02)


@pytest.mark.parametrize("calibration", ["bcts", "vs"])
def test_em_with_calibration_mends_overconfident_scores(calibration):
    rng = np.random.default_rng(0)

    def draw(n, p):
        y = (rng.random(n) < p).astype(int)
        # Log odds three times too large.
        return y, 1 / (1 + np.exp(-6 * rng.normal(2 * y - 1)))

    y, s = draw(20_000, 0.5)
    truth, u = draw(20_000, 0.2)
    assert abs(share_of("em", y, s, u) - truth.mean()) > 0.03
    assert share_of("em", y, s, u, calibration=calibration) == pytest.approx(truth.mean(), abs=0.01)


def test_every_method_is_fully_declared():
    for name, method in QUANTIFIERS.items():
        for field in (method.title, method.formula, method.meaning, method.reference):
            assert field, name
    assert len(set(itertools.chain(*(m.aliases for m in QUANTIFIERS.values())))) > 5


def test_bayes_does_not_see_the_unit_of_weights():
    y, s = sample(200, 0.5, 0)
    u, w = sample(100, 0.3, 1)[1], np.random.default_rng(2).integers(1, 5, 200)
    target = tm.tally(scores=u)
    found = {
        tm.quantify.estimate("bayes", tm.tally(y, s, weights=w * factor), target, level=None).prevalence
        for factor in (1.0, 2.0, 2.5)
    }
    assert max(found) - min(found) < 1e-9


def edged(n, prevalence, seed):
    """Probabilities, calibrated at one half, of a class that starts at a sharp edge among normal ones."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    x = np.where(y, rng.exponential(1.0, n) + 0.5, rng.normal(size=n))
    up, down = np.where(x > 0.5, np.exp(0.5 - x), 0.0), np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    return y.astype(int), up / (up + down)


@pytest.mark.parametrize("prevalence", [0.05, 0.9])
@pytest.mark.parametrize("method", list(QUANTIFIERS.values()), ids=lambda m: m.name)
def test_methods_called_right_under_prior_shift_are_and_the_others_are_not(method, prevalence):
    validation, (y, scores) = tm.tally(*edged(40_000, 0.5, 0)), edged(40_000, prevalence, 1)
    found = tm.quantify.estimate(
        method.name, validation, tm.tally(scores=scores), level=None, **trained_at(method, 0.5)
    ).prevalence
    # The fixed width of kde blurs the edge; the docs say so.
    assert (abs(found - y.mean()) < (0.03 if method.name == "kde" else 0.02)) == method.shift_proof
