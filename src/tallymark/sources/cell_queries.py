"""Tallies of tables larger than memory, by SQL queries that group rows into cells.

Each row's score gets a key that every engine computes alike (:mod:`tallymark.summaries.score_grid`); the engine counts
rows by label and key, with the lowest and highest score of each cell. Repeated scores therefore stay exact, and the few
heaviest cells are split finer in a second pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Column, Floats
from tallymark.errors import InputError
from tallymark.sources.celltable import Heavy, Moments, missing, plain_numbers, tallies_of_cells
from tallymark.sources.class_moments import FINE, Classes, Span
from tallymark.sources.duck import double, quoted, text, unreadable
from tallymark.sources.engine import Engine
from tallymark.sources.files import refuse_wrong_statistics
from tallymark.sources.formats import is_whole, require_columns
from tallymark.sources.roles import Roles
from tallymark.summaries.score_grid import HUGE, SCALE_DOWN, SPLITTER, Grid, cell_key
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

if TYPE_CHECKING:
    from tallymark.sources.streamed_cells import StreamedCells

#: Heavy cells are split into so many parts in all: a single one gets them to itself.
_PARTS = 2**17


def key_of(score: str, *, huge: bool = True) -> str:
    """:func:`tallymark.summaries.score_grid.cell_key` of a column, in SQL: the same operations in the same order.

    The simpler expression serves where no score is `huge`.
    """
    spread, smaller = f"({score} * {double(SPLITTER)})", f"({score} * {double(SCALE_DOWN)})"
    large = f"({smaller} * {double(SPLITTER)})"
    if not huge:
        return f"{spread} - ({spread} - {score})"
    return (
        f"CASE WHEN abs({score}) > {double(HUGE)} THEN ({large} - ({large} - {smaller})) / {double(SCALE_DOWN)} "
        f"ELSE {spread} - ({spread} - {score}) END"
    )


class Source(Protocol):
    """A table that can be queried."""

    @property
    def reader(self) -> str:
        """The table in a query's FROM."""

    @property
    def shown(self) -> str:
        """Name of the table in messages."""

    @property
    def types(self) -> Mapping[str, str]:
        """The type of each column."""

    @property
    def untyped(self) -> frozenset[str]:
        """Columns whose type the table does not store."""

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart."""

    def stored_range(self, name: str) -> tuple[float, float] | None:
        """Lowest and highest value of a column from stored statistics; None without."""

    def query(self, sql: str) -> dict[str, Column]:
        """Run one statement and fetch its columns."""


@dataclass(frozen=True)
class _Relation:
    """A DuckDB relation of the user's, queried on the user's connection."""

    relation: Any
    types: Mapping[str, str]
    reader: str = "tallymark_rows"
    shown: str = "the relation"
    untyped: frozenset[str] = frozenset()

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart."""
        if largest > _check.EXACT_INTEGER and is_whole(self.types[name]):
            raise InputError(_check.too_large(name))

    def stored_range(self, name: str) -> tuple[float, float] | None:
        """No statistics."""
        del name
        return None

    def query(self, sql: str) -> dict[str, Column]:
        """Run one statement over the relation."""
        import duckdb

        try:
            columns: dict[str, Column] = self.relation.query(self.reader, sql).fetchnumpy()
        except duckdb.Error as error:
            raise unreadable(self.shown, error) from None
        return columns


