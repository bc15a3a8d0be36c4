"""Confidence intervals, bands and tests by name.

``tm.evaluate(..., level=0.95)`` gives the default interval of every metric.
"""

from tallymark.inference.hypothesis_tests.delong import DeLong, auroc, delong
from tallymark.inference.hypothesis_tests.heterogeneity import Heterogeneity, heterogeneity
from tallymark.inference.interval import Interval
from tallymark.inference.limits.bands import Band, calibration_band, pr_band, roc_band
from tallymark.inference.limits.optimism import ChosenThreshold, chosen_threshold
from tallymark.inference.limits.proportions import proportion
from tallymark.inference.resampling.bootstrapping import Replicates, bootstrap

__all__ = [
    "Band", "ChosenThreshold", "DeLong", "Heterogeneity", "Interval", "Replicates", "auroc", "bootstrap",
    "calibration_band", "chosen_threshold", "delong", "heterogeneity", "pr_band", "proportion", "roc_band",
]  # fmt: skip
