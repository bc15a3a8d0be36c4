"""Curves: arrays of equal length with names."""

from tallymark.curves.base import Curve
from tallymark.curves.cutoff import (
    DetCurve,
    GainCurve,
    PositiveTradeoffCurve,
    PrCurve,
    PredictiveRocCurve,
    RocCurve,
    ThresholdCurve,
    det,
    gain,
    over_thresholds,
    positive_tradeoff,
    pr,
    predictive_roc,
    roc,
)
from tallymark.curves.decision import DecisionCurve, decision_curve
from tallymark.curves.histogram import ScoreHistogram, score_histogram
from tallymark.curves.operating import (
    BrierCurve,
    CalibrationCurve,
    CostCurve,
    PrevalenceCurve,
    brier_curve,
    calibration_curve,
    cost_curve,
    over_prevalence,
)

__all__ = [
    "BrierCurve", "CalibrationCurve", "CostCurve", "Curve", "DecisionCurve", "DetCurve", "GainCurve",
    "PositiveTradeoffCurve", "PrCurve", "PredictiveRocCurve", "PrevalenceCurve", "RocCurve", "ScoreHistogram",
    "ThresholdCurve", "brier_curve", "calibration_curve", "cost_curve", "decision_curve", "det", "gain",
    "over_prevalence", "over_thresholds", "positive_tradeoff", "pr", "predictive_roc", "roc", "score_histogram",
]  # fmt: skip
