"""The order of periods: by time where it can be read, never as text."""

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tallymark as tm
from tallymark._periods import in_order

MONTHS = [datetime.date(2023 + (8 + i) // 12, (8 + i) % 12 + 1, 1) for i in range(14)]
QUARTERS = [(2023, 4), (2024, 1), (2024, 2), (2024, 3), (2024, 4), (2025, 1)]

#: Ways to write a run of months, or of quarters, as text whose alphabetical order is not that of time.
WRITTEN = {
    "iso": [f"{d:%Y-%m-%d}" for d in MONTHS],
    "day first": [f"{d.replace(day=28):%d/%m/%Y}" for d in MONTHS],
    "month first": [f"{d.replace(day=28):%m/%d/%Y}" for d in MONTHS],
    "dots": [f"{d:%d.%m.%Y}" for d in MONTHS],
    "month and year": [f"{d:%m-%Y}" for d in MONTHS],
    "short month": [f"{d.year}.{d.month}" for d in MONTHS],
    "eurostat": [f"{d.year}M{d.month}" for d in MONTHS],
    "english": [f"{d:%B %Y}" for d in MONTHS],
    "short english": [f"{d:%b-%Y}" for d in MONTHS],
    "english with a day": [f"{d:%d %b %Y}" for d in MONTHS],
    "dutch": [f"{name} {d.year}" for d, name in zip(MONTHS, itertools.islice(itertools.cycle(
        ["sep", "okt", "nov", "dec", "jan", "feb", "mrt", "apr", "mei", "juni", "juli", "aug"]), len(MONTHS)), strict=True)],
    "file names": [f"scores_{d:%Y-%m}_final" for d in MONTHS],
    "months of a year": ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"],
    "mois": ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août"],
    "quarter first": [f"Q{q} {y}" for y, q in QUARTERS],
    "quarter of a year": [f"{q}Q{y}" for y, q in QUARTERS],
    "kwartaal": [f"{y}K{q}" for y, q in QUARTERS],
    "weeks": [f"2024-W{w}" for w in (8, 9, 10, 11)],
    "four-week periods": ["2023-9", "2023-10", "2023-13", "2024-1", "2024-2"],
    "numbered": [f"week {w}" for w in (1, 2, 9, 10, 11)],
}  # fmt: skip


@pytest.mark.parametrize("way", WRITTEN)
@given(data=st.data())
def test_periods_come_in_the_order_of_time(way, data):
    shuffled = data.draw(st.permutations(WRITTEN[way]))
    assert in_order(shuffled, "month") == WRITTEN[way]


def test_numbers_and_dates_sort_by_value():
    assert in_order([10, 9, 2024.5], "t") == [9, 10, 2024.5]
    assert in_order(np.array(["2024-02", "2023-12"], dtype="datetime64[M]"), "t")[0] == np.datetime64("2023-12")


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (["01/12/2023", "02/11/2023"], "can be read in two ways"),
        (["Nov", "Dec", "Jan"], "Cannot tell the order"),
        (["before", "after"], "Cannot tell the order"),
        (["W51", "W52", "W1"], "Cannot tell the order"),
        (["Q4", "Q1"], "Cannot tell the order"),
        (["jui 2024", "mai 2024"], "Cannot tell the order"),
        (["Jan 2024", "January 2024"], "Cannot tell the order"),
        (["2024Q1", "2024W2"], "Cannot tell the order"),
        (["31/02/2024", "30/01/2024"], "Cannot tell the order"),
        (["Jan-24", "Feb-24", "Feb-25"], "Cannot tell the order"),
        (["2024", 2023], "mixes text and numbers"),
    ],
)
def test_what_cannot_be_ordered_is_refused(texts, why):
    with pytest.raises(tm.InputError, match=why):
        in_order(texts, "month")


def test_a_stated_order_holds():
    assert in_order(["Jan", "Nov", "Dec"], "m", order=["Oct", "Nov", "Dec", "Jan"]) == ["Nov", "Dec", "Jan"]
    assert in_order([2, 1], "m", order=["2", "1"]) == [2, 1]
    with pytest.raises(tm.InputError, match="does not name 'b', which m has"):
        in_order(["a", "b"], "m", order=["a"])
    with pytest.raises(tm.InputError, match="names a period twice"):
        in_order(["a", "b"], "m", order=["a", "b", "a"])


SEASONS = ["wet", "cool", "hot", "dry"]
WHEN = np.repeat(SEASONS, 40)
SEEN = pd.DataFrame({
    "t": WHEN, "y": np.arange(160) % 2, "hat": np.arange(160) % 3 % 2, "v": 1.0 + np.arange(160) % 7, "p": (np.arange(160) % 37) / 37, "item": np.tile(np.arange(40), 4),
})  # fmt: skip
BY_PERIOD = {
    "index": lambda frame: list(tm.prices.index(frame, period="t", product="item", price="v", formula="jevons").periods),
    "impact": lambda frame: [
        when for when in dict.fromkeys(part.period for part in tm.prices.impact(frame, label="y", value="v", predicted="hat", period="t").parts)
        if when is not None
    ],
    "watch": lambda frame: [one.period for one in tm.monitor.watch(frame, score="p", period="t", label="y", method="ac", reference=3).periods],
    "advise": lambda frame: tm.advise(frame, period="t", label="y", value="v").to_dict() and SEASONS,
}  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("name", BY_PERIOD)
def test_ordered_categories_are_the_order_of_periods(name, kind):
    """Their order was lost, and the texts refused or sorted in another way."""
    if kind == "pandas":
        frame = SEEN.assign(t=pd.Categorical(WHEN, categories=["never", *SEASONS], ordered=True))
    else:
        frame = pl.from_pandas(SEEN).with_columns(pl.col("t").cast(pl.Enum(["never", *SEASONS])))
    assert BY_PERIOD[name](frame) == SEASONS
    with pytest.raises(tm.InputError, match="order"):
        BY_PERIOD[name](SEEN)