def tallies_of_relation(relation: Any, roles: Roles, thresholds: Iterable[float] = (0.5,)) -> Tallies:
    """Tallies by score column and group of a DuckDB relation."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    require_columns(roles.wanted, types)
    return tallies_by_cells(_Relation(relation, types), roles, None, thresholds)


def tallies_by_cells(source: Source, roles: Roles, where: str | None, thresholds: Iterable[float]) -> Tallies:
    """Tallies by score column and group, counted in cells by the engine."""
    query = _CellQuery(source, roles, where, tuple(thresholds))
    entries = {(name, *key): tally for name in roles.scores for key, tally in query.tallies(name)}
    return Tallies(("model", *roles.by), entries)


#: Units of a key in which a score's distance from it is summed: a cell is about a 2**12th of its key wide, so the first
#: keeps all digits of a score, and the square of the second fits into 64 bits.
_FIRST, _SECOND = 2.0**53, 2.0**43

#: A score's distance from its key is at most the key over this.
_NARROW = 2.0**12

#: Bad rows of a cell whose rows have weights or counts: `raw` as it is read, `m` as it is summed.
_CHECKS = """min(raw) AS lightest, max(raw) AS heaviest, count(*) AS every, count(*) - count(raw) AS massless,
    count(*) FILTER (raw IS NOT NULL AND (m IS NULL OR m <> raw)) AS broken, count(*) - count(s) AS scoreless,
    count(*) FILTER (NOT isfinite(s)) AS endless, count(*) FILTER (NOT isfinite(raw)) AS boundless,"""


@dataclass(frozen=True)
class _CellQuery:
    """Queries that count the rows of a table by label, group and cell of a score."""

    source: Source
    roles: Roles
    where: str | None
    thresholds: tuple[float, ...]

    def tallies(self, score: str) -> Iterator[tuple[tuple[Any, ...], Tally]]:
        """The tally of each group."""
        dtype = np.dtype(np.float32 if self.source.types[score] == "FLOAT" else np.float64)
        grid = Grid(tuple(sorted({float(dtype.type(t)) for t in self.thresholds})), str(dtype))
        weighted = self.roles.weight is not None
        streamed = None
        if isinstance(self.source, Engine):
            from tallymark.sources.streamed_cells import streamed_cells

            streamed = streamed_cells(self.source, self.roles, self.where, score, grid)
        cells = self._cells(score, grid, deviations=weighted) if streamed is None else _with_checks(streamed.cells)
        self._refuse_bad_rows(score, cells)
        moments = None if weighted else self._class_moments(score, cells, streamed)
        if moments is None and not weighted:
            cells = self._cells(score, grid, deviations=True)
        yield from tallies_of_cells(
            cells,
            self.roles,
            grid,
            lambda group, heavy: self._split(score, grid, group, heavy),
            moments,
            self.source.untyped,
        )

    @property
    def _mass(self) -> str:
        """The mass of a row, in SQL."""
        return "1" if self.roles.mass is None else "m"

    def _sums(self) -> str:
        """Rows, mass and extremes of a cell."""
        if self._mass == "1":
            return "count(*) AS n, min(s) AS lo, max(s) AS hi"
        mass, squares = "sum(m)", "sum(m::DOUBLE * m)"
        if self.roles.weight is not None:
            mass, squares = self._whole_sum("m"), self._whole_sum("m * m")
        # Rows of mass 0 have no part in the extremes.
        return f"""count(*) FILTER (m > 0) AS n, {mass} AS mass, {squares} AS squares,
                   min(s) FILTER (m > 0) AS lo, max(s) FILTER (m > 0) AS hi"""

    @property
    def _condition(self) -> str:
        return "" if self.where is None else f" WHERE ({self.where})"

    @cached_property
    def _weights(self) -> tuple[int, float]:
        """The power of two above the heaviest weight, and the units in it in which weights are summed.

        Whole numbers of 128 bits add up the same in any order, so that results do not depend on the number of threads.
        """
        column = quoted(self.roles.weight or "")
        columns = self.source.query(
            f"SELECT max({column})::DOUBLE AS most, count(*) AS n FROM {self.source.reader}{self._condition}"
        )
        most = float(plain_numbers(columns["most"])[0])
        if not 0.0 < most < np.inf:
            return 0, 1.0
        return math.frexp(most)[1], 2.0 ** (124 - int(columns["n"][0]).bit_length())

    def _whole_sum(self, value: str, up: float = 1.0) -> str:
        """The fixed-point sum of a value that is at most 1 / `up` in size."""
        return f"sum(TRY_CAST({value} * {double(self._weights[1] * up)} AS HUGEINT))"

    def _as_weights(self, cells: dict[str, Column]) -> dict[str, Column]:
        """Fixed-point sums of weights converted to floats."""
        if self.roles.weight is not None:
            exponent, units = self._weights
            with np.errstate(over="ignore"):
                cells["mass"] = np.ldexp(plain_numbers(cells["mass"]) / units, exponent)
                cells["squares"] = np.ldexp(plain_numbers(cells["squares"]) / units, 2 * exponent)
        return cells

    def _cells(self, score: str, grid: Grid, *, deviations: bool) -> dict[str, Column]:
        """Count and extremes by label, group and cell; with `deviations` sums that give the moments of each cell."""
        huge = self._has_huge(score)
        cells = self._grouped(score, grid, deviations=deviations, huge=huge)
        ends = np.concatenate([plain_numbers(cells[end]) for end in ("lo", "hi")])
        if not huge and len(ends) and np.abs(ends).max() > HUGE:
            # The statistics of a damaged file may be wrong.
            cells = self._grouped(score, grid, deviations=deviations, huge=True)
        cells["key"] = cell_key(plain_numbers(cells["cell"]))
        cells["side"] = np.searchsorted(np.array(grid.thresholds), plain_numbers(cells["lo"]), "right")
        if deviations:
            first, second = (_FIRST, _SECOND**2) if self.roles.weight is None else self._units_of_deviations
            # Squares of scores near the largest float overflow, and their moments are not finite.
            with np.errstate(over="ignore", invalid="ignore"):
                cells["d1"] = cells["key"] * plain_numbers(cells["d1"]) / first
                cells["d2"] = cells["key"] ** 2 * plain_numbers(cells["d2"]) / second
        if self._mass == "1":
            cells |= dict.fromkeys(("mass", "squares", "every"), cells["n"])
            return _with_checks(cells)
        return cells

    def _grouped(self, score: str, grid: Grid, *, deviations: bool, huge: bool) -> dict[str, Column]:
        """The cell table as the engine counts it; `huge` as for :func:`key_of`."""
        checks = "" if self._mass == "1" else _CHECKS
        sums = f"{self._sums()}, {self._deviations()}" if deviations else self._sums()
        groups = self._listed_groups()
        return self._as_weights(
            self.source.query(
                f"""SELECT label, {groups} {_cell_of(grid)} AS cell, {checks} {sums}
                FROM (SELECT *, {key_of("s", huge=huge)} AS key FROM ({self._plain_rows(score)}))
                GROUP BY ALL ORDER BY label, {groups} cell"""
            )
        )

    def _has_huge(self, score: str) -> bool:
        """Whether a score may be so large that its key would overflow, by the statistics of the files."""
        ends = self.source.stored_range(score) if self.where is None else None
        return ends is None or not max(map(abs, ends)) <= HUGE

    def _class_moments(self, score: str, cells: Mapping[str, Column], streamed: StreamedCells | None) -> Moments | None:
        """Moments of each class and group, by fixed-point sums.

        None where a class is so narrow beside the range of all scores that its spread would lose digits.
        """
        columns = ["label", *(f"g{i}" for i in range(len(self.roles.by)))]
        classes = Classes.of(cells, columns)
        if streamed is not None:
            return classes.moments(streamed.sums, streamed.span) if classes.wide_in(streamed.span) else None
        span = self._span(score, cells)
        if not classes.wide_in(span):
            return None
        times = "" if self.roles.count is None else "m::HUGEINT * "
        powers = ("e", "e * e", "e * e * e")
        # As text, because the engine would round a large whole number twice on the way to a float.
        sums = ", ".join(
            f"sum({times}TRY_CAST({e} * {double(FINE)} AS BIGINT))::VARCHAR AS e{i}" for i, e in enumerate(powers)
        )
        distance = f"(s - {double(span.middle)}) * {double(span.per_half)}"
        of_classes = self.source.query(
            f"""SELECT {", ".join(columns)}, {"count(*)" if self._mass == "1" else "sum(m)"} AS mass, {sums}
                FROM (SELECT *, {distance} AS e FROM ({self._plain_rows(score)}))
                GROUP BY {", ".join(columns)}"""
        )
        return classes.moments(of_classes, span)

    def _span(self, score: str, cells: Mapping[str, Column]) -> Span:
        """The range in the files' statistics, which a condition does not change; or that of the cells."""
        low, high = plain_numbers(cells["lo"]).min(), plain_numbers(cells["hi"]).max()
        stored = self.source.stored_range(score)
        return Span.between(*stored) if stored and stored[0] <= low and high <= stored[1] else Span.between(low, high)

    def _deviations(self) -> str:
        """Fixed-point sums of (score - key) and of its square, in units of the key."""
        off = "(s - key) / nullif(key, 0.0)"
        if self.roles.weight is not None:
            first, second = self._whole_sum(f"m * {off}", _NARROW), self._whole_sum(f"m * {off} * {off}", _NARROW**2)
            return f"{first} AS d1, {second} AS d2"
        times = "" if self.roles.count is None else "m::HUGEINT * "
        first, second = (f"TRY_CAST({off} * {double(parts)} AS BIGINT)" for parts in (_FIRST, _SECOND))
        return f"sum({times}{first}) AS d1, sum({times}({second} * {second})) AS d2"

    @property
    def _units_of_deviations(self) -> tuple[float, float]:
        """Units of weighted sums of deviations and of their squares."""
        exponent, units = self._weights
        unit = math.ldexp(units, -exponent)
        return unit * _NARROW, unit * _NARROW**2

    def _plain_rows(self, score: str) -> str:
        """Label, groups, mass and score of each row."""
        roles = self.roles
        # A count is read as it is and as a whole number, so that a fraction shows; a weight as a part of the heaviest.
        column = quoted(roles.mass or "")
        mass = f"TRY_CAST({column} AS BIGINT)"
        if roles.weight is not None:
            mass = f"{column}::DOUBLE * {double(math.ldexp(1.0, -self._weights[0]))}"
        masses = "" if roles.mass is None else f", {column}::DOUBLE AS raw, {mass} AS m"
        groups = "".join(f", {quoted(name)} AS g{i}" for i, name in enumerate(roles.by))
        truth = "0" if roles.label is None else quoted(roles.label)
        return f"""SELECT {truth} AS label, {quoted(score)}::DOUBLE + 0.0 AS s{masses}{groups}
                   FROM {self.source.reader}{self._condition}"""

    def _rows(self, score: str, grid: Grid) -> str:
        """The same with each score's key and its side of the thresholds."""
        side = " + ".join(f"(s >= {double(t)})::INTEGER" for t in grid.thresholds) or "0"
        return f"""SELECT *, {key_of("s")} AS key, {side} AS side FROM ({self._plain_rows(score)})"""

    def _listed_groups(self) -> str:
        return "".join(f"g{i}, " for i in range(len(self.roles.by)))

    def _refuse_bad_rows(self, score: str, cells: Mapping[str, Column]) -> None:
        n = cells["every"]
        if not len(n):
            raise InputError(f"{self.source.shown!r} has no rows" + (" that satisfy where=." if self.where else "."))
        flagged = {
            name: plain_numbers(cells[name]) > 0 for name in ("scoreless", "endless", "massless", "broken", "boundless")
        }
        bad = {
            "no score": flagged["scoreless"],
            "a NaN or infinite score": flagged["endless"],
            f"no {self.roles.label}": missing(cells["label"]),
            "a NaN or infinite weight": ~np.isfinite(plain_numbers(cells["squares"])) | flagged["boundless"],
            **{f"no {name}": _nothing(cells[f"g{i}"]) for i, name in enumerate(self.roles.by)},
            "no weight or count": flagged["massless"],
            "a negative weight or count": plain_numbers(cells["lightest"]) < 0,
        }
        if self.roles.count is not None:
            bad["a count that is not a whole number"] = flagged["broken"]
        if self.roles.weight is not None:
            # Fixed-point sums in units of the heaviest weight would be wrong.
            self._refuse_wrong_statistics(self.roles.weight, cells, "lightest", "heaviest")
        for what, where in bad.items():
            if where.any():
                many = int(n[where].sum())
                raise InputError(
                    f"{score}: {many} rows have {what}; drop or repair them, or leave them out with where=."
                )
        # The ends of a cell are missing where all its rows have mass 0.
        ends = self._refuse_wrong_statistics(score, cells, "lo", "hi")
        self.source.refuse_lost_digits(score, float(np.abs(ends).max(initial=0.0)))

    def _refuse_wrong_statistics(self, name: str, cells: Mapping[str, Column], *ends: str) -> Floats:
        """Refuse a file whose statistics of a column contradict the ends of its cells; return those ends."""
        values: Floats = np.concatenate([plain_numbers(cells[end])[~missing(cells[end])] for end in ends])
        values = values[np.isfinite(values)]
        refuse_wrong_statistics(self.source.shown, name, self.source.stored_range(name), values)
        return values

    def _split(self, score: str, grid: Grid, group: Sequence[Sequence[Any]], heavy: Heavy) -> dict[str, Column]:
        """Heavy cells of one group counted again in equal parts of their range."""
        parts = _PARTS // len(heavy.key)
        with np.errstate(over="ignore"):
            per = np.minimum(parts / (heavy.high - heavy.low), np.finfo(np.float64).max)
        listed = ", ".join(
            f"({double(k)}, {int(d)}, {double(low)}, {double(p)})"
            for k, d, low, p in zip(*(a.tolist() for a in (heavy.key, heavy.side, heavy.low, per)), strict=True)
        )
        same_group = " AND ".join(_is_one_of(f"g{i}", values) for i, values in enumerate(group)) or "true"
        again = self._as_weights(
            self.source.query(
                f"""SELECT label, key, side, part, {self._sums()}
                FROM (SELECT r.*, least({parts - 1}, floor((s - low) * per)) AS part
                      FROM ({self._rows(score, grid)}) r JOIN (VALUES {listed}) AS heavy(k, d, low, per)
                           ON key = k AND side = d WHERE {same_group})
                GROUP BY ALL"""
            )
        )
        return again if "mass" in again else {**again, "mass": again["n"], "squares": again["n"]}


