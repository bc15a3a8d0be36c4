r"""``tm.decide.audit_estimate``: precision, recall and their like over all rows, from those that were checked by hand.

Of rows called positive, C in number, and of the others the audit estimates how many are positive: A and B, independently. Everything
else follows: precision A/C, recall A/(A + B), and so on; limits of ratios and sums are put together from those of A and B.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import number
from tallymark.errors import InputError, UnknownNameError, nearest, shown
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.mover import Limits, ratio_limits, sum_limits
from tallymark.measures import Measure
from tallymark.notes import Note, emit
from tallymark.quantify.audits.from_audit import audited, prevalence_of, usual
from tallymark.quantify.audits.samples import Audit, audit_of, columns_wanted
from tallymark.quantify.audits.shares import share, slope_of
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.registry import METRICS
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names


@dataclass(frozen=True)
class Called:
    """Rows called positive and the others: how many of each (or what they are worth), and the positives among them."""

    called: float
    others: float
    hits: Limits
    missed: Limits


def _share_of(part: Limits, whole: float) -> Limits:
    return (part[0] / whole, part[1] / whole, part[2] / whole) if whole > 0.0 else (math.nan, math.nan, math.nan)


def _inverse(value: float, low: float, high: float) -> Limits:
    """1 / x."""
    return tuple(math.inf if end == 0.0 else 1.0 / end for end in (value, high, low))  # type: ignore[return-value]


def _part_of(over: Limits, rest: Limits) -> Limits:
    """X / (x + y) = 1 / (1 + y / x)."""
    if over[0] <= 0.0:
        return (math.nan if rest[0] <= 0.0 else 0.0), 0.0, (over[2] / (over[2] + rest[1]) if over[2] > 0.0 else 0.0)
    low, high = ratio_limits(rest, over)
    return _inverse(1.0 + rest[0] / over[0], 1.0 + low, 1.0 + high)


def _less(whole: float, part: Limits) -> Limits:
    return whole - part[0], whole - part[2], whole - part[1]


def _precision(t: Called) -> Limits:
    return _share_of(t.hits, t.called)


def _npv(t: Called) -> Limits:
    return _share_of(_less(t.others, t.missed), t.others)


def _recall(t: Called) -> Limits:
    return _part_of(t.hits, t.missed)


def _specificity(t: Called) -> Limits:
    return _part_of(_less(t.others, t.missed), _less(t.called, t.hits))


def _f1(t: Called) -> Limits:
    """2A / (C + A + B): 2 / F = 1 + (C + B) / A."""
    if math.isnan(t.missed[0]) or math.isnan(t.hits[0]):
        return math.nan, math.nan, math.nan
    if t.hits[0] <= 0.0:
        return 0.0, 0.0, (2.0 * t.hits[2] / (t.called + t.hits[2] + t.missed[1]) if t.hits[2] > 0.0 else 0.0)
    beyond: Limits = (t.called + t.missed[0], t.called + t.missed[1], t.called + t.missed[2])
    low, high = ratio_limits(beyond, t.hits)
    value, a, b = _inverse((1.0 + beyond[0] / t.hits[0]) / 2.0, (1.0 + low) / 2.0, (1.0 + high) / 2.0)
    return value, a, b


def _accuracy(t: Called) -> Limits:
    size = t.called + t.others
    low, high = sum_limits((1.0 / size, t.hits), (-1.0 / size, t.missed))
    base = t.others / size
    return base + (t.hits[0] - t.missed[0]) / size, max(base + low, 0.0), min(base + high, 1.0)


#: What an audit estimates of a classifier, by the metric's name.
OF_AUDIT: Mapping[str, Callable[[Called], Limits]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "specificity": _specificity,
    "npv": _npv,
    "accuracy": _accuracy,
}


@dataclass(frozen=True, eq=False, repr=False)
class AuditEstimate(Shown, Mapping[str, Measure]):
    """What an audit says: `prevalence` of all rows (and of groups, `by_group`), and a measure for each metric of the calls."""

    prevalence: Prevalence
    measures: Mapping[str, Measure] = field(default_factory=dict)
    by_group: Prevalences | None = None
    #: The metrics of the calls in each group.
    measures_by_group: Mapping[tuple[Any, ...], Mapping[str, Measure]] = field(default_factory=dict)
    threshold: float | None = None
    #: What is estimated: rows, or a column's sum.
    value: str | None = None
    warnings: tuple[Note, ...] = ()
    #: Mean of the scores over all rows, where they lie in [0, 1] and rows are what is counted.
    mean_score: float | None = None

    def __post_init__(self) -> None:
        for name in ("measures", "measures_by_group"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def __getitem__(self, name: str) -> Measure:
        known = METRICS[name].name if name in METRICS else name
        if known not in self.measures:
            hint = "" if self.measures else " Say threshold= or predicted= to have the calls assessed."
            raise UnknownNameError(f"{name!r} was not estimated.{nearest(name, self.measures)}{hint}")
        return self.measures[known]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def sentence(self) -> str:
        """Known and estimated, in words."""
        one, details = self.prevalence, self.prevalence.details
        checked, found = int(details["checked"]), int(details["found"])
        if one.reason is not None:
            return f"No estimate: {one.reason}."
        said = f"{found} of the {checked} checked rows are positive"
        if "estimated" in details:
            said += f"; {details['estimated']:.0f} more are estimated among the {one.n - checked:.0f} others: {one.count:.0f} in all"
        worth = ""
        if "equivalent" in details and details["equivalent"] > 1.05 * checked:
            worth = f" That is as sharp as {details['equivalent']:.0f} rows drawn at random without scores would be."
        return f"{said}.{worth}{self._scores_said}"

    @property
    def _scores_said(self) -> str:
        """That the scores are no probabilities of these rows, where the audit's interval shows it."""
        one, mean = self.prevalence, self.mean_score
        if mean is None or one.low is None or one.high is None or one.low <= mean <= one.high:
            return ""
        return (
            f" The scores average {number(mean)}, outside of this interval ({number(one.low)} to {number(one.high)}): they are no "
            "probabilities of these rows. Calibrate them before you plan another audit by them."
        )

    def heading(self) -> str:
        """The estimate, and what it is made of."""
        of = "" if self.value is None else f" of {self.value}"
        return f"{self.prevalence}{of}\n{self.sentence}"

    def rows(self) -> Sequence[Row]:
        """A line for the prevalence, for each group, and for each metric."""

        def line(name: str, value: float, one: Prevalence | Measure) -> Row:
            told = {"of": name, "value": value, "low": one.low, "high": one.high}
            return told if one.reason is None else {**told, "reason": one.reason}

        lines = [line("prevalence", self.prevalence.prevalence, self.prevalence)]
        if self.by_group is not None:
            for key, one in self.by_group.entries.items():
                named = ", ".join(f"{name} {part}" for name, part in zip(self.by_group.names, key, strict=True))
                lines.append(line(f"prevalence, {named}", one.prevalence, one))
        return [*lines, *(line(m.name, m.value, m) for m in self.measures.values())]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "prevalence": self.prevalence.to_dict(), "threshold": plain(self.threshold), "value": self.value, "sentence": self.sentence,
            "metrics": {name: measure.to_dict() for name, measure in self.measures.items()},
            "groups": None if self.by_group is None else [
                one | {"metrics": {name: m.to_dict() for name, m in self.measures_by_group.get(key, {}).items()}}
                for key, one in zip(self.by_group.entries, self.by_group.to_dict()["estimates"], strict=True)
            ],
        }  # fmt: skip


