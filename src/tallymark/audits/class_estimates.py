"""Result of an audit by class: counts, prevalences, precision, recall, F1, accuracy and the estimated matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tallymark._check import Bools, Floats, Label
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import amount, count, count_with_limits, counted, with_limits
from tallymark.audits.class_draws import AuditDraws, ClassDraws
from tallymark.audits.class_sample import ClassSample, class_metrics
from tallymark.audits.draws import quantiles
from tallymark.errors import InputError
from tallymark.inference.scales import normal_quantile
from tallymark.measures import Measure
from tallymark.notes import Note

#: Limits this many times as far from the estimate as a normal interval's are explained.
_WIDER = 1.25

#: Share of the distance to a limit that rows without the class must leave room for, to be the explanation.
_MATTERS = 0.5


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


def estimates_of(sample: ClassSample, level: float, unit: str = "rows") -> AuditEstimate:
    """All estimates of a sample."""
    draws = AuditDraws(sample, level)
    work = _Estimation(sample, draws, level)
    measures: dict[str, dict[Label, AuditMeasure]] = {
        name: {} for name in ("count", "prevalence", "precision", "recall", "f1")
    }
    for code, label in enumerate(sample.classes):
        for name, one in work.of_class(code).items():
            measures[name][label] = one
    return AuditEstimate(
        classes=sample.classes,
        counts=measures["count"],
        prevalences=measures["prevalence"],
        precision=measures["precision"],
        recall=measures["recall"],
        f1=measures["f1"],
        accuracy=work.accuracy(),
        average_recall=work.average_recall(measures["recall"]),
        matrix=_matrix(sample, unit),
        n=sample.size,
        checked=len(sample.truth),
        unit=unit,
        uncertainty=uncertainty_of(sample),
        explanations=explanations_of(sample, measures["count"]),
    )


@dataclass(frozen=True)
class _Estimation:
    sample: ClassSample
    draws: AuditDraws
    level: float

    def of_class(self, code: int) -> dict[str, AuditMeasure]:
        """Count, prevalence and, with predictions, the metrics of one class."""
        sample, drawn = self.sample, self.draws.of_class(code)
        true = sample.truth == code
        total = sample.total(true)
        spread = sample.standard_error(true)
        low, high = (drawn.hits + drawn.missed).limits(self.level)
        high = min(high, sample.size - float(sample.worth @ ~true))
        measures = {
            "count": self._count(code, total, (low, high), spread),
            "prevalence": self._measure(
                "prevalence", total / sample.size, low / sample.size, high / sample.size, spread / sample.size
            ),
        }
        for name, (value, linear) in class_metrics(sample, code).items():
            reason = self._undefined(name, code)
            if reason is not None:
                measures[name] = AuditMeasure(name=name, value=math.nan, reason=reason)
            else:
                metric = _METRICS[name]
                ends = quantiles(metric(drawn, upper=False), metric(drawn, upper=True), self.level)
                measures[name] = self._measure(name, value, *ends, sample.standard_error(linear))
        return measures

    def _count(self, code: int, total: float, ends: tuple[float, float], spread: float) -> AuditMeasure:
        """A count; where the size of the group is an estimate, with its error besides that of the share (MOVER)."""
        errors = self.sample.count_errors
        if errors is None:
            return self._measure("count", total, *ends, spread)
        error = float(errors[code])
        reach = normal_quantile(0.5 + self.level / 2.0) * math.sqrt(max(error**2 - spread**2, 0.0))
        low, high = total - math.hypot(total - ends[0], reach), total + math.hypot(ends[1] - total, reach)
        return self._measure("count", total, max(low, 0.0), high, error)

    def _undefined(self, name: str, code: int) -> str | None:
        """Why a metric of a class has no value."""
        sample, label = self.sample, self.sample.classes[code]
        called, true = code in np.asarray(sample.predicted), code in sample.truth
        others = 0.0 if sample.predicted_rows is None else float(sample.predicted_rows[:, code].sum())
        if not called and others > 0.0:
            return (
                f"none of the {len(sample.truth)} checked rows is predicted {label}, and {amount(others)} of all rows "
                "are; check some of them"
            )
        if name == "recall" and not true:
            return f"none of the {len(sample.truth)} checked rows is {label}"
        if name == "precision" and not called:
            return f"none of the {len(sample.truth)} checked rows is predicted {label}"
        if name == "f1" and not (called or true):
            return f"none of the {len(sample.truth)} checked rows is {label} or predicted so"
        return None

    def accuracy(self) -> AuditMeasure | None:
        """Share of the rows that are predicted as what they are."""
        sample = self.sample
        if sample.predicted is None:
            return None
        right: Bools = sample.predicted == sample.truth
        low, high = (end / sample.size for end in self.draws.of_right().limits(self.level))
        high = min(high, 1.0 - float(sample.worth @ ~right) / sample.size)
        return self._measure(
            "accuracy", sample.total(right) / sample.size, low, high, sample.standard_error(right) / sample.size
        )

    def average_recall(self, recalls: Mapping[Label, AuditMeasure]) -> AuditMeasure | None:
        """Mean recall of the classes; limits by MOVER from theirs, with the correlations of the linearised values."""
        if self.sample.predicted is None:
            return None
        name = "average_recall"
        missing = next((one.reason for one in recalls.values() if one.reason is not None), None)
        if missing is not None:
            return AuditMeasure(name=name, value=math.nan, reason=missing)
        linear = [class_metrics(self.sample, code)["recall"][1] for code in range(len(recalls))]
        covariance = np.array([[self.sample.covariance(a, b) for b in linear] for a in linear])
        deviations = np.sqrt(np.diag(covariance))
        scale = np.outer(deviations, deviations)
        correlation = np.divide(covariance, scale, out=np.eye(len(linear)), where=scale > 0.0)
        value = float(np.mean([one.value for one in recalls.values()]))
        below, above = (
            math.sqrt(max(float(arms @ correlation @ arms), 0.0)) / len(recalls)
            for arms in (
                np.array([one.value - (one.low or 0.0) for one in recalls.values()]),
                np.array([(one.high or 0.0) - one.value for one in recalls.values()]),
            )
        )
        spread = math.sqrt(max(float(covariance.sum()), 0.0)) / len(recalls)
        return self._measure(name, value, max(value - below, 0.0), min(value + above, 1.0), spread, "mover")

    def _measure(
        self, name: str, value: float, low: float, high: float, spread: float, method: str = "draws"
    ) -> AuditMeasure:
        return AuditMeasure(
            name=name,
            value=value,
            low=min(low, value),
            high=max(high, value),
            standard_error=spread,
            interval_method=method,
            level=self.level,
        )


def _hits_and_missed(drawn: ClassDraws, *, upper: bool) -> tuple[Floats, Floats]:
    """Hits and misses that move a metric downwards, or upwards: it rises with the hits and falls with the misses."""
    return (drawn.hits.upper, drawn.missed.lower) if upper else (drawn.hits.lower, drawn.missed.upper)


def _over(part: Floats, whole: Floats) -> Floats:
    """A share, at most 1; nan where there is nothing to be a share of."""
    shares = np.divide(part, whole, out=np.full(len(part), math.nan), where=whole > 0.0)
    return np.asarray(np.minimum(shares, 1.0))


def _precision(drawn: ClassDraws, *, upper: bool) -> Floats:
    hits, _ = _hits_and_missed(drawn, upper=upper)
    return _over(hits, drawn.called)


def _recall(drawn: ClassDraws, *, upper: bool) -> Floats:
    hits, missed = _hits_and_missed(drawn, upper=upper)
    return _over(hits, hits + missed)


def _f1(drawn: ClassDraws, *, upper: bool) -> Floats:
    hits, missed = _hits_and_missed(drawn, upper=upper)
    return _over(2.0 * hits, drawn.called + hits + missed)


_METRICS = {"precision": _precision, "recall": _recall, "f1": _f1}


def _matrix(sample: ClassSample, unit: str) -> AuditMatrix | None:
    if sample.predicted is None:
        return None
    classes = range(len(sample.classes))
    errors = [[sample.standard_error((sample.predicted == c) & (sample.truth == k)) for k in classes] for c in classes]
    return AuditMatrix(sample.classes, sample.matrix(), np.array(errors), unit)


def explanations_of(sample: ClassSample, counts: Mapping[Label, AuditMeasure]) -> tuple[str, ...]:
    """Of each class whose upper limit is farther off than its standard error suggests, the rows that leave room."""
    sentences = []
    checked = np.bincount(sample.cell, minlength=len(sample.sizes))
    for code, (label, one) in enumerate(counts.items()):
        reach = _WIDER * normal_quantile(0.5 + (one.level or 0.95) / 2.0) * (one.standard_error or 0.0)
        seen = np.bincount(sample.cell, sample.truth == code, len(sample.sizes))
        # None of n rows: up to about 3 / n of them could be of the class.
        room = np.where((seen == 0) & (sample.unknown > 0.0), 3.0 * sample.sizes / np.maximum(checked, 1), 0.0)
        beyond = (one.high or 0.0) - one.value
        if beyond > reach and room.max() > _MATTERS * beyond:
            cell = int(room.argmax())
            where = f" of {sample.names[cell]}" if sample.names[cell] else ""
            sentences.append(
                f"{label}: up to {count(one.high or 0.0)}, because none of the {counted(checked[cell], 'checked row')}"
                f"{where} is {label}, and they stand for {amount(float(sample.sizes[cell]))}; the standard error takes "
                "that for 0."
            )
    return tuple(sentences)


def uncertainty_of(sample: ClassSample) -> tuple[Row, ...]:
    """What each cell adds to the variance of the counts, with a row of every class more than were checked."""
    number = len(sample.sizes)
    if number < 2 or sample.clustered:
        return ()
    classes = len(sample.classes)
    checked = np.bincount(sample.cell, minlength=number)
    found = np.bincount(sample.cell * classes + sample.truth, minlength=number * classes).reshape(number, classes)
    shares = (found + 1.0) / (checked[:, None] + classes)
    left = np.bincount(sample.cell, sample.unchecked, number) / np.maximum(checked, 1)
    variance = left * sample.sizes**2 * (shares * (1.0 - shares)).sum(axis=1) / np.maximum(checked, 1)
    whole = max(float(variance.sum()), 1e-300)
    return tuple(
        {
            "of": sample.names[cell],
            "size": float(sample.sizes[cell]),
            "checked": int(checked[cell]),
            "share_of_variance": float(variance[cell]) / whole,
        }
        for cell in np.argsort(-variance).tolist()
    )


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
