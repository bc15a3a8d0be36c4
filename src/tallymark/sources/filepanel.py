"""Several models' scores on the same rows of files, compared without reading the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark._show import Row, Shown
from tallymark.errors import InputError
from tallymark.sources.celltable import Question
from tallymark.sources.doors import panel
from tallymark.sources.engine import Engine, Progress, double, engine, not_missing, quoted, text
from tallymark.sources.files import Reading, columns_of
from tallymark.sources.formats import Paths, Wanted
from tallymark.sources.scan import SMALL, key_of, number_of_rows, scan
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies


@dataclass(frozen=True, eq=False, repr=False)
class FilePanel(Shown):
    """Labels and the scores of several models in files. Made by :func:`tallymark.scan_panel`; holds no rows itself."""

    paths: Paths
    label: str
    models: tuple[str, ...]
    weight: str | None = None
    count: str | None = None
    where: str | None = None
    pos_label: Label | None = None
    memory_limit: str | None = None
    threads: int | None = None
    progress: Progress | None = None

    @cached_property
    def n(self) -> int:
        """Number of rows."""
        with self._engine() as source:
            return number_of_rows(source, self.where)

    @property
    def small(self) -> bool:
        """Few enough rows to be read."""
        return self.n <= SMALL

    def read(self) -> Panel:
        """The rows themselves."""
        with self._engine() as source:
            columns = columns_of(source, self._wanted(), self.where)
        return panel(
            columns[self.label], {model: columns[model] for model in self.models}, pos_label=self.pos_label,
            counts=None if self.count is None else columns[self.count],
            weights=None if self.weight is None else columns[self.weight],
        )  # fmt: skip

    def tallies(self, *, exact: bool | None = None) -> Tallies:
        """The tally of every model."""
        found: Tallies = scan(
            self.paths, label=self.label, score=list(self.models), weight=self.weight, count=self.count,
            where=self.where, pos_label=self.pos_label, exact=exact, memory_limit=self.memory_limit,
            threads=self.threads, progress=self.progress,
        )  # fmt: skip
        return found

    def require_columns(self) -> None:
        """Refuse, before any work, a column that is not there."""
        with self._engine():
            pass

    def keep(self, condition: str) -> FilePanel:
        """Only the rows that satisfy an SQL condition as well."""
        return replace(self, where=condition if self.where is None else f"({self.where}) AND ({condition})")

    def simple_condition(self) -> str:
        """SQL that is true of the rows every model puts below all positives or above all negatives."""
        ends = ", ".join(
            f"min(s{i}) FILTER (positive) AS low{i}, max(s{i}) FILTER (NOT positive) AS high{i}"
            for i in range(len(self.models))
        )
        missing = ", ".join(
            f"count(*) FILTER (s{i} IS NULL OR NOT isfinite(s{i})) AS bad{i}" for i in range(len(self.models))
        )
        with self._engine() as source:
            bad = source.query(
                f"SELECT count(*) FILTER (positive IS NULL) AS bad, {missing} FROM ({self._rows(source)})"
            )
            found = source.query(f"SELECT {ends} FROM ({self._rows(source)}) WHERE m > 0")
        for name, column in zip(
            (self.label, *self.models), ("bad", *(f"bad{i}" for i in range(len(self.models)))), strict=True
        ):
            if bad[column][0]:
                raise InputError(
                    f"{name}: {int(bad[column][0])} rows have no finite value; drop or repair them, or leave them out with where=."
                )
        parts = []
        for i, model in enumerate(self.models):
            low, high = (found[f"{end}{i}"] for end in ("low", "high"))
            if np.ma.getmaskarray(low).any() or np.ma.getmaskarray(high).any():
                return "false"
            score = f"{quoted(model)}::DOUBLE"
            parts.append(f"({score} < {double(float(low[0]))} OR {score} > {double(float(high[0]))})")
        return " AND ".join(parts)

    def mass(self) -> float:
        """Rows, or the sum of their counts or weights."""
        column = self.weight or self.count
        if column is None:
            return float(self.n)
        with self._engine() as source:
            found = source.query(
                f"SELECT coalesce(sum({quoted(column)}), 0)::DOUBLE AS m FROM {source.reader}{self._condition}"
            )
        return float(found["m"][0])

    def products(self, values: Mapping[str, tuple[Floats, Floats, Floats]]) -> tuple[Floats, Floats]:
        """Sums over the rows of each class of the products of looked-up values, weighted as a covariance needs.

        For each model `values` has the keys of its score cells and what a negative and a positive row there is worth.
        Gives, for negatives and positives, the matrix of sums and below it (mass, rows).
        """
        models = list(values)
        chosen = [f"CASE WHEN positive THEN l{i}.up ELSE l{i}.down END AS v{i}" for i in range(len(models))]
        joins = " ".join(f"JOIN lookup{i} l{i} ON l{i}.key = r.k{i}" for i in range(len(models)))
        square = "m * m" if self.weight is not None else "m"
        sums = ", ".join(f"sum({square} * v{i} * v{j}) AS p{i}_{j}" for i in range(len(models)) for j in range(i + 1))
        with self._engine() as source:
            keys = ", ".join(f"{key_of(f's{i}')} AS k{i}" for i in range(len(models)))
            for i, model in enumerate(models):
                key, down, up = values[model]
                source.register(f"lookup{i}", {"key": key, "down": down, "up": up})
            found = source.query(
                f"""SELECT positive, sum(m)::DOUBLE AS mass, count(*) FILTER (m > 0) AS n, {sums}
                    FROM (SELECT positive, m::DOUBLE AS m, {", ".join(chosen)}
                          FROM (SELECT *, {keys} FROM ({self._rows(source)})) r {joins})
                    GROUP BY positive"""
            )
        sides = []
        for wanted in (False, True):
            at = int(np.flatnonzero(np.asarray(found["positive"]) == wanted)[0])
            matrix = np.zeros((len(models) + 1, len(models)))
            for i in range(len(models)):
                for j in range(i + 1):
                    matrix[i, j] = matrix[j, i] = found[f"p{i}_{j}"][at]
            matrix[-1, :2] = found["mass"][at], found["n"][at]
            sides.append(matrix)
        return sides[0], sides[1]

    def heading(self) -> str:
        """What it looks at."""
        return f"Panel in {self.paths}: {len(self.models)} models, labels in {self.label!r}"

    def rows(self) -> list[Row]:
        """One line per model."""
        return [{"model": model} for model in self.models]

    def to_dict(self) -> dict[str, Any]:
        """What it looks at, as plain values."""
        return {"label": self.label, "models": list(self.models), "n": self.n}

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        limits: dict[str, Any] = {"memory_limit": self.memory_limit, "threads": self.threads, "progress": self.progress}
        with engine(self.paths, self._wanted(), where=self.where, **limits) as source:
            yield source

    def _wanted(self) -> list[Wanted]:
        others = Question(self.label, weight=self.weight, count=self.count).wanted
        return [*(Wanted(model, "scores=", "number") for model in self.models), *others]

    def _rows(self, source: Engine) -> str:
        """Each row's truth, mass and scores, in SQL."""
        mass = self.weight or self.count
        scores = ", ".join(f"{quoted(model)}::DOUBLE + 0.0 AS s{i}" for i, model in enumerate(self.models))
        positive = ", ".join(map(text, self._positive))
        return f"""SELECT {quoted(self.label)}::VARCHAR IN ({positive}) AS positive,
                   {"1" if mass is None else quoted(mass)} AS m, {scores} FROM {source.reader}{self._condition}"""

    @property
    def _condition(self) -> str:
        return "" if self.where is None else f" WHERE ({self.where})"

    @cached_property
    def _positive(self) -> list[str]:
        """The positive label as the engine writes it, in all its spellings."""
        with self._engine() as source:
            found = source.query(
                f"SELECT DISTINCT {quoted(self.label)} AS c, {quoted(self.label)}::VARCHAR AS t "
                f"FROM {source.reader}{self._condition}"
            )
        is_positive, _ = _check.binary_labels(Reading.of(found["c"])(found["c"]), self.pos_label, self.label)
        spelled: list[str] = found["t"][is_positive].tolist()
        return spelled


