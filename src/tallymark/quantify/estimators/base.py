"""scikit-learn estimators that quantify: ``fit(X, y)``, then ``predict(X)`` gives the prevalence of each class.

The classifier only produces scores; error rates come from out-of-fold scores, never from the training fit.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

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
    """Base of all quantifiers: scores of rows in, prevalences of the classes out."""

    #: Name of the method in the registry of quantifiers.
    method: str

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Estimate the distribution of the scores in each class."""

    @abstractmethod
    def _scores(self, X: Any) -> Floats:
        """One score per row for two classes, one per class for more."""

    def _labels_of(self, y: Any) -> tuple[Any, Ints]:
        """The labels of the rows and the index of each one's class; sets ``classes_``."""
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has one class only, {shown(self.classes_.tolist())}; counting needs rows of both classes."
            )
        return labels, codes

    def _learn(self, labels: Any, scores: Floats, weight: Floats | None = None) -> None:
        """Set ``validation_``, the out-of-fold scores by class."""
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
        """Prevalence of each class in X, in the order of ``classes_``."""
        return _shares(self._estimate(self._scores(X), level=None))

    def quantify(self, X: Any, *, level: float | None = 0.95, **options: Any) -> Prevalence | ClassPrevalences:
        """The estimate with its interval: a :class:`Prevalence`, or one for each of more than two classes."""
        return self._estimate(self._scores(X), level=level, **options)

    def _estimate(self, scores: Floats, **options: Any) -> Prevalence | ClassPrevalences:
        options = self._method_options() | options
        if isinstance(self.validation_, ClassPanel):
            target = class_panel(scores=scores, classes=self._labels)
            return estimate(self.method, self.validation_, target, **options)
        return estimate(self.method, self.validation_, tally_of_arrays(None, scores), **options)

    def predict_many(self, X: Any, index: Any) -> Floats:
        """Prevalences of the classes in many samples of X: line i of `index` holds the row numbers of sample i."""
        scores = self._scores(X)
        if isinstance(self.validation_, ClassPanel):
            return np.stack([_shares(self._estimate(scores[np.asarray(rows)], level=None)) for rows in index])
        shares = estimate_many(self.method, self.validation_, scores, index, **self._method_options())
        return np.column_stack((1.0 - shares, shares))

    def _method_options(self) -> dict[str, Any]:
        """Options of the method that were given; None stands for the method's default."""
        given = ((name, vars(self).get(name)) for name in QUANTIFIERS[self.method].options)
        return {name: value for name, value in given if value is not None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class Quantifier(BaseQuantifier):
    """Any quantification method around any classifier, as a scikit-learn estimator.

    Parameters
    ----------
    method
        Name of a quantifier (``tallymark quantifiers`` lists them), or of one declared with
        :func:`tallymark.extend.quantifier`.
    classifier
        Any classifier or pipeline; it is cloned, never changed. None when X holds ready-made scores: one column for two
        classes, one column per class for more.
    cv
        Number of folds for out-of-fold scores, a splitter, or ``"prefit"`` for a classifier that is fitted already, and
        an X it was not fitted on.
    random_state
        Seed of the folds, as scikit-learn's: a number, None, a RandomState or a Generator.
    n_jobs
        Folds fitted in parallel (joblib).
    **options
        Options of the method. A `threshold` that is left out is the classifier's: 0.5 for probabilities, else 0.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, random_state=0)
    >>> q = tm.quantify.Quantifier("em", LogisticRegression(), calibration="bcts").fit(X[:600], y[:600])
    >>> q.predict(X[600:]).round(2).tolist()
    [0.5, 0.5]

    """

    def __init__(
        self,
        method: str,
        classifier: Any = None,
        *,
        cv: Any = 10,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        self.method = method
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        declared = self._declared_options()
        if declared is not None and (unknown := [name for name in options if name not in declared]):
            raise InputError(f"{method} has no option {unknown[0]!r}; its options are {', '.join(declared) or 'none'}.")
        for name, value in options.items():
            setattr(self, name, value)

    def _declared_options(self) -> Mapping[str, Any] | None:
        """The method's options; None where there is no such method, which :meth:`fit` refuses."""
        registered = isinstance(self.method, str) and self.method in QUANTIFIERS
        return QUANTIFIERS[self.method].options if registered else None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator and options of its method; None stands for the method's default."""
        options = {name: vars(self).get(name) for name in self._declared_options() or ()}
        return {**options, **super().get_params(deep)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; with another `method` also that method's options."""
        if "method" in params:
            super().set_params(method=params.pop("method"))
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and estimate the distribution of its scores in each class."""
        if taken := [name for name in QUANTIFIERS[self.method].options if name in _RESERVED]:
            raise InputError(
                f"{self.method} has an option {taken[0]!r}, which Quantifier uses itself; rename the option."
            )
        X = _indexable(X)
        check_consistent_length(X, y, sample_weight)
        weight = None if sample_weight is None else _check.weights(sample_weight, "sample_weight")
        labels, codes = self._labels_of(y)
        if self.classifier is None:
            scores = _ready(X)
        else:
            scores = self._scores_of_rows(X, labels, codes, weight)
            # The columns the classifier was fitted on are those of the quantifier.
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.classifier_, name):
                    setattr(self, name, getattr(self.classifier_, name))
        self._learn(labels, scores, weight)
        return self

    def _method_options(self) -> dict[str, Any]:
        options = super()._method_options()
        if "threshold" in QUANTIFIERS[self.method].options and isinstance(self.validation_, Tally):
            options.setdefault("threshold", 0.5 if self.validation_.is_probability else 0.0)
        return options

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "validation_")
        if self.classifier is None:
            return _ready(X)
        return self._of_classifier(self.classifier_, _indexable(X))

    def _scores_of_rows(self, X: Any, labels: Any, codes: Ints, sample_weight: Any) -> Floats:
        """Out-of-fold scores of the training rows; sets ``classifier_``, fitted on all of them."""
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
        """Stratified, seeded folds, at most as many as the rarest class has rows; or the splitter given as `cv`."""
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
        classifier = clone(self.classifier)
        part = (X, labels) if rows is None else (_safe_indexing(X, rows), labels[rows])
        if sample_weight is None:
            return classifier.fit(*part)
        weight = sample_weight if rows is None else sample_weight[rows]
        final, name = classifier, "sample_weight"
        if isinstance(classifier, Pipeline):
            final, name = classifier[-1], f"{classifier.steps[-1][0]}__sample_weight"
        if not has_fit_parameter(final, "sample_weight"):
            raise InputError(f"sample_weight was given, but {type(final).__name__}.fit does not take it.")
        return classifier.fit(*part, **{name: weight})

    def _of_classifier(self, classifier: Any, X: Any) -> Floats:
        """One score per row for two classes, one per class for more."""
        two = len(self.classes_) == 2
        if hasattr(classifier, "predict_proba"):
            values = np.asarray(classifier.predict_proba(X), dtype=np.float64)
            return values[:, 1] if two else values
        if QUANTIFIERS[self.method].probabilities or not hasattr(classifier, "decision_function"):
            raise InputError(
                f"{QUANTIFIERS[self.method].title} needs predict_proba, which {type(classifier).__name__} lacks; wrap "
                "it in sklearn.calibration.CalibratedClassifierCV, or use a quantifier for any scores such as Bayes, "
                "PACC or MS."
            )
        return np.asarray(classifier.decision_function(X), dtype=np.float64)


#: Names of parameters and methods of the estimator itself, which no option of a method can have.
_RESERVED = {*inspect.signature(Quantifier).parameters, *dir(Quantifier)}


def seed_of(random_state: RandomState) -> int:
    """An integer seed from what scikit-learn or NumPy accept as a source of randomness; None is random."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**31))
    return random_state


def _shares(estimated: Prevalence | ClassPrevalences) -> Floats:
    """Prevalences in the order of the classes."""
    if isinstance(estimated, ClassPrevalences):
        return estimated.shares
    return np.array([1.0 - estimated.prevalence, estimated.prevalence])


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
