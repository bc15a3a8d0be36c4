"""Which model is better on the same rows."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tallymark as tm
from tallymark.errors import Undefined
from tallymark.inference.hypothesis_tests.corrections import holm, holm_levels
from tallymark.inference.hypothesis_tests.mcnemar import mcnemar
from tallymark.inference.hypothesis_tests.paired import (
    PairedInfluence,
    PairedProportions,
    Resampler,
    cell_values,
    percentile_difference,
)
from tallymark.inference.limits.rank_effects import average_precision_effect
from tallymark.inference.resampling.parallel import Resampling
from tallymark.registry import METRICS


def _panel(n=400, seed=0, distances=(1.5, 1.0), **masses):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    y[:2] = False, True
    common = rng.normal(size=n)
    columns = {name: y * d + (common + rng.normal(size=n)) / 2 for name, d in zip("abcd", distances, strict=False)}
    return tm.panel(y, columns, **masses)


def test_delongs_test_by_its_formula():
    panel = _panel()
    found, covariance = tm.compare(panel, method="delong"), tm.intervals.delong(panel)
    difference = covariance.aurocs[0] - covariance.aurocs[1]
    error = math.sqrt(covariance.covariance[0, 0] + covariance.covariance[1, 1] - 2 * covariance.covariance[0, 1])
    assert found.difference == pytest.approx(difference)
    assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(difference / error)))
    assert found.high - found.low == pytest.approx(2 * stats.norm.ppf(0.975) * error)
    assert found.verdict == "a is better"
    gini = tm.compare(panel, metric="gini", method="delong")
    assert (gini.difference, gini.p_value) == pytest.approx((2 * difference, found.p_value))


@pytest.mark.parametrize("metric", ["average_precision", "spcc", "d_a"])
def test_influence_and_bootstrap_agree(metric):
    panel = _panel(800, seed=2)
    closed, drawn = (tm.compare(panel, metric=metric, method=m, replicates=1500) for m in ("influence", "bootstrap"))
    assert closed.pairs[0].error == pytest.approx(drawn.pairs[0].error, rel=0.12)
    assert closed.difference == drawn.difference


@pytest.mark.parametrize("metric", ["f1", "precision", "d_prime"])
def test_patterns_of_answers_are_resampled_like_rows(metric):
    panel = _panel(500, seed=6, distances=(1.5, 1.0, 1.2))
    cuts = dict.fromkeys("abc", 0.6)
    quick = cell_values(panel, metric, cuts, Resampling(3000))
    slow = Resampler(panel, panel.models).values(metric, cuts, Resampling(3000, 1))
    for model in "abc":
        assert quick[model].mean() == pytest.approx(slow[model].mean(), abs=0.2 * slow[model].std())
        assert quick[model].std() == pytest.approx(slow[model].std(), rel=0.08)
    assert (quick["a"] - quick["b"]).std() == pytest.approx((slow["a"] - slow["b"]).std(), rel=0.08)


def test_influence_of_auroc_is_delong():
    panel = _panel(seed=3)
    assert tm.compare(panel, method="influence").pairs[0].error == pytest.approx(tm.compare(panel).pairs[0].error)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60), st.integers(1, 60))
def test_mcnemar_is_the_binomial_test(b, c, both, neither):
    first = np.repeat([True, False, True, False], [b, c, both, neither])
    second = np.repeat([False, True, True, False], [b, c, both, neither])
    ones = np.ones(len(first), dtype=np.int64)
    exact, mid = (mcnemar(first, second, ones, kind) for kind in ("exact", "mid_p"))
    wanted = stats.binomtest(b, b + c).pvalue if b + c else 1.0
    assert exact.p_value == pytest.approx(wanted)
    if b != c:
        assert mid.p_value == pytest.approx(wanted - stats.binom.pmf(min(b, c), b + c, 0.5))
    low, high = exact.limits(0.95)
    assert -1.0 <= low <= exact.difference <= high <= 1.0
    assert low < high


def test_newcombes_published_interval():
    """Newcombe (1998), Stat. Med. 17:2635, table II, method 10: 36, 12, 2, 0 gives 0.0569 to 0.3404."""
    first = np.repeat([True, False, True, False], [12, 2, 36, 0])
    second = np.repeat([False, True, True, False], [12, 2, 36, 0])
    found = mcnemar(first, second, np.ones(50, dtype=np.int64))
    assert (found.difference, *found.limits(0.95)) == pytest.approx((0.2, 0.0569, 0.3404), abs=5e-5)


def test_accuracy_goes_to_mcnemar_and_error_is_its_mirror():
    panel = _panel()
    accuracy, error = (tm.compare(panel, metric=m, threshold=0.75) for m in ("accuracy", "error"))
    assert accuracy.pairs[0].method == "McNemar, mid-p"
    assert accuracy.difference == pytest.approx(-error.difference)
    assert accuracy.p_value == error.p_value
    assert accuracy.difference == pytest.approx(
        tm.metrics.accuracy(panel.tally("a").at(0.75)) - tm.metrics.accuracy(panel.tally("b").at(0.75))
    )
    assert ("a is better" in accuracy.verdict) == ("a is better" in error.verdict)


def test_permutation_and_delong_agree():
    panel = _panel(300, seed=5, distances=(1.3, 1.0))
    delong, permuted = (tm.compare(panel, method=m, replicates=500) for m in ("delong", "permutation"))
    assert permuted.p_value == pytest.approx(delong.p_value, abs=0.06)
    # Ranks are exchanged, so the scale of one model does not matter.
    columns = dict(panel.scores) | {"b": np.exp(panel.scores["b"]) * 1000}
    other = tm.compare(tm.panel(panel.is_positive, columns), method="permutation", replicates=500)
    assert other.p_value == permuted.p_value


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holm_by_its_definition(p_values):
    p = np.array(p_values)
    found = holm(p)
    order = np.argsort(p, kind="stable")
    wanted, running = np.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p) - rank) * p[i]))
        wanted[i] = running
    assert found == pytest.approx(wanted)


def test_many_models_at_once():
    found = tm.compare(_panel(600, distances=(2.0, 1.0, 1.0, 0.5)))
    assert len(found.pairs) == 6
    assert all(pair.p_holm >= pair.p_value for pair in found.pairs)
    assert found["a", "d"].verdict == "a is better"
    assert "p_holm" in found.rows()[0]
    with pytest.raises(tm.InputError, match="6 pairs"):
        found.difference
    with pytest.raises(KeyError, match="other way round"):
        found["d", "a"]
    with pytest.raises(KeyError, match="No pair"):
        found["a", "x"]


def test_equivalence_needs_an_interval_inside_the_margin():
    panel = _panel(4000, distances=(1.0, 1.0))
    assert tm.compare(panel, equivalence=0.05).verdict == "equivalent within 0.05"
    assert tm.compare(panel, equivalence=0.0001).verdict == "no difference shown"
    better = _panel(4000, seed=1, distances=(1.08, 1.0))
    assert tm.compare(better, equivalence=0.2).verdict.endswith("equivalent within 0.2")


def test_a_lower_loss_is_better():
    panel = _panel(2000, distances=(3.0, 0.5))
    columns = {name: 1 / (1 + np.exp(-s + 0.8)) for name, s in panel.scores.items()}
    found = tm.compare(tm.panel(panel.is_positive, columns), metric="brier")
    assert found.difference < 0
    assert found.verdict == "a is better"


def test_models_that_rank_alike():
    panel = _panel()
    found = tm.compare(tm.panel(panel.is_positive, {"a": panel.scores["a"], "b": 2 * panel.scores["a"]}))
    assert (found.difference, found.p_value, found.verdict) == (0.0, 1.0, "no difference shown")
    with pytest.raises(tm.InputError, match="do not differ"):
        found.power(0.1)


def test_a_difference_without_variance_is_not_certain():
    columns = {"perfect": [0, 0, 1, 1], "constant": [0.5] * 4}
    with pytest.raises(Undefined, match="no variance"):
        tm.compare(tm.panel([0, 0, 1, 1], columns), method="delong")
    found = tm.compare(tm.panel([0, 0, 1, 1], columns))
    assert found.low < 0.0 < found.high
    assert found.p_value > 0.05
    with pytest.raises(tm.InputError, match="Two rows or more"):
        tm.compare(tm.panel([0, 1], {"a": [0.1, 0.2], "b": [0.3, 0.1]}), method="bootstrap")
    with pytest.raises(Undefined):
        huge = {"a": np.array([1, 2, 4, 3, 5, 6]) * 1e300, "b": np.array([1, 4, 5, 2, 3, 6]) * 1e300}
        tm.compare(tm.panel([0, 0, 0, 1, 1, 1], huge), metric="spcc")


def test_four_rows_are_not_equivalent():
    panel = tm.panel([0, 0, 1, 1], {"a": [0, 0.2, 0.7, 1], "b": [0, 0.2, 0.8, 1]})
    found = tm.compare(panel, metric="accuracy", threshold=0.5, equivalence=0.001)
    assert found.verdict == "no difference shown"


def test_rows_without_weight_are_not_there():
    panel = _panel(200, seed=4)
    w = np.where(np.arange(200) % 3 == 0, 1.0, 0.0)
    whole = tm.compare(tm.panel(panel.is_positive, panel.scores, weights=w), metric="average_precision")
    part = tm.compare(panel.keep(w > 0), metric="average_precision")
    assert whole.pairs[0].error == pytest.approx(part.pairs[0].error)
    assert whole.n == part.n


def test_counted_rows_are_exchanged_one_by_one():
    panel = _panel(60, seed=8)
    counts = np.full(60, 3)
    repeated = panel.keep(np.repeat(np.arange(60), 3))
    counted = tm.compare(tm.panel(panel.is_positive, panel.scores, counts=counts), method="permutation", replicates=200)
    assert counted.p_value == tm.compare(repeated, method="permutation", replicates=200).p_value


def test_limits_stay_in_range():
    found = tm.compare(tm.panel([0, 0, 0, 1, 1], {"a": [1, 2, 5, 3, 4], "b": [2, 1, 3, 4, 2]}))
    assert -1.0 <= found.low <= found.high <= 1.0


def test_power_and_sample_size_invert_each_other():
    found = tm.compare(_panel())
    need = found.sample_size(0.05, power=0.9)
    factor = need["n"] / found.n
    again = tm.compare(_panel()).pairs[0].error / math.sqrt(factor)
    z = 0.05 / again
    assert stats.norm.cdf(z - 1.959964) == pytest.approx(0.9, abs=0.002)
    assert found.power(1e-12) == pytest.approx(0.05)
    assert found.power(10.0) == pytest.approx(1.0)


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "f1"])
def test_counts_are_repeated_rows_and_weights_have_no_unit(metric):
    panel = _panel(200, seed=4)
    c = np.random.default_rng(0).integers(1, 4, 200)
    options = {"metric": metric, "replicates": 1500} | ({"threshold": 0.5} if metric == "f1" else {})
    counted = tm.compare(tm.panel(panel.is_positive, panel.scores, counts=c), **options)
    repeated = tm.compare(
        tm.panel(np.repeat(panel.is_positive, c), {k: np.repeat(v, c) for k, v in panel.scores.items()}), **options
    )
    assert counted.difference == pytest.approx(repeated.difference)
    assert counted.pairs[0].error == pytest.approx(repeated.pairs[0].error, rel=0.1 if metric == "f1" else 1e-9)
    assert (counted.n, counted.positives) == (repeated.n, repeated.positives)
    w = np.random.default_rng(1).exponential(size=200)
    one, other = (tm.compare(tm.panel(panel.is_positive, panel.scores, weights=k * w), **options) for k in (1, 50))
    assert one.pairs[0].error == pytest.approx(other.pairs[0].error)


def test_same_seed_same_numbers_for_any_number_of_jobs():
    panel = _panel()
    one, two = (tm.compare(panel, metric="ks", replicates=200, jobs=jobs) for jobs in (1, 3))
    assert one.pairs == two.pairs


def test_bad_input():
    panel = _panel(50)
    for arguments, message in (
        ({"metric": "f1"}, "needs a threshold"),
        ({"metric": "auroc_ovo"}, "K classes"),
        ({"metric": "f1", "threshold": 0.5, "method": "delong"}, "use method='bootstrap'"),
        ({"metric": "f1", "threshold": 0.5, "method": "influence"}, "closed form"),
        ({"metric": "f1", "threshold": 0.5, "method": "mcnemar"}, "McNemar"),
        ({"method": "wilcoxon"}, "Choose one of"),
        ({"equivalence": -1}, "equivalence is -1"),
        ({"level": 2}, "level is 2"),
        ({"threshold": 0.5}, "does not depend on a threshold"),
        ({"metric": "prevalence"}, "whatever the model"),
        ({"metric": "f1", "threshold": 0.5, "replicates": 0}, "replicates is 0"),
        ({"metric": "ks", "jobs": -1}, "jobs is -1"),
    ):
        with pytest.raises(tm.InputError, match=message):
            tm.compare(panel, **arguments)
    with pytest.raises(tm.InputError, match="takes a Panel"):
        tm.compare([1, 2])
    with pytest.raises(tm.InputError, match="two models"):
        tm.compare(tm.panel(panel.is_positive, {"a": panel.scores["a"]}))


def test_shown():
    found = tm.compare(_panel())
    assert "on the same 400 rows" in repr(found)
    assert found.to_dict()["pairs"][0]["verdict"] == "a is better"
    assert "<table>" in found._repr_html_()


def _exchangeable(seed, n=300):
    """Two models of the same distribution on the same rows."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.1
    common = rng.normal(size=n)
    return tm.panel(y, {name: 1.5 * y + (common + rng.normal(size=n)) / math.sqrt(2) for name in "ab"})


