"""What a shift of the positives that went unseen would do."""

import math

import numpy as np
import pytest

import tallymark as tm
from tallymark.quantify.estimation.mixture_test import MixtureFit


def data(seed, moved=0.0, known=500, rows=1000, share=0.1):
    rng = np.random.default_rng(seed)
    y = np.arange(known) < 0.2 * known
    truth = np.arange(rows) < share * rows
    return tm.tally(y, rng.normal(2.0 * y)), tm.tally(scores=rng.normal((2.0 + moved) * truth))


def test_the_chance_to_notice_is_about_what_is_said():
    found = tm.quantify.sensitivity(*data(0, known=2000, rows=5000), ["ac"], threshold=1.0)
    up = found.unseen(1)
    assert 0.1 < up < 0.8
    noticed = [tm.quantify.mixture_fit(*data(seed, up, 2000, 5000)).p_value < 0.01 for seed in range(60)]
    # One in five is the claim, known to within 0.2.
    assert np.mean(noticed) < 0.4
    sure = float(np.interp(0.9, found.power[10:], found.shifts[10:]))
    noticed = [tm.quantify.mixture_fit(*data(seed, sure, 2000, 5000)).p_value < 0.01 for seed in range(40)]
    assert np.mean(noticed) > 0.6


@pytest.mark.parametrize("method", ["ac", "bayes", "ms"])
def test_the_count_moves_as_is_said(method):
    options = {"threshold": 1.0} if method == "ac" else {}
    found = tm.quantify.sensitivity(*data(0, known=20_000, rows=40_000), [method], threshold=1.0)
    shares = [
        tm.quantify.estimate(method, *data(1, moved, 20_000, 40_000), level=None, **options).count
        for moved in (0.0, 0.4)
    ]
    assert found.change(method, 0.4) == pytest.approx(shares[1] - shares[0], abs=0.005 * 40_000)


def test_a_fit_is_not_called_a_proof():
    fit = tm.quantify.mixture_fit(*data(0))
    assert "do not contradict" in fit.verdict
    assert "does not show that it holds" in fit.verdict
    assert "believed" not in fit.verdict
    said = tm.quantify.sensitivity(*data(0), ["ac"], threshold=1.0).sentence
    assert "missed 4 times in 5 or more often and" in said
    assert "Only labels from the target can tell" in said


def test_probabilities_move_on_their_log_odds():
    validation, target = data(0)
    logistic = lambda run: 1 / (1 + np.exp(1.0 - run.scores))
    t = tm.tally(np.repeat([0, 1], [400, 100]), np.concatenate([logistic(run) for run in validation.runs]))
    found = tm.quantify.sensitivity(t, tm.tally(scores=logistic(target.runs[0])), ["pacc"])
    raw = tm.quantify.sensitivity(validation, target, ["bayes"])
    assert found.unseen(1) == pytest.approx(raw.unseen(1), abs=0.05)


def test_groups_that_do_not_fit_are_named():
    import pandas as pd

    rng = np.random.default_rng(0)
    validation, _ = data(0, known=2000)
    frame = pd.DataFrame({
        "p": np.concatenate([rng.normal(2.0 * (np.arange(2000) < 200)), rng.normal(1.0, 0.2, 2000)]),
        "region": ["north"] * 2000 + ["south"] * 2000,
    })  # fmt: skip
    with pytest.warns(tm.GuardWarning, match="TM109: group south: "):
        fits = tm.quantify.mixture_fit(validation, tm.tally(frame, score="p", by="region"))
    assert fits.contradicted == ["south"]
    assert isinstance(fits["north"], MixtureFit)
    assert "in 1 of 2 groups ('south')" in fits.verdict


def test_uncalibrated_in_the_mean_is_noticed():
    """A slope near 1 says nothing of the level, which is what ruins em."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = rng.random(2000) < 1 / (1 + np.exp(-x))
    low = tm.tally(y, 1 / (1 + np.exp(-(x - 0.7))))
    with pytest.warns(tm.GuardWarning, match=r"TM110.*have \+0\.\d+ added"):
        tm.quantify.estimate("em", low, tm.tally(scores=rng.random(100)))
    trained = float(np.mean(low.prevalence))
    share = 1 / (1 + math.exp(-(math.log(trained / (1 - trained)) - 0.7)))
    calm = tm.quantify.estimate("em", low, tm.tally(scores=rng.random(100)), training_prevalence=share)
    assert not any(note.code == "TM110" for note in calm.warnings)
