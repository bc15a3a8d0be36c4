"""Tallies of a cell table that an engine counted.

A cell table has one row per label, group and cell: `label`, `g0`, `g1`, … (groups), `key` and `side` (the cell), `n`,
`mass` and `squares` (rows, their mass and its squares), `lo` and `hi` (extreme scores), `d1` and `d2` (sums of score
minus key and of its square).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Column, Floats, Ints, Label
from tallymark.errors import InputError
from tallymark.sources.columns import rows_by_group
from tallymark.sources.files import Reading
from tallymark.sources.roles import Roles
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.score_grid import Grid
from tallymark.summaries.tally import Tally

CellTable = Mapping[str, Column]

#: Cells are split finer where AUROC could be off by more than this on either side.
_AUROC_BOUND = 2e-5

#: At most so many cells are split.
_SPLIT_CELLS = 1_024


#: Counts the given cells of a group again in finer parts: a cell table with a `part` column. A group is given by the
#: values of its columns in the engine.
Split = Callable[[Sequence[Sequence[Any]], "Heavy"], CellTable]


@dataclass(frozen=True)
class Heavy:
    """Cells to be split: their key and side, and their lowest and highest score."""

    key: Floats
    side: Floats
    low: Floats
    high: Floats


#: The moments of the rows in some cells (by their places in the table), all of a class and group.
Moments = Callable[[Column], ScoreMoments]


def tallies_of_cells(
    cells: CellTable,
    roles: Roles,
    grid: Grid,
    split: Split | None = None,
    moments: Moments | None = None,
    untyped: Container[str] = (),
) -> Iterator[tuple[tuple[Any, ...], Tally]]:
    """The tally of each group, its heaviest cells counted again if the engine can.

    Without `moments`, the cells must have `d1` and `d2`. `untyped` are columns whose type the file does not store.
    """
    cells = {**cells, "place": np.arange(len(cells["n"]))}
    _refuse_bad_mass(cells, roles)
    counts = plain_numbers(cells["mass"]) > 0
    reading = None if roles.label is None else Reading.of(cells["label"], untyped=roles.label in untyped)
    labels, code = _classes(cells, roles, reading)
    columns = [cells[f"g{i}"] for i in range(len(roles.by))]
    read = [Reading.of(c, untyped=name in untyped)(c) for c, name in zip(columns, roles.by, strict=True)]
    for group, rows in rows_by_group(
        [_check.groups(column, name) for column, name in zip(read, roles.by, strict=True)]
    ):
        # Cells of mass 0 are left out; the tally of a group of such cells is empty.
        part = np.arange(len(code))[rows]
        part = part[counts[part]]
        group_cells = {name: column[part] for name, column in cells.items()}
        classes = code[part]
        sides = [classes == side for side in range(1 if labels is None else 2)]
        of_classes = [
            _moments(group_cells, side) if moments is None else moments(group_cells["place"][side]) for side in sides
        ]
        plain = {name: plain_numbers(group_cells[name]) for name in ("key", "side", "n", "mass", "squares", "lo", "hi")}
        plain["part"] = np.zeros(len(classes))
        if labels is not None and split is not None and len(part):
            written = [list(dict.fromkeys(np.asarray(column)[part].tolist())) for column in columns]
            again = _Again(labels, reading, partial(split, written))
            plain, classes = _finer(plain, classes, again)
        yield group, _tally(plain, classes, of_classes, labels, grid, weighted=roles.weight is not None)


def _classes(cells: CellTable, roles: Roles, reading: Reading | None) -> tuple[tuple[Label, Label] | None, Ints]:
    if roles.label is None or reading is None:
        return None, np.zeros(len(cells["n"]), dtype=np.int64)
    is_positive, labels = _check.binary_labels(
        reading(cells["label"]), roles.pos_label, roles.label, rows=plain_numbers(cells["n"])
    )
    return labels, is_positive.astype(np.int64)


def _refuse_bad_mass(cells: CellTable, roles: Roles) -> None:
    if roles.mass is None:
        return
    mass = plain_numbers(cells["mass"])
    if not mass.any():
        raise InputError(_check.all_zero(roles.mass))
    if roles.weight is None:
        _check.countable(float(mass.sum()), roles.mass)
    else:
        _check.weighty(float(mass.max()), roles.mass)


class _Again(NamedTuple):
    """How the cells of a group are counted again, and how their labels are read."""

    labels: tuple[Label, Label]
    reading: Reading | None
    recount: Callable[[Heavy], CellTable]


def _finer(plain: dict[str, Floats], code: Ints, again: _Again) -> tuple[dict[str, Floats], Ints]:
    cell, heavy = _heaviest(plain, code)
    if not heavy.any():
        return plain, code
    lows, highs = _cell_ends(plain, cell)
    at = np.flatnonzero(heavy)[np.unique(cell[heavy], return_index=True)[1]]
    parts = again.recount(Heavy(plain["key"][at], plain["side"][at], lows[at], highs[at]))
    if plain_numbers(parts["n"]).sum() != plain["n"][heavy].sum():
        # The rows changed between the two passes, or the engine's arithmetic did: keep the first count.
        return plain, code
    labels = parts["label"] if again.reading is None else again.reading(parts["label"])
    truth = (labels == again.labels[1]).astype(np.int64)
    joined = {name: np.concatenate((plain[name][~heavy], plain_numbers(parts[name]))) for name in plain}
    return joined, np.concatenate((code[~heavy], truth))


def missing(column: Column) -> Bools:
    """Which entries of a fetched column are null."""
    return (
        np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else np.zeros(len(column), dtype=np.bool_)
    )


def plain_numbers(column: Column) -> Floats:
    """A fetched column as float64, null as 0."""
    filled = column.filled(0) if isinstance(column, np.ma.MaskedArray) else column
    return np.asarray(filled, dtype=np.float64)


def _cell_numbers(plain: Mapping[str, Floats]) -> Ints:
    """The same number for both classes' halves of a cell, ascending with the scores."""
    # Cells do not overlap, so that their lowest scores put them, and both halves of each, in order.
    order = np.argsort(plain["lo"], kind="stable")
    changed = np.zeros(len(order) - 1, dtype=np.bool_)
    for name in ("key", "side", "part"):
        ascending = plain[name][order]
        changed |= ascending[1:] != ascending[:-1]
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.concatenate(([0], np.cumsum(changed)))
    return numbers


