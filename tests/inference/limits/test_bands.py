"""Bands of curves: pointwise, simultaneous, and of calibration."""

import math

import numpy as np
import pytest
from bench.worlds import binormal
from scipy import special, stats

import tallymark as tm
from samples import normal_sample, probability_sample
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


def test_a_perfect_curve_is_not_certain():
    tally = tm.tally([0] * 4 + [1] * 4, range(8))
    for band in (tm.intervals.pr_band(tally, replicates=50), tm.intervals.roc_band(tally, replicates=50)):
        assert (band.points["low"][50:90] < 1.0).all()
