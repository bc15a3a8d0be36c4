"""A declaration of rows in files: the paths, the role of each column, and conditions on the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tallymark.sources.duck import Progress
from tallymark.sources.engine import engine, not_missing
from tallymark.sources.formats import Paths
from tallymark.sources.left_out import complete_rows
from tallymark.sources.open_rows import Table
from tallymark.sources.roles import Roles


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows in files; nothing is read until they are opened."""

    paths: Paths
    roles: Roles
    where: str | None = None
    drop_missing: bool = False
    #: Whether the rows that are left out were noted when the files were first opened.
    noted: bool = False
    memory_limit: str | None = None
    threads: int | None = None
    progress: Progress | None = None

    @contextmanager
    def open(self) -> Iterator[Table]:
        """The rows, open for queries; raises where a column is missing."""
        wanted = self.roles.wanted
        with engine(
            self.paths,
            wanted,
            where=self.where,
            memory_limit=self.memory_limit,
            threads=self.threads,
            progress=self.progress,
        ) as source:
            where = self.where
            if self.drop_missing:
                names = [name for name, *_ in wanted]
                where = not_missing(names, where) if self.noted else complete_rows(source, names, where)
            yield Table(source, self.roles, where)

    def keep(self, condition: str) -> Rows:
        """Only the rows that satisfy an SQL condition as well."""
        return replace(self, where=condition if self.where is None else f"({self.where}) AND ({condition})")
