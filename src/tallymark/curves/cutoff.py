"""Curves over cut-offs: ROC, precision–recall, DET, gain and lift, predictive ROC, positive trade-off, any metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Masses, Scores
from tallymark.curves.base import Columns, Curve, of_a_tally, with_both_classes
from tallymark.errors import InputError, shown
from tallymark.metrics.declare import cell_settings
from tallymark.metrics.hull import roc_hull
from tallymark.registry import METRICS, PARAMETERS, CellMetric, metric_names
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class CutoffCurve(Curve):
    """Counts at each distinct score in descending order, from which the rates are computed.

    `tp` and `fp` are the counts of the sample. Rates that depend on prevalence are those at the tally's `prevalence`.
    """

    tally: Tally
    thresholds: Scores
    tp: Masses
    fp: Masses

    @property
    def prevalence(self) -> float:
        """Prevalence at which the rates are computed."""
        return self.tally.prevalence

    @property
    def tpr(self) -> Floats:
        """Recall at each cut-off."""
        return self.tp / self.tally.positives

    @property
    def fpr(self) -> Floats:
        """False positive rate at each cut-off."""
        return self.fp / self.tally.negatives

    @property
    def recall(self) -> Floats:
        """Recall at each cut-off."""
        return self.tpr

    @property
    def precision(self) -> Floats:
        """Precision at each cut-off; nan where nothing is predicted positive."""
        down, up = self.tally.scale
        predicted = self.fp.astype(np.float64)
        predicted *= down / up
        predicted += self.tp
        with np.errstate(invalid="ignore"):
            # In place: at ten million cut-offs each further array takes 80 MB.
            return np.divide(self.tp, predicted, out=predicted)

    @property
    def npv(self) -> Floats:
        """Negative predictive value at each cut-off; nan where nothing is predicted negative."""
        down, up = self.tally.scale
        tn = (self.tally.negatives - self.fp) * down
        with np.errstate(invalid="ignore"):
            return tn / (tn + (self.tally.positives - self.tp) * up)

    @property
    def rate(self) -> Floats:
        """Share predicted positive at each cut-off."""
        down, up = self.tally.scale
        return (self.tp * up + self.fp * down) / self.tally.n


@dataclass(frozen=True, eq=False, repr=False)
class RocHull(Curve):
    """Corners of the convex hull of an ROC curve, from (0, 0) to (1, 1)."""

    thresholds: Floats
    fpr: Floats
    tpr: Floats

    @property
    def auc(self) -> float:
        """Area under the hull."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def columns(self) -> Columns:
        """Threshold, fpr, tpr."""
        return {"threshold": self.thresholds, "fpr": self.fpr, "tpr": self.tpr}


@dataclass(frozen=True, eq=False, repr=False)
class PrPath(Curve):
    """A precision–recall curve with the achievable points between its cut-offs."""

    recall: Floats
    precision: Floats


class RocCurve(CutoffCurve):
    """Recall against false positive rate."""

    @property
    def auc(self) -> float:
        """Area under the curve: AUROC."""
        return float(METRICS["auroc"].compute(self.tally))

    def hull(self) -> RocHull:
        """Corners of the convex hull and their thresholds."""
        return RocHull(*roc_hull(self.tally))

    def columns(self) -> Columns:
        """Threshold, fpr, tpr."""
        return {"threshold": self.thresholds, "fpr": self.fpr, "tpr": self.tpr}


class PrCurve(CutoffCurve):
    """Precision against recall. The point where nothing is predicted positive has no precision and is left out."""

    @property
    def auc(self) -> float:
        """Average precision, the step area; :func:`tallymark.metrics.pr_auc` has the other definitions."""
        return float(METRICS["average_precision"].compute(self.tally))

    def columns(self) -> Columns:
        """Threshold, recall, precision."""
        return {"threshold": self.thresholds, "recall": self.recall, "precision": self.precision}

    def interpolated(self, per_gap: int = 10) -> PrPath:
        """The curve with achievable points between its cut-offs (Davis & Goadrich 2006).

        Parameters
        ----------
        per_gap : int
            Points in each segment in which recall grows.

        Returns
        -------
        PrPath
        """
        down, up = self.tally.scale
        tp, fp = np.concatenate(([0.0], self.tp * up)), np.concatenate(([0.0], self.fp * down))
        grows = np.flatnonzero(np.diff(tp) > 0)
        shares = np.linspace(0.0, 1.0, per_gap + 1)
        between_tp, between_fp = (
            (side[grows, None] + np.diff(side)[grows, None] * shares[None, :]).ravel() for side in (tp, fp)
        )
        with np.errstate(invalid="ignore"):
            precision = between_tp / (between_tp + between_fp)
        defined = ~np.isnan(precision)
        return PrPath(between_tp[defined] / (self.tally.positives * up), precision[defined])


class DetCurve(CutoffCurve):
    """Miss rate against false positive rate, plain and on normal deviate scales."""

    @property
    def fnr(self) -> Floats:
        """Miss rate at each cut-off."""
        return 1.0 - self.tpr

    def columns(self) -> Columns:
        """Threshold, fpr, fnr and their normal quantiles."""
        from scipy.special import ndtri

        return {
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "fnr": self.fnr,
            "probit_fpr": ndtri(self.fpr),
            "probit_fnr": ndtri(self.fnr),
        }


class GainCurve(CutoffCurve):
    """Cumulative gain (recall) and lift against the share predicted positive."""

    @property
    def lift(self) -> Floats:
        """Precision over prevalence; nan where nothing is predicted positive."""
        return self.precision / self.prevalence

    @property
    def auc(self) -> float:
        """Area under the gain curve: (1 − p)·AUROC + p/2."""
        p = self.prevalence
        return (1.0 - p) * float(METRICS["auroc"].compute(self.tally)) + p / 2

    def columns(self) -> Columns:
        """Threshold, share predicted positive, gain, lift."""
        return {"threshold": self.thresholds, "rate": self.rate, "gain": self.tpr, "lift": self.lift}


