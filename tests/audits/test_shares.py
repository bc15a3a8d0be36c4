"""Shares of finite populations against R's survey package, ppi-python, identities, and simulated coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.audits.checked_rows import audit_of
from tallymark.audits.designs import Layers, allocated, chances, cut_strata, doubt, drawn_by, drawn_within
from tallymark.audits.prevalences import audited

ROW = np.arange(400)
SCORE = ((ROW * 37) % 101) / 101 * 0.6 + 0.02
TRUTH = (((ROW * 53) % 97) / 97 < SCORE).astype(float)
LAYER = (SCORE > 0.3).astype(int)
SIMPLE = (ROW * 7) % 10 == 3
STRATIFIED = ((LAYER == 0) & SIMPLE) | ((LAYER == 1) & np.isin((ROW * 7) % 10, [1, 4, 6]))


def frame(seen):
    return pd.DataFrame({"p": SCORE, "y": np.where(seen, TRUTH, np.nan), "h": LAYER})


@pytest.mark.parametrize(
    ("estimator", "value", "error"),
    # survey 4.1: svymean, calibrate(~p), svyratio; ppi-python 0.2.3: ppi_mean_pointestimate with lam=1.
    [
        ("expansion", 0.375, 0.07354355),
        ("greg", 0.3378932001, 0.0693124),
        ("ratio", 0.334699148402, None),
        ("difference", 0.33689109, None),
    ],
)
def test_estimators_are_those_of_survey_and_ppi_python(estimator, value, error):
    one = tm.audits.from_audit(frame(SIMPLE), label="y", score="p", estimator=estimator)
    assert one.prevalence == pytest.approx(value, abs=1e-8)
    if error is not None:
        assert one.details["standard_error"] == pytest.approx(error, abs=1e-6)


def test_strata_are_those_of_survey():
    one = tm.audits.from_audit(frame(STRATIFIED), label="y", score="p", stratum="h")
    assert one.prevalence == pytest.approx(0.3345436508, abs=1e-9)
    assert one.details["standard_error"] == pytest.approx(0.05912736, abs=1e-7)
    # Rows with the same probability are a stratum.
    shares = pd.Series(STRATIFIED).groupby(LAYER).mean()
    same = frame(STRATIFIED).assign(i=shares.reindex(LAYER).to_numpy())
    assert tm.audits.from_audit(same, label="y", score="p", inclusion="i").interval == one.interval
    # The checked rows alone say the same.
    alone = tm.audits.from_audit(same[STRATIFIED], label="y", score="p", inclusion="i")
    assert alone.prevalence == pytest.approx(one.prevalence)
    assert alone.n == pytest.approx(400)
    assert alone.details["standard_error"] == pytest.approx(one.details["standard_error"])


@given(
    st.integers(0, 10_000), st.sampled_from(["ppi", "expansion", "difference", "ratio", "greg"]), st.integers(5, 100)
)
def test_known_and_estimated_add_up_and_a_census_is_exact(seed, estimator, n):
    rng = np.random.default_rng(seed)
    p = rng.random(120)
    y = (rng.random(120) < p).astype(float)
    seen = np.arange(120) < n
    part = pd.DataFrame({"p": p, "y": np.where(seen, y, np.nan)})
    one = tm.audits.from_audit(part, label="y", score="p", estimator=estimator, pos_label=1)
    assert one.details["found"] + one.details["estimated"] == pytest.approx(one.count)
    assert one.details["found"] <= one.count_low <= one.count <= one.count_high <= 120 - (n - one.details["found"])
    whole = tm.audits.from_audit(part.assign(y=y), label="y", score="p", estimator=estimator, pos_label=1)
    assert whole.low == whole.high == whole.prevalence == pytest.approx(y.mean())


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_groups_add_up_to_their_total(seed, groups):
    rng = np.random.default_rng(seed)
    p = rng.random(600)
    frame = pd.DataFrame(
        {"p": p, "y": np.where(rng.random(600) < 0.4, rng.random(600) < p, np.nan), "g": rng.integers(groups, size=600)}
    )
    found = tm.audits.from_audit(frame, label="y", score="p", by="g")
    assert sum(one.count for one in found.values()) == pytest.approx(found.total.count)
    assert found.total.n == 600
    assert found.total.low < found.total.prevalence < found.total.high
    assert found.total.details["variance"] < max(one.details["variance"] for one in found.values())
    grown = found.growth(0, 1)
    assert grown.low <= grown.value <= grown.high


@pytest.mark.parametrize("design", ["simple", "stratified", "uncertainty"])
@pytest.mark.parametrize(("share", "n"), [(0.01, 50), (0.05, 100), (0.3, 50)])
def test_limits_hold_for_rare_classes_and_few_labels(design, share, n):
    rng = np.random.default_rng(11)
    hits, repeats = 0, 250
    for _ in range(repeats):
        y = rng.random(5_000) < share
        p = 1 / (1 + np.exp(-(2 * (rng.normal(size=5_000) + 2 * y) - 2 + np.log(share / (1 - share)))))
        codes = cut_strata(p, 5)
        if design == "simple":
            rows, chance = rng.choice(5_000, n, replace=False), np.full(5_000, n / 5_000)
        elif design == "stratified":
            taken = allocated(Layers.of(codes, p, np.ones(5_000)), n, 2, "neyman")
            rows, chance = drawn_within(codes, taken, rng), (taken / np.bincount(codes))[codes]
        else:
            chance = chances(doubt(p), n)
            rows = drawn_by(chance, rng)
        label = np.full(5_000, np.nan)
        label[rows] = y[rows]
        one = audited(audit_of({"y": label, "p": p, "i": chance}, "y", "p", [], "i", [], None, None), 0.95)
        hits += one.low <= y.mean() <= one.high
    # Four standard errors of a coverage of 95 %.
    assert hits / repeats > 0.95 - 4 * np.sqrt(0.05 * 0.95 / repeats)


def test_nothing_found_leaves_an_upper_limit():
    one = frame(SIMPLE).assign(y=lambda f: f.y * 0)
    with pytest.warns(tm.GuardWarning, match="TM117"):
        found = tm.audits.from_audit(one, label="y", score="p")
    assert found.low == found.prevalence == 0.0
    # Mid-p of 0 in 40, of a finite population.
    assert 0.04 < found.high < 0.08


def test_a_column_of_values_is_summed():
    rng = np.random.default_rng(0)
    data = frame(SIMPLE).assign(v=rng.gamma(2.0, size=400))
    one = tm.audits.from_audit(data, label="y", score="p", value="v", estimator="expansion")
    seen = data[SIMPLE]
    assert one.prevalence == pytest.approx((seen.y * seen.v).sum() / seen.v.sum())
    assert one.n == pytest.approx(data.v.sum())
    same = tm.audits.from_audit(data.assign(v=7.0), label="y", score="p", value="v")
    assert same.interval == pytest.approx(tm.audits.from_audit(data, label="y", score="p").interval)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f.assign(y=None), {}, "needs rows that were checked"),
        (lambda f: f.assign(i=0.0), {"inclusion": "i"}, "outside the sample"),
        (lambda f: f.assign(i=2.0), {"inclusion": "i"}, "for weights pass 1 / weight"),
        (lambda f: f[:100].assign(i=0.01), {"inclusion": "i"}, "not all of the target"),
        (lambda f: f.assign(p=np.nan), {}, "p has missing values"),
        (lambda f: f.assign(v=0.0), {"value": "v"}, "all zero"),
        (lambda f: f, {"estimator": "magic"}, "estimator"),
        (lambda f: f.assign(y=np.where(f.h == 1, f.y, np.nan)), {"stratum": "h"}, "no checked row"),
    ],
)
def test_bad_audits_are_refused(change, options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.audits.from_audit(change(frame(SIMPLE)), label="y", score="p", **options)


def test_a_group_with_a_single_checked_row_has_no_estimate():
    data = frame(SIMPLE).assign(g=np.where(np.flatnonzero(SIMPLE)[0] == ROW, "alone", "rest"))
    data.loc[1:3, "g"] = "alone"
    found = tm.audits.from_audit(data, label="y", score="p", by="g")
    assert "checked" in found["alone"].reason
    assert found.total.reason is not None


@pytest.mark.parametrize("wrong", ["1", "yes", 2])
def test_a_positive_label_nobody_has_is_refused(wrong):
    with pytest.raises(tm.InputError, match="does not occur"):
        tm.audits.from_audit(frame(SIMPLE), label="y", score="p", pos_label=wrong)


def test_an_empty_label_is_not_a_finding():
    data = frame(SIMPLE)
    text = data.assign(y=data.y.map({1.0: "1", 0.0: "0"}).fillna(""))
    found = tm.audits.from_audit(text, label="y", score="p", pos_label="1")
    assert found.interval == tm.audits.from_audit(data, label="y", score="p").interval


def test_values_of_nothing_have_a_reason():
    data = frame(SIMPLE).assign(v=np.where(LAYER == 1, 2.0, 0.0))
    found = tm.audits.from_audit(data, label="y", score="p", by="h", value="v")
    assert found[0].reason is not None
    assert found[1].low < found[1].prevalence < found[1].high


def test_rows_that_could_not_be_drawn_leave_nothing_to_say_of_all():
    data = frame(SIMPLE & (LAYER == 1)).assign(i=np.where(LAYER == 1, 0.1, 0.0))
    assert "inclusion 0" in tm.audits.from_audit(data, label="y", score="p", inclusion="i").reason
