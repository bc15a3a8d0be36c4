r"""Design-based estimates of precision, recall and other rates from rows checked by hand (``tm.audits.estimate``).

Of rows called positive, C in number, and of the D others the audit estimates how many are positive: A and B. Every
metric is a function of these four numbers that never falls when A grows and never rises when B grows (or does not
depend on it): precision A/C, recall A/(A + B), and so on. Its limits are quantiles over draws of A and B together, so
that no two metrics contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import number
from tallymark.audits.checked_rows import Audit, audit_of, columns_wanted
from tallymark.audits.draws import drawn, quantiles
from tallymark.audits.prevalences import audit_slope, prevalence_of_all, prevalences_by_group
from tallymark.audits.shares import share
from tallymark.errors import InputError, UnknownNameError, nearest, shown
from tallymark.inference.interval import checked_level
from tallymark.measures import Measure
from tallymark.notes import Note, emit, honours_strict
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.registry import METRICS
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns


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

#: The class whose rows a metric is a share of; without a checked row of it nothing is known of the metric.
_SHARE_OF = {"recall": "positive", "specificity": "negative"}


@dataclass(frozen=True, eq=False, repr=False)
class AuditEstimate(Shown, Mapping[str, Measure]):
    """Estimates of an audit: `prevalence` of all rows (and of groups, `by_group`), and a measure for each metric."""

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
        canonical = METRICS[name].name if name in METRICS else name
        if canonical not in self.measures:
            hint = "" if self.measures else " Say threshold= or predicted= to have the calls assessed."
            raise UnknownNameError(f"{name!r} was not estimated.{nearest(name, self.measures)}{hint}")
        return self.measures[canonical]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    @property
    def sentence(self) -> str:
        """The checked and the estimated positives, in words."""
        one, details = self.prevalence, self.prevalence.details
        checked, positive = int(details["checked"]), int(details["found"])
        if one.reason is not None:
            return f"No estimate: {one.reason}."
        estimated = equivalent = ""
        if "estimated" in details:
            others = f"{details['estimated']:.0f} more are estimated among the {one.n - checked:.0f} others"
            estimated = f"; {others}: {one.count:.0f} in all"
        if "equivalent" in details and details["equivalent"] > 1.05 * checked:
            equivalent = (
                f" That is as precise as {details['equivalent']:.0f} rows drawn at random without scores would be."
            )
        return f"{positive} of the {checked} checked rows are positive{estimated}.{equivalent}{self._about_scores}"

    @property
    def _about_scores(self) -> str:
        """A sentence where the audit's interval shows that the scores are no probabilities of these rows."""
        one, mean = self.prevalence, self.mean_score
        if mean is None or one.low is None or one.high is None or one.low <= mean <= one.high:
            return ""
        return (
            f" The scores average {number(mean)}, outside of this interval ({number(one.low)} to {number(one.high)}): "
            "they are no probabilities of these rows. Calibrate them before you plan another audit by them."
        )

    def heading(self) -> str:
        """The estimate, and what it is made of."""
        of = "" if self.value is None else f" of {self.value}"
        return f"{self.prevalence}{of}\n{self.sentence}"

    def rows(self) -> Sequence[Row]:
        """A line for the prevalence, for each group, and for each metric."""

        def line(name: str, value: float, one: Prevalence | Measure) -> Row:
            entries = {"of": name, "value": value, "low": one.low, "high": one.high}
            return entries if one.reason is None else {**entries, "reason": one.reason}

        lines = [line("prevalence", self.prevalence.prevalence, self.prevalence)]
        if self.by_group is not None:
            for key, one in self.by_group.entries.items():
                named = ", ".join(f"{name} {part}" for name, part in zip(self.by_group.names, key, strict=True))
                lines.append(line(f"prevalence, {named}", one.prevalence, one))
        return [*lines, *(line(m.name, m.value, m) for m in self.measures.values())]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "prevalence": self.prevalence.to_dict(),
            "threshold": plain(self.threshold),
            "value": self.value,
            "sentence": self.sentence,
            "metrics": {name: measure.to_dict() for name, measure in self.measures.items()},
            "groups": None
            if self.by_group is None
            else [
                one | {"metrics": {name: m.to_dict() for name, m in self.measures_by_group.get(key, {}).items()}}
                for key, one in zip(self.by_group.entries, self.by_group.to_dict()["estimates"], strict=True)
            ],
            "sum_of_groups": None if self.by_group is None else self.by_group.total.to_dict(),
        }


