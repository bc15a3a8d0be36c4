"""Change of two audits, and publication rules."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm


def audit(found, n=200, size=5_000, **options):
    return tm.audits.from_matrix([[found, n - found]], [size], classes=["yes", "no"], **options)


def test_differences_and_growth_are_put_together_from_both():
    before, after = audit(40), audit(60)
    change = tm.audits.change(before, after)
    count = change.of("yes", "count")
    assert count["value"] == pytest.approx(500.0)
    one, two = before.counts["yes"], after.counts["yes"]
    assert count["low"] == pytest.approx(500 - np.hypot(two.value - two.low, one.high - one.value))
    growth = change.of("yes", "growth")
    assert growth["value"] == pytest.approx(0.5)
    assert growth["low"] < 0.5 < growth["high"]
    assert change.of("yes", "prevalence")["value"] == pytest.approx(0.1)


def test_a_growth_from_next_to_nothing_cannot_be_bounded():
    none = tm.audits.change(audit(0), audit(60)).of("yes", "growth")
    assert np.isnan(none["value"])
    assert "none to grow from" in none["reason"]
    few = tm.audits.change(audit(1, n=12), audit(60)).of("yes", "growth")
    assert few["high"] is None
    assert few["reason"].startswith("cannot be bounded")
    assert few["low"] < few["value"]


@pytest.mark.slow
def test_the_difference_holds_its_level():
    rng = np.random.default_rng(0)
    held, repeats = 0, 300
    for _ in range(repeats):
        before, after = (audit(int(rng.hypergeometric(k, 5_000 - k, 150)), 150, finite=True) for k in (300, 450))
        line = tm.audits.change(before, after).of("yes", "count")
        held += line["low"] <= 150 <= line["high"]
    assert held / repeats > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)


def test_audits_that_do_not_fit_are_refused():
    other = tm.audits.from_matrix([[4, 6]], [500], classes=["a", "b"])
    with pytest.raises(tm.InputError, match="expected the same"):
        tm.audits.change(audit(40), other)
    with pytest.raises(tm.InputError, match="levels"):
        tm.audits.change(audit(40), audit(40, level=0.9))
    with pytest.raises(tm.InputError, match="counts rows and the second units"):
        tm.audits.change(audit(40), audit(40, unit=0.09))


@pytest.mark.parametrize(
    ("rule", "options", "found", "n", "decision"),
    [
        ("minimum", {}, 4, 9, "suppressed"),
        ("minimum", {"rows": 5}, 4, 9, "publish"),
        ("nchs", {}, 10, 25, "suppressed"),  # fewer than 30 rows
        ("nchs", {}, 30, 60, "publish"),  # width below .30 and below 130 % of the share
        ("nchs", {}, 1, 60, "suppressed"),  # wider than 130 % of the share
        ("variation", {}, 100, 200, "publish"),  # 7 %
        ("variation", {}, 20, 200, "with caution"),  # 21 %
        ("variation", {}, 2, 200, "suppressed"),  # 70 %
        ("variation", {}, 0, 200, "suppressed"),
    ],
)
def test_publication_rules(rule, options, found, n, decision):
    line = tm.audits.publication(audit(found, n, 100_000), rule, **options).rows()[0]
    assert line["decision"] == decision, line["reason"]
    assert line["reason"]


def test_unknown_rules_and_parameters_are_refused():
    with pytest.raises(tm.InputError, match="rule"):
        tm.audits.publication(audit(40), "any")
    with pytest.raises(tm.InputError, match="no parameter 'least'"):
        tm.audits.publication(audit(40), "minimum", least=3)


def twice(rng, n=4_000, flips=0.05):
    first = rng.choice(["x", "y", "z"], n, p=[0.5, 0.3, 0.2])
    return first, np.where(rng.random(n) < flips, "x", first)


def test_the_same_rows_checked_twice_say_more_than_two_samples():
    rng = np.random.default_rng(0)
    first, second = twice(rng)
    seen = rng.permutation(4_000) < 400
    rows = pd.DataFrame({"y1": np.where(seen, first, None), "y2": np.where(seen, second, None)})
    paired = tm.audits.paired_change(rows, before="y1", after="y2")
    one, other = (tm.audits.estimate(rows, label=name) for name in ("y1", "y2"))
    apart = tm.audits.change(one, other)
    for label in ("x", "y", "z"):
        line, unpaired = paired.of(label, "prevalence"), apart.of(label, "prevalence")
        assert line["value"] == pytest.approx(unpaired["value"])
        assert line["low"] <= (second == label).mean() - (first == label).mean() <= line["high"]
        assert line["high"] - line["low"] < 0.6 * (unpaired["high"] - unpaired["low"])
        assert paired.of(label, "count")["value"] == pytest.approx(4_000 * line["value"])
    with pytest.raises(tm.InputError, match="both"):
        tm.audits.paired_change(rows.assign(y2=None), before="y1", after="y2")


@pytest.mark.slow
@pytest.mark.parametrize("checked", [60, 200])
def test_paired_changes_cover(checked):
    rng = np.random.default_rng(1)
    held, repeats = 0, 300
    for _ in range(repeats):
        first, second = twice(rng, 2_000, 0.03)
        seen = rng.permutation(2_000) < checked
        rows = {"y1": np.where(seen, first, None), "y2": np.where(seen, second, None)}
        line = tm.audits.paired_change(pd.DataFrame(rows), before="y1", after="y2").of("x", "prevalence")
        held += line["low"] <= (second == "x").mean() - (first == "x").mean() <= line["high"]
    assert held / repeats > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / repeats)
