import math
import warnings

import numpy as np
import pytest
from scipy.stats import binom

import tallymark as tm


def table(tp, fn, fp, tn):
    return tm.confusion([1] * (tp + fn) + [0] * (fp + tn), [1] * tp + [0] * fn + [1] * fp + [0] * tn)


def test_adjusted_count_and_its_variance():
    found = tm.audits.from_counts(table(80, 20, 10, 90), predicted_positive=300, n=1000)
    assert found.prevalence == pytest.approx((0.3 - 0.1) / 0.7)
    share = found.prevalence
    by_delta = (0.3 * 0.7 / 1000 + share**2 * 0.8 * 0.2 / 100 + (1 - share) ** 2 * 0.1 * 0.9 / 100) / 0.7**2
    assert found.details["variance"] == pytest.approx(by_delta)
    assert found.count == pytest.approx(1000 * share)


def test_counts_and_scores_agree():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    s = rng.normal(2.0 * y)
    u = rng.normal(2.0 * (np.arange(700) < 100))
    by_scores = tm.quantify.estimate("ac", tm.tally(y, s), tm.tally(scores=u), threshold=1.0)
    audit = tm.confusion(y, (s >= 1.0).astype(int))
    by_counts = tm.audits.from_counts(audit, predicted_positive=int((u >= 1.0).sum()), n=700)
    assert (by_scores.prevalence, by_scores.low, by_scores.high) == pytest.approx(
        (by_counts.prevalence, by_counts.low, by_counts.high)
    )


def test_calibration_estimator():
    found = tm.audits.from_counts(table(80, 20, 10, 90), predicted_positive=300, n=1000, method="calibration")
    assert found.prevalence == pytest.approx(0.3 * 80 / 90 + 0.7 * 20 / 110)


def test_bayes_stays_within_zero_and_one():
    found = tm.audits.from_counts(table(80, 20, 10, 90), predicted_positive=80, n=1000, method="bayes")
    assert 0 == found.low < found.prevalence < found.high < 0.1
    again = tm.audits.from_counts(table(80, 20, 10, 90), predicted_positive=80, n=1000, method="bayes")
    assert found == again
    assert found.details["kept"] < 0.5


@pytest.mark.parametrize("share", [0.002, 0.3])
def test_bayes_covers_near_zero_too(share):
    """Equal tails of draws cut at 0 always leave it out: they covered 78 % at 0.2 %."""
    rng = np.random.default_rng(0)
    held = 0
    for i in range(150):
        tp, fp = rng.binomial(50, 0.8), rng.binomial(150, 0.05)
        called = int(rng.binomial(2000, share * 0.8 + (1 - share) * 0.05))
        audit = table(tp, 50 - tp, fp, 150 - fp)
        found = tm.audits.from_counts(audit, predicted_positive=called, n=2000, method="bayes", seed=i)
        held += found.low <= share <= found.high
    assert held / 150 > 0.93 - 3 * math.sqrt(0.07 / 150)


def test_bayes_of_much_data_is_the_adjusted_count():
    big = table(8_000, 2_000, 1_000, 9_000)
    pair = [tm.audits.from_counts(big, predicted_positive=30_000, n=100_000, method=m) for m in ("ac", "bayes")]
    assert pair[0].prevalence == pytest.approx(pair[1].prevalence, abs=1e-3)
    assert pair[0].low == pytest.approx(pair[1].low, abs=3e-3)


def test_classify_and_count_has_the_interval_of_a_proportion():
    found = tm.audits.from_counts(table(80, 20, 10, 90), predicted_positive=300, n=1000, method="cc")
    wanted = tm.intervals.proportion(300, 1000)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def test_a_census_leaves_the_noise_of_the_errors_only():
    audit = table(9_000, 1_000, 500, 9_500)
    sample = tm.audits.from_counts(audit, predicted_positive=300, n=1000)
    census = tm.audits.from_counts(audit, predicted_positive=300, n=1000, population=1000)
    z = 1.959964
    own = sample.prevalence * (1 - sample.prevalence) / 1000
    expected = math.sqrt(((sample.high - sample.prevalence) / z) ** 2 - own) * z
    assert census.high - census.prevalence == pytest.approx(expected, rel=1e-6)


