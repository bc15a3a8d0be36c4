"""Rows counted into cells: the counts of a plain loop, whatever the scores, or a clear no."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallymark.sources import cell_counts
from tallymark.sources.cell_counts import Uncountable, count_cells
from tallymark.sources.class_moments import FINE, Span
from tallymark.summaries.score_grid import Grid, cell_key

NORMAL = st.floats(-1e290, 1e290, allow_nan=False, allow_subnormal=False)
#: Scores that lie close together, around a power of two, on a grid, and anywhere.
SCORES = st.lists(
    st.one_of(
        st.floats(0.0, 1.0, allow_subnormal=False),
        st.integers(-200, 200).map(lambda k: 0.5 + k * 2.0**-40),
        st.integers(-3, 3).map(lambda k: k / 10),
        NORMAL,
    ),
    min_size=1,
    max_size=60,
)


def looped(positive, scores, thresholds):
    """Rows, lowest and highest score by class, key and side, one row at a time."""
    cells = {}
    for code, score in zip(positive, scores, strict=True):
        key = float(cell_key(np.array([score]))[0]), sum(score >= t for t in thresholds)
        n, lo, hi = cells.get((code, *key), (0, np.inf, -np.inf))
        cells[(code, *key)] = (n + 1, min(lo, score), max(hi, score))
    return sorted((code, lo, hi, n) for (code, *_), (n, lo, hi) in cells.items())


@given(
    data=st.data(), scores=SCORES, thresholds=st.lists(st.one_of(st.sampled_from([0.5, 0.0, 0.1]), NORMAL), max_size=4)
)
@example(data=None, scores=[0.5, 0.5 - 2.0**-20, 0.5 + 2.0**-20, -0.5, 0.0], thresholds=[0.5, 0.5 + 2.0**-21])
def test_a_loop_counts_the_same(data, scores, thresholds):
    scores = np.array(scores) + 0.0
    positive = np.arange(len(scores), dtype=np.uint8) % 2
    if data is not None:
        positive = np.array(
            data.draw(st.lists(st.integers(0, 1), min_size=len(scores), max_size=len(scores))), np.uint8
        )
    grid = Grid(tuple(sorted(set(thresholds))))
    span = Span.between(scores.min(), scores.max())
    cut = len(scores) // 2
    blocks = [(positive[part], scores[part]) for part in (slice(cut), slice(cut, None)) if len(scores[part])]
    counted = count_cells(blocks, grid, span)
    listed = zip(*(a.tolist() for a in (counted.code, counted.lo, counted.hi, counted.n)), strict=True)
    assert list(listed) == looped(positive.tolist(), scores.tolist(), grid.thresholds)
    if span.powers_fit:
        distance = (scores - span.middle) * span.per_half
        for code in (0, 1):
            own = distance[positive == code]
            for power, found in zip((own, own * own, own * own * own), counted.sums[code], strict=True):
                assert found == sum(int(part) for part in np.rint(power * FINE))


def test_blocks_and_threads_of_any_number_count_the_same():
    rng = np.random.default_rng(0)
    scores, positive = rng.random(300_000) ** 3, (rng.random(300_000) < 0.3).astype(np.uint8)
    grid, span = Grid((0.25, 0.5)), Span.between(scores.min(), scores.max())
    whole = count_cells([(positive, scores)], grid, span)
    for size in (1_000, 65_537):
        parts = [(positive[i : i + size], scores[i : i + size]) for i in range(0, len(scores), size)]
        for threads in (1, 2, 5):
            again = count_cells(parts[::-1], grid, span, threads)
            assert again.sums == whole.sums
            for a, b in zip(again[:4], whole[:4], strict=True):
                np.testing.assert_array_equal(a, b)
    assert whole.n.sum() == len(scores)
    assert whole.n[whole.code == 1].sum() == positive.sum()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e-310, -1e-310, 1e300])
def test_what_is_out_of_the_ordinary_is_left_to_the_engine(bad):
    scores = np.array([0.1, bad, 0.7])
    with pytest.raises(Uncountable):
        count_cells([(np.array([0, 1, 0], np.uint8), scores)], Grid(), Span(0.5, 0.5))


def test_so_are_other_labels_many_magnitudes_and_many_thresholds(monkeypatch):
    scores = np.array([0.1, 0.2])
    with pytest.raises(Uncountable):
        count_cells([(np.array([0, 2], np.uint8), scores)], Grid(), Span(0.5, 0.5))
    with pytest.raises(Uncountable):
        count_cells([(np.array([0, 1], np.uint8), scores)], Grid(tuple(range(10_000))), Span(0.5, 0.5))
    monkeypatch.setattr(cell_counts, "_MOST_PAGES", 4)
    with pytest.raises(Uncountable):
        count_cells([(np.zeros(3, np.uint8), np.array([0.1, 0.3, 0.6]))], Grid(), Span(0.5, 0.5))
