r"""Item-dependent costs and maximum profit (``tm.decisions.costs``).

Every row has a payoff for being predicted positive and one for being predicted negative; over thresholds t the total is
:math:`\sum_i b_i + \sum_{s_i \ge t} (a_i - b_i)`, with :math:`a_i` the payoff of calling row i and :math:`b_i` of
leaving it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark._display import Row, Shown, plain
from tallymark._numbers import equals_p, noun, number, with_limits
from tallymark._rounding import first_largest, rounding
from tallymark.errors import InputError, shown
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.interval import Interval, Seed, checked_level
from tallymark.inference.resampling.parallel import seeds
from tallymark.sources.any_columns import any_columns, numbers
from tallymark.sources.columns import checked_cluster
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns

#: A payoff of a row: a number, the name of a column, or a function of the data that gives one for each row.
Amount = float | str | Callable[[Any], Any]

#: Folds of the cross-validation of a chosen threshold.
_FOLDS = 5

#: Points of a profit curve that are kept for drawing.
_POINTS = 400


@dataclass(frozen=True, eq=False)
class ModelCost:
    """Payoff of one model: its threshold, the payoff in all and a row, and that of predicting no row, or every row,
    positive.

    Where the threshold of maximum profit was searched on the same rows, `total` is the apparent payoff and `per_row`
    the cross-validated one with its interval; `optimism` is the difference a row.
    """

    name: str
    threshold: float
    total: float
    per_row: Interval
    optimism: float
    called: float
    call_none: float
    call_all: float
    curve: tuple[Floats, Floats]

    def row(self, *, chosen: bool) -> Row:
        """One line; the total of a cut that was `chosen` on the same rows is an apparent one, and not that of the
        payoff a row.
        """
        return {
            "model": self.name,
            "threshold": self.threshold,
            "called": self.called,
            "per_row": self.per_row.value,
            "low": self.per_row.low,
            "high": self.per_row.high,
            "optimism": self.optimism,
            "apparent_total" if chosen else "total": self.total,
            "call_none": self.call_none,
            "call_all": self.call_all,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Costs(Shown):
    """What models' calls earn (costs are negative): one :class:`ModelCost` each, and every pair's difference a row."""

    models: tuple[ModelCost, ...]
    pairs: tuple[Row, ...]
    n: int
    level: float
    chosen: bool
    clusters: str | None = None
    by_class: tuple[Row, ...] = ()
    #: What the rows count together: their number, where they are not weighed.
    weight: float = 1.0

    @property
    def verdict(self) -> list[str]:
        """The results in sentences."""
        sentences = []
        for one in self.models:
            naive, what = max((one.call_none, "calling none"), (one.call_all, "calling all"))
            if self.by_class:
                what = "always calling the same class"
            where = "" if math.isnan(one.threshold) else f" at {number(one.threshold)}"
            honest = (
                f", judged on rows on which the cut was not chosen ({_earns(one.total / self.weight)} on those that "
                "chose it)"
                if self.chosen
                else ""
            )
            earned = _earns(one.per_row.value, one.per_row.low, one.per_row.high)
            sentences.append(f"{one.name}{where} {earned} a row{honest}; {what} {_earns(naive / self.weight)}.")
        for pair in self.pairs:
            if pair["p_value"] < 1.0 - self.level:
                ahead, other = (
                    (pair["first"], pair["second"]) if pair["difference"] > 0 else (pair["second"], pair["first"])
                )
                sentences.append(f"{ahead} earns more than {other} ({equals_p(pair['p_value'])}).")
            else:
                sentences.append(
                    f"{pair['first']} and {pair['second']} cannot be told apart ({equals_p(pair['p_value'])})."
                )
        return sentences

    def heading(self) -> str:
        """The verdict."""
        return "\n".join([f"Payoffs of {self.n} {noun(self.n, 'row')} (costs are negative)", *self.verdict])

    def rows(self) -> Sequence[Row]:
        """A line per model."""
        return [one.row(chosen=self.chosen) for one in self.models]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "n": self.n,
            "level": self.level,
            "chosen": self.chosen,
            "cluster": self.clusters,
            "verdict": self.verdict,
            "models": plain([dict(row) for row in self.rows()]),
            "pairs": plain([dict(row) for row in self.pairs]),
            "by_class": plain([dict(row) for row in self.by_class]),
        }


def _earns(payoff: float, low: float | None = None, high: float | None = None) -> str:
    """A payoff in words, a negative one as a loss."""
    if payoff < 0.0:
        payoff, low, high = -payoff, None if high is None else -high, None if low is None else -low
        return f"loses {with_limits(payoff, low, high)}"
    return f"earns {with_limits(payoff, low, high)}"


@named_columns
def costs(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str] | None = None,
    predicted: str | Sequence[str] | None = None,
    threshold: float | None = None,
    cost_fp: Amount = 1.0,
    cost_fn: Amount = 1.0,
    value_tp: Amount = 0.0,
    value_tn: Amount = 0.0,
    matrix: Mapping[Any, Mapping[Any, float]] | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    pos_label: Any = None,
    level: float = 0.95,
    seed: Seed = 0,
    where: str | None = None,
) -> Costs:
    """Payoff of predictions with costs and values of each item, and the threshold of maximum profit.

    Without a `threshold` scores are cut at maximum profit, found on all rows for `threshold` and `total`, and by
    five-fold cross-validation for the payoff a row and its interval, so that they are free of optimism. Pairs of models
    are compared on the same rows, p-values corrected by Holm.

    Parameters
    ----------
    data
        A dataframe or files.
    label
        Column of the true classes.
    score
        Columns of scores, one for each model.
    predicted
        Instead: columns of predicted labels; of more than two classes with `matrix`.
    threshold
        Where scores are cut.
    cost_fp, cost_fn, value_tp, value_tn
        Numbers, names of columns (the price of an item, its margin), or functions of the data that give one number a
        row.
    matrix
        Cost of each truth (outer) and prediction (inner), 0 on the diagonal unless stated.
    weight
        Column of row weights.
    cluster
        Column of clusters of dependent rows.
    pos_label
        The positive label.
    level
        Confidence level of the intervals.
    seed
        Seed of the folds.
    where
        SQL condition on the rows of files.

    Returns
    -------
    Costs
        Payoffs of each model and the comparisons of pairs.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5_000) < 0.1
    >>> p = 1 / (1 + np.exp(-rng.normal(2.5 * y - 2)))
    >>> frame = pd.DataFrame({"fraud": y, "p": p, "amount": rng.lognormal(3, 1, 5_000)})
    >>> costs = {"cost_fn": "amount", "cost_fp": 5.0}  # a check costs 5, a miss the amount
    >>> one = tm.decisions.costs(frame, label="fraud", score="p", **costs).models[0]
    >>> bool(one.total > max(one.call_none, one.call_all)), bool(one.optimism >= 0)
    (True, True)

    """
    confidence = checked_level(level)
    if (score is None) == (predicted is None):
        raise InputError("Models are columns of scores, score=, or of calls, predicted=; name one of the two.")
    if predicted is not None and threshold is not None:
        raise InputError("threshold= cuts scores; leave it out with predicted=.")
    scores, calls = (column_names(names, option) for names, option in ((score, "score="), (predicted, "predicted=")))
    amounts = {"cost_fp": cost_fp, "cost_fn": cost_fn, "value_tp": value_tp, "value_tn": value_tn}
    wanted = [
        Wanted(label, "label=", "class"),
        *(Wanted(name, "score=", "number") for name in scores),
        *(Wanted(name, "predicted=", "class") for name in calls),
        *(Wanted(one, f"{option}=", "number") for option, one in amounts.items() if isinstance(one, str)),
        *([] if weight is None else [Wanted(weight, "weight=", "number")]),
        *([] if cluster is None else [Wanted(cluster, "cluster=")]),
    ]
    columns = any_columns(data, wanted, where=where)
    mass = np.ones(len(columns[label])) if weight is None else _check.weights(columns[weight], weight)
    # Rows of weight 0 are left out.
    kept = mass > 0.0
    columns = {name: column[kept] for name, column in columns.items()}
    groups = np.arange(int(kept.sum()))
    if cluster is not None:
        groups = np.unique(checked_cluster(columns[cluster], cluster), return_inverse=True)[1]
    if int(groups.max()) < 1:
        raise InputError("All rows are one cluster, so nothing can be said of how they vary; name another cluster=.")
    rows = _Rows(mass[kept], groups, confidence)
    if matrix is not None:
        if not calls:
            raise InputError("matrix= is the cost of calls; name their column with predicted=.")
        usual = {"cost_fp": 1.0, "cost_fn": 1.0, "value_tp": 0.0, "value_tn": 0.0}
        if unused := [name for name, one in amounts.items() if one != usual[name]] + ["pos_label"] * (
            pos_label is not None
        ):
            raise InputError(
                f"{unused[0]}= is for two classes; matrix= has the cost of every truth and prediction. Leave one out."
            )
        return _of_matrix(columns, label, calls, matrix, rows, cluster)
    truth, names = _check.binary_labels(columns[label], pos_label, label)
    payoff = {name: _amount(one, name, columns, data, kept) for name, one in amounts.items()}
    earned = _Payoffs(
        yes=rows.mass * np.where(truth, payoff["value_tp"], -payoff["cost_fp"]),
        no=rows.mass * np.where(truth, -payoff["cost_fn"], payoff["value_tn"]),
        rows=rows,
    )
    models, payoffs = [], {}
    for name in scores:
        s = np.asarray(_check.scores(columns[name], name), dtype=np.float64)
        one, payoffs[name] = earned.of_scores(name, s, threshold, seed)
        models.append(one)
    for name in calls:
        called = _check.calls(columns[name], columns[label], name, label) == names[1]
        payoffs[name] = earned.of(called)
        models.append(earned.of_calls(name, called))
    chosen = bool(scores) and threshold is None
    return Costs(
        tuple(models), _pairs(payoffs, rows), len(truth), confidence, chosen, cluster, weight=float(rows.mass.sum())
    )


@dataclass(frozen=True)
class _Rows:
    """What rows count, which of them belong together, and the level of their intervals."""

    mass: Floats
    groups: Ints
    level: float

    def mean(self, payoff: Floats, level: float | None = None) -> Interval:
        """A mean a row (by weight, where rows are weighed), with Student's limits over clusters."""
        from scipy.special import stdtrit

        confidence = self.level if level is None else level
        mean = float(payoff.sum() / self.mass.sum())
        sums = np.bincount(self.groups, payoff - mean * self.mass)
        number = len(sums)
        error = math.sqrt(number / (number - 1) * float(np.sum(sums**2))) / float(self.mass.sum())
        reach = float(stdtrit(number - 1, 0.5 + confidence / 2)) * error
        return Interval(mean, mean - reach, mean + reach, "linearised", confidence)

    def folds(self, order: tuple[Floats, ...], seed: Seed) -> Ints:
        """A part for each row, whole clusters together; rows of their own by the order of their values, not by their
        place.
        """
        number = int(self.groups.max()) + 1
        dealt = np.random.default_rng(seeds(seed, 1)[0]).permutation(number) % min(_FOLDS, number)
        if number < len(self.groups):
            return np.asarray(dealt[self.groups])
        place = np.empty(number, dtype=np.int64)
        place[np.lexsort(order)] = np.arange(number)
        return np.asarray(dealt[place])


