"""Difference and growth of counts between two audits (periods, groups), with MOVER limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Label
from tallymark._display import Row, Shown, plain
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.class_estimates import AuditEstimate, AuditMeasure, require_estimate
from tallymark.audits.corrected_means import LabelDesign, corrected_mean
from tallymark.errors import InputError, Undefined, shown
from tallymark.inference.interval import checked_level
from tallymark.inference.limits.mover import difference_limits, ratio_limits
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: Said of a growth without an upper limit, and the share of the first count below which its lower limit is next to 0.
UNBOUNDED = "cannot be bounded above: the first count may be next to 0"
_NEXT_TO_NOTHING = 0.15


@dataclass(frozen=True, eq=False, repr=False)
class AuditChange(Shown):
    """Change of each class from one audit to another: difference of the counts and of the shares, and growth."""

    lines: tuple[Row, ...]
    level: float

    def heading(self) -> str:
        """What changed."""
        return f"Change of {len({line['class'] for line in self.lines})} classes, {100 * self.level:g} % intervals"

    def rows(self) -> list[Row]:
        """One line per class and quantity."""
        return list(self.lines)

    def of(self, label: Label, quantity: str) -> Row:
        """The line of a class: its ``count`` or ``prevalence`` (differences), or its ``growth``."""
        for line in self.lines:
            if line["class"] == str(label) and line["of"] == quantity:
                return line
        raise InputError(
            f"No {quantity} of {label!r}; there are {shown(sorted({row['class'] for row in self.lines}))}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"level": self.level, "changes": plain([dict(line) for line in self.lines])}


def change(first: AuditEstimate, second: AuditEstimate) -> AuditChange:
    """Estimate the change of each class from one audit to another, whose checked rows were drawn independently.

    Limits of the differences and of the growth (count of the second over that of the first, less 1) are put together
    from those of both audits (MOVER; Zou & Donner 2008, Donner & Zou 2012), so that they keep their asymmetry. Where
    the lower limit of the first count is next to 0, the growth has no upper limit and says so.

    Parameters
    ----------
    first, second
        Results of :func:`tallymark.audits.estimate` or :func:`tallymark.audits.from_matrix` with the same classes,
        the same level and the same unit.

    Returns
    -------
    AuditChange
        Difference of counts and of prevalences, and growth, of every class.

    Examples
    --------
    >>> import tallymark as tm
    >>> before = tm.audits.from_matrix([[60, 15], [3, 322]], [2_000, 60_000], classes=["forest", "other"])
    >>> after = tm.audits.from_matrix([[50, 25], [2, 323]], [1_500, 60_500], classes=["forest", "other"])
    >>> tm.audits.change(before, after).of("forest", "count")["value"].__round__(1)
    -781.5

    """
    for name, audit in (("first", first), ("second", second)):
        require_estimate(audit, name)
    if set(first.classes) != set(second.classes):
        raise InputError(
            f"The audits have the classes {shown(first.classes)} and {shown(second.classes)}; expected the same."
        )
    if first.level != second.level:
        raise InputError(f"The audits have the levels {first.level:g} and {second.level:g}; expected the same.")
    if first.unit != second.unit:
        raise InputError(
            f"The first audit counts {first.unit} and the second {second.unit}; expected the same (unit=, value=)."
        )
    lines: list[Row] = []
    for label in first.classes:
        for name, measures in (("count", "counts"), ("prevalence", "prevalences")):
            before, after = (getattr(audit, measures)[label] for audit in (first, second))
            lines.append(_difference(str(label), name, before, after))
        lines.append(_growth(str(label), first.counts[label], second.counts[label]))
    return AuditChange(tuple(lines), first.level)


def _limits(one: AuditMeasure) -> tuple[float, float, float]:
    return one.value, math.nan if one.low is None else one.low, math.nan if one.high is None else one.high


def _difference(label: str, name: str, before: AuditMeasure, after: AuditMeasure) -> Row:
    reason = before.reason or after.reason
    line = {
        "class": label,
        "of": name,
        "value": after.value - before.value,
        "low": None,
        "high": None,
        "reason": reason,
    }
    if reason is None:
        low, high = difference_limits(_limits(after), _limits(before), 0.0)
        line |= {"low": low, "high": high}
    return line


def _growth(label: str, before: AuditMeasure, after: AuditMeasure) -> Row:
    reason = before.reason or after.reason or (None if before.value > 0.0 else "the first audit has none to grow from")
    line = {"class": label, "of": "growth", "value": math.nan, "low": None, "high": None, "reason": reason}
    if reason is not None:
        return line
    value = after.value / before.value - 1.0
    low, high = (end - 1.0 for end in ratio_limits(_limits(after), _limits(before)))
    bounded = math.isfinite(high) and (before.low or 0.0) > _NEXT_TO_NOTHING * before.value
    return line | {
        "value": value,
        "low": min(low, value),
        "high": max(high, value) if bounded else None,
        "reason": None if bounded else UNBOUNDED,
    }


@named_columns
def paired_change(
    data: Any,
    *,
    before: str,
    after: str,
    stratum: str | Sequence[str] | None = None,
    inclusion: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    where: str | None = None,
) -> AuditChange:
    """Estimate the change of each class from the same rows checked twice, which says more than two separate samples.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name with every row of the target.
    before, after
        Columns with the verdicts at both times, null where a row was not checked. Rows with both are used.
    stratum
        Columns within which the checked rows are a simple random sample.
    inclusion
        Column with the probability with which each row was drawn.
    cluster
        Column of the clusters that were drawn and checked whole.
    level
        Confidence level.
    where
        Of a file: only rows that satisfy this SQL condition.

    Returns
    -------
    AuditChange
        Difference of counts and of prevalences of every class.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> first = rng.random(5_000) < 0.3
    >>> second = first ^ (rng.random(5_000) < 0.05)
    >>> seen = np.arange(5_000) < 400
    >>> rows = {"y1": np.where(seen, first, np.nan), "y2": np.where(seen, second, np.nan)}
    >>> line = tm.audits.paired_change(rows, before="y1", after="y2").of(1, "prevalence")
    >>> bool(line["low"] < second.mean() - first.mean() < line["high"]), line["high"] - line["low"] < 0.05
    (True, True)
    """
    confidence, layers = checked_level(level), column_names(stratum, "stratum=")
    wanted = [Wanted(before, "before=", "class"), Wanted(after, "after=", "class")]
    wanted += [Wanted(name, "stratum=") for name in layers]
    wanted += [] if inclusion is None else [Wanted(inclusion, "inclusion=", "number")]
    wanted += [] if cluster is None else [Wanted(cluster, "cluster=")]
    columns = any_columns(data, wanted, where=where)
    checked = ~without_verdict(columns[before]) & ~without_verdict(columns[after])
    if not checked.any():
        raise InputError(f"No row has a value of both {before} and {after}.")
    ones, others = (_check.labels(np.ma.getdata(columns[name])[checked], name) for name in (before, after))
    classes = sorted(
        {*_check.distinct(ones, before), *_check.distinct(others, after)}, key=lambda one: (isinstance(one, str), one)
    )
    design = LabelDesign.of_columns(columns, checked, layers, inclusion, cluster)
    n, nothing = len(checked), np.zeros(len(checked))
    lines: list[Row] = []
    for label in classes:
        change_of = np.zeros(n)
        change_of[checked] = (others == label) * 1.0 - (ones == label)
        try:
            mean = corrected_mean(change_of, nothing, checked, (-1.0, 1.0), design)
        except Undefined as undefined:
            raise InputError(f"The change cannot be estimated: {undefined.reason}.") from None
        low, high = mean.limits(confidence)
        for name, unit in (("count", float(n)), ("prevalence", 1.0)):
            lines.append(
                {"class": str(label), "of": name, "value": unit * mean.value, "low": unit * low, "high": unit * high,
                 "reason": None}
            )  # fmt: skip
    return AuditChange(tuple(lines), confidence)