def _cell_ends(plain: Mapping[str, Floats], cell: Ints) -> tuple[Floats, Floats]:
    """Lowest and highest score of each entry's cell, both classes together."""
    lows, highs = np.full(cell.max() + 1, np.inf), np.full(cell.max() + 1, -np.inf)
    np.minimum.at(lows, cell, plain["lo"])
    np.maximum.at(highs, cell, plain["hi"])
    return lows[cell], highs[cell]


def _heaviest(plain: Mapping[str, Floats], code: Ints) -> tuple[Ints, Bools]:
    """Cell numbers, and the entries of cells that must be split to bound the error of AUROC."""
    cell = _cell_numbers(plain)
    lows, highs = _cell_ends(plain, cell)
    pairs = np.ones(cell.max() + 1)
    for side in (0, 1):
        pairs *= np.bincount(cell[code == side], plain["mass"][code == side], cell.max() + 1)
    wide = np.zeros(len(pairs), dtype=np.bool_)
    wide[cell[highs > lows]] = True
    unknown = np.where(wide, pairs, 0.0)
    all_pairs = float(plain["mass"][code == 1].sum()) * float(plain["mass"][code == 0].sum())
    order = np.argsort(-unknown)[:_SPLIT_CELLS]
    # Leave alone what adds up to less than the bound; a pair whose order is unknown is off by a half at most.
    allowed = 2.0 * _AUROC_BOUND * all_pairs
    left = unknown.sum() - np.concatenate(([0.0], np.cumsum(unknown[order])))
    needed = int(np.argmax(left <= allowed)) if (left <= allowed).any() else len(order)
    chosen = np.zeros(len(pairs), dtype=np.bool_)
    chosen[order[:needed]] = True
    return cell, chosen[cell] & wide[cell]


def _tally(
    plain: Mapping[str, Floats], code: Ints, moments: Sequence[ScoreMoments], labels: Any, grid: Grid, *, weighted: bool
) -> Tally:
    """A quantised tally from cells."""
    columns: dict[str, Any] = {
        "scores": _cell_ends(plain, _cell_numbers(plain))[0] if len(code) else plain["lo"],
        "lo": plain["lo"],
        "hi": plain["hi"],
    }
    if weighted:
        columns |= {"weights": plain["mass"], "squares": plain["squares"], "rows": plain["n"].astype(np.int64)}
    else:
        columns |= {"counts": plain["mass"].astype(np.int64)}
    runs = []
    for side, of_class in enumerate(moments):
        entries = np.flatnonzero(code == side)
        entries = entries[np.argsort(columns["scores"][entries], kind="stable")]
        runs.append(Run(**{name: column[entries] for name, column in columns.items()}, known_moments=of_class))
    return Tally(tuple(runs), labels, grid=grid)


def _moments(cells: Mapping[str, Column], of_class: Bools) -> ScoreMoments:
    """Moments of a class's rows from each cell's sums of (score - key) and its square.

    The third moment inside a cell is left out: a cell is so narrow that it would change the eleventh digit.
    """
    n, key, d1, d2 = (plain_numbers(cells[name])[of_class] for name in ("mass", "key", "d1", "d2"))
    if not len(n):
        return ScoreMoments(0.0, 0.0, 0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return _central(n, key, d1, d2)


def _central(n: Floats, key: Floats, d1: Floats, d2: Floats) -> ScoreMoments:
    mean = key + d1 / n
    m2 = d2 - d1**2 / n
    total = float(n.sum())
    centre = mean[len(mean) // 2]
    centre += float(np.sum(n * (mean - centre))) / total
    gap = mean - centre
    # A sum of squares, so what is below zero is rounding.
    m2 = np.maximum(m2, 0.0)
    return ScoreMoments(
        total, float(centre), float(np.sum(m2 + n * gap**2)), float(np.sum(3.0 * gap * m2 + n * gap**3))
    )
