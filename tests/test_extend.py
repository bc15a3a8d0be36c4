"""One declaration carries everything: a metric, a quantifier, a policy and a loss of one's own, walked through all of it."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tallymark as tm
from tallymark.cli.app import app
from tallymark.registry import METRICS

pytestmark = pytest.mark.slow


@pytest.fixture
def own():
    """Declarations of a user's; the suite forgets them when a test is over."""

    @tm.extend.metric("recall_cubed", needs="cells", range=(0, 1), better="higher", meaning="Recall, harshly.")
    def recall_cubed(tp, fp, fn, tn):
        return (tp / (tp + fn)) ** 3

    @tm.extend.metric(
        "gap",
        needs="tally",
        range=(-math.inf, math.inf),
        better="higher",
        meaning="Distance of the medians.",
        chance=0.0,
    )
    def gap(tally):
        up, down = (np.repeat(run.scores, np.rint(run.mass).astype(int)) for run in (tally.positive, tally.negative))
        return float(np.median(up) - np.median(down))

    @tm.extend.quantifier(
        "halfway", meaning="Share above the point half way between the means.", options={"shift": 0.0}
    )
    def halfway(validation, scores, shift):
        up, down = (run.moments.mean for run in (validation.positive, validation.negative))
        cut = (up + down) / 2 + shift
        tpr, fpr = (float(run.mass_from(np.searchsorted(run.scores, cut)) / run.total) for run in validation.runs[::-1])
        return ((scores >= cut).mean() - fpr) / (tpr - fpr)

    @tm.extend.policy("nearly", meaning="The threshold that finds most positives but a few.", arguments=("missed",))
    def nearly(tally, missed):
        run = tally.positive
        return float(run.scores[np.searchsorted(np.cumsum(run.mass), missed, "right")])

    @tm.extend.loss("worst_class", meaning="The largest error of any class.", range=(0, 1))
    def worst_class(truth, estimate):
        return np.abs(truth - estimate).max(axis=1)

    return {"recall_cubed": recall_cubed, "gap": gap, "worst_class": worst_class}


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.3
    return y, 1 / (1 + np.exp(-rng.normal(2.0 * y - 1.0)))


