"""Metrics of K-class confusion matrices: without averaging, and averaged over one-vs-rest classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats, Label
from tallymark.errors import InputError, Undefined, shown
from tallymark.metrics.margins import WEIGHTED, Margins
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion


@dataclass(frozen=True)
class ClassMetric:
    """A metric of a K-class matrix: the metric, how it is averaged over classes (None: not at all), its meaning."""

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
    "f1_of_weighted_means": ClassMetric(
        "f1", "f_of_weighted_means", "F1 of the means of precision and recall by class size (the ONS's weighted F1)."
    ),
    "f1_micro": ClassMetric("f1", "micro", "With one label a row this is accuracy, and moves with class sizes."),
    "precision_weighted": ClassMetric("precision", "weighted", "Mean of the classes' precisions, by class size."),
    "recall_weighted": ClassMetric(
        "recall", "weighted", "Mean of the classes' recalls, by class size: accuracy again."
    ),
    "f1_weighted": ClassMetric("f1", "weighted", "Mean of the classes' F1, by class size."),
}

#: Metrics of each class against the rest.
PER_CLASS = ("precision", "recall", "f1", "specificity")

#: Reasons why a binary metric is undefined, reworded for one class of several.
_REASON_OF_CLASS = {
    "nothing was classified positive": "no row was predicted as it",
    "nothing was classified negative": "every row was predicted as it",
    "there are no positives": "it has no rows",
    "there are no negatives": "all rows are of it",
}


def require_consistent(average: str | None, weights: object, classes: object) -> None:
    """Refuse options of an average that was not chosen."""
    if weights is not None and average not in WEIGHTED:
        raise InputError(f"weights= goes with average={' or '.join(map(repr, WEIGHTED))}.")
    if classes is not None and average is None:
        raise InputError("classes= says which classes to average over; give average= too.")


def class_shares(
    confusion: Confusion, average: str, weights: Mapping[Label, float] | None, classes: Sequence[Label] | None
) -> dict[Label, float]:
    """Weights of the classes in an average, adding up to 1: equal, by class size, or as given."""
    chosen = confusion.labels if classes is None else confusion.known(classes)
    if weights is not None:
        if not isinstance(weights, Mapping):
            raise InputError("weights= is a mapping from class to weight, such as {'bread': 0.4, 'milk': 0.6}.")
        missing = [label for label in chosen if label not in weights]
        if missing:
            raise InputError(f"weights= lacks the classes {shown(missing)}; give one number per class.")
        sizes = [float(weights[label]) for label in chosen]
        if min(sizes) < 0 or not math.isfinite(sum(sizes)) or sum(sizes) <= 0:
            raise InputError("weights= must be 0 or more and not all 0.")
    else:
        truth = dict(zip(confusion.labels, confusion.seen.sum(axis=1), strict=True))
        sizes = [float(truth[label]) if average in WEIGHTED else 1.0 for label in chosen]
        if not sum(sizes) > 0.0:
            raise Undefined("the classes have no rows")
    return {label: size / sum(sizes) for label, size in zip(chosen, sizes, strict=True)}


def mean_over_classes(
    name: str, confusion: Confusion, shares: Mapping[Label, float], value: Callable[[Confusion], float]
) -> float:
    """The weighted mean of a metric over classes, each against the rest."""
    total, undefined = 0.0, []
    for label, share in shares.items():
        try:
            total += share * value(confusion.one_vs_rest(label)) if share else 0.0
        except Undefined as error:
            undefined.append((label, error.reason))
    if undefined:
        names = shown([label for label, _ in undefined])
        reason = undefined[0][1].partition(": ")[2]
        raise Undefined(
            f"{name}: undefined for class {names} ({_REASON_OF_CLASS.get(reason, reason)}); "
            f"classes= averages over the others"
        )
    return total


def f_of_means(name: str, confusion: Confusion, shares: Mapping[Label, float], beta: float) -> float:
    """The F-measure of averaged precision and averaged recall."""
    precision, recall = (
        mean_over_classes(part, confusion, shares, METRICS[part].compute) for part in ("precision", "recall")
    )
    square = beta**2
    if square * precision + recall == 0.0:
        raise Undefined(f"{name}: averaged precision and recall are both 0")
    return (1.0 + square) * precision * recall / (square * precision + recall)


def without_averaging(name: str, confusion: Confusion, values: Callable[[Margins], Floats]) -> float:
    """A metric defined for K classes without averaging, of one matrix."""
    if not confusion.n:
        raise Undefined(f"{name}: there are no rows")
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(values(Margins.of(confusion.matrix[None]))[0])
    if math.isnan(value):
        empty = [label for label, rows in zip(confusion.labels, confusion.truth.tolist(), strict=True) if not rows]
        sides = [np.count_nonzero(side) for side in (confusion.truth, confusion.predicted)]
        if min(sides) < 2:
            raise Undefined(f"{name}: all rows have one class, or were all given one class")
        raise Undefined(f"{name}: there is no row of class {shown(empty)}; classes= averages over the others")
    return value
