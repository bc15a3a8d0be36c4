"""Calibration errors: intervals that hold although the error is biased."""

import numpy as np

import tallymark as tm


def test_calibration_errors_hold_their_true_value():
    """Calibrated scores: the true error is 0, what is seen never is."""
    rng = np.random.default_rng(0)
    held = []
    for i in range(60):
        s = rng.random(300)
        found = tm.evaluate(tm.tally(rng.random(300) < s, s), metrics=["ece", "ace"], seed=i)
        held.append([found[name].low <= 0.0 for name in ("ece", "ace")])
    assert (np.mean(held, axis=0) > 0.9).all()
