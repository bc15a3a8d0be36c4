"""Tallymark: metrics of classifiers and counts of classes, with confidence intervals.

Names are loaded when first used, so that ``import tallymark`` stays light; ``__init__.pyi`` lists them for editors.
"""

from __future__ import annotations

from tallymark._lazy import lazy_names
from tallymark._version import __version__ as __version__

#: The module of each public name.
_HOMES = {
    "evaluation.against": ("not_worse",),
    "comparison.compare": ("compare",),
    "comparison.results": ("Comparison",),
    "curves": (
        "brier_curve", "calibration_curve", "cost_curve", "decision_curve", "det", "gain", "over_prevalence",
        "over_thresholds", "positive_tradeoff", "pr", "predictive_roc", "roc", "score_histogram",
    ),
    "prices.advice": ("advise",),
    "errors": ("GuardError", "InputError", "TallymarkError", "Undefined", "UndefinedWarning"),
    "evaluation.evaluate": ("evaluate",),
    "inference.by_sample_size": ("by_sample_size",),
    "inference.hypothesis_tests.mann_whitney": ("mann_whitney",),
    "inference.sample_size": ("sample_size",),
    "metrics.bounds": ("bound",),
    "metrics.probability": ("brier_parts",),
    "metrics.recalibration": ("score_parts",),
    "notes": ("GuardWarning", "Note"),
    "profiling.look": ("look",),
    "reporting.pages": ("report",),
    "measures": ("Evaluation", "Evaluations", "Measure"),
    "simple": ("without_simple",),
    "sources.data_file": ("data_file",),
    "sources.constructors": ("class_panel", "class_scores", "confusion", "load", "moments", "panel", "tally"),
    "sources.filepanel": ("scan_panel",),
    "sources.outcomes": ("outcomes",),
    "sources.scan": ("scan",),
    "summaries.confusion": ("Confusion",),
    "summaries.moments": ("Moments",),
    "summaries.class_panel": ("ClassPanel",),
    "summaries.class_scores": ("ClassScores",),
    "summaries.outcomes": ("Outcomes",),
    "summaries.panel": ("Panel",),
    "summaries.tallies": ("Tallies",),
    "summaries.tally": ("Tally",),
    "thresholds": ("compare_thresholds",),
}  # fmt: skip
_MODULES = (
    "audits", "calibration", "charts", "decisions", "extend", "intervals", "learners", "metrics", "monitor", "prices",
    "quantify", "rare", "raters", "results", "scorers", "study",
)  # fmt: skip

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES, _MODULES)
