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
    assert one.value == pytest.approx(first.mean() - second.mean(), abs=1e-12)
    assert one.low == pytest.approx(one.high)
    assert one.standard_error == 0.0


def test_segments_are_estimated_one_by_one():
    _, frame = made(np.random.default_rng(5))
    frame["topic"] = np.arange(len(frame)) % 2
    result = tm.raters.judge(frame, judge="j", human="h", by="topic")
    part = tm.raters.judge(frame[frame.topic == 1], judge="j", human="h")
    assert result.segments[1,].corrected.value == part.corrected.value
    assert result.unlike_rates["specificity"] > 0.01
    frame["topic"] = np.where(frame.h.isna() | (frame.h == frame.j), "easy", "hard")
    assert tm.raters.judge(frame, judge="j", human="h", by="topic").unlike_rates["specificity"] < 1e-6
    bare = frame.assign(topic=np.where(frame.h.isna(), "new", "old"))
    assert tm.raters.judge(bare, judge="j", human="h", by="topic").segments["new",].corrected.reason
    assert {"topic", "of", "value"} <= set(result.rows()[0])


def test_labels_that_were_drawn_by_the_verdict_are_taken_so_and_noted():
    rng = np.random.default_rng(6)
    truth, frame = made(rng, rate=0.9, labelled=2_000)
    by_verdict = np.where(rng.random(2_000) < np.where(frame.j == 1, 0.06, 0.5), frame.h, np.nan)
    with pytest.warns(tm.GuardWarning, match="TM128.*of those judged fail"):
        result = tm.raters.judge(frame.assign(h=by_verdict), judge="j", human="h")
    said = tm.raters.judge(frame.assign(h=by_verdict), judge="j", human="h", stratum="j")
    assert said.warnings == ()
    for one in (result, said):
        assert one.corrected.low <= truth.mean() <= one.corrected.high
        # Of the labelled items alone the sensitivity is far too low, and the agreement is that of odd items.
        assert one.sensitivity.low <= frame.j[truth].mean() <= one.sensitivity.high
        assert one.specificity.low <= 1 - frame.j[~truth].mean() <= one.specificity.high
        assert one.agreement is one.by_error_rates is None
    only_failed = np.where(frame.j == 0, frame.h, np.nan)
    nothing = tm.raters.judge(frame.assign(h=only_failed), judge="j", human="h")
    assert "no item judged pass has a human verdict" in nothing.corrected.reason


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


def test_classes_are_estimated_one_against_the_others():
    rng = np.random.default_rng(9)
    truth = rng.choice(["bad answer", "fine", "great"], 3_000, p=[0.2, 0.5, 0.3])
    verdict = np.where(rng.random(3_000) < 0.8, truth, "fine")
    frame = pd.DataFrame({"j": verdict, "h": np.where(rng.permutation(3_000) < 300, truth, None)})
    result = tm.raters.judge(frame, judge="j", human="h")
    assert result.scale == "classes"
    for label, one in result.classes.items():
        assert one.judged.value == (verdict == label).mean()
        assert one.corrected.low <= (truth == label).mean() <= one.corrected.high
        seen = frame.dropna()
        assert one.sensitivity.value == pytest.approx((seen.j[seen.h == label] == label).mean())
    assert {"verdict", "of"} <= set(result.rows()[0])
    with pytest.raises(tm.InputError, match="'Fine' beside 'fine'|'fine' beside 'Fine'"):
        tm.raters.judge(frame.assign(j=np.where(frame.index < 9, "Fine", frame.j)), judge="j", human="h")


def test_grades_are_means():
    rng = np.random.default_rng(10)
    truth = rng.integers(1, 6, 2_000).astype(float)
    verdict = np.clip(truth + rng.choice([0, 0, 1], 2_000), 1, 5)
    seen = rng.permutation(2_000) < 200
    frame = pd.DataFrame({"j": verdict, "h": np.where(seen, truth, np.nan)})
    result = tm.raters.judge(frame, judge="j", human="h")
    assert result.scale == "grades"
    j, h = verdict[seen], truth[seen]
    slope = np.cov(j, h, ddof=0)[0, 1] / j.var()
    assert 0.0 < slope < 1.0
    assert result.corrected.value == pytest.approx(slope * verdict.mean() + (h - slope * j).mean())
    assert result.corrected.low <= truth.mean() <= result.corrected.high
    assert result.bias.value == pytest.approx((j - h).mean())
    assert result.bias.low > 0.0