#: Calls have no thresholds to draw.
_NO_CURVE: tuple[Floats, Floats] = (np.zeros(0), np.zeros(0))

#: Amounts beyond this leave the floats when they are squared and added.
_LARGEST = 1e100


def _amount(value: Amount, name: str, columns: Mapping[str, NDArray[Any]], data: Any, kept: Bools) -> Floats:
    if isinstance(value, str):
        amounts = numbers(columns[value], value)
    elif callable(value):
        try:
            amounts = np.broadcast_to(np.asarray(value(data), dtype=np.float64), (len(kept),))[kept]
        except Exception as error:  # noqa: BLE001 - a user's function may raise anything
            raise InputError(
                f"{name} is a function that gives no number for each row ({error}); it is called with the data."
            ) from None
    else:
        amounts = np.full(int(kept.sum()), _check.real(value, name))
    if bad := int((~np.isfinite(amounts)).sum()):
        raise InputError(
            f"{name} is missing or not finite in {bad} {noun(bad, 'row')}, the first at index "
            f"{int(np.argmax(~np.isfinite(amounts)))}."
        )
    if float(np.abs(amounts).max()) > _LARGEST:
        raise InputError(f"{name} goes beyond {_LARGEST:g}; count in larger units.")
    return np.asarray(amounts)


