"""Imperfect tests: given rates, several populations, labels that err, two tests without a gold standard."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta, binom, chi2

import tallymark as tm
from tallymark.audits.rates import read_rate

#: Mantoux and tine tests in two populations: Hui & Walter (1980), table 1.
TUBERCULIN = [[[14, 4], [9, 528]], [[887, 31], [37, 367]]]


def test_limits_of_lang_and_reiczigel():
    """4 of 100 with se .95 of 60 and sp .98 of 100: .021505 (-.031871, .089091) by R's asht::prevSeSp."""
    found = tm.audits.from_counts(predicted_positive=4, n=100, sensitivity=(57, 60), specificity=(98, 100))
    assert found.prevalence == pytest.approx(0.021505, abs=1e-6)
    assert (found.low, found.high) == (0.0, pytest.approx(0.089091, abs=1e-6))


def test_counts_of_a_test_are_a_table():
    table = tm.confusion([1] * 60 + [0] * 100, [1] * 57 + [0] * 3 + [1] * 2 + [0] * 98)
    for method in ("ac", "bayes", "cc"):
        by_table = tm.audits.from_counts(table, predicted_positive=14, n=100, method=method)
        by_rates = tm.audits.from_counts(
            predicted_positive=14, n=100, sensitivity=(57, 60), specificity=(98, 100), method=method
        )
        for name in ("prevalence", "low", "high"):
            assert getattr(by_table, name) == pytest.approx(getattr(by_rates, name))


def test_known_rates():
    """.16 with se .90, sp .95 is .129412 (bootComb's example); limits are those of the share, transformed alike.

    R's epi.prev(pos = 20, tested = 200, se = .9, sp = .95, method = "c-p") transforms Clopper-Pearson's .0621594 and
    .1502128 to .0143051 and .1178974.
    """
    found = tm.audits.from_counts(predicted_positive=16, n=100, sensitivity=0.9, specificity=0.95)
    assert found.prevalence == pytest.approx(0.129412, abs=1e-6)
    share = tm.intervals.proportion(16, 100)
    assert (found.low, found.high) == pytest.approx(((share.low - 0.05) / 0.85, (share.high - 0.05) / 0.85))
    exact = tm.intervals.proportion(20, 200, method="clopper_pearson")
    assert [(end - 0.05) / 0.85 for end in exact.interval] == pytest.approx([0.01430514, 0.1178974], abs=1e-6)


@pytest.mark.parametrize(("predicted", "share", "side"), [(0, 0.0, "fewer"), (100, 1.0, "more")])
def test_numbers_that_no_share_explains_are_noted(predicted, share, side):
    with pytest.warns(tm.GuardWarning, match=f"TM109: {predicted} of 100 rows are predicted positive, {side}"):
        found = tm.audits.from_counts(predicted_positive=predicted, n=100, sensitivity=0.9, specificity=0.95)
    assert (found.prevalence, found.low, found.high) == (share, share, share)


def test_known_rates_by_draws():
    pair = [
        tm.audits.from_counts(predicted_positive=160, n=1000, sensitivity=0.9, specificity=0.95, method=method)
        for method in ("ac", "bayes")
    ]
    for name in ("prevalence", "low", "high"):
        assert getattr(pair[0], name) == pytest.approx(getattr(pair[1], name), abs=3e-3)


@given(st.floats(0.01, 0.97), st.floats(0.005, 0.99))
def test_an_interval_becomes_the_beta_with_its_quantiles(low, width):
    high = min(low + width, 0.99)
    rate = read_rate(((low + high) / 2, low, high), "sensitivity", 0.95).rate
    if rate.hits > 0 and rate.hits < rate.rows:
        ends = beta.ppf([0.025, 0.975], rate.hits + 0.5, rate.rows - rate.hits + 0.5)
        assert ends == pytest.approx([low, high], abs=1e-6)


