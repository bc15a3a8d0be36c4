"""Monitoring a classifier in use: counts by period, tests of drift, control charts and alarms."""

from tallymark.monitor.drift import watch
from tallymark.monitor.results import Watch, Watched

__all__ = ["Watch", "Watched", "watch"]


def __dir__() -> list[str]:
    return sorted(__all__)
