"""Tallies of columns in memory, by model and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Column, Ints, Label
from tallymark.errors import InputError
from tallymark.sources.roles import Roles
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

Columns = Mapping[str, Column]

#: Up to this many rows the columns are read whole and nothing is quantised.
SMALL = 2_000_000


def tallies_of_columns(columns: Columns, roles: Roles) -> Tallies:
    """Tallies by score column and group."""
    is_positive, labels = None, None
    if roles.label is not None:
        # Which label is positive is settled on all rows; a single group may lack a class.
        is_positive, labels = _check.binary_labels(columns[roles.label], roles.pos_label, roles.label)
    n, w = checked_mass(*(None if name is None else columns[name] for name in (roles.count, roles.weight)))
    cluster = None if roles.cluster is None else checked_cluster(columns[roles.cluster], roles.cluster)
    groups = list(rows_by_group([_check.groups(columns[name], name) for name in roles.by]))
    entries: dict[tuple[Any, ...], Tally] = {}
    for name in roles.scores:
        s = _check.scores(columns[name], name)
        _check.same_length({"labels": is_positive, name: s, "counts": n, "weights": w, "cluster": cluster})
        for key, rows in groups:
            entries[name, *key] = Tally.of(
                s[rows],
                None if is_positive is None else is_positive[rows],
                labels,
                counts=None if n is None else n[rows],
                weights=None if w is None else w[rows],
                cluster=None if cluster is None else cluster[rows],
            )
    return Tallies(("model", *roles.by), entries)


def rows_by_group(columns: Sequence[Column]) -> Iterable[tuple[tuple[Any, ...], Any]]:
    """Each combination of group values with the rows that have it."""
    if not columns:
        yield (), slice(None)
        return
    coded = [_coded(column) for column in columns]
    combined = np.zeros(len(columns[0]), dtype=np.int64)
    for labels, codes in coded:
        # Numbered anew after each column, so that no product of their sizes can overflow.
        combined = np.unique(combined * len(labels) + codes, return_inverse=True)[1]
    order = np.argsort(combined, kind="stable")
    starts = np.concatenate(([0], np.flatnonzero(np.diff(combined[order])) + 1))
    first = order[starts]
    keys = zip(*([labels[code] for code in codes[first].tolist()] for labels, codes in coded), strict=True)
    yield from zip(keys, np.split(order, starts[1:]), strict=True)


def _coded(column: Column) -> tuple[list[Label], Ints]:
    """The different labels of a group column in order, and the place of each row's among them."""
    if column.dtype.kind != "O":
        values, codes = np.unique(column, return_inverse=True)
        return group_values(values), codes
    listed = group_values(column)
    labels = sorted(set(listed), key=lambda label: (str(type(label)), label))
    place = {label: code for code, label in enumerate(labels)}
    return labels, np.fromiter(map(place.__getitem__, listed), np.int64, len(listed))


def group_values(column: Column) -> list[Label]:
    """Group values as plain labels; dates and the like by their text."""
    if column.dtype.kind == "M":
        days = column.astype("datetime64[D]")
        column = np.datetime_as_string(days if (days == column).all() else column)
    values: list[Label] = column.tolist()
    # Files have millions of rows, whose values are mostly plain already.
    if set(map(type, values)) <= {bool, int, float, str}:
        return values
    return [v if isinstance(v, bool | int | float | str) else str(v) for v in values]


def checked_cluster(values: object, name: str = "cluster") -> Column:
    """Names of clusters: whole numbers, or text."""
    array = _check.groups(values, name)
    if array.dtype.kind == "f" and (np.abs(array) < _check.EXACT_INTEGER).all() and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    return array if array.dtype.kind in "iu" else np.array(list(map(str, group_values(array))))


def checked_mass(counts: object, weights: object) -> tuple[Any, Any]:
    """Clean counts or weights; not both."""
    if counts is not None and weights is not None:
        raise InputError("Give counts= (repeated rows) or weights= (survey weights), not both.")
    return (None if counts is None else _check.counts(counts)), (None if weights is None else _check.weights(weights))