def test_jeffreys_limits_give_the_counts_back():
    for right, rows in ((57, 60), (20, 30), (450, 500)):
        known = tm.intervals.proportion(right, rows, method="jeffreys")
        rate = read_rate((known.value, known.low, known.high), "sensitivity", 0.95).rate
        assert (rate.hits, rate.rows) == pytest.approx((right, rows), rel=1e-6)


def test_a_limit_of_one_leaves_the_other_to_count_by():
    known = tm.intervals.proportion(60, 60)
    assert read_rate((1.0, known.low, 1.0), "specificity", 0.95).rate.rows == pytest.approx(60, rel=1e-5)
    assert read_rate((0.95, 0.95, 0.95), "specificity", 0.95).rate.known


@pytest.mark.parametrize("method", ["ac", "bayes"])
def test_a_wider_interval_of_a_rate_widens_the_limits(method):
    widths = []
    for specificity in (0.95, (0.95, 0.93, 0.965), (0.95, 0.9, 0.98)):
        found = tm.audits.from_counts(
            predicted_positive=160, n=1000, sensitivity=(0.9, 0.85, 0.94), specificity=specificity, method=method
        )
        widths.append(found.high - found.low)
    assert widths == sorted(widths)


def test_several_populations():
    options = {"sensitivity": (57, 60), "specificity": (0.98, 0.95, 0.99)}
    alone = [tm.audits.from_counts(predicted_positive=k, n=n, **options) for k, n in ((14, 100), (60, 200))]
    listed = tm.audits.from_counts(predicted_positive=[14, 60], n=np.array([100, 200]), **options)
    assert list(listed.values()) == alone
    named = tm.audits.from_counts(predicted_positive={"a": 14, "b": 60}, n={"a": 100, "b": 200}, **options)
    assert named["b"] == alone[1]
    total = named.total
    assert total.count == pytest.approx(alone[0].count + alone[1].count)
    assert total.low < total.prevalence < total.high
    both = tm.audits.from_counts(predicted_positive=74, n=300, **options)
    assert (total.low, total.high) == pytest.approx((both.low, both.high), abs=0.01)
    growth = named.growth("a", "b")
    assert growth.low < growth.value < growth.high


def test_effective_sample_size_of_a_survey():
    rates = {"sensitivity": 0.9, "specificity": 0.95}
    weighted = tm.audits.from_counts(predicted_positive=160_000, n=1_000_000, n_effective=500, **rates)
    plain = tm.audits.from_counts(predicted_positive=80, n=500, **rates)
    assert weighted.interval == pytest.approx(plain.interval)
    assert weighted.n == 1_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs the table of an audit sample, or sensitivity= and specificity="),
        ({"sensitivity": 0.9}, "specificity is missing"),
        ({"sensitivity": 0.3, "specificity": 0.6}, "add up to 0.9, expected more than 1"),
        ({"sensitivity": 95, "specificity": 0.9}, "for 95 % write 0.95"),
        ({"sensitivity": (0.9, 0.92, 0.97), "specificity": 0.9}, "expected low <= value <= high"),
        ({"sensitivity": (61, 60), "specificity": 0.9}, "61 right of 60 rows"),
        ({"sensitivity": (0.95, 60), "specificity": 0.9}, "expected whole numbers"),
        ({"sensitivity": (0.95,), "specificity": 0.9}, "has 1 numbers"),
        ({"sensitivity": "0.95", "specificity": 0.9}, "expected a number"),
        ({"sensitivity": 0.9, "specificity": 0.9, "method": "calibration"}, "needs the table of an audit sample"),
        ({"sensitivity": 0.9, "specificity": 0.9, "n_effective": 0}, "n_effective is 0"),
        ({"sensitivity": 0.9, "specificity": 0.9, "n": [100, 200]}, "one number and n of 2 populations"),
        ({"sensitivity": 0.9, "specificity": 0.9, "n": [], "predicted_positive": []}, "is empty"),
    ],
)
def test_bad_rates(options, message):
    with pytest.raises(tm.InputError, match=message.replace("(", r"\(")):
        tm.audits.from_counts(**{"predicted_positive": 10, "n": 100, **options})