def test_clusters_and_probabilities_reach_every_estimate():
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({"talk": np.repeat(np.arange(100), 20)})
    mood = rng.normal(size=100)[frame.talk]
    for name, shift in (("a", 0.3), ("b", 0.0)):
        truth = rng.normal(size=2_000) + 2 * mood + shift > 0
        frame[f"j{name}"] = np.where(rng.random(2_000) < 0.85, truth, ~truth).astype(int)
        frame[f"h{name}"] = np.where(frame.talk < 30, truth, np.nan)
    options = {"judge": ["ja", "jb"], "human": ["ha", "hb"]}
    plain, clustered = tm.raters.judge(frame, **options), tm.raters.judge(frame, **options, cluster="talk")
    for one, other in zip(plain.systems.values(), clustered.systems.values(), strict=True):
        assert other.corrected.high - other.corrected.low > one.corrected.high - one.corrected.low
        for name in ("sensitivity", "specificity"):
            assert getattr(other, name).interval != getattr(one, name).interval
    assert clustered.difference.standard_error != plain.difference.standard_error
    long = pd.concat([frame.assign(j=frame[f"j{s}"], h=frame[f"h{s}"], s=s, i=frame.index) for s in "ab"]).sample(
        frac=1, random_state=1
    )
    again = tm.raters.judge(long, judge="j", human="h", system="s", item="i", cluster="talk")
    assert again.difference.value == pytest.approx(clustered.difference.value)
    assert again.difference.low == pytest.approx(clustered.difference.low)
    chance = np.where(frame.ja == 1, 0.05, 0.4)
    labelled = rng.random(2_000) < chance
    drawn = frame.assign(h=np.where(labelled, frame.ha.fillna(0), np.nan), p=chance)
    weighted = tm.raters.judge(drawn, judge="ja", human="h", inclusion="p")
    audit = tm.audits.estimate(drawn, label="h", predicted="ja", inclusion="p")
    assert weighted.corrected.value == audit.prevalences[1].value
    assert weighted.sensitivity.value == audit.recall[1].value


def test_several_systems_are_ranked_with_letters():
    rng = np.random.default_rng(12)
    frame = {}
    for name, rate in (("a", 0.9), ("b", 0.6), ("c", 0.6)):
        truth = rng.random(1_500) < rate
        frame[f"j{name}"] = np.where(rng.random(1_500) < 0.9, truth, ~truth).astype(int)
        frame[f"h{name}"] = np.where(np.arange(1_500) < 300, truth, np.nan)
    judges, humans = ["ja", "jb", "jc"], ["ha", "hb", "hc"]
    result = tm.raters.judge(frame, judge=judges, human=humans, equivalence=0.2)
    assert result.difference is None
    assert result.comparison.ranked[0] == "ja"
    assert result.comparison.letters["ja"] == "a"
    assert "share a letter" in result.heading()
    pair = tm.raters.judge(frame, judge=judges[:2], human=humans[:2])
    assert pair.difference.value == pytest.approx(result.comparison["ja", "jb"].difference)


def test_labels_of_one_system_each_are_used():
    rng = np.random.default_rng(13)
    (first, second), frame = two_systems(rng, n=2_000, labelled=2_000, rates=(0.9, 0.6))
    apart = frame.assign(h0=frame.h0.where(frame.index % 4 == 0), h1=frame.h1.where(frame.index % 4 == 1))
    one = tm.raters.judge(apart, judge=["j0", "j1"], human=["h0", "h1"]).difference
    assert one.low <= first.mean() - second.mean() <= one.high
    assert one.parameters["p_value"] < 1e-6


def test_limits_for_items_of_which_these_are_a_sample_are_wider():
    _, frame = two_systems(np.random.default_rng(14), labelled=900)
    options = {"judge": ["j0", "j1"], "human": ["h0", "h1"]}
    here, everywhere = (tm.raters.judge(frame, **options, population=name) for name in ("suite", "items"))
    assert everywhere.difference.value == here.difference.value
    assert everywhere.difference.high - everywhere.difference.low > 1.5 * (here.difference.high - here.difference.low)
    one, other = (result.systems["j0"].corrected for result in (here, everywhere))
    assert other.low < one.low < one.high < other.high
    # With every item labelled by people, it is the paired t-test.
    both = frame.assign(h0=frame.h0.fillna(frame.j0), h1=frame.h1.fillna(frame.j1))
    pair = tm.raters.judge(both, **options, population="items").difference
    outcome = tm.compare(tm.outcomes({"a": both.h0, "b": both.h1}), method="t")
    assert pair.standard_error == pytest.approx(outcome.pairs[0].error, rel=0.01)


