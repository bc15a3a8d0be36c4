"""Calibration errors: intervals that hold although the error is biased."""

import numpy as np
import pytest

import tallymark as tm


def test_calibration_errors_hold_their_true_value():
    """Calibrated scores: the true error is 0, what is seen never is."""
    rng = np.random.default_rng(0)
    held = []
    for i in range(60):
        s = rng.random(300)
        found = tm.evaluate(tm.tally(rng.random(300) < s, s), metrics=["ece", "ace", "ici"], seed=i)
        held.append([found[name].low <= 0.0 for name in ("ece", "ace", "integrated_calibration_index")])
    assert (np.mean(held, axis=0) > 0.9).all()


def test_the_index_of_miscalibrated_probabilities_is_not_called_0():
    rng = np.random.default_rng(1)
    s = rng.random(400)
    for said in (s**3, 0.5 + 0.1 * (s - 0.5)):
        found = tm.evaluate(tm.tally(rng.random(400) < s, said), metrics=["ici"])["integrated_calibration_index"]
        assert 0.0 < found.low < found.value < found.high


def test_weights_of_the_index_have_no_unit_and_counts_are_repeated_rows():
    rng = np.random.default_rng(2)
    s, w = rng.random(200).round(2), rng.integers(1, 4, 200)
    y = rng.random(200) < s**2
    found = [
        tm.evaluate(tm.tally(*data, **masses), metrics=["ici"])["integrated_calibration_index"].interval
        for data, masses in (
            ((y, s), {"counts": w}),
            ((np.repeat(y, w), np.repeat(s, w)), {}),
            ((y, s), {"weights": w.astype(float)}),
            ((y, s), {"weights": 1e5 * w}),
        )
    ]
    assert found[0] == found[1]
    assert found[2] == pytest.approx(found[3], rel=1e-9)
    # Rows of uneven weight count like fewer rows than there are repeats.
    assert found[2][1] - found[2][0] > found[0][1] - found[0][0]


def test_one_score_for_all_has_an_index_with_limits():
    found = tm.evaluate(tm.tally([0, 1] * 20, [0.3] * 40), metrics=["ici"])["integrated_calibration_index"]
    assert found.low < found.value < found.high


def test_the_spread_of_the_scores_counts_where_they_are_far_off():
    """Scores of 0 and 1 for outcomes of 5 %: the index is the mean score, whose own error was left out."""
    rng = np.random.default_rng(3)
    s = rng.random(400).round() * 0.9
    found = tm.evaluate(tm.tally(rng.random(400) < 0.05, s), metrics=["ici"])["integrated_calibration_index"]
    assert found.high - found.low > 2 * 1.96 * 0.4 / np.sqrt(400)
