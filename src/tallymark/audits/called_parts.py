r"""Metrics of the calls of two classes from checked rows: positives among the rows called positive and the others.

Of rows called positive, C in number, and of the D others the audit estimates how many are positive: A and B. Every
metric is a function of these four numbers that never falls when A grows and never rises when B grows (or does not
depend on it): precision A/C, recall A/(A + B), and so on; the count is A + B. Limits are quantiles over draws of A and
B together, so that no two estimates contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallymark._check import Bools, Floats, Label
from tallymark.audits.checked_rows import Audit
from tallymark.audits.class_estimates import AuditMatrix, AuditMeasure
from tallymark.audits.draws import Draws, drawn, quantiles
from tallymark.audits.prevalences import prevalence_of
from tallymark.audits.shares import Share, share, united
from tallymark.quantify.estimation.prevalence import Prevalence


@dataclass(frozen=True)
class Called:
    """Rows predicted positive and the others: their number (or weight), and the positives among them in each draw."""

    called: float
    others: float
    hits: Floats
    missed: Floats


def _over(part: Floats, whole: Floats | float) -> Floats:
    """A ratio; nan where there is nothing to be a share of."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(whole) > 0.0, part / whole, math.nan)


def _precision(t: Called) -> Floats:
    return _over(t.hits, t.called)


def _npv(t: Called) -> Floats:
    return _over(t.others - t.missed, t.others)


def _recall(t: Called) -> Floats:
    return _over(t.hits, t.hits + t.missed)


def _specificity(t: Called) -> Floats:
    return _over(t.others - t.missed, t.others - t.missed + t.called - t.hits)


def _f1(t: Called) -> Floats:
    # Without a positive called or missed there is no F1.
    return _over(2.0 * t.hits, t.called + t.hits + t.missed)


def average_recall(t: Called) -> Floats:
    """Mean recall of the positive and of the negative class."""
    return np.asarray((_recall(t) + _specificity(t)) / 2.0)


def f1_of_negatives(t: Called) -> Floats:
    """F1 of the negative class."""
    right = t.others - t.missed
    return _over(2.0 * right, right + t.others + t.called - t.hits)


def _accuracy(t: Called) -> Floats:
    return _over(t.hits + t.others - t.missed, t.called + t.others)


#: What an audit estimates of a classifier, by the metric's name.
OF_AUDIT: Mapping[str, Callable[[Called], Floats]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "specificity": _specificity,
    "npv": _npv,
    "accuracy": _accuracy,
}

#: The classes whose rows a metric is a share of; without a checked row of each nothing is known of the metric.
_SHARE_OF = {"recall": ("positive",), "specificity": ("negative",), "average_recall": ("positive", "negative")}


