"""Units of work of a study: a fold of a data set, a classifier, and the methods that use its scores."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._numbers import counted
from tallymark.errors import InputError, TrainingWarning
from tallymark.quantify.estimation.estimate import estimate_many
from tallymark.registry import METRICS, QUANTIFIERS
from tallymark.sources.constructors import tally_of_arrays
from tallymark.study.datasets import Dataset
from tallymark.study.plans import Classifier, Method
from tallymark.study.protocols import Protocol, Split
from tallymark.summaries.tally import Tally

#: Folds of cross-validation on the training rows, from which error rates are estimated.
_RATES = 10

#: Folds and repeats of a parameter search.
_SEARCH = (5, 2)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell: estimated class shares of every sample, or an error."""

    key: str
    nominal: Floats
    drawn: Floats
    sizes: Any
    estimates: Floats | None
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Unit:
    """A fold of a data set, a classifier, and the methods that use its scores."""

    data: Dataset
    protocol: Protocol
    fold: int
    classifier: Classifier | None
    methods: Sequence[tuple[str, Method]]
    seed: int

    def work(self) -> list[Outcome]:
        """Train once, then estimate by every method; a failure is an outcome with an error."""
        split = self.protocol.split(self.fold)
        started = time.perf_counter()
        scores: tuple[Floats, Floats] | Exception | None = None
        if self.classifier is not None:
            try:
                validated = any(_reads_validation(method) for _, method in self.methods)
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    scores = scores_of(self.classifier, self.data, split, self.seed, rates=validated)
                self._tell(caught)
            except Exception as error:  # noqa: BLE001 - a failed fold is recorded and does not stop the run
                scores = error
        shared = (time.perf_counter() - started) / len(self.methods)
        return [self._outcome(key, method, split, scores, shared) for key, method in self.methods]

    def _tell(self, caught: Sequence[warnings.WarningMessage]) -> None:
        """Warnings of the training, those of fits that did not converge as one sentence that says where."""
        from sklearn.exceptions import ConvergenceWarning

        stopped = sum(issubclass(one.category, ConvergenceWarning) for one in caught)
        if stopped:
            where = f"{self.data.name}, fold {self.fold}, {type(self.classifier.estimator).__name__}"  # type: ignore[union-attr]
            message = (
                f"{where}: {counted(stopped, 'fit')} stopped before the training converged; give the classifier a "
                "larger max_iter, or scale the attributes"
            )
            warnings.warn(TrainingWarning(message), stacklevel=2)
        for one in caught:
            if not issubclass(one.category, ConvergenceWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

    def _outcome(self, key: str, method: Method, split: Split, scores: Any, shared: float) -> Outcome:
        started = time.perf_counter()
        estimates, error = None, None
        try:
            if isinstance(scores, Exception):
                raise scores
            estimates = class_shares(method, self.data, split, scores)
        except Exception as failure:  # noqa: BLE001 - recorded with its message
            error = f"{type(failure).__name__}: {failure}"
        sizes = np.array([len(rows) for rows in split.index])
        seconds = shared + time.perf_counter() - started
        return Outcome(key, np.asarray(split.nominal, dtype=np.float64), split.drawn, sizes, estimates, error, seconds)


def _reads_validation(method: Method) -> bool:
    """Whether a method needs scores of labelled rows."""
    return not isinstance(method.quantifier, str) or QUANTIFIERS[method.quantifier].reads_validation


def scores_of(
    classifier: Classifier, data: Dataset, split: Split, seed: int, *, rates: bool = True
) -> tuple[Floats, Floats]:
    """Out-of-sample scores of the training rows (cross-validation), and scores of the test rows.

    Without `rates` no method uses the former, and those of the training fit are returned.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, y = data.X[split.train], data.y[split.train]
    estimator = clone(classifier.estimator)
    if "random_state" in estimator.get_params(deep=False):
        estimator.set_params(random_state=seed)
    if classifier.grid:
        estimator = _searched(classifier, estimator, X, y, seed)
    scoring = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    fitted = clone(estimator).fit(X, y)
    tested = getattr(fitted, scoring)(data.X[split.test])
    if rates:
        number = min(_RATES, int(np.unique(y, return_counts=True)[1].min()))
        folds = StratifiedKFold(number, shuffle=True, random_state=seed)
        validated = cross_val_predict(estimator, X, y, cv=folds, method=scoring)
    else:
        validated = getattr(fitted, scoring)(X)
    two = len(np.unique(y)) == 2
    validated, tested = (part[:, 1] if two and part.ndim == 2 else part for part in (validated, tested))
    return np.asarray(validated, dtype=np.float64), np.asarray(tested, dtype=np.float64)


def _searched(classifier: Classifier, estimator: Any, X: Any, y: Any, seed: int) -> Any:
    """The estimator with the best parameters by repeated cross-validation."""
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold

    scoring: Any = classifier.scoring
    if scoring in METRICS and METRICS[scoring].needs == "confusion":
        from tallymark.scorers import scorer

        scoring = scorer(scoring)
    splits, repeats = _SEARCH
    folds = RepeatedStratifiedKFold(n_splits=splits, n_repeats=repeats, random_state=seed)
    search = GridSearchCV(estimator, dict(classifier.grid), scoring=scoring, cv=folds, refit=False).fit(X, y)
    return clone(estimator).set_params(**search.best_params_)


def class_shares(method: Method, data: Dataset, split: Split, scores: tuple[Floats, Floats] | None) -> Floats:
    """Class shares that a method estimates, a line per sample."""
    y = data.y[split.train]
    if scores is None:
        estimates = _by_estimator(method.quantifier, data, split, y)
        if method.fallback is None:
            return estimates
        return np.where(np.isnan(estimates), np.unique(y, return_counts=True)[1] / len(y), estimates)
    validated, tested = scores
    classes = np.unique(y)
    if len(classes) > 2:
        return _of_classes(method, validated, tested, y, split)
    tally = tally_of_arrays(y, validated, pos_label=_check.plain_label(classes[1]))
    if callable(method.quantifier):
        shares = np.array([float(method.quantifier(tally, tested[rows], **method.options)) for rows in split.index])
    else:
        shares = estimate_many(method.quantifier, tally, tested, list(split.index), **_options(method, tally))
    if method.fallback is not None and np.isnan(shares).any():
        other = replace(method, quantifier=method.fallback, options={}, fallback=None)
        shares = np.where(np.isnan(shares), class_shares(other, data, split, scores)[:, 1], shares)
    return np.column_stack((1.0 - shares, shares))


def _options(method: Method, tally: Tally) -> dict[str, Any]:
    """The method's options, with a default threshold where it takes one."""
    options = dict(method.options)
    if "threshold" in QUANTIFIERS[method.quantifier].options:
        options.setdefault("threshold", 0.5 if tally.is_probability else 0.0)
    return options


def _by_estimator(quantifier: Any, data: Dataset, split: Split, y: Any) -> Floats:
    """Shares by an object with ``fit`` and ``predict``; all samples at once if it has ``predict_many``."""
    from sklearn.base import clone

    unfitted = clone(quantifier) if hasattr(quantifier, "get_params") else quantifier
    fitted = unfitted.fit(data.X[split.train], y)
    test = data.X[split.test]
    if hasattr(fitted, "predict_many"):
        return np.asarray(fitted.predict_many(test, list(split.index)), dtype=np.float64)
    shares = np.array([np.ravel(fitted.predict(test[rows])) for rows in split.index], dtype=np.float64)
    return np.column_stack((1.0 - shares[:, 0], shares[:, 0])) if shares.shape[1] == 1 else shares


def _of_classes(method: Method, validated: Floats, tested: Floats, y: Any, split: Split) -> Floats:
    """Shares of more than two classes by the estimator of the same name on precomputed scores."""
    from tallymark.quantify.estimators.wrappers import WRAPPERS

    name = QUANTIFIERS[method.quantifier].name if isinstance(method.quantifier, str) else None
    if name is None or name not in WRAPPERS:
        raise InputError(f"{method.name} counts two classes only; the data have {len(np.unique(y))}.")
    fitted = WRAPPERS[name](None, **method.options).fit(validated, y)
    return np.asarray(fitted.predict_many(tested, list(split.index)))
