"""Tallies of files larger than memory: the engine groups, only cells cross over.

Each row's score gets a key that every engine computes alike (:mod:`tallymark.summaries.quantising`); the engine counts
rows by label and key and notes each cell's lowest and highest score. Repeated scores therefore stay exact, and the
few heaviest cells are split finer in a second pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Label
from tallymark.errors import InputError
from tallymark.sources.doors import group_values, guard_hard_labels, tallies_of_columns
from tallymark.sources.engine import Engine, Paths, Progress, engine, quoted
from tallymark.sources.files import bools_from_text, columns_of
from tallymark.summaries.quantising import HUGE, SCALE_DOWN, SPLITTER, Grid
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Up to this many rows the columns are read whole and nothing is quantised.
_SMALL = 2_000_000

#: Cells are split finer where AUROC could be off by more than this on either side.
_AUROC_BOUND = 2e-5

#: At most so many cells are split, into so many parts in all: a single heavy cell gets them to itself.
_SPLIT_CELLS, _PARTS = 1_024, 2**17


_SPREAD = f"(s * {SPLITTER!r}::DOUBLE)"
_SMALLER = f"(s * {SCALE_DOWN!r}::DOUBLE)"
_SMALLER_SPREAD = f"({_SMALLER} * {SPLITTER!r}::DOUBLE)"

#: :func:`tallymark.summaries.quantising.cell_key` of s, in SQL: the same operations in the same order.
KEY = (
    f"CASE WHEN abs(s) > {HUGE!r}::DOUBLE "
    f"THEN ({_SMALLER_SPREAD} - ({_SMALLER_SPREAD} - {_SMALLER})) / {SCALE_DOWN!r}::DOUBLE "
    f"ELSE {_SPREAD} - ({_SPREAD} - s) END"
)


def scan(
    paths: Paths,
    *,
    label: str | None = None,
    score: str | Sequence[str],
    weight: str | None = None,
    count: str | None = None,
    by: str | Sequence[str] = (),
    where: str | None = None,
    thresholds: Iterable[float] = (0.5,),
    pos_label: Label | None = None,
    exact: bool | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    strict: bool = False,
) -> Any:
    r"""Tally files of any size: a path, a pattern or a list; Parquet, CSV, TSV or JSON lines, also compressed.

    Up to two million rows the tally is exact. Beyond, scores share cells of about 13 significant bits; a cell of one
    repeated score is exact, so are the asked `thresholds` and the moments, the heaviest cells are split finer, and
    :func:`tallymark.bound` says how far each metric can be off. `exact` True never quantises, False always does.
    `where` is an SQL condition on the rows; `memory_limit` (``"1GB"``) and `threads` bound the engine, which spills to
    disk; `progress` is called with the percentage done.

    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "scores.csv"
    >>> _ = path.write_text("y,p\n0,0.1\n1,0.8\n0,0.4\n1,0.35\n")
    >>> tm.metrics.auroc(tm.scan(path, label="y", score="p"))
    0.75
    >>> folder.cleanup()
    """
    scores = [score] if isinstance(score, str) else list(score)
    groups = [by] if isinstance(by, str) else list(by)
    if weight is not None and count is not None:
        raise InputError("Give count= (repeated rows) or weight= (survey weights), not both.")
    wanted = [(name, "score=") for name in scores] + [(name, "by=") for name in groups]
    named = (("label", label), ("weight", weight), ("count", count))
    wanted += [(name, f"{option}=") for option, name in named if name is not None]
    with engine(paths, memory_limit=memory_limit, threads=threads, progress=progress) as source:
        types = source.require(wanted)
        small = exact is None and _number_of_rows(source, where) <= _SMALL
        if small or exact:
            columns = columns_of(source, wanted, where)
            found = tallies_of_columns(
                columns, label, scores, groups, weight=weight, count=count, pos_label=pos_label, strict=strict
            )
        else:
            ask = _Scan(source, label, groups, weight, count, where, tuple(thresholds), pos_label)
            entries: dict[tuple[Any, ...], Tally] = {}
            for name in scores:
                for key, tally in ask.tallies(name, types[name]):
                    guard_hard_labels(tally, name, strict=strict)
                    entries[name, *key] = tally
            found = Tallies(("model", *groups), entries)
    return found.of_one_model() if isinstance(score, str) else found


def _number_of_rows(source: Engine, where: str | None) -> int:
    condition = "" if where is None else f" WHERE ({where})"
    counted = source.query(f"SELECT count(*) AS n FROM {source.files.reader}{condition}", [source.files.places])
    return int(counted["n"][0])


@dataclass(frozen=True)
class _Scan:
    """What is asked of the files, for any of their score columns."""

    source: Engine
    label: str | None
    by: Sequence[str]
    weight: str | None
    count: str | None
    where: str | None
    thresholds: tuple[float, ...]
    pos_label: Label | None

    def tallies(self, score: str, kind: str) -> Iterator[tuple[tuple[Any, ...], Tally]]:
        """The tally of each group."""
        dtype = np.dtype(np.float32 if kind == "FLOAT" else np.float64)
        grid = Grid(tuple(sorted({float(dtype.type(t)) for t in self.thresholds})), str(dtype))
        cells = self._cells(score, grid)
        self._refuse_bad_rows(score, cells)
        labels, code = self._classes(cells)
        rows = np.lexsort((cells["key"], cells["side"]))
        cells = {name: column[rows] for name, column in cells.items()}
        code = code[rows]
        for key, part in self._by_group(cells):
            own = {name: column[part] for name, column in cells.items()}
            finer = self._split(score, grid, key, own, code[part], labels)
            moments = [_moments(own, code[part] == side) for side in range(1 if labels is None else 2)]
            yield key, _tally(*finer, moments, labels, grid, weighted=self.weight is not None)

    @property
    def _mass(self) -> str:
        """What a row counts, in SQL."""
        return "w" if self.weight is not None else "c" if self.count is not None else "1"

    def _sums(self) -> str:
        """Rows, mass and extremes of a cell."""
        if self._mass == "1":
            return "count(*) AS n, min(s) AS lo, max(s) AS hi"
        m = self._mass
        return f"""count(*) FILTER ({m} > 0) AS n, sum({m}) AS mass, sum({m}::DOUBLE * {m}) AS squares,
                   min(s) AS lo, max(s) AS hi"""

    def _cells(self, score: str, grid: Grid) -> dict[str, NDArray[Any]]:
        """Count, extremes and sums by label, group and cell."""
        times = "" if self._mass == "1" else f"{self._mass} * "
        lightest = (
            ""
            if self._mass == "1"
            else f"min({self._mass}) AS lightest, count(*) - count({self._mass}) AS massless, count(*) AS every,"
        )
        found = self.source.query(
            f"""SELECT label, {self._listed_groups()} key, side, {lightest} {self._sums()},
                       sum({times}(s - key)) AS d1, sum({times}(s - key) * (s - key)) AS d2
                FROM ({self._rows(score, grid)}) GROUP BY ALL""",
            [self.source.files.places],
        )
        if self._mass == "1":
            found |= dict.fromkeys(("mass", "squares", "every"), found["n"])
        return found

    def _rows(self, score: str, grid: Grid) -> str:
        """Each row's label, groups, mass, score, key and side of the thresholds."""
        condition = "" if self.where is None else f" WHERE ({self.where})"
        mass = "" if self.weight is None else f", {quoted(self.weight)}::DOUBLE AS w"
        mass += "" if self.count is None else f", {quoted(self.count)}::BIGINT AS c"
        groups = "".join(f", {quoted(name)} AS g{i}" for i, name in enumerate(self.by))
        truth = "0" if self.label is None else quoted(self.label)
        side = " + ".join(f"(s >= {t!r}::DOUBLE)::INTEGER" for t in grid.thresholds) or "0"
        return f"""SELECT *, {KEY} AS key, {side} AS side FROM (
                     SELECT {truth} AS label, {quoted(score)}::DOUBLE + 0.0 AS s{mass}{groups}
                     FROM {self.source.files.reader}{condition})"""

    def _listed_groups(self) -> str:
        return "".join(f"g{i}, " for i in range(len(self.by)))

    def _refuse_bad_rows(self, score: str, cells: Mapping[str, NDArray[Any]]) -> None:
        n = cells["every"]
        if not len(n):
            raise InputError(
                f"{self.source.files.shown!r} has no rows" + (" that satisfy where=." if self.where else ".")
            )
        bad = {
            "no score": _missing(cells["lo"]),
            "a NaN or infinite score": ~_missing(cells["lo"]) & ~np.isfinite(_plain(cells["lo"]) + _plain(cells["hi"])),
            f"no {self.label}": _missing(cells["label"]),
            "a NaN or infinite weight": ~np.isfinite(_plain(cells["squares"])),
            **{f"no {name}": _missing(cells[f"g{i}"]) for i, name in enumerate(self.by)},
        }
        if "lightest" in cells:
            bad |= {
                "no weight or count": _plain(cells["massless"]) > 0,
                "a negative weight or count": _plain(cells["lightest"]) < 0,
            }
        for what, where in bad.items():
            if where.any():
                many = int(n[where].sum())
                raise InputError(
                    f"{score}: {many} rows have {what}; drop or repair them, or leave them out with where=."
                )

    def _classes(self, cells: Mapping[str, NDArray[Any]]) -> tuple[tuple[Label, Label] | None, Ints]:
        if self.label is None:
            return None, np.zeros(len(cells["n"]), dtype=np.int64)
        is_positive, labels = _check.binary_labels(bools_from_text(cells["label"]), self.pos_label, self.label)
        return labels, is_positive.astype(np.int64)

    def _by_group(self, cells: Mapping[str, NDArray[Any]]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        if not self.by:
            yield (), slice(None)
            return
        keys = list(zip(*(group_values(np.asarray(cells[f"g{i}"])) for i in range(len(self.by))), strict=True))
        found = sorted(set(keys), key=lambda key: tuple((str(type(part)), part) for part in key))
        number = {key: i for i, key in enumerate(found)}
        place = np.array([number[key] for key in keys])
        for key, i in number.items():
            yield key, np.flatnonzero(place == i)

    def _split(
        self, score: str, grid: Grid, group: tuple[Any, ...], own: Mapping[str, NDArray[Any]], code: Ints, labels: Any
    ) -> tuple[dict[str, NDArray[Any]], Ints]:
        """The cells, the heaviest mixed ones counted again in finer parts."""
        plain = {name: _plain(own[name]) for name in ("n", "mass", "squares", "lo", "hi")} | {
            "part": np.zeros(len(code))
        }
        plain |= {"key": _plain(own["key"]), "side": _plain(own["side"])}
        if labels is None:
            return plain, code
        cell, heavy = _heaviest(plain, code)
        if not heavy.any():
            return plain, code
        lows, highs = _cell_ends(plain, cell)
        first = np.unique(cell[heavy], return_index=True)[1]
        at = np.flatnonzero(heavy)[first]
        parts = _PARTS // len(at)
        self.source.register(
            "heavy",
            {"k": plain["key"][at], "d": plain["side"][at], "low": lows[at], "per": parts / (highs[at] - lows[at])},
        )
        same_group = " AND ".join(_has_value(f"g{i}", value) for i, value in enumerate(group)) or "true"
        again = self.source.query(
            f"""SELECT label, key, side, part, {self._sums()}
                FROM (SELECT r.*, least({parts - 1}, floor((s - low) * per)) AS part
                      FROM ({self._rows(score, grid)}) r JOIN heavy ON key = k AND side = d WHERE {same_group})
                GROUP BY ALL""",
            [self.source.files.places],
        )
        if "mass" not in again:
            again |= {"mass": again["n"], "squares": again["n"]}
        truth = (bools_from_text(again["label"]) == labels[1]).astype(np.int64)
        joined = {name: np.concatenate((plain[name][~heavy], _plain(again[name]))) for name in plain}
        return joined, np.concatenate((code[~heavy], truth))


def _has_value(column: str, value: Label) -> str:
    """A condition that a group column has a value, whatever the value contains."""
    text = str(value).replace("'", "''")
    return f"{column}::VARCHAR = '{text}'"


def _missing(column: NDArray[Any]) -> Bools:
    return (
        np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else np.zeros(len(column), dtype=np.bool_)
    )


def _plain(column: NDArray[Any]) -> Floats:
    filled = column.filled(0) if isinstance(column, np.ma.MaskedArray) else column
    return np.asarray(filled, dtype=np.float64)


def _cell_numbers(plain: Mapping[str, Floats]) -> Ints:
    """The same number for both classes' halves of a cell, ascending with the scores."""
    stacked = np.stack([plain["key"], plain["side"], plain["part"]])
    order = np.lexsort(stacked[::-1])
    changed = (stacked[:, order][:, 1:] != stacked[:, order][:, :-1]).any(axis=0)
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
    """Cell numbers, and which entries belong to cells that must be split for the ranking to be known well enough."""
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
        "scores": _cell_ends(plain, _cell_numbers(plain))[0],
        "lo": plain["lo"],
        "hi": plain["hi"],
    }
    if weighted:
        columns |= {"weights": plain["mass"], "squares": plain["squares"], "rows": plain["n"].astype(np.int64)}
    else:
        columns |= {"counts": plain["mass"].astype(np.int64)}
    runs = []
    for side, known in enumerate(moments):
        entries = np.flatnonzero((code == side) & (plain["mass"] > 0))
        entries = entries[np.argsort(columns["scores"][entries], kind="stable")]
        runs.append(Run(**{name: column[entries] for name, column in columns.items()}, known_moments=known))
    return Tally(tuple(runs), labels, grid=grid)


def _moments(cells: Mapping[str, NDArray[Any]], of_class: Bools) -> ScoreMoments:
    """Moments of a class's rows from each cell's sums of (score - key) and its square.

    The third moment inside a cell is left out: a cell is so narrow that it would change the eleventh digit.
    """
    used = of_class & (_plain(cells["mass"]) > 0)
    n, key, d1, d2 = (_plain(cells[name])[used] for name in ("mass", "key", "d1", "d2"))
    if not len(n):
        return ScoreMoments(0.0, 0.0, 0.0, 0.0)
    mean = key + d1 / n
    m2 = d2 - d1**2 / n
    total = float(n.sum())
    centre = mean[len(mean) // 2]
    centre += float(np.sum(n * (mean - centre))) / total
    gap = mean - centre
    return ScoreMoments(
        total, float(centre), float(np.sum(m2 + n * gap**2)), float(np.sum(3.0 * gap * m2 + n * gap**3))
    )
