"""Pictures: each function takes a result and gives an Altair chart, for a notebook, the report, or ``chart.save("x.png")``.

PNG, SVG and PDF are drawn without a browser. Every chart has a ``theme``, ``"light"`` or ``"dark"``.
"""

from tallymark.charts.audits import audit_estimate as audit_estimate
from tallymark.charts.audits import audit_plan as audit_plan
from tallymark.charts.counts import class_prevalences as class_prevalences
from tallymark.charts.counts import counts_over_time as counts_over_time
from tallymark.charts.counts import growth as growth
from tallymark.charts.counts import prevalences as prevalences
from tallymark.charts.counts import sensitivity as sensitivity
from tallymark.charts.curves import det as det
from tallymark.charts.curves import gain as gain
from tallymark.charts.curves import pr as pr
from tallymark.charts.curves import roc as roc
from tallymark.charts.error_impact import impact as impact
from tallymark.charts.error_impact import impact_by_period as impact_by_period
from tallymark.charts.estimates import by_sample_size as by_sample_size
from tallymark.charts.estimates import comparison as comparison
from tallymark.charts.estimates import forest as forest
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
from tallymark.charts.prices import index_under_error as index_under_error
from tallymark.charts.prices import price_index as price_index
from tallymark.charts.rare import class_weight_sweep as class_weight_sweep
from tallymark.charts.rare import rare_count as rare_count
from tallymark.charts.roc_space import pr_space as pr_space
from tallymark.charts.roc_space import roc_space as roc_space
from tallymark.charts.scores import mixture_fit as mixture_fit
from tallymark.charts.scores import score_histogram as score_histogram
from tallymark.charts.studies import critical_difference as critical_difference
from tallymark.charts.studies import diagonal as diagonal
from tallymark.charts.studies import errors_by_dataset as errors_by_dataset
from tallymark.charts.studies import errors_by_prevalence as errors_by_prevalence
from tallymark.charts.studies import pairwise as pairwise
from tallymark.charts.studies import study_errors as study_errors

__all__ = [
    "audit_estimate",
    "audit_plan",
    "brier_curve",
    "by_sample_size",
    "calibration_curve",
    "class_correlations",
    "class_prevalences",
    "class_weight_sweep",
    "comparison",
    "confusion",
    "cost_curve",
    "costs",
    "counts_over_time",
    "critical_difference",
    "decision_curve",
    "det",
    "diagonal",
    "errors_by_dataset",
    "errors_by_prevalence",
    "forest",
    "gain",
    "groups",
    "growth",
    "impact",
    "impact_by_period",
    "index_under_error",
    "mixture_fit",
    "over_prevalence",
    "over_thresholds",
    "pairwise",
    "pr",
    "pr_space",
    "prevalences",
    "price_index",
    "rare_count",
    "roc",
    "roc_space",
    "score_histogram",
    "sensitivity",
    "size_scatter",
    "study_errors",
    "watch",
    "watch_signals",
    "without_simple",
]
