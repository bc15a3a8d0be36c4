"""Nearest neighbours against a table of all distances, on data built to tie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.neighbors import NearestNeighbors

from tallymark.learners.nearest import nearest


def naive(rows, queries, k):
    """All distances, summed attribute by attribute; equal ones in the order of the rows."""
    squares = np.zeros((len(queries), len(rows)))
    for attribute in range(rows.shape[1]):
        squares += (queries[:, None, attribute] - rows[None, :, attribute]) ** 2
    return np.argsort(squares, axis=1, kind="stable")[:, :k]


DATA = {
    "smooth": lambda rng, n, d: rng.normal(size=(n, d)),
    "lattice": lambda rng, n, d: rng.integers(0, 3, (n, d)).astype(float),
    "duplicates": lambda rng, n, d: np.repeat(rng.normal(size=(-(-n // 7), d)), 7, axis=0)[:n],
    "far from 0": lambda rng, n, d: 1e8 + rng.integers(0, 5, (n, d)).astype(float),
    "unequal scales": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 8, d),
    "one point": lambda rng, n, d: np.ones((n, d)),
}


# Few attributes and many rows go through a tree, the others through a table; 3 000 rows are sampled first.
@pytest.mark.parametrize("shape", [(40, 3), (3_000, 12), (6_000, 2)], ids=str)
@pytest.mark.parametrize("kind", DATA)
def test_the_list_is_that_of_all_distances(kind, shape):
    rng = np.random.default_rng(0)
    rows = DATA[kind](rng, *shape)
    queries = np.vstack((rows[:40], DATA[kind](rng, 20, shape[1])))
    for k in (1, 9, min(shape[0], 30)):
        assert (nearest(rows, queries, k) == naive(rows, queries, k)).all()


@given(st.lists(st.tuples(*[st.integers(-2, 2)] * 2), min_size=2, max_size=25), st.data())
def test_ties_go_by_row_number(points, data):
    rows = np.array(points, dtype=float)
    k = data.draw(st.integers(1, len(rows)))
    assert (nearest(rows, rows, k) == naive(rows, rows, k)).all()


def test_threads_and_scale_change_nothing():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2_500, 10))
    one = nearest(rows, rows, 12)
    assert (one == nearest(rows, rows, 12, n_jobs=2)).all()
    assert (one == nearest(4 * rows, 4 * rows, 12)).all()


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
@pytest.mark.parametrize("shape", [np.asarray, csr_matrix], ids=["dense", "sparse"])
def test_other_metrics_are_scikit_learns(metric, shape):
    rng = np.random.default_rng(2)
    rows = shape(rng.random((80, 5)))
    places = NearestNeighbors(n_neighbors=6, metric=metric, algorithm="brute").fit(rows).kneighbors(rows)[1]
    assert (np.sort(nearest(rows, rows, 6, metric=metric)) == np.sort(places)).all()