def test_perfect_and_useless_classifiers():
    perfect = tm.audits.from_counts(table(50, 0, 0, 50), predicted_positive=30, n=100)
    assert perfect.prevalence == pytest.approx(0.3)
    assert perfect.high - perfect.low > 0.1
    useless = tm.audits.from_counts(table(20, 30, 20, 30), predicted_positive=30, n=100)
    assert math.isnan(useless.prevalence)
    assert "tpr = fpr" in useless.reason
    below = tm.audits.from_counts(table(50, 0, 25, 25), predicted_positive=10, n=100)
    assert (below.prevalence, below.details["unclipped"]) == (0.0, pytest.approx(-0.8))


@pytest.mark.parametrize("method", ["ac", "calibration"])
def test_coverage(method):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(1_500):
        share = 0.1
        if method == "ac":
            tp, fp = rng.binomial(100, 0.8), rng.binomial(100, 0.1)
            audit = table(tp, 100 - tp, fp, 100 - fp)
        else:
            y = rng.random(300) < share
            called = rng.random(300) < np.where(y, 0.8, 0.1)
            audit = tm.confusion(np.append(y, [True, False]), np.append(called, [True, False]))
        q = share * 0.8 + (1 - share) * 0.1
        found = tm.audits.from_counts(audit, predicted_positive=int(rng.binomial(1000, q)), n=1000, method=method)
        hits += found.low <= share <= found.high
    assert 0.93 - 0.017 <= hits / 1_500 <= 0.97 + 0.014


def test_bad_input():
    good = table(8, 2, 1, 9)
    for arguments, message in [
        ({"predicted_positive": 30, "n": 10}, "0 <= predicted_positive <= n"),
        ({"predicted_positive": 3, "n": 10, "method": "magic"}, "Choose one of: ac, calibration, bayes, cc"),
        ({"predicted_positive": 3, "n": 10, "level": 95}, "for 95 % write 0.95"),
    ]:
        with pytest.raises(tm.InputError, match=message):
            tm.audits.from_counts(good, **arguments)
    with pytest.raises(tm.InputError, match="two classes with a known positive one"):
        tm.audits.from_counts(tm.confusion(["a", "b"], ["a", "b"]), predicted_positive=1, n=2)
    with pytest.raises(tm.InputError, match="one class only"):
        tm.audits.from_counts(tm.confusion([1, 1], [1, 0], classes=[0, 1]), predicted_positive=1, n=2)


@pytest.mark.parametrize(
    ("tpr", "specificity", "share"), [(0.8, 0.95, 0.0), (0.6, 0.98, 0.0), (0.6, 0.98, 0.95), (0.8, 0.95, 0.002)]
)
def test_bayes_covers_with_thirty_audited_rows_of_each_class(tpr, specificity, share):
    """Exact over both error rates, with 1000 calls as expected; draws kept within 0 and 1 covered 63 to 87 %."""
    called = round(1_000 * (share * tpr + (1 - share) * (1 - specificity)))
    held = total = 0.0
    chances = binom.pmf(np.arange(31)[:, None], 30, tpr) * binom.pmf(np.arange(31)[None, :], 30, 1 - specificity)
    for tp, fp in zip(*np.nonzero(chances > 0.003), strict=True):
        found = tm.audits.from_counts(
            table(tp, 30 - tp, fp, 30 - fp), predicted_positive=called, n=1_000, method="bayes"
        )
        total += chances[tp, fp]
        held += chances[tp, fp] * (found.low <= share <= found.high)
    assert held / total > 0.93


@pytest.mark.parametrize("method", ["ac", "bayes", "cc", "calibration"])
def test_few_audited_rows_are_warned_of(method):
    with pytest.warns(tm.GuardWarning, match="TM107: only . audited rows are"):
        found = tm.audits.from_counts(table(2, 1, 3, 400), predicted_positive=30, n=1_000, method=method)
    assert [note.code for note in found.warnings] == ["TM107"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tm.audits.from_counts(table(20, 10, 30, 400), predicted_positive=300, n=1_000, method=method)
