"""Test of heterogeneity: does a metric differ between groups?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark._numbers import equals_p, number
from tallymark.errors import InputError
from tallymark.inference.scales import critical_value
from tallymark.measures import Evaluation, Measure
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import BinaryConfusion

#: Rows above which the variance of Pearson's statistic is defined.
_LEAST_ROWS = 3

#: Fewest positives and negatives of a group that is tested: limits of fewer rows are too rough.
FEWEST = 10


@dataclass(frozen=True, eq=False, repr=False)
class Heterogeneity(Shown):
    """Cochran's Q of a metric over groups; of a proportion Pearson's chi-square.

    Parameters
    ----------
    metric
        Name of the metric.
    q, freedom, p_value
        The statistic, its degrees of freedom and p-value.
    common
        The value that fits all groups best.
    groups
        The groups tested.
    left_out
        Groups with too few rows of a class, or without an interval.
    """

    metric: str
    q: float
    freedom: int
    p_value: float
    common: float
    groups: tuple[str, ...]
    left_out: tuple[str, ...]

    def heading(self) -> str:
        """The test in a line."""
        test = f"Q = {number(self.q)} on {self.freedom} degrees of freedom, {equals_p(self.p_value)}"
        return f"{self.metric} over {len(self.groups)} groups: {test}"

    def rows(self) -> list[Row]:
        """One line."""
        return [self.to_dict()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "metric": self.metric,
            "q": self.q,
            "freedom": self.freedom,
            "p_value": self.p_value,
            "common": self.common,
            "groups": len(self.groups),
            "left_out": len(self.left_out),
        }


def heterogeneity(evaluations: Mapping[Any, Evaluation], metric: str = "auroc") -> Heterogeneity:
    r"""Test that a metric is the same in every group.

    A proportion (recall, precision, accuracy) at a given threshold is tested by Pearson's :math:`\chi^2` of hits and
    misses by group, with the exact mean and variance of the statistic given the margins (Dawson 1954, Biometrika 41).
    Any other metric is tested by Cochran's :math:`Q = \min_\mu \sum_g \left((m_g - \mu) / s_g\right)^2`, where
    :math:`s_g` is the distance of the group's limit on the side of :math:`\mu`, divided by the normal quantile of the
    level. Groups with fewer than ten rows of a class are left out. Cochran (1954), Biometrics 10(1); sides as in MOVER,
    Zou & Donner (2008), Stat. Med. 27(10).

    Parameters
    ----------
    evaluations
        Evaluations by group.
    metric
        Name of the metric.

    Returns
    -------
    Heterogeneity

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y, region = rng.random(3000) < 0.2, np.repeat(["east", "north", "west"], 1000)
    >>> frame = pd.DataFrame({"y": y, "region": region, "p": rng.normal(y * np.where(region == "west", 0.5, 2.0))})
    >>> groups = tm.tally(frame, label="y", score="p", by="region")
    >>> test = tm.intervals.heterogeneity(tm.evaluate(groups, metrics=["auroc"]))
    >>> test.freedom, test.p_value < 0.001
    (2, True)
    """
    if not isinstance(evaluations, Mapping):
        raise InputError(
            f"heterogeneity takes evaluations by group, got {type(evaluations).__name__}. "
            'Write tm.evaluate(tm.tally(frame, label="y", score="p", by="region")).'
        )
    facts = METRICS[metric]
    kept: dict[str, Measure] = {}
    tables: list[tuple[float, float] | None] = []
    left_out = []
    for key, one in evaluations.items():
        if not isinstance(one, Evaluation):
            raise InputError(
                f"heterogeneity takes evaluations by group, and that of {key!r} is a {type(one).__name__}."
            )
        name = ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        if facts.name in one and _enough(one) and _limited(one[facts.name]):
            kept[name] = one[facts.name]
            tables.append(_hits_and_misses(one, facts))
        else:
            left_out.append(name)
    if len(kept) < 2:
        raise InputError(
            f"heterogeneity needs two groups with {FEWEST} rows of each class and an interval of {facts.name}; "
            f"there {'is' if len(kept) == 1 else 'are'} {len(kept) or 'none'}."
        )
    from scipy.special import chdtrc

    freedom = len(kept) - 1
    counted = [table for table in tables if table is not None]
    if len(counted) == len(kept):
        q, p_value, common = pearson(np.array(counted))
    else:
        q, common = least_distance(kept.values())
        p_value = float(chdtrc(freedom, q))
    return Heterogeneity(facts.name, q, freedom, p_value, common, tuple(kept), tuple(left_out))


def _hits_and_misses(one: Evaluation, facts: Metric) -> tuple[float, float] | None:
    """Hits and misses of a proportion of independent rows at a fixed threshold; None of other metrics."""
    matrix = one.confusion
    if facts.proportion is None or not isinstance(matrix, BinaryConfusion):
        return None
    if one.policy is not None or one.sampling == "clusters" or matrix.squares is not None or matrix.prior is not None:
        return None
    cells = {"tp": matrix.tp, "fp": matrix.fp, "fn": matrix.fn, "tn": matrix.tn}
    hits, misses = (float(sum(cells[name] for name in side)) for side in facts.proportion)
    return hits, misses


def pearson(table: Floats) -> tuple[float, float, float]:
    """Pearson's statistic of hits and misses (columns) by group, its p-value and the share of hits.

    Its distribution given the margins is matched by a multiple of chi-square in mean and variance, which holds where
    few hits or misses are expected too. Dawson (1954), Biometrika 41.
    """
    from scipy.special import chdtrc

    n, groups, both = float(table.sum()), table.sum(axis=1), table.sum(axis=0)
    share = float(both[0]) / n
    if both.min() == 0.0 or n <= _LEAST_ROWS:
        return 0.0, 1.0, share
    expected = groups[:, None] * both[None, :] / n
    q = float(((table - expected) ** 2 / expected).sum())
    mean, variance = moments_given_margins(groups, both)
    return q, float(chdtrc(2 * mean**2 / variance, 2 * mean * q / variance)), share


def moments_given_margins(first: Floats, second: Floats) -> tuple[float, float]:
    """Mean and variance of Pearson's statistic of a table with these margins, where they are independent."""
    n = float(first.sum())
    (a, spread_a), (b, spread_b) = (
        ((len(sums) - 1) * (n - len(sums)) / (n - 1), (n * (1.0 / sums).sum() - len(sums) ** 2) / (n - 2))
        for sums in (first, second)
    )
    mean = n * (len(first) - 1) * (len(second) - 1) / (n - 1)
    return mean, float(2 * n / (n - 3) * (a - spread_a) * (b - spread_b) + n**2 / (n - 1) * spread_a * spread_b)


