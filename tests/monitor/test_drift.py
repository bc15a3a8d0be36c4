"""Watching: run lengths against R's spc and by simulation, what a signal says, and a history that survives."""

import json
import sqlite3
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

import tallymark as tm
from tallymark.monitor.control_charts import average_run_length, control_chart, cusum_limit, median_run_length, unusual
from tallymark.monitor.shared_effects import SharedEffect


def test_run_lengths_are_those_of_spc():
    """R's spc 0.6.7: xcusum.crit and xcusum.arl, two-sided, k = 0.5."""
    assert cusum_limit(370.0) == pytest.approx(4.7738337, abs=1e-6)
    assert cusum_limit(500.0) == pytest.approx(5.0707039, abs=1e-6)
    assert [average_run_length(4.0, d) for d in (0.0, 0.5, 1.0, 2.0)] == pytest.approx(
        [167.68379, 26.63020, 8.38313, 3.34277], abs=1e-4
    )
    assert [average_run_length(5.0, d) for d in (0.0, 0.5, 1.0, 2.0)] == pytest.approx(
        [465.44351, 37.99614, 10.37597, 4.00887], abs=1e-4
    )
    assert 0.66 < median_run_length(cusum_limit(370.0)) / 370.0 < 0.75


@pytest.mark.parametrize("reference", [3, 10])
def test_the_run_length_holds_with_an_estimated_reference(reference):
    rng = np.random.default_rng(0)
    lengths = []
    for _ in range(300):
        sizes = rng.integers(200, 900, 700 + reference).astype(float)
        chart = control_chart(rng.normal(3.0, 2.0 / np.sqrt(sizes)), sizes, reference, 100.0)
        found = np.flatnonzero(chart.signals)
        lengths.append(found[0] - reference + 1 if len(found) else 700)
    # A mean of 300 nearly exponential run lengths; textbook limits with ten estimated periods have less than half.
    assert abs(np.mean(lengths) - 100.0) < 4 * 100.0 / np.sqrt(300)


def stream(rng, months=20, rows=500, moved=99, share=0.45, classes_moved=99, dearer=99):
    month = np.repeat(np.arange(months), rows)
    y = rng.random(len(month)) < np.where(month >= moved, share, 0.3)
    p = 1 / (1 + np.exp(-rng.normal(2 * y - 1 + 1.5 * (y & (month >= classes_moved)))))
    frame = pd.DataFrame({"m": month, "p": p, "truth": y, "y": np.where(month < 10, y, np.nan)})
    return frame.assign(price=np.exp(rng.normal(0.15 * (month >= dearer), 0.4)))


def watched(frame, **options):
    return tm.monitor.watch(frame, **({"period": "m", "score": "p", "label": "y"} | options))


def test_a_moved_prevalence_is_told_from_moved_classes():
    rng = np.random.default_rng(1)
    found = watched(stream(rng, moved=13))
    assert {signal for one in found.signals for signal in one.signals} == {"prevalence"}
    last = found.periods[-1]
    assert last.prevalence.low <= 0.45 <= last.prevalence.high
    assert "corrected prevalence" in last.advice
    moved = watched(stream(rng, classes_moved=15))
    assert moved.signals[0].period >= 15
    assert "classes" in moved.signals[-1].signals
    assert moved.plan is not None
    assert "label rows" in moved.verdict
    assert not any("prevalence" in one.signals for one in moved.periods if one.period < 15)


def test_values_have_a_chart_of_their_own():
    found = watched(stream(np.random.default_rng(2), dearer=14), value="price")
    assert {one.signals for one in found.signals} == {("values",)}
    assert found.signals[0].period >= 14


def test_expected_metrics_follow_the_prevalence():
    """CBPE would not see it: the accuracy of a classifier that misses positives falls when they become more."""
    rng = np.random.default_rng(3)
    frame = stream(rng, moved=12, share=0.7, rows=2_000)
    found = watched(frame, threshold=0.7)
    last = found.periods[-1]
    part = frame[frame.m == last.period]
    truth = ((part.p >= 0.7) == part.truth).mean()
    assert last.expected["accuracy"] == pytest.approx(truth, abs=0.03)
    assert found.periods[0].expected["accuracy"] > truth + 0.05