def _cell_of(grid: Grid) -> str:
    """The key in SQL; each part of a cell that a threshold cuts has a different number that still rounds to the key."""
    by_key: dict[float, list[float]] = {}
    for threshold, key in zip(grid.thresholds, cell_key(np.array(grid.thresholds)).tolist(), strict=True):
        by_key.setdefault(key, []).append(threshold)
    cuts = []
    for key, thresholds in by_key.items():
        name, branches = key, []
        for threshold in thresholds:
            name = float(np.nextafter(name, np.inf))
            branches.append(f"WHEN s >= {double(threshold)} THEN {double(name)}")
        cuts.append(f"WHEN key = {double(key)} THEN CASE {' '.join(reversed(branches))} ELSE key END")
    return f"CASE {' '.join(cuts)} ELSE key END" if cuts else "key"


def _with_checks(cells: Mapping[str, Column]) -> dict[str, Column]:
    """A cell table of rows without weights or counts, with the columns that tell bad rows."""
    no_score, good = missing(cells["lo"]), np.zeros(len(cells["n"]))
    finite = np.isfinite(plain_numbers(cells["lo"]) + plain_numbers(cells["hi"]))
    checks = {"scoreless": no_score, "endless": ~no_score & ~finite}
    return {**cells, **checks, **dict.fromkeys(("massless", "broken", "boundless", "lightest"), good)}


def _is_one_of(column: str, values: Sequence[Any]) -> str:
    """A condition that a group column has one of some values, whatever they contain."""
    return f"{column}::VARCHAR IN ({', '.join(map(text, values))})"


def _nothing(column: Column) -> NDArray[np.bool_]:
    """Which entries of a group column are null or NaN."""
    return missing(column) | (np.isnan(np.ma.getdata(column)) if column.dtype.kind == "f" else False)
