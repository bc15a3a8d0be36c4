"""The gate: every kind of bad input, and the sentence it gets."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tallymark as tm

Y = [0, 1, 0, 1]
S = [0.1, 0.9, 0.4, 0.3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y, [0.1, np.nan, 0.4, np.nan]), r"scores has NaN in 2 rows, the first at index 1"),
        ((Y, [0.1, 0.2, np.inf, 0.3]), r"scores has infinite values in one row, at index 2"),
        ((Y, [0.1, 0.2]), r"Lengths differ: labels has 4, scores has 2 rows"),
        (([], []), r"scores is empty"),
        (([1, 1, 1, 1], S), r"labels has one class only: every row is 1"),
        (([0, 1, 2, 1], S), r"labels has the values 0, 1, 2; which one is positive\? Say so with pos_label"),
        (([1, 2, 1, 2], S), r"labels has the values 1, 2; which one is positive\?"),
        ((["a", "b", "a", "b"], S), r"which one is positive\?"),
        (([0, 1, None, 1], S), r"labels has missing values in one row, at index 2"),
        (([0.0, 1.0, np.nan, 1.0], S), r"labels has missing values in one row, at index 2"),
        (([0, "1", 0, "1"], S), r"labels mixes text and numbers"),
        ((Y, [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]), r"shape \(4, 2\).*\[:, 1\]"),
        ((Y, np.ones((4, 1))), r"shape \(4, 1\).*ravel"),
        ((Y, ["0.1", "0.2", "0.3", "0.4"]), r"scores holds text, expected numbers"),
        ((Y, np.array(["0.1", "0.2", "0.3", "0.4"])), r"scores has dtype <U3, expected numbers"),
        ((Y, np.array(["0.1", 0.2, 0.3, 0.4], dtype=object)), r"scores holds text"),
        ((Y, np.array([0.1, object(), 0.3, 0.4], dtype=object)), r"object dtype and is not all numbers"),
        ((Y, np.array([1j, 2, 3, 4])), r"dtype complex128, expected numbers"),
        ((Y, [2**60, 1, 2, 3]), r"beyond 2\*\*53"),
        ((Y, 0.5), r"scores is a single value \(0.5\)"),
        ((Y, np.array(0.5)), r"scores is a single value"),
        ((Y, (x for x in S)), r"scores is a generator, which can be read only once; pass list"),
        ((Y, {0.1, 0.2}), r"scores is a set"),
        ((Y, [[0.1], [0.2, 0.3]]), r"scores is not a plain column"),
        ((np.array([1j, 0]), [0.1, 0.2]), r"labels has dtype complex128"),
        (([(1,), (0,), (1,), (0,)], S), r"shape"),
        ((Y, [10**400, 1, 2, 3]), r"beyond 2\*\*53"),
        ((np.array(["2020-01-01", "NaT"], "M8[D]"), [0.1, 0.2]), r"labels has missing values in one row, at index 1"),
        ((np.array([b"\xff", b"a"]), [0.1, 0.2]), r"not ASCII"),
    ],
)
def test_bad_columns(arguments, message):
    with pytest.raises(tm.InputError, match=message):
        tm.tally(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pos_label": 7}, r"pos_label=7 does not occur in labels, which has the values 0, 1"),
        ({"weights": [1, -1, 1, 1]}, r"weights has negative values in one row, at index 1"),
        ({"weights": [1, np.nan, 1, 1]}, r"weights has NaN"),
        ({"weights": [0, 0, 0, 0]}, r"weights are all zero"),
        ({"weights": [1, 1]}, r"Lengths differ"),
        ({"weights": [1, 0, 1, 0]}, r"All rows of class 1 have weight 0"),
        ({"counts": [1, 2, 3, -1]}, r"counts has negative values in one row, at index 3"),
        ({"counts": [1.5, 1, 1, 1]}, r"counts has dtype float64, expected whole numbers.*weights="),
        ({"counts": [0, 0, 0, 0]}, r"counts are all zero"),
        ({"counts": [2**62] * 4}, r"more than 2\*\*62 rows"),
        ({"weights": [1e308] * 4}, r"too large to be squared"),
        ({"counts": [1, 1, 1, 1], "weights": [1, 1, 1, 1]}, r"not both"),
        ({"score": "p"}, r"names a column of a dataframe"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(tm.InputError, match=message):
        tm.tally(Y, S, **options)


def test_no_scores():
    with pytest.raises(tm.InputError, match=r"No scores. Write tm.tally\(y, scores\)"):
        tm.tally(Y)


@pytest.mark.parametrize(
    "y",
    [
        [False, True, False, True],
        [-1, 1, -1, 1],
        [0.0, 1.0, 0.0, 1.0],
        np.array(Y, dtype=np.int8),
        np.array(Y, dtype=np.uint64),
        np.array(Y, dtype=">i4"),
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="boolean"),
        pd.Series(Y, index=[9, 7, 5, 3]),
        pl.Series(Y),
        pa.array(Y),
        np.ma.MaskedArray(Y, mask=False),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_labels_that_need_no_pos_label(y):
    tally = tm.tally(y, S)
    assert (tally.positives, tally.negatives) == (2, 2)
    assert tm.metrics.auroc(tally) == tm.metrics.auroc(tm.tally(Y, S))


@pytest.mark.parametrize(
    "y",
    [
        ["no", "yes", "no", "yes"],
        np.array(["no", "yes", "no", "yes"], dtype=object),
        pd.Series(["no", "yes", "no", "yes"], dtype="category"),
        pl.Series(["no", "yes", "no", "yes"], dtype=pl.Categorical),
        pd.Series(["no", "yes", "no", "yes"], dtype="string"),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_text_labels_with_pos_label(y):
    tally = tm.tally(y, S, pos_label="yes")
    assert tally.labels == ("no", "yes")
    assert tally.positives == 2


def test_pos_label_picks_one_of_many():
    tally = tm.tally([0, 1, 2, 1], S, pos_label=2)
    assert tally.labels == ("not 2", 2)
    assert (tally.positives, tally.negatives) == (1, 3)


@pytest.mark.parametrize(
    "s",
    [
        np.array(S, dtype=np.float32),
        np.array(S, dtype=np.float16),
        np.array(S, dtype=">f8"),
        np.array(S, dtype=np.longdouble),
        np.array([1, 9, 4, 3]),
        np.array([1, 9, 4, 3], dtype=np.uint8),
        np.repeat(S, 2)[::2],
        pd.Series(S, dtype="Float64"),
        pl.Series(S),
        pa.array(S),
        np.array(S, dtype=object),
    ],
    ids=lambda s: f"{type(s).__name__}-{getattr(s, 'dtype', getattr(s, 'type', ''))}",
)
def test_scores_of_every_kind(s):
    assert tm.metrics.auroc(tm.tally(Y, s)) == 0.75


def test_missing_scores_in_nullable_columns():
    with pytest.raises(tm.InputError, match="scores has NaN in one row, at index 1"):
        tm.tally(Y, pd.Series([0.1, None, 0.3, 0.4], dtype="Float64"))
    with pytest.raises(tm.InputError, match="scores has missing values in one row, at index 2"):
        tm.tally(Y, np.ma.MaskedArray(S, mask=[0, 0, 1, 0]))


def test_the_callers_arrays_stay_as_they_are():
    y, s, w = np.array(Y), np.array(S), np.array([1.0, 2.0, 3.0, 4.0])
    for array in (y, s, w):
        array.flags.writeable = False
    tally = tm.tally(y, s, weights=w)
    assert tally.n == 10.0
    panel = tm.panel(np.array(Y), {"a": (own := np.array(S))})
    own[0] = 5.0  # still the caller's to write
    with pytest.raises(ValueError, match="read-only"):
        panel.scores["a"][0] = 7.0


def test_hard_labels_as_scores_are_reported():
    with pytest.warns(tm.GuardWarning, match="TM101.*at most two values") as caught:
        tm.tally(Y, [0, 1, 0, 1])
    assert caught[0].message.code == "TM101"
    with pytest.raises(tm.GuardError, match="TM101"):
        tm.tally(Y, [0, 1, 0, 1], strict=True)


def test_inverted_scores_are_reported_and_not_flipped():
    y = np.repeat([0, 1], 50)
    with pytest.warns(tm.GuardWarning, match="TM103.*Nothing was flipped"):
        evaluation = tm.evaluate(tm.tally(y, -np.arange(100.0)))
    assert evaluation["auroc"].value == 0.0
    assert "TM103" in {note.code for note in evaluation.warnings}


def test_heavy_ties_are_reported():
    y, s = np.tile([0, 1], 100), np.where(np.arange(200) < 40, 0.5, np.arange(200) / 200)
    with pytest.warns(tm.GuardWarning, match="TM104: 20 % of the rows"):
        tm.evaluate(tm.tally(y, s))


def test_skew_and_few_rows_are_reported():
    rng = np.random.default_rng(0)
    positive, negative = rng.lognormal(size=2_000), -rng.lognormal(size=2_000)
    y = np.repeat([1, 0], 2_000)
    codes = {n.code for n in tm.evaluate(tm.tally(y, np.r_[positive, negative])).warnings}
    assert codes == {"TM105"}
    assert {n.code for n in tm.evaluate(tm.tally(Y, S)).warnings} == {"TM107"}


def test_a_good_sample_raises_no_guard():
    rng = np.random.default_rng(1)
    y = np.tile([0, 1], 500)
    assert tm.evaluate(tm.tally(y, rng.normal(size=1_000) + y)).warnings == ()
