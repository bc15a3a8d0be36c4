"""Curves over operating conditions: cost curve, Brier curve, calibration curve, metrics over prevalences."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tallymark import _check
from tallymark._check import Floats
from tallymark.curves.base import Columns, Curve, of_a_tally
from tallymark.errors import InputError, Undefined, UndefinedWarning
from tallymark.metrics.cost import cost_envelope
from tallymark.metrics.declare import require_probabilities
from tallymark.metrics.hull import roc_hull
from tallymark.metrics.probability import BINS, Binning, calibration_bins
from tallymark.registry import METRICS, metric_names
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """Normalised expected cost at the optimal threshold, against the probability-cost.

    `probability_cost` is the positives' share of the maximum expected cost, from prevalence and costs.
    """

    probability_cost: Floats
    cost: Floats

    @property
    def auc(self) -> float:
        """Area under the lower envelope."""
        return float(np.trapezoid(self.cost, self.probability_cost))


@of_a_tally
def cost_curve(tally: Tally) -> CostCurve:
    """Lower envelope of the cost curve. Drummond & Holte (2006), Mach. Learn. 65(1).

    >>> import tallymark as tm
    >>> curve = tm.cost_curve(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> curve.probability_cost.tolist(), curve.cost.tolist()
    ([0.0, 0.0, 0.5, 1.0, 1.0], [0.0, 0.0, 0.25, 0.0, 0.0])
    """
    hull = roc_hull(tally)
    return CostCurve(*cost_envelope(hull.fpr, hull.tpr))


@dataclass(frozen=True, eq=False, repr=False)
class BrierCurve(Curve):
    """Loss against the cost share c when the threshold is set to c; two points at each jump.

    The area is the Brier score.
    """

    cost_share: Floats
    loss: Floats

    @property
    def auc(self) -> float:
        """Area under the curve: the Brier score."""
        return float(np.trapezoid(self.loss, self.cost_share))


@of_a_tally
def brier_curve(tally: Tally) -> BrierCurve:
    r"""Loss :math:`2[c\,\pi_0\,\mathrm{fpr}(c) + (1-c)\,\pi_1\,\mathrm{fnr}(c)]` with c as threshold and share of cost.

    Hernández-Orallo, Flach & Ferri (2011), ICML.

    >>> import tallymark as tm
    >>> t = tm.tally([0, 1, 1], [0.5, 0.5, 1.0])
    >>> abs(tm.brier_curve(t).auc - tm.metrics.brier(t)) < 1e-12
    True
    """
    require_probabilities("brier_curve", tally)
    cut, p = tally.cutoffs, tally.prevalence
    fpr, fnr = (cut.fp / tally.negatives)[::-1], (1.0 - cut.tp / tally.positives)[::-1]
    # A row is positive at thresholds up to and including its score, so rates change just above it.
    edges = np.concatenate(([0.0], cut.thresholds[:0:-1], [1.0])).astype(np.float64)
    begin, end = edges[:-1], edges[1:]
    c = np.stack((begin, end), axis=1).ravel()
    fpr, fnr = np.repeat(fpr, 2), np.repeat(fnr, 2)
    return BrierCurve(c, 2.0 * (c * (1.0 - p) * fpr + (1.0 - c) * p * fnr))


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationCurve(Curve):
    """Observed share of positives against the mean stated probability, for bins with any rows."""

    mean_score: Floats
    observed: Floats
    mass: Floats


@of_a_tally
def calibration_curve(tally: Tally, *, bins: int = BINS, by: Binning = "mass") -> CalibrationCurve:
    """Calibration (reliability) curve over bins. Niculescu-Mizil & Caruana (2005), ICML.

    Parameters
    ----------
    tally : Tally
        Labelled probabilities with rows of both classes.
    bins : int
        Number of bins.
    by : {"mass", "width"}
        Bins of equal mass or of equal width.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.calibration_curve(tm.tally([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])).observed.tolist()
    [0.5, 0.5]
    """
    require_probabilities("calibration_curve", tally)
    binned = calibration_bins(tally, bins, by)
    return CalibrationCurve(binned.mean_score, binned.observed, binned.mass)


@dataclass(frozen=True, eq=False, repr=False)
class PrevalenceCurve(Curve):
    """Metrics of the same data against the prevalence."""

    prevalence: Floats
    values: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.values[name]

    def columns(self) -> Columns:
        """Prevalence and one column per metric."""
        return {"prevalence": self.prevalence, **self.values}


def over_prevalence(data: Tally | Confusion, metrics: Sequence[str], prevalences: ArrayLike) -> PrevalenceCurve:
    """Metrics at other prevalences, with recall and false positive rate unchanged.

    Parameters
    ----------
    data : Tally or Confusion
        Scores or cells; recall and false positive rate are kept.
    metrics : sequence of str
        Names of metrics.
    prevalences : array-like
        Prevalences.

    Returns
    -------
    PrevalenceCurve

    Examples
    --------
    >>> import tallymark as tm
    >>> c = tm.Confusion.of_cells(tp=231, fp=32, fn=27, tn=54)
    >>> tm.over_prevalence(c, ["precision", "npv"], [0.25, 0.75])["precision"].round(4).tolist()
    [0.4451, 0.8783]
    """
    if not isinstance(data, Tally | Confusion):
        raise InputError(f"over_prevalence takes a Tally or a Confusion, got {type(data).__name__}.")
    metrics = metric_names(metrics)
    grid = np.array([_check.probability(value, "prevalences") for value in _check.listed(prevalences)])
    values: dict[str, Floats] = {}
    for name in metrics:
        points = []
        for prevalence in grid:
            try:
                points.append(METRICS[name].compute(data.at_prevalence(float(prevalence))))
            except Undefined as error:
                warnings.warn(UndefinedWarning(error.reason), stacklevel=2)
                points.append(np.nan)
        values[name] = np.array(points)
    return PrevalenceCurve(grid, values)
