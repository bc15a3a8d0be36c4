"""Every sentence of a report, derived again from the tables it stands above."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tallymark as tm
from tallymark._numbers import MINUS, THIN, per_cent, with_limits
from tallymark.decisions.verdicts import group_facts, model_facts
from tallymark.quantify import Prevalence
from tallymark.registry import METRICS
from tallymark.reporting.of_counts import of_count
from tallymark.reporting.of_models import compared, described, of_models
from tallymark.reporting.sentences import (
    comparison_headline,
    comparison_sentences,
    group_headline,
    group_sentences,
    model_headline,
    model_sentences,
    named,
)

NUMBER = rf"{MINUS}?[\d{THIN}]+(?:\.\d+)?"


def read(text):
    return float(text.replace(THIN, "").replace(MINUS, "-"))


def drawn(seed, share, models, weighted=False):
    rng = np.random.default_rng(seed)
    y = rng.random(400) < share
    y[:12] = np.arange(12) % 2
    scores = {f"m{i}": rng.normal(y * gap) for i, gap in enumerate(rng.uniform(0, 3, models))}
    return tm.panel(y, scores, weights=rng.choice([0.5, 1.0, 2.5], 400) if weighted else None)


METRICS_TOLD = ["auroc", "average_precision", "recall", "precision", "balanced_accuracy"]


def told(panel, **options):
    """Headline and sentences, and what they must be derived from."""
    evaluations = {key[0]: one for key, one in tm.evaluate(panel, metrics=METRICS_TOLD, **options).entries.items()}
    comparisons = compared(panel, evaluations, 0.95, "plain") if len(evaluations) > 1 else []
    facts = model_facts(evaluations, comparisons)
    said = model_headline(evaluations, facts), model_sentences(evaluations, facts)
    return *said, evaluations, {one.metric: one for one in comparisons}


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.03, 0.3]), st.integers(1, 4), st.sampled_from(["f1", 0.5, "youden"]))
def test_models(seed, share, models, threshold):
    headline, sentences, evaluations, comparisons = told(drawn(seed, share, models), threshold=threshold)
    text = " ".join([headline, *sentences])
    leading = "average_precision" if next(iter(evaluations.values())).positives / 400 < 0.05 else "auroc"
    frequencies_are_the_cells(text, evaluations, alone=models == 1)
    if models == 1:
        return
    tested = comparisons[leading]
    if "better of the two" in headline or "best of the" in headline:
        name = headline.split(" is the ")[0]
        assert name == tested.best
        assert headline.endswith(f"by {named(leading)}.")
    else:
        assert tested.best is None
        top = tested.ranked[0]
        tied = {top} | {n for n in tested.ranked if n != top and not tested.told_apart(top, n)}
        apart = [pair for pair in itertools.combinations(sorted(tied), 2) if tested.told_apart(*pair)]
        if apart:
            first, others = re.match(
                r"(\S+) has the best .+, but is not shown to be better than (.+)\.", headline
            ).groups()
            assert first == top
            assert set(others.replace(" and ", ", ").split(", ")) == tied - {top}
        else:
            names = re.match(r"(.+?) (?:lead by .+ and )?cannot be told apart", headline).group(1)
            assert set(names.replace(" and ", ", ").split(", ")) == tied
    differences_are_the_tables(sentences, comparisons)


def frequencies_are_the_cells(text, evaluations, *, alone):
    for who, found, positives in re.findall(rf"(\S+) finds ({NUMBER}) of ({NUMBER}) positives", text):
        one = next(iter(evaluations.values())) if alone else evaluations[who]
        c = one.confusion.cells
        assert read(found) == pytest.approx(c.tp, abs=0.051)
        assert read(positives) == pytest.approx(c.tp + c.fn, abs=0.051)
        recall = one["recall"]
        # One that raises no alarm has no precision to tell.
        if (shown := f"{found} of {positives} positives (") in text:
            assert f"{shown}{per_cent(recall.value, recall.low, recall.high).replace(' (', ', ')}" in text
    for found, called in re.findall(rf"({NUMBER}) of its ({NUMBER}) alarms are right", text):
        assert any(
            read(found) == pytest.approx(one.confusion.cells.tp, abs=0.051)
            and read(called) == pytest.approx(one.confusion.cells.tp + one.confusion.cells.fp, abs=0.051)
            for one in evaluations.values()
        )


def differences_are_the_tables(sentences, comparisons):
    for sentence in sentences:
        if "difference " not in sentence:
            continue
        metric = next(name for name in comparisons if named(name) in sentence or named(name).capitalize() in sentence)
        said = re.search(r"\(difference (.+), (p [<=] [\d.]+)", sentence)
        known = set()
        for pair in comparisons[metric].pairs:
            for sign in (1, -1):
                low, high = sorted((sign * pair.low, sign * pair.high))
                known.add(with_limits(sign * pair.difference, low, high).replace(" (", ", ").replace(")", ""))
        assert said.group(1) in known
        if "is better than" in sentence:
            better, other = re.search(r"(\S+) is better than (\S+):", sentence).groups()
            assert comparisons[metric].told_apart(better, other)
            sign = -1 if METRICS[metric].better == "lower" else 1
            assert sign * comparisons[metric].values[better] > sign * comparisons[metric].values[other]


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_weights_are_told_as_shares(seed):
    headline, sentences, evaluations, _ = told(drawn(seed, 0.3, 2, weighted=True), threshold=0.5)
    text = " ".join([headline, *sentences])
    assert " of its " not in text.replace("of its alarms", "")
    name = re.search(r"By weight (\S+) finds", text).group(1)
    recall = evaluations[name]["recall"]
    assert f"{name} finds {per_cent(recall.value, recall.low, recall.high)} of the positives" in text
    assert any(part.startswith("weight ") for part in described(evaluations["m0"]))


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([0.001, 0.2]))
def test_another_prevalence_is_told_in_shares_alone(seed, prevalence):
    _, sentences, evaluations, _ = told(drawn(seed, 0.3, 1), threshold=0.5, prevalence=prevalence)
    (one,) = evaluations.values()
    (sentence,) = [s for s in sentences if "At a prevalence of" in s]
    assert per_cent(prevalence) in sentence
    if one["precision"].reason is None:
        p = one["precision"]
        assert f"{per_cent(p.value, p.low, p.high)} of its alarms would be right" in sentence
    assert " positives (" not in sentence


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.booleans())
def test_groups(seed, unlike):
    rng = np.random.default_rng(seed)
    sizes = {"north": 200, "south": 150, "west": 120, "isle": 14}
    label = np.repeat(list(sizes), list(sizes.values()))
    y = rng.random(len(label)) < 0.3
    y[:20] = np.arange(20) % 2
    frame = pd.DataFrame({"y": y, "region": label, "p": rng.normal(y * np.where((label == "west") & unlike, 0.0, 2.0))})
    tallies = tm.tally(frame, label="y", score="p", by="region")
    own = {key[0]: one for key, one in tm.evaluate(tallies, metrics=METRICS_TOLD, threshold=0.5).entries.items()}
    whole = tm.evaluate(tm.tally(frame, label="y", score="p"), metrics=METRICS_TOLD, threshold=0.5)
    facts = group_facts(own, whole, "auroc")
    headline = group_headline({"p": facts}, "region")
    large = {name: one for name, one in own.items() if min(one.positives, one.n - one.positives) >= 10}
    assert "isle" not in large
    test = tm.intervals.heterogeneity(large, "auroc")
    assert ("differs between groups" in headline) == (test.p_value < 0.05)
    assert ("No difference" in headline) == (test.p_value >= 0.05)
    text = " ".join(group_sentences(facts, own))
    assert with_limits(whole["auroc"].value, whole["auroc"].low, whole["auroc"].high) in text
    low, high = re.search(r"from \S+ \([^)]*\) \((\w+)\) to \S+ \([^)]*\) \((\w+)\)", text).groups()
    values = {name: one["auroc"].value for name, one in large.items()}
    assert (values[low], values[high]) == (min(values.values()), max(values.values()))
    assert "isle" not in text
    assert "1 group has fewer than ten rows" in text


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from(["auroc", "brier"]))
def test_comparisons(seed, models, metric):
    panel = drawn(seed, 0.3, models)
    if metric == "brier":
        panel = tm.panel(panel.is_positive, {n: 1 / (1 + np.exp(-s)) for n, s in panel.scores.items()})
    found = tm.compare(panel, metric=metric)
    headline, sentences = comparison_headline(found), comparison_sentences(found)
    if found.best is not None:
        assert headline.startswith(f"{found.best} is the ")
    else:
        names = headline.split(" cannot")[0].replace(" and ", ", ").split(", ")
        assert tuple(names) == found.alike[0]
    differences_are_the_tables(sentences[:1], {metric: found})
    undecided = sum(pair.p_holm >= 0.05 for pair in found.pairs)
    if models > 2:
        assert (f"{undecided} of {len(found.pairs)} pairs" in sentences[1]) == bool(undecided)


def test_models_of_one_name_each_are_not_ranked():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.3
    tallies = {"a": tm.tally(y, rng.normal(y * 2.0)), "b": tm.tally(y[:150], rng.normal(y[:150] * 1.0))}
    evaluations = {name: tm.evaluate(one) for name, one in tallies.items()}
    content = of_models(tallies, evaluations, title="x", same_rows=False)
    assert content.headline == "2 evaluations that were not compared."
    assert "better" not in " ".join(content.verdict)


def test_another_prevalence_is_not_tested_by_what_moves_with_it():
    rng = np.random.default_rng(0)
    y = rng.random(2_000) < 0.5
    # One is good at the very top, the other over the whole list.
    top = np.where(y & (rng.random(2_000) < 0.3), 5.0, 0.0) + rng.normal(size=2_000)
    panel = tm.panel(y, {"top": top, "whole": rng.normal(y * 1.1)})
    headline, sentences, _, comparisons = told(panel, threshold=1.0, prevalence=0.001)
    assert headline == "2 models, not tested against each other by average precision."
    assert set(comparisons) == {"auroc"}
    assert all("verage precision is" not in sentence for sentence in sentences)


def test_groups_of_several_models_are_told_model_by_model():
    rng = np.random.default_rng(0)
    region = np.repeat(["a", "b", "c"], 300)
    y = rng.random(900) < 0.3
    frame = pd.DataFrame(
        {"y": y, "r": region, "same": rng.normal(y * 1.5), "moved": rng.normal(y * np.where(region == "a", 0.0, 3.0))}
    )
    found = tm.evaluate(
        tm.tally(frame, label="y", score=["same", "moved"], by="r"), metrics=METRICS_TOLD, threshold=0.5
    )
    facts = {}
    for model in ("same", "moved"):
        own = {key[1]: one for key, one in found.entries.items() if key[0] == model}
        facts[model] = group_facts(
            own, tm.evaluate(tm.tally(frame, label="y", score=model), metrics=METRICS_TOLD), "auroc"
        )
    assert (
        group_headline(facts, "r") == "AUROC differs between groups of r for moved and is not shown to differ for same."
    )


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e12])
def test_rows_are_counted_as_rows_whatever_they_weigh(factor):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    tiny = np.arange(30) == 0
    weights = factor * np.concatenate((rng.uniform(0.5, 1.5, 300), np.full(30, 500.0)))
    frame = pd.DataFrame(
        {"y": np.r_[y, tiny], "p": rng.normal(np.r_[y, tiny] * 2.0), "w": weights, "g": ["large"] * 300 + ["tiny"] * 30}
    )
    own = {
        key[0]: one
        for key, one in tm.evaluate(
            tm.tally(frame, label="y", score="p", weight="w", by="g"), metrics=METRICS_TOLD, threshold=0.5
        ).entries.items()
    }
    whole = tm.evaluate(tm.tally(frame, label="y", score="p", weight="w"), metrics=METRICS_TOLD, threshold=0.5)
    facts = group_facts(own, whole, "auroc")
    assert facts.small == ("tiny",)
    text = " ".join(group_sentences(facts, own))
    assert "0.0 of 0.0" not in text
    assert "By weight it finds" in text


def estimated(share, n, low, high):
    return Prevalence(
        method="bayes", prevalence=share, n=n, low=low, high=high, level=0.95, interval_method="bootstrap"
    )


@pytest.mark.parametrize(
    ("share", "limits"), [(1.91e-13, (1.91e-13, 4.43e-8)), (0.0, (0.0, 1e-12)), (1e-7, (0.0, 1e-7))]
)
def test_less_than_a_row_is_no_power_of_ten(share, limits):
    one = estimated(share, 99_197, *limits)
    content = of_count(tm.quantify.Count(estimates={"bayes": one}), None)
    cells = [cell.text for line in content.sections[0].tables[0].lines for cell in line]
    for text in (repr(one), one.written, content.headline, *cells):
        assert not re.search(rf"\de[{MINUS}-]?\d", text), text
    # What is not of whole rows keeps its digits.
    assert "e" in estimated(1e-7, 0.5, 5e-8, 2e-7).written


@pytest.mark.parametrize("positives", [4, 8, 10])
def test_with_too_few_rows_of_a_class_no_model_is_better(positives):
    rng = np.random.default_rng(0)
    y = np.arange(60) < positives
    panel = tm.panel(y, {"a": rng.normal(5.0 * y), "b": rng.normal(size=60)})
    headline, sentences, *_ = told(panel)
    found = tm.compare(panel, metric="auroc")
    claims = [headline, comparison_headline(found), found.verdict, *sentences]
    assert any("better" in text and "Too few" not in text for text in claims) == (positives >= 10)
    assert (found.best is None) == (positives < 10)


def warned(y, scores, **options):
    data = tm.tally(y, scores)
    return " ".join(one.message for one in contents_of(data, **options).warnings)


def contents_of(tally):
    evaluation = tm.evaluate(tally, threshold=0.5)
    return of_models({"model": tally}, {"model": evaluation}, title="", same_rows=True)


def test_scores_that_do_not_add_up_are_warned_of_by_their_interval():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 9, 4_000)
    y = rng.random(4_000) < p
    assert "not calibrated" not in warned(y, p)
    # The same ranking after training with weights: means are far from the share of positives.
    weighted = 9 * p / (9 * p + 1 - p)
    assert "not calibrated" in warned(y, weighted)
    assert per_cent(weighted.mean()) in warned(y, weighted)
    # Few rows show nothing.
    assert "not calibrated" not in warned(y[:40], np.clip(p[:40] * 1.2, 0, 1))


def test_complete_separation_asks_for_a_leak():
    y = np.arange(40) >= 20
    scores = np.linspace(0.0, 1.0, 40)
    assert "hidden in what the model saw" in warned(y, scores)
    scores[[19, 20]] = scores[[20, 19]]
    assert "hidden" not in warned(y, scores)
