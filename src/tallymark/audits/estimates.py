"""Estimates of counts, precision, recall and other rates from rows checked by hand (``tm.audits.estimate``).

Two classes of which one is positive are estimated by :mod:`tallymark.audits.called_parts`, with scores; any number of
classes by :mod:`tallymark.audits.class_estimation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Label
from tallymark._display import Row, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import number
from tallymark.audits.called_parts import OF_AUDIT, CalledParts, average_recall, f1_of_negatives
from tallymark.audits.checked_rows import Audit, Design, checked_unevenly, columns_wanted, design_of, with_two_classes
from tallymark.audits.class_estimates import (
    AuditEstimate,
    AuditMeasure,
    with_groups,
    without_estimates,
)
from tallymark.audits.class_estimation import estimates_of, explanations_of, uncertainty_of
from tallymark.audits.class_rows import ClassAudit, ClassLabels, class_audit
from tallymark.audits.prevalences import (
    AuditPrevalences,
    audit_slope,
    prevalence_of_all,
    prevalences_by_group,
    size_of,
)
from tallymark.errors import InputError, UnknownNameError, nearest, shown
from tallymark.inference.interval import checked_level
from tallymark.measures import Measure
from tallymark.notes import Note, emit, honours_strict
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.registry import METRICS
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: Why nothing is estimated of a group.
_TOO_FEW = "fewer than two of its rows (or clusters) were checked"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BinaryAuditEstimate(AuditEstimate, Mapping[str, Measure]):
    """Estimates of an audit of two classes: those of each class, and a mapping from metric to its measure.

    `prevalence` is the share of positives of all rows (of groups, `by_group`); the metrics are of the positive class.
    """

    prevalence: Prevalence
    measures: Mapping[str, AuditMeasure] = field(default_factory=dict)
    by_group: Prevalences | None = None
    threshold: float | None = None
    #: What is estimated: rows, or a column's sum.
    value: str | None = None
    groups: Mapping[tuple[Any, ...], BinaryAuditEstimate] = field(default_factory=dict)
    #: Mean of the scores over all rows, where they lie in [0, 1] and rows are what is counted.
    mean_score: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "measures", FrozenDict(self.measures))

    def __getitem__(self, name: str) -> AuditMeasure:
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
        return "\n".join([f"{self.prevalence}{of}", self.sentence, *self.explanations])

    @property
    def names_of_groups(self) -> tuple[str, ...]:
        """The columns that make the groups."""
        return () if self.by_group is None else tuple(self.by_group.names)

    def shares(self) -> Iterator[tuple[tuple[Any, ...], Label, AuditMeasure, int]]:
        """Group, class, share and checked rows of every share."""
        parts = [] if self.by_group is None else list(self.by_group.entries.items())
        everything = ("(all)",) * len(self.names_of_groups)
        for key, one in [(everything, self.prevalence), *parts]:
            of_classes = _shares(self.classes, one)
            for label in self.classes:
                yield key, label, of_classes[label], int(one.details.get("checked", self.checked))

    def printed_rows(self) -> list[Row]:
        """All rows."""
        return self.rows()

    def rows(self) -> list[Row]:
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
        return super().to_dict() | {
            "prevalence": self.prevalence.to_dict(),
            "threshold": plain(self.threshold),
            "value": self.value,
            "sentence": self.sentence,
            "metrics": {name: measure.to_dict() for name, measure in self.measures.items()},
            "groups": None
            if self.by_group is None
            else [
                one | {"metrics": {name: m.to_dict() for name, m in self.groups[key].measures.items()}}
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
    size: Mapping[Any, float] | None = None,
    id: str | None = None,  # noqa: A002 - what such a column is called
    cluster: str | None = None,
    value: str | None = None,
    pos_label: Any = None,
    estimator: str | None = None,
    level: float = 0.95,
    where: str | None = None,
    strict: bool = False,
) -> AuditEstimate:
    """Estimate counts of classes, and the metrics of a classifier's predictions, over all rows from those checked.

    Of every class: its count and prevalence and, with a column of `predicted` classes, precision (user's accuracy),
    recall (producer's accuracy) and F1; accuracy, average recall and the estimated confusion matrix of all. Limits are
    quantiles over draws, the same for every metric, so that they keep to [0, 1] and do not contradict each other;
    standard errors are those of survey packages, beside them.

    With a positive class (`pos_label`, or labels such as 0 and 1) the scores of all rows make the count more precise,
    predictions may come from a `threshold`, and the result is a mapping from the metrics of the positive class too. The
    count is then that of the rows predicted positive and of the others together, each estimated from its own checked
    rows.

    Parameters
    ----------
    data, label, score, by, inclusion, value, pos_label, estimator, level, where, strict
        As of :func:`tallymark.audits.from_audit`. Classes of which none is the positive one are estimated one by one.
    threshold
        Where the score is cut.
    predicted
        Column of predicted classes, instead of a threshold.
    stratum
        Columns within which the checked rows (or clusters) are a simple random sample; left out, they are one of all
        rows. Strata need not be the predicted classes.
    size
        Number of rows of each stratum, ``{"north": 12_000, …}``, where `data` has the checked rows alone.
    id
        Column that identifies a row; missing and repeated values are refused.
    cluster
        Column of the clusters that were drawn and checked whole (households, conversations, recorders).

    Returns
    -------
    AuditEstimate
        Estimates by class; of two classes a :class:`~tallymark.results.BinaryAuditEstimate`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 3, 10_000)
    >>> frame = pd.DataFrame({"p": p, "checked": (rng.random(10_000) < p).astype(float)})
    >>> frame.loc[400:, "checked"] = None
    >>> audit = tm.audits.estimate(frame, label="checked", score="p", threshold=0.5)
    >>> print(audit.sentence.partition(".")[0])
    40 of the 400 checked rows are positive; 919 more are estimated among the 9600 others: 959 in all
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
    wanted += [Wanted(name, option) for name, option in ((id, "id="), (cluster, "cluster=")) if name is not None]
    columns = any_columns(data, wanted, where=where)
    if id is not None:
        require_distinct(columns[id], id)
    options: dict[str, Any] = {"score": score, "by": groups, "inclusion": inclusion, "value": value, "size": size}
    design = design_of(columns, label, stratum=layers, **options)
    notes: tuple[Note, ...] = ()
    if predicted is not None and cluster is None and not layers and inclusion is None and size is None:
        notes = _uneven_predictions(columns[predicted], predicted, design.checked)
        if notes:
            design = design_of(columns, label, stratum=[predicted], **options)
    labels = ClassLabels.of(columns, label, predicted, design.checked)
    if cluster is not None or (pos_label is None and labels.names_no_positive):
        refused = {"score=": score, "threshold=": threshold, "pos_label=": pos_label, "estimator=": estimator}
        _refuse_of_classes(refused, cluster)
        audit = class_audit(columns, label, design, labels, predicted, cluster)
        result = _of_classes(audit, value, confidence)
    else:
        binary = with_two_classes(columns, label, design, pos_label)
        calls = _calls(columns, binary, threshold, predicted)
        result = _of_two_classes(binary, calls, estimator, value, confidence)
        result = replace(result, threshold=threshold, mean_score=_mean_score(columns, score, result.prevalence.n))
    result = replace(result, warnings=(*result.warnings, *notes, *_notes_of_lists(design, result)))
    emit(result.warnings, strict=strict)
    return result


def _uneven_predictions(column: NDArray[Any], name: str, checked: Bools) -> tuple[Note, ...]:
    """A note where more of the rows with one prediction were checked than of those with another; else none."""
    values, codes = np.unique(_check.labels(column, name), return_inverse=True)
    codes = codes.ravel()
    if not checked_unevenly(codes, checked):
        return ()
    share = np.bincount(codes, checked) / np.bincount(codes)
    most, least = int(share.argmax()), int(share.argmin())
    text = (
        f"{100 * share[most]:.3g} % of the rows predicted {values[most]} were checked and {100 * share[least]:.3g} % "
        f"of those predicted {values[least]}: they are taken as drawn at random within each prediction. If they were "
        "drawn in another way, say how with stratum= or inclusion="
    )
    return (Note("TM128", text),)


def _notes_of_lists(design: Design, result: AuditEstimate) -> tuple[Note, ...]:
    """Notes of what is not known where only checked rows were passed."""
    if design.listed and design.checked.all():
        text = (
            "Every row that was passed was checked, so that they are counted, not estimated. If they are a sample, "
            "pass every row of the target, or say how they were drawn with size= or inclusion="
        )
        return (Note("TM129", text),)
    weighed = float(np.ptp(design.worth)) > 0.0
    if not design.listed and isinstance(result, BinaryAuditEstimate) and (design.groups or weighed):
        text = (
            f"Only checked rows were passed, so that {'the sum of the value' if weighed else 'the size of each group'} "
            "is an estimate too: limits of counts are too narrow, those of shares hold. Pass every row of the target"
        )
        return (Note("TM129", text),)
    return ()


def require_distinct(ids: NDArray[Any], name: str) -> None:
    """Refuse an id column with missing or repeated values."""
    values, counts = np.unique(_check.groups(ids, name), return_counts=True)
    if (counts > 1).any():
        raise InputError(
            f"{name} has the values {shown(values[counts > 1].tolist(), 5)} more than once; an id belongs to one row."
        )


def _refuse_of_classes(options: Mapping[str, Any], cluster: str | None) -> None:
    """Refuse options that need a positive class."""
    why = "has clusters" if cluster is not None else "names no positive class"
    for option, given in options.items():
        if given is not None:
            raise InputError(
                f"{option} is for audits with a positive class and without clusters, and this one {why}; leave it out"
                + (", or name the positive class with pos_label=." if cluster is None else ".")
            )


def _unit(value: str | None) -> str:
    """What is counted."""
    return "rows" if value is None else value


def _of_classes(audit: ClassAudit, value: str | None, level: float) -> AuditEstimate:
    """Estimates of any number of classes, and of each group."""
    result = estimates_of(audit.sample(), level, _unit(value))
    if not audit.groups:
        return result
    groups = {
        key: without_estimates(audit.classes, _TOO_FEW) if sample is None else estimates_of(sample, level, _unit(value))
        for key, sample in audit.samples_by_group()
    }
    return with_groups(result, audit.by, groups)


def _of_two_classes(
    audit: Audit, calls: Bools | None, estimator: str | None, value: str | None, level: float
) -> BinaryAuditEstimate:
    """Estimates of the positives and of the calls, of all rows and of each group."""
    slope = audit_slope(audit, estimator)
    counted = value is None
    whole = replace(audit, groups=(), by=())
    parts = None if calls is None else CalledParts.of(whole, calls, slope)
    prevalence = (
        prevalence_of_all(whole, level, estimator, counted=counted)
        if parts is None or parts.unknown
        else parts.prevalence(size_of(whole, whole.strata(), counted=counted), level, counted=counted)
    )
    by_group, groups = _groups_of_two_classes(audit, calls, estimator, value, level) if audit.groups else (None, {})
    notes = prevalence.warnings
    if by_group is not None:
        notes = tuple(dict.fromkeys((*notes, *by_group.warnings)))
    estimates = _by_class(audit.labels, prevalence, parts, value, level)
    sample = _with_codes(whole, calls).sample()
    return BinaryAuditEstimate(
        **estimates,
        checked=int(audit.checked.sum()),
        prevalence=prevalence,
        by_group=by_group,
        groups=groups,
        by=audit.by,
        value=value,
        uncertainty=uncertainty_of(sample),
        explanations=explanations_of(sample, estimates["counts"]),
        warnings=notes,
    )


def _groups_of_two_classes(
    audit: Audit, calls: Bools | None, estimator: str | None, value: str | None, level: float
) -> tuple[AuditPrevalences, dict[tuple[Any, ...], BinaryAuditEstimate]]:
    """Shares of the groups, and all estimates of each; the slope is that of all rows."""
    slope, counted = audit_slope(audit, estimator), value is None
    alone = prevalences_by_group(audit, level, estimator, counted=counted)
    entries, shares, groups = dict(alone.entries), dict(alone.shares), {}
    for key, rows in audit.groups:
        part = audit.part(rows)
        parts = None if calls is None else CalledParts.of(part, calls[rows], slope)
        if parts is not None and not parts.unknown:
            entries[key] = parts.prevalence(entries[key].n, level, counted=counted)
            shares[key] = parts.together
        groups[key] = BinaryAuditEstimate(
            **_by_class(audit.labels, entries[key], parts, value, level),
            checked=int(part.checked.sum()),
            prevalence=entries[key],
            value=value,
        )
    return AuditPrevalences(alone.names, entries, shares=shares), groups


def _with_codes(audit: Audit, calls: Bools | None) -> ClassAudit:
    """The audit with its two classes as codes, as those of any number of classes are."""
    design = {one.name: getattr(audit, one.name) for one in fields(Design)}
    truth = np.where(audit.checked, audit.truth, -1).astype(np.int64)
    predicted = None if calls is None else calls.astype(np.int64)
    return ClassAudit(**design, truth=truth, predicted=predicted, classes=audit.labels)


def _by_class(
    labels: tuple[Label, Label],
    prevalence: Prevalence,
    parts: CalledParts | None,
    value: str | None,
    level: float,
) -> dict[str, Any]:
    """The estimates of the negative and of the positive class, and of the calls."""
    shares = _shares(labels, prevalence)
    estimates: dict[str, Any] = {
        "n": prevalence.n,
        "unit": _unit(value),
        "classes": labels,
        "prevalences": shares,
        "counts": {label: _times(one, float(prevalence.n)) for label, one in shares.items()},
    }
    if parts is None:
        return estimates
    measures = parts.measures(OF_AUDIT, level)
    of_negatives = parts.measures({"f1": f1_of_negatives}, level)
    of_both = parts.measures({"average_recall": average_recall}, level)
    named = {
        "precision": (measures["npv"], measures["precision"]),
        "recall": (measures["specificity"], measures["recall"]),
        "f1": (of_negatives["f1"], measures["f1"]),
    }
    both = {
        name: {label: replace(one, name=name) for label, one in zip(labels, pair, strict=True)}
        for name, pair in named.items()
    }
    overall = {"accuracy": measures["accuracy"], "average_recall": of_both["average_recall"]}
    return estimates | both | overall | {"measures": measures, "matrix": parts.matrix(labels, estimates["unit"])}


def _shares(labels: tuple[Label, ...], prevalence: Prevalence) -> dict[Label, AuditMeasure]:
    """The share of the negative and of the positive class."""
    negative, positive = labels
    error = prevalence.details.get("standard_error", math.nan)
    of_positive = AuditMeasure(
        name="prevalence",
        value=prevalence.prevalence,
        low=prevalence.low,
        high=prevalence.high,
        standard_error=error,
        interval_method=prevalence.interval_method,
        level=prevalence.level,
        reason=prevalence.reason,
    )
    low, high = (None if end is None else 1.0 - end for end in (prevalence.high, prevalence.low))
    of_negative = replace(of_positive, value=1.0 - prevalence.prevalence, low=low, high=high)
    return {negative: of_negative, positive: of_positive}


def _times(one: AuditMeasure, n: float) -> AuditMeasure:
    """The count of a share."""
    low, high, error = (None if part is None else part * n for part in (one.low, one.high, one.standard_error))
    return replace(one, name="count", value=one.value * n, low=low, high=high, standard_error=error)


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
