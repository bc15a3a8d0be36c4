"""Calibration maps as scikit-learn transformers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats, Label
from tallymark.calibration.maps import calibrate
from tallymark.errors import InputError
from tallymark.sources.constructors import tally_of_arrays
from tallymark.summaries.tally import Tally


class Calibrator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A calibration map as a transformer: one column of scores in, one column of probabilities out.

    Fit it on scores of rows the classifier was not trained on.

    Parameters
    ----------
    method : {"platt", "isotonic", "beta", "temperature"}
        The calibration method.
    pos_label : label, optional
        The positive class; the last of ``classes_`` by default.

    Examples
    --------
    >>> import tallymark as tm
    >>> c = tm.calibration.Calibrator("platt").fit([[-2.0], [0.5], [-0.5], [3.0]], [0, 0, 1, 1])
    >>> c.transform([[0.0]]).round(2).tolist()
    [[0.48]]
    """

    def __init__(self, method: str = "platt", pos_label: Label | None = None) -> None:
        self.method = method
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit on one column of scores and their labels."""
        self.map_ = calibrate(fitted_on(self, X, y, sample_weight), self.method)
        return self

    def transform(self, X: Any) -> Floats:
        """Probabilities of one column of scores."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return self.map_(X[:, 0])[:, None]

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Name of the output column."""
        return np.array(["probability"], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def fitted_on(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Tally:
    """The labelled tally of one column of scores; sets the estimator's classes and number of columns."""
    X, y = validate_data(estimator, X, y)
    one_column(X)
    estimator.classes_ = np.unique(y)
    # The last of two classes is positive, as in scikit-learn.
    positive = estimator.classes_[-1] if estimator.pos_label is None else estimator.pos_label
    return tally_of_arrays(y, X[:, 0], weights=sample_weight, pos_label=positive)


def one_column(X: Floats) -> None:
    """Refuse anything but one column of scores."""
    if X.shape[1] != 1:
        raise InputError(f"X has {X.shape[1]} columns, expected one column of scores; pass predict_proba(X)[:, [1]].")
