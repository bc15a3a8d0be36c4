"""NoSimple: evaluation without the objects that every model gets right."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from tallymark._check import Bools
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError, Undefined
from tallymark.registry import METRICS
from tallymark.sources.duck import double, quoted
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.open_rows import Table
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

Verdict = Literal["negligible", "moderate", "decisive"]

#: Share of simple objects from which they matter, and from which they decide (Rahardja & Fränti).
_MODERATE, _DECISIVE = 0.02, 0.30


class WithoutSimple(Shown, ABC):
    """Models with and without their simple objects, wherever the rows are.

    AUROC's order of the models never changes by leaving them out, only their differences grow; other metrics can
    reorder them.
    """

    @property
    @abstractmethod
    def n(self) -> int:
        """Rows in all."""

    @property
    @abstractmethod
    def n_simple(self) -> int:
        """Rows left out."""

    @property
    @abstractmethod
    def share(self) -> float:
        """Share of simple objects, by count or weight."""

    @abstractmethod
    def pairs(self) -> Mapping[str, tuple[Tally | None, Tally | None]]:
        """Each model's tally of all rows and of the rows that are left; None when there are none."""

    @property
    def verdict(self) -> Verdict:
        """How much the simple objects matter: negligible under 2 %, decisive over 30 %."""
        if self.share < _MODERATE:
            return "negligible"
        return "moderate" if self.share <= _DECISIVE else "decisive"

    def compare(self, metric: str = "auroc", *, threshold: float | str | None = None, **options: Any) -> list[Row]:
        """A metric of each model with and without the simple objects; `reason` says why one is undefined.

        A metric at one threshold needs `threshold`; a policy chooses anew on the reduced data.
        """
        facts = METRICS[metric]
        if facts.needs == "confusion" and threshold is None:
            raise InputError(f"{metric} needs a threshold: compare({metric!r}, threshold=0.5).")
        rows: list[Row] = []
        for model, pair in self.pairs().items():
            found, reason = {}, None
            for name, tally in zip(("original", "without_simple"), pair, strict=True):
                try:
                    if tally is None:
                        raise Undefined("all objects are simple; nothing is left to evaluate")
                    summary = tally.at(threshold) if facts.needs == "confusion" and threshold is not None else tally
                    found[name] = facts.compute(summary, **options)
                except Undefined as error:
                    found[name], reason = math.nan, error.reason
            row: Row = {"model": model, **found, "change": found["without_simple"] - found["original"]}
            rows.append({**row, "reason": reason} if reason else row)
        return rows

    def heading(self) -> str:
        """Share and verdict."""
        return (
            f"NoSimple: {self.n_simple} of {self.n} rows are simple ({100 * self.share:.1f} %, {self.verdict}); "
            f"AUROC with and without them"
        )

    def rows(self) -> list[Row]:
        """AUROC with and without."""
        return self.compare("auroc")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": self.n,
            "simple": self.n_simple,
            "share": self.share,
            "verdict": self.verdict,
            "auroc": plain(self.compare("auroc")),
        }


@dataclass(frozen=True, eq=False, repr=False)
class NoSimple(WithoutSimple):
    """A panel without its simple objects, beside the whole panel. `simple` marks the rows left out."""

    panel: Panel
    reduced: Panel
    simple: Bools

    @property
    def n(self) -> int:
        """Rows in all."""
        return self.panel.n

    @property
    def n_simple(self) -> int:
        """Rows left out."""
        return int(self.simple.sum())

    @property
    def share(self) -> float:
        """Share of simple objects, by count or weight."""
        mass = self.panel.mass
        return float(np.sum(mass[self.simple]) / np.sum(mass)) if len(mass) else 0.0

    def pairs(self) -> Mapping[str, tuple[Tally | None, Tally | None]]:
        """Each model's tally of all rows and of the rows that are left."""
        return {
            model: (
                self.panel.tally(model) if self.panel.n else None,
                self.reduced.tally(model) if self.reduced.n else None,
            )
            for model in self.panel.models
        }


