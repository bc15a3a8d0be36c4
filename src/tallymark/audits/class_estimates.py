"""Result of an audit by class: counts, prevalences, precision, recall, F1, accuracy and the estimated matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from tallymark._check import Floats, Label
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import amount, count, count_with_limits, counted, with_limits
from tallymark.errors import InputError
from tallymark.measures import Measure
from tallymark.notes import Note


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditMeasure(Measure):
    """An estimate from checked rows with its interval and its design-based `standard_error`.

    The standard error is that of R's survey package; the interval does not rest on it, because it is 0 where nothing
    was found, which is no proof that there is nothing.
    """

    standard_error: float | None = None

    @property
    def written(self) -> str:
        """The value with its limits, for the eye."""
        if self.reason is not None or self.low is None or self.high is None:
            return "–"
        work = count_with_limits if self.name == "count" else with_limits
        return str(work(self.value, self.low, self.high))


@dataclass(frozen=True, eq=False, repr=False)
class AuditMatrix(Shown):
    """Estimated confusion matrix of all rows: worth of the rows by predicted class (rows) and true class (columns)."""

    classes: tuple[Label, ...]
    values: Floats
    standard_errors: Floats
    unit: str = "rows"

    def heading(self) -> str:
        """What the entries are."""
        return f"Estimated {self.unit} by predicted and true class"

    def rows(self) -> list[Row]:
        """One line per entry."""
        return [
            {
                "predicted": str(predicted),
                "true": str(true),
                "value": float(self.values[c, k]),
                "standard_error": float(self.standard_errors[c, k]),
            }
            for c, predicted in enumerate(self.classes)
            for k, true in enumerate(self.classes)
        ]

    def printed_rows(self) -> list[Row]:
        """One line per predicted class."""
        return [
            {
                "predicted": str(predicted),
                **{str(true): count(self.values[c, k]) for k, true in enumerate(self.classes)},
            }
            for c, predicted in enumerate(self.classes)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "classes": plain(list(self.classes)),
            "values": plain(self.values),
            "standard_errors": plain(self.standard_errors),
        }


@dataclass(frozen=True, eq=False, repr=False)
class AuditEstimate(Shown):
    """Estimates of an audit by class, each an :class:`AuditMeasure` with value, limits and standard error.

    Attributes
    ----------
    counts, prevalences : mapping
        Number (worth, area) of the rows of each class, and their share.
    precision, recall, f1 : mapping
        Of each class: user's accuracy, producer's accuracy, and their harmonic mean; empty without predictions.
    accuracy, average_recall : AuditMeasure
        Over all classes; None without predictions.
    matrix : AuditMatrix
        The estimated confusion matrix with standard errors; None without predictions.
    groups : mapping
        The same for each group, where there are groups.
    """

    classes: tuple[Label, ...] = ()
    counts: Mapping[Label, AuditMeasure] = field(default_factory=dict)
    prevalences: Mapping[Label, AuditMeasure] = field(default_factory=dict)
    precision: Mapping[Label, AuditMeasure] = field(default_factory=dict)
    recall: Mapping[Label, AuditMeasure] = field(default_factory=dict)
    f1: Mapping[Label, AuditMeasure] = field(default_factory=dict)
    accuracy: AuditMeasure | None = None
    average_recall: AuditMeasure | None = None
    matrix: AuditMatrix | None = None
    #: All rows, or their worth, and the rows that were checked.
    n: float = math.nan
    checked: int = 0
    #: What is counted: rows, or the unit of their worth.
    unit: str = "rows"
    groups: Mapping[tuple[Any, ...], AuditEstimate] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    #: Strata (or predicted classes within them) by what they add to the variance of the counts, the most first; empty
    #: where there is one, and of clusters.
    uncertainty: tuple[Row, ...] = ()
    #: Where limits are wider than the standard error suggests, why.
    explanations: tuple[str, ...] = ()
    warnings: tuple[Note, ...] = ()
    #: What a publication rule says of the shares, one line each; empty where none was asked.
    decisions: tuple[Row, ...] = ()

    def __post_init__(self) -> None:
        for name in ("counts", "prevalences", "precision", "recall", "f1", "groups"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    @property
    def level(self) -> float:
        """Confidence level of the limits."""
        return next((one.level for one in self.counts.values() if one.level is not None), 0.95)

    @property
    def table(self) -> list[Row]:
        """The rows of :meth:`rows`."""
        return self.rows()

    def measures_by_class(self) -> Iterator[tuple[Label, str, AuditMeasure]]:
        """Every measure of every class: class, name, measure."""
        for label in self.classes:
            for name in ("counts", "prevalences", "precision", "recall", "f1"):
                if label in (measures := getattr(self, name)):
                    yield label, measures[label].name, measures[label]

    def overall(self) -> Iterator[AuditMeasure]:
        """The measures of all classes together."""
        yield from (one for one in (self.accuracy, self.average_recall) if one is not None)

    def heading(self) -> str:
        """How much was checked, and of how much."""
        first = (
            f"Audit of {len(self.classes)} classes: {counted(self.checked, 'row')} checked, "
            f"{amount(self.n)} {self.unit} in all, {100 * self.level:g} % intervals"
        )
        overall = [f"{one.name.replace('_', ' ')} {one.written}" for one in self.overall()]
        return "\n".join([first, *([", ".join(overall).capitalize()] if overall else []), *self.explanations])

    def printed_rows(self) -> list[Row]:
        """One line per class, by group where there are groups."""
        if self.groups:
            return [
                {**dict(zip(self.by, map(str, key), strict=True)), **row}
                for key, one in self.with_all()
                for row in one.printed_rows()
            ]
        return [
            {"class": str(label)}
            | {
                column: measures[label].written
                for column, measures in (
                    ("count", self.counts),
                    ("prevalence", self.prevalences),
                    ("precision", self.precision),
                    ("recall", self.recall),
                    ("f1", self.f1),
                )
                if label in measures
            }
            for label in self.classes
        ]

    def with_all(self) -> Iterator[tuple[tuple[Any, ...], AuditEstimate]]:
        """The estimates of all rows, and those of each group."""
        yield ("(all)",) * len(self.by), replace(self, groups={})
        yield from self.groups.items()

    def published_by(self, publication: Shown | None) -> Self:
        """With the decisions of a publication rule, which a report then shows."""
        return self if publication is None else replace(self, decisions=tuple(publication.rows()))

    @property
    def names_of_groups(self) -> tuple[str, ...]:
        """The columns that make the groups."""
        return self.by

    def shares(self) -> Iterator[tuple[tuple[Any, ...], Label, AuditMeasure, int]]:
        """Group, class, share and checked rows of every share; the key of all rows is empty without groups."""
        parts = self.with_all() if self.groups else [((), self)]
        for key, one in parts:
            for label, share in one.prevalences.items():
                yield key, label, share, one.checked

    def rows(self) -> list[Row]:
        """One line per class and measure, then those of all classes; with groups, one set per group."""
        if self.groups:
            return [
                {**dict(zip(self.by, map(str, key), strict=True)), **row}
                for key, one in self.with_all()
                for row in one.rows()
            ]
        lines = [_line(str(label), one) for label, _, one in self.measures_by_class()]
        return [*lines, *(_line("(all)", one) for one in self.overall())]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        by_class: dict[str, dict[str, Any]] = {str(label): {} for label in self.classes}
        for label, name, one in self.measures_by_class():
            by_class[str(label)][name] = one.to_dict()
        return {
            "n": plain(self.n),
            "checked": self.checked,
            "unit": self.unit,
            "classes": by_class,
            **{one.name: one.to_dict() for one in self.overall()},
            "matrix": None if self.matrix is None else self.matrix.to_dict(),
            "groups": [
                {"group": dict(zip(self.by, plain(list(key)), strict=True)), **one.to_dict()}
                for key, one in self.groups.items()
            ]
            or None,
            "uncertainty": plain([dict(line) for line in self.uncertainty]) or None,
            "explanations": list(self.explanations),
        }


def _line(label: str, one: AuditMeasure) -> Row:
    entries = {
        "class": label,
        "measure": one.name,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "standard_error": one.standard_error,
    }
    return entries if one.reason is None else {**entries, "reason": one.reason}


def without_estimates(classes: Sequence[Label], reason: str) -> AuditEstimate:
    """A group of which nothing can be estimated, and why."""
    counts, shares = (
        {label: AuditMeasure(name=name, value=math.nan, reason=reason) for label in classes}
        for name in ("count", "prevalence")
    )
    return AuditEstimate(classes=tuple(classes), counts=counts, prevalences=shares)


def require_estimate(data: object, name: str) -> None:
    """Refuse what is no result of an audit."""
    if not isinstance(data, AuditEstimate):
        raise InputError(
            f"{name} is a {type(data).__name__}, expected the result of tm.audits.estimate or from_matrix."
        )


def with_groups(
    whole: AuditEstimate, by: Sequence[str], groups: Mapping[tuple[Any, ...], AuditEstimate]
) -> AuditEstimate:
    """The estimates of all rows with those of the groups beside them."""
    return replace(whole, by=tuple(by), groups=groups)
