"""Clusters (cells) of K-class scores by weighted k-means."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats, Ints
from tallymark._rounding import first_largest
from tallymark.inference.interval import Seed
from tallymark.inference.resampling.parallel import seeds

#: Cells for each class: the cube root of the smallest class's rows, within these.
_FEWEST, _MOST = 2.0, 6.0

#: Rows that are enough to place the centres, and rounds after which these hardly move.
_ROWS, _ROUNDS = 20_000, 30

#: Squared distances that differ by less, in units of the scores, differ by rounding.
_TIE = 1e-12

#: Distances computed at a time.
_HELD = 4_000_000


class ScoreCells:
    """Centres of cells among labelled rows, every class weighing the same; a row belongs to the nearest centre.

    Probabilities are compared by their square roots, other scores in units of their spread. Labels only weigh the rows:
    cells made to tell the classes apart would count the labels twice.
    """

    def __init__(
        self, scores: Floats, codes: Ints, weight: Floats, classes: int, number: int | None = None, seed: Seed = 0
    ) -> None:
        self._probabilities = bool(scores.min() >= 0.0 and scores.max() <= 1.0)
        self._spread = np.where(scores.std(axis=0) > 0.0, scores.std(axis=0), 1.0)
        mass = np.bincount(codes, weight, classes)
        rows = float(np.bincount(codes, minlength=classes).min())
        if number is None:
            number = round(classes * min(max(rows ** (1.0 / 3.0), _FEWEST), _MOST))
        rng = np.random.default_rng(seeds(seed, 1)[0])
        # Sorted, so that the same rows in another order give the same cells.
        kept = np.lexsort((weight, codes, *scores.T))
        if len(kept) > _ROWS:
            kept = kept[np.sort(rng.choice(len(kept), _ROWS, replace=False))]
        x, w = self._placed(scores[kept]), (weight / mass[codes])[kept]
        self._centres = _centres(x, w, number, rng)

    def __len__(self) -> int:
        return len(self._centres)

    def _placed(self, scores: Floats) -> Floats:
        return np.sqrt(np.clip(scores, 0.0, None)) if self._probabilities else scores / self._spread

    def of(self, scores: Floats) -> Ints:
        """The cell of each row."""
        x = self._placed(scores)
        step = max(1, _HELD // len(self._centres))
        return np.concatenate([_nearest(x[i : i + step], self._centres) for i in range(0, len(x), step)])


def _nearest(x: Floats, centres: Floats) -> Ints:
    """The nearest centre to each row; the first of those that are equally near up to rounding."""
    return first_largest(2.0 * np.einsum("nk,ck->nc", x, centres) - (centres**2).sum(axis=1), _TIE)


def _centres(x: Floats, weight: Floats, number: int, rng: np.random.Generator) -> Floats:
    """Weighted k-means: centres spread out at random (Arthur & Vassilvitskii 2007), then moved to their
    cells' means.
    """
    distinct = np.unique(x, axis=0)
    if len(distinct) <= number:
        return distinct
    centres = x[[rng.choice(len(x), p=weight / weight.sum())]]
    far = ((x - centres[0]) ** 2).sum(axis=1)
    while len(centres) < number and (weight * far).sum() > 0.0:
        pull = weight * far
        centres = np.vstack((centres, x[rng.choice(len(x), p=pull / pull.sum())]))
        far = np.minimum(far, ((x - centres[-1]) ** 2).sum(axis=1))
    for _ in range(_ROUNDS):
        cell = _nearest(x, centres)
        mass = np.bincount(cell, weight, len(centres))
        sums = np.stack([np.bincount(cell, weight * column, len(centres)) for column in x.T], axis=1)
        moved = np.where(mass[:, None] > 0.0, sums / np.where(mass > 0.0, mass, 1.0)[:, None], centres)
        if np.abs(moved - centres).max() < 1e-6:
            return moved
        centres = moved
    return centres
