"""Bootstrap, against resampling rows and sorting them again."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk

import tallymark as tm
from samples import labelled_probabilities, normal_sample, probability_sample
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.resampling.bootstrapping import _drawn, _skewness_of_groups
from tallymark.inference.resampling.resamples import Resamples
from tallymark.inference.resampling.strata import Pool
from tallymark.inference.resampling.values import values_of
from tallymark.registry import METRICS

_OF_TALLY = [name for name in METRICS if METRICS[name].needs in {"tally", "probabilities"}]
_OF_CELLS = [name for name in METRICS if METRICS[name].needs == "confusion"]


def _value(name, tally):
    try:
        return METRICS[name].compute(tally.at(0.5) if METRICS[name].needs == "confusion" else tally)
    except Undefined:
        return math.nan


@given(labelled_probabilities(), st.integers(0, 1000), st.sampled_from([None, 0.1]))
@example((np.array([1, 1, 0]), np.array([1.0, 0.01252227, 0.01252227])), 0, None)
def test_every_replicate_is_the_metric_of_its_rows(sample, seed, prior):
    """Each row of masses, as counts of an ordinary tally, gives the same number as the block does."""
    # Squares of differences that small vanish; a bootstrap does not rescale them as the metric itself does.
    assume(not ((sample[1] > 0) & (sample[1] < 1e-6)).any())
    pool = Pool.of(tm.tally(*sample).at_prevalence(prior))
    draws = _drawn(pool, np.random.default_rng(seed), 3, "stratified")
    found = {name: values_of(name, draws, 0.5) for name in (*_OF_TALLY, *_OF_CELLS)}
    for r in range(3):
        scores = np.concatenate([pool.negative.scores, pool.positive.scores])
        y = np.repeat([0, 1], [len(pool.negative.scores), len(pool.positive.scores)])
        counts = np.concatenate([draws.negative[r], draws.positive[r]])
        tally = tm.tally(y, scores, counts=counts).at_prevalence(prior)
        for name, values in found.items():
            # Sums of squares around the sample's mean lose half the digits where a replicate has no spread.
            assert values[r] == pytest.approx(_value(name, tally), rel=1e-6, abs=1e-6, nan_ok=True), name


@pytest.mark.parametrize(("prior", "sampling"), [(None, "plain"), (0.1, "stratified"), (0.1, "plain")])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_block_of_cells_has_the_metrics_of_its_replicates(weighted, prior, sampling):
    """Many rows in few cells: the oracle computes each replicate as a tally of its own."""
    y, p = probability_sample(4_000, 0.2, decimals=9)
    weights = np.random.default_rng(1).random(len(y)) + 0.5 if weighted else None
    pool = Pool.of(tm.tally(y, p, weights=weights).at_prevalence(prior), 512)
    draws = _drawn(pool, np.random.default_rng(0), 4, sampling)
    for name in _OF_TALLY:
        if METRICS[name].moments or inference_of(name).blockwise is None:
            continue
        tallies = draws.tallies_by_cell if METRICS[name].rank_only else draws.tallies_by_score
        wanted = [METRICS[name].compute(tally) for tally in tallies]
        assert values_of(name, draws, None) == pytest.approx(wanted, rel=1e-12), name


def test_a_replicate_without_one_of_the_classes_has_no_metric():
    pool = Pool.of(tm.tally(*probability_sample(30)))
    masses = [np.tile(stratum.mass, (2, 1)) for stratum in pool.strata]
    masses[1][0] = 0.0
    for name in _OF_TALLY:
        if inference_of(name).blockwise is not None:
            assert np.isnan(values_of(name, Resamples(pool, *masses), None)).tolist() == [True, False], name


def test_errors_are_those_of_a_scikit_learn_loop():
    y, s = probability_sample(400, 0.3, seed=1)
    rng = np.random.default_rng(0)
    naive = []
    for _ in range(400):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == side), np.sum(y == side)) for side in (0, 1)])
        p = s[rows] >= 0.5
        naive.append([
            sk.roc_auc_score(y[rows], s[rows]), sk.average_precision_score(y[rows], s[rows]),
            sk.brier_score_loss(y[rows], s[rows]), sk.f1_score(y[rows], p), sk.matthews_corrcoef(y[rows], p),
        ])  # fmt: skip
    names = ["auroc", "average_precision", "brier", "f1", "mcc"]
    found = tm.intervals.bootstrap(tm.tally(y, s), names, threshold=0.5, replicates=2000, sampling="stratified")
    for name, wanted in zip(names, np.std(naive, axis=0), strict=True):
        # 400 replicates know a standard error to 3.5 %.
        assert found.error(name) == pytest.approx(wanted, rel=0.15), name


def test_same_seed_same_bytes_for_any_number_of_jobs():
    tally = tm.tally(*normal_sample(3000, seed=4))
    one, two, other = (
        tm.intervals.bootstrap(tally, ["auroc", "h_measure"], replicates=50, seed=s, jobs=j)
        for s, j in ((7, 1), (7, 4), (8, 1))
    )
    for name in one:
        assert one[name].tobytes() == two[name].tobytes()
    assert one["auroc"].tobytes() != other["auroc"].tobytes()
    state = np.random.get_state()[1].copy()
    tm.intervals.bootstrap(tally, "auroc", replicates=5)
    assert (np.random.get_state()[1] == state).all()


def test_counts_spread_like_repeated_rows():
    rng = np.random.default_rng(0)
    y, s = normal_sample(200, seed=2, decimals=1)
    c = rng.integers(1, 30, 200)
    counted = tm.intervals.bootstrap(tm.tally(y, s, counts=c), "auroc", replicates=3000).error("auroc")
    repeated = tm.tally(np.repeat(y, c), np.repeat(s, c))
    assert counted == pytest.approx(tm.intervals.bootstrap(repeated, "auroc", replicates=3000).error("auroc"), rel=0.08)


def test_weights_spread_like_their_influence_and_have_no_unit():
    y, s = probability_sample(500, 0.3, seed=5, decimals=2)
    w = np.random.default_rng(1).exponential(size=500) + 0.05
    names = ["auroc", "average_precision", "spcc"]
    one, other = (
        tm.intervals.bootstrap(tm.tally(y, s, weights=k * w), names, replicates=2000, sampling="stratified")
        for k in (1.0, 1e3)
    )
    for name in names:
        assert other.error(name) == pytest.approx(one.error(name), rel=1e-6)
        # Scores on a grid of hundredths hold several weights in one entry.
        assert one.error(name) == pytest.approx(
            inference_of(name).influence(tm.tally(y, s, weights=w)).spread().error, rel=0.1
        )


def test_a_coarse_pool_keeps_spread_and_estimate():
    tally = tm.tally(*normal_sample(20_000, 0.1, seed=6))
    fine, coarse = (tm.intervals.bootstrap(tally, ["auroc", "ks"], replicates=600, most=m) for m in (2**17, 500))
    for name in ("auroc", "ks"):
        assert coarse.estimates[name] == fine.estimates[name]
        assert coarse.error(name) == pytest.approx(fine.error(name), rel=0.12)
        assert np.mean(coarse[name]) == pytest.approx(np.mean(fine[name]), abs=0.3 * fine.error(name))


def test_no_cell_straddles_the_threshold():
    tally = tm.tally(*normal_sample(20_000, 0.1, seed=6))
    whole = Resamples.of(tally, 500, (0.7,))
    assert values_of("recall", whole, 0.7)[0] == METRICS["recall"].compute(tally.at(0.7))


def test_a_quantised_tally_can_be_resampled():
    tally = tm.tally(*normal_sample(20_000, 0.1, seed=6))
    exact, cells = (tm.intervals.bootstrap(t, "auroc", replicates=500) for t in (tally, tally.quantise()))
    assert cells.error("auroc") == pytest.approx(exact.error("auroc"), rel=0.15)


def test_plain_sampling_adds_the_spread_of_the_prevalence():
    tally = tm.tally(*probability_sample(1000, 0.2, seed=1))
    plain, stratified = (
        tm.intervals.bootstrap(tally, ["prevalence", "auroc"], threshold=0.5, sampling=s, replicates=1500)
        for s in ("plain", "stratified")
    )
    p = tally.prevalence
    assert plain.error("prevalence") == pytest.approx(math.sqrt(p * (1 - p) / 1000), rel=0.1)
    assert stratified.error("prevalence") == 0.0
    assert plain.error("auroc") == pytest.approx(stratified.error("auroc"), rel=0.15)


def test_percentile_and_bca_are_scipys():
    rng = np.random.default_rng(3)
    up, down = rng.normal(1.0, 1.0, 25), rng.normal(size=60)
    y = np.repeat([0, 1], [60, 25])

    def area(a, b, axis=-1):
        return np.mean(a[..., :, None] > b[..., None, :], axis=(-1, -2))

    found = tm.intervals.bootstrap(tm.tally(y, np.concatenate([down, up])), "auroc", replicates=6000)
    for method, theirs in (("percentile", "percentile"), ("bca", "BCa")):
        wanted = stats.bootstrap(
            (up, down), area, n_resamples=3000, method=theirs, batch=100, rng=1
        ).confidence_interval
        ours = found.interval("auroc", method=method)
        assert (ours.low, ours.high) == pytest.approx((wanted.low, wanted.high), abs=0.012)


def test_acceleration_over_groups_is_that_of_the_closed_form():
    tally = tm.tally(*normal_sample(150, 0.2, seed=9))
    wanted = inference_of("auroc").influence(tally).spread().acceleration
    assert _skewness_of_groups("auroc", tally, None, None) == pytest.approx(wanted, rel=0.05)


def test_metrics_undefined_in_many_replicates_have_no_interval():
    tally = tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.1, 0.2, 0.9])
    found = tm.intervals.bootstrap(tally, "precision", threshold=0.9, replicates=300)
    assert np.isnan(found["precision"]).mean() > 0.1
    assert math.isnan(found.interval("precision").low)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": "recall"}, "needs a threshold"),
        ({"metrics": "auroc", "replicates": 1}, "replicates is 1"),
        ({"metrics": "auroc", "sampling": "cluster"}, "Choose one of: stratified"),
        ({"metrics": "auroc", "seed": -1}, "seed is -1"),
        ({"metrics": "auroc_ovo"}, "K classes"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.intervals.bootstrap(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]), **options)


def test_one_class_cannot_be_resampled():
    with pytest.raises(tm.InputError, match="has no labels"):
        tm.intervals.bootstrap(tm.tally(scores=[1.0, 2.0]), "auroc")


def test_shown_as_a_table():
    found = tm.intervals.bootstrap(tm.tally(*normal_sample(100)), ["auroc", "ks"], replicates=100)
    assert "100 plain bootstrap replicates" in repr(found)
    assert set(found.to_dict()) == {"auroc", "ks"}
