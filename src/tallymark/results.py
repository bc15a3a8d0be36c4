"""Classes of the results that public functions return, for annotations and ``isinstance``.

Names are loaded when first used; ``results.pyi`` lists them for editors.
"""

from __future__ import annotations

from tallymark._lazy import lazy_names

#: The module of each class.
_HOMES = {
    "audits.changes": ("AuditChange",),
    "audits.class_estimates": ("AuditEstimate", "AuditMatrix", "AuditMeasure"),
    "audits.estimates": ("BinaryAuditEstimate",),
    "audits.latent_class": ("TwoTests",),
    "audits.plan_results": ("AuditPlan",),
    "audits.publishing": ("Publication",),
    "audits.stopping_rule": ("Stopping",),
    "calibration.maps": ("CalibrationMap",),
    "comparison.results": ("Comparison", "Pair"),
    "comparison.of_outcomes": ("OutcomeComparison",),
    "curves.base": ("Curve",),
    "curves.cutoff": (
        "CutoffCurve", "DetCurve", "GainCurve", "PositiveTradeoffCurve", "PrCurve", "PredictiveRocCurve",
        "PrPath", "RocCurve", "RocHull", "ThresholdCurve",
    ),
    "curves.decision": ("DecisionCurve",),
    "curves.histogram": ("ScoreHistogram",),
    "curves.operating": ("BrierCurve", "CalibrationCurve", "CostCurve", "PrevalenceCurve"),
    "decisions.item_costs": ("Costs", "ModelCost"),
    "decisions.roc_space": ("Point", "Space"),
    "inference.by_sample_size": ("BySize",),
    "inference.hypothesis_tests.delong": ("DeLong",),
    "inference.hypothesis_tests.heterogeneity": ("Heterogeneity",),
    "inference.hypothesis_tests.mann_whitney": ("MannWhitney",),
    "inference.interval": ("Interval",),
    "inference.limits.bands": ("Band",),
    "inference.limits.optimism": ("ChosenThreshold",),
    "inference.resampling.bootstrapping": ("Replicates",),
    "inference.sample_size": ("SampleSize",),
    "measures": ("Evaluation", "Evaluations", "Measure"),
    "metrics.probability": ("BrierParts",),
    "metrics.recalibration": ("ScoreParts",),
    "monitor.results": ("Watch", "Watched"),
    "notes": ("Note",),
    "prices.advice": ("Advice",),
    "prices.error_impact": ("ErrorImpact", "Impact"),
    "prices.index_audits": ("IndexAudit",),
    "prices.index_errors": ("IndexUnderError", "MetricsByIndexError"),
    "prices.price_index": ("PriceIndex",),
    "quantify.estimation.bayesian_calibration": ("BayesianCalibration",),
    "quantify.estimation.class_drift": ("ClassDrift",),
    "quantify.estimation.class_prevalences": ("ClassPrevalences",),
    "quantify.estimation.count": ("Count",),
    "quantify.estimation.mixture_test": ("MixtureFit", "MixtureFits"),
    "quantify.estimation.prevalence": ("Prevalence", "Prevalences"),
    "quantify.estimation.sensitivity": ("Sensitivity",),
    "rare.results": ("ClassWeightSweep", "RareCount"),
    "raters.judgements": ("Judgement",),
    "raters.results": ("Agreement", "Coefficient", "Rater", "RaterPair"),
    "simple": ("NoSimple",),
    "sources.filepanel": ("FilePanel",),
    "study.bayesian": ("BayesianTest",),
    "study.method_table": ("MethodTable",),
    "study.outcomes": ("Pairwise", "Ranks", "StudyResults", "StudyTest"),
    "study.protocols": ("Protocol",),
    "study.rank_tests": ("TestResult",),
    "summaries.class_panel": ("ClassPanel",),
    "summaries.class_scores": ("ClassScores",),
    "summaries.confusion": ("BinaryConfusion", "Confusion"),
    "summaries.moments": ("Moments",),
    "summaries.outcomes": ("Outcomes",),
    "summaries.panel": ("Panel",),
    "summaries.tallies": ("Tallies",),
    "summaries.tally": ("Tally",),
    "thresholds": ("ThresholdTable",),
}  # fmt: skip

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