@dataclass(frozen=True, eq=False)
class CalledParts:
    """The rows predicted positive and the others: estimated shares of positives, and draws of their numbers."""

    shares: tuple[Share, Share]
    draws: tuple[Draws, Draws]
    #: Why each of them cannot be estimated; None where it can.
    reasons: tuple[str | None, str | None]

    @property
    def unknown(self) -> list[str]:
        """Why there is no estimate of both together."""
        return [reason for reason in self.reasons if reason is not None]

    @classmethod
    def of(cls, audit: Audit, calls: Bools, slope: float) -> CalledParts:
        """Both parts of some rows."""
        shares = [share(audit.strata(rows) if rows.any() else [], slope) for rows in (calls, ~calls)]
        draws = drawn([() if math.isnan(one.value) else one.strata for one in shares], slope)
        called, others = (
            _why_unknown(one, name, listed=audit.listed)
            for one, name in zip(shares, ("called positive", "called negative"), strict=True)
        )
        hits, missed = (
            one if reason is None else one.unknown() for one, reason in zip(draws, (called, others), strict=True)
        )
        return cls((shares[0], shares[1]), (hits, missed), (called, others))

    @property
    def together(self) -> Share:
        """The share of positives among all rows."""
        return united([one for one in self.shares if one.strata], self.draws)

    @property
    def sizes(self) -> tuple[float, float]:
        """Rows (or worth) of each part."""
        called, others = (sum(s.size for s in one.strata) for one in self.shares)
        return called, others

    def prevalence(self, n: float, level: float, *, counted: bool) -> Prevalence:
        """The share of positives among all rows with its limits."""
        return prevalence_of(self.together, n, level, counted=counted)

    def counts(self) -> tuple[float, float]:
        """Estimated positives of each part."""
        hits, missed = (
            math.nan if reason else size * min(max(one.value, 0.0), 1.0) if one.strata else 0.0
            for one, size, reason in zip(self.shares, self.sizes, self.reasons, strict=True)
        )
        return hits, missed

    def variances(self) -> tuple[float, float]:
        """Variances of these numbers."""
        hits, missed = (
            (size**2 * one.variance if one.strata else 0.0) for one, size in zip(self.shares, self.sizes, strict=True)
        )
        return hits, missed

    def measures(self, metrics: Mapping[str, Callable[[Called], Floats]], level: float) -> dict[str, AuditMeasure]:
        """Each metric of the calls."""
        (called, others), (hits, missed) = self.sizes, self.draws
        estimated = (np.array(count) for count in self.counts())
        tables = (
            Called(called, others, *estimated),
            Called(called, others, hits.lower, missed.upper),
            Called(called, others, hits.upper, missed.lower),
        )
        checked, positive = (int(sum(getattr(one, kind) for one in self.shares)) for kind in ("checked", "found"))
        absent = {"positive": not positive, "negative": positive == checked}
        measures = {}
        for name, work in metrics.items():
            missing = [one for one in _SHARE_OF.get(name, ()) if absent[one]]
            reasons = [*self.unknown, *(f"none of the {checked} checked rows is {one}" for one in missing)]
            values = [work(table) for table in tables]
            measures[name] = _measure(name, values, self._standard_error(work), level, reasons)
        return measures

    def _standard_error(self, metric: Callable[[Called], Floats]) -> float:
        """By the delta method, from the variances of both numbers."""
        (called, others), counts = self.sizes, self.counts()
        step = 1e-6 * (called + others)
        variance = 0.0
        for place, spread in enumerate(self.variances()):
            ends = [list(counts), list(counts)]
            ends[0][place] -= step
            ends[1][place] += step
            low, high = (float(metric(Called(called, others, np.array(a), np.array(b)))) for a, b in ends)
            variance += ((high - low) / (2.0 * step)) ** 2 * spread if spread > 0.0 else spread
        return math.sqrt(variance) if variance >= 0.0 else math.nan

    def matrix(self, labels: tuple[Label, Label], unit: str) -> AuditMatrix:
        """Estimated rows (or their worth in a unit) by prediction and truth."""
        hits, missed = self.counts()
        called, others = self.sizes
        errors = [math.sqrt(variance) if variance >= 0.0 else math.nan for variance in self.variances()]
        values = np.array([[others - missed, missed], [called - hits, hits]])
        return AuditMatrix(labels, values, np.array([[errors[1]] * 2, [errors[0]] * 2]), unit)


def _why_unknown(one: Share, name: str, *, listed: bool) -> str | None:
    """Why the positives of a part cannot be estimated; None where they can."""
    if one.strata and math.isnan(one.value):
        return f"too few rows that are {name} were checked"
    return None if one.strata or listed else f"no row that is {name} is in the list"


def _measure(
    name: str, values: Sequence[Floats], standard_error: float, level: float, unknown: Sequence[str]
) -> AuditMeasure:
    value = float(values[0])
    if math.isnan(value):
        reason = unknown[0] if unknown else "nothing that it is a share of was found"
        return AuditMeasure(name=name, value=math.nan, reason=reason)
    low, high = quantiles(values[1], values[2], level)
    return AuditMeasure(
        name=name,
        value=value,
        low=min(low, value),
        high=max(high, value),
        standard_error=standard_error,
        interval_method="draws",
        level=level,
    )