@pytest.fixture
def folder(sample, tmp_path, monkeypatch):
    y, p = sample
    rng = np.random.default_rng(4)
    other = np.clip(p + rng.normal(0, 0.1, len(p)), 0, 1)
    pd.DataFrame({"y": y.astype(int), "a": p, "b": other}).to_csv(tmp_path / "d.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_metric_of_cells_has_its_own_interval(own, sample):
    tally = tm.tally(*sample)
    found = tm.evaluate(tally, metrics=["recall_cubed", "recall"], threshold=0.5)
    recall, cubed = found["recall"], found["recall_cubed"]
    # Cubing rises, so the limits of its draws are those of recall's, cubed.
    assert cubed.value == pytest.approx(recall.value**3)
    assert (cubed.low, cubed.high) == pytest.approx((recall.low**3, recall.high**3), abs=2e-3)
    assert own["recall_cubed"](tally.at(0.5)) == tm.metrics.recall_cubed(tally.at(0.5)) == cubed.value


@pytest.mark.parametrize("name", ["recall_cubed", "gap"])
def test_a_metric_walks_through_the_library(own, sample, name):
    y, p = sample
    tally, facts = tm.tally(y, p), METRICS[name]
    at = {"threshold": 0.5} if facts.needs == "confusion" else {}
    for interval in ("default", "percentile", "bca"):
        measure = tm.evaluate(tally, metrics=[name], interval=interval, **at)[name]
        assert facts.low <= measure.low < measure.value < measure.high <= facts.high
    assert tm.evaluate(tally)[name].value == measure.value
    panel = tm.panel(y, {"a": p, "noise": np.random.default_rng(0).random(len(y))})
    compared = tm.compare(panel, metric=name, replicates=200, **at)
    assert compared.low < compared.difference < compared.high
    assert "a is better" in compared.verdict
    assert math.isfinite(tm.scorers.scorer(name).options.get("nothing", 0.0))
    assert tm.intervals.bootstrap(tally, name, replicates=100, **at).error(name) > 0.0
    if facts.needs == "confusion":
        assert np.isfinite(tm.over_thresholds(tally, [name])[name]).any()
        chosen = tm.evaluate(tally, metrics=[name], threshold="youden")[name]
        assert chosen.optimism is not None
    else:
        assert tm.by_sample_size(tally, [name], sizes=[100, 200], replicates=20).rows()[0][name] == pytest.approx(
            measure.value, abs=0.3
        )
        assert tm.bound(tally, name) == (measure.value, measure.value)


@pytest.mark.parametrize("name", ["recall_cubed", "gap"])
def test_a_metric_walks_through_the_command_line_and_the_report(own, folder, name):
    at = ["--threshold", "0.5"]
    common = ["d.csv", "--label", "y", "--score", "a"]
    found = json.loads(run("evaluate", *common, "--metric", name, *at, "--json"))
    assert found["models"]["a"]["metrics"][name]["low"] is not None
    assert name in run("evaluate", *common, "--metric", name, *at)
    extra = at if METRICS[name].needs == "confusion" else []
    compared = json.loads(run("compare", *common, "--score", "b", "--metric", name, *extra, "--json"))
    assert compared["pairs"][0]["low"] < compared["pairs"][0]["difference"] < compared["pairs"][0]["high"]
    assert METRICS[name].meaning in run("metrics", name)
    run("evaluate", *common, *at, "--report", "r.html")
    assert name in (folder / "r.html").read_text(encoding="utf-8")


def test_a_quantifier_walks_through_everything(own, sample, folder):
    y, p = sample
    validation, target = tm.tally(y, p), tm.tally(scores=p[y | (np.arange(len(y)) % 2 == 0)])
    found = tm.quantify.estimate("halfway", validation, target, replicates=200)
    assert found.low < found.prevalence < found.high
    truth = y.sum() / target.n
    assert found.low <= truth <= found.high
    shifted = tm.quantify.estimate("halfway", validation, target, level=None, shift=0.2)
    assert shifted.prevalence != found.prevalence
    many = tm.quantify.estimate_many("halfway", validation, p, np.arange(400).reshape(4, 100))
    assert many == pytest.approx([y[i * 100 : i * 100 + 100].mean() for i in range(4)], abs=0.15)
    weighted = tm.tally(scores=p, weights=np.linspace(0.5, 1.5, len(p)))
    with pytest.raises(tm.InputError, match="batched=True"):
        tm.quantify.estimate("halfway", validation, weighted)
    shown = json.loads(
        run("quantify", "d.csv", "d.csv", "--label", "y", "--score", "a", "--method", "halfway", "--json")
    )
    assert shown["estimates"][0]["method"] == "halfway"
    assert "half way" in run("quantifiers", "halfway")
    run("quantify", "d.csv", "d.csv", "--label", "y", "--score", "a", "--method", "halfway,cc", "--report", "q.html")
    assert "halfway" in (folder / "q.html").read_text(encoding="utf-8")


def test_a_batched_kernel(sample):
    y, p = sample

    @tm.extend.quantifier("plain_mean", meaning="The mean score.", batched=True, shift_proof=False)
    def plain_mean(validation, target):
        return target.mean(target.scores)

    found = tm.quantify.estimate("plain_mean", tm.tally(y, p), tm.tally(scores=p), replicates=200)
    assert found.prevalence == pytest.approx(p.mean())
    assert found.low < p.mean() < found.high


def test_a_policy_walks_through_everything(own, sample, folder):
    tally = tm.tally(*sample)
    assert tally.at("nearly:3").fn == 3
    found = tm.evaluate(tally, threshold="nearly:3")
    assert found.policy == "nearly:3"
    assert found["recall"].optimism is not None
    assert tm.intervals.chosen_threshold(tally, "nearly:3").low <= found.threshold
    assert "nearly" in run("thresholds", "d.csv", "--label", "y", "--score", "a", "--policy", "nearly:3")


def test_a_loss_walks_through_everything(own):
    assert own["worst_class"]([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]) == pytest.approx(0.1)
    assert own["worst_class"](0.3, 0.5) == pytest.approx(0.2)
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(300, random_state=0)
    search = tm.quantify.GridSearch(
        tm.quantify.AC(LogisticRegression(), cv=3), {"classifier__C": [0.1, 1.0]}, loss="worst_class"
    ).fit(X, y)
    assert 0.0 <= search.best_loss_ <= 1.0
    assert "largest error" in run("quantifiers", "worst_class")


def test_declaring_again_replaces_ones_own_and_never_ours(own, sample):
    @tm.extend.metric("recall_cubed", needs="cells", range=(0, 1), better="higher", meaning="Recall, squared now.")
    def again(tp, fp, fn, tn):
        return (tp / (tp + fn)) ** 2

    assert METRICS["recall_cubed"].meaning == "Recall, squared now."
    for name in ("auroc", "auc"):
        with pytest.raises(tm.InputError, match="declared already"):
            tm.extend.metric(name, needs="tally", range=(0, 1), better="higher", meaning="No.")(lambda tally: 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "two words"}, "cannot be a name"),
        ({"range": (1, 0)}, "range is"),
        ({"range": "ab"}, "range is"),
        ({"needs": "frame"}, "needs='frame'"),
        ({"better": "high"}, "better='high'"),
    ],
)
def test_bad_declarations(options, message):
    given = {"name": "own", "needs": "cells", "range": (0, 1), "better": "higher", "meaning": "One."} | options
    with pytest.raises(tm.InputError, match=message):
        tm.extend.metric(given.pop("name"), **given)(lambda tp, fp, fn, tn: tp)


def test_where_it_has_no_value_it_says_so(own):
    nothing = tm.Confusion.of_cells(tp=0, fp=2, fn=0, tn=3)
    with pytest.warns(tm.UndefinedWarning, match="recall_cubed"):
        assert math.isnan(own["recall_cubed"](nothing))