def test_a_table_and_rates_are_refused():
    table = tm.confusion([1, 1, 0, 0], [1, 0, 0, 0])
    with pytest.raises(tm.InputError, match="give one of the two"):
        tm.audits.from_counts(table, predicted_positive=1, n=2, sensitivity=0.9)


def test_wide_published_intervals_are_noted():
    with pytest.warns(tm.GuardWarning, match="TM107: the specificity of the test is as uncertain as if it came from"):
        tm.audits.from_counts(predicted_positive=30, n=100, sensitivity=0.9, specificity=(0.9, 0.5, 0.97))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_published_rates_cover(share):
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(300):
        rates = []
        for rate in (0.8, 0.95):
            known = tm.intervals.proportion(int(rng.binomial(100, rate)), 100, method="clopper_pearson")
            rates.append((known.value, known.low, known.high))
        called = int(rng.binomial(1_000, share * 0.8 + (1 - share) * 0.05))
        found = tm.audits.from_counts(predicted_positive=called, n=1_000, sensitivity=rates[0], specificity=rates[1])
        held += found.low <= share <= found.high
    assert held / 300 > 0.93 - 3 * math.sqrt(0.07 / 300)


@pytest.mark.parametrize("share", [0.0, 0.002, 0.02, 0.1, 0.5, 0.95])
@pytest.mark.parametrize(("se", "sp"), [(0.8, 0.95), (0.6, 0.98), (0.95, 0.99)])
def test_known_rates_cover_exactly(share, se, sp):
    """Over all numbers of positive results of 1000 rows that may occur."""
    chances = binom.pmf(np.arange(1_001), 1_000, share * se + (1 - share) * (1 - sp))
    likely = np.flatnonzero(chances > 1e-5)
    found = tm.audits.from_counts(
        predicted_positive=likely, n=np.full(len(likely), 1_000), sensitivity=se, specificity=sp
    )
    held = [one.low <= share <= one.high for one in found.values()]
    assert chances[likely] @ held > 0.935


def audit(found, checked, n):
    labels = np.full(n, np.nan)
    labels[:checked] = np.arange(checked) < found
    return tm.audits.from_audit({"checked": labels}, label="checked")


def test_corrected_by_known_rates_is_the_transformed_audit():
    plain = audit(60, 400, 10**6)
    found = tm.audits.corrected(plain, sensitivity=0.9, specificity=0.95)
    for name in ("prevalence", "low", "high"):
        assert getattr(found, name) == pytest.approx((getattr(plain, name) - 0.05) / 0.85, abs=1e-4)
    assert found.details["standard_error"] == pytest.approx(plain.details["standard_error"] / 0.85, rel=1e-2)
    assert (found.method, found.interval_method, found.n) == ("audit, corrected", "mover", plain.n)


def test_perfect_checkers_change_nothing():
    plain = audit(60, 400, 1000)
    found = tm.audits.corrected(plain, sensitivity=1, specificity=1)
    assert (found.prevalence, found.low, found.high) == pytest.approx((plain.prevalence, plain.low, plain.high))


def test_corrected_limits_are_fiellers_for_normal_limits():
    """With limits at z standard errors, those of Fieller's theorem: the roots of a quadratic."""
    z, q, error = 1.959964, 0.3, 0.02
    plain = tm.results.Prevalence(
        method="x", prevalence=q, n=10**9, low=q - z * error, high=q + z * error, level=0.95, interval_method="wald"
    )
    se, sp, error_se, error_sp = 0.9, 0.95, 0.02, 0.01
    found = tm.audits.corrected(
        plain,
        sensitivity=(se, se - z * error_se, se + z * error_se),
        specificity=(sp, sp - z * error_sp, sp + z * error_sp),
    )
    for pi in found.interval:
        spread = math.sqrt(error**2 + (pi * error_se) ** 2 + ((1 - pi) * error_sp) ** 2)
        assert abs(q - pi * se - (1 - pi) * (1 - sp)) == pytest.approx(z * spread, rel=1e-4)