def best_cut(scores: Floats, gain: Floats) -> tuple[float, float]:
    """The threshold from which on calling rows gains most, and that gain; inf where calling none is best, -inf where
    calling all is.
    """
    order = np.argsort(-scores, kind="stable")
    s, sums = scores[order], np.cumsum(gain[order])
    # Equal scores are called together.
    ends = np.flatnonzero(np.concatenate((s[1:] != s[:-1], [True])))
    # In shares of all that is at stake, so that a gain that cancels to nothing is seen as such.
    unit, tolerance = float(np.abs(gain).sum()) or 1.0, rounding(len(gain))
    best = int(first_largest(sums[ends] / unit, tolerance))
    if sums[ends][best] / unit <= tolerance:
        return math.inf, 0.0
    return (-math.inf if best == len(ends) - 1 else float(s[ends[best]])), float(sums[ends][best])


@dataclass(frozen=True, eq=False)
class _Payoffs:
    """What each row earns when it is predicted positive (`yes`), and when it is not (`no`)."""

    yes: Floats
    no: Floats
    rows: _Rows

    def of(self, called: Bools) -> Floats:
        """The payoff of each row, given which are predicted positive."""
        return np.where(called, self.yes, self.no)

    def of_scores(self, name: str, s: Floats, threshold: float | None, seed: Seed) -> tuple[ModelCost, Floats]:
        """A model's payoff at a threshold, or at that of maximum profit; and the payoff of each row."""
        curve = self.curve(s)
        if threshold is not None:
            called = s >= _check.real(threshold, "threshold")
            return self.of_calls(name, called, float(threshold), curve), self.of(called)
        gain = self.yes - self.no
        cut, _ = best_cut(s, gain)
        apparent = self.of_calls(name, s >= cut, cut, curve)
        # Each fold is cut where the others earn most.
        folds = self.rows.folds((self.no, self.yes, s), seed)
        called = np.zeros(len(s), dtype=np.bool_)
        for fold in np.unique(folds):
            held_out = folds == fold
            called[held_out] = s[held_out] >= best_cut(s[~held_out], gain[~held_out])[0]
        payoff = self.of(called)
        per_row = self.rows.mean(payoff)
        return replace(apparent, per_row=per_row, optimism=apparent.per_row.value - per_row.value), payoff

    def of_calls(
        self, name: str, called: Bools, cut: float = math.nan, curve: tuple[Floats, Floats] = _NO_CURVE
    ) -> ModelCost:
        """A model's payoff, given which rows are predicted positive."""
        payoff = self.of(called)
        return ModelCost(
            name=name,
            threshold=cut,
            total=float(payoff.sum()),
            per_row=self.rows.mean(payoff),
            optimism=0.0,
            called=float(self.rows.mass[called].sum() / self.rows.mass.sum()),
            call_none=float(self.no.sum()),
            call_all=float(self.yes.sum()),
            curve=curve,
        )

    def curve(self, s: Floats) -> tuple[Floats, Floats]:
        """Thresholds and the payoff a row at each, thinned for drawing."""
        order = np.argsort(-s, kind="stable")
        ends = np.flatnonzero(np.concatenate((s[order][1:] != s[order][:-1], [True])))
        kept = ends[np.unique(np.linspace(0, len(ends) - 1, min(_POINTS, len(ends))).astype(np.int64))]
        sums = self.no.sum() + np.cumsum((self.yes - self.no)[order])
        return s[order][kept], sums[kept] / self.rows.mass.sum()