@pytest.mark.parametrize("metric", ["specificity", "precision"])
def test_equal_models_are_not_told_apart_by_the_thresholds_they_chose(metric):
    """At chosen thresholds that were held fixed, Youden's J called equal models better in 16 to 62 % of samples."""
    panels = [_exchangeable(seed) for seed in range(3)]
    found = [tm.compare(panel, metric=metric, threshold="youden", replicates=200) for panel in panels]
    assert {one.verdict for one in found} == {"no difference shown"}
    fixed = [
        tm.compare(
            tm.panel(panel.is_positive, {m: panel.scores[m] >= cut for m, cut in one.thresholds.items()}),
            metric=metric,
            threshold=0.5,
        ).verdict
        for panel, one in zip(panels, found, strict=True)
    ]
    assert any("better" in verdict for verdict in fixed)


@pytest.mark.parametrize("policy", ["youden", "f1", "cost:1,5", "tpr:0.8", "precision:0.5", "rate:0.2", "topleft"])
@pytest.mark.parametrize("masses", ["rows", "counts", "weights", "clusters", "ties"])
def test_the_choice_is_made_anew_in_every_paired_resample(policy, masses):
    """By a naive loop over the rows that each resample drew."""
    panel = _panel(60, seed=9)
    rng = np.random.default_rng(5)
    options = {
        "counts": {"counts": rng.integers(1, 4, 60)},
        "weights": {"weights": rng.exponential(size=60)},
        "clusters": {"clusters": rng.integers(0, 12, 60)},
    }.get(masses, {})
    columns = {name: np.round(s) if masses == "ties" else s for name, s in panel.scores.items()}
    panel = tm.panel(panel.is_positive, columns, **options)
    resampler = Resampler(panel, panel.models)
    drawn = resampler.at_choices("f1", policy, Resampling(5, 3, 1))
    (entropy,) = np.random.SeedSequence(3).spawn(1)
    masses_of = resampler._drawn(np.random.Generator(np.random.SFC64(entropy)), 5, "plain")
    y = np.sort(panel.is_positive)
    for place in range(5):
        mass = np.concatenate([side[place] for side in masses_of])
        for name in panel.models:
            scores = np.concatenate([panel.scores[name][panel.is_positive == side] for side in (False, True)])
            tally = tm.tally(y[mass > 0], scores[mass > 0], weights=mass[mass > 0])
            assert drawn[name][place] == pytest.approx(tm.metrics.f1(tally.at(policy)), abs=1e-12)


