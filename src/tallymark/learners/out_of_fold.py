"""Leave-one-out and out-of-fold predictions of nearest neighbours, from one search for every k, alpha and fold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.learners.nearest import nearest
from tallymark.learners.votes import vote_ranks, winners

#: Margin of listed neighbours over their expected number outside a fold, in standard deviations.
_SPREAD = 4.0


def stratified_folds(codes: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """A fold for each row, each class spread evenly over them."""
    fold = np.empty(len(codes), dtype=np.int64)
    start = 0
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        fold[rows] = (start + np.arange(len(rows))) % folds
        start += len(rows)
    return fold


class Neighbourhood:
    """Lists of each row's nearest other rows, long enough for the largest `k` outside of any of `folds` folds."""

    def __init__(
        self,
        rows: Any,
        codes: Ints,
        k: int,
        folds: int,
        *,
        metric: Any = "euclidean",
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rows, self.codes, self.k = rows, codes, k
        self.classes = int(codes.max()) + 1
        self._search: dict[str, Any] = {"metric": metric, "metric_params": metric_params, "n_jobs": n_jobs}
        outside = 1.0 - 1.0 / folds
        listed = math.ceil(k / outside + _SPREAD * math.sqrt(k * (1.0 - outside)) / outside)
        listed = min(listed, len(codes) - 1)
        places = nearest(rows, rows, listed + 1, **self._search)
        # The row itself is removed by its number; among duplicates it may not be in the list.
        itself = places == np.arange(len(codes))[:, None]
        itself[~itself.any(axis=1), -1] = True
        self.places = places[~itself].reshape(len(codes), listed)

    def left_out(self, ks: Sequence[int], alphas: Sequence[float | None]) -> Iterator[tuple[int, float | None, Ints]]:
        """Predictions of each row by all the others, for every k and alpha."""
        sizes = np.bincount(self.codes, minlength=self.classes)
        # Without the row its class is one smaller: one set of sizes for the rows of each class.
        reduced = sizes - np.eye(self.classes, dtype=np.int64)
        return self._predicted(self.codes[self.places], self.codes, reduced, ks, alphas)

    def in_folds(
        self, fold: Ints, ks: Sequence[int], alphas: Sequence[float | None]
    ) -> Iterator[tuple[int, float | None, Ints]]:
        """Predictions of each row by the rows of other folds, for every k and alpha."""
        folds = int(fold.max()) + 1
        table = np.zeros((folds, self.classes), dtype=np.int64)
        np.add.at(table, (fold, self.codes), 1)
        return self._predicted(self._lists(fold), fold, table.sum(axis=0) - table, ks, alphas)

    def _lists(self, fold: Ints) -> Ints:
        """Classes of the nearest k rows of other folds."""
        others = fold[self.places] != fold[:, None]
        order = np.argsort(~others, axis=1, kind="stable")[:, : self.k]
        lists: Ints = self.codes[np.take_along_axis(self.places, order, axis=1)]
        # Rows with too many neighbours in the same fold are searched again.
        short = others.sum(axis=1) < self.k
        for one in np.unique(fold[short]):
            inside, outside = np.flatnonzero(short & (fold == one)), np.flatnonzero(fold != one)
            listed = min(self.k, len(outside))
            places = nearest(self.rows[outside], self.rows[inside], listed, **self._search)
            lists[inside[:, None], np.arange(listed)] = self.codes[outside[places]]
        return lists

    def _predicted(
        self, lists: Ints, group: Ints, sizes: Ints, ks: Sequence[int], alphas: Sequence[float | None]
    ) -> Iterator[tuple[int, float | None, Ints]]:
        counts = np.zeros((len(lists), self.classes), dtype=np.int64)
        rows = np.arange(len(lists))[:, None]
        counted = 0
        for k in sorted(ks):
            fresh = lists[:, counted:k]
            np.add.at(counts, (np.broadcast_to(rows, fresh.shape), fresh), 1)
            counted = k
            for alpha in alphas:
                predicted = np.empty(len(lists), dtype=np.int64)
                for one, rest in enumerate(sizes):
                    members = group == one
                    predicted[members] = winners(vote_ranks(rest, k, alpha), counts[members])
                yield k, alpha, predicted


def geometric_mean_of_recalls(codes: Ints, predicted: Ints, classes: int) -> float:
    """The geometric mean of the classes' recalls; of two classes √(tpr · tnr)."""
    hits = np.bincount(codes[codes == predicted], minlength=classes)
    recalls: Floats = hits / np.bincount(codes, minlength=classes)
    return float(np.prod(recalls ** (1.0 / classes)))
