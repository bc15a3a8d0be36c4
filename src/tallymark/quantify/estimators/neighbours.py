"""Nearest-neighbour quantifiers: adjusted count of predictions by k nearest neighbours.

One search for the longest list of neighbours serves every k and alpha of the grid and the error rates: a row's
prediction without it needs no new fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats, Ints
from tallymark.errors import InputError
from tallymark.learners.out_of_fold import Neighbourhood, geometric_mean_of_recalls, stratified_folds
from tallymark.learners.proportion_weighted import PWKClassifier, checked_neighbors
from tallymark.learners.votes import checked_alpha
from tallymark.quantify.estimation.rate_error import error_of_rates
from tallymark.quantify.estimators.base import BaseQuantifier, RandomState, seed_of
from tallymark.registry import require_one_of

#: The grid of the method's authors, searched by the geometric mean of the recalls in two times five folds.
NEIGHBORS = (1, 3, 5, 7, 11, 15, 25, 35, 45)
_REPEATS, _FOLDS = 2, 5

#: Numbers of neighbours by the number of rows (Enas & Choi 1986, Comput. Math. Appl. 12A), as exponents.
_POWERS = {"n^(2/8)": 2 / 8, "n^(3/8)": 3 / 8}

Choice = Literal["geometric_mean", "max", "x", "t50", "variance"]


def _of_rates(score: Callable[[float, float, float, float], float]) -> Callable[[Ints, Ints, int], float]:
    """A rule on true positives, positives, false positives and negatives, as one on codes and predictions."""

    def rule(codes: Ints, predicted: Ints, _: int) -> float:
        tn, fp, fn, tp = np.bincount(2 * codes + predicted, minlength=4).tolist()
        return score(tp, tp + fn, fp, fp + tn)

    return rule


#: How good k and alpha are by out-of-fold predictions; the rules of thresholds that have the same name, and the error
#: of the adjusted count. Higher is better.
_RULES: Mapping[Choice, Callable[[Ints, Ints, int], float]] = {
    "geometric_mean": geometric_mean_of_recalls,
    "max": _of_rates(lambda tp, p, fp, n: tp / p - fp / n),
    "x": _of_rates(lambda tp, p, fp, n: -abs(1.0 - tp / p - fp / n)),
    "t50": _of_rates(lambda tp, p, *_: -abs(tp / p - 0.5)),
    "variance": _of_rates(lambda *cells: -error_of_rates(*cells)),
}


class _Neighbours(BaseQuantifier):
    method = "ac"

    n_neighbors: int | str | Sequence[int] | None
    choose: Choice
    metric: Any
    metric_params: Any
    cv: int | str
    random_state: RandomState
    n_jobs: int | None

    def _alphas(self) -> list[float | None]:
        raise TypeError(f"{type(self).__name__} has no weights")

    def fit(self, X: Any, y: Any) -> Self:
        """Choose from the grid and estimate the error rates, from one search for neighbours."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        labels, codes = self._labels_of(y)
        if np.bincount(codes).min() < 2:
            raise InputError("One class has a single row; error rates need two or more of each class.")
        self._check_rule(len(self.classes_))
        ks, alphas = self._grid(len(codes)), self._alphas()
        rng = np.random.default_rng(seed_of(self.random_state))
        chosen_in = [stratified_folds(codes, _FOLDS, rng) for _ in range(_REPEATS)]
        rates_in = None if self.cv == "loo" else stratified_folds(codes, self._folds(), rng)
        fewest = min([_FOLDS] + ([] if rates_in is None else [self._folds()]))
        around = Neighbourhood(
            X, codes, max(ks), fewest, metric=self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs
        )
        self.grid_: list[dict[str, Any]] = []
        pair: tuple[int, float | None] = (ks[0], alphas[0])
        if len(ks) * len(alphas) > 1:
            self.grid_ = _searched(around, codes, chosen_in, ks, alphas, self.choose)
            best = max(self.grid_, key=lambda line: line[self.choose])
            pair = (best["n_neighbors"], best["alpha"])
        self.n_neighbors_, self.alpha_ = pair
        one = ([self.n_neighbors_], [self.alpha_])
        lines = around.left_out(*one) if rates_in is None else around.in_folds(rates_in, *one)
        ((_, _, predicted),) = lines
        self.classifier_ = PWKClassifier(
            self.n_neighbors_, self.alpha_, self.metric, metric_params=self.metric_params, n_jobs=self.n_jobs
        ).fit(X, y)
        self._learn(labels, self._as_scores(predicted))
        return self

    def _check_rule(self, classes: int) -> None:
        require_one_of("choose", self.choose, tuple(_RULES))
        if classes > 2 and self.choose != "geometric_mean":
            raise InputError(f"choose={self.choose!r} is for two classes; there are {classes}.")

    def _grid(self, rows: int) -> list[int]:
        """Numbers of neighbours to try: those of the grid that leave-one-out and folds can give."""
        most = rows - 1 - rows // _FOLDS
        if self.n_neighbors is None:
            return [k for k in NEIGHBORS if k <= most] or [1]
        if isinstance(self.n_neighbors, str):
            require_one_of("n_neighbors", self.n_neighbors, tuple(_POWERS))
            return [max(1, min(round(rows ** _POWERS[self.n_neighbors]), most))]
        candidates = self.n_neighbors if isinstance(self.n_neighbors, Iterable) else [self.n_neighbors]
        if not (checked := {checked_neighbors(k, rows - 1) for k in candidates}):
            raise InputError("n_neighbors is an empty list; give a number, several to choose from, or None.")
        return sorted(checked)

    def _folds(self) -> int:
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise InputError(f"cv is {self.cv!r}, expected 'loo' (leave one out) or a number of folds of 2 or more.")
        return int(self.cv)

    def _as_scores(self, codes: Ints) -> Floats:
        """Predicted classes as scores: 0 or 1, or a column per class."""
        table: Floats = np.eye(len(self.classes_))[codes]
        return table[:, 1] if len(self.classes_) == 2 else table

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self, "validation_")
        return self._as_scores(np.searchsorted(self.classes_, self.classifier_.predict(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _searched(
    around: Neighbourhood,
    codes: Ints,
    folds: Sequence[Ints],
    ks: Sequence[int],
    alphas: Sequence[float | None],
    choose: Choice,
) -> list[dict[str, Any]]:
    """The value of each k and alpha by a rule, averaged over the repeats."""
    totals: dict[tuple[int, float | None], float] = {}
    for fold in folds:
        for k, alpha, predicted in around.in_folds(fold, ks, alphas):
            score = _RULES[choose](codes, predicted, around.classes)
            totals[k, alpha] = totals.get((k, alpha), 0.0) + score / len(folds)
    return [{"n_neighbors": k, "alpha": alpha, choose: score} for (k, alpha), score in totals.items()]


class KNN(_Neighbours):
    """Adjusted count of nearest-neighbour predictions; k is chosen from a grid unless it is given.

    Parameters
    ----------
    n_neighbors
        A number, several to choose from, or None for 1, 3, 5, 7, 11, 15, 25, 35, 45; of several the best in two times
        five folds is taken. ``"n^(2/8)"`` and ``"n^(3/8)"`` are powers of the number of rows.
    choose
        What the best is: ``geometric_mean`` of the classes' recalls; for two classes also ``max`` (the largest tpr −
        fpr), ``x`` (fnr nearest to fpr), ``t50`` (tpr nearest to ½), as thresholds are chosen, or ``variance`` (the
        least :func:`~tallymark.quantify.adjusted_count_error`).
    metric, metric_params
        Distance, as scikit-learn's.
    cv
        How error rates are estimated: ``"loo"`` (leave one out) or a number of folds.
    random_state
        Seed of the folds.
    n_jobs
        Parallel searches.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, random_state=0)
    >>> tm.quantify.KNN().fit(X[:600], y[:600]).predict(X[600:]).round(2).tolist()
    [0.49, 0.51]

    """

    def __init__(
        self,
        n_neighbors: int | str | Sequence[int] | None = None,
        *,
        choose: Choice = "geometric_mean",
        metric: Any = "euclidean",
        metric_params: Any = None,
        cv: int | str = "loo",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.choose = choose
        self.metric = metric
        self.metric_params = metric_params
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _alphas(self) -> list[float | None]:
        return [np.inf]


class PWK(_Neighbours):
    r"""Adjusted count of proportion-weighted neighbour predictions (Barranquero et al. 2013).

    Parameters
    ----------
    n_neighbors, choose, metric, metric_params, cv, random_state, n_jobs
        As of :class:`KNN`.
    alpha
        None weights a class by :math:`1 - N_c/S` (PWK), a number by :math:`(N_c/M)^{-1/\alpha}` (PWKα); several, such
        as ``(1, 2, 3, 4, 5)``, are chosen from together with k.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import tallymark as tm
    >>> X, y = make_classification(1000, weights=[0.8], random_state=0)
    >>> q = tm.quantify.PWK(alpha=(1, 2, 3, 4, 5)).fit(X[:600], y[:600])
    >>> q.n_neighbors_, q.alpha_, q.predict(X[600:]).round(2).tolist()
    (35, 1.0, [0.79, 0.21])

    """

    def __init__(
        self,
        n_neighbors: int | str | Sequence[int] | None = None,
        *,
        choose: Choice = "geometric_mean",
        alpha: float | Sequence[float] | None = None,
        metric: Any = "euclidean",
        metric_params: Any = None,
        cv: int | str = "loo",
        random_state: RandomState = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.choose = choose
        self.alpha = alpha
        self.metric = metric
        self.metric_params = metric_params
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _alphas(self) -> list[float | None]:
        if self.alpha is None:
            return [None]
        candidates = self.alpha if isinstance(self.alpha, Iterable) else [self.alpha]
        if not (checked := {checked_alpha(alpha) for alpha in candidates}):
            raise InputError("alpha is an empty list; give a number, several to choose from, or None.")
        return [*sorted(checked)]
