"""Rows of open files: read whole while they are few, else counted by the engine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tallymark import _check
from tallymark._check import Column
from tallymark.sources.cell_queries import tallies_by_cells
from tallymark.sources.columns import SMALL, tallies_of_columns
from tallymark.sources.constructors import panel_of_arrays
from tallymark.sources.duck import quoted, text
from tallymark.sources.engine import Engine
from tallymark.sources.files import Reading, columns_of
from tallymark.sources.roles import Roles
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies


class Table:
    """Rows of open files whose columns have roles; each query is run once."""

    def __init__(self, source: Engine, roles: Roles, where: str | None) -> None:
        self.source = source
        self.roles = roles
        self.where = where

    @property
    def condition(self) -> str:
        """The WHERE of a query, or nothing."""
        return "" if self.where is None else f" WHERE ({self.where})"

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        return int(self.source.query(f"SELECT count(*) AS n FROM {self.source.reader}{self.condition}")["n"][0])

    @property
    def small(self) -> bool:
        """Few enough rows to be read."""
        return self.n <= SMALL

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns that have a role, read whole."""
        return columns_of(self.source, self.roles.wanted, self.where)

    def _reading(self, labels: Column) -> Reading:
        return Reading.of(labels, untyped=self.roles.label in self.source.untyped)

    def tallies(self, *, exact: bool | None = None, thresholds: Iterable[float] = (0.5,)) -> Tallies:
        """The tally of every model and group, exact while rows are few; `exact` True never quantises, False always."""
        # Cells do not keep the clusters of their rows.
        if exact or self.roles.cluster is not None or (exact is None and self.small):
            return tallies_of_columns(self.columns, self.roles)
        return tallies_by_cells(self.source, self.roles, self.where, thresholds)

    def panel(self) -> Panel:
        """The rows themselves, with the scores of every model."""
        roles, columns = self.roles, self.columns
        return panel_of_arrays(
            columns[roles.label or ""],
            {name: columns[name] for name in roles.scores},
            pos_label=roles.pos_label,
            counts=None if roles.count is None else columns[roles.count],
            weights=None if roles.weight is None else columns[roles.weight],
            clusters=None if roles.cluster is None else columns[roles.cluster],
            name=roles.label or "labels",
        )

    def mass(self) -> float:
        """Rows, or the sum of their counts or weights."""
        if self.roles.mass is None:
            return float(self.n)
        query = (
            f"SELECT coalesce(sum({quoted(self.roles.mass)}), 0)::DOUBLE AS m FROM {self.source.reader}{self.condition}"
        )
        return float(self.source.query(query)["m"][0])

    @cached_property
    def rows(self) -> str:
        """Each row's truth (`positive`), mass (`m`) and scores (`s0`, `s1`, …), in SQL."""
        roles = self.roles
        scores = ", ".join(f"{quoted(model)}::DOUBLE + 0.0 AS s{i}" for i, model in enumerate(roles.scores))
        positive = ", ".join(map(text, self._positive))
        return f"""SELECT {quoted(roles.label or "")}::VARCHAR IN ({positive}) AS positive,
                   {"1" if roles.mass is None else quoted(roles.mass)} AS m, {scores}
                   FROM {self.source.reader}{self.condition}"""

    @property
    def _positive(self) -> list[str]:
        """The positive label as the engine writes it."""
        label = self.roles.label or ""
        columns = self.source.query(
            f"SELECT {quoted(label)} AS c, {quoted(label)}::VARCHAR AS t, count(*) AS n "
            f"FROM {self.source.reader}{self.condition} GROUP BY 1, 2"
        )
        is_positive, _ = _check.binary_labels(
            self._reading(columns["c"])(columns["c"]), self.roles.pos_label, label, rows=columns["n"]
        )
        spelled: list[str] = columns["t"][is_positive].tolist()
        return spelled
