"""Replicate weights: the variance of survey packages by hand, the jackknife of a mean, and coverage."""

import numpy as np
import pandas as pd
import pytest

import tallymark as tm


def jackknifed(frame):
    """Weights of the delete-one jackknife."""
    n = len(frame)
    names = [f"r{i}" for i in range(n)]
    weights = np.tile(frame.w.to_numpy()[:, None] * n / (n - 1), n)
    weights[np.arange(n), np.arange(n)] = 0.0
    return pd.concat([frame, pd.DataFrame(weights, columns=names, index=frame.index)], axis=1), names


def test_the_jackknife_of_a_mean_is_its_standard_error():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"y": rng.choice(["a", "b", "c"], 60), "k": rng.choice(["a", "b", "c"], 60), "w": 7.0})
    frame, names = jackknifed(frame)
    result = tm.audits.from_replicates(
        frame, label="y", weight="w", replicate_weights=names, kind="jackknife", predicted="k"
    )
    p = (frame.y == "a").mean()
    assert result.prevalences["a"].value == pytest.approx(p)
    assert result.prevalences["a"].standard_error == pytest.approx(np.sqrt(p * (1 - p) / 59))
    assert result.counts["a"].standard_error == pytest.approx(420 * np.sqrt(p * (1 - p) / 59))
    one = result.recall["a"]
    assert one.value == pytest.approx((frame.k[frame.y == "a"] == "a").mean())
    assert one.low < one.value < one.high
    assert result.accuracy.value == pytest.approx((frame.k == frame.y).mean())


@pytest.mark.parametrize(
    ("kind", "rho", "factor"), [("bootstrap", 0.0, 1 / 39), ("brr", 0.0, 1 / 40), ("brr", 0.5, 1 / 10)]
)
def test_the_variance_is_that_of_the_replicates(kind, rho, factor):
    rng = np.random.default_rng(1)
    n = 300
    frame = pd.DataFrame({"y": rng.integers(3, size=n), "g": rng.choice(["u", "v"], n), "w": rng.uniform(1, 9, n)})
    names = [f"r{i}" for i in range(40)]
    frame[names] = frame.w.to_numpy()[:, None] * rng.uniform(0.3, 1.7, (n, 40))
    result = tm.audits.from_replicates(
        frame, label="y", weight="w", replicate_weights=names, kind=kind, rho=rho, by="g"
    )
    inside = frame[frame.g == "u"]
    shares = [(inside[name] * (inside.y == 2)).sum() / inside[name].sum() for name in names]
    expected = np.sqrt(factor * ((shares - np.mean(shares)) ** 2).sum())
    assert result.groups["u",].prevalences[2].standard_error == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicate_weights": ["w"]}, "two columns"),
        ({"kind": "magic"}, "kind"),
        ({"rho": 0.5}, "Fay"),
        ({"weight": "bad"}, "negative"),
        ({"weight": "none"}, "0 in every row"),
    ],
)
def test_bad_input_is_refused(options, message):
    frame = pd.DataFrame({"y": ["a", "b"] * 10, "w": 1.0, "r1": 1.0, "r2": 2.0, "bad": -1.0, "none": 0.0})
    with pytest.raises(tm.InputError, match=message):
        tm.audits.from_replicates(frame, **({"label": "y", "weight": "w", "replicate_weights": ["r1", "r2"]} | options))
