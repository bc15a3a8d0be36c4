"""Exact nearest neighbours, ordered by distance and, among equal distances, by row number.

Distances from ‖x‖² + ‖y‖² − 2xy, as in scikit-learn's brute-force search, round differently from direct ones and would
break ties at random. They only select candidates, which are compared by direct distances; a query whose last neighbour
could be another row is searched directly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import cKDTree

from tallymark._check import Floats, Ints

#: Attributes of candidates gathered at a time.
_BLOCK = 2**21

#: Candidates beyond the number of neighbours.
_SPARE = 8

#: A k-d tree is faster than all distances up to so many attributes and from so many rows.
_TREE_ATTRIBUTES, _TREE_ROWS = 8, 5_000

#: Names of the Euclidean distance.
_EUCLIDEAN = ("euclidean", "l2")


def nearest(
    rows: Any, queries: Any, k: int, *, metric: Any = "euclidean", metric_params: Any = None, n_jobs: int | None = None
) -> Ints:
    """Row numbers of the `k` nearest `rows` of each query, nearest first; equal distances in the order of the rows.

    Euclidean distances of dense rows are compared as they are rounded. For other metrics and sparse rows the list is
    scikit-learn's, including its choice among rows at the last distance.
    """
    euclidean = isinstance(metric, str) and (metric in _EUCLIDEAN or (metric == "minkowski" and not metric_params))
    if not euclidean or issparse(rows) or issparse(queries):
        return _by_scikit_learn(rows, queries, k, metric, metric_params, n_jobs)
    rows, queries = (np.asarray(part, dtype=np.float64) for part in (rows, queries))
    if rows.shape[1] <= _TREE_ATTRIBUTES and len(rows) >= _TREE_ROWS:
        return _by_tree(rows, queries, k, n_jobs)
    return _by_table(rows, queries, k, n_jobs)


def _by_scikit_learn(rows: Any, queries: Any, k: int, metric: Any, metric_params: Any, n_jobs: int | None) -> Ints:
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=k, metric=metric, metric_params=metric_params, n_jobs=n_jobs).fit(rows)
    distances, places = search.kneighbors(queries)
    return np.take_along_axis(places, np.lexsort((places, distances), axis=1), axis=1).astype(np.int64)


def _by_tree(rows: Floats, queries: Floats, k: int, n_jobs: int | None) -> Ints:
    tree = cKDTree(rows)
    listed = min(k + _SPARE, len(rows))
    places = np.empty((len(queries), k), dtype=np.int64)
    step = max(_BLOCK // (listed * rows.shape[1]), 1)
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        distances, candidates = tree.query(part, k=np.arange(1, listed + 1), workers=n_jobs or 1)
        # Other rows are no nearer than the last listed one, up to the rounding of a square root and its square.
        edge = distances[:, -1] ** 2 * (1.0 - 1e-12) if listed < len(rows) else np.full(len(part), np.inf)
        places[start : start + step] = _compared(rows, part, candidates, edge, k)
    return places


def _by_table(rows: Floats, queries: Floats, k: int, n_jobs: int | None) -> Ints:
    from sklearn.neighbors import NearestNeighbors

    # Centred, so that data far from 0 do not lose digits.
    centre = rows.mean(axis=0)
    around = rows - centre
    largest = float(np.einsum("nd,nd->n", around, around).max(initial=0.0)) + float((centre**2).sum())
    listed = min(k + _SPARE, len(rows))
    search = NearestNeighbors(n_neighbors=listed, algorithm="brute", n_jobs=n_jobs).fit(around)
    step = max(_BLOCK // (listed * rows.shape[1]), 1)
    places = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), step):
        part = queries[start : start + step]
        shifted = part - centre
        distances, candidates = search.kneighbors(shifted)
        squares = np.einsum("nd,nd->n", shifted, shifted)
        # Maximum rounding error of the distances, including that of the shift.
        doubt = 16.0 * (rows.shape[1] + 4) * np.finfo(np.float64).eps * (squares + largest)
        edge = distances[:, -1] ** 2 - doubt if listed < len(rows) else np.full(len(part), np.inf)
        places[start : start + step] = _compared(rows, part, candidates, edge, k)
    return places


def _compared(rows: Floats, queries: Floats, candidates: Ints, edge: Floats, k: int) -> Ints:
    """The `k` nearest candidates by direct distance.

    A query whose other rows, at least `edge` away, may be as near is searched among all rows.
    """
    candidates = np.sort(candidates, axis=1)
    squares = _squares(queries[:, None, :] - rows[candidates])
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    places: Ints = np.take_along_axis(candidates, order, axis=1)
    last = np.take_along_axis(squares, order[:, -1:], axis=1)[:, 0]
    for query in np.flatnonzero(~(last < edge)):
        places[query] = np.argsort(_squares(queries[query] - rows), kind="stable")[:k]
    return places


def _squares(differences: Floats) -> Floats:
    """Squared lengths along the last axis, summed in one order whatever the shape."""
    total = np.zeros(differences.shape[:-1])
    for attribute in range(differences.shape[-1]):
        total += differences[..., attribute] ** 2
    return total
