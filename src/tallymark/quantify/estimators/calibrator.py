"""Bayesian Calibration as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tallymark._check import Floats, Label
from tallymark.calibration.transformers import fitted_on
from tallymark.quantify.estimation.bayesian_calibration import bayesian_calibration
from tallymark.sources.constructors import tally_of_arrays


class BayesCalibrator(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian Calibration as a transformer: one column of scores in, one column of posteriors out.

    ``transform`` estimates the prevalence of the rows it is given, so a part of them has other posteriors than the
    whole. Fit it on out-of-fold scores.

    Parameters
    ----------
    density, bins, bandwidth, monotone
        As of :func:`tallymark.quantify.bayesian_calibration`.
    pos_label
        The positive label.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> c = tm.quantify.BayesCalibrator().fit(rng.normal(2 * y)[:, None], y)
    >>> c.transform(rng.normal(size=(100, 1))).shape
    (100, 1)

    """

    def __init__(
        self,
        *,
        density: str = "bins",
        bins: int | None = None,
        bandwidth: float | None = None,
        monotone: bool = False,
        pos_label: Label | None = None,
    ) -> None:
        self.density = density
        self.bins = bins
        self.bandwidth = bandwidth
        self.monotone = monotone
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the distribution of the scores in each class."""
        self.validation_ = fitted_on(self, X, y, sample_weight)
        return self

    def transform(self, X: Any) -> Floats:
        """Posteriors of the rows at the prevalence estimated from them."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        calibrated = bayesian_calibration(
            self.validation_,
            tally_of_arrays(None, X[:, 0]),
            level=None,
            density=self.density,
            bins=self.bins,
            bandwidth=self.bandwidth,
            monotone=self.monotone,
        )
        return calibrated.posterior(X[:, 0])[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
