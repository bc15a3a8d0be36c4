"""Bands of curves, thresholds that were chosen, and how numbers depend on sample size."""

import math

import numpy as np
import pytest
from bench.worlds import binormal
from scipy import special, stats

import tallymark as tm
from samples import normal_sample, probability_sample
from tallymark.intervals.sizes import binormal_variance
from tallymark.registry import METRICS

DISTANCE = 1.5


def sample(rng, positives, prevalence):
    """Negatives N(0, 1) and positives N(1.5, 1), class sizes fixed."""
    world = binormal(float(special.ndtr(DISTANCE / math.sqrt(2))))
    return tm.tally(*world.sample(rng, positives, prevalence, "fixed"))


def _true_recall(fpr):
    return special.ndtr(DISTANCE + special.ndtri(fpr))


def test_pointwise_bands_hold_the_curve_at_each_point():
    rng = np.random.default_rng(0)
    held = []
    for i in range(150):
        band = tm.intervals.roc_band(sample(rng, 60, 0.3), replicates=200, seed=i)
        at = [5, 10, 20, 40]
        truth = _true_recall(band.points["x"][at])
        held.append((band.points["low"][at] <= truth) & (truth <= band.points["high"][at]))
    shares = np.mean(held, axis=0)
    # 150 simulations know 95 % to ± 3.6 points.
    assert (shares > 0.9).all(), shares


@pytest.mark.parametrize("options", [{"simultaneous": True, "replicates": 200}, {"method": "kolmogorov"}])
def test_simultaneous_bands_hold_the_whole_curve(options):
    rng = np.random.default_rng(1)
    held = []
    for _ in range(120):
        band = tm.intervals.roc_band(sample(rng, 60, 0.3), **options)
        points = band.points
        if "x_low" in points:
            # At each threshold the true point must lie in the rectangle.
            cut = points["threshold"]
            fpr, tpr = special.ndtr(-cut), special.ndtr(DISTANCE - cut)
            inside = (
                (points["x_low"] <= fpr) & (fpr <= points["x_high"]) & (points["low"] <= tpr) & (tpr <= points["high"])
            )
        else:
            inner = (points["x"] > 0.02) & (points["x"] < 0.98)
            truth = _true_recall(points["x"])
            inside = ((points["low"] <= truth) & (truth <= points["high"]))[inner]
        held.append(inside.all())
    assert np.mean(held) > 0.88


def test_fixed_threshold_limits_are_wilsons():
    tally = tm.tally(*normal_sample(80, seed=3))
    band = tm.intervals.roc_band(tally, method="fixed_threshold")
    i = len(band) // 2
    hits = round(band.points["value"][i] * tally.positives)
    wanted = tm.intervals.proportion(hits, tally.positives, method="wilson")
    assert (band.points["low"][i], band.points["high"][i]) == pytest.approx((wanted.low, wanted.high))
    with pytest.raises(tm.InputError, match="kolmogorov"):
        tm.intervals.roc_band(tally, method="fixed_threshold", simultaneous=True)


def test_kolmogorov_width_is_that_of_the_one_sample_test():
    tally = tm.tally([0] * 50 + [1] * 40, range(90))
    band = tm.intervals.roc_band(tally, method="kolmogorov", level=0.9)
    middle = np.flatnonzero((band.points["value"] > 0.4) & (band.points["value"] < 0.6))[0]
    wanted = stats.kstwo.ppf(math.sqrt(0.9), 40)
    assert band.points["high"][middle] - band.points["value"][middle] == pytest.approx(wanted)


def test_the_precision_recall_band_follows_the_curve():
    tally = tm.tally(*normal_sample(2000, 0.2, 1.5, seed=2))
    for simultaneous in (False, True):
        band = tm.intervals.pr_band(tally, simultaneous=simultaneous, replicates=200)
        assert (band.points["low"] <= band.points["value"] + 1e-12).all()
        assert (band.points["value"] <= band.points["high"] + 1e-12).all()
    half = METRICS["precision"].compute(tally.at("tpr:0.5"))
    assert band.points["value"][49] == pytest.approx(half)


def test_the_calibration_band_is_that_of_a_proportion_in_each_bin():
    tally = tm.tally(*probability_sample(400, seed=2))
    band = tm.intervals.calibration_band(tally, bins=5)
    assert band.points["n"].sum() == 400
    hits = round(float(band.points["value"][0] * band.points["n"][0]))
    wanted = tm.intervals.proportion(hits, band.points["n"][0])
    assert band.points["low"][0] == pytest.approx(wanted.low)
    wide = tm.intervals.calibration_band(tally, bins=5, simultaneous=True)
    assert (wide.points["high"] - wide.points["low"] > band.points["high"] - band.points["low"]).all()
    weighted = tm.intervals.calibration_band(
        tm.tally(*probability_sample(400, seed=2), weights=np.full(400, 9.0)), bins=5
    )
    assert weighted.points["low"] == pytest.approx(band.points["low"])


def test_calibration_errors_hold_their_true_value():
    """Calibrated scores: the true error is 0, what is seen never is."""
    rng = np.random.default_rng(0)
    held = []
    for i in range(60):
        s = rng.random(300)
        found = tm.evaluate(tm.tally(rng.random(300) < s, s), metrics=["ece", "ace"], seed=i)
        held.append([found[name].low <= 0.0 for name in ("ece", "ace")])
    assert (np.mean(held, axis=0) > 0.9).all()


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