def audit_estimate(
    data: Any, *, label: str, score: str | None = None, threshold: float | None = None, predicted: str | None = None,
    by: str | Sequence[str] | None = None, inclusion: str | None = None, stratum: str | Sequence[str] | None = None,
    value: str | None = None, pos_label: Any = None, estimator: str | None = None, level: float = 0.95, where: str | None = None,
    strict: bool = False,
) -> AuditEstimate:  # fmt: skip
    """How many are positive, and how good the calls are, over all rows of the target, from those that were checked by hand.

    The data and its columns are those of :func:`tallymark.quantify.from_audit`. With a `threshold` of the score, or a column of
    `predicted` labels, precision, recall, F1, specificity, negative predictive value and accuracy are estimated too: of rows called
    positive and of the others separately, their limits put together as Donner & Zou (2012) do, so that they keep to [0, 1] and their
    lopsidedness.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 3, 10_000)
    >>> frame = pd.DataFrame({"p": p, "checked": (rng.random(10_000) < p).astype(float)})
    >>> frame.loc[400:, "checked"] = None
    >>> found = tm.decide.audit_estimate(frame, label="checked", score="p", threshold=0.5)
    >>> print(found.sentence)
    40 of the 400 checked rows are positive; 918 more are estimated among the 9600 others: 958 in all. That is as sharp as 483 rows drawn at random without scores would be.
    >>> print(found["recall"])
    recall = 0.1287, 95 % interval 0.0585 to 0.2022
    """
    asked = checked_level(level)
    groups, layers = column_names(by or [], "by="), column_names(stratum or [], "stratum=")
    if threshold is not None and predicted is not None:
        raise InputError("Calls are made by threshold= of the score or by the column predicted=, not by both.")
    if threshold is not None and score is None:
        raise InputError("threshold= cuts the score; name its column with score=.")
    wanted = columns_wanted(label, score, groups, inclusion, layers, value)
    wanted += [] if predicted is None else [Wanted(predicted, "predicted=")]
    columns = any_columns(data, wanted, where=where)
    grouped = audit_of(columns, label, score, groups, inclusion, layers, value, pos_label)
    audit = replace(grouped, groups=(), by=())
    whole = audited(audit, asked, estimator, counted=value is None)
    calls = _calls(columns, audit, threshold, predicted)
    strata = audit.strata()
    slope = slope_of(strata, estimator or usual(audit, strata))
    measures = {} if calls is None else _measures(audit, calls, asked, slope)
    parts, within = None, {}
    if groups:
        parts = audited(grouped, asked, estimator, counted=value is None)
        if calls is not None:
            # The slope is that of all rows, as for the groups' shares.
            within = {key: _measures(audit.part(rows), calls[rows], asked, slope) for key, rows in grouped.groups}
    notes = whole.warnings if parts is None else tuple(dict.fromkeys((*whole.warnings, *parts.warnings)))
    emit(notes, strict=strict)
    found = AuditEstimate(whole, measures, parts, within, threshold, value, notes)  # type: ignore[arg-type]
    return replace(found, mean_score=_mean_score(columns, score, found.prevalence.n))


