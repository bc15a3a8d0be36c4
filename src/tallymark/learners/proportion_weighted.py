"""Proportion-weighted nearest neighbours (PWK, PWKα): votes weighted by inverse class size."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats, Ints
from tallymark.errors import InputError
from tallymark.learners.nearest import nearest
from tallymark.learners.votes import checked_alpha, class_weights, ranked, vote_ranks, winners
from tallymark.notes import Note, emit


class PWKClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Nearest neighbours with votes weighted by class size. Barranquero et al. (2013), Pattern Recognit. 46.

    A neighbour of class c votes with :math:`w_c = 1 - N_c/S` (PWK) or :math:`(N_c/M)^{-1/\alpha}` (PWKα), where the
    class has :math:`N_c` of the S training rows and the smallest class M. Votes are compared in whole numbers; a tie
    goes to the earlier class of ``classes_``. Of equally distant rows the earlier ones are the neighbours. X may be
    sparse.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours.
    alpha : float, optional
        None is PWK, a number of 1 or more PWKα; infinity is plain KNN, and for two classes 1 is PWK.
    metric, metric_params
        As for scikit-learn's nearest neighbours.
    n_jobs : int, optional
        Number of parallel jobs of the search.

    Examples
    --------
    >>> import tallymark as tm
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 0, 0, 1, 1]
    >>> model = tm.learners.PWKClassifier(n_neighbors=3).fit(X, y)
    >>> model.class_weights_.round(2).tolist(), model.predict([[3.6]]).tolist()
    ([0.33, 0.67], [1])
    """

    def __init__(
        self,
        n_neighbors: int = 15,
        alpha: float | None = None,
        metric: Any = "euclidean",
        *,
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and compute the weights of the classes."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"y has one class only, {self.classes_[0]!r}; neighbours need rows of two or more.")
        if self.alpha is not None:
            checked_alpha(self.alpha)
        self._k = checked_neighbors(self.n_neighbors, len(self._codes))
        self._sizes = np.bincount(self._codes)
        emit(crowded(self._k, self._sizes))
        self.class_weights_ = class_weights(self._sizes, self.alpha)
        self._rows = X
        return self

    def predict(self, X: Any) -> Any:
        """The class with the most votes."""
        counts = self._votes(X)
        return self.classes_[winners(self._ranks, counts)]

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the votes; classes that tie for the most have the same share to the last bit, the others less."""
        counts = self._votes(X)
        votes = counts * self.class_weights_
        shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        order = ranked(self._ranks, counts)
        most = shares.max(axis=1, keepdims=True)
        tied = order == order.max(axis=1, keepdims=True)
        return np.asarray(np.where(tied, most, np.minimum(shares, np.nextafter(most, 0.0))))

    @property
    def _ranks(self) -> Ints:
        return vote_ranks(self._sizes, self._k, self.alpha)

    def _votes(self, X: Any) -> Ints:
        """Number of each row's neighbours in each class."""
        check_is_fitted(self, "class_weights_")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        places = nearest(
            self._rows, X, self._k, metric=self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs
        )
        codes = self._codes[places]
        return np.stack([(codes == code).sum(axis=1) for code in range(len(self.classes_))], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def checked_neighbors(k: object, rows: int) -> int:
    """A number of neighbours, refused where there are fewer rows."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"n_neighbors is {k!r}, expected a whole number of 1 or more.")
    if k > rows:
        raise InputError(f"n_neighbors is {k}, but there are {rows} rows to be neighbours; n_samples must be as many.")
    return int(k)


def crowded(k: int, sizes: Ints) -> list[Note]:
    """The note that the smallest class has fewer rows than neighbours."""
    smallest = int(sizes.min())
    if k <= smallest:
        return []
    return [
        Note(
            "TM114",
            f"n_neighbors is {k}, but the smallest class has {smallest} rows, so rows of other classes are always "
            "among the neighbours; take fewer neighbours (Hand & Vinciotti 2003)",
        )
    ]