def scan_panel(
    paths: Paths, *, label: str, scores: Iterable[str], weight: str | None = None, count: str | None = None,
    where: str | None = None, pos_label: Label | None = None, memory_limit: str | None = None,
    threads: int | None = None, progress: Progress | None = None, drop_missing: bool = False,
) -> FilePanel:  # fmt: skip
    r"""Several models' scores in files of any size, for :func:`tallymark.compare` and :func:`tallymark.without_simple`.

    Nothing is read until it is asked for. Beyond two million rows the engine does the work: it finds and leaves out
    simple rows, and sums what DeLong's covariance needs in a second pass.

    >>> import tallymark as tm, tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "scores.csv"
    >>> _ = path.write_text("y,a,b\n0,0.1,0.3\n1,0.8,0.2\n0,0.4,0.1\n1,0.35,0.9\n")
    >>> round(tm.compare(tm.scan_panel(path, label="y", scores=["a", "b"])).difference, 4)
    0.0
    >>> folder.cleanup()
    """
    models = tuple(scores) if isinstance(scores, Iterable) else ()
    if isinstance(scores, str) or len(set(models)) != len(models) or not models:
        raise InputError("scores= must list the score columns, one per model and each once.")
    if weight is not None and count is not None:
        raise InputError("Give count= (repeated rows) or weight= (survey weights), not both.")
    if drop_missing:
        where = not_missing([name for name in (label, *models, weight, count) if name is not None], where)
    made = FilePanel(paths, label, models, weight, count, where, pos_label, memory_limit, threads, progress)
    made.require_columns()
    return made