def test_a_failed_declaration_leaves_the_old_one(own):
    with pytest.raises(tm.InputError, match="declared already"):
        tm.extend.metric("gap", needs="tally", range=(0, 1), better="higher", meaning="No.", aliases=("auroc",))(float)
    assert METRICS["gap"].meaning == "Distance of the medians."


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("answer", [1.2, -0.3, math.inf, math.nan])
def test_shares_of_a_quantifier_stay_shares(sample, batched, answer):
    @tm.extend.quantifier("fixed", meaning="The same, whatever comes.", batched=batched)
    def fixed(validation, target):
        return np.full(len(target), answer) if batched else answer

    found = tm.quantify.estimate("fixed", tm.tally(*sample), tm.tally(scores=sample[1]), level=None)
    if math.isfinite(answer):
        assert 0.0 <= found.prevalence <= 1.0
    else:
        assert math.isnan(found.prevalence)
        assert found.reason


def test_functions_that_fail_are_named(sample):
    y, p = sample

    @tm.extend.metric("broken", needs="tally", range=(0, 1), better="higher", meaning="Fails without positives.")
    def broken(tally):
        return 1.0 / (len(tally.positive) - len(tally.positive))

    @tm.extend.quantifier("pair", meaning="Two numbers where one belongs.")
    def pair(validation, scores):
        return [0.2, 0.3]

    @tm.extend.policy("nowhere", meaning="Chooses nothing.")
    def nowhere(tally):
        return math.nan

    tally = tm.tally(y, p)
    assert "broken: the function failed" in tm.evaluate(tally, metrics=["broken"])["broken"].reason
    with pytest.raises(tm.InputError, match=r"pair gave numbers of shape \(2,\)"):
        tm.quantify.estimate("pair", tally, tm.tally(scores=p))
    assert "chooses no threshold" in tm.evaluate(tally, threshold="nowhere", metrics=["recall"])["recall"].reason


def test_a_group_of_one_class_is_undefined_for_metrics_of_both(own):
    frame = pd.DataFrame({"y": [0, 0, 1, 1, 0, 0], "p": [0.1, 0.3, 0.2, 0.9, 0.5, 0.4], "g": list("aaaabb")})
    found = tm.evaluate(tm.tally(frame, label="y", score="p", by="g"), metrics=["gap"])
    assert "no row of class" in found["b"]["gap"].reason


def test_a_quantifier_counts_another_target_on_the_command_line(own, folder, sample):
    # A target of its own, whose sensitivity is asked of mixtures with fractions of rows.
    rng = np.random.default_rng(7)
    pd.DataFrame({"a": 1 / (1 + np.exp(-rng.normal(2.0 * (np.arange(300) < 30) - 1.0)))}).to_csv("new.csv", index=False)
    answer = json.loads(
        run("quantify", "d.csv", "new.csv", "--label", "y", "--score", "a", "--method", "halfway", "--json")
    )
    assert answer["estimates"][0]["prevalence"] == pytest.approx(0.1, abs=0.1)
    with pytest.raises(tm.InputError, match="whole rows"):
        tm.quantify.estimate("halfway", tm.tally(*sample), tm.tally(scores=[0.1, 0.9], weights=[0.5, 1.5]), level=None)


@pytest.mark.parametrize("metric", ["log_loss", "gap"])
def test_a_report_of_any_metric_is_written(own, folder, metric):
    run("evaluate", "d.csv", "--label", "y", "--score", "a", "--metric", metric, "--report", "r.html")
    assert metric in (folder / "r.html").read_text(encoding="utf-8")


def test_declarations_that_cannot_work_are_refused_when_they_are_made(sample):
    declare = tm.extend.metric("odd", needs="cells", range=(0, 1), better="higher", meaning="Odd.")
    with pytest.raises(tm.InputError, match="come as arrays"):
        declare(lambda tp, fp, fn, tn: 1.0 if tp > 0 else 0.0)
    with pytest.raises(tm.InputError, match="declared as 0 to 1"):
        declare(lambda tp, fp, fn, tn: 10 * tp)
    assert "odd" not in METRICS

    @tm.extend.metric("spread", needs="tally", range=(0, 0.1), better="lower", meaning="Too wide.")
    def spread(tally):
        return float(np.ptp(tally.range))

    with pytest.raises(tm.InputError, match="declared as 0 to 0.1"):
        spread(tm.tally(*sample))


def test_a_metric_of_rows_as_they_are_has_no_value_at_another_prevalence(own, sample):
    measure = tm.evaluate(tm.tally(*sample), metrics=["gap"], prevalence=0.05)["gap"]
    assert math.isnan(measure.value)
    assert "stated prevalence" in measure.reason


def test_a_policys_error_shows_how_it_is_written(own, sample):
    with pytest.raises(tm.InputError, match="nearly:missed"):
        tm.tally(*sample).at("nearly")
