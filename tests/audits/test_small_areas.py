"""Pooled shares of small groups: the equations by hand, and their gain and coverage."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm


def areas(rng, groups=30, rows=400, checked=0.05, spread=0.05):
    shares = np.clip(rng.normal(0.2, spread, groups), 0.01, 0.9)
    area = np.repeat(np.arange(groups), rows)
    truth = rng.random(groups * rows) < shares[area]
    seen = rng.random(groups * rows) < checked
    return pd.DataFrame({"area": area, "y": np.where(seen, truth, np.nan)}), truth.reshape(groups, rows).mean(axis=1)


def test_shares_lie_between_the_group_and_all():
    frame, _ = areas(np.random.default_rng(0))
    estimate = tm.audits.estimate(frame, label="y", by="area")
    result = tm.audits.pooled(estimate, 1)
    own = np.array([one.value for one in result.alone.values()])
    pooled = np.array([one.value for one in result.pooled.values()])
    assert ((pooled - result.mean) * (own - pooled) >= -1e-9).all()
    rows = np.array([checked for key, _, _, checked in estimate.shares() if key != ("(all)",)])[::2]
    drawn = (pooled - result.mean) / (own - result.mean)
    assert np.corrcoef(rows, drawn)[0, 1] > 0.8
    assert "assumes" in result.heading()
    assert all("pooled" in one.interval_method for one in result.pooled.values())
    other = tm.audits.pooled(estimate, 0)
    assert other.mean == pytest.approx(1 - result.mean)
    assert other.pooled[0,].value == pytest.approx(1 - result.pooled[0,].value)


def test_groups_without_any_difference_are_all_alike():
    frame, _ = areas(np.random.default_rng(4), groups=40, rows=4_000, spread=0.0, checked=0.03)
    result = tm.audits.pooled(tm.audits.estimate(frame, label="y", by="area"), 1)
    pooled, own = (np.std([one.value for one in part.values()]) for part in (result.pooled, result.alone))
    assert pooled < 0.4 * own


@pytest.mark.slow
def test_pooled_shares_are_closer_and_cover():
    rng = np.random.default_rng(1)
    held, gain, n = 0, [], 0
    for _ in range(60):
        frame, truth = areas(rng)
        result = tm.audits.pooled(tm.audits.estimate(frame, label="y", by="area"), 1)
        for (area,), one in result.pooled.items():
            held += one.low <= truth[area] <= one.high
            gain.append(((one.value - truth[area]) ** 2, (result.alone[area,].value - truth[area]) ** 2))
            n += 1
    mine, own = np.mean(gain, axis=0)
    assert mine < 0.5 * own
    assert held / n > 0.93 - 2.5 * np.sqrt(0.05 * 0.95 / n)


def test_groups_that_do_not_exist_are_refused():
    frame, _ = areas(np.random.default_rng(2), groups=3)
    estimate = tm.audits.estimate(frame, label="y", by="area")
    with pytest.raises(tm.InputError, match="fewer than 4"):
        tm.audits.pooled(estimate, 1)
    with pytest.raises(tm.InputError, match="No class"):
        tm.audits.pooled(estimate, 7)
    with pytest.raises(tm.InputError, match="by="):
        tm.audits.pooled(tm.audits.estimate(frame, label="y"), 1)
