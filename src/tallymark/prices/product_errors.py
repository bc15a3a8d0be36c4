"""Which products a classifier gets wrong: at random, by price, by what a real classifier says of them, and together or apart.

Errors belong to products, not to lines: a product that is misclassified stays so, in every period. Drawn line by line they would wash out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats, Ints
from tallymark.errors import InputError
from tallymark.registry import METRICS

#: Points of the isoline of a metric, and shares between which the two rates are looked for.
_POINTS, _FINE = 201, 4_001

#: Steps in which the common factor of chances is found.
_HALVINGS = 60


@dataclass(frozen=True)
class ProductErrors:
    """Which products belong to the class, how prone each is to be taken wrongly, and which of them share their fate.

    `prone` are relative; errors fall on products in proportion to them, up to certainty. `fate` numbers groups of products (of one
    text, say) that are classified together. With `called`, the share of each product's lines that a real classifier called positive, no
    rates are drawn at all: each product is called with that probability.
    """

    positive: Bools
    prone: Floats
    fate: Ints
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
        chance[:, self.positive] = 1.0 - self._wrong(1.0 - tpr, self.prone[self.positive])
        chance[:, ~self.positive] = self._wrong(1.0 - tnr, self.prone[~self.positive])
        return self._decided(chance, rng)

    @staticmethod
    def _wrong(rate: Floats, prone: Floats) -> Floats:
        """Chances of an error in proportion to how prone a product is, none above 1, that make up the rate on average."""
        if not len(prone):
            return np.zeros((len(rate), 0))
        if np.ptp(prone) == 0.0:
            return np.repeat(rate[:, None], len(prone), axis=1)
        low, high = np.zeros(len(rate)), np.full(len(rate), 1.0 / max(float(prone.min()), 1e-12))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            over = np.minimum(middle[:, None] * prone[None, :], 1.0).mean(axis=1) > rate
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return np.minimum(high[:, None] * prone[None, :], 1.0)

    def _decided(self, chance: Floats, rng: np.random.Generator) -> Floats:
        # One number, and one chance, for all products that share their fate.
        number = np.bincount(self.fate)
        if number.max() > 1:
            chance = np.stack([np.bincount(self.fate, line) / number for line in chance])[:, self.fate]
        luck = rng.random((len(chance), int(self.fate.max()) + 1))[:, self.fate]
        return (luck < chance).astype(np.float64)


def isoline(metric: str, level: float, positives: int, negatives: int) -> tuple[Floats, Floats]:
    """Pairs (tpr, tnr) at which a metric has a value, evenly spaced by tpr; none where it is never reached."""
    facts = METRICS[metric]
    fine = np.linspace(0.0, 1.0, _FINE)
    if (free := _recall_alone(metric, level, positives, negatives)) is not None:
        # A metric that does not look at negatives leaves the specificity free.
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
            return np.asarray(facts.cells(tp, fp, positives - tp, negatives - fp, **facts.parameters))  # type: ignore[misc]

    one, other = at(fine, 0.25), at(fine, 0.75)
    if not np.allclose(one, other, equal_nan=True) or not one.min() <= level <= one.max():
        return None
    return float(np.interp(level, one, fine))
