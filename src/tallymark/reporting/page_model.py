"""The content of a report's page: verdict, bars, remarks, sections, charts and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tallymark._display import Row, columns_of
from tallymark._numbers import number, with_limits
from tallymark.charts.theme import Chart
from tallymark.measures import Evaluation, Measure
from tallymark.notes import GUARDS, Note
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and the value by which it is sorted and copied."""

    text: str
    value: float | str | None = None
    metric: str | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Table:
    """Columns and lines; lines can be divided into named blocks."""

    columns: Sequence[str]
    lines: Sequence[Sequence[Cell]]
    caption: str = ""
    #: Headings of blocks by the index of their first line; a table of blocks can be searched.
    blocks: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A heading with text, charts and tables; what is `folded` opens on a click."""

    title: str
    text: str = ""
    pictures: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    folded: Sequence[Fold] = ()

    @property
    def all_pictures(self) -> list[Chart]:
        """Charts of the section, those of its folds included."""
        return [*self.pictures, *(picture for fold in self.folded for picture in fold.pictures)]


@dataclass(frozen=True)
class Fold:
    """Charts and tables that open on a click."""

    title: str
    pictures: Sequence[Chart] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Remark:
    """A warning of a page.

    `code` is that of a note, or a word for remarks that only reports make; `why` explains it further down the page.
    """

    code: str
    message: str
    why: str = ""

    @classmethod
    def of(cls, note: Note) -> Remark:
        """The remark of a note."""
        guard = GUARDS[note.code]
        return cls(note.code, note.message, f"It warns when {guard.means}. What to do: {guard.do}.")


@dataclass(frozen=True)
class Bar:
    """A metric drawn as a bar: positions of value, limits and chance, as shares of the metric's range."""

    label: str
    brief: str
    text: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    undefined: bool = False
    #: What the ends of the bar stand for.
    ends: tuple[float, float] = (0.0, 1.0)
    #: Where chance lies when the ends leave it out: "below" or "above".
    beyond: str = ""

    @classmethod
    def of(cls, measure: Measure) -> Bar:
        """The bar of a measure; without positions where the metric's range is infinite."""
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
        return cls(facts.label, facts.brief, text, at, low, high, chance, ends=(facts.low, facts.high))

    def between(self, low: float, high: float) -> Bar:
        """The bar on a part of its axis."""

        def place(share: float | None) -> float | None:
            return None if share is None else min(max((share - low) / (high - low), 0.0), 1.0)

        beyond = "" if self.chance is None or low <= self.chance <= high else "below" if self.chance < low else "above"
        start, length = self.ends[0], self.ends[1] - self.ends[0]
        return replace(
            self,
            at=place(self.at),
            low=place(self.low),
            high=place(self.high),
            chance=None if beyond else place(self.chance),
            ends=(start + low * length, start + high * length),
            beyond=beyond,
        )


def zoomed(bars: Sequence[Bar]) -> list[Bar]:
    """The bars of one metric on the part of its axis where values and limits are, in steps of a twentieth."""
    places = [place for bar in bars for place in (bar.at, bar.low, bar.high) if place is not None]
    if not places:
        return list(bars)
    low, high = math.floor(_STEPS * min(places)) / _STEPS, math.ceil(_STEPS * max(places)) / _STEPS
    if high - low > _WIDE or low == high:
        return list(bars)
    return [bar.between(low, high) for bar in bars]


#: Steps of an axis, and the share of it beyond which all of it is drawn.
_STEPS, _WIDE = 20, 0.5


@dataclass(frozen=True)
class Line:
    """The bars of a model, or of all rows, on the first screen."""

    name: str
    bars: Sequence[Bar]
    #: Index of the model's colour and symbol.
    index: int = 0


@dataclass(frozen=True)
class Methods:
    """How the numbers were computed: a paragraph to quote, and its references."""

    text: str = ""
    references: Sequence[str] = ()


