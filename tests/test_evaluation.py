import math

import numpy as np
import pytest

import tallymark as tm
from samples import normal_sample, probability_sample
from tallymark.registry import METRICS


def test_every_fitting_metric_with_what_belongs_beside_it():
    y, p = probability_sample()
    t = tm.tally(y, p)
    ev = tm.evaluate(t, threshold="youden")
    assert set(ev) == {n for n in METRICS if METRICS[n].needs in {"tally", "probabilities", "confusion"}}
    assert ev["auroc"].value == tm.metrics.auroc(t)
    assert ev["f1"].value == tm.metrics.f1(t.at("youden"))
    assert (ev["auroc"].chance, ev["auroc"].prevalence) == (0.5, None)
    assert ev["average_precision"].chance == ev["average_precision"].prevalence == pytest.approx(y.mean())
    assert ev["mcc"].chance == 0.0
    assert ev.threshold == t.at("youden").threshold
    assert ev.policy == "youden"
    for measure in ev.values():
        assert measure.low <= measure.value <= measure.high
        assert (measure.level, measure.bound) == (0.95, None)
    for measure in tm.evaluate(t, level=None).values():
        assert (measure.low, measure.high, measure.interval_method, measure.level) == (None,) * 4


def test_the_default_threshold():
    y, s = normal_sample()
    assert tm.evaluate(tm.tally(y, s)).policy == "youden"
    assert tm.evaluate(tm.tally(*probability_sample())).threshold == 0.5


def test_at_a_stated_prevalence():
    t = tm.tally(*probability_sample())
    ev = tm.evaluate(t, prevalence=0.002)
    assert ev["precision"].value == tm.metrics.precision(t.at_prevalence(0.002).at(0.5))
    assert ev["precision"].prevalence == 0.002
    assert ev["precision"].chance == pytest.approx(0.002)
    assert ev["recall"].value == tm.evaluate(t)["recall"].value


def test_undefined_measures_say_why():
    ev = tm.evaluate(tm.tally(*normal_sample()), threshold=99)
    assert math.isnan(ev["precision"].value)
    assert ev["precision"].reason == "precision: nothing was classified positive"
    assert "probabilities in [0, 1] are needed" in ev["brier"].reason
    with pytest.raises(tm.InputError, match="'auc_roc' was not evaluated"):
        ev["auc_roc"]
    assert ev.get("auc_roc") is None


def test_some_metrics_by_name():
    ev = tm.evaluate(tm.tally(*normal_sample()), metrics=["auc", "sensitivity"])
    assert list(ev) == ["auroc", "recall"]
    with pytest.raises(tm.InputError, match="No metric is called 'aurok'. Did you mean 'auroc'"):
        tm.evaluate(tm.tally(*normal_sample()), metrics=["aurok"])
    with pytest.raises(tm.InputError, match="auroc_ovo needs a score for each class"):
        tm.evaluate(tm.tally(*normal_sample()), metrics=["auroc_ovo"])


def test_quantised_tallies_carry_their_bound():
    t = tm.tally(*probability_sample(decimals=9))
    ev = tm.evaluate(t.quantise(thresholds=[0.5]))
    low, high = ev["auroc"].bound
    assert low <= tm.metrics.auroc(t) <= high
    assert ev["f1"].value == tm.evaluate(t)["f1"].value


def test_several_models_and_groups():
    import pandas as pd

    y, p = probability_sample(600)
    frame = pd.DataFrame({"y": y, "a": p, "b": 1 - p, "region": np.tile(["n", "s", "w"], 200), "year": 2020})
    ts = tm.tally(frame, label="y", score=["a", "b"], by=["region", "year"])
    evs = tm.evaluate(ts)
    assert evs.names == ("model", "region", "year")
    assert evs["a", "n", 2020]["auroc"].value == tm.metrics.auroc(ts["a", "n", 2020])
    d = evs.to_dict()
    assert [group["group"] for group in d["groups"]] == [{"region": r, "year": 2020} for r in "nsw"]
    assert set(d["groups"][0]["models"]) == {"a", "b"}
    assert d["n"] == 600
    panel = tm.panel(y, {"a": p, "b": p**2})
    assert tm.evaluate(panel)["b"]["auroc"].value == tm.metrics.auroc(tm.tally(y, p))
    assert len(tm.evaluate(panel).to_frame()) == 2 * len(tm.evaluate(panel)["a"])


def test_one_default_threshold_for_all_groups_of_a_model():
    import pandas as pd

    frame = pd.DataFrame({"y": [0, 1] * 20, "s": np.linspace(0.1, 0.9, 40), "g": ["a"] * 20 + ["b"] * 20})
    frame.loc[frame.g == "b", "s"] *= 5
    evs = tm.evaluate(tm.tally(frame, label="y", score="s", by="g"))
    assert {ev.policy for ev in evs.values()} == {"youden"}


def test_a_policy_out_of_reach_in_one_group_is_said_there():
    import pandas as pd

    frame = pd.DataFrame({"y": [0, 1, 0, 1] * 2, "s": [1, 2, 3, 4, 4, 3, 2, 1.0], "g": ["a"] * 4 + ["b"] * 4})
    evs = tm.evaluate(tm.tally(frame, label="y", score="s", by="g"), threshold="precision:0.9")
    assert evs["a"]["precision"].value == 1.0
    assert evs["b"]["precision"].reason == "no threshold reaches a precision of 0.9; ask for less"


