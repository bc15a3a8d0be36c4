# Classes of results. Made by tests/stubs.py, held true by tests/test_public.py.

from tallymark.audits.estimates import AuditEstimate as AuditEstimate
from tallymark.audits.plans import AuditPlan as AuditPlan
from tallymark.calibration.maps import CalibrationMap as CalibrationMap
from tallymark.comparison.results import Comparison as Comparison
from tallymark.comparison.results import Pair as Pair
from tallymark.curves.base import Curve as Curve
from tallymark.curves.cutoff import CutoffCurve as CutoffCurve
from tallymark.curves.cutoff import DetCurve as DetCurve
from tallymark.curves.cutoff import GainCurve as GainCurve
from tallymark.curves.cutoff import PositiveTradeoffCurve as PositiveTradeoffCurve
from tallymark.curves.cutoff import PrCurve as PrCurve
from tallymark.curves.cutoff import PredictiveRocCurve as PredictiveRocCurve
from tallymark.curves.cutoff import PrPath as PrPath
from tallymark.curves.cutoff import RocCurve as RocCurve
from tallymark.curves.cutoff import RocHull as RocHull
from tallymark.curves.cutoff import ThresholdCurve as ThresholdCurve
from tallymark.curves.decision import DecisionCurve as DecisionCurve
from tallymark.curves.histogram import ScoreHistogram as ScoreHistogram
from tallymark.curves.operating import BrierCurve as BrierCurve
from tallymark.curves.operating import CalibrationCurve as CalibrationCurve
from tallymark.curves.operating import CostCurve as CostCurve
from tallymark.curves.operating import PrevalenceCurve as PrevalenceCurve
from tallymark.decisions.item_costs import Costs as Costs
from tallymark.decisions.item_costs import ModelCost as ModelCost
from tallymark.decisions.roc_space import Point as Point
from tallymark.decisions.roc_space import Space as Space
from tallymark.inference.by_sample_size import BySize as BySize
from tallymark.inference.hypothesis_tests.delong import DeLong as DeLong
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity as Heterogeneity
from tallymark.inference.hypothesis_tests.mann_whitney import MannWhitney as MannWhitney
from tallymark.inference.interval import Interval as Interval
from tallymark.inference.limits.bands import Band as Band
from tallymark.inference.limits.optimism import ChosenThreshold as ChosenThreshold
from tallymark.inference.resampling.bootstrapping import Replicates as Replicates
from tallymark.inference.sample_size import SampleSize as SampleSize
from tallymark.measures import Evaluation as Evaluation
from tallymark.measures import Evaluations as Evaluations
from tallymark.measures import Measure as Measure
from tallymark.metrics.probability import BrierParts as BrierParts
from tallymark.metrics.recalibration import ScoreParts as ScoreParts
from tallymark.monitor.results import Watch as Watch
from tallymark.monitor.results import Watched as Watched
from tallymark.notes import Note as Note
from tallymark.prices.advice import Advice as Advice
from tallymark.prices.error_impact import ErrorImpact as ErrorImpact
from tallymark.prices.error_impact import Impact as Impact
from tallymark.prices.index_audits import IndexAudit as IndexAudit
from tallymark.prices.index_errors import IndexUnderError as IndexUnderError
from tallymark.prices.index_errors import MetricsByIndexError as MetricsByIndexError
from tallymark.prices.price_index import PriceIndex as PriceIndex
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration as BayesianCalibration
from tallymark.quantify.estimation.class_drift import ClassDrift as ClassDrift
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences as ClassPrevalences
from tallymark.quantify.estimation.mixture_test import MixtureFit as MixtureFit
from tallymark.quantify.estimation.mixture_test import MixtureFits as MixtureFits
from tallymark.quantify.estimation.prevalence import Prevalence as Prevalence
from tallymark.quantify.estimation.prevalence import Prevalences as Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity as Sensitivity
from tallymark.rare.results import ClassWeightSweep as ClassWeightSweep
from tallymark.rare.results import RareCount as RareCount
from tallymark.simple import NoSimple as NoSimple
from tallymark.sources.filepanel import FilePanel as FilePanel
from tallymark.study.bayesian import BayesianTest as BayesianTest
from tallymark.study.method_table import MethodTable as MethodTable
from tallymark.study.outcomes import Pairwise as Pairwise
from tallymark.study.outcomes import Ranks as Ranks
from tallymark.study.outcomes import StudyResults as StudyResults
from tallymark.study.outcomes import StudyTest as StudyTest
from tallymark.study.protocols import Protocol as Protocol
from tallymark.study.rank_tests import TestResult as TestResult
from tallymark.summaries.class_panel import ClassPanel as ClassPanel
from tallymark.summaries.class_scores import ClassScores as ClassScores
from tallymark.summaries.confusion import BinaryConfusion as BinaryConfusion
from tallymark.summaries.confusion import Confusion as Confusion
from tallymark.summaries.moments import Moments as Moments
from tallymark.summaries.panel import Panel as Panel
from tallymark.summaries.tallies import Tallies as Tallies
from tallymark.summaries.tally import Tally as Tally
from tallymark.thresholds import ThresholdTable as ThresholdTable

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
    "Curve",
    "CutoffCurve",
    "DeLong",
    "DecisionCurve",
    "DetCurve",
    "ErrorImpact",
    "Evaluation",
    "Evaluations",
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
]
