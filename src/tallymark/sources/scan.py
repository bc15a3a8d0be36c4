"""Tallies of files larger than memory: the engine groups, only cells cross over.

Each row's score gets a key that every engine computes alike (:mod:`tallymark.summaries.quantising`); the engine counts
rows by label and key and notes each cell's lowest and highest score. Repeated scores therefore stay exact, and the
few heaviest cells are split finer in a second pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Label
from tallymark.errors import InputError
from tallymark.sources.celltable import Heavy, Question, missing, plain_numbers, tallies_of_cells
from tallymark.sources.columns import guard_hard_labels, tallies_of_columns
from tallymark.sources.engine import Engine, Progress, double, engine, not_missing, quoted, text, unreadable
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Paths, Wanted, column_names, is_whole, require_columns
from tallymark.summaries.quantising import HUGE, SCALE_DOWN, SPLITTER, Grid
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: Up to this many rows the columns are read whole and nothing is quantised.
SMALL = 2_000_000

#: Heavy cells are split into so many parts in all: a single one gets them to itself.
_PARTS = 2**17


def key_of(score: str) -> str:
    """:func:`tallymark.summaries.quantising.cell_key` of a column, in SQL: the same operations in the same order."""
    spread, smaller = f"({score} * {double(SPLITTER)})", f"({score} * {double(SCALE_DOWN)})"
    large = f"({smaller} * {double(SPLITTER)})"
    return (
        f"CASE WHEN abs({score}) > {double(HUGE)} THEN ({large} - ({large} - {smaller})) / {double(SCALE_DOWN)} "
        f"ELSE {spread} - ({spread} - {score}) END"
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
    drop_missing: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    strict: bool = False,
) -> Any:
    r"""Tally files of any size: a path, a pattern or a list; Parquet, CSV, TSV or JSON lines, also compressed.

    Up to two million rows the tally is exact. Beyond, scores share cells of about 13 significant bits; a cell of one
    repeated score is exact, so are the asked `thresholds` and the moments, the heaviest cells are split finer, and
    :func:`tallymark.bound` says how far each metric can be off. `exact` True never quantises, False always does.
    `where` is an SQL condition on the rows; `drop_missing` leaves out rows in which a named column is missing; `memory_limit` (``"1GB"``) and `threads` bound the engine, which spills to
    disk; `progress` is called with the percentage done.

    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "scores.csv"
    >>> _ = path.write_text("y,p\n0,0.1\n1,0.8\n0,0.4\n1,0.35\n")
    >>> tm.metrics.auroc(tm.scan(path, label="y", score="p"))
    0.75
    >>> folder.cleanup()
    """
    scores, groups = column_names(score, "score="), column_names(by, "by=")
    if weight is not None and count is not None:
        raise InputError("Give count= (repeated rows) or weight= (survey weights), not both.")
    cuts = [_check.real(t, "thresholds") for t in (thresholds if isinstance(thresholds, Iterable) else [thresholds])]
    question = Question(label, tuple(groups), weight, count, pos_label)
    wanted = [*(Wanted(name, "score=", "number") for name in scores), *question.wanted]
    limits: dict[str, Any] = {"memory_limit": memory_limit, "threads": threads, "progress": progress}
    with engine(paths, wanted, where=where, **limits) as source:
        where = not_missing([name for name, *_ in wanted], where) if drop_missing else where
        small = exact is None and number_of_rows(source, where) <= SMALL
        if small or exact:
            columns = columns_of(source, wanted, where)
            found = tallies_of_columns(
                columns, label, scores, groups, weight=weight, count=count, pos_label=pos_label, strict=strict
            )
        else:
            found = _asked(_Scan(source, question, where, tuple(cuts)), scores, source.types, strict=strict)
    return found.of_one_model() if isinstance(score, str) else found


def number_of_rows(source: Engine, where: str | None) -> int:
    """Rows of the files that satisfy a condition."""
    condition = "" if where is None else f" WHERE ({where})"
    counted = source.query(f"SELECT count(*) AS n FROM {source.reader}{condition}")
    return int(counted["n"][0])


class Source(Protocol):
    """Something that answers queries about one table."""

    @property
    def reader(self) -> str:
        """What stands for the table in a query's FROM."""

    @property
    def shown(self) -> str:
        """What the table is called in messages."""

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart."""

    def query(self, sql: str) -> dict[str, NDArray[Any]]:
        """Run one statement and fetch its columns."""


@dataclass(frozen=True)
class _Relation:
    """A DuckDB relation of the user's, asked on the user's own connection."""

    relation: Any
    types: Mapping[str, str]
    reader: str = "tallymark_rows"
    shown: str = "the relation"

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart."""
        if largest > _check.EXACT_INTEGER and is_whole(self.types[name]):
            raise InputError(_check.too_large(name))

    def query(self, sql: str) -> dict[str, NDArray[Any]]:
        """Run one statement over the relation."""
        import duckdb

        try:
            found: dict[str, NDArray[Any]] = self.relation.query(self.reader, sql).fetchnumpy()
        except duckdb.Error as error:
            raise unreadable(self.shown, error) from None
        return found


