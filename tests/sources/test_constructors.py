import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm
from samples import probability_sample

Y, P = probability_sample(300)
COLUMNS = {
    "y": Y,
    "p": P,
    "q": P**2,
    "w": np.arange(300) % 5 + 0.5,
    "k": np.arange(300) % 3 + 1,
    "g": ["a", "b", "c"] * 100,
}

ENGINES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas-arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas-nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars-lazy": lambda: pl.LazyFrame(COLUMNS),
    "pyarrow": lambda: pa.table(COLUMNS),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_dataframe_gives_the_same_tally(engine):
    frame = ENGINES[engine]()
    t = tm.tally(frame, label="y", score="p", weight="w")
    direct = tm.tally(Y, P, weights=COLUMNS["w"])
    for a, b in zip(t.runs, direct.runs, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)
        np.testing.assert_allclose(a.weights, b.weights, rtol=1e-12)
    counted = tm.tally(frame, label="y", score="p", count="k")
    assert counted.n == COLUMNS["k"].sum()
    ts = tm.tally(frame, label="y", score=["p", "q"], by=["g"])
    assert list(ts) == [(s, g) for s in "pq" for g in "abc"]
    rows = np.array(COLUMNS["g"]) == "b"
    assert tm.metrics.auroc(ts["q", "b"]) == tm.metrics.auroc(tm.tally(Y[rows], P[rows]))
    assert tm.tally(frame, score="p").n == 300
    panel = tm.panel(frame, label="y", score=["p", "q"], weight="w")
    assert panel.models == ("p", "q")
    assert tm.metrics.auroc(panel.tally("p")) == tm.metrics.auroc(t)
    c = tm.confusion(frame, "k", label="k", count="k")
    assert c.n == np.sum(COLUMNS["k"])
    scores = tm.class_scores(frame, score={1: "p", 2: "q", 3: "w"}, label="k")
    np.testing.assert_array_equal(scores.confusion.truth, np.bincount(COLUMNS["k"])[1:])


def test_categoricals_and_decimals():
    frame = pl.DataFrame(
        {"y": ["no", "yes", "no"], "p": [decimal.Decimal("0.1"), decimal.Decimal("0.9"), decimal.Decimal("0.4")]}
    ).with_columns(pl.col("y").cast(pl.Categorical))
    assert tm.metrics.auroc(tm.tally(frame, label="y", score="p", pos_label="yes")) == 1.0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_values_are_counted(make):
    with pytest.raises(tm.InputError, match="y has missing values in one row, at index 1"):
        tm.tally(make({"y": [0, None, 1], "p": [0.1, 0.2, 0.3]}), label="y", score="p")
    with pytest.raises(tm.InputError, match="p has (missing values|NaN) in 2 rows, the first at index 0"):
        tm.tally(make({"y": [0, 1, 1], "p": [None, None, 0.3]}), label="y", score="p")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "y", "score": "pp"}, r"No column 'pp'; the data has .*Did you mean 'p'\? Choose one with score="),
        ({"label": "Y", "score": "p"}, r"No column 'Y'.*Choose one with label="),
        ({"label": "y", "score": "p", "by": "region"}, r"No column 'region'.*by="),
        ({"label": "y"}, r"needs score= with the name"),
        ({"scores": [1]}, r"With a dataframe name the columns"),
    ],
)
def test_column_names(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.tally(pd.DataFrame(COLUMNS), **options)


def test_odd_frames():
    twice = pd.DataFrame([[0, 1, 2.0]], columns=["y", "y", "p"])
    with pytest.raises(tm.InputError, match="cannot be read"):
        tm.tally(twice, label="y", score="p")
    with pytest.raises(tm.InputError, match="columns are named by text"):
        tm.tally(pd.DataFrame({0.5: [0, 1], 1: [0.1, 0.2]}), label=0.5, score=1)
    with pytest.raises(tm.InputError, match="No column ''"):
        tm.tally(pd.DataFrame(COLUMNS), label="", score="p")
    whole = pd.DataFrame({"y": pd.Categorical([0, 1, 0], categories=[0, 1, 7]), "p": [0.1, 0.9, 0.4]})
    assert tm.tally(whole, label="y", score="p").labels == (0, 1)


def test_panels_keep_to_themselves():
    a, w = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    panel = tm.panel([0, 1], {"labels": a, "weights": a}, weights=w, extra={"text": ["x", "y"]})
    a[:] = w[:] = 9.0
    assert panel.scores["labels"].tolist() == [1.0, 2.0]
    assert panel.weights.tolist() == [1.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        panel.weights[0] = 5.0
    with pytest.raises(tm.InputError, match="must differ"):
        tm.panel([0, 1], {1: [1, 2], "1": [1, 2]})
    with pytest.raises(tm.InputError, match="must differ"):
        tm.panel([0, 1], {"a": [1, 2]}, extra={"a": [1, 2]})


def test_panels():
    with pytest.raises(tm.InputError, match="scores must map each model"):
        tm.panel([0, 1], [[0.1, 0.2]])
    with pytest.raises(tm.InputError, match="scores of 'b' has NaN"):
        tm.panel([0, 1], {"a": [1, 2], "b": [1, np.nan]})
    with pytest.raises(tm.InputError, match="Lengths differ: labels has 2, a has 2, b has 3"):
        tm.panel([0, 1], {"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(tm.InputError, match="needs label="):
        tm.panel(pd.DataFrame(COLUMNS), score=["p"])
    panel = tm.panel([0, 1, 1], {"a": [1, 2, 3]}, extra={"price": [1.0, 2.0, 3.0]})
    kept = panel.keep(np.array([True, True, False]))
    assert (kept.n, kept.extra["price"].tolist(), panel.n) == (2, [1.0, 2.0], 3)
    assert panel.merge(panel).n == 6
    with pytest.raises(tm.InputError, match="No model 'z'; the panel has 'a'"):
        panel.tally("z")
    with pytest.raises(tm.InputError, match="Cannot merge panels"):
        panel.merge(tm.panel([0, 1], {"b": [1, 2]}))


def test_tallies():
    ts = tm.tally(pd.DataFrame(COLUMNS), label="y", score=["p", "q"])
    assert list(ts) == ["p", "q"]
    assert ts.merge(ts)["p"].n == 600
    with pytest.raises(KeyError, match="No tally for 'z'; keys are model: 'p', 'q'"):
        ts["z"]
    with pytest.raises(TypeError):
        ts.entries["x"] = 1
    assert len(ts.to_frame()) == 2
    assert tm.tally(pd.DataFrame(COLUMNS), label="y", score="p", by="g").names == ("g",)


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_a_model_needs_a_name_that_can_be_read(name):
    with pytest.raises(tm.InputError, match="needs a name"):
        tm.panel([0, 1, 0], {name: [0.1, 0.2, 0.3], "b": [1, 2, 3]})