def test_a_census_by_checkers_who_err_is_not_certain():
    everything = audit(60, 400, 400)
    assert everything.low == everything.high
    found = tm.audits.corrected(everything, sensitivity=0.9, specificity=0.95)
    noise = math.sqrt(0.1176 * 0.09 + 0.8824 * 0.0475) / 20 / 0.85
    assert found.high - found.low == pytest.approx(2 * 1.96 * noise, rel=0.02)


def test_what_cannot_be_corrected():
    with pytest.raises(tm.InputError, match="has no limits"):
        tm.audits.corrected(tm.results.Prevalence(method="x", prevalence=0.1, n=9), sensitivity=0.9, specificity=0.9)
    with pytest.raises(tm.InputError, match="correct those of groups one by one"):
        tm.audits.corrected(0.3, sensitivity=0.9, specificity=0.9)
    undefined = tm.results.Prevalence(method="x", prevalence=math.nan, n=9, reason="none")
    assert tm.audits.corrected(undefined, sensitivity=0.9, specificity=0.9) is undefined


def naive_log_likelihood(parameters, tables):
    """Two tests, cell by cell."""
    se, sp, shares = parameters[:2], parameters[2:4], parameters[4:]
    total = 0.0
    for share, table in zip(shares, tables, strict=True):
        for i in (0, 1):
            for j in (0, 1):
                up = (1 - se[0] if i else se[0]) * (1 - se[1] if j else se[1])
                down = (sp[0] if i else 1 - sp[0]) * (sp[1] if j else 1 - sp[1])
                total += table[i][j] * math.log(share * up + (1 - share) * down)
    return total


def direct(tables, start, fixed=None):
    """The maximum by BFGS with numerical derivatives on the logit scale, with one parameter fixed or none."""
    free = [place for place in range(len(start)) if fixed is None or place != fixed[0]]
    values = np.array(start, dtype=float)
    if fixed is not None:
        values[fixed[0]] = fixed[1]

    def loss(x):
        values[free] = 1 / (1 + np.exp(-x))
        return -naive_log_likelihood(values, tables)

    x = np.log(np.array(start)[free] / (1 - np.array(start)[free]))
    for _ in range(3):
        x = minimize(loss, x, method="BFGS", options={"gtol": 1e-7}).x
    loss(x)
    return values.copy(), naive_log_likelihood(values, tables)


def test_tuberculin_tests_of_hui_and_walter():
    """Published: prevalences .0268 and .7168, sensitivities .9661 and .9688, specificities .9933 and .9841."""
    found = tm.audits.two_tests(TUBERCULIN)
    values = [row["value"] for row in found.rows()]
    assert values == pytest.approx([0.0268, 0.7168, 0.9661, 0.9688, 0.9933, 0.9841], abs=5e-5)
    best, top = direct(TUBERCULIN, [0.9, 0.9, 0.9, 0.9, 0.1, 0.5])
    assert [*best[4:], *best[:4]] == pytest.approx(values, abs=1e-5)
    assert found.log_likelihood == pytest.approx(top, abs=1e-6)
    for place, interval in ((0, found.sensitivity["A"]), (5, found.prevalences[1])):
        for end in interval.interval:
            _, at_limit = direct(TUBERCULIN, best, (place, end))
            assert 2 * (top - at_limit) == pytest.approx(3.841459, abs=2e-3)


def test_mirrored_results_are_the_other_solution():
    """Positive and negative swapped: sensitivity and specificity change places, prevalences are those of the others."""
    swapped = [np.array(table)[::-1, ::-1] for table in TUBERCULIN]
    plain, mirrored = tm.audits.two_tests(TUBERCULIN), tm.audits.two_tests(swapped)
    for name in ("A", "B"):
        assert mirrored.sensitivity[name].value == pytest.approx(plain.specificity[name].value, abs=1e-5)
    assert mirrored.prevalences[0].value == pytest.approx(1 - plain.prevalences[0].value, abs=1e-5)


