r"""``tm.prices.impact``: whether a classifier's mistakes differ in price (or in any value) from what they are mistaken for.

The mean value of what is classified positive differs from that of the labelled positives by two parts that add up: what false positives
bring in, and what false negatives take away,

.. math:: \bar v_C - \bar v_P = (\bar v_C - \bar v_{TP}) + (\bar v_{TP} - \bar v_P).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark._numbers import noun
from tallymark._periods import in_order
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.interval import Interval, checked_level
from tallymark.notes import Note, emit
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.columns import checked_cluster, group_values, rows_by_group
from tallymark.sources.formats import Wanted
from tallymark.sources.frames import named_columns, order_of

#: Bins of a distribution that is drawn, at least and at most.
_LEAST_BINS, _BINS = 10, 40

#: A few rows carry the intervals where (c³ - 1) / m exceeds the first number plus the second over the rows, with m the rows that count (Kish, by
#: their distance from the median value) and c the rows over them. For log-normal values c³ is nearly the squared skewness.
_FEW_CARRY = 0.5, 25.0

#: The groups whose values are compared.
GROUPS = ("labelled", "classified", "true positives", "false positives", "false negatives")

#: The two kinds of error, and the group each consists of.
ERRORS = {"fp": "false positives", "fn": "false negatives"}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorImpact(Shown):
    """One class in one period: the values of each group, and what each kind of error does to their mean."""

    period: Any
    label: str
    sizes: Mapping[str, int]
    means: Mapping[str, float]
    #: What each kind of error (and both, ``total``) does to the mean value, absolutely; with its interval.
    shifts: Mapping[str, Interval]
    #: Kolmogorov–Smirnov and Wasserstein distances of the errors' values from the true positives', and p-values after Holm.
    ks: Mapping[str, float]
    wasserstein: Mapping[str, float]
    p_values: Mapping[str, float]
    edges: Floats
    counts: Mapping[str, Floats]
    tolerance: float
    #: Rows (or clusters) that are labelled or classified positive, and how many equally distant values they count like.
    carried: tuple[int, float]

    @property
    def name(self) -> str:
        """The period, where there is one, and the class."""
        return self.label if self.period is None else f"{self.period}, {self.label}"

    @property
    def few_carry(self) -> bool:
        """Whether a few distant values carry the intervals so far that these were seen to miss the truth too often."""
        rows, effective = self.carried
        return rows > 0 and (rows / effective) ** 3 - 1.0 > effective * (_FEW_CARRY[0] + _FEW_CARRY[1] / rows)

    @property
    def labelled_mean(self) -> float:
        """The mean value of the labelled positives, to which shifts are set in relation."""
        return self.means["labelled"]

    def relative(self, error: str) -> tuple[float, float, float]:
        """A shift and its limits as shares of the mean value."""
        one = self.shifts[error]
        scale = abs(self.labelled_mean)
        if not scale > 0.0:
            return (0.0, 0.0, 0.0) if one.value == one.low == one.high == 0.0 else (math.nan, math.nan, math.nan)
        return one.value / scale, one.low / scale, one.high / scale

    def verdict(self, error: str) -> str:
        """What the errors of a kind (``fp``, ``fn``, or ``total``) do, in words that the interval bears out."""
        if not any(self.sizes[group] for kind, group in ERRORS.items() if error in {kind, "total"}):
            return "there are none"
        value, low, high = self.relative(error)
        if math.isnan(low):
            return "cannot be told: too few rows"
        if -self.tolerance <= low and high <= self.tolerance:
            return "probably minimal"
        if low > 0.0 or high < 0.0:
            return f"moves the level by {100 * value:+.2g} %"
        return f"cannot be told: between {100 * low:+.2g} and {100 * high:+.2g} %"


@dataclass(frozen=True, eq=False, repr=False)
class Impact(Shown):
    """What classification errors do to the level of a value, by period and class; `parts` has an :class:`ErrorImpact` for each."""

    value: str
    parts: tuple[ErrorImpact, ...]
    tolerance: float
    level: float
    clusters: str | None = None
    warnings: tuple[Note, ...] = ()

    def heading(self) -> str:
        """What was looked at."""
        rows = "" if self.clusters is None else f", clusters by {self.clusters}"
        return f"What errors do to the mean {self.value}{rows}; up to {100 * self.tolerance:g} % counts as minimal"

    def rows(self) -> Sequence[Row]:
        """A line for each period, class and kind of error."""
        lines: list[Row] = []
        for part in self.parts:
            for error in ("fp", "fn", "total"):
                value, low, high = part.relative(error)
                group = ERRORS.get(error)
                lines.append({
                    "period": part.period, "class": part.label, "errors": error,
                    "n": part.sizes[group] if group else part.sizes["classified"],
                    "mean": part.means[group] if group else part.means["classified"], "mean_labelled": part.labelled_mean,
                    "shift": value, "low": low, "high": high, "ks": part.ks.get(error), "wasserstein": part.wasserstein.get(error),
                    "p_value": part.p_values.get(error), "verdict": part.verdict(error),
                })  # fmt: skip
        if all(part.period is None for part in self.parts):
            lines = [{name: value for name, value in line.items() if name != "period"} for line in lines]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "value": self.value, "tolerance": self.tolerance, "level": self.level, "cluster": self.clusters,
            "impacts": plain([dict(row) for row in self.rows()]),
        }  # fmt: skip


@named_columns
def impact(
    data: Any, *, label: str, value: str, predicted: str | None = None, score: str | None = None, threshold: float | None = None,
    period: str | None = None, weight: str | None = None, cluster: str | None = None, pos_label: Any = None, tolerance: float = 0.01,
    level: float = 0.95, where: str | None = None, order: Sequence[Any] | None = None,
) -> Impact:  # fmt: skip
    """Whether false positives and false negatives differ in `value` (the price, say) from what they are mistaken for.

    Calls are a column of `predicted` labels (of any number of classes, each then against the rest) or a `score` cut at a `threshold`.
    For each `period` and class: how far false positives move the mean value of what is classified positive, how far the absence of
    false negatives does, each with an interval (linearised, over clusters of
    rows where `cluster` is named, and wide enough for one more error with a low or a high value), and the Kolmogorov–Smirnov
    and Wasserstein distances of the errors' values from the true positives' (weights apart), with p-values corrected for their number (Holm). A shift
    whose whole interval lies within ± `tolerance` of the level is called minimal; one whose interval holds 0 and more than that cannot
    be told. Guard TM113 warns where the values are so skewed that a few rows carry the intervals, which then may be too short. `order` lists the periods where their order in time cannot be read. Office for National Statistics, annex E.

    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4_000) < 0.5
    >>> frame = pd.DataFrame({"y": y.astype(int), "price": np.exp(rng.normal(np.where(y, 0.0, 0.5), 0.2))})
    >>> frame["called"] = np.where(rng.random(4_000) < 0.1, 1 - frame.y, frame.y)
    >>> found = tm.prices.impact(frame, label="y", predicted="called", value="price")
    >>> found.parts[0].verdict("fp"), found.parts[0].verdict("fn")
    ('moves the level by +6.2 %', 'probably minimal')
    """
    if (predicted is None) == (score is None):
        raise InputError(
            "Calls are a column of labels, predicted=, or a score= with its threshold=; name one of the two."
        )
    if predicted is not None and threshold is not None:
        raise InputError("threshold= cuts a score; calls are made already.")
    if score is not None and threshold is None:
        raise InputError("A score is called positive from a threshold on; say which with threshold=.")
    confidence, small = checked_level(level), _check.real(tolerance, "tolerance")
    if small <= 0.0:
        raise InputError(f"tolerance is {tolerance!r}, expected a share of the level above 0 that would not matter.")
    named = ((period, "period="), (cluster, "cluster="))
    wanted = [
        Wanted(label, "label=", "class"), Wanted(value, "value=", "number"), *(Wanted(name, option) for name, option in named if name is not None),
        *([] if predicted is None else [Wanted(predicted, "predicted=", "class")]),
        *(Wanted(name, option, "number") for name, option in ((score, "score="), (weight, "weight=")) if name is not None),
    ]  # fmt: skip
    columns = any_columns(data, wanted, where=where)
    amounts = numbers(columns[value], value)
    if bad := int((~np.isfinite(amounts)).sum()):
        raise InputError(
            f"{value} is missing or not finite in {bad} {noun(bad, 'row')}, the first at index {int(np.argmax(~np.isfinite(amounts)))}."
        )
    mass = np.ones(len(amounts)) if weight is None else _check.weights(columns[weight], weight)
    if not mass.all():
        # Rows that count nothing have no part.
        held = mass > 0.0
        columns, amounts, mass = {name: column[held] for name, column in columns.items()}, amounts[held], mass[held]
    groups = np.arange(len(amounts)) if cluster is None else checked_cluster(columns[cluster], cluster)
    made = [
        _part(when, name, truth[rows], called[rows], amounts[rows], mass[rows], groups[rows], confidence, small, cluster is not None)
        for when, rows in _periods(columns, period, order_of(data, period, order))
        for name, truth, called in _classes(columns, label, predicted, score, threshold, pos_label)
    ]  # fmt: skip
    notes = tuple(_carried_by_few(made, value, "rows" if cluster is None else "clusters"))
    emit(notes)
    return Impact(value, tuple(_corrected(made)), small, confidence, cluster, notes)


def _carried_by_few(parts: Sequence[ErrorImpact], value: str, rows: str) -> Iterator[Note]:
    """One note for all parts whose intervals a few rows carry, with the worst of them."""
    found = [part for part in parts if part.few_carry]
    if not found:
        return
    worst = min(found, key=lambda part: part.carried[1] / part.carried[0])
    where = "" if len(parts) == 1 else f" (in {len(found)} of {len(parts)} periods and classes, most in {worst.name})"
    yield Note(
        "TM113",
        f"{value} is so skewed that {worst.carried[0]} {rows} count like {worst.carried[1]:.0f}{where}: the intervals may be too short, since "
        "the next very large value would move the mean by more than they allow. Compare the logarithm of the values, or trim them.",
    )


def _periods(
    columns: Mapping[str, NDArray[Any]], period: str | None, order: Sequence[Any] | None
) -> Iterator[tuple[Any, Any]]:
    if period is None:
        yield None, slice(None)
        return
    rows_of = {key[0]: rows for key, rows in rows_by_group([_check.groups(columns[period], period)])}
    for when in in_order(rows_of, period, order):
        yield when, rows_of[when]


def _classes(
    columns: Mapping[str, NDArray[Any]],
    label: str,
    predicted: str | None,
    score: str | None,
    threshold: float | None,
    pos_label: Any,
) -> Iterator[tuple[str, Bools, Bools]]:
    """Each class against the rest: its name, which rows have it, and which are called so."""
    if score is not None:
        truth, names = _check.binary_labels(columns[label], pos_label, label)
        yield str(names[1]), truth, _check.scores(columns[score], score) >= _check.real(threshold, "threshold")
        return
    truth = _check.labels(columns[label], label)
    calls = _check.calls(columns[predicted or ""], truth, predicted or "", label)
    present = _check.distinct(truth, label)
    chosen = present if pos_label is None else [_check.named_label(pos_label, present)]
    if pos_label is None and (place := _check.obvious_positive(present)) is not None:
        chosen = [present[place]]
    for name in chosen:
        if name not in present:
            raise _check.does_not_occur(pos_label, label, present)
        yield str(group_values(np.array([name]))[0]), np.asarray(truth == name), np.asarray(calls == name)


def _part(
    when: Any, name: str, truth: Bools, called: Bools, values: Floats, mass: Floats, groups: NDArray[Any], level: float, tolerance: float,
    clustered: bool,
) -> ErrorImpact:  # fmt: skip
    members = {
        "labelled": truth, "classified": called, "true positives": truth & called, "false positives": ~truth & called,
        "false negatives": truth & ~called,
    }  # fmt: skip
    # In units in which squares neither vanish nor overflow.
    unit = float(np.abs(values).max()) or 1.0
    values = values / unit
    sizes = {group: int(np.count_nonzero(rows)) for group, rows in members.items()}
    means = {group: _mean(values[rows], mass[rows]) for group, rows in members.items()}
    own = np.unique(groups, return_inverse=True)[1]
    hits, false, missed = (members[group] for group in ("true positives", "false positives", "false negatives"))
    sums = np.stack([
        np.bincount(own, np.where(rows, mass * part, 0.0)).astype(np.float64)
        for rows in (hits, false, missed)
        for part in (np.ones_like(values), values)
    ])  # fmt: skip
    # A false positive is one of the others called wrongly, a false negative one of the class.
    pseudo = [_pseudo(values[rows], mass[rows], kind) for kind, rows in ((2, ~truth), (4, truth))]
    shifts = {error: _widened(sums, pseudo, error, level) for error in ("fp", "fn", "total")}
    # Values of a cluster are one draw: they are averaged first.
    tested = {
        group: _by_cluster(values, own, members[group]) if clustered else values[members[group]] for group in members
    }
    ks, far, p = {}, {}, {}
    for error, group in ERRORS.items():
        if len(tested[group]) and len(tested["true positives"]):
            ks[error], p[error], far[error] = _distances(tested[group], tested["true positives"])
    means = {group: mean * unit for group, mean in means.items()}
    shifts = {
        error: replace(one, value=one.value * unit, low=one.low * unit, high=one.high * unit)
        for error, one in shifts.items()
    }
    far = {error: distance * unit for error, distance in far.items()}
    edges = _edges(values[truth | called], min((n for n in sizes.values() if n), default=1))
    counts = {
        group: np.histogram(values[rows], edges, weights=mass[rows])[0].astype(np.float64)
        for group, rows in members.items()
    }
    carried = _carried(values, mass, own, truth | called)
    return ErrorImpact(when, name, sizes, means, shifts, ks, far, p, edges * unit, counts, tolerance, carried)


def _carried(values: Floats, mass: Floats, own: Any, rows: Bools) -> tuple[int, float]:
    """Clusters (or rows) with some of the given rows, and how many of equal distance from the median value they count like."""
    if not rows.any():
        return 0, 0.0
    distance = mass[rows] * (values[rows] - np.median(values[rows]))
    each = np.abs(np.bincount(own[rows], distance))[np.unique(own[rows])]
    # Where all values are equal none is distant.
    return len(each), float(each.sum() ** 2 / (each @ each)) if each.any() else float(len(each))


def _mean(values: Floats, mass: Floats) -> float:
    return float(values @ mass / mass.sum()) if mass.sum() > 0.0 else math.nan


def _of_sums(sums: Floats, error: str) -> float:
    """A shift from the masses and sums of true positives, false positives and false negatives."""
    (n_tp, v_tp), (n_fp, v_fp), (n_fn, v_fn) = sums.reshape(3, 2)
    if not n_tp > 0.0:
        return math.nan
    brought = (v_tp + v_fp) / (n_tp + n_fp) - v_tp / n_tp
    taken = v_tp / n_tp - (v_tp + v_fn) / (n_tp + n_fn)
    return float({"fp": brought, "fn": taken, "total": brought + taken}[error])


#: Share by which sums are moved to find a slope.
_STEP = 1e-6


def _shift(sums: Floats, error: str, level: float) -> Interval:
    """A shift with linearised limits over clusters (or rows)."""
    from scipy.special import stdtrit

    total = sums.sum(axis=1)
    value = _of_sums(total, error)
    slopes = np.zeros(6)
    for place in range(6):
        # A sum that is 0 is moved by the size of the others of its kind.
        step = _STEP * max(abs(total[place]), abs(total[place % 2]), 1e-300)
        ends = [_of_sums(total + side * step * (np.arange(6) == place), error) for side in (1.0, -1.0)]
        slopes[place] = (ends[0] - ends[1]) / (2.0 * step)
    n = sums.shape[1]
    # Rows outside all groups move nothing; those inside are drawn at random in number too.
    influence = slopes @ sums
    moved = (influence - influence.mean()) ** 2
    variance = float(moved.sum()) * n / max(n - 1, 1)
    if math.isnan(value) or np.count_nonzero(influence) < 2:
        unknown = 0.0 if value == 0.0 else math.nan
        return Interval(value, unknown, unknown, "linearised", level)
    # As many rows as carry the shift: three times the inverse kurtosis of what each does to it.
    carrying = min(float(np.count_nonzero(influence)), 3.0 * float(moved.sum()) ** 2 / float((moved**2).sum()))
    reach = float(stdtrit(max(carrying - 1.0, 1.0), 0.5 + level / 2)) * math.sqrt(variance)
    return Interval(value, value - reach, value + reach, "linearised", level)


#: Quantiles of the values of one more error that limits allow for.
_PSEUDO = (0.025, 0.975)


def _pseudo(values: Floats, mass: Floats, place: int) -> list[Floats]:
    """Sums of one more error with a low and with a high value of the rows that could have been called wrongly."""
    if not len(values):
        return []
    made = np.zeros((len(_PSEUDO), 6))
    made[:, place], made[:, place + 1] = mass.mean(), mass.mean() * np.quantile(values, _PSEUDO)
    return list(made)


def _widened(sums: Floats, pseudo: Sequence[Sequence[Floats]], error: str, level: float) -> Interval:
    """A shift whose limits also hold if one more error had been seen: few errors say little of how dear an error can be."""
    one = _shift(sums, error, level)
    if math.isnan(one.value):
        return one
    more = [_shift(np.column_stack((sums, *rows)), error, level) for rows in itertools.product(*filter(None, pseudo))]
    ends = [(other.low, other.high) for other in (one, *more) if not math.isnan(other.low)]
    if not ends:
        return one
    return replace(one, low=min(low for low, _ in ends), high=max(high for _, high in ends))


def _by_cluster(values: Floats, own: Any, rows: Bools) -> Floats:
    counts = np.bincount(own[rows])
    sums = np.bincount(own[rows], values[rows])
    return np.asarray(sums[counts > 0] / counts[counts > 0])


def _distances(errors: Floats, right: Floats) -> tuple[float, float, float]:
    from scipy.stats import ks_2samp, wasserstein_distance

    found = ks_2samp(errors, right)
    return float(found.statistic), float(found.pvalue), float(wasserstein_distance(errors, right))


def _edges(values: Floats, fewest: int) -> Floats:
    """Bins of the values' range, fewer where a group has few rows; of equal ratio where values are positive and spread far."""
    number = int(min(max(2.0 * math.sqrt(fewest), _LEAST_BINS), _BINS))
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = (float(end) for end in np.quantile(values, [0.005, 0.995]))
    if low == high:
        return np.array([low - 0.5, low + 0.5])
    if low > 0.0 and high > 10.0 * low:
        return np.geomspace(low, high, number + 1)
    return np.linspace(low, high, number + 1)


def _corrected(parts: Sequence[ErrorImpact]) -> Iterator[ErrorImpact]:
    """The same with p-values corrected for the number of tests."""
    places = [(i, error) for i, part in enumerate(parts) for error in part.p_values]
    adjusted = (
        dict(zip(places, holm(np.array([parts[i].p_values[error] for i, error in places])), strict=True))
        if places
        else {}
    )
    for i, part in enumerate(parts):
        yield replace(part, p_values={error: float(adjusted[i, error]) for error in part.p_values})
