"""A judge checked by people: known answers, identities, coverage and refusals."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm


def made(rng, n=2_000, labelled=200, rate=0.8, sensitivity=0.95, specificity=0.6):
    truth = rng.random(n) < rate
    verdict = np.where(truth, rng.random(n) < sensitivity, rng.random(n) < 1 - specificity)
    human = np.where(rng.permutation(n) < labelled, truth, np.nan)
    return truth, pd.DataFrame({"j": verdict.astype(int), "h": human})


def test_the_parts_are_those_of_an_audit_of_a_table_and_of_two_raters():
    _, frame = made(np.random.default_rng(0))
    result = tm.raters.judge(frame, judge="j", human="h")
    seen = frame.dropna()
    assert result.judged.value == frame.j.mean()
    assert result.corrected.value == tm.audits.estimate(frame, label="h", predicted="j").prevalences[1].value
    assert result.sensitivity.value == pytest.approx(seen.j[seen.h == 1].mean())
    assert result.specificity.value == pytest.approx(1 - seen.j[seen.h == 0].mean())
    table = tm.confusion(seen.h, seen.j)
    by_rates = tm.audits.from_counts(table, predicted_positive=frame.j.sum(), n=len(frame))
    assert result.by_error_rates.value == by_rates.value
    assert result.agreement["cohen_kappa"].value == pytest.approx(tm.metrics.kappa(table))
    assert result.difference is None
    assert {"judged", "corrected", "difference"} <= set(result.to_dict())


def test_a_published_correction():
    # Lee et al. (2025): judged .4 of 1000, specificity .7 of 200, sensitivity .9 of 200.
    table = tm.confusion([1] * 200 + [0] * 200, [1] * 180 + [0] * 20 + [1] * 60 + [0] * 140)
    one = tm.audits.from_counts(table, predicted_positive=400, n=1_000)
    assert (one.value, one.low, one.high) == pytest.approx((0.1667, 0.0564, 0.2627), abs=5e-5)


def test_words_need_no_recoding():
    _, frame = made(np.random.default_rng(1))
    words = pd.DataFrame({"j": np.where(frame.j == 1, "pass", "fail"), "h": frame.h.map({1.0: "pass", 0.0: "fail"})})
    one, other = (tm.raters.judge(data, judge="j", human="h") for data in (frame, words))
    assert one.to_dict() == other.to_dict()
    odd = words.replace({"pass": "fine", "fail": "poor"})
    with pytest.raises(tm.InputError, match="which one is a pass"):
        tm.raters.judge(odd, judge="j", human="h")
    assert tm.raters.judge(odd, judge="j", human="h", pos_label="fine").to_dict() == one.to_dict()


def two_systems(rng, n=1_000, labelled=150, rates=(0.8, 0.7)):
    luck = rng.random(n)
    truths = [np.where(rng.random(n) < 0.5, luck, rng.random(n)) < rate for rate in rates]
    verdicts = [np.where(truth, rng.random(n) < 0.9, rng.random(n) < 0.3) for truth in truths]
    seen = rng.permutation(n) < labelled
    frame = {f"j{k}": verdict.astype(int) for k, verdict in enumerate(verdicts)}
    frame |= {f"h{k}": np.where(seen, truth, np.nan) for k, truth in enumerate(truths)}
    return truths, pd.DataFrame(frame)


def test_wide_and_long_form_agree():
    _, frame = two_systems(np.random.default_rng(2))
    wide = tm.raters.judge(frame, judge=["j0", "j1"], human=["h0", "h1"])
    parts = [
        pd.DataFrame({"j": frame[f"j{k}"], "h": frame[f"h{k}"], "s": f"j{k}", "i": np.arange(len(frame))})
        for k in (0, 1)
    ]
    rows = pd.concat(parts).sample(frac=1, random_state=0)
    long = tm.raters.judge(rows, judge="j", human="h", system="s", item="i")
    assert long.difference.to_dict() == wide.difference.to_dict()
    assert long.systems["j0"].corrected.value == wide.systems["j0"].corrected.value


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.8, 0.7), (0.97, 0.97)])
@pytest.mark.parametrize("labelled", [40, 150])
def test_the_difference_holds_its_level(rates, labelled):
    rng = np.random.default_rng(3)
    held, repeats = 0, 200
    for _ in range(repeats):
        (first, second), frame = two_systems(rng, labelled=labelled, rates=rates)
        one = tm.raters.judge(frame, judge=["j0", "j1"], human=["h0", "h1"]).difference
        held += one.low <= first.mean() - second.mean() <= one.high
    assert held / repeats > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)


def test_a_difference_of_all_labelled_items_is_known():
    (first, second), frame = two_systems(np.random.default_rng(4), labelled=1_000)
    one = tm.raters.judge(frame, judge=["j0", "j1"], human=["h0", "h1"]).difference
    # Two half pseudo-items of +1 and -1 leave the mean of n items n / (n + 1) of it.
    assert one.value == pytest.approx(first.mean() - second.mean(), abs=2e-4)
    assert one.standard_error == 0.0


def test_segments_are_estimated_one_by_one():
    _, frame = made(np.random.default_rng(5))
    frame["topic"] = np.arange(len(frame)) % 2
    result = tm.raters.judge(frame, judge="j", human="h", by="topic")
    part = tm.raters.judge(frame[frame.topic == 1], judge="j", human="h")
    assert result.segments[1,].corrected.value == part.corrected.value
    assert {"topic", "of", "value"} <= set(result.rows()[0])


def test_labels_that_are_no_random_sample_are_noted():
    rng = np.random.default_rng(6)
    truth, frame = made(rng, labelled=2_000)
    # People looked at half of the items that fail, and at one in ten of those that pass.
    frame["h"] = np.where(rng.random(2_000) < np.where(truth, 0.1, 0.5), frame.h, np.nan)
    with pytest.warns(tm.GuardWarning, match="TM118"):
        tm.raters.judge(frame, judge="j", human="h")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda f: f.assign(h=np.nan), {}, "No item has a human verdict"),
        (lambda f: f.assign(j=f.j.where(f.index > 3)), {}, "no verdict in"),
        (lambda f: f, {"judge": ["j", "j"], "human": ["h", "h"]}, "one of each"),
        (lambda f: f, {"system": "j"}, "system= and item="),
        (lambda f: f, {"pos_label": "yes"}, "yes"),
    ],
)
def test_bad_input_is_refused(change, options, message):
    _, frame = made(np.random.default_rng(7), n=100, labelled=30)
    with pytest.raises(tm.InputError, match=message):
        tm.raters.judge(change(frame), **({"judge": "j", "human": "h"} | options))


def test_a_judge_that_never_fails_anything_is_answered():
    truth, frame = made(np.random.default_rng(8))
    result = tm.raters.judge(frame.assign(j=1), judge="j", human="h")
    assert result.judged.value == 1.0
    assert result.corrected.low <= truth.mean() <= result.corrected.high
    assert result.specificity.value == 0.0
