"""Planned sample sizes: power as promised."""

import math

import numpy as np
import pytest
from scipy import special

import tallymark as tm
from tallymark.inference.sample_size import binormal_placements


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
    of_negatives, of_positives = binormal_placements(0.85, sd)
    assert of_negatives / 720 + of_positives / 80 == pytest.approx(np.var(areas), rel=0.08)


def test_a_wider_class_of_positives_needs_more_of_them():
    plans = [tm.sample_size(auroc=0.85, difference=0.05, prevalence=0.1, sd_ratio=r).positives for r in (0.5, 1.0, 2.0)]
    assert plans == sorted(plans)
    with pytest.raises(tm.InputError, match="sd_ratio"):
        tm.sample_size(auroc=0.85, difference=0.05, sd_ratio=0.0)
    with pytest.raises(tm.InputError, match="more rows than can be counted"):
        tm.sample_size(auroc=0.8, difference=1e-300)


@pytest.mark.parametrize("options", [{"auroc": 1.2, "difference": 0.1}, {"auroc": 0.8, "difference": 0.0}])
def test_bad_plans(options):
    with pytest.raises(tm.InputError, match="between 0 and 1"):
        tm.sample_size(**options)


def test_a_plan_near_1_allows_for_the_default_test():
    """AUROCs of 0.995 and 0.965: the normal formula asked for 58 positives, which showed the difference in 60 % of samples."""
    areas = {"a": 0.995, "b": 0.965}
    plan = tm.sample_size(auroc=0.98, difference=0.03, prevalence=0.1, correlation=0.27)
    assert 70 <= plan.positives <= 85

    def shown(seed):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [plan.n - plan.positives, plan.positives])
        common = rng.normal(size=len(y))
        noise = {m: (common + rng.normal(size=len(y))) / math.sqrt(2) for m in areas}
        panel = tm.panel(y, {m: noise[m] + y * math.sqrt(2) * special.ndtri(area) for m, area in areas.items()})
        return tm.compare(panel).p_value < 0.05

    assert np.mean([shown(seed) for seed in range(60)]) > 0.72


def test_plans_of_any_power_exist():
    for power in (0.001, 0.3, 0.999):
        assert tm.sample_size(auroc=0.9, difference=0.1, power=power).positives >= 2
