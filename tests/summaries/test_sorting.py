"""Sorting, searching and grouping, against NumPy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.summaries import sorting
from tallymark.summaries.sorting import blocks, group_starts, placements, sort_in_place, starts_of_groups

ASCENDING = st.lists(st.integers(-20, 20), max_size=60).map(lambda values: np.sort(np.array(values, dtype=float)))


@given(ASCENDING, ASCENDING.filter(len), st.integers(1, 7))
def test_placements_are_two_searches_whatever_the_blocks(haystack, needles, block):
    kept = sorting.BLOCK
    sorting.BLOCK = block
    try:
        below, at_or_below = placements(haystack, needles)
    finally:
        sorting.BLOCK = kept
    assert (below == np.searchsorted(haystack, needles, "left")).all()
    assert (at_or_below == np.searchsorted(haystack, needles, "right")).all()


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_placements_of_many_needles_in_threads(monkeypatch, threads, ties):
    monkeypatch.setattr(sorting, "_WORTH_A_THREAD", 1)
    monkeypatch.setattr(sorting, "machine_threads", lambda: threads)
    rng = np.random.default_rng(0)
    haystack, needles = (
        np.sort(rng.integers(0, 10**4, n) + (0 if ties else rng.random(n))).astype(float) for n in (10**5, 3 * 10**5)
    )
    below, at_or_below = placements(haystack, needles)
    assert (below == np.searchsorted(haystack, needles, "left")).all()
    assert (at_or_below == np.searchsorted(haystack, needles, "right")).all()
    assert (below is at_or_below) == (not ties)


@given(ASCENDING)
def test_groups_start_where_a_value_is_new(values):
    starts = starts_of_groups(values) if len(values) else np.array([], dtype=int)
    assert starts.tolist() == [i for i in range(len(values)) if i == 0 or values[i] != values[i - 1]]
    if len(values):
        assert group_starts(values[1:] != values[:-1], len(values)).tolist() == starts.tolist()


@given(st.integers(0, 500), st.integers(1, 60))
def test_blocks_cover_everything_once(length, size):
    covered = [i for block in blocks(length, size) for i in range(*block.indices(length))]
    assert covered == list(range(length))


def test_columns_are_sorted_in_place():
    rng = np.random.default_rng(1)
    columns = [rng.random(n) for n in (0, 5, 10**5)]
    wanted = [np.sort(column) for column in columns]
    sort_in_place(columns)
    assert all((column == other).all() for column, other in zip(columns, wanted, strict=True))