@pytest.mark.parametrize(
    ("judged", "human", "options"),
    [
        ("Pass,Fail", "pass,fail", {}),
        ("1,0", "yes,no", {}),
        ("True,False", "1,0", {}),
        ("passed,failed", "y,n", {}),
    ],
)
def test_columns_may_use_different_words(judged, human, options, tmp_path):
    _, frame = made(np.random.default_rng(15))
    wanted = tm.raters.judge(frame, judge="j", human="h").to_dict()
    yes, no = judged.split(",")
    passed, failed = human.split(",")
    words = pd.DataFrame({"j": np.where(frame.j == 1, yes, no), "h": frame.h.map({1.0: passed, 0.0: failed})})
    words.to_csv(tmp_path / "f.csv", index=False)
    for data in (words, tmp_path / "f.csv"):
        assert tm.raters.judge(data, judge="j", human="h", **options).to_dict() == wanted


def test_words_that_no_column_shares_are_refused():
    _, frame = made(np.random.default_rng(16))
    odd = pd.DataFrame({"j": np.where(frame.j == 1, "fine", "poor"), "h": frame.h.map({1.0: "good!", 0.0: "bad!"})})
    with pytest.raises(tm.InputError, match="never 'fine'"):
        tm.raters.judge(odd, judge="j", human="h", pos_label="fine")
    spelt = pd.DataFrame({"j": np.where(frame.j == 1, "fine", "poor"), "h": frame.h.map({1.0: "Fine", 0.0: "poor"})})
    with pytest.raises(tm.InputError, match="how they are written"):
        tm.raters.judge(spelt, judge="j", human="h", pos_label="fine")
    with pytest.raises(tm.InputError, match="judge_drift"):
        tm.raters.judge(frame.assign(k=frame.j), judge=["j", "k"], human=["h", "h"])


