"""Confidence intervals, bands and tests: how sure a number is.

``tm.evaluate(..., level=0.95)`` puts an interval beside every metric; this room has the methods by name.
"""

from tallymark.intervals.base import Interval
from tallymark.intervals.proportions import proportion
from tallymark.intervals.replicates import Replicates, bootstrap

__all__ = ["Interval", "Replicates", "bootstrap", "proportion"]
