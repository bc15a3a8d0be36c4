"""Rare events in text: from raw texts to a count of a class that is one in a thousand.

Machines are trained where the class is common and asked where it is rare; Bayesian Calibration makes up for the difference.
"""

from tallymark.rare.counts import WEIGHTS, bootstrap, class_weight_sweep, ensemble, split
from tallymark.rare.files import texts_in
from tallymark.rare.results import ClassWeightSweep, RareCount
from tallymark.rare.words import Cleaning

__all__ = [
    "WEIGHTS",
    "ClassWeightSweep",
    "Cleaning",
    "RareCount",
    "bootstrap",
    "class_weight_sweep",
    "ensemble",
    "split",
    "texts_in",
]


def __dir__() -> list[str]:
    return sorted(__all__)