@dataclass(frozen=True)
class Content:
    """The content of a page."""

    title: str
    #: What was evaluated: rows, positives, sampling, threshold.
    what: Sequence[str]
    verdict: Sequence[str]
    warnings: Sequence[Remark] = ()
    sections: Sequence[Section] = ()
    #: The verdict in one line.
    headline: str = ""
    #: One line for each model.
    lines: Sequence[Line] = ()
    #: Tallies and evaluations the sliders run over.
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    methods: Methods = Methods()
    #: Rows of either class that every bin of scores has at least, where scores were put into bins.
    private: int | None = None

    @property
    def zoomed_lines(self) -> list[Line]:
        """The lines with each metric's bars on the part of its axis that is in use."""
        if len({len(line.bars) for line in self.lines}) != 1 or not self.lines[0].bars:
            return list(self.lines)
        columns = [zoomed(bars) for bars in zip(*(line.bars for line in self.lines), strict=True)]
        return [
            replace(line, bars=list(bars)) for line, bars in zip(self.lines, zip(*columns, strict=True), strict=True)
        ]

    @property
    def order(self) -> list[str]:
        """The models in the order of the first screen; sliders begin with the first."""
        shown = [line.name for line in self.lines if line.name in self.tallies]
        return shown or list(self.tallies)


def measured(measure: Measure) -> Cell:
    """A measure with its interval."""
    if measure.reason is not None:
        return Cell("undefined", None)
    return Cell(with_limits(measure.value, measure.low, measure.high), measure.value, None, measure.low, measure.high)


def table_of(lines: Sequence[Row], caption: str = "") -> Table:
    """The rows of a result as a table; missing values are dashes."""
    columns = columns_of(lines)

    def cell(value: Any) -> Cell:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        missing = value is None or (is_number and math.isnan(value))
        return Cell("–" if missing else number(value), value if is_number and not missing else None)

    return Table(list(columns), [[cell(row.get(name)) for name in columns] for row in lines], caption)


def once(notes: Sequence[Remark]) -> list[Remark]:
    """Each remark once."""
    return list(dict.fromkeys(notes))


#: Headings of the metrics' families, in the order of the table.
FAMILIES = {
    "ranking": "Ranking: all thresholds at once",
    "threshold": "At the threshold",
    "probability": "Probabilities",
    "counting": "Counting",
    "correlation": "Correlation and discriminability",
}


#: Columns of models in a table of metrics; more would not fit on paper.
_ACROSS = 7


def metric_tables(evaluations: Mapping[str, Evaluation], first: Sequence[str] = ()) -> list[Table]:
    """Tables with a line per metric and a column per model, at most seven models each."""
    names = list(evaluations)
    parts = [names[i : i + _ACROSS] for i in range(0, len(names), _ACROSS)]
    return [_metric_table({name: evaluations[name] for name in part}, first) for part in parts]


def _metric_table(evaluations: Mapping[str, Evaluation], first: Sequence[str]) -> Table:
    """Metrics by family, those in `first` before them, with a column of chance levels."""
    evaluated = dict.fromkeys(name for ev in evaluations.values() for name in ev)
    families = {"Leading here": [name for name in first if name in evaluated]}
    for family in (*FAMILIES, ""):
        names = [n for n in evaluated if n not in families["Leading here"] and _family(n) == family]
        families[FAMILIES.get(family, "Others")] = names
    lines: list[list[Cell]] = []
    blocks: dict[int, str] = {}
    for heading, names in families.items():
        if names:
            blocks[len(lines)] = heading
            lines += [_metric_line(name, evaluations) for name in names]
    one = next(iter(evaluations.values()))
    return Table(["metric", *evaluations, "chance"], lines, one.intervals or "", blocks)


def label_of(name: str) -> str:
    """The label of a metric, or of its average over classes, such as F1, macro."""
    if name in METRICS:
        return METRICS[name].label
    metric, _, average = name.rpartition("_")
    return f"{METRICS[metric].label}, {average}" if metric in METRICS else name


def _family(name: str) -> str:
    return METRICS[name].family if name in METRICS else ""


def _metric_line(name: str, evaluations: Mapping[str, Evaluation]) -> list[Cell]:
    levels = (ev[name].chance for ev in evaluations.values() if name in ev)
    chances = [chance for chance in levels if chance is not None]
    shown = list(dict.fromkeys(map(number, chances)))
    if len(shown) > 2:
        shown = [f"{number(min(chances))} to {number(max(chances))}"]
    cells = [measured(ev[name]) if name in ev else Cell("") for ev in evaluations.values()]
    return [Cell(label_of(name), name, name), *cells, Cell(" / ".join(shown), chances[0] if chances else None)]
