"""Isolines of metrics in ROC and precision–recall space, and dominated classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.metrics.declare import cell_settings
from tallymark.registry import METRICS, CellMetric

#: Recalls at which a metric is evaluated to find an isoline.
_RECALLS = np.linspace(0.0, 1.0, 201)


def metric_at_rates(
    metric: str, tpr: Any, fpr: Any, prevalence: float, parameters: Mapping[str, float] | None = None
) -> Floats:
    """A metric of the four cells at true and false positive rates and a prevalence."""
    facts = METRICS[metric]
    if not isinstance(facts, CellMetric):
        raise InputError(
            f"{metric} has no isolines; choose a metric of the four cells such as accuracy, f1 or expected_cost."
        )
    tpr, fpr = np.broadcast_arrays(np.asarray(tpr, dtype=np.float64), np.asarray(fpr, dtype=np.float64))
    cells = (prevalence * tpr, (1 - prevalence) * fpr, prevalence * (1 - tpr), (1 - prevalence) * (1 - fpr))
    return np.asarray(facts.cells(*cells, **cell_settings(facts, parameters or {})))


def recall_at_level(
    metric: str, fpr: float, level: float, prevalence: float, parameters: Mapping[str, float] | None = None
) -> float | None:
    """The recall at which a metric has a value, for a false positive rate; None where it never reaches it."""
    values = np.nan_to_num(metric_at_rates(metric, _RECALLS, fpr, prevalence, parameters), nan=-np.inf)
    sign = -1.0 if METRICS[metric].better == "lower" else 1.0
    rising = np.maximum.accumulate(sign * values)
    if not rising[0] <= sign * level <= rising[-1] or rising[0] == rising[-1]:
        return None
    kept = np.isfinite(rising)
    return float(np.interp(sign * level, rising[kept], _RECALLS[kept]))


def precision_at_f(level: float, beta: float, recall: Floats) -> Floats:
    """The precision at which F-beta has a value, F r / ((1 + b²) r - b² F); nan where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = level * recall / ((1 + beta**2) * recall - beta**2 * level)
    return np.where((precision > 0) & (precision <= 1.0), precision, np.nan)


def dominated(name: str, rates: Mapping[str, tuple[float, float]]) -> bool:
    """Whether another classifier has no lower tpr and no higher fpr, given (tpr, fpr) by name."""
    tpr, fpr = rates[name]
    return any(t >= tpr and f <= fpr and (t, f) != (tpr, fpr) for other, (t, f) in rates.items() if other != name)
