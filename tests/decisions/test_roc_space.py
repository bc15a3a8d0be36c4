"""Classifiers in ROC space: the hull against brute force, the five classifiers, and how sure it is."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark.decisions.roc_space import _slopes

FIVE = {"A": (0.4, 0.05), "B": (0.75, 0.2), "C": (0.85, 0.35), "D": (0.95, 0.6), "E": (0.5, 0.4)}


def tables(rates, n=1_000):
    return {k: tm.Confusion.of_cells(tp=n * t, fp=n * f, fn=n - n * t, tn=n - n * f) for k, (t, f) in rates.items()}


RATE = st.floats(0, 1).map(lambda x: round(x, 2))


@given(st.lists(st.tuples(RATE, RATE), min_size=2, max_size=6, unique=True))
def test_winners_are_those_of_every_slope(points):
    tpr, fpr = np.array(points).T
    low, high = _slopes(tpr, fpr)
    for slope in np.geomspace(1e-3, 1e3, 301):
        value = tpr - slope * fpr
        best = np.flatnonzero(value >= value.max() - 1e-12)
        inside = np.flatnonzero((low < slope) & (slope < high))
        assert set(inside) <= set(best)
        if len(best) == 1 and not np.isclose(slope, np.concatenate((low, high)), rtol=1e-9).any():
            assert best[0] in inside


@pytest.mark.parametrize("prevalence", [0.1, 0.5, 0.9])
def test_the_five_classifiers(prevalence):
    found = tm.decisions.space(tables(FIVE), prevalence=prevalence)
    points = {one.name: one for one in found.points}
    assert points["E"].dominated_by == ("B", "C")
    assert "never the best choice" in points["E"].sentence()
    # Where one stops the next begins, and cost ratios are the slopes times the odds.
    chain = [points[name].wins for name in "ABCD"]
    assert all(one[1] == pytest.approx(two[0]) for one, two in itertools.pairwise(chain))
    odds = (1 - prevalence) / prevalence
    assert points["B"].wins == pytest.approx((odds * 0.15 / 0.35, odds * 0.15 / 0.1))
    assert found.best[0] == "B"
    costs = {
        name: prevalence * (1 - t) * 5 + (1 - prevalence) * f
        for name, (t, f) in (FIVE | {"call none": (0, 0), "call all": (1, 1)}).items()
    }
    cheapest = min(costs, key=costs.get)
    winner = [one.name for one in (*found.points, *found.naive) if one.wins and one.wins[0] <= 5 <= one.wins[1]]
    assert cheapest in winner


def test_sureness_is_that_of_new_samples():
    """How often a classifier wins in resamples is near how often it would in new samples."""
    rng = np.random.default_rng(0)

    def sample(n):
        y = rng.random(n) < 0.5
        return tm.panel(y, {"a": rng.normal(1.0 * y), "b": rng.normal(1.15 * y)})

    sure = [
        dict(zip(("name", "share"), tm.decisions.space(sample(600), threshold=0.5, replicates=300).best, strict=True))
        for _ in range(60)
    ]
    ahead = np.mean([one["name"] == "b" for one in sure])
    said = np.mean([one["share"] if one["name"] == "b" else 1 - one["share"] for one in sure])
    assert abs(ahead - said) < 0.2


def test_paired_rows_are_surer_than_tables_alone():
    rng = np.random.default_rng(1)
    y = rng.random(3_000) < 0.5
    s = rng.normal(y)
    frame = pd.DataFrame({"y": y.astype(int), "a": (s > 0.5).astype(int)})
    frame["b"] = np.where((rng.random(3_000) < 0.02), y, frame.a).astype(int)
    paired = tm.decisions.space(frame, label="y", predicted=["a", "b"])
    alone = tm.decisions.space(paired.confusions)
    assert paired.best[0] == alone.best[0] == "b"
    assert paired.best[1] > 0.99 > alone.best[1]
    twice = pd.concat([frame[:150]] * 20).assign(k=np.tile(np.arange(150), 20))
    assert (
        tm.decisions.space(twice, label="y", predicted=["a", "b"], cluster="k").best[1]
        <= tm.decisions.space(twice, label="y", predicted=["a", "b"]).best[1]
    )


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (tables({"A": (0.5, 0.1)}), {}, "two classifiers or more"),
        (tables(FIVE), {"metric": "auroc"}, "four cells"),
        (pd.DataFrame({"y": [0, 1], "a": [1, 0]}), {}, "Name the columns"),
        (pd.DataFrame({"y": [0, 1], "a": [1, 0], "b": [3, 1]}), {"label": "y", "predicted": ["a", "b"]}, "same labels"),
        (tables(FIVE), {"prevalence": 1.5}, "prevalence"),
    ],
)
def test_bad_input_is_refused(data, options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.decisions.space(data, **options)


def test_weights_are_no_repeated_rows():
    rng = np.random.default_rng(2)
    y = rng.random(300) < 0.5
    scores = {"a": rng.normal(y), "b": rng.normal(1.1 * y)}
    sure = [tm.decisions.space(tm.panel(y, scores, weights=np.full(300, w)), threshold=0.5).best for w in (1.0, 100.0)]
    assert sure[0] == sure[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"cluster": "nothing"}, "leave label="), ({"metric": "f1", "bogus": 3.0}, "no parameter")],
)
def test_options_that_would_do_nothing_are_refused(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.decisions.space(tm.panel([0, 1, 0, 1], {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}), **options)