def _enough(one: Evaluation) -> bool:
    """Whether both classes have enough rows."""
    return one.fewest >= FEWEST


def _limited(measure: Measure) -> bool:
    ends = measure.interval
    return measure.reason is None and ends is not None and ends[0] < ends[1]


def least_distance(measures: Iterable[Measure]) -> tuple[float, float]:
    """Cochran's Q and the value at which it is least."""
    listed = sorted(measures, key=lambda measure: measure.value)
    value = np.array([m.value for m in listed])
    z = np.array([critical_value(m.level or 0.95) for m in listed])
    # A value at the end of its range has one limit only, which is used for both sides.
    low, high = (np.array(ends, dtype=np.float64) for ends in ([m.low for m in listed], [m.high for m in listed]))
    below, above = (value - low) / z, (high - value) / z
    below, above = np.where(below > 0.0, below, above), np.where(above > 0.0, above, below)
    best = (np.inf, np.nan)
    # Between two neighbouring values Q is one parabola: its lowest point, or the end nearer to it.
    for i in range(len(value)):
        weights: Floats = np.where(np.arange(len(value)) <= i, above, below) ** -2.0
        low, high = value[i], value[min(i + 1, len(value) - 1)]
        at = float(np.clip(np.average(value, weights=weights), low, high))
        best = min(best, (float((weights * (value - at) ** 2).sum()), at))
    return best