def test_audits_of_later_periods_are_used():
    rng = np.random.default_rng(4)
    frame = stream(rng, classes_moved=12)
    frame["y"] = np.where((frame.m < 10) | (rng.random(len(frame)) < 0.3), frame.truth, np.nan)
    found = watched(frame, reference=10, audit=True)
    last = found.periods[-1]
    assert last.audit.low <= frame.truth[frame.m == 19].mean() <= last.audit.high
    assert last.row()["drift_p"] < 0.001
    assert "classes" in last.signals


def test_false_alarms_come_as_seldom_as_said():
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(40):
        found = watched(stream(rng, months=20, rows=150), run_length=50.0, value="price", method="ac")
        alarms += bool(found.signals)
    # Once in 50 periods: of ten periods about a fifth of the streams signal.
    assert alarms / 40 < 1 - np.exp(-10 / 50) + 4 * np.sqrt(0.2 * 0.8 / 40)


def test_without_labels_there_are_charts_alone():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {"m": np.repeat(np.arange(12), 200), "s": rng.normal(np.repeat(np.arange(12) >= 9, 200) * 1.0)}
    )
    found = tm.monitor.watch(frame, period="m", score="s")
    assert not found.counted
    assert found.periods[-1].signals == ("scores",)
    assert found.charts == 1


def test_a_folder_with_a_file_for_each_period(tmp_path):
    frame = stream(np.random.default_rng(7), moved=13)
    for month, part in frame.groupby("m"):
        part.drop(columns=["m", "truth"]).to_csv(tmp_path / f"2024-{month:02d}.csv", index=False)
    (tmp_path / "readme.md").write_text("not a table")
    found = tm.monitor.watch(tmp_path, score="p", label="y")
    same = watched(frame)
    assert [one.period for one in found.periods][:2] == ["2024-00", "2024-01"]
    assert [one.signals for one in found.periods] == [one.signals for one in same.periods]


