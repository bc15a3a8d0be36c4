"""Limits of stratified audits and of unequal probabilities: exact coverage by enumeration, and agreement between figures."""

import dataclasses
import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

import tallymark as tm
from tallymark.audits.called_parts import OF_AUDIT, CalledParts
from tallymark.audits.checked_rows import audit_of
from tallymark.audits.draws import _weights_by_class, drawn
from tallymark.audits.prevalences import audited
from tallymark.audits.shares import share
from tallymark.audits.strata import Stratum
from tallymark.quantify.estimation.prevalence import Prevalences


def stratum(size, checked, positives):
    truth = (np.arange(checked) < positives).astype(float)
    return Stratum(float(size), 0.0, truth, np.zeros(checked), np.ones(checked), np.full(checked, checked / size))


def limits(*strata):
    low, high = share([stratum(*one) for one in strata], 0.0).limits(0.95)
    size = sum(one[0] for one in strata)
    return low * size, high * size


def test_a_complete_stratum_beside_a_rare_one_covers_whatever_was_missed():
    # All 8000 rows called positive were checked, and 1534 of the 92 000 others (an elusion test).
    ends = np.array([limits((8_000, 8_000, 8_000), (92_000, 1_534, k)) for k in range(35)])
    for missed in range(0, 601, 20):
        chances = hypergeom.pmf(np.arange(35), 92_000, missed, 1_534)
        held = (ends[:, 0] <= 8_000 + missed) & (8_000 + missed <= ends[:, 1])
        assert chances @ held > 0.925, missed


@pytest.mark.parametrize(
    ("strata", "truth"),
    [
        (((20_000, 40), (500, 60), (500, 60), (300, 60)), (200, 100, 150, 100)),
        (((500, 50), (10_000, 150)), (450, 100)),
        (((100, 10), (1_000, 30)), (90, 40)),
        (((5, 5), (30, 4), (700, 20)), (1, 1, 14)),
    ],
)
def test_a_large_stratum_with_few_checked_rows_covers(strata, truth):
    # Enumerated over the stratum that matters most (the last but one, or the first), the others as expected.
    heavy = int(np.argmax([(size - n) / n for size, n in strata]))
    size, n = strata[heavy]
    found = np.arange(n + 1)
    chances = hypergeom.pmf(found, size, truth[heavy], n)
    held = 0.0
    for k in found[chances > 1e-5]:
        cells = [(*one, int(k) if place == heavy else round(true * one[1] / one[0]))
                 for place, (one, true) in enumerate(zip(strata, truth, strict=True))]  # fmt: skip
        low, high = limits(*cells)
        held += chances[k] * (low <= sum(truth) <= high)
    assert held > 0.93


def test_a_single_stratum_drawn_with_an_even_coin_has_the_limits_of_mid_p(monkeypatch):
    monkeypatch.setattr("tallymark.audits.draws.OUTWARDS", 0.5)
    for found in (0, 1, 5, 20):
        one = stratum(10_000_000, 40, found)
        low, high = drawn([[one]], 0.0)[0].limits(0.95)
        wanted = tm.intervals.proportion(found, 40)
        assert low / 1e7 == pytest.approx(wanted.low, abs=0.004)
        assert high / 1e7 == pytest.approx(wanted.high, abs=0.006)


def elusion(found, size=9_200, checked=153):
    """800 rows called positive, all checked and all right; of the others some were checked."""
    label = np.full(800 + size, np.nan)
    label[:800], label[800 : 800 + checked] = 1.0, np.arange(checked) < found
    return pd.DataFrame({"y": label, "called": (np.arange(800 + size) < 800).astype(int)})