def _pairs(payoffs: Mapping[str, Floats], rows: _Rows) -> tuple[Row, ...]:
    from scipy.special import stdtr, stdtrit

    freedom = int(rows.groups.max())
    lines: list[dict[str, Any]] = []
    for first, second in itertools.combinations(payoffs, 2):
        difference = rows.mean(payoffs[first] - payoffs[second])
        error = (difference.high - difference.value) / float(stdtrit(freedom, 0.5 + rows.level / 2))
        same = difference.value == 0.0 and error == 0.0
        p = 1.0 if same else 2.0 * float(stdtr(freedom, -abs(difference.value) / max(error, 1e-300)))
        lines.append(
            {
                "first": first,
                "second": second,
                "difference": difference.value,
                "low": difference.low,
                "high": difference.high,
                "p": p,
            }
        )
    adjusted: Sequence[float] = list(holm(np.array([line.pop("p") for line in lines]))) if lines else []
    return tuple({**line, "p_value": float(p)} for line, p in zip(lines, adjusted, strict=True))


def _of_matrix(
    columns: Mapping[str, NDArray[Any]],
    label: str,
    calls: Sequence[str],
    matrix: Mapping[Any, Mapping[Any, float]],
    rows: _Rows,
    cluster: str | None,
) -> Costs:
    """Costs of K classes: what each truth costs when it is called each class."""
    truth = _check.labels(columns[label], label)
    predictions = {name: _check.labels(columns[name], name) for name in calls}
    classes = sorted(
        {
            *_check.distinct(truth, label),
            *(value for name in calls for value in _check.distinct(predictions[name], name)),
        },
        key=str,
    )
    table = _matrix(matrix, classes)
    codes = _check.encode(truth, classes, label)
    payoffs, models, by_class = {}, [], []
    best = max(float(-(rows.mass * table[codes, place]).sum()) for place in range(len(classes)))
    for name in calls:
        payoff = -rows.mass * table[codes, _check.encode(predictions[name], classes, name)]
        payoffs[name] = payoff
        models.append(
            ModelCost(
                name=name,
                threshold=math.nan,
                total=float(payoff.sum()),
                per_row=rows.mean(payoff),
                optimism=0.0,
                called=math.nan,
                call_none=best,
                call_all=best,
                curve=_NO_CURVE,
            )
        )
        by_class += [
            {
                "model": name,
                "class": str(one),
                "rows": int(np.count_nonzero(codes == place)),
                "cost": float(-payoff[codes == place].sum()),
            }
            for place, one in enumerate(classes)
        ]
    return Costs(
        tuple(models),
        _pairs(payoffs, rows),
        len(truth),
        rows.level,
        chosen=False,
        clusters=cluster,
        by_class=tuple(by_class),
        weight=float(rows.mass.sum()),
    )


def _matrix(matrix: Mapping[Any, Mapping[Any, float]], classes: Sequence[Any]) -> Floats:
    if not isinstance(matrix, Mapping) or not all(isinstance(line, Mapping) for line in matrix.values()):
        raise InputError(
            'matrix= maps each truth to the cost of each call: {"milk": {"tea": 2.0}, "tea": {"milk": 5.0}}.'
        )
    spelled = {str(name): name for name in classes}
    named = {str(key): {str(inner): cost for inner, cost in line.items()} for key, line in matrix.items()}
    if unknown := [
        key for key in {*named, *(inner for line in named.values() for inner in line)} if key not in spelled
    ]:
        raise InputError(
            f"matrix= names {shown(sorted(unknown), 3)}, which no row has; the classes are {shown(spelled)}."
        )
    table = np.zeros((len(classes), len(classes)))
    for i, a in enumerate(spelled):
        for j, b in enumerate(spelled):
            if i != j and b not in named.get(a, {}):
                raise InputError(f"matrix= does not say what it costs to call {a!r} {b!r}.")
            table[i, j] = _check.real(named.get(a, {}).get(b, 0.0), f"matrix[{a!r}][{b!r}]")
    return table
