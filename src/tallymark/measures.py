"""Results of an evaluation: Measure, Evaluation and Evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from tallymark._check import Label
from tallymark._display import Limited, Row, Shown, columns_of, folded, frame, html_table, plain, with_folded
from tallymark._mappings import FrozenDict, Keyed
from tallymark._numbers import noun, number, with_limits
from tallymark._positives import Positives
from tallymark.errors import UnknownNameError, nearest, shown
from tallymark.notes import Note
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure(Shown, Limited):
    """The value of a metric with its confidence interval, chance level and conditions.

    Attributes
    ----------
    name : str
        The metric.
    value : float
        Its value, nan where it is undefined.
    low, high, level, interval_method : float, float, float, str
        The confidence interval; None while none was computed.
    chance : float
        Value of scores unrelated to the labels in a large sample at the same threshold; small samples and thresholds
        chosen on the same rows exceed it by luck.
    prevalence : float
        The prevalence at which the metric was computed; None where it does not matter.
    bound : tuple of float
        Lowest and highest possible value where scores are quantised; None when exact.
    optimism : float
        Mean overestimation by a threshold chosen on the same rows; None where none was chosen.
    parameters : mapping
        Parameters of the metric (costs, beta).
    reason : str
        Why there is no value.
    no_interval : str
        Why a value has no interval although one was asked for.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None
    level: float | None = None
    chance: float | None = None
    prevalence: float | None = None
    bound: tuple[float, float] | None = None
    optimism: float | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    no_interval: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenDict(self.parameters))

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    def __repr__(self) -> str:
        level = "interval" if self.level is None else f"{100 * self.level:g} % interval"
        parts = {level: self.interval, "chance": self.chance, "prevalence": self.prevalence, "bound": self.bound}
        parts |= {"optimism": self.optimism, **self.parameters}
        shown_parts = [f"{name} {_brief(part)}" for name, part in parts.items() if part is not None]
        why = [self.reason] if self.reason else [f"no interval: {self.no_interval}"] if self.no_interval else []
        return ", ".join([f"{self.name} = {number(self.value)}", *shown_parts, *why])

    def quote(self) -> str:
        """The value and its limits as a text quotes them: ``0.94 (95 % CI 0.92–0.96)``."""
        if self.low is None or self.high is None or self.level is None:
            return str(number(self.value)) + (f" ({self.reason})" if self.reason else "")
        value, _, limits = with_limits(self.value, self.low, self.high).partition(" (")
        return f"{value} ({100 * self.level:g} % CI {limits}"

    def heading(self) -> str:
        """The metric."""
        return self.name

    def rows(self) -> list[Row]:
        """One line."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: plain(value) for name, value in asdict(self).items() if name != "name"}


#: Descriptions of the sampling.
SAMPLED = {
    "plain": "all rows drawn at random",
    "stratified": "class sizes fixed by design",
    "clusters": "clusters of rows drawn at random",
}

#: Number of notes of one kind beyond which they are merged into one.
_FOLDED_BEYOND = 3


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown, Mapping[str, Measure]):
    """The metrics of one model on one sample: a mapping from metric name to :class:`Measure`.

    Attributes
    ----------
    n, n_rows, positives : float, int, float
        Mass of all rows (a sum of weights where there are weights), number of rows, and mass of the positives.
    prevalence : float
        The stated prevalence; None where the metrics are at that of the sample.
    threshold, policy : float, str
        The threshold, and the policy that chose it.
    confusion : Confusion
        The matrix at the threshold.
    per_class : mapping
        One-vs-rest measures of each class where there are more than two.
    tables : mapping
        Further matrices.
    """

    measures: Mapping[str, Measure]
    n: float | int
    n_rows: int
    positives: float | int | None = None
    prevalence: float | None = None
    threshold: float | None = None
    policy: str | None = None
    confusion: Confusion | None = None
    per_class: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()
    #: What intervals take as drawn at random: all rows (plain), rows of each class (stratified), or clusters of rows.
    sampling: str = "plain"
    #: Rows of the negative and of the positive class, however much they weigh; None where there are no two classes.
    class_rows: tuple[int, int] | None = None
    #: The classes that averages are over; None for all of them, and where nothing is averaged.
    averaged_over: tuple[Label, ...] | None = None
    #: Metrics that ``repr`` and notebooks show, where all were evaluated; empty for every metric.
    leading: tuple[str, ...] = ()
    #: What positive rows are called, in the plural; None for positives.
    called: str | None = None

    def __post_init__(self) -> None:
        for name in ("measures", "per_class", "tables"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Measure:
        measured = METRICS[name].name if name not in self.measures and name in METRICS else name
        if measured not in self.measures:
            raise UnknownNameError(
                f"{name!r} was not evaluated.{nearest(name, self.measures)} There are: {', '.join(self)}."
            )
        return self.measures[measured]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __contains__(self, name: object) -> bool:
        return name in self.measures or (
            isinstance(name, str) and name in METRICS and METRICS[name].name in self.measures
        )

    def heading(self) -> str:
        """Size and threshold."""
        return ", ".join([f"Evaluation of {self.size()}", *self.conditions()])

    def printed_rows(self) -> Sequence[Row]:
        """The leading metrics, where all were evaluated."""
        rows = {row["metric"]: row for row in self.rows()}
        return [rows[name] for name in self.leading or rows]

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *_how_many_more(self)])

    def _repr_html_(self) -> str:
        return with_folded(super()._repr_html_(), _folded(_more(self), self.rows()), self.warnings)

    def size(self) -> str:
        """Rows, their weight where it differs, and positives."""
        weight = "" if self.n == self.n_rows else f" of weight {number(self.n)}"
        share = "" if not self.positives else f" ({100 * self.positives / self.n:.3g} %)"
        positives = "" if self.positives is None else f", {number(self.positives)} {self.words.kind}{share}"
        return f"{self.n_rows} {noun(self.n_rows, 'row')}{weight}{positives}"

    def conditions(self) -> list[str]:
        """The threshold, parameters, the stated prevalence and the kind of intervals."""
        chosen = f" ({self.policy}, chosen on these rows)" if self.policy else ""
        threshold = [] if self.threshold is None else [f"threshold {number(self.threshold)}{chosen}"]
        threshold += [f"{name} {number(value)}" for name, value in self.parameters.items()]
        threshold += [] if self.averaged_over is None else [f"averages over {shown(self.averaged_over)}"]
        threshold += [] if self.prevalence is None else [f"seen at prevalence {number(self.prevalence)}"]
        return threshold + ([] if self.intervals is None else [self.intervals])

    @property
    def words(self) -> Positives:
        """The words for positive rows."""
        return Positives(self.called)

    @property
    def weighted(self) -> bool:
        """Whether the weights of rows differ from 1."""
        return float(self.n) != float(self.n_rows)

    @property
    def fewest(self) -> float:
        """Rows of the smaller class, or their weight where the rows are not known."""
        positives = float(self.positives or 0)
        return float(min(self.class_rows)) if self.class_rows is not None else min(positives, float(self.n) - positives)

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the metrics, such as costs."""
        return {key: value for measure in self.measures.values() for key, value in measure.parameters.items()}

    @property
    def level(self) -> float | None:
        """Level of the intervals, None when there are none."""
        return next((measure.level for measure in self.measures.values() if measure.level is not None), None)

    @property
    def intervals(self) -> str | None:
        """Description of the intervals."""
        if self.level is None:
            return None
        if self.prevalence is not None:
            return f"{100 * self.level:g} % intervals at that prevalence"
        return f"{100 * self.level:g} % intervals, {SAMPLED[self.sampling]}"

    def to_frame(self) -> Any:
        """A dataframe with a line per metric and all fields of its measure."""
        return frame(columns_of([_line(measure) for measure in self.measures.values()]))

    def rows(self) -> list[Row]:
        """One line per metric; columns that are empty everywhere are left out."""
        names = ("value", "low", "high", "chance", "bound", "optimism", "reason", "no_interval")
        used = [name for name in names if any(getattr(m, name) is not None for m in self.measures.values())]
        return [{"metric": m.name} | {name: getattr(m, name) for name in used} for m in self.measures.values()]

    def flat(self) -> dict[str, float]:
        """Numbers by name, for experiment trackers: each metric, and its limits as ``auroc.low`` and ``auroc.high``.

        What is undefined is left out.
        """
        named: dict[str, float | None] = {}
        for name, measure in self.measures.items():
            named |= {name: measure.value, f"{name}.low": measure.low, f"{name}.high": measure.high}
        return {name: float(value) for name, value in named.items() if value is not None and not math.isnan(value)}

    def to_dict(self) -> dict[str, Any]:
        """One model's part of the JSON that ``tallymark evaluate --json`` prints."""
        entries: dict[str, Any] = {
            "threshold": plain(self.threshold),
            "policy": self.policy,
            "metrics": {name: measure.to_dict() for name, measure in self.measures.items()},
        }
        if self.averaged_over is not None:
            entries["averaged_over"] = plain(self.averaged_over)
        if self.confusion is not None:
            entries["confusion"] = {"labels": plain(self.confusion.labels), "matrix": plain(self.confusion.matrix)}
        if self.per_class:
            entries["classes"] = {
                label: {name: measure.to_dict() for name, measure in measures.items()}
                for label, measures in self.per_class.items()
            }
        if self.tables:
            entries["tables"] = {name: plain(table) for name, table in self.tables.items()}
        return entries


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Shown, Keyed[Evaluation]):
    """Evaluations of several models, groups, or both, keyed like the :class:`Tallies` they come from."""

    what: ClassVar[str] = "evaluation"

    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], Evaluation]
    #: Whether the first part of a key is the model; the others are group values.
    by_model: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", FrozenDict(self.entries))

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Every guard that fired, with its model or group; many of one kind are merged into one."""
        by_code: dict[str, list[str]] = {}
        for key, evaluation in self.entries.items():
            for note in evaluation.warnings:
                by_code.setdefault(note.code, []).append(f"{', '.join(map(str, key))}: {note.message}")
        for code, messages in by_code.items():
            if len(messages) > _FOLDED_BEYOND:
                by_code[code] = [f"{messages[0]} (and {len(messages) - 1} more like it)"]
        return tuple(Note(code, message) for code, messages in by_code.items() for message in messages)

    def heading(self) -> str:
        """The number of evaluations and what they are keyed by; of models of the same rows, also which rows."""
        counted = f"{len(self)} evaluations by {', '.join(self.names)}"
        one = next(iter(self.values()), None)
        return counted if one is None or self._grouped else f"{counted} of {', '.join([one.size(), *self._conditions])}"

    @property
    def _grouped(self) -> bool:
        return len(self.names) > self.by_model

    @property
    def _conditions(self) -> list[str]:
        """The threshold and the kind of intervals, where they are the same for all."""
        conditions = [one.conditions() for one in self.values()]
        return [said for said in conditions[0] if all(said in others for others in conditions)]

    def printed_rows(self) -> Sequence[Row]:
        """Models side by side, a line per metric; of groups and of many models a line each."""
        shown = self._shown
        if not self._grouped and len(self) <= _SIDE_BY_SIDE:
            return [
                {"metric": name} | {str(key[0]): _cell(one, name) for key, one in self.entries.items()}
                for name in shown
            ]
        return [
            dict(zip(self.names, map(str, key), strict=True))
            | {"n": one.n}
            | ({} if one.positives is None else {"positives": one.positives})
            | {name: _cell(one, name) for name in shown}
            for key, one in self.entries.items()
        ]

    @property
    def _shown(self) -> list[str]:
        """Metrics that are shown: the leading ones of any evaluation, where all were evaluated."""
        names = dict.fromkeys(name for one in self.values() for name in (one.leading or one))
        return list(names)

    def __repr__(self) -> str:
        first = next(iter(self.values()), None)
        return "\n".join([super().__repr__(), *([] if first is None else _how_many_more(first))])

    def _repr_html_(self) -> str:
        more = max((_more(one) for one in self.values()), default=0)
        return with_folded(super()._repr_html_(), _folded(more, self.rows()), self.warnings)

    def to_frame(self) -> Any:
        """A dataframe with a line per evaluation and metric and all fields of its measure."""
        return frame(
            columns_of(
                [
                    dict(zip(self.names, map(str, key), strict=True)) | _line(measure)
                    for key, evaluation in self.entries.items()
                    for measure in evaluation.measures.values()
                ]
            )
        )

    def rows(self) -> list[Row]:
        """One line per evaluation and metric."""
        return [
            dict(zip(self.names, map(str, key), strict=True)) | dict(row)
            for key, evaluation in self.entries.items()
            for row in evaluation.rows()
        ]

    def flat(self) -> dict[str, float]:
        """Numbers by name, for experiment trackers: those of each evaluation behind its key, ``model.auroc``."""
        return {
            ".".join([*map(str, key), name]): value
            for key, evaluation in self.entries.items()
            for name, value in evaluation.flat().items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON of ``tallymark evaluate --json``."""
        groups: dict[tuple[Any, ...], dict[str, Evaluation]] = {}
        first = 1 if self.by_model else 0
        for key, evaluation in self.entries.items():
            groups.setdefault(key[first:], {})[str(key[0]) if self.by_model else "score"] = evaluation
        by = self.names[first:]
        notes = [asdict(note) for note in self.warnings]
        if not by:
            return {**_sizes(groups[()]), "models": _models(groups[()]), "warnings": notes}
        listed = [
            {"group": dict(zip(by, plain(group), strict=True)), **_sizes(models), "models": _models(models)}
            for group, models in groups.items()
        ]
        totals = {"n": sum(g["n"] for g in listed), "n_rows": sum(g["n_rows"] for g in listed)}
        return {**totals, "positives": _total(listed), "groups": listed, "warnings": notes}


