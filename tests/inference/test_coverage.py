"""Nominal 95 % is 95 %: a short version of `make coverage`. Limits allow for the noise of the simulations."""

import numpy as np
import pytest
from bench import worlds
from bench.coverage import CALIBRATED, band_coverage, class_coverage, class_score_coverage, coverages, lognormal
from bench.tests_under_null import NULLS, _shifted_losses, called_equivalent, losses_panel, panel, rejected
from scipy.stats import binom

import tallymark as tm
from tallymark.inference.limits.proportions import limits

pytestmark = pytest.mark.slow

_REPEATS = 250
#: 93 % less three standard errors of 250 simulations.
_LEAST = 0.93 - 3 * np.sqrt(0.93 * 0.07 / _REPEATS)

_HARD = (worlds.binormal(0.85), worlds.binormal(0.97, 2.0), worlds.undetectable(0.05, 5.0), worlds.TIES, worlds.SKEWED)


@pytest.mark.parametrize("world", _HARD, ids=lambda world: world.name)
@pytest.mark.parametrize("size", [(20, 0.5), (20, 0.05)], ids=str)
def test_intervals_of_the_ranking_hold_the_truth(world, size):
    names = ("auroc", "gini", "average_precision", "pr_auc", "spearman", "kendall", "spcc")
    found = coverages(world, names, *size, _REPEATS)
    assert {name: share for name, (share, _) in found.items() if share < _LEAST} == {}


@pytest.mark.parametrize("size", [(20, 0.5), (50, 0.05)], ids=str)
def test_intervals_at_a_threshold_hold_the_truth_and_are_not_much_too_wide(size):
    names = ("recall", "precision", "f1", "mcc", "kappa", "balanced_accuracy", "npv", "accuracy")
    found = coverages(worlds.binormal(0.85), names, *size, _REPEATS, threshold=0.75)
    assert all(_LEAST <= share <= 0.995 for share, _ in found.values()), found


@pytest.mark.parametrize("world", CALIBRATED, ids=lambda world: world.name)
def test_losses_of_probabilities_hold_the_truth_in_random_samples(world):
    names = ("brier", "log_loss", "brier_skill", "log_loss_skill", "bias", "calibration_intercept")
    found = coverages(world, names, 20, 0.1, _REPEATS)
    assert {name: share for name, (share, _) in found.items() if share < _LEAST} == {}


def test_a_calibrated_model_is_not_called_biased():
    """With class sizes held fixed the interval of bias left out 0 in 42 % of random samples."""
    share, _ = coverages(worlds.calibrated(1.5), ("bias",), 40, 0.1, 400)["bias"]
    assert share > 0.92


@pytest.mark.parametrize("design", ["random", "fixed"])
def test_weights_that_differ_are_not_forgotten(design):
    names = ("auroc", "average_precision", "precision", "f1")
    found = coverages(worlds.binormal(0.85), names, 50, 0.2, _REPEATS, weights=lognormal, threshold=1.0, design=design)
    assert {name: share for name, (share, _) in found.items() if share < _LEAST} == {}


@pytest.mark.parametrize("policy", ["youden", "f1"])
def test_intervals_at_a_chosen_threshold_include_the_choice(policy):
    names = ("f1", "precision", "recall", "mcc")
    found = coverages(worlds.binormal(0.7), names, 20, 0.3, 100, threshold=policy)
    assert {name: share for name, (share, _) in found.items() if share < 0.93 - 3 * np.sqrt(0.07 / 150)} == {}


def test_metrics_of_the_best_threshold_hold_the_truth():
    found = coverages(worlds.binormal(0.85), ("ks", "hull_auc", "h_measure", "aucc"), 50, 0.3, 40)
    assert all(share > 0.84 for share, _ in found.values()), found


def test_average_precision_at_another_prevalence_is_honest_by_being_wide():
    share, width = coverages(
        worlds.binormal(0.95), ("average_precision",), 50, 0.5, _REPEATS, design="fixed", asked=0.01
    )["average_precision"]
    assert share > _LEAST
    assert width > 0.4


