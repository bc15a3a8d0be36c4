"""The frozen values that evaluation returns, and how they show themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tallymark._frozen import FrozenDict
from tallymark._show import Row, Shown, plain
from tallymark.errors import UnknownNameError, nearest, shown
from tallymark.summaries.confusion import Confusion


@dataclass(frozen=True, kw_only=True)
class Measure(Shown):
    """One number and all that belongs beside it.

    `low`, `high`, `method` and `level` describe its confidence interval and are None while none was computed.
    `chance` is what scores unrelated to the labels would reach, `prevalence` the one the number speaks of (None
    where it does not matter), `bound` what quantised scores could have done to it (None when exact), and
    `reason` why there is no value.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    method: str | None = None
    level: float | None = None
    chance: float | None = None
    prevalence: float | None = None
    bound: tuple[float, float] | None = None
    reason: str | None = None

    def __float__(self) -> float:
        return self.value

    def heading(self) -> str:
        """The metric."""
        return self.name

    def rows(self) -> list[Row]:
        """One line."""
        return [asdict(self)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: plain(value) for name, value in asdict(self).items() if name != "name"}


@dataclass(frozen=True)
class Note:
    """A guard that fired: its stable code and what to do."""

    code: str
    message: str


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown, Mapping[str, Measure]):
    """The metrics of one model on one sample: a mapping from metric name to :class:`Measure`.

    `confusion` is the matrix at the threshold, `per_class` the one-vs-rest measures of each class when there are
    more than two, `tables` further matrices worth looking at.
    """

    measures: Mapping[str, Measure]
    n: float | int
    positives: float | int | None = None
    threshold: float | None = None
    policy: str | None = None
    confusion: Confusion | None = None
    per_class: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    tables: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("measures", "per_class", "tables"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Measure:
        if name not in self.measures:
            raise UnknownNameError(
                f"{name!r} was not evaluated.{nearest(name, self.measures)} There are: {', '.join(self)}."
            )
        return self.measures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __contains__(self, name: object) -> bool:
        return name in self.measures

    def heading(self) -> str:
        """Size and threshold."""
        parts = [f"Evaluation of {self.n} rows"]
        if self.positives is not None:
            parts.append(f"{self.positives} positive")
        if self.threshold is not None:
            chosen = f" ({self.policy})" if self.policy else ""
            parts.append(f"threshold {self.threshold:.6g}{chosen}")
        return ", ".join(parts)

    def rows(self) -> list[Row]:
        """One line per metric; columns that are empty everywhere are left out."""
        names = ("value", "low", "high", "chance", "bound", "reason")
        used = [name for name in names if any(getattr(m, name) is not None for m in self.measures.values())]
        return [{"metric": m.name} | {name: getattr(m, name) for name in used} for m in self.measures.values()]

    def to_dict(self) -> dict[str, Any]:
        """One model's part of the JSON that ``tallymark evaluate --json`` prints."""
        found: dict[str, Any] = {
            "threshold": plain(self.threshold),
            "metrics": {name: measure.to_dict() for name, measure in self.measures.items()},
        }
        if self.per_class:
            found["classes"] = {
                label: {name: measure.to_dict() for name, measure in measures.items()}
                for label, measures in self.per_class.items()
            }
        if self.tables:
            found["tables"] = {name: plain(table) for name, table in self.tables.items()}
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Evaluations(Shown, Mapping[Any, Evaluation]):
    """Evaluations of several models, groups, or both, keyed like the :class:`Tallies` they come from."""

    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], Evaluation]
    #: Whether the first part of a key is the model; the others are group values.
    by_model: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", FrozenDict(self.entries))

    def __getitem__(self, key: Any) -> Evaluation:
        parts = key if isinstance(key, tuple) else (key,)
        if parts not in self.entries:
            raise UnknownNameError(f"No evaluation for {key!r}; keys are {', '.join(self.names)}: {shown(self)}.")
        return self.entries[parts]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries) if len(self.names) > 1 else (parts[0] for parts in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Every guard that fired, each message once, with the model or group it speaks of."""
        notes = [
            Note(note.code, f"{', '.join(map(str, key))}: {note.message}")
            for key, evaluation in self.entries.items()
            for note in evaluation.warnings
        ]
        return tuple(dict.fromkeys(notes))

    def heading(self) -> str:
        """How many, by what."""
        return f"{len(self)} evaluations by {', '.join(self.names)}"

    def rows(self) -> list[Row]:
        """One line per evaluation and metric."""
        return [
            dict(zip(self.names, map(str, key), strict=True)) | dict(row)
            for key, evaluation in self.entries.items()
            for row in evaluation.rows()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The JSON of ``tallymark evaluate --json``."""
        groups: dict[tuple[Any, ...], dict[str, Evaluation]] = {}
        models = int(self.by_model)
        for key, evaluation in self.entries.items():
            groups.setdefault(key[models:], {})[str(key[0]) if models else "score"] = evaluation
        by = self.names[models:]
        notes = [asdict(note) for note in self.warnings]
        if not by:
            return {**_sizes(groups[()]), "models": _models(groups[()]), "warnings": notes}
        listed = [
            {"group": dict(zip(by, plain(group), strict=True)), **_sizes(models), "models": _models(models)}
            for group, models in groups.items()
        ]
        return {"n": sum(g["n"] for g in listed), "positives": _total(listed), "groups": listed, "warnings": notes}


def _sizes(models: Mapping[str, Evaluation]) -> dict[str, Any]:
    first = next(iter(models.values()))
    return {"n": first.n, "positives": first.positives}


def _models(models: Mapping[str, Evaluation]) -> dict[str, Any]:
    return {name: evaluation.to_dict() for name, evaluation in models.items()}


def _total(groups: list[dict[str, Any]]) -> float | int | None:
    return None if any(group["positives"] is None for group in groups) else sum(g["positives"] for g in groups)
