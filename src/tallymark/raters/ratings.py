"""Ratings of items by raters: wide and long frames, files, arrays by name, and tables of counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Column, Ints, Label
from tallymark._negative_labels import require_one_spelling
from tallymark.errors import InputError, shown
from tallymark.raters.coefficients import Patterns
from tallymark.sources.any_columns import any_columns, is_missing
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import column_names_of, is_frame, order_of
from tallymark.summaries.confusion import Confusion

#: Raters beyond whom ratings are counted without names: pairs of raters would be too many to list.
MOST_RATERS = 100
#: Most classes, and most numbers in the table of patterns by classes.
MOST_CLASSES, _MOST_CELLS = 1_000, 100_000_000


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings, checked.

    Attributes
    ----------
    patterns
        The different ways in which items were rated.
    pattern_of
        Place of each item's pattern; None where counts of patterns were passed.
    items, raters
        Names of the items and the raters; raters are empty where they are not known.
    cluster
        Cluster of each item as a number from 0; None where items are independent.
    ordered
        Whether the order of the classes was stated.
    """

    patterns: Patterns
    pattern_of: Ints | None
    items: Column | None
    raters: tuple[str, ...]
    cluster: Ints | None = None
    ordered: bool = False

    @property
    def n(self) -> int:
        """Number of items with a rating."""
        return int(self.patterns.mass.sum())

    @cached_property
    def members(self) -> Any:
        """Items of each pattern in each cluster as a sparse matrix; None where items are independent."""
        if self.cluster is None or self.pattern_of is None:
            return None
        from scipy.sparse import csr_array

        shape = (int(self.cluster.max()) + 1, len(self.patterns.mass))
        return csr_array((np.ones(len(self.cluster)), (self.cluster, self.pattern_of)), shape=shape)


def read_ratings(
    data: Any,
    rater: str | Sequence[str] | None,
    item: str | None,
    rating: str | None,
    cluster: str | None,
    *,
    by_value: bool = False,
) -> Ratings:
    """Ratings from whatever was passed; those that agree `by_value` need not have a label in common."""
    if isinstance(data, Confusion):
        return of_matrix(np.asarray(data.matrix), data.labels)
    for option, name in (("item", item), ("rating", rating), ("cluster", cluster)):
        if name is not None and not isinstance(name, str):
            raise InputError(f"{option}={name!r}: name one column.")
    if rater is None and rating is None and (square := _crosstab(data)) is not None:
        return square
    tabular = isinstance(data, Mapping | str | PathLike) or is_frame(data)
    if not tabular and not (isinstance(data, list) and data and all(isinstance(one, str | PathLike) for one in data)):
        if any(name is not None for name in (rater, item, rating, cluster)):
            raise InputError("A table of counts has no columns to name; leave out rater=, item=, rating= and cluster=.")
        return _of_counts(data)
    if isinstance(data, Mapping):
        data = {str(name): values for name, values in data.items()}
    if rating is not None or isinstance(rater, str):
        return _long(data, rater, item, rating, cluster)
    return _wide(data, rater, item, cluster, by_value=by_value)


def _crosstab(data: Any) -> Ratings | None:
    """A pandas table of counts whose rows and columns are the same labels; None of anything else."""
    index, columns = getattr(data, "index", None), getattr(data, "columns", None)
    if index is None or columns is None or callable(index) or len(index) != len(columns):
        return None
    labels = [_check.plain_label(one) for one in columns]
    unnamed = index.name is None and columns.name is None and labels == list(range(len(labels)))
    if unnamed or [_check.plain_label(one) for one in index] != labels:
        return None
    return of_matrix(_whole_counts(data.to_numpy()), labels)


def _names_of(data: Any) -> list[str]:
    if isinstance(data, Mapping):
        return list(data)
    if is_frame(data):
        return column_names_of(data)
    with engine(data, []) as source:
        return list(source.types)


def _wide(data: Any, rater: Sequence[str] | None, item: str | None, cluster: str | None, *, by_value: bool) -> Ratings:
    others = [name for name in (item, cluster) if name is not None]
    named = [name for name in _names_of(data) if name not in others] if rater is None else column_names(rater, "rater=")
    if len(named) < 2:
        raise InputError(
            f"Agreement needs two raters or more, got {shown(named)}. Name the column of each: rater=['a', 'b']; or, "
            "with one rating per row, rater=, item= and rating=."
        )
    if len(set(named)) < len(named) or set(named) & set(others):
        raise InputError(f"The columns {shown([*named, *others])} are not all different.")
    wanted = [Wanted(name, "rater=", "class") for name in named]
    wanted += [Wanted(name, option) for name, option in ((item, "item="), (cluster, "cluster=")) if name is not None]
    columns = any_columns(data, wanted)
    _check.same_length({name: columns[name] for name in columns})
    classes, codes, ordered = _coded([columns[name] for name in named], named, order_of(data, named[0], None))
    if not by_value:
        _require_shared_labels(named, codes)
    table = np.stack(codes, axis=1)
    items = None if item is None else _plain(columns[item])
    groups = None if cluster is None else _groups(columns[cluster], cluster)
    return _of_codes(classes, table, items, tuple(named), groups, ordered=ordered)


