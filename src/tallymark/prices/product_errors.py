"""Simulated misclassification of products: at random, by price, or by a classifier's scores; alone or in clusters.

Errors belong to products, not to lines: a product that is misclassified stays so, in every period. Drawn line by line
they would cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats, Ints
from tallymark.errors import InputError
from tallymark.registry import METRICS

#: Points of the isoline of a metric, and of the grid of specificities on which each is searched.
_POINTS, _FINE = 201, 4_001

#: Bisections for the common factor of the error probabilities.
_HALVINGS = 60


@dataclass(frozen=True)
class ProductErrors:
    """Class, error propensity and cluster of each product.

    Error probabilities are proportional to `propensity`, up to 1. `cluster` numbers groups of products (of one text,
    say) that are classified together. With `called`, the share of each product's lines that a real classifier predicted
    positive, no rates are drawn: each product is predicted positive with that probability.
    """

    positive: Bools
    propensity: Floats
    cluster: Ints
    called: Floats | None = None

    def drawn(self, metric: str, level: float, draws: int, rng: np.random.Generator) -> Floats:
        """Sets of products classified positive, one a line, each by rates on the metric's isoline."""
        if self.called is not None:
            return self._decided(np.broadcast_to(self.called, (draws, len(self.called))), rng)
        tprs, tnrs = isoline(metric, level, int(self.positive.sum()), int((~self.positive).sum()))
        if not len(tprs):
            raise InputError(
                f"No pair of error rates gives {metric} = {level:g} on these products; choose another level."
            )
        place = rng.integers(len(tprs), size=draws)
        return self.at_rates(tprs[place], tnrs[place], rng)

    def at_rates(self, tpr: Floats, tnr: Floats, rng: np.random.Generator) -> Floats:
        """Sets of products at given rates, one pair a line."""
        chance = np.empty((len(tpr), len(self.positive)))
        chance[:, self.positive] = 1.0 - self._wrong(1.0 - tpr, self.propensity[self.positive])
        chance[:, ~self.positive] = self._wrong(1.0 - tnr, self.propensity[~self.positive])
        return self._decided(chance, rng)

    @staticmethod
    def _wrong(rate: Floats, propensity: Floats) -> Floats:
        """Error probabilities proportional to the propensities, none above 1, whose mean is the rate."""
        if not len(propensity):
            return np.zeros((len(rate), 0))
        if np.ptp(propensity) == 0.0:
            return np.repeat(rate[:, None], len(propensity), axis=1)
        low, high = np.zeros(len(rate)), np.full(len(rate), 1.0 / max(float(propensity.min()), 1e-12))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            over = np.minimum(middle[:, None] * propensity[None, :], 1.0).mean(axis=1) > rate
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return np.minimum(high[:, None] * propensity[None, :], 1.0)

    def _decided(self, chance: Floats, rng: np.random.Generator) -> Floats:
        """Sets of products predicted positive, given each one's probability."""
        # One random number and one probability for all products of a cluster.
        number = np.bincount(self.cluster)
        if number.max() > 1:
            chance = np.stack([np.bincount(self.cluster, line) / number for line in chance])[:, self.cluster]
        uniform = rng.random((len(chance), int(self.cluster.max()) + 1))[:, self.cluster]
        return (uniform < chance).astype(np.float64)


def isoline(metric: str, level: float, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Pairs (tpr, tnr) at which a metric has a value, evenly spaced by tpr; none where it never has."""
    facts = METRICS[metric]
    fine = np.linspace(0.0, 1.0, _FINE)
    if (free := _recall_alone(metric, level, positives, negatives)) is not None:
        # A metric of the positives alone leaves the specificity free.
        return np.full(_POINTS, free), np.linspace(0.0, 1.0, _POINTS)
    tprs, tnrs = [], []
    for tpr in np.linspace(0.0, 1.0, _POINTS):
        tp, fp = tpr * positives, (1.0 - fine) * negatives
        with np.errstate(divide="ignore", invalid="ignore"):
            values = facts.cells(
                np.full(_FINE, tp), fp, np.full(_FINE, positives - tp), negatives - fp, **facts.parameters
            )  # type: ignore[misc]
        # The least specificity that reaches the level; better ones are on a higher isoline.
        reached = np.flatnonzero(values >= level - 1e-12)
        exact = len(reached) and (reached[0] > 0 or abs(values[0] - level) < 1e-3)
        if exact:
            tprs.append(tpr)
            tnrs.append(fine[reached[0]])
    return np.array(tprs), np.array(tnrs)


def _recall_alone(metric: str, level: float, positives: int, negatives: int) -> float | None:
    """The recall at which a metric that depends on nothing else has a value; None for all other metrics."""
    facts = METRICS[metric]
    fine = np.linspace(0.0, 1.0, _FINE)

    def at(tpr: Floats, tnr: float) -> Floats:
        tp, fp = tpr * positives, np.full(len(tpr), (1.0 - tnr) * negatives)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = facts.cells(tp, fp, positives - tp, negatives - fp, **facts.parameters)  # type: ignore[misc]
        return np.asarray(values)

    one, other = at(fine, 0.25), at(fine, 0.75)
    if not np.allclose(one, other, equal_nan=True) or not one.min() <= level <= one.max():
        return None
    return float(np.interp(level, one, fine))
