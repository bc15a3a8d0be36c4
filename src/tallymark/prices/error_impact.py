r"""Effect of classification errors on the mean of a value such as the price (``tm.prices.impact``).

The mean value of the rows classified positive differs from that of the labelled positives by two terms, the effect of
false positives and that of false negatives,

.. math:: \bar v_C - \bar v_P = (\bar v_C - \bar v_{TP}) + (\bar v_{TP} - \bar v_P).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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

#: A few rows carry the intervals where (c³ - 1) / m exceeds the first number plus the second over the rows, with m the
#: effective rows (Kish, by their distance from the median value) and c the rows over them. For log-normal values c³ is
#: nearly the squared skewness.
_FEW_CARRY = 0.5, 25.0

#: The groups whose values are compared.
GROUPS = ("labelled", "classified", "true positives", "false positives", "false negatives")

#: The two kinds of error, and the group each consists of.
ERRORS = {"fp": "false positives", "fn": "false negatives"}


@dataclass(frozen=True, eq=False, repr=False)
class ErrorImpact(Shown):
    """Effect of errors for one class in one period: sizes and means of the groups, and the shift of the mean by each
    error.
    """

    period: Any
    label: str
    sizes: Mapping[str, int]
    means: Mapping[str, float]
    #: Shift of the mean value by each kind of error and by both (``total``), with its interval.
    shifts: Mapping[str, Interval]
    #: Kolmogorov–Smirnov and Wasserstein distances of the errors' values from the true positives', and p-values after
    #: Holm.
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
        """Whether a few distant values carry the intervals so far that their coverage was found too low."""
        rows, effective = self.carried
        return rows > 0 and (rows / effective) ** 3 - 1.0 > effective * (_FEW_CARRY[0] + _FEW_CARRY[1] / rows)

    @property
    def labelled_mean(self) -> float:
        """The mean value of the labelled positives, of which shifts are a share."""
        return self.means["labelled"]

    def relative(self, error: str) -> tuple[float, float, float]:
        """A shift and its limits as shares of the mean value."""
        one = self.shifts[error]
        scale = abs(self.labelled_mean)
        if not scale > 0.0:
            return (0.0, 0.0, 0.0) if one.value == one.low == one.high == 0.0 else (math.nan, math.nan, math.nan)
        return one.value / scale, one.low / scale, one.high / scale

    def verdict(self, error: str) -> str:
        """The effect of a kind of error (``fp``, ``fn``, or ``total``) in words that the interval supports."""
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
    """Effect of classification errors on the mean of a value; `parts` has an :class:`ErrorImpact` per
    period and class.
    """

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
                group = ERRORS.get(error, "classified")
                lines.append(
                    {
                        "period": part.period,
                        "class": part.label,
                        "errors": error,
                        "n": part.sizes[group],
                        "mean": part.means[group],
                        "mean_labelled": part.labelled_mean,
                        "shift": value,
                        "low": low,
                        "high": high,
                        "ks": part.ks.get(error),
                        "wasserstein": part.wasserstein.get(error),
                        "p_value": part.p_values.get(error),
                        "verdict": part.verdict(error),
                    }
                )
        if all(part.period is None for part in self.parts):
            lines = [{name: value for name, value in line.items() if name != "period"} for line in lines]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "value": self.value,
            "tolerance": self.tolerance,
            "level": self.level,
            "cluster": self.clusters,
            "impacts": plain([dict(row) for row in self.rows()]),
        }


@named_columns
def impact(
    data: Any,
    *,
    label: str,
    value: str,
    predicted: str | None = None,
    score: str | None = None,
    threshold: float | None = None,
    period: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    pos_label: Any = None,
    tolerance: float = 0.01,
    level: float = 0.95,
    where: str | None = None,
    order: Sequence[Any] | None = None,
) -> Impact:
    """Effect of false positives and false negatives on the mean of `value` (a price, say), by period and class.

    For each period and class: how far false positives shift the mean value of the rows classified positive, and how far
    the absence of false negatives does, each with an interval (linearised, over clusters, and wide enough for one more
    error with a low or a high value); and the Kolmogorov–Smirnov and Wasserstein distances of the errors' values from
    the true positives' (without weights), with p-values corrected for their number (Holm). Guard TM113 warns where the
    values are so skewed that a few rows carry the intervals, which then may be too short. Office for National
    Statistics, annex E.

    Parameters
    ----------
    data
        A dataframe or files.
    label
        Column of the true classes.
    value
        Column of the value.
    predicted
        Column of predicted labels, of any number of classes; each class is compared with the rest.
    score, threshold
        Instead of `predicted`: column of a score, and where it is cut.
    period
        Column of the period.
    weight
        Column of row weights.
    cluster
        Column of clusters of dependent rows.
    pos_label
        The positive label; left out of several classes, each is one in turn.
    tolerance
        Share of the mean that does not matter: a shift whose whole interval lies within is called minimal.
    level
        Confidence level of the intervals.
    where
        SQL condition on the rows of files.
    order
        The periods in order of time, where it cannot be read from them.

    Returns
    -------
    Impact
        An :class:`ErrorImpact` per period and class.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(4_000) < 0.5
    >>> frame = pd.DataFrame({"y": y.astype(int), "price": np.exp(rng.normal(np.where(y, 0.0, 0.5), 0.2))})
    >>> frame["called"] = np.where(rng.random(4_000) < 0.1, 1 - frame.y, frame.y)
    >>> part = tm.prices.impact(frame, label="y", predicted="called", value="price").parts[0]
    >>> part.verdict("fp"), part.verdict("fn")
    ('moves the level by +6.2 %', 'probably minimal')

    """
    if (predicted is None) == (score is None):
        raise InputError(
            "Predictions are a column of labels, predicted=, or a score= with its threshold=; name one of the two."
        )
    if predicted is not None and threshold is not None:
        raise InputError("threshold= cuts a score; leave it out with predicted=.")
    if score is not None and threshold is None:
        raise InputError("A score is called positive from a threshold on; say which with threshold=.")
    confidence, small = checked_level(level), _check.real(tolerance, "tolerance")
    if small <= 0.0:
        raise InputError(f"tolerance is {tolerance!r}, expected a share of the level above 0 that would not matter.")
    named = ((period, "period="), (cluster, "cluster="))
    measured = ((score, "score="), (weight, "weight="))
    wanted = [
        Wanted(label, "label=", "class"),
        Wanted(value, "value=", "number"),
        *(Wanted(name, option) for name, option in named if name is not None),
        *([] if predicted is None else [Wanted(predicted, "predicted=", "class")]),
        *(Wanted(name, option, "number") for name, option in measured if name is not None),
    ]
    columns = any_columns(data, wanted, where=where)
    amounts = numbers(columns[value], value)
    if bad := int((~np.isfinite(amounts)).sum()):
        raise InputError(
            f"{value} is missing or not finite in {bad} {noun(bad, 'row')}, the first at index "
            f"{int(np.argmax(~np.isfinite(amounts)))}."
        )
    mass = np.ones(len(amounts)) if weight is None else _check.weights(columns[weight], weight)
    if not mass.all():
        # Rows of weight 0 are left out.
        kept = mass > 0.0
        columns, amounts, mass = {name: column[kept] for name, column in columns.items()}, amounts[kept], mass[kept]
    groups = np.arange(len(amounts)) if cluster is None else checked_cluster(columns[cluster], cluster)
    parts = []
    for when, rows in _periods(columns, period, order_of(data, period, order)):
        unit = float(np.abs(amounts[rows]).max()) or 1.0
        for name, truth, called in _classes(columns, label, predicted, score, threshold, pos_label):
            values = _Groups(
                truth=truth[rows],
                called=called[rows],
                values=amounts[rows] / unit,
                unit=unit,
                mass=mass[rows],
                clusters=np.unique(groups[rows], return_inverse=True)[1],
                clustered=cluster is not None,
            )
            parts.append(values.impact(when, name, level=confidence, tolerance=small))
    notes = tuple(_carried_by_few(parts, value, "rows" if cluster is None else "clusters"))
    emit(notes)
    return Impact(value, tuple(_corrected(parts)), small, confidence, cluster, notes)


def _carried_by_few(parts: Sequence[ErrorImpact], value: str, rows: str) -> Iterator[Note]:
    """One note for all parts whose intervals a few rows carry, with the worst of them."""
    skewed = [part for part in parts if part.few_carry]
    if not skewed:
        return
    worst = min(skewed, key=lambda part: part.carried[1] / part.carried[0])
    where = "" if len(parts) == 1 else f" (in {len(skewed)} of {len(parts)} periods and classes, most in {worst.name})"
    yield Note(
        "TM113",
        f"{value} is so skewed that {worst.carried[0]} {rows} count like {worst.carried[1]:.0f}{where}: the intervals "
        "may be too short, since the next very large value would move the mean by more than they allow. Compare the "
        "logarithm of the values, or trim them.",
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
    """Each class against the rest: its name, which rows have it, and which are predicted so."""
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


@dataclass(frozen=True, eq=False, kw_only=True)
class _Groups:
    """Rows of one period for one class: truth, prediction, value, weight and cluster (or row) number of each.

    Values are in units of the largest, so that squares neither vanish nor overflow.
    """

    truth: Bools
    called: Bools
    values: Floats
    unit: float
    mass: Floats
    clusters: NDArray[Any]
    clustered: bool

    @cached_property
    def rows(self) -> dict[str, Bools]:
        """Which rows are of each group."""
        return {
            "labelled": self.truth,
            "classified": self.called,
            "true positives": self.truth & self.called,
            "false positives": ~self.truth & self.called,
            "false negatives": self.truth & ~self.called,
        }

    def impact(self, period: Any, label: str, *, level: float, tolerance: float) -> ErrorImpact:
        """Sizes, means, shifts, distances and histograms of the groups, in units of the data."""
        relevant = self.truth | self.called
        sizes = {group: int(np.count_nonzero(rows)) for group, rows in self.rows.items()}
        edges = _edges(self.values[relevant], min((n for n in sizes.values() if n), default=1))
        distances = self._distances()
        return ErrorImpact(
            period=period,
            label=label,
            sizes=sizes,
            means={group: _mean(self.values[rows], self.mass[rows]) * self.unit for group, rows in self.rows.items()},
            shifts=self._shifts(level),
            ks={error: ks for error, (ks, _, _) in distances.items()},
            wasserstein={error: distance * self.unit for error, (_, _, distance) in distances.items()},
            p_values={error: p for error, (_, p, _) in distances.items()},
            edges=edges * self.unit,
            counts={
                group: np.histogram(self.values[rows], edges, weights=self.mass[rows])[0].astype(np.float64)
                for group, rows in self.rows.items()
            },
            tolerance=tolerance,
            carried=_carried(self.values, self.mass, self.clusters, relevant),
        )

    def _shifts(self, level: float) -> dict[str, Interval]:
        """What each kind of error, and both, do to the mean value."""
        sums = np.stack(
            [
                np.bincount(self.clusters, np.where(self.rows[group], self.mass * part, 0.0)).astype(np.float64)
                for group in ("true positives", "false positives", "false negatives")
                for part in (np.ones_like(self.values), self.values)
            ]
        )
        # A false positive is a negative row predicted wrongly, a false negative a positive one.
        pseudo = [
            _pseudo(self.values[rows], self.mass[rows], place) for place, rows in ((2, ~self.truth), (4, self.truth))
        ]
        shifts = {error: _widened(sums, pseudo, error, level) for error in ("fp", "fn", "total")}
        return {
            error: replace(one, value=one.value * self.unit, low=one.low * self.unit, high=one.high * self.unit)
            for error, one in shifts.items()
        }

    def _distances(self) -> dict[str, tuple[float, float, float]]:
        """Kolmogorov-Smirnov distance, p-value and Wasserstein distance of the errors' values from the
        true positives'.
        """
        right = self._tested("true positives")
        tested = {error: self._tested(group) for error, group in ERRORS.items()}
        return {error: _distances(values, right) for error, values in tested.items() if len(values) and len(right)}

    def _tested(self, group: str) -> Floats:
        """Values of a group; those of one cluster are one draw, so they are averaged first."""
        rows = self.rows[group]
        if not self.clustered:
            return self.values[rows]
        counts = np.bincount(self.clusters[rows])
        sums = np.bincount(self.clusters[rows], self.values[rows])
        return np.asarray(sums[counts > 0] / counts[counts > 0])


def _carried(values: Floats, mass: Floats, clusters: NDArray[Any], rows: Bools) -> tuple[int, float]:
    """Number of clusters (or rows) among the given rows, and their effective number by distance from
    the median value.
    """
    if not rows.any():
        return 0, 0.0
    distance = mass[rows] * (values[rows] - np.median(values[rows]))
    each = np.abs(np.bincount(clusters[rows], distance))[np.unique(clusters[rows])]
    # Where all values are equal none is distant.
    return len(each), float(each.sum() ** 2 / (each @ each)) if each.any() else float(len(each))


def _mean(values: Floats, mass: Floats) -> float:
    return float(values @ mass / mass.sum()) if mass.sum() > 0.0 else math.nan


def _of_sums(sums: Floats, error: str) -> float:
    """A shift from the masses and sums of true positives, false positives and false negatives."""
    (n_tp, v_tp), (n_fp, v_fp), (n_fn, v_fn) = sums.reshape(3, 2)
    if not n_tp > 0.0:
        return math.nan
    by_fp = (v_tp + v_fp) / (n_tp + n_fp) - v_tp / n_tp
    by_fn = v_tp / n_tp - (v_tp + v_fn) / (n_tp + n_fn)
    return float({"fp": by_fp, "fn": by_fn, "total": by_fp + by_fn}[error])


#: Relative step of the numerical derivatives.
_STEP = 1e-6


def _shift(sums: Floats, error: str, level: float) -> Interval:
    """A shift with linearised limits over clusters (or rows)."""
    from scipy.special import stdtrit

    total = sums.sum(axis=1)
    value = _of_sums(total, error)
    slopes = np.zeros(6)
    for place in range(6):
        # The step of a sum that is 0 is relative to the others of its kind.
        step = _STEP * max(abs(total[place]), abs(total[place % 2]), 1e-300)
        ends = [_of_sums(total + side * step * (np.arange(6) == place), error) for side in (1.0, -1.0)]
        slopes[place] = (ends[0] - ends[1]) / (2.0 * step)
    n = sums.shape[1]
    # Rows outside all groups have no influence; the number inside is random too.
    influence = slopes @ sums
    moved = (influence - influence.mean()) ** 2
    variance = float(moved.sum()) * n / max(n - 1, 1)
    if math.isnan(value) or np.count_nonzero(influence) < 2:
        unknown = 0.0 if value == 0.0 else math.nan
        return Interval(value, unknown, unknown, "linearised", level)
    # Degrees of freedom: three times the inverse kurtosis of the influences.
    carrying = min(float(np.count_nonzero(influence)), 3.0 * float(moved.sum()) ** 2 / float((moved**2).sum()))
    reach = float(stdtrit(max(carrying - 1.0, 1.0), 0.5 + level / 2)) * math.sqrt(variance)
    return Interval(value, value - reach, value + reach, "linearised", level)


#: Quantiles of the value of the pseudo-observation that limits allow for.
_PSEUDO = (0.025, 0.975)


def _pseudo(values: Floats, mass: Floats, place: int) -> list[Floats]:
    """Sums of a pseudo-observation: one more error, with a low and with a high value among the rows it
    may come from.
    """
    if not len(values):
        return []
    sums = np.zeros((len(_PSEUDO), 6))
    sums[:, place], sums[:, place + 1] = mass.mean(), mass.mean() * np.quantile(values, _PSEUDO)
    return list(sums)


def _widened(sums: Floats, pseudo: Sequence[Sequence[Floats]], error: str, level: float) -> Interval:
    """A shift with limits that include those with one more error: few errors say little of the values
    errors can have.
    """
    one = _shift(sums, error, level)
    if math.isnan(one.value):
        return one
    more = [_shift(np.column_stack((sums, *rows)), error, level) for rows in itertools.product(*filter(None, pseudo))]
    ends = [(other.low, other.high) for other in (one, *more) if not math.isnan(other.low)]
    if not ends:
        return one
    return replace(one, low=min(low for low, _ in ends), high=max(high for _, high in ends))


def _distances(errors: Floats, right: Floats) -> tuple[float, float, float]:
    from scipy.stats import ks_2samp, wasserstein_distance

    test = ks_2samp(errors, right)
    return float(test.statistic), float(test.pvalue), float(wasserstein_distance(errors, right))


def _edges(values: Floats, fewest: int) -> Floats:
    """Edges of histogram bins: fewer where a group has few rows; of equal ratio where values are positive and spread
    far.
    """
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