def test_notes_of_the_parts_are_passed_on_once():
    frame = pd.DataFrame({"j": [1] * 180 + [0] * 20, "h": [1.0] * 40 + [np.nan] * 160})
    with pytest.warns(tm.GuardWarning) as said:
        result = tm.raters.judge(frame, judge="j", human="h")
    codes = [one.message.code for one in said]
    assert "TM117" in codes
    assert sorted(codes) == sorted(note.code for note in result.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_plan_for_a_width_is_met(seed):
    rng = np.random.default_rng(seed)
    truth, frame = made(rng, n=3_000, labelled=60, rate=0.9, specificity=0.8)
    needed = tm.raters.plan(frame, judge="j", human="h", width=0.06)
    assert needed.size == len(needed.drawn) == sum(needed.split.values())
    assert frame.h[needed.drawn].isna().all()
    full = frame.assign(h=np.where(np.isin(frame.index, needed.drawn), truth, frame.h))
    one = tm.raters.judge(full, judge="j", human="h", stratum="j").corrected
    assert one.high - one.low < 0.075
    assert tm.raters.plan(frame, judge="j", width=0.06).size > needed.size


def test_a_plan_for_a_difference_gives_the_power():
    rng = np.random.default_rng(5)
    _, frame = two_systems(rng, n=4_000, labelled=200, rates=(0.8, 0.75))
    names = {"judge": ["j0", "j1"], "human": ["h0", "h1"]}
    needed = tm.raters.plan(frame, **names, difference=0.05)
    pilot = tm.raters.judge(frame, **names).difference
    n, more = 200, needed.size + 200
    error = pilot.standard_error * np.sqrt(n / more * (1 - more / 4_000) / (1 - n / 4_000))
    assert error == pytest.approx(0.05 / (1.959964 + 0.841621), rel=0.02)
    with pytest.raises(tm.InputError, match="pilot"):
        tm.raters.plan(frame, judge=["j0", "j1"], difference=0.05)


def test_a_judge_that_is_run_again():
    _, frame = made(np.random.default_rng(17))
    rng = np.random.default_rng(18)
    frame["k"] = np.where((frame.j == 0) & (rng.random(2_000) < 0.3), 1, frame.j)
    drift = tm.raters.judge_drift(frame, judge=["j", "k"], human="h")
    flips = int((frame.j != frame.k).sum())
    assert (drift.flip_rate.value, drift.to_pass, drift.to_fail) == (flips / 2_000, flips, 0)
    assert drift.pass_rate.value == pytest.approx(frame.k.mean() - frame.j.mean())
    seen = frame.dropna()
    assert drift.specificity.value == pytest.approx((seen.j - seen.k)[seen.h == 0].mean())
    assert drift.specificity.high < 0.0
    assert drift.specificity.parameters["p_value"] < 0.05
    assert tm.raters.judge_drift(frame, judge=["j", "k"]).sensitivity is None


def test_grades_that_no_item_shares_are_compared_by_value():
    rng = np.random.default_rng(31)
    truth = rng.integers(1, 6, 400).astype(float)
    frame = pd.DataFrame(
        {"j": truth + rng.normal(0, 0.5, 400), "h": np.where(rng.permutation(400) < 100, truth, np.nan)}
    )
    result = tm.raters.judge(frame, judge="j", human="h")
    seen = frame[frame.h.notna()]
    gaps = np.subtract.outer(seen.j.to_numpy(), seen.h.to_numpy()) ** 2
    assert result.agreement["cohen_kappa"].value == pytest.approx(1 - np.diag(gaps).mean() / gaps.mean())
    many = frame.sample(3_000, replace=True, random_state=0).reset_index(drop=True)
    many = many.assign(j=many.j + rng.normal(0, 0.1, 3_000), h=many.j)
    assert tm.raters.judge(many, judge="j", human="h").agreement is None


def test_a_rare_verdict_that_happened_to_be_labelled_is_no_sign_of_uneven_labels():
    # A random sample: three of five items of grade 1, by luck, and none of grade 3.
    grades = np.repeat([1.0, 2.0, 3.0, 4.0, 5.0], [5, 27, 103, 271, 594])
    labelled = np.concatenate([np.arange(n) < m for n, m in ((5, 3), (27, 2), (103, 0), (271, 9), (594, 26))])
    human = np.where(labelled, np.maximum(grades - 1, 1), np.nan)
    result = tm.raters.judge({"j": grades, "h": human}, judge="j", human="h")
    assert not result.warnings
    assert result.corrected.interval is not None
    assert result.agreement is not None


def test_a_segment_without_labels_in_a_stratum_does_not_stop_the_others():
    rng = np.random.default_rng(32)
    _, frame = made(rng, n=900, labelled=300)
    frame["topic"], frame["source"] = np.arange(900) % 3, np.arange(900) // 450
    frame.loc[(frame.topic == 1) & (frame.source == 0), "h"] = np.nan
    result = tm.raters.judge(frame, judge="j", human="h", stratum="source", by="topic")
    assert "stratum" in result.segments[1,].corrected.reason
    assert result.segments[2,].corrected.interval is not None
    two = frame.assign(k=frame.j, g=frame.h)
    pair = tm.raters.judge(two, judge=["j", "k"], human=["h", "g"], stratum="source", by="topic")
    assert "stratum" in pair.segments[1,].difference.reason


def test_the_same_column_cannot_judge_and_be_right():
    _, frame = made(np.random.default_rng(33))
    with pytest.raises(tm.InputError, match="two columns"):
        tm.raters.judge(frame, judge="j", human="j")
    with pytest.raises(tm.InputError, match="another column"):
        tm.raters.judge_drift(frame.assign(k=frame.j), judge=["j", "k"], human="j")


def test_what_is_said_where_every_item_is_labelled_or_all_grades_are_alike():
    truth, frame = made(np.random.default_rng(34), n=50, labelled=50, rate=0.7)
    with pytest.warns(tm.GuardWarning, match="people labelled every item"):
        result = tm.raters.judge(frame, judge="j", human="h")
    assert f"by people's verdicts on every item it is {100 * np.mean(truth):.3g} %" in result.sentences()[0]
    same = tm.raters.judge({"j": [3.0] * 90, "h": [3.0] * 40 + [np.nan] * 50}, judge="j", human="h", scale="grades")
    assert same.corrected.value == pytest.approx(3.0)
    assert same.corrected.interval is None
    assert "alike" in same.corrected.no_interval


def test_a_plan_that_needs_every_item_takes_every_item():
    _, frame = made(np.random.default_rng(0), n=500, labelled=100)
    needed = tm.raters.plan(frame, judge="j", human="h", width=1e-6)
    assert needed.size == 400


def _coverage(make, repeats, **columns):
    held = 0
    for _ in range(repeats):
        frame, truth = make()
        result = tm.raters.judge(frame, **columns)
        one = result.corrected if result.difference is None else result.difference
        held += one.low <= truth <= one.high
    return held / repeats


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_rate_of_all_items_allows_for_clusters(share):
    rng = np.random.default_rng(1)

    def make():
        cluster = np.repeat(np.arange(40), 30)
        truth = rng.random(1_200) < rng.beta(1.4, 0.6, 40)[cluster]
        seen = np.isin(cluster, rng.permutation(40)[: int(40 * share)])
        verdict = np.where(rng.random(1_200) < 0.85, truth, ~truth).astype(int)
        return pd.DataFrame({"j": verdict, "h": np.where(seen, truth, np.nan), "c": cluster}), 0.7

    assert _coverage(make, 120, judge="j", human="h", cluster="c", population="items") >= 0.89


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("flips", [0.97, 0.03])
def test_a_difference_of_other_labels_allows_for_what_both_share(flips):
    rng = np.random.default_rng(2)

    def make():
        a = rng.random(800) < 0.5
        b = a ^ (rng.random(800) < flips)
        order = rng.permutation(800)
        of_a, of_b = order[:130], np.concatenate((order[:60], order[130:200]))
        frame = pd.DataFrame({"ja": a.astype(int), "jb": b.astype(int)})
        for name, truth, seen in (("ha", a, of_a), ("hb", b, of_b)):
            frame[name] = np.where(np.isin(np.arange(800), seen), truth, np.nan)
        return frame, 0.0

    assert _coverage(make, 120, judge=["ja", "jb"], human=["ha", "hb"], population="items") >= 0.89


def test_systems_that_differ_do_not_make_segments_differ():
    rng = np.random.default_rng(3)
    truth = rng.random(2_000) < 0.5
    frame = pd.DataFrame({"topic": np.arange(2_000) % 2, "ha": truth.astype(int), "hb": truth.astype(int)})
    for name, specificity in (("ja", 0.9), ("jb", 0.4)):
        frame[name] = np.where(truth, 1, rng.random(2_000) > specificity).astype(int)
    both = tm.raters.judge(frame, judge=["ja", "jb"], human=["ha", "hb"], by="topic").unlike_rates
    alone = [tm.raters.judge(frame, judge=f"j{k}", human=f"h{k}", by="topic").unlike_rates for k in "ab"]
    # Holm's correction of two p-values: the least is doubled.
    assert both["specificity"] == pytest.approx(min(1.0, 2 * min(one["specificity"] for one in alone)))
    frame.loc[frame.topic == 1, "jb"] = 0
    assert tm.raters.judge(frame, judge=["ja", "jb"], human=["ha", "hb"], by="topic").unlike_rates["specificity"] < 1e-6


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "string", "object"])
def test_nullable_columns_are_read_as_plain_ones(dtype):
    _, frame = made(np.random.default_rng(0), n=300, labelled=80)
    plain = tm.raters.judge(frame, judge="j", human="h")
    words = frame.replace({1: "pass", 0: "fail"}) if dtype in {"string", "object"} else frame
    nullable = words.where(words.notna(), None).astype(dtype)
    assert tm.raters.judge(nullable, judge="j", human="h").corrected == plain.corrected
    plans = [tm.raters.plan(one, judge="j", human="h", width=0.1).heading() for one in (frame, nullable)]
    assert plans[0] == plans[1]
    drift = {name: tm.raters.judge_drift(f.assign(k=f["j"]), judge=["j", "k"], human="h") for name, f in (("a", frame), ("b", nullable))}  # fmt: skip
    assert drift["a"].to_dict() == drift["b"].to_dict()


def test_disagreements_are_named_by_the_id():
    _, frame = made(np.random.default_rng(0), n=100, labelled=60)
    frame["key"] = [f"q{i}" for i in range(100)]
    rows = tm.raters.judge(frame, judge="j", human="h", id="key").agreement.disagreements
    differ = frame[frame.h.notna() & (frame.j != frame.h)]
    assert {row["item"] for row in rows} == set(differ.key)
    people = frame.dropna()[["key", "h"]]
    joined = tm.raters.judge(frame.drop(columns="h"), judge="j", human="h", labels=people, id="key")
    assert [row["item"] for row in joined.agreement.disagreements] == [row["item"] for row in rows]
