"""Counts, areas and accuracies from an error matrix of checked rows and the sizes of the strata (no rows needed)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.class_estimation import estimates_of
from tallymark.audits.class_sample import ClassSample
from tallymark.errors import InputError, shown
from tallymark.inference.interval import checked_level

#: How to say that sizes are areas.
_AREAS = "finite=False (--areas on the command line)"


def from_matrix(
    matrix: Any,
    sizes: Any,
    *,
    classes: Sequence[Label] | None = None,
    unit: float = 1.0,
    finite: bool | None = None,
    level: float = 0.95,
) -> AuditEstimate:
    r"""Estimate the area or count of each class, and the accuracies, from an error matrix and the strata's sizes.

    Of the :math:`n_h` rows checked in stratum h of size :math:`N_h`, :math:`n_{hk}` are of class k; its area is
    :math:`\sum_h N_h n_{hk}/n_h`. Where the strata are the predicted classes, precision (user's accuracy) is
    :math:`n_{kk}/n_k`, recall (producer's accuracy) the estimated area that is rightly predicted k over that of class
    k. Standard errors are the published ones (Olofsson et al. 2014, Remote Sens. Environ. 148, eqs. 5–7 and 11);
    limits are quantiles of draws (:mod:`tallymark.audits.class_draws`), which hold their level where few rows or none
    were found and ± 1.96 standard errors do not.

    Parameters
    ----------
    matrix
        Numbers of checked rows, predicted class (or stratum) by true class: an array, a dataframe with names in its
        index, a mapping of mappings, ``{"forest": {"forest": 66, "other": 9}, …}``. Rows are predicted classes where
        they have the names of classes, or where the matrix is square; else they are strata, and only counts and
        prevalences are estimated.
    sizes
        Size of each stratum, in the order of the rows or by their names.
    classes
        Names of the columns of an array; 1, 2, … unless given.
    unit
        What one of the `sizes` is worth: 0.09 for pixels of 0.09 hectares.
    finite
        Whether `sizes` are numbers of rows, of which the checked ones are a part that matters (finite population
        correction). Left out, only a stratum with as many checked rows as its size is taken as known. False takes
        sizes as areas, however small their number.
    level
        Confidence level of the intervals.

    Returns
    -------
    AuditEstimate
        ``counts``, ``prevalences``, ``precision``, ``recall`` and ``f1`` by class, ``accuracy``, ``average_recall``
        and the estimated ``matrix``.

    Examples
    --------
    >>> import tallymark as tm
    >>> checked = [[66, 0, 5, 4], [0, 55, 8, 12], [1, 0, 153, 11], [2, 1, 9, 313]]
    >>> pixels = [200_000, 150_000, 3_200_000, 6_450_000]
    >>> audit = tm.audits.from_matrix(checked, pixels, unit=0.09)     # Olofsson et al. (2014), table 8
    >>> round(audit.accuracy, 6), round(audit.counts[1], 2), round(audit.recall[1], 6)
    (0.946512, 21157.76, 0.748661)
    >>> print(audit.accuracy)
    accuracy = 0.9465, 95 % interval 0.9249 to 0.9630

    """
    confidence = checked_level(level)
    table = _table_of(matrix, None if classes is None else _named_classes(classes))
    known = _sizes(sizes, table.names) * _positive(unit, "unit")
    checked = table.counts.sum(axis=1)
    if not checked.all():
        name = table.names[int(np.flatnonzero(checked == 0)[0])]
        raise InputError(f"No row of {name} was checked, so nothing is known of it; check some, or merge it.")
    rows = known / unit
    if len(table.classes) < 2:
        raise InputError(f"The matrix has the class {shown(list(table.classes))} only; an audit needs two classes.")
    if finite is not False and (checked > rows).any():
        at = int(np.flatnonzero(checked > rows)[0])
        raise InputError(
            f"{table.names[at]} has {checked[at]:g} checked rows but a size of {rows[at]:g}. Sizes are numbers of "
            f"rows; where they are areas, say {_AREAS}."
        )
    complete = np.zeros(len(rows), np.bool_) if finite is False else checked == rows
    unchecked = np.where(complete, 0.0, 1.0 - checked / rows if finite else 1.0)
    result = estimates_of(_sample(table, known, unchecked, unit), confidence, "rows" if unit == 1.0 else "units")
    if not complete.any():
        return result
    names = ", ".join(name for name, known in zip(table.names, complete, strict=True) if known)
    sentence = f"{names}: as many rows were checked as there are, so that they are known; for areas say {_AREAS}."
    return replace(result, explanations=(sentence, *result.explanations))


def _named_classes(classes: object) -> list[Label]:
    listed = _check.several(classes, "classes")
    if odd := [one for one in listed if not isinstance(one, str | int | float | np.generic)]:
        raise InputError(f"classes has {shown(odd)}; classes are named by text or numbers.")
    return listed


@dataclass(frozen=True)
class _Table:
    """Checked rows by stratum and class; `predicted` has the class of each stratum, where strata are predictions."""

    counts: Floats
    names: tuple[str, ...]
    classes: tuple[Label, ...]
    predicted: tuple[int, ...] | None


def _table_of(matrix: Any, classes: Sequence[Label] | None) -> _Table:
    if isinstance(matrix, Mapping):
        if odd := [name for name, row in matrix.items() if not isinstance(row, Mapping)]:
            raise InputError(f"The matrix has no mapping from classes to numbers for {shown(odd)}.")
        rows = {name: dict(row) for name, row in matrix.items()}
        columns = list(dict.fromkeys(name for row in rows.values() for name in row))
        counts = _counts([[row.get(name, 0) for name in columns] for row in rows.values()])
        return _named(counts, list(rows), columns, classes)
    if hasattr(matrix, "index") and hasattr(matrix, "columns"):
        return _named(_counts(matrix.to_numpy()), list(matrix.index), list(matrix.columns), classes)
    counts = _counts(matrix)
    names = list(range(1, counts.shape[1] + 1)) if classes is None else list(classes)
    if len(names) != counts.shape[1]:
        raise InputError(f"classes has {len(names)} names, but the matrix has {counts.shape[1]} columns.")
    square = counts.shape[0] == counts.shape[1]
    of_rows = names if square else [f"stratum {place + 1}" for place in range(counts.shape[0])]
    return _named(counts, of_rows, names, None)


def _counts(values: Any) -> Floats:
    try:
        counts = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("The matrix must hold numbers of checked rows, one row of numbers per stratum.") from None
    if counts.ndim != 2 or not counts.size:
        raise InputError(f"The matrix has shape {counts.shape}, expected predicted (or stratum) by true class.")
    if not (np.isfinite(counts) & (counts >= 0.0) & (counts == np.floor(counts))).all():
        bad = counts[~(np.isfinite(counts) & (counts >= 0.0) & (counts == np.floor(counts)))][0]
        raise InputError(f"The matrix holds {bad:g}; its entries are numbers of checked rows, whole and not negative.")
    return counts


def _named(counts: Floats, rows: Sequence[Label], columns: Sequence[Label], classes: Sequence[Label] | None) -> _Table:
    """A table whose rows and columns have names; rows are predictions where one of them has the name of a class."""
    for what, names in (("row", rows), ("column", columns)):
        if len(set(names)) < len(names):
            raise InputError(f"Two {what}s of the matrix have one name; names are {shown(names)}.")
    if classes is not None and set(classes) < set(columns):
        raise InputError(f"The matrix has the classes {shown(columns)}, but classes= names only {shown(classes)}.")
    by_text = {str(name): name for name in columns}
    # A table that was read from a file may have its columns as text and its rows as numbers.
    rows = [by_text.get(str(name), name) for name in rows]
    of_prediction = bool(set(rows) & set(columns))
    union = list(dict.fromkeys((*(classes or columns), *(rows if of_prediction else ()))))
    wide = np.zeros((len(rows), len(union)))
    wide[:, [union.index(name) for name in columns]] = counts
    predicted = tuple(union.index(name) for name in rows) if of_prediction else None
    return _Table(wide, tuple(map(str, rows)), tuple(map(_check.plain_label, union)), predicted)


def _sizes(sizes: Any, names: Sequence[str]) -> Floats:
    if isinstance(sizes, Mapping):
        given = {str(name): size for name, size in sizes.items()}
        if missing := [name for name in names if name not in given]:
            raise InputError(f"sizes has no size of {shown(missing)}; it names {shown(list(given))}.")
        if surplus := [name for name in given if name not in names]:
            raise InputError(f"sizes names {shown(surplus)}, which is no row of the matrix: {shown(names)}.")
        sizes = [given[name] for name in names]
    values = _check.weights(sizes, "sizes")
    if len(values) != len(names):
        raise InputError(f"sizes has {len(values)} sizes, but the matrix has {len(names)} rows: {shown(names)}.")
    if not (values > 0.0).all():
        raise InputError(f"The size of {names[int(np.argmin(values))]} is {values.min():g}, expected more than 0.")
    return values


def _positive(value: float, name: str) -> float:
    number = _check.real(value, name)
    if number <= 0.0:
        raise InputError(f"{name} is {number:g}, expected more than 0.")
    return number


def _sample(table: _Table, sizes: Floats, unchecked: Floats, row_worth: float) -> ClassSample:
    """The matrix as checked rows."""
    stratum, classes = np.nonzero(table.counts)
    repeats = table.counts[stratum, classes].astype(np.int64)
    cell, truth = np.repeat(stratum, repeats), np.repeat(classes, repeats)
    mass = (sizes / table.counts.sum(axis=1))[cell]
    return ClassSample(
        classes=table.classes,
        truth=truth,
        predicted=None if table.predicted is None else np.asarray(table.predicted)[cell],
        cell=cell,
        sizes=sizes,
        names=table.names,
        stratum=cell,
        unit=np.arange(len(cell)),
        # A row is worth a unit where rows are counted; a point of an area is worth nothing by itself.
        worth=np.where(unchecked[cell] < 1.0, row_worth, 0.0),
        mass=mass,
        unchecked=unchecked[cell],
    )
