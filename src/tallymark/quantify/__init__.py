"""Quantification: the prevalence of classes in unlabelled data, from a classifier's scores.

``estimate`` takes scores, ``estimate_many`` many samples of one pool; ``Quantifier`` and its named forms ``AC``,
``EM``, … wrap any scikit-learn classifier. ``tm.audits`` estimates from rows that were checked by hand.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tallymark.errors import InputError
from tallymark.quantify import losses as losses
from tallymark.quantify.estimation.bayesian_calibration import BayesianCalibration as BayesianCalibration
from tallymark.quantify.estimation.bayesian_calibration import bayesian_calibration as bayesian_calibration
from tallymark.quantify.estimation.class_drift import ClassDrift as ClassDrift
from tallymark.quantify.estimation.class_drift import class_drift as class_drift
from tallymark.quantify.estimation.count import Count as Count
from tallymark.quantify.estimation.count import count as count
from tallymark.quantify.estimation.estimate import estimate as estimate
from tallymark.quantify.estimation.estimate import estimate_many as estimate_many
from tallymark.quantify.estimation.expected import expected as expected
from tallymark.quantify.estimation.mixture_test import MixtureFit as MixtureFit
from tallymark.quantify.estimation.mixture_test import MixtureFits as MixtureFits
from tallymark.quantify.estimation.mixture_test import mixture_fit as mixture_fit
from tallymark.quantify.estimation.numeric import NumericEstimate as NumericEstimate
from tallymark.quantify.estimation.numeric import regression as regression
from tallymark.quantify.estimation.prevalence import Prevalence as Prevalence
from tallymark.quantify.estimation.prevalence import Prevalences as Prevalences
from tallymark.quantify.estimation.rate_error import adjusted_count_error as adjusted_count_error
from tallymark.quantify.estimation.sensitivity import Sensitivity as Sensitivity
from tallymark.quantify.estimation.sensitivity import sensitivity as sensitivity

if TYPE_CHECKING:
    from tallymark.quantify.estimators.base import Quantifier as Quantifier
    from tallymark.quantify.estimators.calibrator import BayesCalibrator as BayesCalibrator
    from tallymark.quantify.estimators.grid_search import GridSearch as GridSearch
    from tallymark.quantify.estimators.neighbours import KNN as KNN
    from tallymark.quantify.estimators.neighbours import PWK as PWK
    from tallymark.quantify.estimators.wrappers import *  # noqa: F403

#: Modules that need scikit-learn, which takes a second to import, and the names they define; loaded on first use.
_LAZY = {
    "base": ("Quantifier",),
    "calibrator": ("BayesCalibrator",),
    "grid_search": ("GridSearch",),
    "neighbours": ("KNN", "PWK"),
    "wrappers": (
        "AC", "BL", "Bayes", "CC", "ContinuousSweep", "DyS", "EM", "Energy", "HDy", "KDE", "MS", "Max", "PACC", "PCC",
        "SORD", "Sweep", "T50", "XMethod",
    ),
}  # fmt: skip
_HOMES = {name: home for home, names in _LAZY.items() for name in names}

#: Names of ``tm.audits`` that are also reached from here; that package imports this one, so they are looked up late.
_OF_AUDITS = ("from_audit", "from_counts")

__all__ = [  # noqa: PLE0604
    "BayesianCalibration", "ClassDrift", "Count", "MixtureFit", "MixtureFits", "NumericEstimate", "Prevalence",
    "Prevalences", "Sensitivity", "adjusted_count_error", "bayesian_calibration", "class_drift", "count", "estimate",
    "estimate_many", "expected", "losses", "mixture_fit", "regression", "sensitivity", *_HOMES,
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _OF_AUDITS:
        return getattr(importlib.import_module("tallymark.audits"), name)
    if name in _HOMES:
        try:
            return getattr(importlib.import_module(f"tallymark.quantify.estimators.{_HOMES[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name not in {"sklearn", "joblib"}:
                raise
            raise InputError(
                f"{name} needs scikit-learn; install it with: pip install 'tallymark[sklearn]'. Without it, "
                "tm.quantify.estimate counts from scores."
            ) from None
    raise AttributeError(f"module 'tallymark.quantify' has no attribute {name!r}")
