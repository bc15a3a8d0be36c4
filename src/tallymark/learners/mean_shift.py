"""Mean-shift outlier detection: how far a point moves when it is drawn to its neighbours."""

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
    r"""Mean-shift outlier detection (Yang, Rahardja & Fränti 2021, Pattern Recognit. 115): outliers are far from their shifted selves.

    Every point is replaced by the mean of its `n_neighbors` nearest points, itself included, `iterations` times, the neighbours
    searched anew among the shifted points; its score is the distance moved, :math:`\|x - x'\|`. Exact: all distances are
    compared. Scale the attributes first, since distances add them up. The interface is PyOD's: ``decision_scores_`` of the fitted
    rows, ``decision_function`` of others (each shifted through the points as they were in every round), ``labels_`` and
    ``predict`` for the `contamination` share with the highest scores.

    >>> import numpy as np, tallymark as tm
    >>> X = np.vstack((np.random.default_rng(0).normal(size=(60, 2)), [[8.0, 8.0]]))
    >>> int(tm.learners.MOD(n_neighbors=10).fit(X).decision_scores_.argmax())
    60
    """

    def __init__(
        self,
        n_neighbors: int = 30,
        *,
        iterations: int = 3,
        contamination: float = 0.1,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.iterations = iterations
        self.contamination = contamination
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn's signature
        """Shift the rows and keep where they were in each round."""
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
        """How far each row moves among the fitted ones; higher is farther out."""
        check_is_fitted(self, "decision_scores_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        now = X
        for points in self._rounds:
            now = self._shifted(points, now)
        return _distance(X, now)

    def predict(self, X: Any) -> Any:
        """1 for rows farther out than all but `contamination` of the fitted ones, else 0, as PyOD has it."""
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
