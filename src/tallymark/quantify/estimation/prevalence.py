"""Results of quantification: a prevalence and a count with limits, of one sample or of many groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tallymark._cells import Written
from tallymark._check import Floats
from tallymark._display import Limited, Row, Shown, plain
from tallymark._mappings import FrozenDict, Keyed
from tallymark._numbers import number, share_of_rows, with_limits
from tallymark._periods import in_order
from tallymark.errors import InputError, Undefined
from tallymark.inference.interval import Interval, checked_level
from tallymark.notes import Note

#: Keys of groups that are added up.
Keys = tuple[tuple[Any, ...], ...]


#: What tables write in the column of a key that is summed over: the groups' estimates are added up, and the limits are
#: those of the sum, not of an estimate from all rows at once.
SUM_OF_GROUPS = "(sum of groups)"


@dataclass(frozen=True, kw_only=True, repr=False)
class Prevalence(Shown, Limited):
    """The estimated share of positives in a target sample, and how many that makes.

    `n` is the number of the target's rows (or weight), or of its population; `low`, `high` and `interval_method`
    describe the confidence interval at `level` (None where there is none), `details` intermediate values of the method,
    and `reason` why there is no estimate.
    """

    method: str
    prevalence: float
    n: float | int
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval_method: str | None = None
    reason: str | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", FrozenDict(self.details))

    @property
    def value(self) -> float:
        """The prevalence."""
        return self.prevalence

    def __float__(self) -> float:
        return self.prevalence

    def __format__(self, spec: str) -> str:
        return format(self.prevalence, spec) if spec else repr(self)

    @property
    def count(self) -> float:
        """How many positives there are."""
        return self.prevalence * self.n

    @property
    def count_low(self) -> float | None:
        """Lower limit of the count."""
        return None if self.low is None else self.low * self.n

    @property
    def count_high(self) -> float | None:
        """Upper limit of the count."""
        return None if self.high is None else self.high * self.n

    @property
    def written(self) -> str:
        """The share with its limits, for a table."""
        low, high = (None if end is None else share_of_rows(end, self.n) for end in (self.low, self.high))
        return Written(
            with_limits(share_of_rows(self.prevalence, self.n), low, high), self.prevalence, self.low, self.high
        )

    def __repr__(self) -> str:
        if self.reason is not None:
            return f"{self.method}: no estimate, {self.reason}"
        limits = counts = ""
        if self.low is not None and self.high is not None and self.level is not None:
            low, high = (number(share_of_rows(end, self.n)) for end in (self.low, self.high))
            limits = f" ({low} to {high}, {100 * self.level:g} % {self.interval_method})"
            counts = f" ({self.low * self.n:.0f} to {self.high * self.n:.0f})"
        share = number(share_of_rows(self.prevalence, self.n))
        return f"{self.method}: {share}{limits}, {self.count:.0f}{counts} of {number(self.n)}"

    def heading(self) -> str:
        """The estimate."""
        return repr(self)

    def rows(self) -> list[Row]:
        """One line."""
        row: dict[str, Any] = {"method": self.method, "prevalence": self.prevalence, "low": self.low, "high": self.high}
        row |= {"count": self.count, "count_low": self.count_low, "count_high": self.count_high, "n": self.n}
        used = {name: value for name, value in row.items() if value is not None}
        return [used | ({"reason": self.reason} if self.reason else {})]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        names = (
            "method",
            "prevalence",
            "low",
            "high",
            "count",
            "count_low",
            "count_high",
            "n",
            "level",
            "interval_method",
        )
        return {name: plain(getattr(self, name)) for name in names} | {
            "reason": self.reason,
            "details": plain(self.details),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Prevalences(Shown, Keyed[Prevalence]):
    """Estimates by group, from one validation sample; `replicates` holds each group's resampled shares.

    All groups share the validation sample, so their errors go together; `total` and `growth` take that into account.
    """

    what: ClassVar[str] = "estimate"

    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], Prevalence]
    replicates: Mapping[tuple[Any, ...], Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("entries", "replicates"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    @property
    def warnings(self) -> tuple[Note, ...]:
        """What the groups' estimates warn of, each once."""
        return tuple(dict.fromkeys(note for entry in self.entries.values() for note in entry.warnings))

    @property
    def total(self) -> Prevalence:
        """All groups together: the counts add up, the interval knows that the groups share their validation sample."""
        return self._sum(tuple(self.entries))

    def over(self, *names: str) -> Prevalences:
        """Estimates by fewer keys, adding up the groups that agree in them."""
        for name in names:
            if name not in self.names:
                raise InputError(f"No key {name!r}; the estimates are by {', '.join(self.names)}.")
        places = [self.names.index(name) for name in names]
        groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for key in self.entries:
            groups.setdefault(tuple(key[place] for place in places), []).append(key)
        return self._regrouped(names, {group: tuple(keys) for group, keys in groups.items()})

    def _regrouped(self, names: tuple[str, ...], groups: Mapping[tuple[Any, ...], Keys]) -> Prevalences:
        """Estimates under new keys, each the sum of those under old ones."""
        return Prevalences(
            names,
            {group: self._sum(keys) for group, keys in groups.items()},
            {group: self._drawn(keys) for group, keys in groups.items()} if self.replicates else {},
        )

    def subtotals(self) -> dict[str, Prevalences]:
        """Estimates by each key alone, where there are several."""
        return {name: self.over(name) for name in self.names} if len(self.names) > 1 else {}

    def growths(self, along: str, order: Sequence[Any] | None = None) -> list[dict[str, Any]]:
        """Growth from each period to the next: within every group of the other keys, and of all together.

        `along` is the key that holds the periods; `order` lists them where their order in time cannot be read off them.

        One line each: the group (None for all together), from, to, and the growth with its limits, or why there is
        none.
        """
        if along not in self.names:
            raise InputError(f"No key {along!r}; the estimates are by {', '.join(self.names)}.")
        others = [name for name in self.names if name != along]
        times = in_order([key[self.names.index(along)] for key in self.entries], along, order)
        lines = self._growths(self.over(along), times, None)
        if others:
            groups: dict[tuple[Any, ...], dict[tuple[Any, ...], Keys]] = {}
            place = self.names.index(along)
            for key in self.entries:
                groups.setdefault(key[:place] + key[place + 1 :], {})[key[place],] = (key,)
            for group, keys in groups.items():
                lines += self._growths(self._regrouped((along,), keys), times, dict(zip(others, group, strict=True)))
        return lines

    @staticmethod
    def _growths(by: Prevalences, times: Sequence[Any], group: dict[str, Any] | None) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for first, second in itertools.pairwise(time for time in times if time in by):
            line: dict[str, Any] = {"group": group, "from": first, "to": second}
            try:
                items = by.growth(first, second)
            except Undefined as error:
                lines.append(line | {"growth": None, "low": None, "high": None, "reason": error.reason})
            else:
                lines.append(line | {"growth": items.value, "low": items.low, "high": items.high, "reason": None})
        return lines

    def growth(self, first: Any, second: Any, *, level: float | None = None) -> Interval:
        """Growth rate of the count from one group to another, count(second) / count(first) - 1, with its interval.

        Both share the validation sample, so most of its error cancels. The upper limit is infinite where the first
        group may have no positives (less than half a row, and fewer than one in a thousand).
        """
        start, end = self[first], self[second]
        keys = [key if isinstance(key, tuple) else (key,) for key in (first, second)]
        confidence = checked_level(start.level or 0.95 if level is None else level)
        if none_to_grow_from(start.prevalence, start.n):
            raise Undefined(f"{first} has no positives to grow from")
        value = end.count / start.count - 1.0
        if not self.replicates:
            raise InputError("Growth rates need the resamples behind an interval; estimate with a level.")
        with np.errstate(divide="ignore", invalid="ignore"):
            base = np.where(
                none_to_grow_from(self.replicates[keys[0]], start.n), 0.0, self.replicates[keys[0]] * start.n
            )
            drawn = self.replicates[keys[1]] * end.n / base - 1.0
        low, high = quantiles(drawn, confidence)
        return Interval(value, min(low, value), max(high, value), "bootstrap", confidence)

    def heading(self) -> str:
        """How many, by what."""
        method = next((entry.method for entry in self.entries.values()), "no")
        return f"{len(self)} {method} estimates by {', '.join(self.names)}"

    def rows(self) -> list[Row]:
        """One line per group, and their total."""
        lines: list[Row] = [
            dict(zip(self.names, map(str, key), strict=True)) | dict(entry.rows()[0])
            for key, entry in self.entries.items()
        ]
        total = self.total
        return [*lines, dict.fromkeys(self.names, "all") | dict(total.rows()[0])]

    def to_dict(self) -> dict[str, Any]:
        """Every group's estimate and the total's."""
        listed = [
            {"group": dict(zip(self.names, plain(key), strict=True)), **entry.to_dict()}
            for key, entry in self.entries.items()
        ]
        return {"estimates": listed, "total": self.total.to_dict()}

    def _drawn(self, keys: Keys) -> Floats:
        sizes = np.array([self.entries[key].n for key in keys], dtype=np.float64)
        drawn = np.stack([self.replicates[key] for key in keys])
        values: Floats = (drawn * sizes[:, None]).sum(axis=0) / sizes.sum()
        return values

    def _sum(self, keys: Keys) -> Prevalence:
        parts = [self.entries[key] for key in keys]
        n = sum(part.n for part in parts)
        first = parts[0]
        missing = next((part.reason for part in parts if part.reason is not None), None)
        share = sum(part.count for part in parts) / n
        if missing is not None or not self.replicates or first.level is None:
            return Prevalence(method=first.method, prevalence=share, n=n, reason=missing)
        low, high = quantiles(self._drawn(keys), first.level)
        if not high > low:
            # Every resample was cut at the same end; the groups' own limits know better.
            low, high = _limits_of_sum(share, parts, n)
        return Prevalence(
            method=first.method,
            prevalence=share,
            n=n,
            low=min(low, share),
            high=max(high, share),
            level=first.level,
            interval_method="bootstrap",
        )