@pytest.mark.parametrize("metric", ["specificity", "informedness", "net_benefit"])
@pytest.mark.parametrize("masses", [{}, {"weights": np.linspace(1, 9, 400)}, {"clusters": np.arange(400) // 5}])
def test_limits_and_p_values_at_chosen_thresholds_go_together(metric, masses):
    panel = _panel(distances=(1.7, 1.2, 1.0), **masses)
    found = tm.compare(
        panel, metric=metric, threshold="cost:1,3" if metric == "net_benefit" else "youden", replicates=500
    )
    assert all("choice included" in pair.method for pair in found.pairs)
    assert all((pair.p_holm < 0.05) == (pair.low > 0 or pair.high < 0) for pair in found.pairs)
    assert all(pair.low <= pair.difference <= pair.high for pair in found.pairs)


@given(
    st.integers(0, 2**32 - 1),
    st.floats(-1.0, 3.0),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.5, 0.9, 0.95, 0.999, 0.99999]),
)
def test_percentiles_without_0_have_a_small_p_value(seed, estimate, at_least_student, maximum, level):
    drawn = np.random.default_rng(seed).normal(1.1 * estimate, 1.0, 199).round(1)
    found = percentile_difference(estimate, drawn, 20.0, "", at_least_student=at_least_student, maximum=maximum)
    low, high = found.limits(level)
    assert low <= estimate <= high
    assert (low > 0 or high < 0) == (found.p_value < 1.0 - level)
    c = np.count_nonzero(drawn <= 0 if estimate > 0 else drawn >= 0)
    if c and not at_least_student and not maximum and estimate:
        assert found.p_value == pytest.approx(min(1.0, 2 * (c + 1) / 200))


def test_a_maximum_is_moved_by_what_its_resamples_overshoot():
    """KS of continuous scores against four ratings rejected 8 to 10 % of true nulls: more thresholds overshoot more."""
    drawn = np.random.default_rng(0).normal(0.4, 0.1, 999)
    plain, moved = (
        percentile_difference(0.3, drawn, 50.0, "", at_least_student=True, maximum=maximum) for maximum in (False, True)
    )
    overshoot = 1.5 * (drawn.mean() - 0.3)
    (low, high), ends = plain.limits(0.95), moved.limits(0.95)
    assert ends == pytest.approx((low - overshoot, high))
    assert moved.p_value > plain.p_value


def test_precision_of_few_predicted_positives_is_not_sure():
    """With 4 and 100 predicted positives the bootstrap's t of as many rows as a class has rejected 35 % of true nulls."""
    y = np.repeat([True, False], [90, 210])
    strict, lax = np.zeros(300), np.zeros(300)
    strict[:4] = 1.0
    lax[:60] = 1.0
    lax[90:130] = 1.0
    found = tm.compare(tm.panel(y, {"strict": strict, "lax": lax}), metric="precision", threshold=0.5)
    assert (found.difference, found.pairs[0].method) == (pytest.approx(0.4), "MOVER")
    assert found.low < 0.0 < found.high
    few = tm.compare(tm.panel(y, {"a": strict, "b": strict}), metric="precision", threshold=0.5, equivalence=0.2)
    assert (few.verdict, few.low) == ("no difference shown", pytest.approx(-(1 - 0.025 ** (1 / 4))))


@pytest.mark.parametrize("metric", ["precision", "recall", "npv", "specificity", "fpr"])
@pytest.mark.parametrize("masses", ["rows", "counts", "weights"])
def test_proportions_by_own_limits_and_the_correlation_of_resamples(metric, masses):
    rng = np.random.default_rng(3)
    options = {"counts": {"counts": rng.integers(1, 4, 400)}, "weights": {"weights": rng.exponential(size=400)}}
    panel = _panel(**options.get(masses, {}))
    found, drawn = (
        tm.compare(panel, metric=metric, threshold=0.6, method=m, replicates=3000).pairs[0] for m in (None, "bootstrap")
    )
    assert found.error == pytest.approx(drawn.error, rel=0.08)
    a, b = (tm.evaluate(panel.tally(m), threshold=0.6, metrics=[metric]).measures[METRICS[metric].name] for m in "ab")
    tallies = {m: panel.tally(m) for m in "ab"}
    spreads = PairedProportions.of(panel, tallies, METRICS[metric], dict.fromkeys("ab", 0.6)).covariance
    r = spreads[0][1] / math.sqrt(spreads[0][0] * spreads[1][1])
    down, up = a.value - a.low, b.high - b.value
    assert found.low == pytest.approx(found.difference - math.sqrt(down**2 + up**2 - 2 * r * down * up))
    assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


@pytest.mark.parametrize("metric", ["auroc", "average_precision", "pr_auc"])
@pytest.mark.parametrize("masses", ["rows", "weights", "ties"])
def test_mover_limits_leave_out_0_exactly_at_the_p_value(metric, masses):
    panel = _panel(weights=np.random.default_rng(0).exponential(size=400) if masses == "weights" else None)
    if masses == "ties":
        panel = tm.panel(panel.is_positive, {name: np.round(scores, 1) for name, scores in panel.scores.items()})
    p = tm.compare(panel, metric=metric).p_value
    assert 1e-12 < p < 1.0
    at, beyond = (tm.compare(panel, metric=metric, level=1.0 - factor * p) for factor in (1.001, 0.999))
    assert at.low > 0.0
    assert beyond.low < 0.0


def test_average_precision_by_mover():
    """0.15 of a row in each class and Student's tail, by the formula of docs/intervals.md."""
    panel = _panel(120, seed=2)
    found = tm.compare(panel, metric="average_precision")
    assert found.pairs[0].method == "MOVER"
    fewest = min(panel.is_positive.sum(), (~panel.is_positive).sum())
    tail = stats.norm.cdf(-stats.t.ppf(0.975, fewest - 1))
    ends, values = [], []
    for name in "ab":
        tally = panel.tally(name)
        effect = average_precision_effect(tally)
        p = effect.by_odds
        (worst_down, best_down), (worst_up, best_up) = effect.bounded.negative, effect.bounded.positive
        influence = [
            (tally.negatives, effect.of_negative - p, worst_down, best_down, effect.negative.mass),
            (tally.positives, effect.of_positive + p, worst_up, best_up, effect.positive.mass),
        ]
        value = tm.metrics.average_precision(tally)

        def lower(mean, sign, influence=influence):
            variance = 0.0
            for n, values_of, worst, best, mass in influence:
                bad = worst if sign > 0 else -best
                mean += 0.15 * bad / (n + 0.15)
                squares = float((mass * values_of**2).sum()) + 0.15 * n / (n + 0.15) * bad**2
                variance += squares / ((n + 0.15) * (n + 1.15))
            size = mean * (1 - mean) / variance - 1
            return stats.beta.ppf(tail, mean * size, (1 - mean) * size)

        values.append(value)
        ends.append((lower(value, 1), 1 - lower(1 - value, -1)))
    own = PairedInfluence.of(panel, {m: panel.tally(m) for m in "ab"}, "average_precision", plain=True).covariance
    r = own[0, 1] / math.sqrt(own[0, 0] * own[1, 1])
    down, up = values[0] - ends[0][0], ends[1][1] - values[1]
    assert found.low == pytest.approx(values[0] - values[1] - math.sqrt(down**2 + up**2 - 2 * r * down * up), abs=1e-9)


def test_degrees_of_freedom_count_effective_rows():
    """Lognormal weights: 120 rows of a class count like far fewer, and few effective rows are said."""
    weights = np.random.default_rng(0).lognormal(0, 1.5, 400)
    panel = _panel(weights=weights)
    with pytest.warns(tm.GuardWarning, match="count like"):
        found = tm.compare(panel, metric="spcc").pairs[0]
    rows = min(float(weights[y].sum() ** 2 / (weights[y] ** 2).sum()) for y in (panel.is_positive, ~panel.is_positive))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.difference / found.error), rows - 1))


