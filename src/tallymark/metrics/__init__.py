"""Each metric a pure function of a summary, declared once with its facts.

``tm.metrics.auroc(tally)`` gives a plain float; :data:`tallymark.registry.METRICS` holds every metric by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallymark.metrics.at_k import lift_at_k, precision_at_k, recall_at_k
from tallymark.metrics.correlation import d_a, d_b, d_b_normal, d_e, kendall, spcc, spearman
from tallymark.metrics.cost import aucc, h_measure
from tallymark.metrics.count_errors import bias, positive_estimate, positive_sd
from tallymark.metrics.multiclass import (
    auroc_ovo,
    auroc_ovr,
    auroc_ovr_weighted,
    brier_multiclass,
    ece_classwise,
    ece_top_label,
    log_loss_multiclass,
    spcc_one_vs_one,
    spcc_one_vs_rest,
    spcc_ovo_fisher,
    spcc_ovo_geometric,
    spcc_ovo_min,
    spcc_ovr_fisher,
    spcc_ovr_geometric,
    spcc_ovr_min,
)
from tallymark.metrics.partial import partial_auc
from tallymark.metrics.precision_recall import average_precision, partial_average_precision, pr_auc
from tallymark.metrics.probability import ace, brier, brier_skill, ece, log_loss, log_loss_skill
from tallymark.metrics.ranking import auroc, gini, hull_auc, ks
from tallymark.metrics.recalibration import calibration_intercept, calibration_slope, integrated_calibration_index
from tallymark.metrics.threshold import (
    accuracy,
    balanced_accuracy,
    d_prime,
    diagnostic_odds_ratio,
    error,
    expected_cost,
    f1,
    false_omission_rate,
    fbeta,
    fdr,
    fnr,
    fpr,
    g_measure,
    geometric_mean,
    informedness,
    jaccard,
    kappa,
    label_bias,
    lr_minus,
    lr_plus,
    markedness,
    mcc,
    net_benefit,
    npv,
    precision,
    predicted_prevalence,
    prevalence,
    prevalence_threshold,
    recall,
    specificity,
)
from tallymark.registry import METRICS

# The field's other words for the same thing, as the registry has them.
auc = roc_auc = auroc
ap = average_precision
ba = balanced_accuracy
bss = brier_skill
dor = diagnostic_odds_ratio
gm = geometric_mean
h = h_measure
auch = hull_auc
j = youden = informedness
ici = integrated_calibration_index
csi = jaccard
kendall_tau_b = kendall
mcfadden_r2 = log_loss_skill
pauc = partial_auc
pap = partial_average_precision
ppv = precision
sensitivity = tpr = recall
spearman_rho = spearman
tnr = specificity

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """A metric of the user's own."""
        if name in METRICS.own:
            return METRICS[name].function
        raise AttributeError(f"module 'tallymark.metrics' has no attribute {name!r}")


__all__ = [
    "accuracy", "ace", "ap", "auc", "aucc", "auch", "auroc", "auroc_ovo", "auroc_ovr", "auroc_ovr_weighted",
    "average_precision", "ba", "balanced_accuracy", "bias", "brier", "brier_multiclass", "brier_skill", "bss",
    "calibration_intercept", "calibration_slope", "csi", "d_a", "d_b", "d_b_normal", "d_e", "d_prime",
    "diagnostic_odds_ratio", "dor", "ece", "ece_classwise", "ece_top_label", "error", "expected_cost", "f1",
    "false_omission_rate", "fbeta", "fdr", "fnr", "fpr", "g_measure", "geometric_mean", "gini", "gm", "h",
    "h_measure", "hull_auc", "ici", "informedness", "integrated_calibration_index", "j", "jaccard", "kappa",
    "kendall", "kendall_tau_b", "ks", "label_bias", "lift_at_k", "log_loss", "log_loss_multiclass",
    "log_loss_skill", "lr_minus", "lr_plus", "markedness", "mcc", "mcfadden_r2", "net_benefit", "npv", "pap",
    "partial_auc", "partial_average_precision", "pauc", "positive_estimate", "positive_sd", "ppv", "pr_auc",
    "precision", "precision_at_k", "predicted_prevalence", "prevalence", "prevalence_threshold", "recall",
    "recall_at_k", "roc_auc", "sensitivity", "spcc", "spcc_one_vs_one", "spcc_one_vs_rest", "spcc_ovo_fisher",
    "spcc_ovo_geometric", "spcc_ovo_min", "spcc_ovr_fisher", "spcc_ovr_geometric", "spcc_ovr_min", "spearman",
    "spearman_rho", "specificity", "tnr", "tpr", "youden",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*__all__, *METRICS.own})
