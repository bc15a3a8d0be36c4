"""Metrics as pure functions of a summary: ``tm.metrics.auroc(tally)`` gives a float.

The names follow from :data:`tallymark.registry.METRICS`, to which the modules below add their metrics, and from their
aliases of three letters or more; shorter aliases are names in ``metrics=`` only. Editors read ``__init__.pyi``.
"""

from __future__ import annotations

from typing import Any

from tallymark.metrics import (  # noqa: F401 - each adds its metrics to the registry
    at_k,
    correlation,
    cost,
    count_errors,
    multiclass,
    partial,
    precision_recall,
    probability,
    ranking,
    recalibration,
    threshold,
)
from tallymark.metrics.class_averages import AVERAGES
from tallymark.metrics.multiclass import spcc_one_vs_one, spcc_one_vs_rest
from tallymark.registry import METRICS

#: Functions that are no entries of the registry: those that give a matrix, and averages over classes.
_OTHERS = {function.__name__: function for function in (spcc_one_vs_one, spcc_one_vs_rest)} | AVERAGES

#: Letters from which an alias is also the name of a function.
_ALIAS_LENGTH = 3


def __getattr__(name: str) -> Any:
    if name in METRICS and (len(name) >= _ALIAS_LENGTH or name == METRICS[name].name):
        return METRICS[name].function
    if name in AVERAGES:
        return AVERAGES[name]
    raise AttributeError(f"module 'tallymark.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    aliases = {alias for metric in METRICS.values() for alias in metric.aliases if len(alias) >= _ALIAS_LENGTH}
    return sorted({*METRICS, *aliases, *_OTHERS})


__all__ = __dir__()  # noqa: PLE0605