def _require_shared_labels(names: Sequence[str], codes: Sequence[Ints]) -> None:
    """Refuse a rater of several labels none of which another rater uses: they are written in another way."""
    used = [set(np.unique(code[code >= 0]).tolist()) for code in codes]
    for name, labels, others in ((names[i], used[i], used[:i] + used[i + 1 :]) for i in range(len(used))):
        if len(labels) > 1 and sum(map(len, others)) > 1 and not labels & set().union(*others):
            raise InputError(f"{name} has no label that another rater has; write all ratings in the same labels.")


def _long(data: Any, rater: Any, item: str | None, rating: str | None, cluster: str | None) -> Ratings:
    if not isinstance(rater, str) or item is None or rating is None:
        raise InputError(
            "With one rating per row name three columns: rater=, item= and rating=; with one column per rater name "
            "them all: rater=['a', 'b']."
        )
    wanted = [Wanted(rater, "rater="), Wanted(item, "item="), Wanted(rating, "rating=", "class")]
    wanted += [] if cluster is None else [Wanted(cluster, "cluster=")]
    columns = any_columns(data, wanted)
    _check.same_length({name: columns[name] for name in columns})
    for name in (rater, item):
        if is_missing(columns[name]).any():
            raise InputError(f"{name} is missing in some rows; every rating needs a rater and an item.")
    classes, (codes,), ordered = _coded([columns[rating]], [rating], order_of(data, rating, None))
    names, rater_of = np.unique(_plain(columns[rater]), return_inverse=True)
    items, first, item_of = np.unique(_plain(columns[item]), return_index=True, return_inverse=True)
    if len(names) < 2:
        raise InputError(f"Agreement needs two raters or more; {rater} has {shown(names.tolist())} only.")
    cell = item_of.astype(np.int64) * len(names) + rater_of
    if len(np.unique(cell)) < len(cell):
        values, times = np.unique(cell, return_counts=True)
        twice = values[times > 1][0]
        raise InputError(
            f"{rater} {names[twice % len(names)]!r} rated {item} {items[twice // len(names)]!r} more than once; "
            "keep one rating of each."
        )
    groups = None
    if cluster is not None:
        by_row = _groups(columns[cluster], cluster)
        groups = by_row[first]
        if (groups[item_of] != by_row).any():
            raise InputError(f"{cluster} differs between rows of one {item}; an item belongs to one cluster.")
        groups = np.unique(groups, return_inverse=True)[1]
    if len(names) > MOST_RATERS:
        counts = np.zeros((len(items), len(classes)))
        np.add.at(counts, (item_of[codes >= 0], codes[codes >= 0]), 1.0)
        return _of_rows(classes, counts, items, groups, ordered=ordered)
    table = np.full((len(items), len(names)), -1, dtype=np.int64)
    table[item_of, rater_of] = codes
    return _of_codes(classes, table, items, tuple(map(str, names)), groups, ordered=ordered)


def _plain(column: Column) -> Column:
    """A column of names; missing ones are empty text."""
    if isinstance(column, np.ma.MaskedArray):
        column = np.ma.filled(column.astype(object), "")
    return column.astype(str) if column.dtype.kind == "O" else column


def _groups(column: Column, name: str) -> Ints:
    return np.unique(_check.groups(column, name), return_inverse=True)[1].astype(np.int64)


def _coded(
    columns: Sequence[Column], names: Sequence[str], order: Sequence[Any] | None
) -> tuple[tuple[Label, ...], list[Ints], bool]:
    """The classes in order, and the class of every row of each column, -1 where it is missing."""
    kept, missing = [], []
    for column, name in zip(columns, names, strict=True):
        absent = is_missing(column)
        missing.append(absent)
        values = np.ma.getdata(column)[~absent]
        kept.append(_check.labels(values, name) if len(values) else values)
    present = list(dict.fromkeys(label for values in kept if len(values) for label in _check.distinct(values)))
    if not present:
        raise InputError(f"There is no rating in {shown(names)}.")
    if len({isinstance(label, str) for label in present}) > 1:
        raise InputError(
            f"{shown(names)} mix text and numbers ({shown(sorted(present, key=str))}); convert all ratings to one type."
        )
    classes = tuple(sorted(present))
    require_one_spelling(classes, shown(names))
    if len(classes) > MOST_CLASSES:
        raise InputError(
            f"The ratings have {len(classes)} different values, at most {MOST_CLASSES} are used: round them."
        )
    ordered = order is not None and set(classes) <= set(order)
    if ordered and order is not None:
        classes = tuple(label for label in order if label in present)
    codes = []
    for values, absent, name in zip(kept, missing, names, strict=True):
        code = np.full(len(absent), -1, dtype=np.int64)
        if len(values):
            code[~absent] = _check.encode(values, classes, name)
        codes.append(code)
    return classes, codes, ordered


