"""Comparison of outcomes of systems on the same items: paired differences of pass rates and of mean grades."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark._display import plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import number
from tallymark.comparison.results import Comparison
from tallymark.inference.hypothesis_tests.difference import Difference, no_disagreement, student_difference
from tallymark.inference.hypothesis_tests.mcnemar import mcnemar
from tallymark.inference.interval import Interval
from tallymark.inference.limits.outcome_means import group_error
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.resampling.parallel import Resampling
from tallymark.inference.scales import NO_SPREAD
from tallymark.summaries.outcomes import Outcomes

#: Groups that are drawn at a time.
_BLOCK = 4_000_000


@dataclass(frozen=True, eq=False, repr=False)
class OutcomeComparison(Comparison):
    """Paired comparison of outcomes without true labels; `rates` has each system's mean with its interval."""

    rates: Mapping[str, Interval] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rates", FrozenDict(self.rates))

    @property
    def too_few(self) -> bool:
        """False: the tests of outcomes hold with few rows."""
        return False

    @property
    def ranked(self) -> tuple[str, ...]:
        """The systems, the highest mean first."""
        return tuple(sorted(self.values, key=lambda system: -self.values[system]))

    @property
    def best(self) -> str | None:
        """The system that is shown to be better than every other one, if there is one."""
        first = self.ranked[0]
        return first if all(self.told_apart(first, other) for other in self.ranked[1:]) else None

    def sample_size(
        self, difference: float, *, power: float = 0.8, pair: tuple[str, str] | None = None
    ) -> dict[str, int]:
        """Rows like these that show a true difference of this size with the given power.

        Parameters
        ----------
        difference
            The true difference.
        power
            The chance to show it.
        pair
            Names of two systems; needed with more than two.

        Returns
        -------
        dict
            The number of rows, `n`.
        """
        return {"n": math.ceil(self.n * self._growth(difference, power, pair))}

    def heading(self) -> str:
        """The systems' means with their limits."""
        rates = ", ".join(
            f"{name} {number(one.value)} ({number(one.low)} to {number(one.high)})" for name, one in self.rates.items()
        )
        return f"{self.metric} on the same {self.n} rows{self.conditions}: {rates}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``tallymark compare --outcome --json`` prints them."""
        entries = super().to_dict()
        for name in ("positives", "thresholds", "policy", "parameters"):
            del entries[name]
        return entries | {"rates": plain({name: rate.to_dict() for name, rate in self.rates.items()})}


def outcome_differences(
    outcomes: Outcomes, method: str | None, kind: Literal["exact", "mid_p"], resampling: Resampling
) -> dict[tuple[str, str], Difference]:
    """The difference of every pair: McNemar's test of 0 and 1, Student's of grades and of groups, or resampled."""
    differences = {}
    for (i, first), (j, second) in itertools.combinations(enumerate(outcomes.systems), 2):
        a, b = outcomes.values[:, i], outcomes.values[:, j]
        if outcomes.binary and outcomes.independent and method in {None, "mcnemar"}:
            differences[first, second] = mcnemar(a == 1.0, b == 1.0, np.ones(len(a), dtype=np.int64), kind)
            continue
        name = "paired t" if outcomes.independent else "paired t of clusters"
        gap = a - b
        error, freedom = group_error(gap, outcomes)
        span = float(np.ptp(outcomes.values)) or 1.0
        if not gap.any():
            differences[first, second] = no_disagreement(span, freedom + 1.0, name)
        elif error <= NO_SPREAD * abs(float(gap.mean())):
            differences[first, second] = _constant(float(gap.mean()), span, freedom + 1.0, name)
        elif method == "bootstrap":
            differences[first, second] = _resampled(gap, error, outcomes, resampling)
        else:
            differences[first, second] = student_difference(float(gap.mean()), error, name, freedom)
    return differences


def _resampled(gap: Floats, error: float, outcomes: Outcomes, resampling: Resampling) -> Difference:
    """Percentile limits of a mean difference over resamples of the independent groups of rows."""
    sums, sizes = np.bincount(outcomes.group, gap), np.bincount(outcomes.group)
    groups = len(sums)

    def block(number: int, seed: np.random.SeedSequence) -> Floats:
        chosen = np.random.default_rng(seed).integers(groups, size=(number, groups))
        return np.asarray(sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))

    drawn = np.concatenate(resampling.blocks(block, max(1, _BLOCK // groups)))
    fewer = min(np.count_nonzero(drawn <= 0.0), np.count_nonzero(drawn >= 0.0))
    p = min(1.0, 2.0 * (fewer + 1.0) / (len(drawn) + 1.0))

    def limits(level: float) -> tuple[float, float]:
        low, high = np.quantile(drawn, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        return float(low), float(high)

    return Difference(float(gap.mean()), error, p, "bootstrap", limits)


def _constant(difference: float, span: float, groups: float, method: str) -> Difference:
    """A difference that every group shows: a share of groups that were not seen may yet show any other."""

    def limits(level: float) -> tuple[float, float]:
        other = unseen(level, groups)
        return difference - other * (span + difference), difference + other * (span - difference)

    # The sign test: all groups on one side.
    return Difference(difference, 0.0, 2.0 ** (1.0 - groups), method, limits)
