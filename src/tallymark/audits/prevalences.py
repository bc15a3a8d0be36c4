"""Design-based estimate of a prevalence from rows checked by hand (``tm.audits.from_audit``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.audits.checked_rows import Audit, read_audit
from tallymark.audits.shares import Share, share, slope_of
from tallymark.audits.strata import Stratum
from tallymark.errors import Undefined
from tallymark.inference.interval import Interval, checked_level
from tallymark.inference.limits.mover import ratio_limits
from tallymark.notes import Note, emit, honours_strict
from tallymark.quantify.estimation.prevalence import Keys, Prevalence, Prevalences, none_to_grow_from
from tallymark.sources.frames import named_columns

#: What an audit's estimates are called beside those of quantifiers.
METHOD = "audit"


@dataclass(frozen=True, eq=False, repr=False)
class AuditPrevalences(Prevalences):
    """Estimates by group, each from checked rows of its own: the groups add up to the total, and their errors are
    independent.
    """

    shares: Mapping[tuple[Any, ...], Share] = field(default_factory=dict)

    def _sum(self, keys: Keys) -> Prevalence:
        parts = [self.entries[key] for key in keys]
        n = sum(part.n for part in parts)
        missing = next((part.reason for part in parts if part.reason is not None), None)
        if missing is not None:
            return Prevalence(method=METHOD, prevalence=math.nan, n=n, reason=missing)
        return prevalence_of(self._added(keys), n, parts[0].level or 0.95, counted="estimated" in parts[0].details)

    def _regrouped(self, names: tuple[str, ...], groups: Mapping[tuple[Any, ...], Keys]) -> Prevalences:
        return AuditPrevalences(
            names,
            {group: self._sum(keys) for group, keys in groups.items()},
            shares={group: self._added(keys) for group, keys in groups.items()},
        )

    def _added(self, keys: Keys) -> Share:
        """Shares of separate groups put together: their strata side by side."""
        shares = [self.shares[key] for key in keys]
        return share([s for one in shares for s in one.strata], shares[0].slope)

    def growth(self, first: Any, second: Any, *, level: float | None = None) -> Interval:
        """Growth of the count from one group to another, with limits put together from those of both (MOVER; Donner &
        Zou 2012).

        The upper limit is infinite where the first group may have no positives.
        """
        start, end = self[first], self[second]
        confidence = checked_level(start.level or 0.95 if level is None else level)
        if start.reason is not None or end.reason is not None:
            raise Undefined(start.reason or end.reason or "")
        if none_to_grow_from(start.prevalence, start.n):
            raise Undefined(f"{first} has no positives to grow from")
        keys = [key if isinstance(key, tuple) else (key,) for key in (first, second)]
        ends = [self.shares[key].limits(confidence) for key in keys]
        least = 0.0 if none_to_grow_from(ends[0][0], start.n) else ends[0][0]
        low, high = ratio_limits((end.prevalence, *ends[1]), (start.prevalence, least, ends[0][1]))
        scale = end.n / start.n
        value = end.count / start.count - 1.0
        return Interval(value, min(low * scale - 1.0, value), max(high * scale - 1.0, value), "mover", confidence)


@named_columns
@honours_strict
def from_audit(
    data: Any,
    *,
    label: str,
    score: str | None = None,
    by: str | Sequence[str] | None = None,
    inclusion: str | None = None,
    stratum: str | Sequence[str] | None = None,
    value: str | None = None,
    pos_label: Any = None,
    estimator: str | None = None,
    level: float = 0.95,
    where: str | None = None,
    strict: bool = False,
) -> Prevalence | Prevalences:
    r"""Estimate the number of positive rows from an audit: some of the rows, drawn at random and checked by hand.

    With the mean score :math:`\mu` of all N rows, :math:`e = \lambda\mu + \overline{y - \lambda p}`; the estimators
    differ in the slope :math:`\lambda`. The score makes the estimate more precise and nothing is assumed of the
    classifier, of its calibration or of any shift. Limits of a simple random sample are mid-p ones at the sample size
    that the estimate's variance is equivalent to; with strata or unequal probabilities they are quantiles over 10 000
    draws in which one more row, positive or not, was checked (the same draws in every run), so that they hold for rare
    classes too. Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453; Särndal, Swensson & Wretman (1992).

    Parameters
    ----------
    data
        A dataframe or files with every row of the target; a list of checked rows alone where it has `inclusion`.
    label
        Column of the verdicts; null in rows that were not checked.
    score
        Column of the scores, of every row.
    by
        Columns of groups; the slope is shared and the groups add up to the total.
    inclusion
        Column of the probability with which each row was drawn (``tm.audits.plan`` gives it).
    stratum
        Columns within which the checked rows are a simple random sample; left out, they are one of all rows.
    value
        Column, such as turnover: the share of its sum is estimated instead of the share of rows.
    pos_label
        The positive label.
    estimator
        ``ppi`` (the default without strata), ``expansion`` (the default with strata), ``difference``, ``ratio`` or
        ``greg``.
    level
        Confidence level of the interval.
    where
        SQL condition on the rows of files.
    strict
        Raise guards as errors.

    Returns
    -------
    Prevalence or Prevalences
        The share and the count with their limits; by group with `by`.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 3, 10_000)
    >>> frame = pd.DataFrame({"p": p, "checked": (rng.random(10_000) < p).astype(float)})
    >>> frame.loc[400:, "checked"] = None
    >>> tm.audits.from_audit(frame, label="checked", score="p")
    audit: 0.0958 (0.0722 to 0.1240, 95 % mid_p), 958 (722 to 1240) of 10 000

    """
    confidence = checked_level(level)
    audit = read_audit(
        data,
        label=label,
        score=score,
        by=by,
        inclusion=inclusion,
        stratum=stratum,
        value=value,
        pos_label=pos_label,
        where=where,
    )
    answer = audited(audit, confidence, estimator, counted=value is None)
    emit(answer.warnings, strict=strict)
    return answer


def audited(
    audit: Audit, level: float, estimator: str | None = None, *, counted: bool = True
) -> Prevalence | Prevalences:
    """The estimate of an audit that was read; by group where it has groups."""
    work = prevalences_by_group if audit.groups else prevalence_of_all
    return work(audit, level, estimator, counted=counted)


def prevalence_of_all(audit: Audit, level: float, estimator: str | None = None, *, counted: bool = True) -> Prevalence:
    """The estimate of all rows together; the rows are `counted`, or the sum of a value."""
    strata = audit.strata()
    size = size_of(audit, strata, counted=counted)
    return prevalence_of(share(strata, audit_slope(audit, estimator)), size, level, counted=counted)


def prevalences_by_group(
    audit: Audit, level: float, estimator: str | None = None, *, counted: bool = True
) -> AuditPrevalences:
    """The estimates of the groups, with the slope of all rows."""
    slope = audit_slope(audit, estimator)
    entries, shares = {}, {}
    for key, rows in audit.groups:
        strata = audit.strata(rows)
        shares[key] = share(strata, slope)
        size = size_of(audit.part(rows), strata, counted=counted)
        entries[key] = prevalence_of(shares[key], size, level, counted=counted)
    return AuditPrevalences(audit.by, entries, shares=shares)


def audit_slope(audit: Audit, estimator: str | None) -> float:
    """The slope of the estimator over all rows; of the default one where None is named."""
    strata = audit.strata()
    return slope_of(strata, _default_estimator(audit, strata) if estimator is None else estimator)


def _default_estimator(audit: Audit, strata: Sequence[Stratum]) -> str:
    """The estimator that held its level in simulations: without strata the tuned one; strata by score have used the
    score already.
    """
    if len(strata) > 1 or not audit.listed:
        return "expansion"
    # Outside [0, 1] a slope has no natural bound.
    return "ppi" if audit.is_probability else "greg"


def size_of(audit: Audit, strata: Sequence[Stratum], *, counted: bool) -> float | int:
    """All rows, or the sum of their worth."""
    total = audit.n if counted else sum(s.size for s in strata)
    return int(total) if float(total).is_integer() else total


def prevalence_of(one: Share, n: float, level: float, *, counted: bool) -> Prevalence:
    """A share with its limits; where rows are counted, those that were checked are known."""
    details = {
        "checked": one.checked,
        "found": one.found,
        "slope": one.slope,
        "variance": one.variance,
        "standard_error": math.sqrt(one.variance) if one.variance >= 0.0 else math.nan,
    }
    if not n > 0.0:
        return Prevalence(
            method=METHOD, prevalence=math.nan, n=n, reason="the value is 0 in every row", details=details
        )
    if math.isnan(one.value):
        reason = (
            f"{one.checked} of its rows were checked, and at least two must be of every stratum; rows that could not "
            "be drawn (inclusion 0) leave nothing to be said of all"
        )
        return Prevalence(method=METHOD, prevalence=math.nan, n=n, reason=reason, details=details)
    low, high = one.limits(level)
    value = min(max(one.value, 0.0), 1.0)
    if counted:
        least, most = one.found / n, 1.0 - (one.checked - one.found) / n
        value, low, high = (min(max(end, least), most) for end in (value, low, high))
        details["estimated"] = value * n - one.found
    if one.spread > 0.0:
        # Rows a simple random sample without the score would need for this variance.
        share_of = min(max(one.value, 0.5 / one.checked), 1.0 - 0.5 / one.checked)
        plain = share_of * (1.0 - share_of)
        details["equivalent"] = plain / (one.spread + plain / n)
    return Prevalence(
        method=METHOD,
        prevalence=value,
        n=n,
        low=min(low, value),
        high=max(high, value),
        level=level,
        interval_method=one.interval_method,
        details=details,
        warnings=(*_one_sided(one), *_uneven(one)),
    )


def _one_sided(one: Share) -> tuple[Note, ...]:
    if one.complete or 0 < one.found < one.checked:
        return ()
    which = ("positive", "upper") if not one.found else ("negative", "lower")
    return (
        Note(
            "TM117",
            f"None of the {one.checked} checked rows is {which[0]}: only the {which[1]} limit of the share is a "
            "finding.",
        ),
    )


#: Weights are noted where (c - 1) ρ / m exceeds this, with c the checked rows per row that they count for (Kish), m the
#: rows that those of the rarer class count for, and ρ their mean weight as a multiple of that of all. Where the
#: positives are among the rows with the largest weights, limits were seen to miss the truth too often from there on.
_UNEVEN = 0.12


def _uneven(one: Share) -> tuple[Note, ...]:
    for s in one.strata:
        drawn = s.inclusion < 1.0
        weights, truth = s.mass[drawn], s.truth[drawn] > 0.0
        if not weights.any():
            continue
        rarer = min((truth, ~truth), key=np.count_nonzero)
        rows, few = _kish(weights), max(_kish(weights[rarer]), 1.0)
        heavier = float(weights[rarer].mean() / weights.mean()) if rarer.any() else 1.0
        if (len(weights) / rows - 1.0) * heavier > _UNEVEN * few:
            text = (
                f"The weights of {len(weights)} checked rows are so uneven that they count like {rows:.0f}, and those "
                f"of the rarer class like {few:.0f}: if that class is among the rows with the largest weights, the "
                "limits are too short. Check more rows of those that were least likely to be drawn."
            )
            return (Note("TM113", text),)
    return ()


def _kish(weights: Floats) -> float:
    """How many rows of equal weight these count for."""
    return float(weights.sum() ** 2 / (weights @ weights)) if weights.any() else 0.0
