"""Corrected differences of systems judged on the same items: every pair, with tests, limits and letters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.audits.class_estimates import AuditMeasure
from tallymark.audits.corrected_means import METHOD, CorrectedMean, Population, corrected_mean
from tallymark.comparison.compare import Margins, pairs_of
from tallymark.comparison.of_outcomes import OutcomeComparison
from tallymark.errors import Undefined
from tallymark.inference.interval import Interval
from tallymark.raters.verdicts import Verdicts


def compared(
    systems: Mapping[str, Verdicts], margins: Margins, population: Population, level: float
) -> tuple[OutcomeComparison | None, str | None]:
    """Every pair of systems; or None, and why they cannot be compared."""
    low, high = (pick(one.range[end] for one in systems.values()) for end, pick in ((0, min), (1, max)))
    try:
        differences = {
            (first, second): difference(one, other, (low, high), population).difference()
            for (first, one), (second, other) in itertools.combinations(systems.items(), 2)
        }
        rates = {}
        for name, one in systems.items():
            mean = corrected_mean(one.human, one.judged, one.labelled, (low, high), one.design(), population)
            rates[name] = Interval(mean.value, *mean.limits(level), METHOD, level)
    except Undefined as undefined:
        return None, undefined.reason
    first = next(iter(systems.values()))
    comparison = OutcomeComparison(
        metric="corrected_mean",
        values={name: rate.value for name, rate in rates.items()},
        pairs=pairs_of("higher", high - low, differences, level, margins, float(first.labelled.sum())),
        level=level,
        n=len(first.judged),
        positives=0,
        equivalence=margins.equivalence,
        sampling="plain" if first.cluster is None else "clusters",
        rates=rates,
    )
    return comparison, None


def difference(first: Verdicts, second: Verdicts, ends: tuple[float, float], population: Population) -> CorrectedMean:
    """Corrected difference of two systems, first less second.

    Of the items labelled for both; where those labelled for one only are more, of the two corrected means.
    """
    both = first.labelled & second.labelled
    if both.sum() >= (first.labelled ^ second.labelled).sum():
        span = ends[1] - ends[0]
        paired = replace(
            first, judged=first.judged - second.judged, human=first.human - second.human, labelled=both, classes=()
        )
        return corrected_mean(paired.human, paired.judged, both, (-span, span), paired.design(), population)
    one, other = (
        corrected_mean(part.human, part.judged, part.labelled, ends, part.design(), population)
        for part in (first, second)
    )
    return one.less(other, covariance(first, second, one, other, population))


def covariance(
    first: Verdicts, second: Verdicts, one: CorrectedMean, other: CorrectedMean, population: Population
) -> float:
    r"""Covariance of two corrected means of the same items, of which other ones were labelled.

    A corrected mean is :math:`\lambda\bar j + \bar r` with the residuals :math:`r = h - \lambda j` of its labelled
    items. Residuals of two systems vary together by the items (clusters) labelled for both; as a sample of a population
    so do the judge's mean verdicts, and each of these with the other system's residuals.
    """
    units = np.arange(len(first.judged)) if first.cluster is None else first.cluster
    parts = [_contributions(part, mean.slope, units) for part, mean in ((first, one), (second, other))]
    (r, j), (s, k) = parts
    both = int((first.labelled & second.labelled).sum())
    if population == "items":
        return float(r @ s + j @ k + j @ s + r @ k)
    # Of these items alone, items that were labelled for both by chance do not make the means vary together.
    chance = first.labelled.sum() * second.labelled.sum() / (len(units) * max(both, 1))
    return float(r @ s) * max(1.0 - float(chance), 0.0)


def _contributions(part: Verdicts, slope: float, units: Ints) -> tuple[Floats, Floats]:
    """What each item or cluster adds to the mean residual and to the judge's mean verdict, less what is expected."""
    weight = np.zeros(len(part.judged))
    weight[part.labelled] = part.design().weight
    weight /= weight.sum()
    residual = np.where(part.labelled, part.human, 0.0) - slope * part.judged
    centred = weight * (residual - float(weight @ residual))
    judged = slope * (part.judged - part.judged.mean()) / len(part.judged)
    return np.bincount(units, centred).astype(np.float64), np.bincount(units, judged).astype(np.float64)


def difference_of(comparison: OutcomeComparison | None, reason: str | None) -> AuditMeasure:
    """The one pair of a comparison of two systems."""
    if comparison is None:
        return AuditMeasure(name="difference", value=math.nan, reason=reason)
    (pair,) = comparison.pairs
    return AuditMeasure(
        name="difference",
        value=pair.difference,
        low=float(np.minimum(pair.low, pair.difference)),
        high=float(np.maximum(pair.high, pair.difference)),
        standard_error=pair.error,
        interval_method=pair.method,
        level=pair.level,
        parameters={"p_value": pair.p_value},
    )
