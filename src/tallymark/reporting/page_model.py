"""What a page is made of: a verdict, bars, remarks, sections, pictures and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tallymark._display import Row, columns_of
from tallymark._numbers import number, with_limits
from tallymark.measures import Evaluation, Measure
from tallymark.notes import GUARDS, Note
from tallymark.registry import METRICS
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
    """Columns and lines; a column of numbers stands to the right. Lines can be parted into named blocks."""

    columns: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    caption: str = ""
    #: Heads of blocks by the line they stand before; a table of blocks can be searched.
    blocks: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A heading with pictures and tables below it; what is `folded` opens on a click."""

    title: str
    text: str = ""
    pictures: Sequence[Any] = ()
    tables: Sequence[Table] = ()
    folded: Sequence[Fold] = ()

    @property
    def all_pictures(self) -> list[Any]:
        """The open ones and the folded."""
        return [*self.pictures, *(picture for fold in self.folded for picture in fold.pictures)]


@dataclass(frozen=True)
class Fold:
    """Details behind a line that can be opened."""

    title: str
    pictures: Sequence[Any] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Remark:
    """Something a reader must know beside the numbers.

    `code` is a guard's, or a word for what the report alone says; `why` explains it further down the page.
    """

    code: str
    message: str
    why: str = ""

    @classmethod
    def of(cls, note: Note) -> Remark:
        """A guard's note."""
        guard = GUARDS[note.code]
        return cls(note.code, note.message, f"It warns when {guard.means}. What to do: {guard.do}.")


@dataclass(frozen=True)
class Bar:
    """A number on a track: where it, its limits and chance stand, as shares of the track."""

    label: str
    brief: str
    text: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    undefined: bool = False

    @classmethod
    def of(cls, measure: Measure) -> Bar:
        """A measure on a track from the least to the most it can be."""
        facts = METRICS[measure.name]
        if measure.reason is not None:
            why = measure.reason.removeprefix(f"{measure.name}: ")
            return cls(facts.label, facts.brief, f"undefined: {why}", undefined=True)
        text = with_limits(measure.value, measure.low, measure.high)
        if not (math.isfinite(facts.low) and math.isfinite(facts.high)):
            return cls(facts.label, facts.brief, text)

        def place(value: float | None) -> float | None:
            if value is None or not math.isfinite(value):
                return None
            return min(max((value - facts.low) / (facts.high - facts.low), 0.0), 1.0)

        at, low, high, chance = map(place, (measure.value, measure.low, measure.high, measure.chance))
        return cls(facts.label, facts.brief, text, at, low, high, chance)


@dataclass(frozen=True)
class Line:
    """A model or a total on the first screen."""

    name: str
    bars: Sequence[Bar]
    #: Which colour and shape are the model's.
    index: int = 0


@dataclass(frozen=True)
class Content:
    """Everything a page shows."""

    title: str
    #: What was looked at: rows, positives, sampling, threshold.
    what: Sequence[str]
    verdict: Sequence[str]
    warnings: Sequence[Remark] = ()
    sections: Sequence[Section] = ()
    #: The verdict in a line that can be quoted.
    headline: str = ""
    #: One line for each model.
    lines: Sequence[Line] = ()
    #: Tallies and evaluations the sliders run over.
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)

    @property
    def order(self) -> list[str]:
        """The models in the order of the first screen, which the sliders begin with."""
        shown = [line.name for line in self.lines if line.name in self.tallies]
        return shown or list(self.tallies)


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
        missing = value is None or (told and math.isnan(value))
        return Cell("–" if missing else number(value), value if told and not missing else None)

    return Table(list(columns), [[cell(row.get(name)) for name in columns] for row in lines], caption)


def once(notes: Sequence[Remark]) -> list[Remark]:
    """Each remark once."""
    return list(dict.fromkeys(notes))


#: Heads of the metrics' families, in the order a reader wants them.
FAMILIES = {
    "ranking": "Ranking: all thresholds at once",
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "counting": "Counting",
    "correlation": "Correlation and discriminability",
}


#: Models that a table of metrics sets side by side: more would not fit on paper.
_ACROSS = 7


def metric_tables(evaluations: Mapping[str, Evaluation], first: Sequence[str] = ()) -> list[Table]:
    """Metrics down, models across, in as many tables as paper needs."""
    names = list(evaluations)
    parts = [names[i : i + _ACROSS] for i in range(0, len(names), _ACROSS)]
    return [_metric_table({name: evaluations[name] for name in part}, first) for part in parts]


def _metric_table(evaluations: Mapping[str, Evaluation], first: Sequence[str]) -> Table:
    """Metrics down in their families (some of them first), models across, and what chance reaches."""
    there = dict.fromkeys(name for ev in evaluations.values() for name in ev)
    leading = [name for name in first if name in there]
    families = {family: [n for n in there if n not in leading and _family(n) == family] for family in (*FAMILIES, "")}
    lines: list[list[Cell]] = []
    blocks: dict[int, str] = {}
    for head, names in (("Leading here", leading), *((FAMILIES.get(family, "Others"), names) for family, names in families.items())):  # fmt: skip
        if names:
            blocks[len(lines)] = head
            lines += [_metric_line(name, evaluations) for name in names]
    one = next(iter(evaluations.values()))
    return Table(["metric", *evaluations, "chance"], lines, one.intervals or "", blocks)


def label_of(name: str) -> str:
    """The name people say of a metric, or of its average over classes, such as F1, macro."""
    if name in METRICS:
        return METRICS[name].label
    metric, _, average = name.rpartition("_")
    return f"{METRICS[metric].label}, {average}" if metric in METRICS else name


def _family(name: str) -> str:
    return METRICS[name].family if name in METRICS else ""


def _metric_line(name: str, evaluations: Mapping[str, Evaluation]) -> list[Cell]:
    known = (ev[name].chance for ev in evaluations.values() if name in ev)
    chances = [chance for chance in known if chance is not None]
    shown = list(dict.fromkeys(map(number, chances)))
    if len(shown) > 2:
        shown = [f"{number(min(chances))} to {number(max(chances))}"]
    cells = [measured(ev[name]) if name in ev else Cell("") for ev in evaluations.values()]
    return [Cell(label_of(name), name, name), *cells, Cell(" / ".join(shown), chances[0] if chances else None)]