def test_three_populations_have_a_test_of_fit():
    fits = tm.audits.two_tests({"a": TUBERCULIN[0], "b": TUBERCULIN[1], "c": [[300, 15], [20, 500]]})
    assert fits.fit_p > 0.05
    errs = tm.audits.two_tests({"a": TUBERCULIN[0], "b": TUBERCULIN[1], "c": [[300, 150], [20, 500]]})
    assert errs.fit_p < 1e-6
    assert list(fits.prevalences) == ["a", "b", "c"]
    assert math.isnan(tm.audits.two_tests(TUBERCULIN).fit_p)


@pytest.mark.parametrize(
    "tables",
    [
        {"a": [[30, 1], [1, 300]], "b": [[300, 4], [6, 90]], "c": [[70, 3], [5, 70]]},
        {"a": [[3, 1], [2, 40]], "b": [[30, 4], [6, 3]]},
    ],
)
def test_limits_do_not_reach_over_to_the_mirrored_solution(tables):
    """Sensitivities were 0 to .99: all false is as likely as all right, with the classes exchanged."""
    found = tm.audits.two_tests(tables)
    cells = np.array([np.ravel(table) for table in tables.values()], float)
    for test, interval in enumerate(found.sensitivity.values()):
        assert interval.low > 0.6
        assert _profile_by_logits(cells, test, interval.low) == pytest.approx(chi2.ppf(0.95, 1), abs=0.01)


def _profile_by_logits(cells, test, sensitivity):
    """Likelihood ratio of a sensitivity, maximised over the logits of all other parameters."""

    def deviance(logits, fixed=None):
        se1, se2, sp1, sp2, *shares = expit(logits)
        if fixed is not None:
            se1, se2 = (fixed, se2) if test == 0 else (se1, fixed)
        up = np.array([se1 * se2, se1 * (1 - se2), (1 - se1) * se2, (1 - se1) * (1 - se2)])
        down = np.array([(1 - sp1) * (1 - sp2), (1 - sp1) * sp2, sp1 * (1 - sp2), sp1 * sp2])
        share = np.array(shares)[:, None]
        return -2 * (cells * np.log(share * up + (1 - share) * down + 1e-300)).sum()

    # A start at which both tests are good: the mirrored solution is far from it.
    start = np.r_[2.0, 2.0, 4.0, 4.0, np.zeros(len(cells))]
    return minimize(deviance, start, (sensitivity,)).fun - minimize(deviance, start).fun


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (TUBERCULIN[:1], "fewer than two populations"),
        ([[[140, 40], [90, 528]], [[280, 80], [180, 1056]]], "do not differ by more than chance"),
        ([[[30, 30], [60, 60]], [[50, 50], [10, 10]]], "Test 'B' tells positives from negatives no better than chance"),
        ([[[14, -4], [9, 528]], TUBERCULIN[1]], "none negative"),
        ([[[0, 0], [0, 0]], TUBERCULIN[1]], "expected the four counts"),
        ([[[1, 2, 3], [4, 5, 6]], TUBERCULIN[1]], "tables"),
    ],
)
def test_what_is_not_identified(tables, message):
    with pytest.raises(tm.InputError, match=message):
        tm.audits.two_tests(tables)


def test_names_of_tests():
    with pytest.raises(tm.InputError, match="two different names"):
        tm.audits.two_tests(TUBERCULIN, tests=("x", "x"))


def test_few_positives_are_noted():
    with pytest.warns(tm.GuardWarning, match="TM107: only"):
        tm.audits.two_tests([[[0, 0], [1, 300]], [[8, 1], [0, 80]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tm.audits.two_tests(TUBERCULIN)