def test_the_history_survives_a_kill_and_keeps_what_is_gone(tmp_path):
    store = tmp_path / "h.sqlite"
    frame = stream(np.random.default_rng(8))
    watched(frame[frame.m < 12], store=store)
    code = f"""
        import os, sqlite3
        connection = sqlite3.connect({str(store)!r})
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM periods")
        os._exit(9)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False).returncode == 9
    later = watched(frame[frame.m >= 4], store=store)
    assert [row["period"] for row in later.history] == list(range(20))
    with sqlite3.connect(store) as connection:
        assert connection.execute("SELECT count(*) FROM periods").fetchone() == (20,)


def test_another_database_is_left_alone(tmp_path):
    store = tmp_path / "other.sqlite"
    with sqlite3.connect(store) as connection:
        connection.execute("CREATE TABLE precious (x)")
    with pytest.raises(tm.InputError, match="something else"):
        watched(stream(np.random.default_rng(9), months=6, rows=60), reference=3, store=store)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": None}, "period="),
        ({"metrics": "auroc"}, "one threshold"),
        ({"reference": 99}, "reference"),
        ({"run_length": 1.0}, "run_length"),
        ({"value": "gap"}, "missing or not finite"),
    ],
)
def test_bad_input_is_refused(options, message):
    frame = stream(np.random.default_rng(0), months=6, rows=40).assign(gap=np.nan)
    with pytest.raises(tm.InputError, match=message):
        watched(frame, **options)
    with pytest.raises(tm.InputError, match="needs a reference"):
        watched(frame[frame.m < 3])


def test_periods_come_as_people_count_them(tmp_path):
    frame = stream(np.random.default_rng(12), moved=13)
    wanted = [one.signals for one in watched(frame).periods]
    for spelled in (lambda m: str(m + 1), lambda m: f"2024-{m + 1}", lambda m: f"wave {m}"):
        found = watched(frame.assign(m=[spelled(m) for m in frame.m]))
        assert [one.signals for one in found.periods] == wanted
    for month, part in frame.groupby("m"):
        part.drop(columns=["m", "truth"]).to_csv(tmp_path / f"sales.2020.{month + 1}.csv", index=False)
    folder = tm.monitor.watch(tmp_path, score="p", label="y")
    assert folder.periods[0].period == "sales.2020.1"
    assert [one.signals for one in folder.periods] == wanted


def test_the_plan_names_rows_of_the_data():
    frame = stream(np.random.default_rng(13), classes_moved=18)
    plan = watched(frame).plan
    assert (frame.m.to_numpy()[plan.drawn] == 19).all()
    assert plan.list_to_check().score.tolist() == frame.p[plan.drawn].tolist()


def test_ties_do_not_look_like_drift():
    frame = stream(np.random.default_rng(14)).assign(price=lambda f: f.price.round(0))
    found = watched(frame, value="price")
    usual, last = (frame.price[rows] for rows in (frame.m < 10, frame.m == 19))
    assert found.periods[-1].value_ks == pytest.approx(ks_2samp(usual, last).statistic)
    assert watched(frame.assign(price=3.0), value="price").periods[-1].value_ks == 0.0


def test_an_alarm_is_not_unsaid(tmp_path):
    frame, store = stream(np.random.default_rng(15), moved=14), tmp_path / "h.sqlite"
    first = watched(frame, store=store)
    told = {row["period"]: row["signal"] for row in first.history}
    assert told[19]
    again = watched(frame[frame.m >= 12], reference=7, store=store)
    assert {row["period"]: row["signal"] for row in again.history if row["period"] < 19} == {
        k: v for k, v in told.items() if k < 19
    }


def test_a_chart_is_even_handed():
    rng = np.random.default_rng(16)
    x = np.concatenate((rng.normal(size=40), [30.0], rng.normal(size=5)))
    up, down = (control_chart(side * x, np.ones(46), 40, 370.0) for side in (1.0, -1.0))
    assert up.standardised[40:] == pytest.approx(-down.standardised[40:])
    assert (up.signals == down.signals).all()


def test_what_does_not_correct_is_not_called_corrected():
    frame = stream(np.random.default_rng(17), months=8, rows=80)
    with pytest.raises(tm.InputError, match="does not correct"):
        watched(frame, reference=4, method="cc")
    json.dumps(watched(frame, reference=4, threshold=0.0).to_dict(), allow_nan=False)
    json.dumps(watched(frame, label=None).to_dict(), allow_nan=False)
    assert watched(frame, reference=4, audit=True).charts == watched(frame, reference=4).charts + 1


def test_a_reference_whose_rows_share_an_effect_makes_alarms_rarer():
    # Statistics of 20 degrees of freedom: 40 is unusual where rows are independent, and not where the reference has it every third period.
    calm = np.array([18.0, 22, 15, 25, 19, 21, 17, 23, 20, 20])
    effect = np.array([18.0, 45, 15, 25, 60, 21, 38, 23, 70, 20])
    freedom = np.full(12, 20.0)
    for reference, alarm in ((calm, True), (effect, False)):
        p = unusual(np.append(reference, [40.0, 2_000.0]), freedom, 10)
        assert (p[10] < 0.01) == alarm
        # What is far beyond everything seen is still an alarm.
        assert p[11] < 0.01
    assert unusual(np.append(calm, [40.0, 2_000.0]), freedom, 10)[10] == pytest.approx(0.00500, abs=1e-4)


def test_periods_that_share_an_effect_do_not_move_the_classes():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(4):
        month = np.repeat(np.arange(22), 600)
        y = rng.random(len(month)) < 0.3
        z = rng.normal(size=len(month)) + 1.5 * y + 0.5 * rng.normal(size=22)[month]
        frame = pd.DataFrame({"m": month, "p": 1 / (1 + np.exp(-z)), "y": np.where(month < 12, y, np.nan)})
        found = tm.monitor.watch(frame, period="m", score="p", label="y", run_length=60, method="ac")
        alarms += sum("classes" in one.signals for one in found.signals)
    # Without the reference's own variation 9 of these 40 periods signal.
    assert alarms <= 1


def test_labels_that_are_not_used_are_said():
    frame = stream(np.random.default_rng(3), moved=13)
    drawn = np.random.default_rng(4).random(len(frame)) < 0.1
    frame["y"] = np.where((frame["m"] < 10) | drawn, frame["truth"], np.nan)
    later = int(np.count_nonzero(drawn & (frame["m"] >= 10)))
    found = watched(frame, reference=10)
    assert f"{later} labelled rows of 10 later periods were not used" in found.verdict
    assert "--audit" in found.verdict
    assert "not used" not in watched(frame, reference=10, audit=True).verdict
    assert "not used" not in watched(stream(np.random.default_rng(3))).verdict


def months(seed, effect, *, later=0.0, audit=False):
    """Eight labelled periods and ten more of 300 rows; all scores of a period move by normal noise, and later positives by `later`."""
    rng = np.random.default_rng(seed)
    when = np.repeat(np.arange(18), 300)
    y = rng.random(len(when)) < 0.3
    z = rng.normal(size=len(when)) + 1.5 * y + (effect * rng.normal(size=18))[when] + later * (y & (when >= 8))
    known = (when < 8) | (audit & (rng.random(len(when)) < 0.5))
    return {"m": when, "p": 1 / (1 + np.exp(1.1 - 1.5 * z)), "y": np.where(known, y, np.nan)}


WATCHED = {"period": "m", "score": "p", "label": "y", "reference": 8, "method": "ac", "run_length": 60}


@pytest.mark.parametrize("audit", [False, True])
def test_periods_whose_rows_move_together_are_no_moved_classes(audit):
    # Taken for independent, the rows gave false alarms in 1 (by scores) and 7 (by labels) of these 10 periods.
    with pytest.warns(tm.GuardWarning, match="TM126: The rows of a period move together"):
        found = tm.monitor.watch(months(2, 0.5, audit=audit), audit=audit, **WATCHED)
    assert not any("classes" in one.signals for one in found.periods)
    assert "TM126" in [note.code for note in found.warnings]


@pytest.mark.parametrize("audit", [False, True])
def test_independent_rows_lose_no_alarm(audit):
    found = tm.monitor.watch(months(2, 0.0, later=1.5, audit=audit), audit=audit, **WATCHED)
    assert sum("classes" in one.signals for one in found.periods) == 10
    assert not found.warnings


def test_labels_in_too_few_periods_are_said():
    columns = months(2, 0.0)
    columns["y"] = np.where(columns["m"] < 2, columns["y"], np.nan)
    with pytest.warns(tm.GuardWarning, match="TM126: Fewer than three periods of the reference"):
        tm.monitor.watch(columns, **WATCHED)


def test_the_report_shows_the_notes_of_a_watch(tmp_path):
    with pytest.warns(tm.GuardWarning, match="TM126"):
        found = tm.monitor.watch(months(2, 0.5), **WATCHED)
    tm.report(found, tmp_path / "r.html")
    assert "TM126" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_shared_effect_is_estimated_by_class():
    rng = np.random.default_rng(3)
    when, y = np.repeat(np.arange(40), 400), np.tile([False, True], 8_000)
    moves = rng.multivariate_normal([0.0, 0.0], [[0.09, -0.03], [-0.03, 0.04]], 40)
    z = rng.normal(size=16_000) + moves[when, y.astype(int)]
    effect = SharedEffect.of(np.exp(z), y, [np.flatnonzero(when == t) for t in range(40)])
    # Normal scores have deviation one, and the scores about 1.03.
    assert effect.covariance == pytest.approx(np.cov(moves.T), abs=0.015)
    assert effect.p_value < 1e-10
    # Without moves nothing is changed, and the order of rows and the scale of scores never matter.
    calm = SharedEffect.of(z - moves[when, y.astype(int)], y, [np.flatnonzero(when == t) for t in range(40)])
    assert calm.covariance.max() < 0.002
    assert calm.p_value > 0.01
    order = rng.permutation(16_000)
    same = SharedEffect.of(3.0 * np.exp(z[order]), y[order], [np.flatnonzero(when[order] == t) for t in range(40)])
    assert same.covariance == pytest.approx(effect.covariance, abs=1e-9)


def test_a_few_distinct_scores_move_in_part():
    rng = np.random.default_rng(4)
    when, y = np.repeat(np.arange(13), 500), rng.random(6_500) < 0.4
    leaf = rng.binomial(4, np.where(y, 0.7, 0.3)) / 4.0
    leaf = np.where((when >= 10) & y, rng.integers(0, 2, 6_500).astype(float), leaf)
    columns = {"m": when, "p": leaf, "y": np.where(when < 10, y, np.nan)}
    found = tm.monitor.watch(columns, period="m", score="p", label="y", method="ac", run_length=60)
    assert ["classes" in one.signals for one in found.periods] == [False] * 10 + [True] * 3
