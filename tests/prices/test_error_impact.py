"""What errors do to the level of a price: identities, coverage, verdicts, classes and bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import ks_2samp, wasserstein_distance

import tallymark as tm


def sales(rng, n, fp_level=0.0, fn_tilt=0.0):
    y = rng.random(n) < 0.4
    wrong_up = rng.random(n) < 0.15
    price = np.exp(rng.normal(0.0, 0.3, n) + np.where(~y & wrong_up, fp_level, 0.0))
    missed = rng.random(n) < np.where(price > 1.1, 0.15 * (1 + fn_tilt), 0.15 * (1 - fn_tilt))
    return pd.DataFrame({"y": y.astype(int), "price": price, "called": np.where(y, ~missed, wrong_up).astype(int)})


@given(st.integers(0, 10_000), st.booleans())
def test_parts_add_up_and_match_their_definitions(seed, weighted):
    rng = np.random.default_rng(seed)
    frame = sales(rng, 400, 0.3, 0.5).assign(w=rng.random(400) + 0.1 if weighted else 1.0)
    part = tm.prices.impact(frame, label="y", predicted="called", value="price", weight="w").parts[0]

    def mean(rows):
        return np.average(frame.price[rows], weights=frame.w[rows])

    y, c = frame.y == 1, frame.called == 1
    assert part.shifts["fp"].value == pytest.approx(mean(c) - mean(c & y))
    assert part.shifts["fn"].value == pytest.approx(mean(c & y) - mean(y))
    assert part.shifts["total"].value == pytest.approx(part.shifts["fp"].value + part.shifts["fn"].value)
    assert part.ks["fp"] == pytest.approx(ks_2samp(frame.price[c & ~y], frame.price[c & y]).statistic)
    assert part.wasserstein["fn"] == pytest.approx(wasserstein_distance(frame.price[y & ~c], frame.price[c & y]))
    assert sum(part.counts["classified"]) <= frame.w[c].sum() + 1e-9


@given(st.integers(0, 10_000), st.floats(0.01, 100.0))
def test_shares_do_not_depend_on_the_currency(seed, factor):
    frame = sales(np.random.default_rng(seed), 300, 0.2)
    one, other = (
        tm.prices.impact(frame.assign(price=frame.price * scale), label="y", predicted="called", value="price").parts[0]
        for scale in (1.0, factor)
    )
    assert one.relative("fp") == pytest.approx(other.relative("fp"), rel=1e-4, abs=1e-6)
    assert one.verdict("fp") == other.verdict("fp")


def test_limits_hold():
    rng = np.random.default_rng(1)
    truth = tm.prices.impact(sales(rng, 1_000_000, 0.3, 0.6), label="y", predicted="called", value="price").parts[0]
    hits, repeats = dict.fromkeys(("fp", "fn", "total"), 0), 250
    for _ in range(repeats):
        part = tm.prices.impact(sales(rng, 800, 0.3, 0.6), label="y", predicted="called", value="price").parts[0]
        for error in hits:
            hits[error] += part.shifts[error].low <= truth.shifts[error].value <= part.shifts[error].high
    assert all(h / repeats > 0.95 - 4 * np.sqrt(0.05 * 0.95 / repeats) for h in hits.values()), hits


def test_verdicts_follow_the_interval():
    rng = np.random.default_rng(2)
    biased = tm.prices.impact(sales(rng, 40_000, 0.5), label="y", predicted="called", value="price").parts[0]
    assert biased.verdict("fp").startswith("moves the level by +")
    harmless = tm.prices.impact(sales(rng, 40_000), label="y", predicted="called", value="price").parts[0]
    assert harmless.verdict("fp") == harmless.verdict("fn") == "probably minimal"
    small = tm.prices.impact(sales(rng, 60), label="y", predicted="called", value="price", tolerance=0.001).parts[0]
    assert small.verdict("total").startswith("cannot be told")
    perfect = sales(rng, 100)
    same = tm.prices.impact(perfect.assign(called=perfect.y), label="y", predicted="called", value="price").parts[0]
    assert same.verdict("fp") == same.verdict("fn") == "there are none"
    assert same.verdict("total") == "there are none"
    flat = tm.prices.impact(perfect.assign(price=3.0), label="y", predicted="called", value="price").parts[0]
    assert flat.verdict("fp") == "probably minimal"


def test_periods_and_classes_and_scores():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"y": rng.choice(["bread", "milk", "tea"], 900), "m": rng.integers(1, 4, 900), "v": rng.gamma(2.0, size=900)}
    )
    frame["c"] = np.where(rng.random(900) < 0.8, frame.y, rng.choice(["bread", "milk", "tea"], 900))
    found = tm.prices.impact(frame, label="y", predicted="c", value="v", period="m")
    assert {(part.period, part.label) for part in found.parts} == {
        (m, k) for m in (1, 2, 3) for k in ("bread", "milk", "tea")
    }
    assert len(found.rows()) == 27
    one = tm.prices.impact(frame, label="y", predicted="c", value="v", pos_label="milk")
    assert [part.label for part in one.parts] == ["milk"]
    s = sales(rng, 500).assign(p=lambda f: f.called * 0.8)
    cut = tm.prices.impact(s, label="y", score="p", threshold=0.5, value="price").to_dict()
    assert cut["impacts"] == tm.prices.impact(s, label="y", predicted="called", value="price").to_dict()["impacts"]


def test_clusters_widen():
    rng = np.random.default_rng(4)
    frame = sales(rng, 60, 0.4, 0.4)
    frame["k"] = np.arange(60)
    copies = pd.concat([frame] * 30)
    rows, own = (
        tm.prices.impact(copies, label="y", predicted="called", value="price", cluster=c).parts[0].shifts["total"]
        for c in (None, "k")
    )
    assert own.value == pytest.approx(rows.value)
    assert own.high - own.low > 4 * (rows.high - rows.low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name one of the two"),
        ({"score": "price"}, "threshold="),
        ({"predicted": "other"}, "same labels"),
        ({"predicted": "called", "value": "gap"}, "missing or not finite in 1 row"),
        ({"predicted": "called", "tolerance": 0.0}, "tolerance"),
        ({"predicted": "called", "pos_label": 7}, "does not occur"),
    ],
)
def test_bad_input_is_refused(options, message):
    frame = sales(np.random.default_rng(0), 50).assign(other=9, gap=np.where(np.arange(50) == 3, np.nan, 1.0))
    with pytest.raises(tm.InputError, match=message):
        tm.prices.impact(frame, label="y", **({"value": "price"} | options))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_units_change_nothing(scale):
    frame = sales(np.random.default_rng(5), 400, 0.3)
    one, other = (
        tm.prices.impact(frame.assign(price=frame.price * k), label="y", predicted="called", value="price").parts[0]
        for k in (1.0, scale)
    )
    assert one.relative("fp") == pytest.approx(other.relative("fp"))
    assert one.verdict("total") == other.verdict("total")


@pytest.mark.parametrize("errors", [0, 1, 3])
def test_few_errors_do_not_make_an_impact_minimal(errors):
    # 60 positives worth 1, 140 others worth 1 to 4: with few false positives nothing shows that they are cheap.
    truth = np.arange(200) < 60
    called = truth | ((np.arange(200) >= 60) & (np.arange(200) < 60 + errors))
    value = np.where(truth | called, 1.0 + 0.001 * np.sin(np.arange(200)), 1.0 + 3.0 * (np.arange(200) % 10 == 9))
    frame = pd.DataFrame({"y": truth.astype(int), "c": called.astype(int), "v": value})
    part = tm.prices.impact(frame, label="y", predicted="c", value="v").parts[0]
    assert part.verdict("fp") != "probably minimal"
    assert part.verdict("total") != "probably minimal"
    # One dear error among 60 rows would move the level by 5 %.
    assert part.relative("fp")[2] > 0.04
    assert part.relative("fp")[1] <= part.relative("fp")[0] <= part.relative("fp")[2]


def test_one_more_error_is_nothing_among_many():
    rng = np.random.default_rng(0)
    truth = rng.random(40_000) < 0.5
    frame = pd.DataFrame({"y": truth.astype(int), "v": np.exp(0.3 * rng.normal(size=40_000))})
    frame["c"] = np.where(rng.random(40_000) < 0.1, 1 - frame.y, frame.y)
    part = tm.prices.impact(frame, label="y", predicted="c", value="v").parts[0]
    assert part.verdict("fp") == part.verdict("total") == "probably minimal"


def skewed(deviation, n=600):
    """Prices at the quantiles of a log-normal, with every tenth call wrong."""
    order = np.random.default_rng(1).permutation(n)
    frame = pd.DataFrame({"y": (order % 2), "v": np.exp(deviation * ndtri((np.arange(n) + 0.5) / n)), "k": order // 5})
    return frame.assign(c=np.where(order // 2 % 10 == 0, 1 - frame.y, frame.y))


@pytest.mark.parametrize("moved", [0.0, 1_000.0])
@pytest.mark.parametrize(("deviation", "warned"), [(0.3, False), (0.5, False), (1.5, True), (2.0, True)])
def test_values_of_which_a_few_carry_the_interval_are_warned_of(deviation, warned, moved):
    frame = skewed(deviation).assign(v=lambda f: f.v + moved)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = tm.prices.impact(frame, label="y", predicted="c", value="v")
    assert [note.code for note in found.warnings] == ["TM113"] * warned
    assert [one.message.code for one in said] == ["TM113"] * warned


def test_the_note_names_the_worst_part_and_what_counts():
    frame = pd.concat([skewed(0.3).assign(m=1), skewed(1.5).assign(m=2), skewed(2.0).assign(m=3)])
    with pytest.warns(tm.GuardWarning, match=r"in 2 of 3 periods and classes, most in 3, 1\)"):
        found = tm.prices.impact(frame, label="y", predicted="c", value="v", period="m")
    assert [part.few_carry for part in found.parts] == [False, True, True]
    with pytest.warns(tm.GuardWarning, match=r"so skewed that 120 clusters count like \d+:"):
        tm.prices.impact(skewed(2.0), label="y", predicted="c", value="v", cluster="k")


def test_the_report_shows_the_note(tmp_path):
    with pytest.warns(tm.GuardWarning, match="TM113"):
        found = tm.prices.impact(skewed(2.0), label="y", predicted="c", value="v")
    tm.report(found, tmp_path / "r.html")
    assert "TM113" in (tmp_path / "r.html").read_text(encoding="utf-8")