def _limits_of_sum(share: float, parts: Iterable[Prevalence], n: float) -> tuple[float, float]:
    """Limits of a sum from those of its parts, whose distances add up as errors do."""
    terms = [
        (part.n / n, part.prevalence, part.low, part.high)
        for part in parts
        if part.low is not None and part.high is not None
    ]
    below = math.hypot(*(weight * (value - low) for weight, value, low, _ in terms))
    above = math.hypot(*(weight * (high - value) for weight, value, _, high in terms))
    return max(0.0, share - below), min(1.0, share + above)


#: A group with less than half a positive, and one in a thousand rows, has none to grow from.
_NO_ROW, _NO_SHARE = 0.5, 1e-3


def none_to_grow_from(share: Any, n: float) -> Any:
    """Whether a share of n rows is so small that a growth from it says nothing."""
    return np.logical_not(np.greater(share, 0.0)) | (np.less(share * n, _NO_ROW) & np.less(share, _NO_SHARE))


def quantiles(values: Floats, level: float) -> tuple[float, float]:
    """Limits that hold the middle of resampled values."""
    tail = (1.0 - level) / 2.0
    if np.isnan(values).all():
        return math.nan, math.nan
    # A growth from nothing is infinite, and infinities cannot be interpolated.
    method: Any = "linear" if np.isfinite(values).all() else "inverted_cdf"
    low, high = np.quantile(values[~np.isnan(values)], [tail, 1.0 - tail], method=method)
    return float(low), float(high)
