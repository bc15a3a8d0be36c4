"""What is resampled: entries, draws and thinning, against NumPy."""

import numpy as np
import pytest

import tallymark as tm
from samples import probability_sample
from tallymark.inference.resampling.strata import Pool, lighter, strata_of


@pytest.mark.parametrize("masses", [{}, {"counts": True}, {"weights": True}])
def test_draws_have_the_mean_and_spread_of_resampled_rows(masses):
    rng = np.random.default_rng(0)
    y, s = probability_sample(60, 0.5, seed=1, decimals=1)
    given = {}
    if masses:
        given = {"counts": rng.integers(1, 4, 60)} if "counts" in masses else {"weights": rng.gamma(2.0, 1.0, 60)}
    tally = tm.tally(y, s, **given)
    stratum = Pool.of(tally).positive
    drawn = stratum.draw(np.random.default_rng(1), 4_000)
    assert drawn.mean(axis=0) == pytest.approx(stratum.mass, rel=0.15, abs=0.15)
    # Rows drawn one by one: the variance of an entry's mass is that of a sum of n draws.
    share, weight = stratum.rows / stratum.n, stratum.mass / stratum.rows
    spread = stratum.n * (share * (stratum.squares / stratum.rows) - (share * weight) ** 2)
    assert drawn.var(axis=0) == pytest.approx(spread, rel=0.2, abs=0.1)
    if "weights" not in masses:
        assert (drawn.sum(axis=1) == stratum.n).all()


def test_subsamples_have_no_row_twice():
    y, s = probability_sample(200, 0.5, seed=2)
    stratum = Pool.of(tm.tally(y, s)).negative
    drawn = stratum.subsample(np.random.default_rng(0), 30, 50)
    assert (drawn <= stratum.rows).all()
    assert (drawn.sum(axis=1) == 30).all()


def test_cells_keep_the_mass_and_no_edge_is_straddled():
    y, s = probability_sample(5_000, 0.3, seed=3)
    tally = tm.tally(y, s)
    strata = strata_of(tally.runs, 200, (0.37,))
    for run, stratum in zip(tally.runs, strata, strict=True):
        assert stratum.mass.sum() == run.total
        below = stratum.mass[: np.searchsorted(stratum.cells, 0.37, "left")].sum()
        assert below == run.mass_before(np.searchsorted(run.scores, 0.37, "left"))


def test_a_thinned_tally_has_the_same_moments_and_nearly_the_same_ranking():
    y, s = probability_sample(20_000, 0.3, seed=4)
    tally = tm.tally(y, s)
    thin = Pool.of(tally, 1_000).thinned()
    assert sum(map(len, thin.runs)) <= 1_100
    assert tm.metrics.spcc(thin) == pytest.approx(tm.metrics.spcc(tally))
    assert tm.metrics.auroc(thin) == pytest.approx(tm.metrics.auroc(tally), abs=1e-3)
    assert lighter(tally) is tally


def test_a_heavy_tally_is_made_lighter_once():
    rng = np.random.default_rng(5)
    tally = tm.tally(np.arange(300_000) % 2, rng.random(300_000))
    light = lighter(tally)
    assert sum(map(len, light.runs)) < 2**15
    assert lighter(tally) is light
