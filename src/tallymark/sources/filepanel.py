"""Scores of several models on the same rows of files, queried by the engine instead of read."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tallymark._check import Label
from tallymark._display import Row, Shown
from tallymark.errors import InputError
from tallymark.sources.duck import Progress
from tallymark.sources.formats import Paths
from tallymark.sources.frames import named_columns
from tallymark.sources.open_rows import Table
from tallymark.sources.roles import Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.tallies import Tallies


@dataclass(frozen=True, eq=False, repr=False)
class FilePanel(Shown):
    """Labels and the scores of several models in files. Made by :func:`tallymark.scan_panel`; holds no rows itself."""

    rows_of: Rows

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the score columns."""
        return self.rows_of.roles.scores

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        with self.open() as table:
            return table.n

    def open(self) -> AbstractContextManager[Table]:
        """The rows, open for queries."""
        return self.rows_of.open()

    def tallies(self) -> Tallies:
        """The tally of every model."""
        with self.open() as table:
            return table.tallies()

    def keep(self, condition: str) -> FilePanel:
        """Only the rows that satisfy an SQL condition as well."""
        return replace(self, rows_of=self.rows_of.keep(condition))

    def heading(self) -> str:
        """The files and the label column."""
        return f"Panel in {self.rows_of.paths}: {len(self.models)} models, labels in {self.rows_of.roles.label!r}"

    def rows(self) -> list[Row]:
        """One line per model."""
        return [{"model": model} for model in self.models]

    def to_dict(self) -> dict[str, Any]:
        """Label column, models and number of rows as plain values."""
        return {"label": self.rows_of.roles.label, "models": list(self.models), "n": self.n}


@named_columns
def scan_panel(
    paths: Paths,
    *,
    label: str,
    score: Iterable[str],
    weight: str | None = None,
    count: str | None = None,
    cluster: str | None = None,
    where: str | None = None,
    pos_label: Label | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    drop_missing: bool = False,
) -> FilePanel:
    r"""Scores of several models in files of any size, for :func:`tallymark.compare` and
    :func:`tallymark.without_simple`.

    Rows are read when they are needed. Beyond two million rows the engine leaves out simple rows, and sums what
    DeLong's covariance needs in a second pass.

    Parameters
    ----------
    paths
        A path, a pattern or a list of either.
    label, score, weight, count, cluster
        Names of columns, one score for each model. With `cluster` the rows are read, however many.
    where
        An SQL condition on the rows.
    pos_label
        The positive label, where it is not obvious.
    memory_limit, threads
        Bounds of the engine (``"1GB"``), which spills to disk.
    progress
        Called with the percentage done.
    drop_missing
        Leave out rows in which a named column is missing.

    Returns
    -------
    FilePanel

    Examples
    --------
    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "scores.csv"
    >>> _ = path.write_text("y,a,b\n0,0.1,0.3\n1,0.8,0.2\n0,0.4,0.1\n1,0.35,0.9\n")
    >>> round(tm.compare(tm.scan_panel(path, label="y", score=["a", "b"])).difference, 4)
    0.0
    >>> folder.cleanup()
    """
    if not isinstance(label, str):
        raise InputError(f"label is {label!r}, expected the name of the label column.")
    models = tuple(score) if isinstance(score, Iterable) else ()
    if (
        isinstance(score, str)
        or not all(isinstance(model, str) for model in models)
        or len(set(models)) != len(models)
        or not models
    ):
        raise InputError("score= must list the score columns, one per model and each once.")
    roles = Roles(label=label, scores=models, weight=weight, count=count, cluster=cluster, pos_label=pos_label)
    rows = Rows(
        paths=paths,
        roles=roles,
        where=where,
        drop_missing=drop_missing,
        memory_limit=memory_limit,
        threads=threads,
        progress=progress,
    )
    # Refuse a missing column now.
    with rows.open():
        return FilePanel(replace(rows, noted=True))