class PredictiveRocCurve(CutoffCurve):
    """Positive predictive value against 1 − negative predictive value, where both exist."""

    def columns(self) -> Columns:
        """Threshold, 1 − NPV, PPV."""
        return {"threshold": self.thresholds, "one_minus_npv": 1.0 - self.npv, "ppv": self.precision}


class PositiveTradeoffCurve(CutoffCurve):
    """Recall against the false discovery rate."""

    def columns(self) -> Columns:
        """Threshold, false discovery rate, recall."""
        return {"threshold": self.thresholds, "fdr": 1.0 - self.precision, "tpr": self.tpr}


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(CutoffCurve):
    """Any metrics of the four cells against the threshold."""

    values: Mapping[str, Floats]

    def __getitem__(self, name: str) -> Floats:
        return self.values[name]

    def columns(self) -> Columns:
        """Threshold and one column per metric."""
        return {"threshold": self.thresholds, **self.values}


@of_a_tally
def roc(tally: Tally) -> RocCurve:
    """ROC curve, from the threshold ``+inf`` (nothing predicted positive) to the lowest score. Fawcett (2006).

    >>> import tallymark as tm
    >>> curve = tm.roc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.auc
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """
    return RocCurve(tally, *tally.cutoffs)


@of_a_tally
def pr(tally: Tally) -> PrCurve:
    """Precision–recall curve, from the highest score to the lowest. Davis & Goadrich (2006).

    >>> import tallymark as tm
    >>> tm.pr(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])).precision.round(4).tolist()
    [1.0, 0.5, 0.6667, 0.5]
    """
    return PrCurve(tally, *(array[1:] for array in tally.cutoffs))


@of_a_tally
def det(tally: Tally) -> DetCurve:
    """Detection error trade-off curve. Martin et al. (1997), Eurospeech.

    >>> import tallymark as tm
    >>> tm.det(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])).fnr.tolist()
    [1.0, 0.5, 0.5, 0.0, 0.0]
    """
    return DetCurve(tally, *tally.cutoffs)


@of_a_tally
def gain(tally: Tally) -> GainCurve:
    """Cumulative gain and lift curves. Witten, Frank & Hall (2011), Data Mining, 3rd ed., ch. 5.

    >>> import tallymark as tm
    >>> tm.gain(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])).lift[1:].round(4).tolist()
    [2.0, 1.0, 1.3333, 1.0]
    """
    return GainCurve(tally, *tally.cutoffs)


@of_a_tally
def predictive_roc(tally: Tally) -> PredictiveRocCurve:
    """Predictive ROC curve. Shiu & Gatsonis (2008), Phil. Trans. R. Soc. A 366(1874).

    >>> import tallymark as tm
    >>> len(tm.predictive_roc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])))
    3
    """
    return PredictiveRocCurve(tally, *(array[1:-1] for array in tally.cutoffs))


@of_a_tally
def positive_tradeoff(tally: Tally) -> PositiveTradeoffCurve:
    """Positive trade-off curve: recall against 1 − precision. O'Reilly & Nielsen (2013), WoSSPA.

    >>> import tallymark as tm
    >>> tm.positive_tradeoff(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])).columns()["fdr"].round(4).tolist()
    [0.0, 0.5, 0.3333, 0.5]
    """
    return PositiveTradeoffCurve(tally, *(array[1:] for array in tally.cutoffs))


def over_thresholds(
    tally: Tally, metrics: Sequence[str] = ("recall", "specificity", "precision", "f1"), **parameters: float
) -> ThresholdCurve:
    """Metrics of the four cells at every cut-off; nan where one is undefined.

    Parameters
    ----------
    tally : Tally
        Labelled scores with rows of both classes.
    metrics : sequence of str
        Metrics of the four cells.
    **parameters
        Parameters of the metrics, such as ``beta=2``.

    Returns
    -------
    ThresholdCurve

    Examples
    --------
    >>> import tallymark as tm
    >>> curve = tm.over_thresholds(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), ["f1", "fbeta"], beta=2)
    >>> curve["f1"].round(4).tolist()
    [0.0, 0.6667, 0.5, 0.8, 0.6667]
    """
    t = with_both_classes(tally, "over_thresholds")
    metrics = metric_names(metrics)
    cut = t.cutoffs
    cells = t.cells(cut.tp, cut.fp)
    unused = set(parameters) - {key for name in metrics for key in METRICS[name].parameters}
    if unused:
        raise InputError(f"None of these metrics has a parameter {shown(unused)}.")
    values = {}
    for name in metrics:
        facts = METRICS[name]
        if not isinstance(facts, CellMetric):
            choices = ", ".join(other for other in METRICS if isinstance(METRICS[other], CellMetric))
            raise InputError(f"{name} is not a metric of the four cells; choose from {choices}.")
        given = {key: value for key, value in parameters.items() if key in facts.parameters}
        settings: dict[str, Any] = cell_settings(facts, given)
        if facts.threshold_parameter is not None and facts.threshold_parameter not in given:
            # Each cut-off that is a probability is judged at the odds of that probability.
            odds = PARAMETERS[facts.threshold_parameter]
            at = cut.thresholds.astype(np.float64)
            probable = (at >= odds.low) & (at <= odds.high) & t.is_probability
            settings[facts.threshold_parameter] = np.where(probable, at, np.nan)
        values[name] = facts.cells(*cells, **settings)
    return ThresholdCurve(t, *cut, values)
