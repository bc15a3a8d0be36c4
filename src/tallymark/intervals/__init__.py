"""Confidence intervals, bands and tests: how sure a number is.

``tm.evaluate(..., level=0.95)`` puts an interval beside every metric; this room has the methods by name.
"""

from tallymark.intervals.bands import Band, calibration_band, pr_band, roc_band
from tallymark.intervals.base import Interval
from tallymark.intervals.choosing import ChosenThreshold, chosen_threshold
from tallymark.intervals.proportions import proportion
from tallymark.intervals.replicates import Replicates, bootstrap
from tallymark.intervals.roc_areas import DeLong, auroc, delong

__all__ = [
    "Band", "ChosenThreshold", "DeLong", "Interval", "Replicates", "auroc", "bootstrap", "calibration_band",
    "chosen_threshold", "delong", "pr_band", "proportion", "roc_band",
]  # fmt: skip
