"""scikit-learn scorers of all metrics."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallymark._check import Label
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError, Undefined
from tallymark.registry import METRICS, Metric
from tallymark.sources.constructors import class_scores, moments, tally_of_arrays

__all__ = ["Scorer", "scorer"]


def scorer(
    name: str, *, threshold: float | str | None = None, pos_label: Label | None = None, **options: Any
) -> Scorer:
    """A scorer for ``cross_val_score``, ``GridSearchCV`` and the like: ``scoring=tm.scorers.scorer("h_measure")``.

    Higher is always better: metrics where lower is better are negated, and those that should be 0 are negated in
    absolute value. An undefined value is ``nan``.

    Parameters
    ----------
    name : str
        Name of the metric.
    threshold : float or str, optional
        Number or policy, for a metric at one threshold; by default 0.5 for probabilities and 0 for decision values, as
        in ``predict``.
    pos_label : label, optional
        The positive class; the last of the estimator's classes by default.
    **options
        Options of the metric.

    Returns
    -------
    Scorer

    Examples
    --------
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
    if threshold is not None and facts.needs != "confusion":
        raise InputError(f"threshold={threshold!r} goes with metrics at one threshold; {facts.name} uses all scores.")
    takes = inspect.signature(facts.function).parameters
    if unknown := [option for option in options if option not in takes]:
        allowed = ", ".join(list(takes)[1:]) or "none"
        raise InputError(f"{facts.name} has no option {unknown[0]!r}; its options are: {allowed}.")
    return Scorer(facts.name, threshold, pos_label, FrozenDict(options))


@dataclass(frozen=True)
class Scorer:
    """A metric with its settings, callable as a scikit-learn scorer."""

    name: str
    threshold: float | str | None
    pos_label: Label | None
    options: Mapping[str, Any]

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """The score of a fitted estimator on some rows; higher is better."""
        facts = METRICS[self.name]
        try:
            value = facts.compute(self._summary(facts, estimator, X, y_true, sample_weight), **self.options)
        except Undefined:
            return float("nan")
        return {"higher": value, "lower": -value, "zero": -abs(value)}[facts.better]

    def _summary(self, facts: Metric, estimator: Any, X: Any, y_true: Any, sample_weight: Any) -> Any:
        classes = list(estimator.classes_)
        if facts.needs in {"moments", "multiclass"}:
            summarise = moments if facts.needs == "moments" else class_scores
            return summarise(y_true, estimator.predict_proba(X), classes=classes, weights=sample_weight)
        positive = classes[-1] if self.pos_label is None else self.pos_label
        if len(classes) != 2 or positive not in classes:
            raise InputError(f"{facts.name} needs two classes, one of them positive; the estimator has {classes}.")
        column = classes.index(positive)
        if hasattr(estimator, "predict_proba"):
            scores, default = estimator.predict_proba(X)[:, column], 0.5
        elif facts.needs == "probabilities" or not hasattr(estimator, "decision_function"):
            raise InputError(f"{facts.name} needs predict_proba, which {type(estimator).__name__} lacks.")
        else:
            scores, default = estimator.decision_function(X) * (1 if column == 1 else -1), 0.0
        tally = tally_of_arrays(y_true, scores, weights=sample_weight, pos_label=positive, one_class=True)
        if facts.needs != "confusion":
            return tally
        return tally.at(default if self.threshold is None else self.threshold)
