"""What a K-class confusion matrix is described by: metrics as they stand, and metrics of each class averaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ClassMetric:
    """A metric of a K-class matrix: which one, how it is averaged over the classes (None: as it stands), what it means."""

    metric: str
    average: str | None
    meaning: str


#: Metrics of a K-class matrix, by name.
CLASS_METRICS: Mapping[str, ClassMetric] = {
    "accuracy": ClassMetric("accuracy", None, "Share of rows classified correctly; large classes decide it."),
    "error": ClassMetric("error", None, "Share of rows classified wrongly; large classes decide it."),
    "balanced_accuracy": ClassMetric(
        "balanced_accuracy", None, "Mean of the classes' recalls, every class alike; 1/K for any constant answer."
    ),
    "kappa": ClassMetric("kappa", None, "Agreement beyond what the same class sizes would agree by chance."),
    "mcc": ClassMetric("mcc", None, "Correlation of truth and prediction over all classes (R_K)."),
    "precision_macro": ClassMetric("precision", "macro", "Mean of the classes' precisions, every class alike."),
    "recall_macro": ClassMetric(
        "recall", "macro", "Mean of the classes' recalls, every class alike; does not move with class sizes."
    ),
    "f1_macro": ClassMetric("f1", "mean_of_f", "Mean of the classes' F1 (scikit-learn's macro F1)."),
    "f1_of_macro_means": ClassMetric(
        "f1", "f_of_means", "F1 of macro precision and macro recall (the ONS's macro F1)."
    ),
    "f1_micro": ClassMetric("f1", "micro", "With one label a row this is accuracy, and moves with class sizes."),
    "precision_weighted": ClassMetric("precision", "weighted", "Mean of the classes' precisions, by class size."),
    "recall_weighted": ClassMetric(
        "recall", "weighted", "Mean of the classes' recalls, by class size: accuracy again."
    ),
    "f1_weighted": ClassMetric("f1", "weighted", "Mean of the classes' F1, by class size."),
}

#: What each class is described by, against the rest.
PER_CLASS = ("precision", "recall", "f1", "specificity")