@dataclass(frozen=True, eq=False, repr=False)
class FileNoSimple(WithoutSimple):
    """The same for files: the engine found the simple rows and left them out; no row was read.

    `original` and `reduced` look at the files with and without them.
    """

    original: FilePanel
    reduced: FilePanel

    @property
    def n(self) -> int:
        """Rows in all."""
        return self.original.n

    @property
    def n_simple(self) -> int:
        """Rows left out."""
        return self.original.n - self.reduced.n

    @cached_property
    def _share(self) -> float:
        masses = []
        for panel in (self.reduced, self.original):
            with panel.open() as table:
                masses.append(table.mass())
        return 1.0 - masses[0] / masses[1]

    @property
    def share(self) -> float:
        """Share of simple objects, by count or weight."""
        return self._share

    @cached_property
    def _pairs(self) -> Mapping[str, tuple[Tally | None, Tally | None]]:
        left = self.reduced.tallies() if self.reduced.n else None
        return {
            model: (tally, None if left is None else left[model]) for model, tally in self.original.tallies().items()
        }

    def pairs(self) -> Mapping[str, tuple[Tally | None, Tally | None]]:
        """Each model's tally of all rows and of the rows that are left."""
        return self._pairs


def simple_rows(panel: Panel) -> Bools:
    """Which rows are simple: for every model, strictly below all positives or strictly above all negatives."""
    there = panel.mass > 0
    positive, negative = panel.is_positive & there, ~panel.is_positive & there
    if not positive.any() or not negative.any():
        return np.zeros(panel.n, dtype=np.bool_)
    simple = np.ones(panel.n, dtype=np.bool_)
    for scores in panel.scores.values():
        lowest_positive, highest_negative = scores[positive].min(), scores[negative].max()
        simple &= (scores < lowest_positive) | (scores > highest_negative)
    return simple


def simple_condition(table: Table) -> str:
    """SQL that is true of the rows every model puts below all positives or above all negatives."""
    models = table.roles.scores
    ends = ", ".join(
        f"min(s{i}) FILTER (positive) AS low{i}, max(s{i}) FILTER (NOT positive) AS high{i}" for i in range(len(models))
    )
    missing = ", ".join(f"count(*) FILTER (s{i} IS NULL OR NOT isfinite(s{i})) AS bad{i}" for i in range(len(models)))
    bad = table.source.query(f"SELECT count(*) FILTER (positive IS NULL) AS bad, {missing} FROM ({table.rows})")
    columns = table.source.query(f"SELECT {ends} FROM ({table.rows}) WHERE m > 0")
    for name, column in zip(
        (table.roles.label, *models), ("bad", *(f"bad{i}" for i in range(len(models)))), strict=True
    ):
        if bad[column][0]:
            raise InputError(
                f"{name}: {int(bad[column][0])} rows have no finite value; drop or repair them, or leave them out with where=."
            )
    parts = []
    for i, model in enumerate(models):
        low, high = (columns[f"{end}{i}"] for end in ("low", "high"))
        if np.ma.getmaskarray(low).any() or np.ma.getmaskarray(high).any():
            return "false"
        score = f"{quoted(model)}::DOUBLE"
        parts.append(f"({score} < {double(float(low[0]))} OR {score} > {double(float(high[0]))})")
    return " AND ".join(parts)


@overload
def without_simple(panel: Panel) -> NoSimple: ...
@overload
def without_simple(panel: FilePanel) -> FileNoSimple: ...
def without_simple(panel: Panel | FilePanel) -> NoSimple | FileNoSimple:
    """Leave out the objects that all models of a panel classify correctly whatever the threshold.

    Rahardja & Fränti, NoSimple: data bias evaluation metrics. The panel itself is not changed. A panel in files
    (:func:`tallymark.scan_panel`) is searched and reduced by the engine.

    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 0, 1, 1, 0, 0], {"a": [1, 2, 110, 6, 120, 0, 0], "b": [100, 150, 2, 130, 3, 0, 0]})
    >>> result = tm.without_simple(p)
    >>> int(result.simple.sum()), result.verdict
    (2, 'moderate')
    >>> [round(row["without_simple"], 4) for row in result.compare("auroc")]
    [0.8333, 0.5]
    """
    if isinstance(panel, FilePanel):
        with panel.open() as table:
            return FileNoSimple(panel, panel.keep(f"NOT ({simple_condition(table)})"))
    if not isinstance(panel, Panel):
        raise InputError(
            f'without_simple takes a Panel, got {type(panel).__name__}. Write tm.panel(y, {{"a": score_a, "b": score_b}}).'
        )
    simple = simple_rows(panel)
    simple.flags.writeable = False
    return NoSimple(panel, panel.keep(~simple), simple)