def test_methods_that_hold_a_chosen_threshold_fixed_are_refused():
    panel = _panel()
    with pytest.raises(tm.InputError, match="does not maximise accuracy"):
        tm.compare(panel, metric="accuracy", threshold="youden", method="mcnemar")
    with pytest.raises(tm.InputError, match="does not maximise f1"):
        tm.compare(panel, metric="f1", threshold="youden", method="permutation")
    with pytest.raises(tm.InputError, match="does not maximise fbeta"):
        tm.compare(panel, metric="fbeta", threshold="fbeta:2", beta=3, method="permutation")
    fixed = tm.compare(panel, metric="accuracy", threshold="accuracy", method="mcnemar")
    assert (fixed.policy, fixed.choice) == (None, "thresholds held fixed")
    assert tm.compare(panel, metric="accuracy", threshold="0.5").pairs[0].method == "McNemar, mid-p"


def test_a_resampled_choice_is_said():
    found = tm.compare(_panel(), metric="f1", threshold="f1", replicates=200)
    assert "thresholds chosen by f1 anew in every resample" in repr(found)
    assert found.to_dict()["policy"] == "f1"
    assert "held fixed" in repr(tm.compare(_panel(), metric="f1", threshold=0.5, replicates=200))
    assert "threshold" not in repr(tm.compare(_panel()))


