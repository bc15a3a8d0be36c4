"""Charts of results, for a notebook, a report or ``chart.save("x.png")``: each function returns an Altair chart.

PNG, SVG and PDF are drawn without a browser. A chart's module is loaded when the chart is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallymark.charts.audits import audit_counts as audit_counts
    from tallymark.charts.audits import audit_estimate as audit_estimate
    from tallymark.charts.audits import audit_plan as audit_plan
    from tallymark.charts.counts import class_prevalences as class_prevalences
    from tallymark.charts.counts import counts_over_time as counts_over_time
    from tallymark.charts.counts import growth as growth
    from tallymark.charts.counts import prevalences as prevalences
    from tallymark.charts.counts import sensitivity as sensitivity
    from tallymark.charts.curves import det as det
    from tallymark.charts.curves import gain as gain
    from tallymark.charts.curves import positive_tradeoff as positive_tradeoff
    from tallymark.charts.curves import pr as pr
    from tallymark.charts.curves import predictive_roc as predictive_roc
    from tallymark.charts.curves import roc as roc
    from tallymark.charts.error_impact import impact as impact
    from tallymark.charts.error_impact import impact_by_period as impact_by_period
    from tallymark.charts.estimates import by_sample_size as by_sample_size
    from tallymark.charts.estimates import comparison as comparison
    from tallymark.charts.estimates import forest as forest
    from tallymark.charts.estimates import simple_objects as simple_objects
    from tallymark.charts.estimates import size_scatter as size_scatter
    from tallymark.charts.estimates import without_simple as without_simple
    from tallymark.charts.group_metrics import groups as groups
    from tallymark.charts.item_costs import costs as costs
    from tallymark.charts.matrices import class_correlations as class_correlations
    from tallymark.charts.matrices import confusion as confusion
    from tallymark.charts.monitor import watch as watch
    from tallymark.charts.monitor import watch_signals as watch_signals
    from tallymark.charts.operating import brier_curve as brier_curve
    from tallymark.charts.operating import calibration_curve as calibration_curve
    from tallymark.charts.operating import cost_curve as cost_curve
    from tallymark.charts.operating import decision_curve as decision_curve
    from tallymark.charts.operating import over_prevalence as over_prevalence
    from tallymark.charts.operating import over_thresholds as over_thresholds
    from tallymark.charts.plane import class_points as class_points
    from tallymark.charts.prices import index_under_error as index_under_error
    from tallymark.charts.prices import price_index as price_index
    from tallymark.charts.rank_diagram import critical_difference as critical_difference
    from tallymark.charts.rare import class_weight_sweep as class_weight_sweep
    from tallymark.charts.rare import rare_count as rare_count
    from tallymark.charts.rare import rare_counts as rare_counts
    from tallymark.charts.raters import judgement as judgement
    from tallymark.charts.roc_pr_space import pr_space as pr_space
    from tallymark.charts.roc_pr_space import roc_space as roc_space
    from tallymark.charts.scores import mixture_fit as mixture_fit
    from tallymark.charts.scores import score_histogram as score_histogram
    from tallymark.charts.studies import diagonal as diagonal
    from tallymark.charts.studies import errors_by_dataset as errors_by_dataset
    from tallymark.charts.studies import errors_by_prevalence as errors_by_prevalence
    from tallymark.charts.studies import pairwise as pairwise
    from tallymark.charts.studies import study_errors as study_errors
    from tallymark.charts.surfaces import metric_surfaces as metric_surfaces

#: The module of each chart.
_HOMES = {
    "audits": ("audit_counts", "audit_estimate", "audit_plan"),
    "counts": ("class_prevalences", "counts_over_time", "growth", "prevalences", "sensitivity"),
    "curves": ("det", "gain", "positive_tradeoff", "pr", "predictive_roc", "roc"),
    "error_impact": ("impact", "impact_by_period"),
    "estimates": ("by_sample_size", "comparison", "forest", "simple_objects", "size_scatter", "without_simple"),
    "group_metrics": ("groups",),
    "item_costs": ("costs",),
    "matrices": ("class_correlations", "confusion"),
    "monitor": ("watch", "watch_signals"),
    "operating": (
        "brier_curve",
        "calibration_curve",
        "cost_curve",
        "decision_curve",
        "over_prevalence",
        "over_thresholds",
    ),
    "plane": ("class_points",),
    "prices": ("index_under_error", "price_index"),
    "rank_diagram": ("critical_difference",),
    "rare": ("class_weight_sweep", "rare_count", "rare_counts"),
    "raters": ("judgement",),
    "roc_pr_space": ("pr_space", "roc_space"),
    "scores": ("mixture_fit", "score_histogram"),
    "studies": (
        "diagonal",
        "errors_by_dataset",
        "errors_by_prevalence",
        "pairwise",
        "study_errors",
    ),
    "surfaces": ("metric_surfaces",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

#: Modules that define charts.
MODULES = tuple(_HOMES)

__all__ = sorted(_HOME_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tallymark.charts' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tallymark.charts.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
