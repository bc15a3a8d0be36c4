"""A linear SVM that learns a loss of the whole contingency table instead of one of single rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats
from tallymark.errors import InputError, shown
from tallymark.learners.cutting_plane import minimise
from tallymark.learners.most_violated import most_violated
from tallymark.learners.table_losses import Q, has_beta, table_loss
from tallymark.notes import Note, emit


class StructuredSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Joachims' multivariate SVM (2005) for losses of the contingency table, by one-slack cutting planes.

    Minimises :math:`\frac12\|w\|^2 + C\,\max_{y'}[\Delta(y') - w\cdot g(y')]` over all labellings y' of the training rows, with
    :math:`g(y') = \frac1{2n}\sum_i (y_i - y'_i)x_i`. With the loss ``"accuracy"`` this is the hinge-loss SVM
    ``LinearSVC(loss="hinge", C=C / n)``; C in the scale of SVM-perf is C here over 4n².

    `loss` is ``"q"``, the Q-measure of a `classification` score and a `quantification` score with `beta` (Barranquero, Díez &
    del Coz 2015); the name of a quantification loss such as ``"ae"``, ``"nas"`` or ``"kld"``; that of a metric at one threshold
    such as ``"f1"``, ``"geometric_mean"``, ``"accuracy"`` or ``"fbeta"`` (of `beta`); or a function of arrays tp, fp, fn, tn that gives losses from 0 to 1.
    The positive class is the later of ``classes_``. Scale the attributes first; X may be sparse. The intercept is an attribute
    of value `intercept_scaling` (0 for none), penalised like the others. Fitting stops when ``gap_``, the distance to the
    optimum over C, is at most `tol` and small beside what was gained over w = 0, or after `max_iter` steps, with a warning. Of
    classes that overlap much the optimum itself may be w = 0; then the hyperplane with the least training loss that was met on
    the way is kept, and a warning says so.
    `warm_start` begins at the last fit's hyperplane; `progress` is called with the percentage done.

    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> X = rng.normal(size=(300, 2)) + 1.5 * y[:, None]
    >>> svm = tm.learners.StructuredSVM(loss="q").fit(X, y)
    >>> svm.converged_, int(svm.predict(X).sum())
    (True, 106)
    """

    def __init__(
        self,
        loss: str | Callable[..., Any] = "q",
        *,
        beta: float = 2.0,
        classification: str = "recall",
        quantification: str = "nas",
        C: float = 1000.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.loss = loss
        self.beta = beta
        self.classification = classification
        self.quantification = quantification
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.intercept_scaling = intercept_scaling
        self.warm_start = warm_start
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplane with the least regularised loss of the table."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self._require_numbers()
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"Only binary classification is supported: y has {len(self.classes_)} class"
                f"{'' if len(self.classes_) == 1 else 'es'}, {shown(self.classes_.tolist(), 4)}; a contingency table has two."
            )
        problem = _Problem(X, codes == 1, self.intercept_scaling, table_loss(
            self.loss, int(codes.sum()), int(len(codes) - codes.sum()), beta=self.beta,
            classification=self.classification, quantification=self.quantification,
        ))  # fmt: skip
        start: Floats = np.zeros(X.shape[1] + 1)
        self.coef_: Floats
        self.intercept_: Floats
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape[1] == X.shape[1]:
            scaling = self.intercept_scaling or 1.0
            start = np.append(self.coef_[0], self.intercept_[0] / scaling)
        solution = minimise(problem.plane, start, float(self.C), self.tol, self.max_iter, self.progress)
        w, gap = solution.w, solution.gap
        self.n_iter_, self.converged_ = solution.steps, solution.converged
        if not w.any() and problem.least_met is not None:
            # Nothing is no classifier: the best one that was met on the way is, though its bound is higher.
            w, self.converged_ = problem.least_met, False
            gap = (problem.objective(w, float(self.C)) - solution.bound) / float(self.C)
        self.coef_ = w[None, :-1]
        self.intercept_ = w[-1:] * self.intercept_scaling
        self.gap_ = gap
        emit(self._doubts(nothing=not solution.w.any()))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Signed distance from the hyperplane, times the length of ``coef_``."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values: Floats = np.asarray(X @ self.coef_[0]).ravel() + self.intercept_[0]
        return values

    def predict(self, X: Any) -> Any:
        """The later class where the decision is above 0."""
        above = self.decision_function(X) > 0.0
        return self.classes_[above.astype(np.int64)]

    def _require_numbers(self) -> None:
        for name, least in (("C", 0.0), ("tol", 0.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not least < value < np.inf:
                raise InputError(f"{name} is {value!r}, expected a number above 0.")
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise InputError(f"max_iter is {self.max_iter!r}, expected a whole number of 1 or more.")
        for name in () if self.loss == Q else ("beta", "classification", "quantification"):
            unstated = inspect.signature(StructuredSVM).parameters[name].default
            if getattr(self, name) != unstated and not (name == "beta" and has_beta(self.loss)):
                raise InputError(f"{name} is an option of loss='q'; leave it out with loss={self.loss!r}.")
        scaling = self.intercept_scaling
        if not isinstance(scaling, int | float | np.number) or not 0.0 <= scaling < np.inf:
            raise InputError(f"intercept_scaling is {scaling!r}, expected a number of 0 or more.")

    def _doubts(self, *, nothing: bool) -> list[Note]:
        notes = []
        if not self.converged_ and not nothing:
            notes.append(
                Note("TM115", f"StructuredSVM stopped after {self.n_iter_} steps with a gap of {self.gap_:.2g}, above tol "
                     f"{self.tol:g} or too large beside what was gained; raise max_iter, lower C or scale the attributes")
            )  # fmt: skip
        if nothing:
            used = (
                "its last hyperplane"
                if not self.coef_.any()
                else "the hyperplane with the least training loss on the way"
            )
            notes.append(
                Note("TM115", f"at C = {self.C:g} no hyperplane lowers the bound of this loss below that of w = 0, which predicts one "
                     f"class for every row; {used} is used. Where a larger C ends there too, the classes overlap too much for "
                     "this loss: take another, such as nas or balanced_accuracy")
            )  # fmt: skip
        return notes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class _Problem:
    """Rows of both classes and a loss: asked at w, it gives the plane of the labelling that violates most there."""

    def __init__(self, X: Any, positive: Any, scaling: float, loss: Any) -> None:
        order = np.concatenate((np.flatnonzero(positive), np.flatnonzero(~positive)))
        self.X = X[order]
        # Transposed once: products of sparse matrices by columns are slow.
        self.transposed = self.X.T.tocsr() if issparse(self.X) else self.X.T
        self.positives, self.n = int(positive.sum()), len(order)
        self.scaling, self.loss = scaling, loss
        #: Of all places asked for, the one whose own predictions lose least, if any loses less than predicting nothing.
        self.least_met: Floats | None = None
        self._least = float(loss.at(np.array([0]), np.array([0]))[0])

    def objective(self, w: Floats, C: float) -> float:
        slope, height = self.plane(w)
        return 0.5 * float(w @ w) + C * max(height - float(w @ slope), 0.0)

    def plane(self, w: Floats) -> tuple[Floats, float]:
        scores = (np.asarray(self.X @ w[:-1]).ravel() + w[-1] * self.scaling) / self.n
        positive = scores > 0.0
        told = [np.array([np.count_nonzero(part)]) for part in (positive[: self.positives], positive[self.positives :])]
        if (lost := float(self.loss.at(*told)[0])) < self._least:
            self._least, self.least_met = lost, w.copy()
        worst = most_violated(self.loss, scores[: self.positives], scores[self.positives :])
        # Missed positives count 1/n each, false alarms -1/n.
        share = np.zeros(self.n)
        share[: self.positives] = 1.0 / self.n
        share[worst.hits] = 0.0
        share[self.positives + worst.false_alarms] = -1.0 / self.n
        slope = np.append(np.asarray(self.transposed @ share).ravel(), share.sum() * self.scaling)
        return slope, worst.loss