def test_subsamples_scatter_less_as_they_grow():
    tally = tm.tally(*normal_sample(8000, 0.3, 1.2, seed=1))
    found = tm.by_sample_size(tally, sizes=[100, 400, 1600], repeats=150)
    rows = found.rows()
    widths = [row["auroc high"] - row["auroc low"] for row in rows]
    assert widths[0] > widths[1] > widths[2]
    assert rows[1]["auroc"] == pytest.approx(tm.metrics.auroc(tally), abs=0.01)
    assert 0.5 < rows[0]["pearson r"] <= 1.0
    assert found.halving("auroc") == pytest.approx(4.0, rel=0.3)
    overlapping = tm.by_sample_size(tally, "auroc", sizes=[400, 1600, 6400], repeats=300)
    assert overlapping.halving("auroc") == pytest.approx(4.0, rel=0.3)
    again = tm.by_sample_size(tally, sizes=[100, 400, 1600], repeats=150)
    assert all((a == b).all() for a, b in zip(found.values, again.values, strict=True))


def test_subsamples_are_without_replacement_and_fit_the_data():
    tally = tm.tally([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], counts=[3, 3, 3, 3])
    found = tm.by_sample_size(tally, "auroc", sizes=[10], repeats=20)
    assert found.positives == (5,)
    with pytest.raises(tm.InputError, match="sizes must"):
        tm.by_sample_size(tally, sizes=[100])
    with pytest.raises(tm.InputError, match="whole ranking"):
        tm.by_sample_size(tally, "recall")


def test_planned_sample_size_has_the_planned_power():
    rng = np.random.default_rng(0)
    distances = [math.sqrt(2) * special.ndtri(a) for a in (0.84, 0.76)]

    def panel(negatives, positives):
        y = np.repeat([0, 1], [negatives, positives])
        common = rng.normal(size=len(y))
        return tm.panel(y, {
            m: y * d + (common + rng.normal(size=len(y))) / math.sqrt(2) for m, d in zip("ab", distances, strict=True)
        })  # fmt: skip

    c = tm.intervals.delong(panel(7000, 3000)).covariance
    r = float(c[0, 1] / math.sqrt(c[0, 0] * c[1, 1]))
    plan = tm.sample_size(auroc=0.8, difference=0.08, prevalence=0.3, correlation=r, power=0.8)
    shown = [tm.compare(panel(plan.n - plan.positives, plan.positives)).p_value < 0.05 for _ in range(300)]
    assert 0.74 < np.mean(shown) < 0.86


@pytest.mark.parametrize("sd", [0.5, 1.0, 2.0])
def test_the_variance_behind_a_plan_is_that_of_normal_scores(sd):
    rng = np.random.default_rng(0)
    apart = special.ndtri(0.85) * math.hypot(1.0, sd)
    areas = [
        np.mean(np.searchsorted(np.sort(rng.normal(size=720)), rng.normal(apart, sd, 80))) / 720 for _ in range(3000)
    ]
    assert binormal_variance(0.85, sd, 9.0) / 80 == pytest.approx(np.var(areas), rel=0.08)


def test_a_wider_class_of_positives_needs_more_of_them():
    plans = [tm.sample_size(auroc=0.85, difference=0.05, prevalence=0.1, sd_ratio=r).positives for r in (0.5, 1.0, 2.0)]
    assert plans == sorted(plans)
    with pytest.raises(tm.InputError, match="sd_ratio"):
        tm.sample_size(auroc=0.85, difference=0.05, sd_ratio=0.0)
    with pytest.raises(tm.InputError, match="more rows than can be counted"):
        tm.sample_size(auroc=0.8, difference=1e-300)


def test_sizes_are_checked():
    tally = tm.tally(*normal_sample(100))
    for options, message in (
        ({"repeats": 0}, "repeats is 0"), ({"sizes": ["a"]}, "sizes is 'a'"), ({"metrics": []}, "a metric or more")
    ):  # fmt: skip
        with pytest.raises(tm.InputError, match=message):
            tm.by_sample_size(tally, **options)
    one = tm.by_sample_size(tally, "auroc", sizes=[50], repeats=10)
    assert one.to_dict()["halving"] is None
    with pytest.raises(tm.InputError, match="was not computed"):
        one.halving("brier")
    huge = tm.tally([0, 0, 1, 1], [1.0, 3.0, 2.0, 4.0], counts=[10**9] * 4)
    assert tm.by_sample_size(huge, "auroc", sizes=[100], repeats=5).positives == (50,)


def test_a_perfect_curve_is_not_certain():
    tally = tm.tally([0] * 4 + [1] * 4, range(8))
    for band in (tm.intervals.pr_band(tally, replicates=50), tm.intervals.roc_band(tally, replicates=50)):
        assert (band.points["low"][50:90] < 1.0).all()


@pytest.mark.parametrize("options", [{"auroc": 1.2, "difference": 0.1}, {"auroc": 0.8, "difference": 0.0}])
def test_bad_plans(options):
    with pytest.raises(tm.InputError, match="between 0 and 1"):
        tm.sample_size(**options)
