"""Decision curves, and costs that travel from a policy into every number."""

import numpy as np
import pytest

import tallymark as tm
from samples import normal_sample, probability_sample

m = tm.metrics


def test_net_benefit_by_its_formula():
    y, p = probability_sample(500, 0.2, seed=1)
    curve = tm.decision_curve(tm.tally(y, p), thresholds=[0.05, 0.2, 0.5])
    for t, found, everyone in zip(curve.threshold, curve.net_benefit, curve.treat_all, strict=True):
        odds = t / (1 - t)
        assert found == pytest.approx(np.mean((p >= t) & (y == 1)) - np.mean((p >= t) & (y == 0)) * odds)
        assert everyone == pytest.approx(y.mean() - (1 - y.mean()) * odds)
        assert m.net_benefit(tm.tally(y, p).at(t)) == pytest.approx(found)
    assert curve.treat_none.tolist() == [0.0] * 3
    with pytest.raises(tm.InputError, match="needs probabilities"):
        tm.decision_curve(tm.tally(*normal_sample(50)))
    for wrong in ([], 0.5):
        with pytest.raises(tm.InputError, match="expected a list of probabilities"):
            tm.decision_curve(tm.tally(y, p), thresholds=wrong)
    with pytest.raises(tm.InputError, match=r"lie in \[0, 1\)"):
        tm.decision_curve(tm.tally(y, p), thresholds=[1.0])


def test_net_benefit_is_weighed_at_the_threshold_asked_for():
    y, p = probability_sample(500, 0.2, seed=1)
    t = tm.tally(y, p)
    wanted = tm.decision_curve(t, thresholds=[0.1]).net_benefit[0]
    assert tm.evaluate(t, threshold=0.1)["net_benefit"].value == pytest.approx(wanted)
    over = tm.over_thresholds(t, ["net_benefit"])
    place = int(np.searchsorted(-over.thresholds, -0.1))
    at = float(over.thresholds[place])
    assert over["net_benefit"][place] == pytest.approx(tm.decision_curve(t, thresholds=[at]).net_benefit[0])
    raw = tm.evaluate(tm.tally(*normal_sample(100)), threshold=2.0, metrics=["net_benefit"])["net_benefit"]
    assert "no probability at which one would act" in raw.reason
    assert m.net_benefit(t.at(0.1), odds_at=0.5) == pytest.approx(
        np.mean((p >= 0.1) & (y == 1)) - np.mean((p >= 0.1) & (y == 0))
    )


def test_costs_of_a_policy_are_those_of_the_metric():
    y, s = normal_sample(600, 0.2, 1.5, seed=2)
    t = tm.tally(y, s)
    ev = tm.evaluate(t, threshold="cost:1,50", metrics=["expected_cost", "net_benefit", "f1"])
    c = t.at("cost:1,50")
    assert ev["expected_cost"].value == pytest.approx((c.fp + 50 * c.fn) / 600)
    assert dict(ev["expected_cost"].parameters) == {"cost_fp": 1.0, "cost_fn": 50.0}
    assert ev["net_benefit"].value == pytest.approx(c.tp / 600 - c.fp / 600 / 50)
    assert ev["expected_cost"].low <= ev["expected_cost"].value <= ev["expected_cost"].high
    # Named costs win over the policy's.
    named = tm.evaluate(t, threshold="cost:1,50", metrics="expected_cost", cost_fn=10)["expected_cost"]
    assert named.value == pytest.approx((c.fp + 10 * c.fn) / 600)
    beta = tm.evaluate(t, threshold="fbeta:3", metrics="fbeta")["fbeta"]
    assert beta.value == pytest.approx(m.fbeta(t.at("fbeta:3"), beta=3))
    with pytest.raises(tm.InputError, match="evaluate has no option 'costs_fn'. Did you mean 'cost_fn'"):
        tm.evaluate(t, costs_fn=3)
    with pytest.raises(tm.InputError, match="beta is -3"):
        t.at("fbeta:-3")


def test_the_cheaper_model_wins_at_its_costs():
    """At 1 : 1 the answer was the error rate's, and named the wrong model."""
    y = np.repeat([0, 1], [900, 100])
    a, b = np.zeros(1000), np.zeros(1000)
    a[900:975] = b[900:998] = 1.0
    b[:90] = 1.0
    rng = np.random.default_rng(0)
    panel = tm.panel(y, {"a": a + 0.01 * rng.random(1000), "b": b + 0.01 * rng.random(1000)})
    dear = tm.compare(panel, metric="expected_cost", threshold=0.5, cost_fp=1, cost_fn=50)
    assert dear.verdict == "b is better"
    assert dear.values["a"] == pytest.approx(50 * 25 / 1000)
    assert dict(dear.parameters) == {"cost_fp": 1, "cost_fn": 50}
    assert tm.compare(panel, metric="expected_cost", threshold=0.5).verdict == "a is better"
    chosen = tm.intervals.chosen_threshold(panel.tally("a"), "cost:1,50", replicates=50)
    assert chosen.metric == "expected_cost"
    with pytest.raises(tm.InputError, match="has no parameter 'beta'"):
        tm.compare(panel, metric="expected_cost", threshold=0.5, beta=2)


@pytest.mark.parametrize("scale", [1e-7, 0.4, 1.0])
def test_a_threshold_is_odds_of_probabilities_only(scale):
    """A threshold within [0, 1) of scores that leave it says nothing of costs, wherever it is asked for."""
    y, s = normal_sample(200)
    tally, metric = tm.tally(y, scale * np.asarray(s)), ["net_benefit"]
    assert not tally.is_probability
    cut = 0.1 * scale
    one = tm.evaluate(tally, threshold=cut, metrics=metric)["net_benefit"]
    assert np.isnan(one.value)
    assert "beyond [0, 1]" in one.reason
    assert np.isnan(tm.over_thresholds(tally, metric)["net_benefit"]).all()
    assert np.isnan(tm.intervals.bootstrap(tally, metric, threshold=cut, replicates=20)["net_benefit"]).all()
    c = tally.at(cut)
    with pytest.warns(tm.UndefinedWarning, match="beyond"):
        assert np.isnan(m.net_benefit(c.merge(c)))
    with pytest.raises(tm.TallymarkError, match="beyond"):
        tm.compare(tm.panel(y, {"a": scale * np.asarray(s), "b": scale * np.asarray(s)[::-1]}), metric="net_benefit", threshold=cut)  # fmt: skip
    # What is stated holds for any calls.
    assert tm.evaluate(tally, threshold=cut, cost_fn=4)["net_benefit"].value == pytest.approx(
        m.net_benefit(c, odds_at=0.2)
    )


def test_a_saved_matrix_keeps_that_its_scores_are_no_probabilities(tmp_path):
    y, s = normal_sample(200)
    tm.tally(y, s).at(0.1).save(tmp_path / "c.tally")
    assert not tm.load(tmp_path / "c.tally").of_probabilities
