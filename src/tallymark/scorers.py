"""Every metric as a scikit-learn scorer, made from the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tallymark._check import Label
from tallymark.errors import InputError, Undefined
from tallymark.registry import METRICS
from tallymark.sources.doors import class_scores, moments, tally_of_arrays


def scorer(
    name: str, *, threshold: float | str = 0.5, pos_label: Label | None = None, **options: Any
) -> Callable[..., float]:
    """A metric for ``cross_val_score``, ``GridSearchCV`` and the like: ``scoring=tm.scorers.scorer("h_measure")``.

    Higher is always better: metrics where lower is better are negated, and those that should be 0 are negated in
    absolute value. Metrics at one threshold are taken at `threshold`, a number or a policy. Probabilities are asked
    of the estimator where the metric needs them, else decision values do. An undefined value is ``nan``.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> import tallymark as tm
    >>> X, y = make_classification(random_state=0)
    >>> cross_val_score(LogisticRegression(), X, y, scoring=tm.scorers.scorer("spcc")).round(2).tolist()
    [0.59, 0.83, 0.75, 0.49, 0.82]
    """
    facts = METRICS[name]
    if facts.better == "neither":
        raise InputError(f"{facts.name} is neither better high nor low, so it cannot choose a model.")
    sign = {"higher": 1.0, "lower": -1.0, "zero": -1.0}[facts.better]

    def score(estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        try:
            value = facts.compute(_summary(estimator, X, y_true, sample_weight), **options)
        except Undefined:
            return float("nan")
        return sign * (abs(value) if facts.better == "zero" else value)

    def _summary(estimator: Any, X: Any, y_true: Any, sample_weight: Any) -> Any:
        classes = list(estimator.classes_)
        if facts.needs in {"moments", "multiclass"}:
            door = moments if facts.needs == "moments" else class_scores
            return door(y_true, estimator.predict_proba(X), classes=classes, weights=sample_weight)
        positive = classes[-1] if pos_label is None else pos_label
        if len(classes) != 2 or positive not in classes:
            raise InputError(f"{facts.name} needs two classes, one of them positive; the estimator has {classes}.")
        scores = _scores(estimator, X, classes.index(positive), probabilities=facts.needs == "probabilities")
        tally = tally_of_arrays(y_true, scores, weights=sample_weight, pos_label=positive, one_class=True)
        return tally.at(threshold) if facts.needs == "confusion" else tally

    def _scores(estimator: Any, X: Any, column: int, *, probabilities: bool) -> Any:
        if hasattr(estimator, "predict_proba"):
            return estimator.predict_proba(X)[:, column]
        if probabilities or not hasattr(estimator, "decision_function"):
            raise InputError(f"{facts.name} needs predict_proba, which {type(estimator).__name__} lacks.")
        decision = estimator.decision_function(X)
        return decision if column == 1 else -decision

    return score
