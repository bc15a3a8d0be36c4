"""What a page is made of: remarks, sections, pictures and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallymark._display import Row, columns_of
from tallymark._numbers import number, with_limits
from tallymark.measures import Evaluation
from tallymark.notes import Note
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Cell:
    """What a table shows, and what it sorts and copies by."""

    text: str
    value: float | str | None = None
    metric: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """Columns and lines; a column of numbers stands to the right."""

    columns: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with pictures and tables below it."""

    title: str
    text: str = ""
    pictures: Sequence[Any] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Remark:
    """Something a reader must know beside the numbers; `code` is a guard's, or a word for what the report alone says."""

    code: str
    message: str

    @classmethod
    def of(cls, note: Note) -> Remark:
        """A guard's note."""
        return cls(note.code, note.message)


@dataclass(frozen=True)
class Content:
    """Everything a page shows."""

    title: str
    what: str
    verdict: Sequence[str]
    warnings: Sequence[Remark] = ()
    sections: Sequence[Section] = ()
    #: Tallies and thresholds the sliders run over.
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    #: Costs and beta that were asked for, and the stated prevalence: where the sliders start.
    parameters: Mapping[str, float] = field(default_factory=dict)
    prevalence: float | None = None


def measured(measure: Any) -> Cell:
    """A measure with its interval."""
    if measure.reason is not None:
        return Cell("undefined", None)
    return Cell(with_limits(measure.value, measure.low, measure.high), measure.value, None, measure.low, measure.high)


def table_of(lines: Sequence[Row], caption: str = "") -> Table:
    """The lines of a result as a table: what is missing is a dash, numbers sort."""
    columns = columns_of(lines)

    def cell(value: Any) -> Cell:
        told = isinstance(value, int | float) and not isinstance(value, bool)
        return Cell("–" if value is None else number(value), value if told else None)

    return Table(list(columns), [[cell(row.get(name)) for name in columns] for row in lines], caption)


def once(notes: Sequence[Remark]) -> list[Remark]:
    """Each remark once."""
    return list(dict.fromkeys(notes))


def metric_table(evaluations: Mapping[str, Evaluation], first: Sequence[str] = ()) -> Table:
    """Metrics down (some of them first), models across, and what chance reaches."""
    there = dict.fromkeys(name for ev in evaluations.values() for name in ev)
    names = list(dict.fromkeys((*(name for name in first if name in there), *there)))
    lines = []
    for name in names:
        chances = [ev[name].chance for ev in evaluations.values() if name in ev and ev[name].chance is not None]
        shown = dict.fromkeys(number(chance) for chance in chances)
        cells = [measured(ev[name]) if name in ev else Cell("") for ev in evaluations.values()]
        lines.append([Cell(name, name, name), *cells, Cell(" / ".join(shown), chances[0] if chances else None)])
    one = next(iter(evaluations.values()))
    return Table(["metric", *evaluations, "chance"], lines, one.intervals or "")
