"""Quantifiers around any scikit-learn classifier: ``fit(X, y)`` and ``predict(X)`` gives the classes' shares.

The classifier only produces scores; error rates come from out-of-fold scores, never from the training fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from tallymark import _check
from tallymark._check import Floats, Ints, Label
from tallymark.errors import InputError, shown
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.estimate import estimate, estimate_many
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import QUANTIFIERS
from tallymark.sources.constructors import class_panel, tally_of_arrays
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.tally import Tally

#: As scikit-learn has it, and NumPy's Generator.
RandomState = int | np.random.RandomState | np.random.Generator | None


class BaseQuantifier(BaseEstimator, ABC):  # type: ignore[misc]
    """What all quantifiers share: scores of rows in, shares of the classes out."""

    _method: ClassVar[str] = ""
    #: Parameters that are handed on to the method.
    _options: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn how the scores of each class are distributed."""

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """One score per row for two classes, one per class for more."""

    def _labels_of(self, y: Any) -> tuple[Any, Ints]:
        """The labels of the rows and the number of each one's class; leaves ``classes_`` behind."""
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has one class only, {shown(self.classes_.tolist())}; counting needs rows of both classes."
            )
        return labels, codes

    def _learn(self, labels: Any, scores: Floats, weight: Floats | None = None) -> None:
        """Keep scores of rows that no model has seen, by class."""
        self.validation_: Tally | ClassPanel
        if len(self.classes_) == 2:
            self.validation_ = tally_of_arrays(
                labels, scores, weights=weight, pos_label=_check.plain_label(self.classes_[1])
            )
        else:
            self.validation_ = class_panel(labels, scores, classes=self._labels, weights=weight)

    @property
    def _labels(self) -> list[Label]:
        return [_check.plain_label(label) for label in self.classes_]

    def predict(self, X: Any) -> Floats:
        """Share of each class in X, in the order of ``classes_``."""
        return _shares(self._estimate(self._scores(X), level=None))

    def quantify(self, X: Any, *, level: float | None = 0.95, **options: Any) -> Prevalence | ClassPrevalences:
        """The estimate with its interval: a :class:`Prevalence`, or one for each of more than two classes."""
        return self._estimate(self._scores(X), level=level, **options)

    def _estimate(self, scores: Floats, **options: Any) -> Prevalence | ClassPrevalences:
        asked = self._asked() | options
        if isinstance(self.validation_, ClassPanel):
            target = class_panel(scores=scores, classes=self._labels)
            return estimate(self._method, self.validation_, target, **asked)
        return estimate(self._method, self.validation_, tally_of_arrays(None, scores), **asked)

    def predict_many(self, X: Any, index: Any) -> Floats:
        """Shares of the classes in many samples of X, one line for each line of row numbers in `index`."""
        scores = self._scores(X)
        if isinstance(self.validation_, ClassPanel):
            return np.stack([_shares(self._estimate(scores[np.asarray(rows)], level=None)) for rows in index])
        shares = estimate_many(self._method, self.validation_, scores, index, **self._asked())
        return np.column_stack((1.0 - shares, shares))

    def _asked(self) -> dict[str, Any]:
        return {name: value for name in self._options if (value := getattr(self, name)) is not None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class Quantifier(BaseQuantifier):
    """A quantifier around a classifier.

    `classifier` is any classifier or pipeline (it is cloned, never changed), or None when X holds ready-made scores: one
    column for two classes, one column per class for more. `cv` is the number of folds for out-of-fold scores, a
    splitter, or ``"prefit"`` for a classifier that is fitted already and an X it has not seen. `random_state` seeds the folds, as
    scikit-learn's does (a number, None, a RandomState or a Generator); `n_jobs` fits them in parallel (joblib).
    """

    def __init__(
        self, classifier: Any = None, *, cv: Any = 10, random_state: RandomState = 0, n_jobs: int | None = None
    ) -> None:
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and learn how its scores are distributed in each class."""
        X = _indexable(X)
        check_consistent_length(X, y, sample_weight)
        weight = None if sample_weight is None else _check.weights(sample_weight, "sample_weight")
        labels, codes = self._labels_of(y)
        if self.classifier is None:
            scores = _ready(X)
        else:
            scores = self._scores_of_rows(X, labels, codes, weight)
            # What the classifier knows of its columns holds for the quantifier too.
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.classifier_, name):
                    setattr(self, name, getattr(self.classifier_, name))
        self._learn(labels, scores, weight)
        return self

    def _asked(self) -> dict[str, Any]:
        asked = super()._asked()
        if "threshold" in self._options and isinstance(self.validation_, Tally) and "threshold" not in asked:
            asked["threshold"] = 0.5 if self.validation_.is_probability else 0.0
        return asked

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "validation_")
        if self.classifier is None:
            return _ready(X)
        return self._of_classifier(self.classifier_, _indexable(X))

    def _scores_of_rows(self, X: Any, labels: Any, codes: Ints, sample_weight: Any) -> Floats:
        """Scores of the training rows from classifiers that have not seen them; leaves the final classifier behind."""
        if self.cv == "prefit":
            check_is_fitted(self.classifier)
            self.classifier_ = self.classifier
            if list(self.classifier_.classes_) != list(self.classes_):
                raise InputError(
                    f"The fitted classifier knows {shown(self.classifier_.classes_)}, y has {shown(self.classes_)}."
                )
            return self._of_classifier(self.classifier_, X)
        folds = list(self._folds(codes).split(np.zeros(len(codes)), codes))

        def scored(train: Ints, test: Ints) -> Floats:
            return self._of_classifier(self._fitted(X, labels, sample_weight, train), _safe_indexing(X, test))

        parts = Parallel(n_jobs=self.n_jobs)(delayed(scored)(*fold) for fold in folds)
        values = np.empty((len(codes), *parts[0].shape[1:]))
        for (_, test), scores in zip(folds, parts, strict=True):
            values[test] = scores
        self.classifier_ = self._fitted(X, labels, sample_weight, None)
        return values

    def _folds(self, codes: Ints) -> Any:
        """Stratified and seeded folds, as many as the rarest class has rows; or the caller's own splits."""
        if hasattr(self.cv, "split") or isinstance(self.cv, list | tuple):
            return check_cv(self.cv, codes, classifier=True)
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise InputError(f"cv is {self.cv!r}, expected a number of folds of 2 or more, a splitter, or 'prefit'.")
        fewest = int(np.bincount(codes).min())
        if fewest < 2:
            raise InputError("One class has a single row; out-of-fold scores need two or more of each class.")
        return StratifiedKFold(min(int(self.cv), fewest), shuffle=True, random_state=seed_of(self.random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.classifier is not None:
            tags.input_tags.sparse = get_tags(self.classifier).input_tags.sparse
        return tags

    def _fitted(self, X: Any, labels: Any, sample_weight: Any, rows: Any) -> Any:
        """A clone fitted on some rows, or on all."""
        own = clone(self.classifier)
        part = (X, labels) if rows is None else (_safe_indexing(X, rows), labels[rows])
        if sample_weight is None:
            return own.fit(*part)
        weight = sample_weight if rows is None else sample_weight[rows]
        name = "sample_weight"
        final = own
        if isinstance(own, Pipeline):
            final, name = own[-1], f"{own.steps[-1][0]}__sample_weight"
        if not has_fit_parameter(final, "sample_weight"):
            raise InputError(f"sample_weight was given, but {type(final).__name__}.fit does not take it.")
        return own.fit(*part, **{name: weight})

    def _of_classifier(self, classifier: Any, X: Any) -> Floats:
        """One score per row for two classes, one per class for more."""
        two = len(self.classes_) == 2
        if hasattr(classifier, "predict_proba"):
            values = np.asarray(classifier.predict_proba(X), dtype=np.float64)
            return values[:, 1] if two else values
        if QUANTIFIERS[self._method].probabilities or not hasattr(classifier, "decision_function"):
            raise InputError(
                f"{type(self).__name__} needs predict_proba, which {type(classifier).__name__} lacks; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or use a quantifier for any scores such as Bayes, PACC or MS."
            )
        return np.asarray(classifier.decision_function(X), dtype=np.float64)


def seed_of(random_state: RandomState) -> int:
    """A number from whatever scikit-learn, or NumPy, takes for a source of randomness; None is new every time."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**31))
    return random_state


def _shares(found: Prevalence | ClassPrevalences) -> Floats:
    """Shares in the order of the classes."""
    return found.shares if isinstance(found, ClassPrevalences) else np.array([1.0 - found.prevalence, found.prevalence])


def _indexable(X: Any) -> Any:
    """Arrays and dataframes as they are, sparse matrices by rows, lists and the like as arrays."""
    if issparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") and hasattr(X, "__getitem__") else np.asarray(X)


def _ready(X: Any) -> Floats:
    """Ready-made scores: one column, or one per class."""
    array = np.asarray(X)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    return _check.scores(array, "X") if array.ndim == 1 else _check.matrix(array, "X")
