"""Counting classes in unlabelled data: how many there really are.

``tm.quantify.estimate`` works on scores alone, ``from_counts`` on a confusion table, ``estimate_many`` on many samples
of one pool; ``AC``, ``EM``, … wrap any scikit-learn classifier.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tallymark.errors import InputError
from tallymark.quantify import losses as losses
from tallymark.quantify import methods as methods
from tallymark.quantify.counts import from_counts as from_counts
from tallymark.quantify.estimating import estimate as estimate
from tallymark.quantify.estimating import estimate_many as estimate_many
from tallymark.quantify.posteriors import BayesianCalibration as BayesianCalibration
from tallymark.quantify.posteriors import bayesian_calibration as bayesian_calibration
from tallymark.quantify.prevalence import Prevalence as Prevalence
from tallymark.quantify.prevalence import Prevalences as Prevalences
from tallymark.quantify.shift import MixtureFit as MixtureFit
from tallymark.quantify.shift import MixtureFits as MixtureFits
from tallymark.quantify.shift import mixture_fit as mixture_fit
from tallymark.quantify.unseen import Sensitivity as Sensitivity
from tallymark.quantify.unseen import sensitivity as sensitivity
from tallymark.quantify.without_labels import expected as expected

if TYPE_CHECKING:
    from tallymark.quantify.calibrators import BayesCalibrator as BayesCalibrator
    from tallymark.quantify.estimators import AC as AC
    from tallymark.quantify.estimators import BL as BL
    from tallymark.quantify.estimators import CC as CC
    from tallymark.quantify.estimators import EM as EM
    from tallymark.quantify.estimators import KDE as KDE
    from tallymark.quantify.estimators import MS as MS
    from tallymark.quantify.estimators import PACC as PACC
    from tallymark.quantify.estimators import PCC as PCC
    from tallymark.quantify.estimators import SORD as SORD
    from tallymark.quantify.estimators import T50 as T50
    from tallymark.quantify.estimators import Bayes as Bayes
    from tallymark.quantify.estimators import ContinuousSweep as ContinuousSweep
    from tallymark.quantify.estimators import DyS as DyS
    from tallymark.quantify.estimators import Energy as Energy
    from tallymark.quantify.estimators import HDy as HDy
    from tallymark.quantify.estimators import Max as Max
    from tallymark.quantify.estimators import Sweep as Sweep
    from tallymark.quantify.estimators import XMethod as XMethod
    from tallymark.quantify.selection import GridSearch as GridSearch

#: What needs scikit-learn, which takes a second to load, waits until it is asked for.
_ESTIMATORS = (
    "AC", "BL", "Bayes", "CC", "ContinuousSweep", "DyS", "EM", "Energy", "HDy", "KDE", "MS", "Max", "PACC", "PCC", "SORD",
    "Sweep", "T50", "XMethod",
)  # fmt: skip
_HOMES = dict.fromkeys(_ESTIMATORS, "estimators") | {"BayesCalibrator": "calibrators", "GridSearch": "selection"}

__all__ = [  # noqa: PLE0604
    "BayesianCalibration", "MixtureFit", "MixtureFits", "Prevalence", "Prevalences", "Sensitivity", "bayesian_calibration",
    "estimate", "estimate_many", "expected", "from_counts", "losses", "mixture_fit", "sensitivity", *_HOMES,
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        try:
            return getattr(importlib.import_module(f"tallymark.quantify.{_HOMES[name]}"), name)
        except ModuleNotFoundError as error:
            if error.name != "sklearn":
                raise
            raise InputError(
                f"{name} needs scikit-learn; install it with: pip install 'tallymark[sklearn]'. Without it, "
                "tm.quantify.estimate counts from scores."
            ) from None
    raise AttributeError(f"module 'tallymark.quantify' has no attribute {name!r}")
