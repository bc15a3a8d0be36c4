"""Structured SVM: a linear classifier for losses of the contingency table (multivariate losses)."""

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
from tallymark.learners.table_losses import Q, TableLoss, has_beta, table_loss
from tallymark.notes import Note, emit


class StructuredSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Joachims' multivariate SVM (2005) for losses of the contingency table, by one-slack cutting planes.

    Minimises :math:`\frac12\|w\|^2 + C\,\max_{y'}[\Delta(y') - w\cdot g(y')]` over all labellings y' of the training
    rows, with :math:`g(y') = \frac1{2n}\sum_i (y_i - y'_i)x_i`. With the loss ``"accuracy"`` this is the hinge-loss SVM
    ``LinearSVC(loss="hinge", C=C / n)``. The positive class is the later of ``classes_``. Scale the attributes first; X
    may be sparse.

    Fitting stops when ``gap_``, the distance to the optimum over C, is at most `tol` and small relative to the gain
    over w = 0, or after `max_iter` steps, with a warning. Where the classes overlap much the optimum may be w = 0; then
    the hyperplane with the lowest training loss of all steps is kept, with a warning.

    Parameters
    ----------
    loss : str or callable
        ``"q"``, the Q-measure of a classification and a quantification score (Barranquero, Díez & del Coz 2015); the
        name of a quantification loss such as ``"ae"``, ``"nas"`` or ``"kld"``; that of a metric at one threshold such
        as ``"f1"``, ``"geometric_mean"`` or ``"fbeta"``; or a function of arrays tp, fp, fn, tn with losses from 0 to
        1.
    beta : float
        Beta of the Q-measure, or of the metric ``"fbeta"``.
    classification, quantification : str
        The two scores of the Q-measure.
    C : float
        Regularisation; C in the scale of SVM-perf is C here over 4n².
    tol : float
        Tolerance of ``gap_``.
    max_iter : int
        Maximum number of steps.
    intercept_scaling : float
        Value of the attribute whose coefficient is the intercept, penalised like the others; 0 for no intercept.
    warm_start : bool
        Whether to start from the hyperplane of the last fit.
    progress : callable, optional
        Called with the percentage done.

    Examples
    --------
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
        """Find the hyperplane with the lowest regularised loss of the table."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self._require_numbers()
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise InputError(
                f"Only binary classification is supported: y has {len(self.classes_)} class"
                f"{'' if len(self.classes_) == 1 else 'es'}, {shown(self.classes_.tolist(), 4)}; "
                "a contingency table has two."
            )
        positives = int(codes.sum())
        loss = table_loss(
            self.loss,
            positives,
            len(codes) - positives,
            beta=self.beta,
            classification=self.classification,
            quantification=self.quantification,
        )
        problem = _Problem(X, codes == 1, self.intercept_scaling, loss)
        start: Floats = np.zeros(X.shape[1] + 1)
        self.coef_: Floats
        self.intercept_: Floats
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape[1] == X.shape[1]:
            scaling = self.intercept_scaling or 1.0
            start = np.append(self.coef_[0], self.intercept_[0] / scaling)
        solution = minimise(problem.plane, start, float(self.C), self.tol, self.max_iter, self.progress)
        w, gap = solution.w, solution.gap
        self.n_iter_, self.converged_ = solution.steps, solution.converged
        if not w.any() and problem.lowest_loss_w is not None:
            # w = 0 classifies nothing: keep the hyperplane with the lowest training loss, though its bound is higher.
            w, self.converged_ = problem.lowest_loss_w, False
            gap = (problem.objective(w, float(self.C)) - solution.bound) / float(self.C)
        self.coef_ = w[None, :-1]
        self.intercept_ = w[-1:] * self.intercept_scaling
        self.gap_ = gap
        emit(self._notes(at_zero=not solution.w.any()))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Signed distance from the hyperplane, times the length of ``coef_``."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        values: Floats = np.asarray(X @ self.coef_[0]).ravel() + self.intercept_[0]
        return values

    def predict(self, X: Any) -> Any:
        """The later class where the decision function is above 0."""
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
            default = inspect.signature(StructuredSVM).parameters[name].default
            if getattr(self, name) != default and not (name == "beta" and has_beta(self.loss)):
                raise InputError(f"{name} is an option of loss='q'; leave it out with loss={self.loss!r}.")
        scaling = self.intercept_scaling
        if not isinstance(scaling, int | float | np.number) or not 0.0 <= scaling < np.inf:
            raise InputError(f"intercept_scaling is {scaling!r}, expected a number of 0 or more.")

    def _notes(self, *, at_zero: bool) -> list[Note]:
        if at_zero:
            used = "the hyperplane with the lowest training loss" if self.coef_.any() else "its last hyperplane"
            message = (
                f"at C = {self.C:g} no hyperplane lowers the bound of this loss below that of w = 0, which predicts "
                f"one class for every row; {used} is used. Where a larger C ends at w = 0 too, the classes overlap "
                "too much for this loss: take another, such as nas or balanced_accuracy"
            )
            return [Note("TM115", message)]
        if self.converged_:
            return []
        message = (
            f"StructuredSVM stopped after {self.n_iter_} steps with a gap of {self.gap_:.2g}, above tol {self.tol:g} "
            "or too large relative to the gain; raise max_iter, lower C or scale the attributes"
        )
        return [Note("TM115", message)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class _Problem:
    """Rows of both classes and a loss; :meth:`plane` is the cutting plane of the most violated labelling at w."""

    def __init__(self, X: Any, positive: Any, scaling: float, loss: TableLoss) -> None:
        order = np.concatenate((np.flatnonzero(positive), np.flatnonzero(~positive)))
        self.X = X[order]
        # Transposed once: products of sparse matrices by columns are slow.
        self.transposed = self.X.T.tocsr() if issparse(self.X) else self.X.T
        self.positives, self.n = int(positive.sum()), len(order)
        self.scaling, self.loss = scaling, loss
        #: The queried w with the lowest training loss, if it is lower than that of predicting nothing positive.
        self.lowest_loss_w: Floats | None = None
        self._lowest_loss = float(loss.at(np.array([0]), np.array([0]))[0])

    def objective(self, w: Floats, C: float) -> float:
        slope, height = self.plane(w)
        return 0.5 * float(w @ w) + C * max(height - float(w @ slope), 0.0)

    def plane(self, w: Floats) -> tuple[Floats, float]:
        scores = (np.asarray(self.X @ w[:-1]).ravel() + w[-1] * self.scaling) / self.n
        positive = scores > 0.0
        parts = positive[: self.positives], positive[self.positives :]
        training_loss = float(self.loss.at(*(np.array([np.count_nonzero(part)]) for part in parts))[0])
        if training_loss < self._lowest_loss:
            self._lowest_loss, self.lowest_loss_w = training_loss, w.copy()
        worst = most_violated(self.loss, scores[: self.positives], scores[self.positives :])
        # False negatives count 1/n each, false positives -1/n.
        share = np.zeros(self.n)
        share[: self.positives] = 1.0 / self.n
        share[worst.hits] = 0.0
        share[self.positives + worst.false_alarms] = -1.0 / self.n
        slope = np.append(np.asarray(self.transposed @ share).ravel(), share.sum() * self.scaling)
        return slope, worst.loss
