"""``tm.outcomes``: columns of outcomes become a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import _check
from tallymark.errors import InputError
from tallymark.sources.frames import as_array, is_frame
from tallymark.summaries.outcomes import Outcomes


def outcomes(values: Mapping[str, Any], items: Any = None, clusters: Any = None) -> Outcomes:
    """Outcomes of systems on the same items, for :func:`tallymark.evaluate` and :func:`tallymark.compare`.

    Parameters
    ----------
    values
        Outcomes of each system by name: 0 and 1 (or False and True), or grades. A row is the same item, or the same run
        of an item, for all systems.
    items
        The item of each row, where items were run several times.
    clusters
        Which rows belong together, such as the conversation; by default rows of one item.

    Returns
    -------
    Outcomes

    Examples
    --------
    >>> import tallymark as tm
    >>> a, b = [1] * 70 + [0] * 30, [1] * 52 + [0] * 23 + [1] * 3 + [0] * 22
    >>> comparison = tm.compare(tm.outcomes({"a": a, "b": b}))
    >>> round(comparison.difference, 2), comparison.verdict
    (0.15, 'a is better')
    >>> runs = tm.outcomes({"a": [1, 0, 1, 1]}, items=["p", "p", "q", "q"])
    >>> float(runs.pass_at(2).mean()), float(runs.pass_all(2).mean())
    (1.0, 0.5)
    """
    if is_frame(values):
        values = _columns_of(values)
    if not isinstance(values, Mapping) or not values:
        raise InputError('outcomes takes columns by name: tm.outcomes({"a": passed_a, "b": passed_b}).')
    columns = {str(name): _check.scores(column, str(name)) for name, column in values.items()}
    named = {"items": items, "clusters": clusters}
    groups = {name: None if column is None else _check.groups(column, name) for name, column in named.items()}
    _check.same_length({**columns, **groups})
    _require_one_scale(columns)
    table = np.stack([np.asarray(column, dtype=np.float64) for column in columns.values()], axis=1)
    item = np.arange(len(table)) if groups["items"] is None else np.unique(groups["items"], return_inverse=True)[1]
    group = item if groups["clusters"] is None else np.unique(groups["clusters"], return_inverse=True)[1]
    if groups["clusters"] is not None and items is not None:
        first = np.zeros(item.max() + 1, dtype=np.int64)
        first[item] = group
        if (first[item] != group).any():
            raise InputError("clusters differ between rows of one item; an item belongs to one cluster.")
    return Outcomes(tuple(columns), table, item.astype(np.int64), group.astype(np.int64), clusters is not None)


def _columns_of(frame: Any) -> dict[str, Any]:
    import narwhals as nw

    data = nw.from_native(frame, eager_only=True)
    return {str(name): as_array(data[name]) for name in data.columns}


def _require_one_scale(columns: Mapping[str, Any]) -> None:
    """Refuse outcomes of 0 and 1 beside others that go far beyond: their means are of different things."""
    passes = [name for name, column in columns.items() if set(np.unique(column).tolist()) == {0.0, 1.0}]
    grades = [name for name, column in columns.items() if float(np.max(column)) > 1.0]
    if passes and grades:
        raise InputError(
            f"{', '.join(passes)} are 0 or 1 and {', '.join(grades)} go beyond 1: their means cannot be "
            "compared. Put all outcomes on one scale."
        )