@pytest.mark.parametrize("found", [0, 1, 5])
def test_limits_of_count_and_recall_imply_one_another(found):
    one = tm.audits.estimate(elusion(found), label="y", predicted="called", stratum="called")
    recall, count = one["recall"], one.prevalence
    assert recall.low == pytest.approx(800 / count.count_high, rel=2e-3)
    assert recall.high == pytest.approx(800 / count.count_low, rel=2e-3)
    assert one["precision"].low == one["precision"].high == 1.0
    assert one["npv"].low == pytest.approx(1 - (count.count_high - 800) / 9_200, rel=2e-3)
    again = tm.audits.estimate(elusion(found), label="y", predicted="called", stratum="called")
    assert again.to_dict() == one.to_dict()


def test_one_positive_in_a_complete_stratum_does_not_make_the_others_certain():
    # 5 rows checked completely with one found, 20 of 700 checked without: once 1 (1 to 2), far too short.
    low, high = limits((5, 5, 1), (700, 20, 0))
    none = limits((5, 5, 0), (700, 20, 0))
    assert low == 1.0
    assert high == pytest.approx(none[1] + 1, rel=0.05)
    assert 60 < high < 200


def test_unequal_probabilities_leave_room_for_a_heavy_row_that_was_not_found():
    # Only light rows are positive; with the heaviest row's weight the upper limit is several times the estimate.
    inclusion = np.r_[np.full(50, 0.5), np.full(10, 0.005)]
    light = Stratum(2_100.0, 0.0, np.r_[np.ones(10), np.zeros(50)], np.zeros(60), np.ones(60), inclusion)
    found = share([light], 0.0)
    low, high = found.limits(0.95)
    assert found.interval_method == "draws"
    assert low <= found.value
    assert high > 0.2 > 10 * found.value


def test_a_pseudo_row_takes_the_weight_of_a_row_that_was_not_certain():
    certain = Stratum(
        30.0, 0.0, np.r_[np.ones(10), np.zeros(10)], np.zeros(20), np.ones(20), np.r_[np.ones(19), 1 / 11]
    )
    low, high = (30.0 * end for end in share([certain], 0.0).limits(0.95))
    assert 10.0 <= low <= high <= 20.0


def test_measures_never_leave_what_is_known(seed=3):
    rng = np.random.default_rng(seed)
    for strata, slope in itertools.product((1, 3), (0.0, 0.7)):
        y, p, layer = rng.random(300) < 0.2, rng.random(300), rng.integers(strata, size=300)
        label = np.where(rng.random(300) < 0.3, y, np.nan)
        audit = audit_of({"y": label, "p": p, "h": layer}, "y", "p", [], None, ["h"], None, 1)
        for one in CalledParts.of(audit, p > 0.5, slope).measures(OF_AUDIT, 0.95).values():
            assert 0.0 <= one.low <= one.value <= one.high <= 1.0, one


def test_many_groups_do_not_add_a_pseudo_row_each():
    # 40 groups of 50 rows, 10 checked in each and one positive in all: the total is not 40 times half a row too high.
    label = np.tile(np.where(np.arange(50) < 10, 0.0, np.nan), 40)
    label[0] = 1.0
    frame = pd.DataFrame({"y": label, "g": np.repeat(np.arange(40), 50)})
    total = tm.audits.from_audit(frame, label="y", by="g").total
    assert total.count == pytest.approx(5.0)
    assert total.count_high < 30.0


def test_the_standard_error_is_that_of_the_design():
    # survey's: sqrt(Σ N² (1 - f) s² / n) / N, here by hand; the limits are wider, as none was found in a stratum of 900.
    frame = pd.DataFrame({"y": np.r_[np.ones(4), np.zeros(16), np.full(80, np.nan), np.zeros(20), np.full(880, np.nan)],
                          "h": np.repeat([0, 1], [100, 900])})  # fmt: skip
    one = audited(audit_of({k: frame[k].to_numpy() for k in frame}, "y", None, [], None, ["h"], None, 1), 0.95)
    assert one.details["standard_error"] == pytest.approx(math.sqrt(100**2 * 0.8 * (0.16 * 20 / 19) / 20) / 1_000)
    assert one.high - one.prevalence > 3 * one.details["standard_error"]


