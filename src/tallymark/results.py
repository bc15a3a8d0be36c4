"""What public functions return, importable from one place for annotations and ``isinstance``."""

from tallymark.audits.estimates import AuditEstimate
from tallymark.audits.plans import AuditPlan
from tallymark.calibration.maps import CalibrationMap
from tallymark.comparison.results import Comparison, Pair
from tallymark.curves.base import Curve
from tallymark.curves.cutoff import (
    CutoffCurve,
    DetCurve,
    GainCurve,
    PositiveTradeoffCurve,
    PrCurve,
    PredictiveRocCurve,
    PrPath,
    RocCurve,
    RocHull,
    ThresholdCurve,
)
from tallymark.curves.decision import DecisionCurve
from tallymark.curves.histogram import ScoreHistogram
from tallymark.curves.operating import BrierCurve, CalibrationCurve, CostCurve, PrevalenceCurve
from tallymark.decisions.item_costs import Costs, ModelCost
from tallymark.decisions.roc_space import Point, Space
from tallymark.inference.by_sample_size import BySize
from tallymark.inference.hypothesis_tests.delong import DeLong
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity
from tallymark.inference.hypothesis_tests.mann_whitney import MannWhitney
from tallymark.inference.interval import Interval
from tallymark.inference.limits.bands import Band
from tallymark.inference.limits.optimism import ChosenThreshold
from tallymark.inference.resampling.bootstrapping import Replicates
from tallymark.inference.sample_size import SampleSize
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics.probability import BrierParts
from tallymark.metrics.recalibration import ScoreParts
from tallymark.monitor.results import Watch, Watched
from tallymark.notes import Note
from tallymark.prices.advice import Advice
from tallymark.prices.error_impact import ErrorImpact, Impact
from tallymark.prices.index_audits import IndexAudit
from tallymark.prices.index_errors import IndexUnderError, MetricsByIndexError
from tallymark.prices.price_index import PriceIndex
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration
from tallymark.quantify.estimation.class_drift import ClassDrift
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.count import Count
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.simple import FileNoSimple, NoSimple, WithoutSimple
from tallymark.sources.filepanel import FilePanel
from tallymark.study.bayesian import BayesianTest
from tallymark.study.method_table import MethodTable
from tallymark.study.outcomes import Pairwise, Ranks, StudyResults, StudyTest
from tallymark.study.protocols import Protocol
from tallymark.study.rank_tests import TestResult
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally
from tallymark.thresholds import ThresholdTable

__all__ = [
    "Advice",
    "AuditEstimate",
    "AuditPlan",
    "Band",
    "BayesianCalibration",
    "BayesianTest",
    "BinaryConfusion",
    "BrierCurve",
    "BrierParts",
    "BySize",
    "CalibrationCurve",
    "CalibrationMap",
    "ChosenThreshold",
    "ClassDrift",
    "ClassPanel",
    "ClassPrevalences",
    "ClassScores",
    "ClassWeightSweep",
    "Comparison",
    "Confusion",
    "CostCurve",
    "Costs",
    "Count",
    "Curve",
    "CutoffCurve",
    "DeLong",
    "DecisionCurve",
    "DetCurve",
    "ErrorImpact",
    "Evaluation",
    "Evaluations",
    "FileNoSimple",
    "FilePanel",
    "GainCurve",
    "Heterogeneity",
    "Impact",
    "IndexAudit",
    "IndexUnderError",
    "Interval",
    "MannWhitney",
    "Measure",
    "MethodTable",
    "MetricsByIndexError",
    "MixtureFit",
    "MixtureFits",
    "ModelCost",
    "Moments",
    "NoSimple",
    "Note",
    "Pair",
    "Pairwise",
    "Panel",
    "Point",
    "PositiveTradeoffCurve",
    "PrCurve",
    "PrPath",
    "PredictiveRocCurve",
    "Prevalence",
    "PrevalenceCurve",
    "Prevalences",
    "PriceIndex",
    "Protocol",
    "Ranks",
    "RareCount",
    "Replicates",
    "RocCurve",
    "RocHull",
    "SampleSize",
    "ScoreHistogram",
    "ScoreParts",
    "Sensitivity",
    "Space",
    "StudyResults",
    "StudyTest",
    "Tallies",
    "Tally",
    "TestResult",
    "ThresholdCurve",
    "ThresholdTable",
    "Watch",
    "Watched",
    "WithoutSimple",
]