@named_columns
@honours_strict
def estimate(
    data: Any,
    *,
    label: str,
    score: str | None = None,
    threshold: float | None = None,
    predicted: str | None = None,
    by: str | Sequence[str] | None = None,
    inclusion: str | None = None,
    stratum: str | Sequence[str] | None = None,
    value: str | None = None,
    pos_label: Any = None,
    estimator: str | None = None,
    level: float = 0.95,
    where: str | None = None,
    strict: bool = False,
) -> AuditEstimate:
    """Estimate the prevalence, and the metrics of a classifier's predictions, over all rows from those checked by hand.

    With a `threshold` of the score, or a column of `predicted` labels, precision, recall, F1, specificity, negative
    predictive value and accuracy are estimated too, from the positives among the rows predicted positive and among the
    others. Their limits are quantiles over draws of both numbers, the same draws for every metric, so that they keep to
    [0, 1] and cannot contradict each other.

    Parameters
    ----------
    data, label, score, by, inclusion, stratum, value, pos_label, estimator, level, where, strict
        As of :func:`tallymark.audits.from_audit`.
    threshold
        Where the score is cut.
    predicted
        Column of predicted labels, instead of a threshold.

    Returns
    -------
    AuditEstimate
        The prevalence, by group where there are groups, and a measure for each metric.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 3, 10_000)
    >>> frame = pd.DataFrame({"p": p, "checked": (rng.random(10_000) < p).astype(float)})
    >>> frame.loc[400:, "checked"] = None
    >>> audit = tm.audits.estimate(frame, label="checked", score="p", threshold=0.5)
    >>> print(audit.sentence.partition(".")[0])
    40 of the 400 checked rows are positive; 918 more are estimated among the 9600 others: 958 in all
    >>> print(audit["recall"])
    recall = 0.1287, 95 % interval 0.0606 to 0.2038

    """
    confidence = checked_level(level)
    groups, layers = column_names(by, "by="), column_names(stratum, "stratum=")
    if threshold is not None and predicted is not None:
        raise InputError("Predictions come from threshold= of the score or from the column predicted=, not from both.")
    if threshold is not None and score is None:
        raise InputError("threshold= cuts the score; name its column with score=.")
    wanted = columns_wanted(label, score, groups, inclusion, layers, value)
    wanted += [] if predicted is None else [Wanted(predicted, "predicted=", "class")]
    columns = any_columns(data, wanted, where=where)
    grouped = audit_of(
        columns,
        label,
        score=score,
        by=groups,
        inclusion=inclusion,
        stratum=layers,
        value=value,
        pos_label=pos_label,
    )
    audit = replace(grouped, groups=(), by=())
    whole = prevalence_of_all(audit, confidence, estimator, counted=value is None)
    calls = _calls(columns, audit, threshold, predicted)
    slope = audit_slope(audit, estimator)
    measures = {} if calls is None else _measures(audit, calls, confidence, slope)
    parts, within = None, {}
    if groups:
        parts = prevalences_by_group(grouped, confidence, estimator, counted=value is None)
        if calls is not None:
            # The slope is that of all rows, as for the groups' shares.
            within = {key: _measures(audit.part(rows), calls[rows], confidence, slope) for key, rows in grouped.groups}
    notes = whole.warnings if parts is None else tuple(dict.fromkeys((*whole.warnings, *parts.warnings)))
    emit(notes, strict=strict)
    return AuditEstimate(
        prevalence=whole,
        measures=measures,
        by_group=parts,
        measures_by_group=within,
        threshold=threshold,
        value=value,
        warnings=notes,
        mean_score=_mean_score(columns, score, whole.n),
    )


def _mean_score(columns: Mapping[str, Any], score: str | None, n: float) -> float | None:
    if score is None or len(columns[score]) != n:
        return None
    scores = np.asarray(columns[score], dtype=np.float64)
    return float(scores.mean()) if scores.min() >= 0.0 and scores.max() <= 1.0 else None


def _calls(columns: Mapping[str, Any], audit: Audit, threshold: float | None, predicted: str | None) -> Bools | None:
    if predicted is not None:
        labels = _check.labels(columns[predicted], predicted)
        values = _check.distinct(labels, predicted)
        if audit.labels[1] not in values and (
            len(values) > 1 or isinstance(values[0], str) != isinstance(audit.labels[1], str)
        ):
            raise InputError(
                f"{predicted} has the values {shown(values)}, but the positive label is {audit.labels[1]!r}; both must "
                "use the same labels."
            )
        return np.asarray(labels == audit.labels[1])
    return None if threshold is None else np.asarray(audit.score >= _check.real(threshold, "threshold"))


def _measures(audit: Audit, calls: Bools, level: float, slope: float) -> dict[str, Measure]:
    """Each metric of the calls."""
    shares = [share(audit.strata(rows) if rows.any() else [], slope) for rows in (calls, ~calls)]
    sizes = [sum(s.size for s in one.strata) for one in shares]
    draws = drawn([() if math.isnan(one.value) else one.strata for one in shares], slope)
    counts, unknown = [], []
    for place, (name, one) in enumerate(zip(("called positive", "called negative"), shares, strict=True)):
        counts.append(sizes[place] * min(max(one.value, 0.0), 1.0) if one.strata else 0.0)
        if one.strata and math.isnan(one.value):
            unknown.append(f"too few rows that are {name} were checked")
        elif not one.strata and not audit.listed:
            unknown.append(f"no row that is {name} is in the list")
        else:
            continue
        counts[place], draws[place] = math.nan, draws[place].unknown()
    (called, others), (hits, missed) = sizes, draws
    tables = (
        Called(called, others, np.array(counts[0]), np.array(counts[1])),
        Called(called, others, hits.lower, missed.upper),
        Called(called, others, hits.upper, missed.lower),
    )
    checked, positive = (int(sum(getattr(one, kind) for one in shares)) for kind in ("checked", "found"))
    absent = {"positive": not positive, "negative": positive == checked}
    measures = {}
    for name, work in OF_AUDIT.items():
        of_class = _SHARE_OF.get(name, "")
        reasons = [*unknown, f"none of the {checked} checked rows is {of_class}"] if absent.get(of_class) else unknown
        measures[name] = _measure(name, [work(t) for t in tables], level, reasons)
    return measures


def _measure(name: str, values: Sequence[Floats], level: float, unknown: Sequence[str]) -> Measure:
    value = float(values[0])
    if math.isnan(value):
        reason = unknown[0] if unknown else "nothing that it is a share of was found"
        return Measure(name=name, value=math.nan, reason=reason)
    low, high = quantiles(values[1], values[2], level)
    return Measure(
        name=name, value=value, low=min(low, value), high=max(high, value), interval_method="draws", level=level
    )