def test_many_rows_share_cells_without_moving_the_estimate():
    """Scores of more rows than a policy chooses among are joined; the mean of the replicates stays near the estimate."""
    panel = _panel(12_000, seed=1)
    found = Resampler(panel, panel.models, 2**8).at_choices("f1", "f1", Resampling(40))
    exact = tm.metrics.f1(panel.tally("a").at("f1"))
    assert found["a"].mean() == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(("metric", "threshold"), [("precision", 2.0), ("npv", -2.0), ("fdr", 2.0)])
def test_a_share_of_no_rows_is_a_sentence(metric, threshold):
    panel = tm.panel([0, 1] * 20, {"a": np.linspace(0, 1, 40), "b": np.linspace(1, 0, 40)})
    with pytest.raises(tm.InputError, match=f"{metric} of 'a' is undefined at its threshold"):
        tm.compare(panel, metric=metric, threshold=threshold)


@pytest.mark.parametrize("metric", ["auroc", "accuracy"])
def test_identical_models_have_identical_limits_and_verdicts_in_any_order(metric):
    """Holm's steps broke their ties by order, so that one of two copies had wider limits."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    best, other = rng.normal(y * 1.2), rng.normal(y * 0.75)
    scores = {"a": best, "b": other, "c": other.copy(), "d": other.copy()}
    seen = []
    for order in itertools.permutations(scores):
        found = tm.compare(
            tm.panel(y, {name: scores[name] for name in order}),
            metric=metric,
            threshold=0.5 if metric == "accuracy" else None,
        )
        for pair in found.pairs:
            if "a" in (pair.first, pair.second):
                low, high = (pair.low, pair.high) if pair.first == "a" else (-pair.high, -pair.low)
                seen.append((low, high, pair.p_value, pair.p_holm))
                assert pair.verdict == "a is better"
    assert np.ptp(np.array(seen), axis=0) == pytest.approx(0.0, abs=1e-9)


def test_equal_p_values_have_one_level_whatever_their_order():
    p = np.array([0.001, 0.001 * (1 + 1e-13), 0.02, 0.9, 0.9])
    for order in itertools.permutations(range(5)):
        own = list(order)
        levels, adjusted = np.empty(5), np.empty(5)
        levels[own], adjusted[own] = holm_levels(p[own], 0.05), holm(p[own])
        assert levels == pytest.approx([0.99, 0.99, *[1 - 0.05 / 3] * 3])
        assert adjusted == pytest.approx([0.005, 0.005, 0.06, 1.0, 1.0])
