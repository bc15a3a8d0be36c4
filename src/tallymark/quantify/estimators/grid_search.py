"""Grid search of a quantifier's parameters by a quantification loss, under the artificial prevalence protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid, train_test_split
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.quantify.estimators.base import RandomState, seed_of
from tallymark.quantify.protocols import prevalence_samples
from tallymark.registry import LOSSES


class GridSearch(BaseEstimator):  # type: ignore[misc]
    """Grid search for the least quantification loss, then a fit of the best parameters on all rows.

    Part of the rows is held out; from it samples are drawn whose prevalences run from 0 to 1.

    Parameters
    ----------
    quantifier
        The estimator whose parameters are searched.
    param_grid
        Values to try, by the parameter's name.
    loss
        Any registered loss.
    samples, sample_size
        Number of samples, and rows of each.
    validation_share
        Share of the rows held out.
    random_state
        Seed of the split and the samples.
    n_jobs
        Combinations tried in parallel.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, flip_y=0.1, random_state=0)
    >>> search = tm.quantify.GridSearch(tm.quantify.AC(LogisticRegression(), cv=3), {"classifier__C": [1e-3, 1.0]})
    >>> search.fit(X, y).best_params_
    {'classifier__C': 1.0}

    """

    def __init__(
        self,
        quantifier: Any,
        param_grid: Mapping[str, Sequence[Any]],
        *,
        loss: str = "ae",
        samples: int = 210,
        sample_size: int = 200,
        validation_share: float = 0.4,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.quantifier = quantifier
        self.param_grid = param_grid
        self.loss = loss
        self.samples = samples
        self.sample_size = sample_size
        self.validation_share = validation_share
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Try every combination, keep the best. Rows are fitted with their weights and drawn in proportion to them."""
        facts = LOSSES[self.loss]
        if facts.better == "zero":
            raise InputError(f"{facts.name} cancels over samples, so it cannot choose; use ae.")
        labels = column_or_1d(y, warn=True)
        weight = None if sample_weight is None else _check.weights(sample_weight, "sample_weight")
        check_consistent_length(labels, weight)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        rows, seed = np.arange(len(codes)), seed_of(self.random_state)
        train, held_out = train_test_split(rows, test_size=self.validation_share, stratify=codes, random_state=seed)
        held_out_weight = None if weight is None else weight[held_out]
        if held_out_weight is not None and not np.bincount(codes[held_out], held_out_weight).all():
            raise InputError("The rows held back of a class all have weight 0; give rows of weight 0 no place in y.")
        index, truth = prevalence_samples(
            codes[held_out], len(self.classes_), self.samples, self.sample_size, seed, held_out_weight
        )
        options = {"size": self.sample_size} if facts.smoothed_by_size else {}

        def tried(parameters: dict[str, Any]) -> dict[str, Any]:
            one = clone(self.quantifier).set_params(**parameters)
            one.fit(_safe_indexing(X, train), labels[train], *([] if weight is None else [weight[train]]))
            entries = one.predict_many(_safe_indexing(X, held_out), index)
            return {"params": parameters, "loss": float(np.mean(facts.compute(truth, entries, **options)))}

        grid = ParameterGrid(self.param_grid)
        self.results_: list[dict[str, Any]] = Parallel(n_jobs=self.n_jobs)(delayed(tried)(line) for line in grid)
        sign = -1.0 if facts.better == "higher" else 1.0
        best = min(self.results_, key=lambda line: sign * line["loss"] if line["loss"] == line["loss"] else np.inf)
        self.best_params_, self.best_loss_ = best["params"], best["loss"]
        self.best_estimator_ = (
            clone(self.quantifier).set_params(**self.best_params_).fit(X, labels, *([] if weight is None else [weight]))
        )
        return self

    def predict(self, X: Any) -> Floats:
        """Shares of the classes in X by the best quantifier."""
        check_is_fitted(self, "best_estimator_")
        values: Floats = self.best_estimator_.predict(X)
        return values

    def quantify(self, X: Any, **options: Any) -> Any:
        """The best quantifier's estimate with its interval."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.quantify(X, **options)
