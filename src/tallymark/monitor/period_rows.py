"""Rows of a monitored classifier by period: read from a frame, files or a folder of files, checked, in
order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark._numbers import noun
from tallymark._periods import in_order
from tallymark.errors import InputError
from tallymark.sources.any_columns import any_columns, is_missing, numbers
from tallymark.sources.columns import rows_by_group
from tallymark.sources.formats import ENDINGS, Wanted
from tallymark.sources.frames import order_of
from tallymark.summaries.tally import Tally

#: Key of the periods among the columns, whatever their column is called.
_PERIOD = "\0period"


@dataclass(frozen=True, eq=False)
class PeriodRows:
    """Scores, labels and values of all rows, and the row numbers of each period."""

    names: Sequence[Any]
    rows: Sequence[Ints]
    scores: Floats
    #: Class of each row, False where it has no label.
    truth: Bools
    labelled: Bools
    values: Floats | None
    items: NDArray[Any] | None = None

    @classmethod
    def read(
        cls,
        data: Any,
        *,
        score: str,
        period: str | None,
        label: str | None,
        value: str | None,
        pos_label: Any,
        where: str | None,
        order: Sequence[Any] | None,
        item: str | None = None,
    ) -> Self:
        """Read and check the named columns."""
        roles = {"score": score, "label": label, "value": value, "period": period, "item": item}
        columns = _columns(data, roles, where)
        rows = {key[0]: rows for key, rows in rows_by_group([_check.groups(columns[_PERIOD], period or "file")])}
        names = in_order(rows, period or "the names of the files", order_of(data, period, order))
        scores = np.asarray(_check.scores(columns[score], score), dtype=np.float64)
        labelled, truth = np.zeros((2, len(scores)), dtype=np.bool_)
        if label is not None:
            labelled = ~is_missing(columns[label])
        values = None if value is None else _finite(numbers(columns[value], value), value)
        if label is not None and labelled.any():
            given = np.ma.getdata(columns[label])[labelled]
            truth[labelled] = _check.binary_labels(given, pos_label, label, one_class=True)[0]
        items = None if item is None else _check.groups(columns[item], item)
        return cls(names, [np.asarray(rows[name]) for name in names], scores, truth, labelled, values, items)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def sizes(self) -> Floats:
        """Number of rows of each period."""
        return np.array([len(rows) for rows in self.rows], dtype=np.float64)

    def labelled_tally(self, rows: Ints) -> Tally | None:
        """Tally of the labelled ones of some rows; None where they lack one of the classes."""
        rows = rows[self.labelled[rows]]
        truth = self.truth[rows]
        if not truth.any() or truth.all():
            return None
        return Tally.of(self.scores[rows], truth, (0, 1))


def _columns(data: Any, roles: dict[str, str | None], where: str | None) -> dict[str, NDArray[Any]]:
    """The named columns, and the period of every row."""
    wanted = [
        Wanted(name, f"{role}=", "number" if role in {"score", "value"} else "text")
        for role, name in roles.items()
        if name is not None
    ]
    period = roles["period"]
    if isinstance(data, str | PathLike) and Path(data).is_dir():
        files = sorted(path for path in Path(data).iterdir() if path.is_file() and _is_table(path))
        if not files:
            raise InputError(f"{str(data)!r} has no CSV, Parquet or JSON lines file to watch.")
        if period is None:
            return _by_file([(_stem(path), any_columns(str(path), wanted, where=where)) for path in files])
        data = [str(path) for path in files]
    if period is None:
        raise InputError("Say which column has the period with period=, or pass a folder with a file for each.")
    columns = any_columns(data, wanted, where=where)
    return columns | {_PERIOD: columns[period]}


def _by_file(files: Sequence[tuple[str, dict[str, NDArray[Any]]]]) -> dict[str, NDArray[Any]]:
    """The columns of several files one below the other; the file's name is the period."""
    names, columns = zip(*files, strict=True)
    joined: dict[str, NDArray[Any]] = {}
    for name in columns[0]:
        parts = [one[name] for one in columns]
        values = np.concatenate([np.ma.getdata(part) for part in parts])
        missing = np.concatenate([is_missing(part) for part in parts])
        joined[name] = np.ma.MaskedArray(values, mask=missing) if missing.any() else values
    return joined | {_PERIOD: np.repeat(names, [len(next(iter(one.values()))) for one in columns])}


def _stem(path: Path) -> str:
    """A file's name without the endings of its format and compression."""
    return Path(path.name.removesuffix(".gz").removesuffix(".zst")).stem


def _is_table(path: Path) -> bool:
    return path.name.lower().endswith(ENDINGS)


def _finite(values: Floats, name: str) -> Floats:
    if bad := int((~np.isfinite(values)).sum()):
        raise InputError(f"{name} is missing or not finite in {bad} {noun(bad, 'row')}; leave them out, or mend them.")
    return values
