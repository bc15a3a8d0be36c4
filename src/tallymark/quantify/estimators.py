"""Quantifiers around any scikit-learn classifier: ``fit(X, y)`` and ``predict(X)`` gives the classes' shares.

The classifier only produces scores; error rates come from out-of-fold scores, never from the training fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.errors import InputError, shown
from tallymark.quantify.estimating import estimate, estimate_many
from tallymark.registry import QUANTIFIERS
from tallymark.sources.doors import tally_of_arrays


class Quantifier(BaseEstimator):  # type: ignore[misc]
    """What all quantifiers share.

    `classifier` is any classifier or pipeline (it is cloned, never changed), or None when X holds ready-made scores: one
    column for two classes, one column per class for more. `cv` is the number of folds for out-of-fold scores, a
    splitter, or ``"prefit"`` for a classifier that is fitted already and an X it has not seen. `random_state` seeds the folds.
    """

    _method: ClassVar[str] = ""
    #: Parameters that are handed on to the method.
    _options: ClassVar[tuple[str, ...]] = ()

    def __init__(self, classifier: Any = None, *, cv: Any = 10, random_state: int = 0) -> None:
        self.classifier = classifier
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier and learn how its scores are distributed in each class."""
        X = _indexable(X)
        check_consistent_length(X, y, sample_weight)
        weight = None if sample_weight is None else _check.weights(sample_weight, "sample_weight")
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has one class only, {shown(self.classes_.tolist())}; counting needs rows of both classes."
            )
        if self.classifier is None:
            scores = _ready(X)
        else:
            scores = self._scores_of_rows(X, labels, codes, weight)
            # What the classifier knows of its columns holds for the quantifier too.
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.classifier_, name):
                    setattr(self, name, getattr(self.classifier_, name))
        self.validation_: Any
        if len(self.classes_) == 2:
            self.validation_ = tally_of_arrays(
                labels, scores, weights=weight, pos_label=_check.plain_label(self.classes_[1])
            )
        else:
            self.validation_ = (labels, scores, weight)
        return self

    def predict(self, X: Any) -> Floats:
        """Share of each class in X, in the order of ``classes_``."""
        return self._shares(self.quantify(X, level=None))

    def quantify(self, X: Any, *, level: float | None = 0.95, **options: Any) -> Any:
        """The estimate with its interval: a :class:`Prevalence`, or one for each of more than two classes."""
        scores = self._scores(X)
        if len(self.classes_) > 2:
            plain = [_check.plain_label(label) for label in self.classes_]
            return estimate(
                self._method, self.validation_, scores, level=level, classes=plain, **self._asked(), **options
            )
        target = tally_of_arrays(None, scores)
        return estimate(self._method, self.validation_, target, level=level, **self._asked(), **options)

    def predict_many(self, X: Any, index: Any) -> Floats:
        """Shares of the classes in many samples of X, one line for each line of row numbers in `index`."""
        scores = self._scores(X)
        if len(self.classes_) > 2:
            plain = [_check.plain_label(label) for label in self.classes_]
            asked = self._asked()
            return np.stack([
                estimate(self._method, self.validation_, scores[rows], level=None, classes=plain, **asked).shares
                for rows in np.asarray(index)
            ])  # fmt: skip
        found = estimate_many(self._method, self.validation_, scores, index, **self._asked())
        return np.column_stack((1.0 - found, found))

    def _asked(self) -> dict[str, Any]:
        asked = {name: value for name in self._options if (value := getattr(self, name)) is not None}
        if "threshold" in self._options and len(self.classes_) == 2 and "threshold" not in asked:
            asked["threshold"] = 0.5 if self.validation_.is_probability else 0.0
        return asked

    def _shares(self, found: Any) -> Floats:
        if len(self.classes_) > 2:
            shares: Floats = found.shares
            return shares
        return np.array([1.0 - found.prevalence, found.prevalence])

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
        found: Any = None
        for train, test in self._folds(codes).split(np.zeros(len(codes)), codes):
            one = self._fitted(X, labels, sample_weight, train)
            scores = self._of_classifier(one, _safe_indexing(X, test))
            if found is None:
                found = np.empty((len(codes), *scores.shape[1:]))
            found[test] = scores
        self.classifier_ = self._fitted(X, labels, sample_weight, None)
        return np.asarray(found)

    def _folds(self, codes: Ints) -> Any:
        """Stratified and seeded folds, as many as the rarest class has rows; or the caller's own splits."""
        if hasattr(self.cv, "split") or isinstance(self.cv, list | tuple):
            return check_cv(self.cv, codes, classifier=True)
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise InputError(f"cv is {self.cv!r}, expected a number of folds of 2 or more, a splitter, or 'prefit'.")
        fewest = int(np.bincount(codes).min())
        if fewest < 2:
            raise InputError("One class has a single row; out-of-fold scores need two or more of each class.")
        return StratifiedKFold(min(int(self.cv), fewest), shuffle=True, random_state=self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
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
            found = np.asarray(classifier.predict_proba(X), dtype=np.float64)
            return found[:, 1] if two else found
        if QUANTIFIERS[self._method].probabilities or not hasattr(classifier, "decision_function"):
            raise InputError(
                f"{type(self).__name__} needs predict_proba, which {type(classifier).__name__} lacks; wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or use a quantifier for any scores such as Bayes, PACC or MS."
            )
        return np.asarray(classifier.decision_function(X), dtype=np.float64)


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


class _Cutting(Quantifier):
    """Quantifiers that cut the scores at a threshold: a number or a policy; left out, where the classifier does."""

    _options: ClassVar[tuple[str, ...]] = ("threshold",)

    def __init__(
        self, classifier: Any = None, *, threshold: float | str | None = None, cv: Any = 10, random_state: int = 0
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.threshold = threshold


class BL(Quantifier):
    """Baseline: the training prevalence, whatever comes."""

    _method = "bl"


class CC(_Cutting):
    """Classify and count; see ``tallymark quantifiers cc``."""

    _method = "cc"


class AC(_Cutting):
    """Adjusted count (Rogan-Gladen): classify and count corrected for both error rates.

    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, random_state=0)
    >>> tm.quantify.AC(LogisticRegression()).fit(X[:600], y[:600]).predict(X[600:]).round(2).tolist()
    [0.51, 0.49]
    """

    _method = "ac"


class XMethod(Quantifier):
    """Adjusted count where fpr = 1 - tpr (Forman's X)."""

    _method = "x"


class Max(Quantifier):
    """Adjusted count where tpr - fpr is largest."""

    _method = "max"


class T50(Quantifier):
    """Adjusted count where half of the positives are found."""

    _method = "t50"


class MS(Quantifier):
    """Median sweep over the thresholds with tpr - fpr of at least a quarter."""

    _method = "ms"


class Sweep(Quantifier):
    """Median sweep over all thresholds."""

    _method = "sweep"


class ContinuousSweep(Quantifier):
    """Mean adjusted count under normal curves of the two classes."""

    _method = "cs"


class PCC(Quantifier):
    """Mean probability."""

    _method = "pcc"


class PACC(Quantifier):
    """Mean score placed between the classes' means."""

    _method = "pacc"


class EM(Quantifier):
    """Expectation maximisation (Saerens et al. 2002); `calibration` is None, ``"bcts"`` or ``"vs"``."""

    _method = "em"
    _options: ClassVar[tuple[str, ...]] = ("calibration",)

    def __init__(
        self, classifier: Any = None, *, calibration: str | None = None, cv: Any = 10, random_state: int = 0
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.calibration = calibration


class HDy(Quantifier):
    """Nearest mixture of histograms by Hellinger distance, median over `bins` (10 to 110)."""

    _method = "hdy"
    _options: ClassVar[tuple[str, ...]] = ("bins",)

    def __init__(
        self, classifier: Any = None, *, bins: Sequence[int] | None = None, cv: Any = 10, random_state: int = 0
    ) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.bins = bins


class DyS(Quantifier):
    """Nearest mixture of histograms by Topsøe's or Hellinger's `distance`, median over `bins` (2 to 30)."""

    _method = "dys"
    _options: ClassVar[tuple[str, ...]] = ("bins", "distance")

    def __init__(
        self, classifier: Any = None, *, bins: Sequence[int] | None = None, distance: str = "topsoe", cv: Any = 10,
        random_state: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.bins = bins
        self.distance = distance


class SORD(Quantifier):
    """Nearest mixture by the area between cumulative curves."""

    _method = "sord"


class Energy(Quantifier):
    """Nearest mixture by energy distance."""

    _method = "energy"


class KDE(Quantifier):
    """Most likely mixture of kernel densities of probabilities."""

    _method = "kde"
    _options: ClassVar[tuple[str, ...]] = ("bandwidth",)

    def __init__(self, classifier: Any = None, *, bandwidth: float = 0.1, cv: Any = 10, random_state: int = 0) -> None:
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.bandwidth = bandwidth


class Bayes(Quantifier):
    """Bayesian Calibration's prevalence, from densities by ``"bins"`` or ``"kde"``."""

    _method = "bayes"
    _options: ClassVar[tuple[str, ...]] = ("density", "bins", "bandwidth")

    def __init__(
        self, classifier: Any = None, *, density: str = "bins", bins: int | None = None,
        bandwidth: float | None = None,
        cv: Any = 10, random_state: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(classifier, cv=cv, random_state=random_state)
        self.density = density
        self.bins = bins
        self.bandwidth = bandwidth