def tallies_of_relation(
    relation: Any,
    question: Question,
    scores: Sequence[str],
    thresholds: Iterable[float] = (0.5,),
    *,
    strict: bool = False,
) -> Tallies:
    """Tallies by score column and group of a DuckDB relation, grouped where it lives."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    require_columns([*(Wanted(name, "score=", "number") for name in scores), *question.wanted], types)
    return _asked(_Scan(_Relation(relation, types), question, None, tuple(thresholds)), scores, types, strict=strict)


def _asked(ask: _Scan, scores: Sequence[str], types: Mapping[str, str], *, strict: bool) -> Tallies:
    entries: dict[tuple[Any, ...], Tally] = {}
    for name in scores:
        for key, tally in ask.tallies(name, types[name]):
            guard_hard_labels(tally, name, strict=strict)
            entries[name, *key] = tally
    return Tallies(("model", *ask.question.by), entries)


#: Parts of a key in which a score's distance from it is counted: a cell is about a 2**12th of its key wide, so the first
#: keeps all digits of a score, and the square of the second fits into 64 bits.
_FIRST, _SECOND = 2.0**53, 2.0**43


@dataclass(frozen=True)
class _Scan:
    """A question to an engine, for any of its score columns."""

    source: Source
    question: Question
    where: str | None
    thresholds: tuple[float, ...]

    def tallies(self, score: str, kind: str) -> Iterator[tuple[tuple[Any, ...], Tally]]:
        """The tally of each group."""
        dtype = np.dtype(np.float32 if kind == "FLOAT" else np.float64)
        grid = Grid(tuple(sorted({float(dtype.type(t)) for t in self.thresholds})), str(dtype))
        cells = self._cells(score, grid)
        self._refuse_bad_rows(score, cells)
        yield from tallies_of_cells(
            cells, self.question, grid, lambda group, heavy: self._split(score, grid, group, heavy)
        )

    @property
    def _mass(self) -> str:
        """What a row counts, in SQL."""
        return "1" if self.question.mass is None else "m"

    def _sums(self) -> str:
        """Rows, mass and extremes of a cell."""
        if self._mass == "1":
            return "count(*) AS n, min(s) AS lo, max(s) AS hi"
        m = self._mass
        # A row that counts nothing is not there, so it has no part in the extremes either.
        return f"""count(*) FILTER ({m} > 0) AS n, sum({m}) AS mass, sum({m}::DOUBLE * {m}) AS squares,
                   min(s) FILTER ({m} > 0) AS lo, max(s) FILTER ({m} > 0) AS hi"""

    def _cells(self, score: str, grid: Grid) -> dict[str, NDArray[Any]]:
        """Count, extremes and sums by label, group and cell."""
        lightest = (
            ""
            if self._mass == "1"
            else "min(raw) AS lightest, count(*) - count(raw) AS massless, count(*) AS every, "
            "count(*) FILTER (raw IS NOT NULL AND (m IS NULL OR m <> raw)) AS broken, count(*) - count(s) AS scoreless, "
            "count(*) FILTER (NOT isfinite(s)) AS endless,"
        )
        found = self.source.query(
            f"""SELECT label, {self._listed_groups()} key, side, {lightest} {self._sums()},
                       {self._deviations()} FROM ({self._rows(score, grid)}) GROUP BY ALL ORDER BY ALL"""
        )
        if self.question.weight is None:
            key = plain_numbers(found["key"])
            # Squares of scores near the largest float overflow; moments that are not finite are known for what they are.
            with np.errstate(over="ignore", invalid="ignore"):
                found["d1"] = key * plain_numbers(found["d1"]) / _FIRST
                found["d2"] = key**2 * plain_numbers(found["d2"]) / _SECOND**2
        if self._mass == "1":
            found |= dict.fromkeys(("mass", "squares", "every"), found["n"])
        return found

    def _deviations(self) -> str:
        """Sums of (score - key) and of its square; as whole numbers of key's parts, which add up the same in any order.

        Weighted sums are floats, whose last digits may depend on the number of threads.
        """
        if self.question.weight is not None:
            return "sum(m * (s - key)) AS d1, sum(m * (s - key) * (s - key)) AS d2"
        times = "" if self.question.count is None else "m::HUGEINT * "
        off = "(s - key) / nullif(key, 0.0)"
        first, second = (f"TRY_CAST({off} * {double(parts)} AS BIGINT)" for parts in (_FIRST, _SECOND))
        return f"sum({times}{first}) AS d1, sum({times}({second} * {second})) AS d2"

    def _rows(self, score: str, grid: Grid) -> str:
        """Each row's label, groups, mass, score, key and side of the thresholds."""
        condition = "" if self.where is None else f" WHERE ({self.where})"
        kind = "DOUBLE" if self.question.weight is not None else "BIGINT"
        # A count is read as it is and as a whole number, so that a fraction shows.
        column = quoted(self.question.mass or "")
        mass = "" if self.question.mass is None else f", {column}::DOUBLE AS raw, TRY_CAST({column} AS {kind}) AS m"
        groups = "".join(f", {quoted(name)} AS g{i}" for i, name in enumerate(self.question.by))
        truth = "0" if self.question.label is None else quoted(self.question.label)
        side = " + ".join(f"(s >= {double(t)})::INTEGER" for t in grid.thresholds) or "0"
        return f"""SELECT *, {key_of("s")} AS key, {side} AS side FROM (
                     SELECT {truth} AS label, {quoted(score)}::DOUBLE + 0.0 AS s{mass}{groups}
                     FROM {self.source.reader}{condition})"""

    def _listed_groups(self) -> str:
        return "".join(f"g{i}, " for i in range(len(self.question.by)))

    def _refuse_bad_rows(self, score: str, cells: Mapping[str, NDArray[Any]]) -> None:
        n = cells["every"]
        if not len(n):
            raise InputError(f"{self.source.shown!r} has no rows" + (" that satisfy where=." if self.where else "."))
        bad = {
            "no score": missing(cells["lo"]) if "scoreless" not in cells else plain_numbers(cells["scoreless"]) > 0,
            "a NaN or infinite score": plain_numbers(cells["endless"]) > 0
            if "endless" in cells
            else ~missing(cells["lo"]) & ~np.isfinite(plain_numbers(cells["lo"]) + plain_numbers(cells["hi"])),
            f"no {self.question.label}": missing(cells["label"]),
            "a NaN or infinite weight": ~np.isfinite(plain_numbers(cells["squares"])),
            **{f"no {name}": _nothing(cells[f"g{i}"]) for i, name in enumerate(self.question.by)},
        }
        if "lightest" in cells:
            bad |= {
                "no weight or count": plain_numbers(cells["massless"]) > 0,
                "a negative weight or count": plain_numbers(cells["lightest"]) < 0,
                "a count that is not a whole number": plain_numbers(cells["broken"]) > 0,
            }
        for what, where in bad.items():
            if where.any():
                many = int(n[where].sum())
                raise InputError(
                    f"{score}: {many} rows have {what}; drop or repair them, or leave them out with where=."
                )
        ends = np.concatenate([plain_numbers(cells[end]) for end in ("lo", "hi")])
        self.source.refuse_lost_digits(score, float(np.abs(ends).max()))

    def _split(self, score: str, grid: Grid, group: Sequence[Sequence[Any]], heavy: Heavy) -> dict[str, NDArray[Any]]:
        """Heavy cells of one group counted again in equal parts of their range."""
        parts = _PARTS // len(heavy.key)
        per = parts / (heavy.high - heavy.low)
        listed = ", ".join(
            f"({double(k)}, {int(d)}, {double(low)}, {double(p)})"
            for k, d, low, p in zip(*(a.tolist() for a in (heavy.key, heavy.side, heavy.low, per)), strict=True)
        )
        same_group = " AND ".join(_is_one_of(f"g{i}", values) for i, values in enumerate(group)) or "true"
        again = self.source.query(
            f"""SELECT label, key, side, part, {self._sums()}
                FROM (SELECT r.*, least({parts - 1}, floor((s - low) * per)) AS part
                      FROM ({self._rows(score, grid)}) r JOIN (VALUES {listed}) AS heavy(k, d, low, per)
                           ON key = k AND side = d WHERE {same_group})
                GROUP BY ALL"""
        )
        return again if "mass" in again else {**again, "mass": again["n"], "squares": again["n"]}


def _is_one_of(column: str, values: Sequence[Any]) -> str:
    """A condition that a group column has one of some values, whatever they contain."""
    return f"{column}::VARCHAR IN ({', '.join(map(text, values))})"


def _nothing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries of a group column are null or NaN."""
    return missing(column) | (np.isnan(np.ma.getdata(column)) if column.dtype.kind == "f" else False)
