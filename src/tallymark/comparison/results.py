"""Results of a paired comparison: every pair, and all of them together."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tallymark import _check
from tallymark._display import Limited, Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark._numbers import number
from tallymark.comparison.letters import alike
from tallymark.errors import InputError, UnknownNameError, shown
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.scales import critical_value, normal_quantile
from tallymark.measures import SAMPLED
from tallymark.notes import Note
from tallymark.registry import METRICS

#: The verdict where a class has fewer rows than tests and intervals need to reach their nominal level.
_TOO_FEW = "too few rows of a class to tell"


@dataclass(frozen=True)
class Pair(Limited):
    """The difference between two models: first less second."""

    first: str
    second: str
    difference: float
    error: float
    low: float
    high: float
    p_value: float
    #: p-value corrected for the number of pairs (Holm).
    p_holm: float
    verdict: str
    method: str
    #: Level of the limits: that of the comparison, or the stricter one at which Holm's correction tests this pair.
    level: float
    #: p-value of the two one-sided tests of equivalence, corrected likewise; None without a margin.
    p_equivalence: float | None = None
    #: Models that are shown to be not worse than the other by more than the margin of non-inferiority.
    not_worse: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The difference."""
        return self.difference

    @property
    def interval_method(self) -> str:
        """How the limits were computed."""
        return self.method


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Paired comparison of models by one metric, as :func:`tallymark.compare` returns it.

    p-values, verdicts and limits of several pairs are corrected together (Holm), so that limits without 0 and "is
    better" always go together. With fewer than ten rows of a class no model is called better, whatever the p-value.

    Parameters
    ----------
    metric
        Name of the metric.
    values
        The metric of each model.
    pairs
        Every pair; with two models `difference`, `low`, `high` and `p_value` are its own.
    level
        Confidence level.
    n, positives
        Number of rows, and of positives.
    equivalence
        The margin of the equivalence tests.
    thresholds
        Threshold of each model, for metrics of a confusion matrix.
    sampling
        What is taken as drawn at random: all rows (plain), rows of each class (stratified), or clusters of rows.
    parameters
        Parameters of the metric, such as costs.
    warnings
        Notes on the data.
    policy
        The policy that chose the thresholds anew in every resample; None where they are numbers.
    """

    metric: str
    values: Mapping[str, float]
    pairs: tuple[Pair, ...]
    level: float
    n: int
    positives: int
    equivalence: float | None = None
    thresholds: Mapping[str, float] | None = None
    sampling: str = "plain"
    parameters: Mapping[str, float] | None = None
    warnings: tuple[Note, ...] = ()
    policy: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", FrozenDict(self.values))
        if self.too_few:
            object.__setattr__(self, "pairs", tuple(map(self._doubted, self.pairs)))

    def _doubted(self, pair: Pair) -> Pair:
        """The pair without a claim in its verdict."""
        claims = pair.p_holm < 1.0 - self.level or "equivalent" in pair.verdict or pair.not_worse
        return replace(pair, verdict=_TOO_FEW, not_worse=()) if claims else pair

    @property
    def too_few(self) -> bool:
        """Whether a class has so few rows that no model is called better."""
        return min(self.positives, self.n - self.positives) < FEW_ROWS

    def __getitem__(self, models: tuple[str, str]) -> Pair:
        for pair in self.pairs:
            if (pair.first, pair.second) == models:
                return pair
            if (pair.second, pair.first) == models:
                raise UnknownNameError(f"{models!r} was compared the other way round: {models[::-1]!r}.")
        raise UnknownNameError(f"No pair {models!r}; there are {shown([(p.first, p.second) for p in self.pairs])}.")

    @property
    def difference(self) -> float:
        """First model less second."""
        return self._only.difference

    @property
    def low(self) -> float:
        """Lower limit of the difference."""
        return self._only.low

    @property
    def high(self) -> float:
        """Upper limit of the difference."""
        return self._only.high

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference."""
        return self._only.p_value

    @property
    def verdict(self) -> str:
        """The conclusion in words."""
        return self._only.verdict

    @property
    def table(self) -> list[Row]:
        """One line per pair."""
        return self.rows()

    @property
    def ranked(self) -> tuple[str, ...]:
        """The models, the best value first; where neither direction is better, the highest."""
        lower = METRICS[self.metric].better == "lower"
        return tuple(sorted(self.values, key=lambda model: self.values[model] if lower else -self.values[model]))

    @property
    def best(self) -> str | None:
        """The model that is shown to be better than every other one, if there is one."""
        first = self.ranked[0]
        if METRICS[self.metric].better not in {"higher", "lower"}:
            return None
        return first if all(self.told_apart(first, other) for other in self.ranked[1:]) else None

    def told_apart(self, one: str, other: str) -> bool:
        """Whether a difference between two models is shown, corrected for all pairs (Holm)."""
        pair = next(pair for pair in self.pairs if {pair.first, pair.second} == {one, other})
        return not self.too_few and pair.p_holm < 1.0 - self.level

    @property
    def alike(self) -> tuple[tuple[str, ...], ...]:
        """Maximal sets of models without a shown difference, those with the best models first; they may overlap."""
        return alike(self.ranked, self.told_apart)

    @property
    def letters(self) -> dict[str, str]:
        """Compact letter display: models that share a letter have no shown difference."""
        sets = self.alike
        return {
            model: "".join(letter for letter, members in zip(_letters(), sets, strict=False) if model in members)
            for model in self.ranked
        }

    def power(self, difference: float, *, pair: tuple[str, str] | None = None) -> float:
        """Power: the chance that data like this shows a true difference of this size, at the comparison's level.

        Parameters
        ----------
        difference
            The true difference.
        pair
            Names of two models; needed with more than two.
        """
        from scipy.special import ndtr

        ratio = abs(_check.real(difference, "difference")) / self._error(pair)
        z = critical_value(self.level)
        return float(ndtr(ratio - z) + ndtr(-ratio - z))

    def sample_size(
        self, difference: float, *, power: float = 0.8, pair: tuple[str, str] | None = None
    ) -> dict[str, int]:
        """Rows and positives like these that show a true difference of this size with the given power.

        The variance of a pilot is itself uncertain: `positives_low` and `positives_high` are a 90 % interval, if
        differences of influence are normal. Near an AUROC of 1, where MOVER's limits are wider than the standard error
        says, more rows are needed (:func:`tallymark.sample_size`).

        Parameters
        ----------
        difference
            The true difference.
        power
            The chance to show it.
        pair
            Names of two models; needed with more than two.

        Returns
        -------
        dict
            Numbers of rows by name: `n`, `positives`, `positives_low`, `positives_high`.
        """
        from scipy.special import chdtri

        factor = self._growth(difference, power, pair)
        fewest = min(self.positives, self.n - self.positives)
        low, high = (float(chdtri(fewest - 1, tail)) / (fewest - 1) for tail in (0.95, 0.05))
        sizes = {"n": self.n, "positives": self.positives, "positives_low": low * self.positives}
        return {
            name: math.ceil(size * factor) for name, size in (sizes | {"positives_high": high * self.positives}).items()
        }

    def _growth(self, difference: float, power: float, pair: tuple[str, str] | None) -> float:
        """How many times as many rows show a true difference of this size."""
        gap = abs(_check.real(difference, "difference"))
        if not gap or not 0.0 < _check.real(power, "power") < 1.0:
            raise InputError("sample_size needs a difference other than 0 and a power between 0 and 1.")
        z = critical_value(self.level) + normal_quantile(power)
        return float((z * self._error(pair) / gap) ** 2)

    def _error(self, models: tuple[str, str] | None) -> float:
        pair = self._only if models is None else self[models]
        if not pair.error > 0.0:
            raise InputError("The two models do not differ on any row, so nothing can be planned from them.")
        return pair.error

    @property
    def _only(self) -> Pair:
        if len(self.pairs) != 1:
            raise InputError(
                f"{len(self.pairs)} pairs were compared; take one: comparison['a', 'b'] (or pair=('a', 'b')), "
                "or .table for all."
            )
        return self.pairs[0]

    def heading(self) -> str:
        """The models' values."""
        values = ", ".join(f"{model} {number(float(value))}" for model, value in self.values.items())
        return f"{self.metric} on the same {self.n} rows ({self.positives} positive){self.conditions}: {values}"

    @property
    def conditions(self) -> str:
        """The assumptions of the limits and p-values, in words."""
        sizes = SAMPLED[self.sampling]
        costs = "".join(f", {name} {number(value)}" for name, value in (self.parameters or {}).items())
        return f"{costs}, {sizes}{f', {self.choice}' if self.choice else ''}"

    @property
    def choice(self) -> str:
        """Whether the limits and p-values include the choice of the thresholds, in words; empty without thresholds."""
        if self.policy is not None:
            return f"thresholds chosen by {self.policy} anew in every resample"
        return "thresholds held fixed" if self.thresholds else ""

    def rows(self) -> list[Row]:
        """One line per pair; the corrected p-value where there are several."""
        left_out = {"error", "level"} if len(self.pairs) > 1 else {"error", "level", "p_holm"}
        left_out |= {"p_equivalence"} if self.equivalence is None else set()
        left_out |= {"not_worse"}
        return [{name: value for name, value in vars(pair).items() if name not in left_out} for pair in self.pairs]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as ``tallymark compare --json`` prints them."""
        return {
            "metric": self.metric,
            "level": self.level,
            "n": self.n,
            "positives": self.positives,
            "equivalence": self.equivalence,
            "sampling": self.sampling,
            "parameters": plain(dict(self.parameters or {})),
            "thresholds": None if self.thresholds is None else plain(dict(self.thresholds)),
            "policy": self.policy,
            "values": plain(dict(self.values)),
            "letters": self.letters,
            "pairs": plain([vars(pair) for pair in self.pairs]),
        }


def _letters() -> Iterator[str]:
    """A to z, then aa, ab, …"""
    return (
        "".join(letters)
        for length in itertools.count(1)
        for letters in itertools.product(string.ascii_lowercase, repeat=length)
    )
