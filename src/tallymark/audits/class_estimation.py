"""Estimation of every class from a sample: values, limits from draws, standard errors, and what limits rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats, Label
from tallymark._display import Row
from tallymark._numbers import amount, count, counted
from tallymark.audits.class_draws import AuditDraws, ClassDraws
from tallymark.audits.class_estimates import AuditEstimate, AuditMatrix, AuditMeasure
from tallymark.audits.class_sample import ClassSample, class_metrics
from tallymark.audits.draws import quantiles
from tallymark.inference.scales import normal_quantile

#: Limits this many times as far from the estimate as a normal interval's are explained.
_WIDER = 1.25

#: Share of the distance to a limit that rows without the class must leave room for, to be the explanation.
_MATTERS = 0.5


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
