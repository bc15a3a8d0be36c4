"""Planning an audit, and what its rows tell of a classifier."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark._numbers import amount
from tallymark.audits.designs import Layers, allocated, chances, cut_strata, drawn_by, drawn_within


def population(rng, rows=20_000):
    p = rng.beta(0.3, 6, rows)
    return pd.DataFrame({"p": p, "region": rng.choice(["a", "b", "c"], rows, p=[0.7, 0.25, 0.05])}), rng.random(
        rows
    ) < p


@given(
    st.integers(0, 1_000),
    st.integers(10, 500),
    st.integers(1, 12),
    st.sampled_from(["neyman", "power", "proportional"]),
)
def test_allocations_add_up_within_what_there_is(seed, n, strata, allocation):
    rng = np.random.default_rng(seed)
    p = np.concatenate((rng.beta(0.2, 9, 500), rng.choice([0.0, 0.5, 1.0], 100)))
    codes = cut_strata(p, strata)
    layers = Layers.of(codes, p, np.ones(len(p)))
    taken = allocated(layers, n, 2, allocation)
    sizes = np.bincount(codes)
    assert (taken <= sizes).all()
    assert (taken >= np.minimum(sizes, 2)).all()
    assert taken.sum() == max(n, np.minimum(sizes, 2).sum())
    drawn = drawn_within(codes, taken, rng)
    assert len(np.unique(drawn)) == taken.sum()
    assert (np.bincount(codes[drawn], minlength=len(taken)) == taken).all()


@given(st.integers(0, 1_000), st.integers(2, 199))
def test_equal_scores_are_in_one_stratum_and_chances_add_up(seed, n):
    rng = np.random.default_rng(seed)
    p = rng.choice([0.01, 0.2, 0.5, 0.9], 200)
    codes = cut_strata(p, 5)
    assert all(len(np.unique(codes[p == value])) == 1 for value in np.unique(p))
    chance = chances(np.sqrt(p * (1 - p)), n)
    assert chance.sum() == pytest.approx(n)
    assert ((chance > 0) & (chance <= 1 + 1e-12)).all()
    assert abs(len(drawn_by(chance, rng)) - n) <= 1


def test_rows_are_drawn_with_the_probabilities_that_are_said():
    p = np.linspace(0.001, 0.6, 60)
    chance = chances(np.sqrt(p * (1 - p)), 12)
    rng = np.random.default_rng(0)
    seen = np.zeros(60)
    for _ in range(4_000):
        seen[drawn_by(chance, rng)] += 1
    assert np.abs(seen / 4_000 - chance).max() < 4.5 * np.sqrt(0.25 / 4_000)


def test_a_plan_keeps_its_promise():
    rng = np.random.default_rng(5)
    data, _ = population(rng)
    plan = tm.audits.plan(data, score="p", width=0.03)
    assert plan.size < plan.simple
    ((_, low, high),) = plan.expected.values()
    assert high - low <= 0.03
    widths = []
    for seed in range(40):
        drawn = tm.audits.plan(data, score="p", size=plan.size, seed=seed)
        label = np.full(len(data), np.nan)
        label[drawn.drawn] = rng.random(drawn.size) < data.p[drawn.drawn]
        one = tm.audits.from_audit(data.assign(y=label, i=drawn.inclusion), label="y", score="p", inclusion="i")
        widths.append(one.high - one.low)
    assert np.mean(widths) == pytest.approx(0.03, rel=0.15)


def test_same_seed_same_rows_and_groups_get_theirs():
    data, _ = population(np.random.default_rng(1))
    one, two = (tm.audits.plan(data, score="p", size=300, by="region", seed=4) for _ in range(2))
    assert (one.drawn == two.drawn).all()
    assert one.size == 300
    assert (tm.audits.plan(data, score="p", size=300, by="region", seed=5).drawn != one.drawn).any()
    seen = data.region[one.drawn].value_counts()
    assert seen["c"] / 300 > 2 * (data.region == "c").mean()
    assert set(one.expected) == {("a",), ("b",), ("c",)}


@pytest.mark.parametrize("measure", ["precision", "recall"])
def test_metrics_of_the_calls_hold_the_truth(measure):
    rng = np.random.default_rng(7)
    hits, repeats = 0, 120
    for seed in range(repeats):
        data, y = population(rng, 6_000)
        plan = tm.audits.plan(data, score="p", size=200, measure="recall", threshold=0.15, seed=seed)
        label = np.full(len(data), np.nan)
        label[plan.drawn] = y[plan.drawn]
        found = tm.audits.estimate(
            data.assign(y=label, i=plan.inclusion), label="y", score="p", inclusion="i", threshold=0.15
        )[measure]
        called = data.p.to_numpy() >= 0.15
        truth = (y & called).sum() / (called if measure == "precision" else y).sum()
        hits += found.low <= truth <= found.high
    assert hits / repeats > 0.95 - 4 * np.sqrt(0.05 * 0.95 / repeats)


def test_a_census_gives_the_metrics_themselves():
    rng = np.random.default_rng(3)
    data, y = population(rng, 500)
    found = tm.audits.estimate(data.assign(y=y.astype(float)), label="y", score="p", threshold=0.1)
    wanted = tm.evaluate(tm.tally(y, data.p.to_numpy()), threshold=0.1, level=None)
    for name in found:
        assert found[name].value == pytest.approx(wanted[name].value), name
        assert found[name].low == pytest.approx(found[name].high)
    assert found["ppv"].name == "precision"


def test_predicted_labels_will_do():
    data, y = population(np.random.default_rng(4), 3_000)
    label = np.where(np.arange(3_000) % 10 == 0, y, np.nan)
    by_score = tm.audits.estimate(data.assign(y=label), label="y", score="p", threshold=0.1)
    called = data.assign(y=label, c=(data.p >= 0.1).astype(int))
    by_label = tm.audits.estimate(called, label="y", score="p", predicted="c")
    assert by_score.to_dict()["metrics"] == by_label.to_dict()["metrics"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one of the two"),
        ({"size": 10, "width": 0.1}, "one of the two"),
        ({"size": 10**6}, "only"),
        ({"size": 5, "by": "region"}, "too few for 3 groups"),
        ({"size": 10, "measure": "recall"}, "threshold="),
        ({"size": 10, "measure": "precision", "threshold": 2.0}, "nothing is called positive"),
        ({"size": 10, "design": "psychic"}, "design"),
        ({"size": 10, "score": "q", "measure": "recall", "threshold": 1}, "calibrate the scores first"),
        ({"size": 10, "score": "q", "by": "region"}, "name the groups with stratum="),
        ({"size": 10, "score": "q", "design": "uncertainty"}, "needs probabilities"),
        ({"size": 10, "measure": "accuracy"}, "predicted="),
        ({"size": 10, "score": None}, "score="),
        ({"size": 10, "measure": "recall", "threshold": 0.1, "by": "region"}, "for all rows together"),
    ],
)
def test_plans_that_cannot_be_are_refused(options, message):
    data, _ = population(np.random.default_rng(0), 100)
    with pytest.raises(tm.InputError, match=message):
        tm.audits.plan(data.assign(q=3.0), **({"score": "p"} | options))


def test_metrics_by_group_are_those_of_the_group():
    data, y = population(np.random.default_rng(8), 4_000)
    label = np.where(np.arange(4_000) % 8 == 0, y, np.nan)
    frame = data.assign(y=label)
    found = tm.audits.estimate(frame, label="y", score="p", threshold=0.1, by="region", estimator="expansion")
    for (region,), group in found.groups.items():
        alone = tm.audits.estimate(
            frame[frame.region == region], label="y", score="p", threshold=0.1, estimator="expansion"
        )
        assert group["precision"].value == pytest.approx(alone["precision"].value, nan_ok=True)
        assert group.recall[1].low == alone["recall"].low
    assert {line["group"]["region"] for line in found.to_dict()["groups"]} == {"a", "b", "c"}
    assert "recall" in found.to_dict()["groups"][0]["metrics"]


def test_a_plan_for_the_recall_is_about_the_recall():
    rng = np.random.default_rng(9)
    data, _ = population(rng, 8_000)
    plan = tm.audits.plan(data, score="p", measure="recall", threshold=0.15, width=0.2)
    ((value, low, high),) = plan.expected.values()
    called = data.p >= 0.15
    assert value == pytest.approx(data.p[called].sum() / data.p.sum())
    assert high - low <= 0.2
    widths = []
    for seed in range(25):
        y = rng.random(8_000) < data.p
        one = tm.audits.plan(data, score="p", measure="recall", threshold=0.15, size=plan.size, seed=seed)
        label = np.where(np.isin(np.arange(8_000), one.drawn), y, np.nan)
        found = tm.audits.estimate(
            data.assign(y=label, i=one.inclusion), label="y", score="p", inclusion="i", threshold=0.15
        )["recall"]
        widths.append(found.high - found.low)
    assert np.mean(widths) == pytest.approx(0.2, rel=0.35)


def test_a_plan_for_the_precision_gives_the_precision_and_no_more():
    data, y = population(np.random.default_rng(10), 4_000)
    plan = tm.audits.plan(data, score="p", measure="precision", threshold=0.15, size=120)
    label = np.where(np.isin(np.arange(4_000), plan.drawn), y, np.nan)
    planned = data.assign(y=label, i=plan.inclusion)
    for frame in (planned, planned[planned.y.notna()]):
        found = tm.audits.estimate(frame, label="y", score="p", inclusion="i", threshold=0.15)
        truth = y[data.p >= 0.15].mean()
        assert found["precision"].low <= truth <= found["precision"].high
        assert found["recall"].reason is not None
    assert tm.audits.from_audit(planned, label="y", score="p", inclusion="i").reason is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [({"threshold": 0.0}, "no recall"), ({"threshold": 0.5, "score": "zero"}, "probabilities alone")],
)
def test_recalls_that_cannot_be_planned_for(options, message):
    data, _ = population(np.random.default_rng(0), 200)
    with pytest.raises(tm.InputError, match=message):
        tm.audits.plan(data.assign(zero=0.0), **({"score": "p", "measure": "recall", "size": 20} | options))


def test_verdicts_are_no_probabilities_to_plan_by():
    """Scores of 0 and 1, or in per cent, are planned for the worst case, and the plan says so."""
    rng = np.random.default_rng(0)
    verdicts = (rng.random(2_000) < 0.7).astype(float)
    for scores in (verdicts, 100 * rng.random(2_000), verdicts.astype(int)):
        plan = tm.audits.plan(pd.DataFrame({"p": scores}), score="p", width=0.1)
        assert plan.basis == "the worst case, a share of one half"
        assert plan.basis in plan.heading()
        assert plan.size > 250
        ((value, low, high),) = plan.expected.values()
        assert value == pytest.approx(0.5)
        assert high - low <= 0.1
    plan = tm.audits.plan(pd.DataFrame({"p": np.where(verdicts > 0, 0.85, 0.2)}), score="p", width=0.05)
    assert plan.size > 300
    total = 0.85 * verdicts.sum() + 0.2 * (2_000 - verdicts.sum())
    assert f"add up to {amount(round(total, 2))} positives" in plan.heading()


def test_a_plan_that_starts_from_checked_rows_keeps_its_promise():
    """How many more rows, of scores that are far too high: the width that was asked for is met afterwards."""
    rng = np.random.default_rng(6)
    data, y = population(rng, 8_000)
    data = data.assign(p=np.sqrt(data.p))
    seen = np.where(rng.random(8_000) < 0.02, y, np.nan)
    plan = tm.audits.plan(data.assign(seen=seen), score="p", checked="seen", width=0.03)
    assert plan.checked == np.isfinite(seen).sum()
    assert not np.isfinite(seen[plan.drawn]).any()
    assert plan.inclusion.sum() == pytest.approx(plan.size + plan.checked, abs=1.0)
    seen[plan.drawn] = y[plan.drawn]
    after = tm.audits.estimate(data.assign(seen=seen, h=plan.stratum), label="seen", stratum="h")
    assert after.prevalence.high - after.prevalence.low < 1.2 * 0.03
    assert after.prevalence.low <= y.mean() <= after.prevalence.high
    # Scores that are taken at their word promise less work than there is.
    assert tm.audits.plan(data, score="p", width=0.03).basis == "the scores"


def test_an_audit_of_the_accuracy_has_enough_of_every_predicted_class():
    rng = np.random.default_rng(1)
    predicted = rng.choice(["water", "forest", "field"], 20_000, p=[0.01, 0.29, 0.7])
    frame = pd.DataFrame({"map": predicted})
    plan = tm.audits.plan(frame, predicted="map", measure="accuracy", size=400, least=50)
    taken = frame["map"][plan.drawn].value_counts()
    assert plan.size == 400
    assert taken.min() >= 50
    assert [line["stratum"] for line in plan.strata] == ["field", "forest", "water"]
    checked = np.where(np.isin(np.arange(20_000), plan.drawn), predicted, None)
    again = tm.audits.plan(frame.assign(y=checked), predicted="map", measure="accuracy", checked="y", width=0.02)
    assert again.basis == "the rates of the rows checked before"
    assert again.size < 400


def test_scores_that_claim_no_positive_are_doubted():
    heading = tm.audits.plan(pd.DataFrame({"p": np.linspace(0, 1e-9, 500)}), score="p", width=0.05).heading()
    assert "hardly a row" in heading
    assert "e−" not in heading


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_an_audit_says_that_scores_do_not_fit(factor):
    rng = np.random.default_rng(1)
    p = rng.beta(1, 9, 6_000)
    frame = pd.DataFrame({"y": (rng.random(6_000) < p).astype(float), "p": np.clip(factor * p, 0, 1)})
    frame.loc[rng.permutation(6_000)[500:], "y"] = np.nan
    said = tm.audits.estimate(frame, label="y", score="p").sentence
    assert ("no probabilities of these rows" in said) == (factor > 1.0)


@pytest.mark.parametrize(("verdict", "metric", "absent"), [(1, "specificity", "negative"), (0, "recall", "positive")])
@pytest.mark.parametrize("score", [None, "p"])
def test_a_share_of_a_class_that_was_not_found_has_a_reason(verdict, metric, absent, score):
    """Specificity was 0 (0 to 1) or 1 (0 to 1) where no checked row is negative."""
    p = np.random.default_rng(0).random(500)
    frame = pd.DataFrame(
        {"p": p, "hat": (p > 0.5).astype(int), "y": np.where(np.arange(500) < 60, float(verdict), np.nan)}
    )
    with pytest.warns(UserWarning, match="TM117"):
        found = tm.audits.estimate(frame, label="y", score=score, predicted="hat")
    assert np.isnan(found[metric].value)
    assert found[metric].low is None
    assert found[metric].reason == f"none of the 60 checked rows is {absent}"
    assert found["accuracy"].reason is None