#: Models up to which each has a column.
_SIDE_BY_SIDE = 6


def _more(evaluation: Evaluation) -> int:
    """How many metrics are not among the leading ones."""
    return len(evaluation) - len(evaluation.leading) if evaluation.leading else 0


def _how_many_more(evaluation: Evaluation) -> list[str]:
    more = _more(evaluation)
    return [f"… {more} more metrics: rows(), to_frame() and [name] have them all"] if more else []


def _folded(more: int, rows: Sequence[Row]) -> str:
    return (
        folded(f"{more} more metrics, and all that is known of each", html_table("", rows, len(rows))) if more else ""
    )


def _cell(evaluation: Evaluation, name: str) -> str:
    """A value with its limits; empty where the metric was not evaluated."""
    if name not in evaluation.measures:
        return ""
    one = evaluation.measures[name]
    return number(one.value) if one.interval is None else with_limits(one.value, *one.interval)


def _line(measure: Measure) -> dict[str, Any]:
    """A measure as a line of a dataframe."""
    parts = asdict(measure)
    return {"metric": parts.pop("name"), **parts}


def _brief(part: Any) -> str:
    return " to ".join(map(number, part)) if isinstance(part, tuple) else number(part)


def _sizes(models: Mapping[str, Evaluation]) -> dict[str, Any]:
    first = next(iter(models.values()))
    sizes = {"n": first.n, "n_rows": first.n_rows, "positives": first.positives, "prevalence": first.prevalence}
    return sizes if first.called is None else {**sizes, "called": first.called}


def _models(models: Mapping[str, Evaluation]) -> dict[str, Any]:
    return {name: evaluation.to_dict() for name, evaluation in models.items()}


def _total(groups: list[dict[str, Any]]) -> float | int | None:
    return None if any(group["positives"] is None for group in groups) else sum(g["positives"] for g in groups)
