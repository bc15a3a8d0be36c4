"""Headline metrics: which metrics tables, charts and reports show first, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping

#: The table of an evaluation.
TABLE = (
    "auroc", "average_precision", "h_measure", "spcc",
    "accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1", "mcc",
    "brier", "ece", "bias", "positive_estimate", "predicted_prevalence",
)  # fmt: skip

#: The forest plot beside that table.
FOREST = ("auroc", "average_precision", "recall", "precision", "f1", "mcc", "balanced_accuracy")

#: The sliders of a report, which move the threshold.
SLIDERS = ("recall", "precision", "f1", "mcc", "specificity", "balanced_accuracy", "expected_cost", "net_benefit")

#: The first screen of a report, the leading metric first: where costs are stated, positives are rare, or neither.
LEADING: Mapping[str, tuple[str, ...]] = {
    "costs": ("expected_cost", "precision", "recall", "auroc"),
    "rare": ("average_precision", "precision", "recall", "auroc"),
    "common": ("auroc", "precision", "recall", "balanced_accuracy"),
}

#: Metrics of rankings by which models are compared beside the leading metric.
RANKING = ("auroc", "average_precision")

#: The first screen of a report on predicted classes.
CLASSES = ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "precision", "recall")

#: A line for each group: of scores, of predictions of two classes, of predictions of more classes.
BY_GROUP = ("auroc", "average_precision", "f1")
PREDICTIONS_BY_GROUP = ("precision", "recall", "f1")
CLASSES_BY_GROUP = ("accuracy", "f1_macro", "mcc")

#: Metrics expected in a target without labels.
EXPECTED = ("precision", "npv", "recall", "f1", "accuracy", "predicted_prevalence")