def test_a_column_called_score_can_be_a_group():
    import pandas as pd

    frame = pd.DataFrame(
        {
            "y": [0, 1, 0, 1],
            "p": [0.1, 0.2, 0.3, 0.4],
            "score": list("aabb"),
            "when": pd.to_datetime(["2020-01-01"] * 4),
        }
    )
    d = tm.evaluate(tm.tally(frame, label="y", score=["p"], by=["score", "when"])).to_dict()
    assert [g["group"] for g in d["groups"]] == [{"score": s, "when": "2020-01-01"} for s in "ab"]
    assert d["n"] == 4


def test_a_group_without_weight():
    import pandas as pd

    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.2, 0.3, 0.4], "w": [1, 1, 0, 0], "g": list("aabb")})
    evs = tm.evaluate(tm.tally(frame, label="y", score="p", weight="w", by="g"))
    assert evs["b"].n == 0
    assert math.isnan(evs["b"]["auroc"].value)
    assert math.isnan(evs["b"]["brier"].value)


def test_a_group_that_lacks_a_class():
    import pandas as pd

    frame = pd.DataFrame({"y": [0, 1, 0, 0, 1, 0], "p": [0.1, 0.8, 0.3, 0.2, 0.6, 0.7], "g": list("aabbcc")})
    ts = tm.tally(frame, label="y", score="p", by="g")
    assert ts["b"].positives == 0
    evs = tm.evaluate(ts, threshold="youden", prevalence=0.1)
    assert evs["b"]["auroc"].reason == "auroc: there is no row of class 1"
    assert "needs rows of both classes" in evs["b"]["recall"].reason
    assert evs["b"]["precision"].reason == "another prevalence needs rows of both classes"
    assert evs["a"]["auroc"].value == 1.0
    plain = tm.evaluate(ts["b"])
    assert plain["specificity"].value == 1.0
    assert plain["brier"].value == pytest.approx((0.3**2 + 0.2**2) / 2)


def test_labels_only():
    ev = tm.evaluate(tm.confusion([0, 1, 1, 0], [0, 1, 0, 1]))
    assert ev["accuracy"].value == 0.5
    assert "auroc" not in ev
    with pytest.raises(tm.InputError, match="threshold of a confusion matrix is fixed"):
        tm.evaluate(tm.confusion([0, 1], [0, 1]), threshold=0.5)


def test_many_classes():
    y, p = ["a", "b", "c", "a", "b", "c"], ["a", "b", "c", "b", "b", "a"]
    ev = tm.evaluate(tm.confusion(y, p))
    assert ev["accuracy"].value == pytest.approx(4 / 6)
    assert ev["f1_micro"].value == pytest.approx(ev["accuracy"].value)
    assert ev["recall_weighted"].value == pytest.approx(ev["accuracy"].value)
    assert ev["f1_macro"].value != pytest.approx(ev["f1_of_macro_means"].value)
    assert ev["mcc"].chance == 0.0
    assert ev.per_class["b"]["precision"].value == pytest.approx(2 / 3)
    with pytest.raises(tm.InputError, match="jaccard is a binary metric.*average='macro'"):
        tm.evaluate(tm.confusion(y, p), metrics=["jaccard"])
    with pytest.raises(tm.InputError, match="auroc needs scores of two classes"):
        tm.evaluate(tm.confusion(y, p), metrics="auroc")
    with pytest.raises(tm.InputError, match="one positive class"):
        tm.evaluate(tm.confusion(y, p), prevalence=0.1)


def test_scores_for_every_class():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    s = rng.dirichlet(np.ones(3), 90) + np.eye(3)[y]
    scores = tm.class_scores(y, s, classes=[0, 1, 2])
    ev = tm.evaluate(scores)
    assert {"accuracy", "auroc_ovo", "spcc_ovo_min", "f1_macro"} <= set(ev)
    assert np.array(ev.tables["spcc_one_vs_one"]).shape == (3, 3)
    assert set(tm.evaluate(scores.moments)) == {n for n in METRICS if METRICS[n].needs == "moments"}
    assert ev.to_dict()["tables"]["classes"] == [0, 1, 2]
    with pytest.raises(tm.InputError, match="a score for each of K classes"):
        tm.evaluate(scores, threshold=0.5)


def test_what_is_no_summary():
    with pytest.raises(tm.InputError, match=r"evaluate takes a Tally.*got list. Write tm.evaluate\(tm.tally"):
        tm.evaluate([0, 1])


def test_strict_turns_guards_into_errors():
    t = tm.tally([0, 1] * 50, -np.tile([0.0, 1.0], 50) + np.arange(100) * 1e-6)
    with pytest.raises(tm.GuardError, match="TM103"):
        tm.evaluate(t, strict=True)


def test_probabilities_asked_of_decision_scores_are_reported():
    with pytest.warns(tm.GuardWarning, match="TM102: brier computed from scores of"):
        tm.evaluate(tm.tally(*normal_sample()), metrics=["brier"])


def test_results_can_be_pickled_and_copied():
    import copy
    import pickle

    y, p = probability_sample()
    panel = tm.panel(y, {"a": p}, extra={"region": ["n", "s"] * 250})
    for value in (
        tm.tally(y, p),
        panel,
        panel.tallies(),
        tm.evaluate(panel),
        tm.roc(tm.tally(y, p)),
        tm.without_simple(panel),
    ):
        for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert repr(again) == repr(value)


def test_results_are_values():
    ev = tm.evaluate(tm.tally(*probability_sample()))
    with pytest.raises(AttributeError):
        ev.n = 3
    with pytest.raises(AttributeError):
        ev["auroc"].value = 3
    with pytest.raises(TypeError, match="cannot be changed"):
        ev.measures.clear()
    assert ev["auroc"].to_frame()["value"].tolist() == [ev["auroc"].value]
    assert float(ev["auroc"]) == ev["auroc"].value
    frame = ev.to_frame()
    assert frame["metric"].tolist() == list(ev)
