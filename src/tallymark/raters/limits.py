"""Limits of coefficients of agreement: a bootstrap of the items with a pseudo-item.

Every draw weighs the items by independent gamma variables of mean 1 (the Bayesian bootstrap of Rubin 1981, Ann. Stat.
9(1), has exponential ones) and adds one item more, rated at random. Without it, raters who agree on every item, or on
every item of a rare class, would have limits of no width. ``bench/agreement_coverage.py`` compares these limits with
others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.raters.coefficients import Patterns

#: Number of draws, fewer where there are very many patterns; numbers drawn in all; numbers in one block of draws.
_DRAWS, _FEWEST_DRAWS, _NUMBERS, _BLOCK = 2_000, 500, 60_000_000, 4_000_000
#: Share of the pseudo-items on which raters differ.
_APART = 0.5
#: The weights have the variance 1 + 4/n: that of the mean of n rows is estimated, and Student's limits are wider than
#: normal ones by a factor of about 1 + 1.2/n.
_WIDER = 4.0
#: Most patterns that pseudo-items are drawn from.
_PSEUDO_PATTERNS = 400
_SEED = 20_140_901


class ItemDraws:
    """Draws of pattern weights.

    Parameters
    ----------
    patterns
        The patterns.
    members
        Items of each pattern in each cluster (a sparse matrix, a row per cluster); None where items are independent.
    """

    def __init__(self, patterns: Patterns, members: Any = None) -> None:
        self._rng = np.random.default_rng(_SEED)
        self._pseudo = pseudo_items(len(patterns.classes), _raters_of(patterns), self._rng)
        self._mass, self._members = patterns.mass, members
        #: The patterns, those of pseudo-items last.
        self.patterns = patterns.with_pseudo_items(self._pseudo)

    def blocks(self) -> Iterator[Floats]:
        """Weights of the patterns with those of pseudo-items, a row per draw, in blocks that fit into memory."""
        size = max(len(self.patterns.mass), 0 if self._members is None else self._members.shape[0])
        draws = int(np.clip(_NUMBERS // size, _FEWEST_DRAWS, _DRAWS))
        step = max(1, _BLOCK // size)
        for start in range(0, draws, step):
            yield self._block(min(step, draws - start))

    def _block(self, draws: int) -> Floats:
        weights = np.zeros((draws, len(self.patterns.mass)))
        items = len(self._mass)
        n = self._mass.sum() if self._members is None else float(self._members.shape[0])
        shape = n / (n + _WIDER)
        if self._members is None:
            # A sum of m gamma variables is a gamma variable of m times the shape.
            weights[:, :items] = self._rng.standard_gamma(self._mass * shape, (draws, items)) / shape
        else:
            weights[:, :items] = self._rng.standard_gamma(shape, (draws, int(n))) / shape @ self._members
        chosen = items + self._rng.integers(len(self._pseudo), size=draws)
        weights[np.arange(draws), chosen] = self._mass.sum() / n * self._rng.standard_gamma(shape, draws) / shape
        return weights

    def drawn(self, statistic: Callable[[Floats], Floats]) -> Floats:
        """A statistic, of several columns, of every draw."""
        return np.concatenate([statistic(block) for block in self.blocks()])

    @staticmethod
    def limits(drawn: Floats, values: Floats, level: float) -> tuple[Floats, Floats]:
        """Quantiles of what was drawn, of each column; its value is within them."""
        tail = (1.0 - level) / 2
        with warnings.catch_warnings():
            # A coefficient that no draw defines has no limits.
            warnings.simplefilter("ignore", RuntimeWarning)
            low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
        return np.minimum(low, values), np.maximum(high, values)


def _raters_of(patterns: Patterns) -> int:
    """Ratings of a pseudo-item: one of every rater, or as many as an item has at most."""
    return patterns.n_raters or int(patterns.ratings.max())


def pseudo_items(classes: int, raters: int, rng: np.random.Generator) -> Ints:
    """Ratings of items whose raters all give one class, or of whom at most half give one other; a row per item."""
    size = _PSEUDO_PATTERNS
    codes = np.repeat(np.arange(size)[:, None] % classes, raters, axis=1)
    if classes == 1:
        return codes
    apart = rng.permutation(size) < _APART * size
    other = (codes[:, 0] + rng.integers(1, classes, size)) % classes
    others = rng.integers(1, raters // 2 + 1, size)
    place = np.argsort(rng.random((size, raters)), axis=1)
    return np.where(apart[:, None] & (place < others[:, None]), other[:, None], codes)