def test_very_uneven_weights_are_warned_of():
    rng = np.random.default_rng(0)
    size = np.exp(1.5 * rng.normal(size=5_000))
    chance = np.minimum(1.0, 200 * size / size.sum())
    y = np.where(rng.random(5_000) < chance, rng.random(5_000) < 0.1, np.nan)
    frame = pd.DataFrame({"y": y, "i": chance})
    with pytest.warns(tm.GuardWarning, match="TM113: The weights of"):
        tm.audits.from_audit(frame, label="y", inclusion="i")


@pytest.mark.parametrize(
    ("positive", "warned"), [(range(96, 100), True), (range(12, 100, 25), False), (range(4), False)]
)
def test_few_rows_of_a_class_matter_by_their_weight(positive, warned):
    # 100 checked rows with weights from 3 to 20, which count like 78; four are positive.
    frame = pd.DataFrame(
        {"y": np.isin(np.arange(100), positive).astype(float), "i": 1.0 / np.geomspace(3.0, 20.0, 100)}
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tm.quantify.from_audit(frame, label="y", inclusion="i")
    assert [one.message.code for one in said] == ["TM113"] * warned


def test_the_pseudo_row_of_a_heavy_class_is_heavier():
    weights = np.geomspace(3.0, 20.0, 100)
    left = weights - 1.0
    typical = left @ left / left.sum()
    for positive, ratio in (
        (np.arange(100) >= 90, left[90:].mean() / left.mean()),
        (np.arange(100) < 10, 1.0),
        (np.zeros(100, bool), 1.0),
    ):
        s = Stratum(weights.sum(), 0.0, positive.astype(float), np.zeros(100), np.ones(100), 1.0 / weights)
        assert _weights_by_class(s)[1] == pytest.approx(left.max() - (left.max() - typical) / ratio)


@pytest.mark.parametrize(("heavy", "warned"), [(True, True), (False, False)])
def test_uneven_weights_matter_where_the_rarer_class_is_heavy(heavy, warned):
    # 100 checked rows with weights from 3 to 100, which count like 46; ten positives have the largest or the smallest weights.
    chance = 1.0 / np.geomspace(3.0, 100.0, 100)
    place = np.arange(100)
    frame = pd.DataFrame({"y": ((place >= 90) if heavy else (place < 10)).astype(float), "i": chance})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tm.quantify.from_audit(frame, label="y", inclusion="i")
    assert [one.message.code for one in said] == ["TM113"] * warned


@pytest.mark.parametrize("low", [1e-20, 1e-9, 0.2 / 2_000])
def test_a_growth_from_what_may_be_none_has_no_upper_limit(low):
    class Barely:
        """A share whose lower limit is less than half a row."""

        def limits(self, _):
            return low, 0.01

    frame = pd.DataFrame(
        {"y": np.where(np.arange(4_000) % 5 == 0, np.arange(4_000) % 100 == 0, np.nan), "g": np.arange(4_000) // 2_000}
    )
    by = tm.audits.from_audit(frame, label="y", by="g")
    assert math.isfinite(by.growth(0, 1).high)
    assert dataclasses.replace(by, shares={**by.shares, (0,): Barely()}).growth(0, 1).high == math.inf


def test_resampled_growth_follows_the_same_rule():
    parts = {
        (year,): tm.audits.from_counts(
            tm.confusion([1] * 50 + [0] * 50, [1] * 45 + [0] * 55), predicted_positive=k, n=1_000
        )
        for year, k in ((1, 20), (2, 40))
    }
    drawn = {(1,): np.r_[np.full(10, 1e-12), np.full(90, 0.02)], (2,): np.full(100, 0.04)}
    assert Prevalences(("year",), parts, drawn).growth(1, 2).high == math.inf
    drawn[1,] = np.full(100, 0.02)
    assert Prevalences(("year",), parts, drawn).growth(1, 2).high == pytest.approx(1.0)