def _mean_score(columns: Mapping[str, Any], score: str | None, n: float) -> float | None:
    if score is None or len(columns[score]) != n:
        return None
    scores = np.asarray(columns[score], dtype=np.float64)
    return float(scores.mean()) if scores.min() >= 0.0 and scores.max() <= 1.0 else None


def _calls(columns: Mapping[str, Any], audit: Audit, threshold: float | None, predicted: str | None) -> Bools | None:
    if predicted is not None:
        found = _check.labels(columns[predicted], predicted)
        values = _check.distinct(found, predicted)
        if audit.labels[1] not in values and (
            len(values) > 1 or isinstance(values[0], str) != isinstance(audit.labels[1], str)
        ):
            raise InputError(
                f"{predicted} has the values {shown(values)}, but the positive label is {audit.labels[1]!r}; both must use the same labels."
            )
        return np.asarray(found == audit.labels[1])
    return None if threshold is None else np.asarray(audit.score >= _check.real(threshold, "threshold"))


def _measures(audit: Audit, calls: Bools, level: float, slope: float) -> dict[str, Measure]:
    """Each metric of the calls."""
    parts: list[Limits] = []
    sizes, unknown = [], []
    for name, rows in (("called positive", calls), ("called negative", ~calls)):
        strata = audit.strata(rows) if rows.any() else []
        size = sum(s.size for s in strata)
        sizes.append(size)
        if not rows.any() and not audit.listed:
            unknown.append(f"no row that is {name} is in the list")
            parts.append((math.nan, math.nan, math.nan))
            continue
        if not size > 0.0:
            parts.append((0.0, 0.0, 0.0))
            continue
        one = prevalence_of(share(strata, slope), size, level, counted=False)
        if one.reason is not None:
            unknown.append(f"too few rows that are {name} were checked")
        parts.append(
            (
                size * one.prevalence,
                *((math.nan, math.nan) if one.low is None or one.high is None else (size * one.low, size * one.high)),
            )
        )
    table = Called(sizes[0], sizes[1], parts[0], parts[1])
    return {name: _measure(name, work(table), level, unknown) for name, work in OF_AUDIT.items()}


def _measure(name: str, ends: Limits, level: float, unknown: Sequence[str]) -> Measure:
    value, low, high = ends
    if math.isnan(value):
        reason = unknown[0] if unknown else "nothing that it is a share of was found"
        return Measure(name=name, value=math.nan, reason=reason)
    low, high = min(max(low, 0.0), value), max(min(high, 1.0), value)
    return Measure(name=name, value=value, low=low, high=high, interval_method="mover", level=level)
