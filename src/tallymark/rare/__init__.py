"""Quantification of a rare class in texts: classifiers trained on balanced samples, then Bayesian Calibration.

The classifiers are logistic regressions on words, trained where the class is common and applied where it is rare.
"""

from tallymark.rare.comparison import compare
from tallymark.rare.counts import WEIGHTS, balanced, bootstrap, class_weight_sweep, ensemble, split
from tallymark.rare.files import texts_in
from tallymark.rare.results import ClassWeightSweep, RareComparison, RareCount
from tallymark.rare.words import Cleaning

__all__ = [
    "WEIGHTS",
    "ClassWeightSweep",
    "Cleaning",
    "RareComparison",
    "RareCount",
    "balanced",
    "bootstrap",
    "class_weight_sweep",
    "compare",
    "ensemble",
    "split",
    "texts_in",
]


def __dir__() -> list[str]:
    return sorted(__all__)
