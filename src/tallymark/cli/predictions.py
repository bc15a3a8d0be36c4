"""Predictions of two classes by several classifiers, as the panel that tests them against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark.cli.options import WeightedRowOptions
from tallymark.sources.constructors import panel
from tallymark.summaries.panel import Panel


def panel_of_predictions(
    data: Mapping[str, NDArray[np.generic]],
    label: str,
    predicted: Sequence[str],
    rows: WeightedRowOptions,
    cluster: str | None = None,
) -> Panel:
    """Predicted classes as scores of 0 and 1."""
    truth, labels = _check.binary_labels(data[label], rows.pos_label, label)
    scores = {
        name: np.asarray(_check.calls(data[name], data[label], name, label) == labels[1], dtype=np.float64)
        for name in predicted
    }
    return panel(
        truth,
        scores,
        counts=None if rows.count is None else data[rows.count],
        weights=None if rows.weight is None else data[rows.weight],
        clusters=None if cluster is None else data[cluster],
    )