def _of_codes(
    classes: tuple[Label, ...], codes: Ints, items: Column | None, raters: tuple[str, ...], cluster: Ints | None, *,
    ordered: bool,
) -> Ratings:  # fmt: skip
    # Of two raters both are needed: shares of the items that one rated alone are of other items.
    rated = (codes >= 0).all(axis=1) if codes.shape[1] == 2 else (codes >= 0).any(axis=1)
    if not rated.any():
        raise InputError("No item has two ratings or more, so there is no agreement to measure.")
    codes = codes[rated]
    items = np.flatnonzero(rated) + 1 if items is None else items[rated]
    distinct, pattern_of, mass = _distinct_rows(codes, len(classes) + 1)
    _require_room(len(distinct), len(classes))
    counts = np.stack([(distinct == code).sum(axis=1) for code in range(len(classes))], axis=1).astype(np.float64)
    patterns = Patterns(classes, counts, mass, distinct)
    groups = None if cluster is None else np.unique(cluster[rated], return_inverse=True)[1]
    return _checked(Ratings(patterns, pattern_of, items, raters, groups, ordered))


def _distinct_rows(codes: Ints, base: int) -> tuple[Ints, Ints, Any]:
    """The different rows, the place of each row among them, and how often each occurs."""
    if codes.shape[1] * np.log2(base) < 62:
        # A row as one number: sorting numbers is faster than sorting rows.
        key = (codes + 1) @ (base ** np.arange(codes.shape[1], dtype=np.int64))
        _, first, inverse, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        return codes[first], inverse, times.astype(np.float64)
    rows, inverse, times = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    return rows, inverse.ravel(), times.astype(np.float64)


def _of_rows(
    classes: tuple[Label, ...], counts: Any, items: Column | None, cluster: Ints | None, *, ordered: bool
) -> Ratings:
    """From counts of each item's ratings, the raters not known."""
    rated = counts.sum(axis=1) > 0
    counts = counts[rated]
    items = np.flatnonzero(rated) + 1 if items is None else items[rated]
    rows, inverse, mass = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    _require_room(len(rows), len(classes))
    patterns = Patterns(classes, rows, mass.astype(np.float64), None)
    groups = None if cluster is None else np.unique(cluster[rated], return_inverse=True)[1]
    return _checked(Ratings(patterns, inverse.ravel(), items, (), groups, ordered))


def _of_counts(data: Any) -> Ratings:
    """A K × K table of two raters, or a table of items by classes, which has another shape."""
    counts = _whole_counts(data)
    if counts.shape[0] == counts.shape[1]:
        return of_matrix(counts, tuple(range(counts.shape[1])))
    return _of_rows(tuple(range(counts.shape[1])), counts, None, None, ordered=False)


def _whole_counts(data: Any) -> Any:
    counts = _check.matrix(data, "ratings")
    if counts.min() < 0 or (counts != np.rint(counts)).any():
        raise InputError("A table of counts holds whole numbers of 0 or more.")
    return counts


def of_matrix(counts: Any, classes: Sequence[Label]) -> Ratings:
    """Two raters, the first by rows, from the number of items of each pair of classes."""
    first, second = np.nonzero(counts)
    codes = np.stack([first, second], axis=1)
    rows = np.zeros((len(codes), len(classes)))
    np.add.at(rows, (np.arange(len(codes)), first), 1.0)
    np.add.at(rows, (np.arange(len(codes)), second), 1.0)
    patterns = Patterns(tuple(classes), rows, np.asarray(counts, dtype=np.float64)[first, second], codes)
    return _checked(Ratings(patterns, None, None, ("rows", "columns")))


def _require_room(patterns: int, classes: int) -> None:
    if patterns * classes > _MOST_CELLS:
        raise InputError(
            f"{patterns} items rated differently, with {classes} classes, are too many; round the ratings."
        )


def _checked(ratings: Ratings) -> Ratings:
    if not (ratings.patterns.mass * ratings.patterns.paired).sum() >= 1.0:
        raise InputError("No item has two ratings or more, so there is no agreement to measure.")
    return ratings
