"""Mean-shift outlier detection (MOD)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.learners.nearest import nearest

#: Entries of the neighbours' attributes gathered at a time.
_GATHERED = 2**24


class MOD(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Mean-shift outlier detection. Yang, Rahardja & Fränti (2021), Pattern Recognit. 115.

    Every point is repeatedly replaced by the mean of its nearest points, itself included, which are searched again
    among the shifted points; its score is the distance moved, :math:`\|x - x'\|`. The search is exact. Scale the
    attributes first. The interface is PyOD's: ``decision_scores_`` of the fitted rows, ``decision_function`` of others
    (each shifted through the points of every round), ``labels_`` and ``predict`` for the rows with the highest scores.

    Parameters
    ----------
    n_neighbors : int
        Points whose mean is taken.
    iterations : int
        Number of shifts.
    contamination : float
        Share of the fitted rows that are labelled as outliers.
    n_jobs : int, optional
        Number of parallel jobs of the search.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> X = np.vstack((np.random.default_rng(0).normal(size=(60, 2)), [[8.0, 8.0]]))
    >>> int(tm.learners.MOD(n_neighbors=10).fit(X).decision_scores_.argmax())
    60
    """

    def __init__(
        self, n_neighbors: int = 30, *, iterations: int = 3, contamination: float = 0.1, n_jobs: int | None = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.iterations = iterations
        self.contamination = contamination
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Shift the rows and keep their positions in each round."""
        X = validate_data(self, X, dtype=np.float64)
        for name in ("n_neighbors", "iterations"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} is {value!r}, expected a whole number of 1 or more.")
        if not 0.0 < self.contamination <= 0.5:
            raise InputError(f"contamination is {self.contamination!r}, expected a share above 0 and up to 0.5.")
        if self.n_neighbors > len(X):
            raise InputError(
                f"n_neighbors is {self.n_neighbors}, but there are {len(X)} rows (n_samples={len(X)}); take fewer."
            )
        self._rounds = [X]
        for _ in range(self.iterations):
            self._rounds.append(self._shifted(self._rounds[-1], self._rounds[-1]))
        self.decision_scores_ = _distance(X, self._rounds.pop())
        self.threshold_ = float(np.quantile(self.decision_scores_, 1.0 - self.contamination))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Distance that each row moves among the fitted ones; higher is more outlying."""
        check_is_fitted(self, "decision_scores_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        shifted = X
        for points in self._rounds:
            shifted = self._shifted(points, shifted)
        return _distance(X, shifted)

    def predict(self, X: Any) -> Any:
        """1 for rows with a score above that of all but `contamination` of the fitted ones, else 0, as in PyOD."""
        scores = self.decision_function(X)
        return (scores > self.threshold_).astype(np.int64)

    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002 - scikit-learn's signature
        """``labels_`` of the rows."""
        return self.fit(X).labels_

    def _shifted(self, points: Floats, rows: Floats) -> Floats:
        """The mean of each row's nearest points."""
        places = nearest(points, rows, self.n_neighbors, n_jobs=self.n_jobs)
        means = np.empty_like(rows)
        step = max(_GATHERED // (self.n_neighbors * rows.shape[1]), 1)
        for start in range(0, len(rows), step):
            means[start : start + step] = points[places[start : start + step]].mean(axis=1)
        return means


def _distance(rows: Floats, moved: Floats) -> Floats:
    return np.asarray(np.sqrt(((rows - moved) ** 2).sum(axis=1)))
