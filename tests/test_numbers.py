"""How numbers are written."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark import _numbers as n

finite = st.floats(-1e300, 1e300)


def read(text):
    """A written number, back as one."""
    return float(text.replace(n.THIN, "").replace(n.MINUS, "-"))


@given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e6), st.floats(0, 1))
def test_a_value_is_written_to_the_digits_that_its_limits_leave_open(value, width, place):
    low, high = value - place * width, value - place * width + width
    text = n.with_limits(value, low, high)
    head, ends = text[:-1].split(" (")
    a, b = ends.split(" to ") if low < 0 else ends.split("–")
    # What is left out is less than a sixth of the interval's half, and no digit is written that says nothing.
    for shown, true in ((head, value), (a, low), (b, high)):
        assert abs(read(shown) - true) <= max((high - low) / 2 / 3.5 / 2 + 1e-9 * abs(true), 0.5)
    decimals = n.decimals_of(low, high)
    if decimals and "e" not in head:
        assert (high - low) / 2 < 35.51 * 10.0**-decimals


@given(finite)
def test_numbers_keep_four_digits_and_a_true_minus(value):
    text = n.number(value)
    assert "-" not in text
    assert read(text) == pytest.approx(value, rel=5.1e-4, abs=6e-5 if abs(value) >= 1e-3 else 1e-300)


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_are_parted_by_threes(value):
    text = n.number(value)
    assert read(text) == value
    groups = text.lstrip(n.MINUS).split(n.THIN)
    assert all(len(group) == 3 for group in groups[1:])
    assert len(groups) == 1 or abs(value) >= 10_000


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.4359, 0.347, 0.528, "44 % (35–53)"),
        (0.9676, 0.9503, 0.9789, "96.8 % (95.0–97.9)"),
        (0.0, 0.0, 0.0254, "0.0 % (0.0–2.5)"),
        (1.0, 1.0, 1.0, "100.0000 % (100.0000–100.0000)"),
    ],
)
def test_per_cent(value, low, high, text):
    assert n.per_cent(value, low, high) == text


def test_what_cannot_be_written_as_digits():
    assert [n.number(v) for v in (math.nan, math.inf, -math.inf, None, "text", True, (0.5, 1.0))] == [
        "nan", "∞", "−∞", "", "text", "True", "0.5000 … 1.0000",
    ]  # fmt: skip
    assert n.with_limits(2.0, 1.0, math.inf) == "2.0000 (1.0000–∞)"
    assert n.p_value(math.nan) == "nan"


def javascript_cases():
    """Values and limits that the page must write as Python does; the browser's test asks it."""
    rng = np.random.default_rng(0)
    values = [
        0.5,
        1.5,
        2.5,
        0.125,
        0.375,
        1e-5,
        12345.5,
        0.00045,
        99999.95,
        0.0005,
        1 / 3,
        2.675,
        1e16,
        123456789.0,
        0.1 + 0.2,
    ]
    values += (10.0 ** rng.uniform(-9, 9, 3_000) * rng.choice([-1, 1], 3_000)).tolist()
    values += (
        np.round(rng.random(500), 3).tolist()
        + (1 - 10.0 ** rng.uniform(-9, -2, 200)).tolist()
        + (10.0 ** rng.uniform(8, 14, 60)).tolist()
        + rng.integers(0, 10**6, 300).astype(float).tolist()
    )
    halves = 10.0 ** rng.uniform(-7, 5, len(values))
    return [[v, v - h * rng.random(), v + h] for v, h in zip(values, halves.tolist(), strict=True)]


def expected(cases):
    return [[n.number(v), n.with_limits(v, low, high), n.per_cent(v), n.amount(v)] for v, low, high in cases]


def test_one_thing_is_singular_in_headings():
    one, two = tm.tally(scores=[0.3]), tm.tally(scores=[0.3, 0.4])
    assert "of 1 row" in one.heading()
    assert "1 rows" not in one.heading()
    assert "of 2 rows" in two.heading()
    frame = pd.DataFrame({"y": [0, 1, 2, 1], "p": [0.1, 0.2, 0.3, 0.4]})
    with pytest.warns(UserWarning, match=r"0 \(1 row\), 2 \(1 row\)"):
        tm.tally(frame, label="y", score="p", pos_label=1)
