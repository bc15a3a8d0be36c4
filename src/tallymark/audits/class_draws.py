r"""Draws of the hits, misses and calls of each class in an audit of K classes, from which limits are quantiles.

Every sampling unit (a checked row, or a cluster of them) gets a random exponential weight, less variable the more of
the rows like it were checked: :math:`w_i(1 + \sqrt{1 - \pi_i}(e_i - 1))`. For each class two pseudo-rows are added in
every draw, one predicted as the class and one that is not, each in a cell chosen in proportion to what a row stands
for there, and of that class at random (see :mod:`tallymark.audits.draws`). The weights are the same for all classes
and metrics, so that their limits do not contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from tallymark._check import Bools, Floats, Ints
from tallymark.audits.class_sample import ClassSample
from tallymark.audits.draws import CHUNK, DRAWS, FEWEST, NUMBERS, OUTWARDS, SEED, Draws
from tallymark.inference.scales import normal_quantile

#: Variance of the weight of a cluster whose rows are known.
_KNOWN = 1e-12


@dataclass(frozen=True)
class ClassDraws:
    """Draws of the rows of a class that are predicted so (`hits`) and are not (`missed`), and of all predicted so."""

    hits: Draws
    missed: Draws
    called: Floats


class AuditDraws:
    """Random weights of the checked rows of a sample, summed by cell, predicted and true class."""

    def __init__(self, sample: ClassSample, level: float) -> None:
        self.sample = sample
        self._level = level
        predicted = np.zeros_like(sample.truth) if sample.predicted is None else sample.predicted
        kinds, self._kind = np.unique(
            np.column_stack((sample.cell, predicted, sample.truth)), axis=0, return_inverse=True
        )
        self._kind = self._kind.ravel()
        self.cell, self.predicted, self.truth = kinds.T
        # Rows of one kind that stand for as much are drawn together, as a gamma weight.
        self._alike = not sample.clustered and all(
            np.ptp(part[rows]) <= 1e-9 * part[rows].max()
            for rows in _members(self._kind, len(kinds))
            for part in (sample.weight, sample.unchecked)
        )
        numbers = len(kinds) + len(sample.sizes) if self._alike else len(sample.unit)
        self.number = int(np.clip(NUMBERS // max(numbers, 1), FEWEST, DRAWS))
        self._rng = np.random.default_rng(SEED)
        self.weights = self._by_gamma() if self._alike else self._by_unit()
        self.totals = self.weights @ self._indicator(np.ones(len(kinds), np.bool_))

    def _indicator(self, kept: Bools) -> Floats:
        """Which kinds of rows belong to which cell."""
        matrix = np.zeros((len(self.cell), len(self.sample.sizes)))
        matrix[kept, self.cell[kept]] = 1.0
        return matrix

    def _by_gamma(self) -> Floats:
        number = np.bincount(self._kind).astype(np.float64)
        weight, unchecked = (
            np.bincount(self._kind, part) / number for part in (self.sample.weight, self.sample.unchecked)
        )
        draws = self._rng.gamma(number, size=(self.number, len(number)))
        return np.asarray(weight * (number + np.sqrt(unchecked) * (draws - number)))

    def _by_unit(self) -> Floats:
        sample = self.sample
        units, unit = np.unique(sample.unit, return_inverse=True)
        if sample.clustered:
            return self._by_cluster(units, unit.ravel())
        spread = sample.weight * np.sqrt(sample.unchecked)
        of_unit, fixed = np.zeros((len(units), len(self.cell))), np.bincount(self._kind, sample.weight - spread)
        np.add.at(of_unit, (unit.ravel(), self._kind), spread)
        draws = np.empty((self.number, len(self.cell)))
        for start in range(0, self.number, step := max(CHUNK // len(units), 1)):
            rows = min(step, self.number - start)
            draws[start : start + rows] = self._rng.exponential(size=(rows, len(units))) @ of_unit + fixed
        return draws

    def _by_cluster(self, units: Ints, unit: Ints) -> Floats:
        """Gamma weights of mean 1 of whole clusters, with the variance that few clusters of a stratum call for."""
        sample = self.sample
        first = np.unique(unit, return_index=True)[1]
        stratum = sample.stratum[first]
        strata, codes = np.unique(stratum, return_inverse=True)
        number = np.bincount(codes).astype(np.float64)[codes]
        unchecked = np.bincount(unit, sample.unchecked) / np.bincount(unit)
        # The tails of Student's distribution, and the variance of a mean of n weights with n - 1.
        freedom = max(len(units) - len(strata), 1)
        student = float(stdtrit(freedom, 0.5 + self._level / 2.0)) / normal_quantile(0.5 + self._level / 2.0)
        variance = unchecked * student**2 * (number + 1.0) / np.maximum(number - 1.0, 1.0)
        shape = 1.0 / np.maximum(variance, _KNOWN)
        of_unit = np.zeros((len(units), len(self.cell)))
        np.add.at(of_unit, (unit, self._kind), sample.weight)
        draws = np.empty((self.number, len(self.cell)))
        for start in range(0, self.number, step := max(CHUNK // len(units), 1)):
            rows = min(step, self.number - start)
            draws[start : start + rows] = self._rng.gamma(shape, 1.0 / shape, size=(rows, len(units))) @ of_unit
        return draws

    def of_class(self, code: int) -> ClassDraws:
        """Draws of one class against all others."""
        sample, positive = self.sample, self.truth == code
        called = np.zeros(len(positive), np.bool_) if sample.predicted is None else self.predicted == code
        cells = [sample.cells_of(code, predicted=predicted) for predicted in (True, False)]
        return self._drawn(called, positive, cells)

    def of_right(self) -> Draws:
        """Draws of the rows that are predicted as what they are."""
        none, cells = np.zeros(len(self.cell), np.bool_), np.ones(len(self.sample.sizes), np.bool_)
        return self._drawn(none, self.predicted == self.truth, [~cells, cells]).missed

    def _drawn(self, called: Bools, positive: Bools, cells: Sequence[Bools]) -> ClassDraws:
        # The same random numbers for every class, so that classes that were found alike have the same limits.
        rng = np.random.default_rng(SEED)
        rows = np.arange(self.number)
        extras = np.zeros_like(self.totals)
        pseudo = []
        for part in cells:
            cell, weight, coin = self._pseudo_rows(part, rng)
            extras[rows, cell] += weight
            pseudo.append((cell, weight, coin))
        totals = self.totals + extras
        scale = np.divide(self.sample.sizes, totals, out=np.zeros_like(totals), where=totals > 0.0)
        hits, missed = (
            self._between(positive & part, scale, pseudo[place]) for place, part in enumerate((called, ~called))
        )
        cell, weight, _ = pseudo[0]
        predicted = (scale * (self.weights @ self._indicator(called))).sum(axis=1) + scale[rows, cell] * weight
        return ClassDraws(hits, missed, predicted)

    def _pseudo_rows(self, cells: Bools, rng: np.random.Generator) -> tuple[Ints, Floats, Floats]:
        """The cell of a pseudo-row in every draw, its weight, and the coin that decides on its class."""
        among = np.where(cells, self.sample.unknown, 0.0)
        place, mass, coin = rng.random(self.number), rng.exponential(size=self.number), rng.random(self.number)
        if not among.any():
            return np.zeros(self.number, np.int64), np.zeros(self.number), coin
        cell = np.searchsorted(np.cumsum(among) / among.sum(), place, side="right").clip(max=len(among) - 1)
        return cell, mass * self.sample.unknown[cell], coin

    def _between(self, kinds: Bools, scale: Floats, pseudo: tuple[Ints, Floats, Floats]) -> Draws:
        """Estimated worth of some kinds of rows, for the lower and for the upper limit."""
        cell, weight, coin = pseudo
        estimate = (scale * (self.weights @ self._indicator(kinds))).sum(axis=1)
        more = scale[np.arange(self.number), cell] * weight
        least = float(self.sample.worth @ kinds[self._kind])
        lower, upper = (np.maximum(estimate + more * (coin < chance), least) for chance in (1.0 - OUTWARDS, OUTWARDS))
        return Draws(lower, upper)


def _members(codes: Ints, number: int) -> Iterator[Ints]:
    """The places of each code."""
    order = np.argsort(codes, kind="stable")
    yield from np.split(order, np.cumsum(np.bincount(codes, minlength=number))[:-1])
