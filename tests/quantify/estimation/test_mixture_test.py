import math

import numpy as np
import pytest

import tallymark as tm


def draw(n, share, seed, distance=2.0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(distance * y)


def test_expected_metrics_are_those_of_the_labels_nobody_saw():
    t = tm.tally(*draw(20_000, 0.5, 0))
    y, s = draw(20_000, 0.1, 1)
    found = tm.quantify.expected(
        t, tm.tally(scores=s), threshold=1.0, metrics=["precision", "f1", "accuracy", "recall"]
    )
    real = tm.tally(y, s).at(1.0)
    for name, measure in found.items():
        assert measure.value == pytest.approx(getattr(tm.metrics, name)(real), abs=0.03), name
        assert measure.low < measure.value < measure.high
    assert found.prevalence == pytest.approx(0.1, abs=0.01)


def test_expected_metrics_cover():
    t_share, hits = 0.1, 0
    tpr, fpr = 1 - 0.15865525, 0.15865525
    truth = t_share * tpr / (t_share * tpr + (1 - t_share) * fpr)
    for seed in range(24):
        t = tm.tally(*draw(300, 0.5, 2 * seed))
        u = tm.tally(scores=draw(2_000, t_share, 2 * seed + 1)[1])
        measure = tm.quantify.expected(t, u, threshold=1.0, metrics=["precision"], seed=seed)["precision"]
        hits += measure.low <= truth <= measure.high
    assert 0.89 <= hits / 24 <= 0.99


def test_costs_and_options_reach_the_metric():
    t, u = tm.tally(*draw(500, 0.5, 0)), tm.tally(scores=draw(500, 0.1, 1)[1])
    one, two = (tm.quantify.expected(t, u, threshold=1.0, metrics="fbeta", beta=b)["fbeta"].value for b in (1.0, 3.0))
    assert one != two
    with pytest.raises(tm.InputError, match="not a metric at one threshold"):
        tm.quantify.expected(t, u, threshold=1.0, metrics=["auroc"])


def test_prior_shift_is_seldom_doubted():
    p = [
        tm.quantify.mixture_fit(
            tm.tally(*draw(400, 0.5, 2 * i)), tm.tally(scores=draw(1_000, 0.1, 2 * i + 1)[1])
        ).p_value
        for i in range(200)
    ]
    assert 0.005 <= np.mean(np.array(p) < 0.05) <= 0.1


def test_another_kind_of_shift_is_found():
    t = tm.tally(*draw(2_000, 0.5, 0))
    moved = draw(2_000, 0.3, 1)[1] * 0.4 + 0.8
    with pytest.warns(tm.GuardWarning, match="TM109.*no mixture"):
        found = tm.quantify.mixture_fit(t, tm.tally(scores=moved))
    assert found.p_value < 1e-6
    assert found.distance > 0.1
    assert "label some target rows" in found.verdict
    with pytest.raises(tm.GuardError, match="TM109"):
        tm.quantify.mixture_fit(t, tm.tally(scores=moved), strict=True)


def test_the_share_of_a_large_target_is_searched_finely():
    rng = np.random.default_rng(0)
    down, up = rng.multinomial(10**6, np.arange(10, 0, -1) / 55), rng.multinomial(10**6, np.arange(1, 11) / 55)
    s = np.arange(10.0)
    t = tm.tally(np.repeat([0, 1], 10), np.tile(s, 2), counts=np.concatenate((down, up)))
    share = 0.10125
    mixed = np.round(2e7 * (share * np.arange(1, 11) + (1 - share) * np.arange(10, 0, -1)) / 55).astype(int)
    assert tm.quantify.mixture_fit(t, tm.tally(scores=s, counts=mixed)).p_value > 0.001


def test_too_few_rows_cannot_be_tested():
    found = tm.quantify.mixture_fit(tm.tally([0, 1], [0.1, 0.9]), tm.tally(scores=[0.5]))
    assert math.isnan(found.p_value)
    assert "too few rows" in found.verdict


def test_aliases_and_unknown_options():
    t, u = tm.tally(*draw(500, 0.5, 0)), tm.tally(scores=draw(500, 0.1, 1)[1])
    same = [tm.quantify.expected(t, u, threshold=1.5, method=m).prevalence for m in ("ac", "acc", "rogan_gladen")]
    assert len(set(same)) == 1
    with pytest.raises(tm.InputError, match="no parameter of precision"):
        tm.quantify.expected(t, u, threshold=1.0, metrics="precision", bogus=3)


def test_plot_data_add_up():
    t = tm.tally(*draw(400, 0.5, 0))
    found = tm.quantify.mixture_fit(t, tm.tally(scores=draw(1_000, 0.2, 1)[1]))
    for column in ("observed", "expected", "negative", "positive"):
        assert sum(row[column] for row in found.rows()) == pytest.approx(1.0)
    assert found.rows()[0]["from"] == -math.inf
    assert found.to_dict()["edges"][0] == "-inf"
    assert found.freedom == len(found.rows()) - 2
