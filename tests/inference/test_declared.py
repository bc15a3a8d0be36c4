"""Every metric's interval, whatever it is made from, held to what an interval is."""

import math

import numpy as np
import pytest

import tallymark as tm
from samples import normal_sample, probability_sample
from tallymark.inference.declared import _TABLE, inference_of
from tallymark.inference.resampling.bootstrapping import over_replicates
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.resampling.values import values_of
from tallymark.registry import METRICS

pytestmark = pytest.mark.slow

BINARY = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities", "confusion"}]
OF_TALLY = [name for name in BINARY if METRICS[name].needs != "confusion"]


def samples():
    """Samples of all kinds a metric meets: plain, tied, weighted, separated, skewed, few rows, looked at elsewhere."""
    y, s = probability_sample(300, 0.2, seed=1)
    s = np.clip(s, 0.001, 0.999)
    weights = np.random.default_rng(0).gamma(1.0, 1.0, len(y))
    apart = np.r_[np.linspace(0.0, 0.4, 30), np.linspace(0.6, 1.0, 12)]
    scores = normal_sample(200, 0.3, seed=2)
    return {
        "plain": tm.tally(y, s),
        "ties": tm.tally(y, np.round(s, 1)),
        "weights": tm.tally(y, s, weights=weights),
        "separated": tm.tally(np.repeat([0, 1], [30, 12]), apart),
        "skewed": tm.tally(scores[0], np.exp(2.0 * scores[1])),
        "few": tm.tally([0, 0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.4, 0.7, 0.9]),
        "elsewhere": tm.tally(y, s).at_prevalence(0.03),
    }


@pytest.fixture(scope="module")
def evaluations():
    """Each sample evaluated with every method of intervals."""
    found = {}
    for name, tally in samples().items():
        for how in ({}, {"sampling": "stratified"}):
            found[name, *how.values()] = tm.evaluate(tally, threshold=0.45, **how)
    for name in ("weights", "few"):
        draws = tm.intervals.bootstrap(samples()[name], BINARY, threshold=0.45, replicates=200)
        for method in ("percentile", "bca"):
            limits = {metric: draws.interval(metric, method=method) for metric in BINARY}
            found[name, method] = {metric: one for metric, one in limits.items() if not math.isnan(one.low)}
    return found


def test_the_table_is_total():
    """Every metric but those of one matrix says what its limits are made from; of those, only functions of another."""
    wanted = {name for name in METRICS if METRICS[name].needs != "confusion"}
    assert wanted - set(_TABLE) == set(), "say in inference/table.py what their limits are made from, or RESAMPLED"
    others = {name for name, of in _TABLE.items() if name not in wanted and of.increasing_in is None}
    assert others == set(), "no metric has these names"
    assert set(_TABLE) <= set(METRICS)


def test_a_metric_has_one_way_to_its_limits():
    for name in OF_TALLY:
        ways = ("influence", "maximum", "limits", "increasing_in")
        assert sum(getattr(inference_of(name), way) is not None for way in ways) <= 1, name


def test_intervals_keep_to_the_range_and_hold_the_estimate(evaluations):
    seen = set()
    for key, evaluation in evaluations.items():
        for name, measure in evaluation.items():
            if measure.low is None:
                continue
            seen.add(name)
            facts = METRICS[name]
            assert facts.low - 1e-12 <= measure.low <= measure.high <= facts.high + 1e-12, (key, name)
            # Percentiles of few rows may miss the estimate; the default limits never do.
            assert key[-1] in {"percentile", "bca"} or measure.low <= measure.value <= measure.high, (key, name)
    assert seen == set(BINARY)


def test_most_numbers_have_an_interval(evaluations):
    """What is defined in a sample with spread has limits, and they are not the estimate twice."""
    for name, measure in evaluations["plain",].items():
        assert math.isnan(measure.value) or math.isinf(measure.value) or measure.low < measure.high, name


def test_the_same_seed_gives_the_same_limits():
    for name, tally in samples().items():
        one, two = (tm.evaluate(tally, threshold=0.45, seed=7) for _ in range(2))
        assert {k: (m.low, m.high) for k, m in one.items()} == {k: (m.low, m.high) for k, m in two.items()}, name


def test_limits_of_counts_are_those_of_repeated_rows():
    y, s = probability_sample(120, 0.3, seed=3)
    s = np.clip(s, 0.01, 0.99)
    counts = np.random.default_rng(1).integers(1, 4, len(y))
    counted = tm.evaluate(tm.tally(y, s, counts=counts), threshold=0.45)
    repeated = tm.evaluate(tm.tally(np.repeat(y, counts), np.repeat(s, counts)), threshold=0.45)
    for name in BINARY:
        a, b = ((m.low, m.high) for m in (counted[name], repeated[name]))
        declared = inference_of(name)
        drawn = METRICS[name].needs != "confusion" and declared.influence is None and declared.limits is None
        # Resamples of entries are other draws than resamples of rows.
        tolerance = 0.15 if drawn else 1e-6
        width = (a[1] - a[0]) if a[0] is not None else 0.0
        assert a == pytest.approx(b, abs=max(tolerance * width, 1e-9), nan_ok=True), name


@pytest.mark.parametrize("kind", ["plain", "ties", "weights"])
def test_a_block_of_resamples_is_a_loop_over_them(kind):
    """What is computed for a whole block at once is the metric of each resample's own rows."""
    tally = samples()[kind]

    def both(draws):
        found = {}
        for name in BINARY:
            facts = METRICS[name]
            block = values_of(name, draws, 0.45 if facts.needs == "confusion" else None)
            rows = draws.tallies_by_score
            loop = [_or_nan(facts, one.at(0.45) if facts.needs == "confusion" else one) for one in rows]
            found[name] = block, np.array(loop)
        return found

    for blocks in over_replicates(tally, both, Resampling(8, seed=1, jobs=1)):
        for name, (block, loop) in blocks.items():
            assert block == pytest.approx(loop, rel=1e-6, abs=1e-9, nan_ok=True), name


def _or_nan(facts, summary):
    try:
        return facts.compute(summary)
    except tm.Undefined:
        return math.nan


def test_resampled_rows_keep_the_squares_of_their_weights():
    """Limits of what looks at squared weights, against resampling rows one by one."""
    rng = np.random.default_rng(5)
    y, p = probability_sample(200, 0.3, seed=6)
    w = rng.gamma(0.5, 1.0, len(y))
    drawn = []
    for _ in range(800):
        rows = rng.integers(0, len(y), len(y))
        drawn.append(math.sqrt(np.sum(w[rows] ** 2 * p[rows] * (1 - p[rows]))))
    found = tm.evaluate(tm.tally(y, p, weights=w), metrics=["positive_sd"], interval="percentile")["positive_sd"]
    wanted = np.quantile(drawn, [0.025, 0.975])
    assert found.interval == pytest.approx(tuple(wanted), rel=0.12)