@pytest.mark.parametrize("kind", ["roc", "pr"])
def test_bands_hold_the_ends_of_the_curve(kind):
    points, whole = band_coverage(kind, worlds.binormal(0.97), 20, 0.05, 60, replicates=150)
    assert points > 0.85
    assert whole > 0.88


def test_averages_over_classes_hold_the_truth():
    found = class_coverage(3, 60, ("f1_macro", "kappa", "accuracy"), 80)
    assert all(share > 0.86 for share in found.values()), found


def test_auroc_over_classes_holds_the_truth():
    """With a rare class of 12 rows 72 to 88 % held it: the upper limit was the estimate."""
    found = class_score_coverage(worlds.CLASS_WORLDS[0], 150, 50)
    assert all(share > 0.86 for share, _ in found.values()), found


@pytest.mark.parametrize("n", [5, 10, 20, 50, 200])
def test_a_proportion_is_covered_whatever_it_is(n):
    """Computed over all true shares: mid-p never falls below 91.5 %, where Wilson falls to 83 to 90 %."""
    shares = np.linspace(0.0005, 0.9995, 2000)[:, None]
    k = np.arange(n + 1)

    def least(method):
        low, high = limits(k, np.full(n + 1, n), 0.95, method)
        return (binom.pmf(k, n, shares) * ((low <= shares) & (shares <= high))).sum(axis=1).min()

    assert least("mid_p") > 0.915
    assert least("wilson") < 0.91
    assert least("clopper_pearson") >= 0.95


@pytest.mark.parametrize(
    "name", ["same shape, 0.85, 20 + 380", "sd 2 and 1/2, 0.85, 10 + 190", "sd 2 and 1/2, 0.95, 50 + 950"]
)
def test_models_of_any_shape_are_not_told_apart_by_chance(name):
    found = rejected(lambda rng: panel(rng, *NULLS[name]), 400)
    assert found <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_the_default_test_has_the_power_of_students_t():
    found = rejected(lambda rng: panel(rng, 50, 950, (0.85, 1), (0.75, 1)), 150)
    assert found > 0.8


@pytest.mark.parametrize("metric", ["brier", "log_loss"])
def test_opposite_errors_of_probabilities_are_no_difference(metric):
    """Equal expected loss in the population: with class sizes held fixed the test rejected 27 to 58 %."""
    shifts = _shifted_losses(metric)
    found = rejected(lambda rng: losses_panel(rng, 400, shifts), 300, metric=metric)
    assert found <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / 300)
    fixed = rejected(lambda rng: losses_panel(rng, 400, shifts), 150, metric=metric, sampling="stratified")
    assert fixed > 0.15


@pytest.mark.parametrize("options", [
    {"metric": "average_precision"}, {"metric": "accuracy", "threshold": 0.75},
    {"metric": "f1", "threshold": 0.75, "replicates": 200},
])  # fmt: skip
def test_paired_tests_keep_their_size(options):
    repeats = 150 if "replicates" in options else 400
    found = rejected(lambda rng: panel(rng, 60, 240, (0.85, 1), (0.85, 1)), repeats, **options)
    assert found <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / repeats)


def test_equivalence_at_the_margin_is_rarely_claimed():
    found = called_equivalent(lambda rng: panel(rng, 60, 540, (0.85, 1), (0.80, 1)), 0.05, 200)
    assert found <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_equivalence_of_several_pairs_is_corrected():
    """Four models, two at each end of the margin: every pair across is at it."""
    claimed = 0
    for i in range(60):
        rng = np.random.default_rng(i)
        a, b = (panel(rng, 100, 900, (0.85, 1), (0.80, 1)) for _ in range(2))
        both = tm.panel(a.is_positive, {"a": a.scores["a"], "b": a.scores["b"], "c": b.scores["a"], "d": b.scores["b"]})
        found = tm.compare(both, equivalence=0.05)
        across = {("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")}
        claimed += any("equivalent" in p.verdict for p in found.pairs if (p.first, p.second) in across)
    assert claimed / 60 <= 0.06 + 3 * np.sqrt(0.05 * 0.95 / 80)
