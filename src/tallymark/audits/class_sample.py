r"""Stratified estimates of a confusion matrix of K classes from checked rows, with linearised standard errors.

The estimated share (or area) of rows predicted as class c whose true class is k is :math:`\hat P_{ck} = \sum w_i`
over the checked rows of that kind, with weights that add up to the size of each cell of rows whose number is known.
Counts, precision (user's accuracy), recall (producer's accuracy), F1 and accuracy are functions of that matrix; their
variances follow by Taylor linearisation, as in R's survey package. Stehman (2014), Int. J. Remote Sens. 35(13);
Olofsson et al. (2014), Remote Sens. Environ. 148; Särndal, Swensson & Wretman (1992).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tallymark._check import Bools, Floats, Ints, Label


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Checked rows: true and predicted class, what each stands for, and where it was drawn from.

    A *cell* is a set of rows whose size is known: a stratum, or the rows of a stratum with one predicted class. In
    each cell the weights of the checked rows add up to its size.
    """

    classes: tuple[Label, ...]
    truth: Ints
    #: Code of the predicted class, -1 for a prediction that is none of the classes; None without predictions.
    predicted: Ints | None
    #: Code of the cell of each checked row; sizes and names are in the order of the codes.
    cell: Ints
    sizes: Floats
    names: tuple[str, ...]
    #: Code of the stratum the row was drawn from, and of its sampling unit: the row itself, or a cluster of rows.
    stratum: Ints
    unit: Ints
    #: What a row is worth (1 where rows are counted), its worth over its inclusion probability, and the share of rows
    #: like it that were not checked (the finite population correction; 1 where the population is large).
    worth: Floats
    mass: Floats
    unchecked: Floats
    #: All rows by cell and predicted class; None where only the checked ones are known.
    predicted_rows: Floats | None = None
    #: Standard error of the count of each class, where the size of the cells is an estimate too.
    count_errors: Floats | None = None

    def cells_of(self, code: int, *, predicted: bool) -> Bools:
        """The cells with rows that are predicted as a class, or (False) as another; all where that is not known."""
        number = len(self.sizes)
        if self.predicted is None:
            return np.full(number, not predicted)
        if self.predicted_rows is not None:
            of_class = self.predicted_rows[:, code]
            return np.asarray((of_class if predicted else self.predicted_rows.sum(axis=1) - of_class) > 0.0)
        cells = np.bincount(self.cell[(self.predicted == code) == predicted], minlength=number) > 0
        return cells if cells.any() or self.has_called_sizes else np.ones(number, np.bool_)

    @cached_property
    def weight(self) -> Floats:
        """What each checked row stands for: its mass, scaled to the size of its cell."""
        totals = np.bincount(self.cell, self.mass, len(self.sizes))
        scale = np.divide(self.sizes, totals, out=np.zeros(len(totals)), where=totals > 0.0)
        return np.asarray(self.mass * scale[self.cell])

    @property
    def size(self) -> float:
        """All rows, or their worth."""
        return float(self.sizes.sum())

    @cached_property
    def unknown(self) -> Floats:
        """Of each cell, what one of its checked rows stands for besides itself; 0 where every row was checked."""
        left = self.weight * self.unchecked
        totals, squares = (np.bincount(self.cell, part, len(self.sizes)) for part in (left, left**2))
        return np.divide(squares, totals, out=np.zeros(len(totals)), where=totals > 0.0)

    @property
    def clustered(self) -> bool:
        """Whether sampling units have several rows."""
        return len(np.unique(self.unit)) < len(self.unit)

    @property
    def has_called_sizes(self) -> bool:
        """Whether every cell holds rows of a single predicted class, so that the number of each prediction is known."""
        if self.predicted is None:
            return False
        pairs = np.unique(np.column_stack((self.cell, self.predicted)), axis=0)
        return len(pairs) == len(np.unique(self.cell))

    def matrix(self) -> Floats:
        """Estimated worth of the rows by predicted class (rows) and true class (columns)."""
        classes = len(self.classes)
        if self.predicted is None:
            raise TypeError("a sample without predictions has no matrix")
        known = self.predicted >= 0
        places = self.predicted[known] * classes + self.truth[known]
        return np.bincount(places, self.weight[known], classes**2).astype(np.float64).reshape(classes, classes)

    def total(self, values: Floats | Bools) -> float:
        """Estimated sum of a value over all rows."""
        return float(self.weight @ values)

    def standard_error(self, values: Floats | Bools) -> float:
        """Standard error of that sum; nan where a stratum has a single sampling unit and was not checked completely.

        The values are centred within cells (post-stratification) and their totals by sampling unit within strata.
        """
        return math.sqrt(max(self.covariance(values, values), 0.0)) if len(values) else math.nan

    def covariance(self, first: Floats | Bools, second: Floats | Bools) -> float:
        """Covariance of two estimated sums."""
        stratum, unit = self._units
        unchecked = np.bincount(unit, self.unchecked) / np.bincount(unit)
        number = np.bincount(stratum, minlength=int(stratum.max()) + 1)[stratum]
        ones, others = (self._deviations(values, unit, stratum) for values in (first, second))
        if ((number < 2) & (unchecked > 0.0)).any():
            return math.nan
        factor = np.divide(number, number - 1, out=np.zeros(len(number)), where=number > 1)
        return float((factor * unchecked * ones) @ others)

    @cached_property
    def _units(self) -> tuple[Ints, Ints]:
        """The stratum of each sampling unit, and the unit of each checked row."""
        pairs, unit = np.unique(np.column_stack((self.stratum, self.unit)), axis=0, return_inverse=True)
        return pairs[:, 0], unit.ravel()

    def _deviations(self, values: Floats | Bools, unit: Ints, stratum: Ints) -> Floats:
        values = np.asarray(values, dtype=np.float64)
        totals, weights = (
            np.bincount(self.cell, part, len(self.sizes)) for part in (self.weight * values, self.weight)
        )
        means = np.divide(totals, weights, out=np.zeros(len(totals)), where=weights > 0.0)
        sums = np.bincount(unit, self.weight * (values - means[self.cell]))
        return sums - (np.bincount(stratum, sums) / np.maximum(np.bincount(stratum), 1))[stratum]


def ratio(sample: ClassSample, over: Bools, under: Floats | Bools) -> tuple[float, Floats]:
    """A ratio of two estimated sums, and its linearised values, whose estimated sum has the ratio's variance."""
    whole = sample.total(under)
    if not whole > 0.0:
        return math.nan, np.zeros(0)
    value = sample.total(over) / whole
    return value, (np.asarray(over, np.float64) - value * np.asarray(under, np.float64)) / whole


def class_metrics(sample: ClassSample, code: int) -> Mapping[str, tuple[float, Floats]]:
    """Precision, recall and F1 of one class, each with its linearised values."""
    if sample.predicted is None:
        return {}
    called, true = sample.predicted == code, sample.truth == code
    hits = called & true
    return {
        "precision": ratio(sample, hits, called),
        "recall": ratio(sample, hits, true),
        "f1": ratio(sample, hits, (called.astype(np.float64) + true) / 2.0),
    }
