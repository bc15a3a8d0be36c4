"""ROC convex hull analysis (``tm.decisions.space``): which of several classifiers is optimal, and for which costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Bools, Floats
from tallymark._display import Row, Shown, plain
from tallymark.curves.isolines import dominated, metric_at_rates
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import METRICS
from tallymark.sources.any_columns import any_columns
from tallymark.sources.columns import checked_cluster
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.panel import Panel

#: The trivial classifiers: all rows negative, all rows positive.
NAIVE = {"call none": (0.0, 0.0), "call all": (1.0, 1.0)}

#: Resamples of clusters drawn at once.
_BLOCK = 250


@dataclass(frozen=True, eq=False, repr=False)
class Point(Shown):
    """A classifier in ROC space: its rates, and the costs for which it is optimal.

    `wins` are the cost ratios (of a miss to a false alarm) between which it has the least expected cost of all, None
    where there are none; `sure` is the share of resamples in which it is optimal somewhere, or nowhere, as it is in the
    sample. The ends of `wins` themselves are estimates. Classifiers with the same rates are optimal together.
    """

    name: str
    tpr: float
    fpr: float
    precision: float
    dominated_by: tuple[str, ...]
    wins: tuple[float, float] | None
    sure: float
    value: float

    def sentence(self) -> str:
        """Where it is optimal, in words."""
        again = f" (it wins {'nowhere' if self.wins is None else 'somewhere'} in {100 * self.sure:.0f} % of resamples)"
        if self.dominated_by:
            other = f"{self.dominated_by[0]} finds at least as many with no more false alarms"
            return f"{self.name} is never the best choice: {other}{again}."
        if self.wins is None:
            return f"{self.name} is never the best choice: whatever the costs, another one costs less{again}."
        low, high = self.wins
        if low == 0.0 and math.isinf(high):
            return f"{self.name} is the best choice whatever the costs{again}."
        if low == 0.0:
            return f"{self.name} is the best choice while a miss costs up to {high:.3g} times a false alarm{again}."
        if math.isinf(high):
            return f"{self.name} is the best choice once a miss costs {low:.3g} times a false alarm or more{again}."
        between = f"between {low:.3g} and {high:.3g} times a false alarm"
        return f"{self.name} is the best choice while a miss costs {between}{again}."


@dataclass(frozen=True, eq=False, repr=False)
class Space(Shown):
    """Classifiers in ROC and PR space at a prevalence; `naive` has the two trivial ones, `confusions` the tables."""

    points: tuple[Point, ...]
    naive: tuple[Point, ...]
    confusions: Mapping[str, BinaryConfusion]
    prevalence: float
    metric: str
    #: The classifier with the best value of the metric, and the share of resamples in which it is again.
    best: tuple[str, float]
    replicates: int
    paired: bool

    @property
    def verdict(self) -> list[str]:
        """A sentence for each classifier; for the naive ones where they are optimal."""
        sentences = [one.sentence() for one in (*self.points, *(one for one in self.naive if one.wins is not None))]
        name, sure = self.best
        return [*sentences, f"By {self.metric} {name} is ahead (in {100 * sure:.0f} % of resamples)."]

    def heading(self) -> str:
        """What was looked at."""
        how = "paired" if self.paired else "unpaired"
        return (
            f"{len(self.points)} classifiers at prevalence {self.prevalence:.3g} ({self.replicates} {how} resamples)\n"
            + "\n".join(self.verdict)
        )

    def rows(self) -> Sequence[Row]:
        """A line per classifier, naive ones below."""
        return [
            {
                "classifier": one.name,
                "tpr": one.tpr,
                "fpr": one.fpr,
                "precision": one.precision,
                self.metric: one.value,
                "dominated_by": ", ".join(one.dominated_by),
                "wins_from": None if one.wins is None else one.wins[0],
                "wins_to": None if one.wins is None else one.wins[1],
                "sure": one.sure,
            }
            for one in (*self.points, *self.naive)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "prevalence": self.prevalence,
            "metric": self.metric,
            "best": {"classifier": self.best[0], "sure": self.best[1]},
            "replicates": self.replicates,
            "paired": self.paired,
            "verdict": self.verdict,
            "classifiers": plain([dict(row) for row in self.rows()]),
        }


@named_columns
def space(
    data: Any,
    *,
    label: str | None = None,
    predicted: str | Sequence[str] | None = None,
    threshold: float | str = 0.5,
    cluster: str | None = None,
    pos_label: Any = None,
    prevalence: float | None = None,
    metric: str = "balanced_accuracy",
    replicates: int = 2_000,
    seed: Seed = 0,
    **parameters: float,
) -> Space:
    """ROC convex hull of several classifiers: which are never optimal, and for which costs each of the others is.

    The expected cost of a classifier at a prevalence is linear in its rates, so the optimal one for a cost ratio lies
    on the upper convex hull of the points (the trivial classifiers among them); a classifier inside is never optimal.
    Rows (or clusters of them) are resampled for all classifiers at once; of confusions alone, which do not say which
    rows are the same, each by itself. Provost & Fawcett (2001), Mach. Learn. 42.

    Parameters
    ----------
    data
        A panel, a dataframe or file, or confusions by name.
    label, predicted
        Columns of the labels, and of the predictions of each classifier.
    threshold
        Where a panel's models are cut: a number, or a policy by which each chooses.
    cluster
        Column of clusters of dependent rows.
    pos_label
        The positive label.
    prevalence
        Prevalence to decide at; left out, that of the data.
    metric, **parameters
        Metric of the four cells by which a leader is named, and its parameters.
    replicates
        Number of resamples.
    seed
        Seed of the resamples.

    Returns
    -------
    Space
        Points with their optimal cost ratios, and the leader.

    Examples
    --------
    >>> import tallymark as tm
    >>> def table(tpr, fpr):
    ...     return tm.Confusion.of_cells(tp=tpr * 1000, fp=fpr * 1000, fn=1000 - tpr * 1000, tn=1000 - fpr * 1000)
    >>> three = {"A": table(0.4, 0.05), "B": table(0.75, 0.2), "E": table(0.5, 0.4)}
    >>> print(tm.decisions.space(three).verdict[2].partition(" (")[0])
    E is never the best choice: B finds at least as many with no more false alarms

    """
    facts = METRICS[metric]
    if facts.cells is None:
        raise InputError(
            f"{metric} is no metric of the four cells; take one such as balanced_accuracy, f1 or expected_cost."
        )
    times = checked_number(replicates, "replicates", 100)
    if unknown := set(parameters) - set(facts.parameters):
        raise InputError(f"{metric} has no parameter {min(unknown)!r}; it has {', '.join(facts.parameters) or 'none'}.")
    rng = np.random.default_rng(seeds(seed, 1)[0])
    paired = not _are_tables(data)
    if paired:
        predictions = _Predictions.read(data, label, predicted, threshold, cluster, pos_label)
        tables, draws = predictions.tables(), predictions.resampled_rates(times, rng)
    else:
        tables, draws = _of_tables(data, times, rng)
    first = next(iter(tables.values()))
    share = float(first.prevalence if prevalence is None else _check.probability(prevalence, "prevalence"))
    rates = {name: (float(c.tp / (c.tp + c.fn)), float(c.fp / (c.fp + c.tn))) for name, c in tables.items()} | NAIVE

    def value(tpr: Any, fpr: Any) -> Floats:
        return metric_at_rates(metric, tpr, fpr, share, parameters)

    points = _points(rates, draws, share, value)
    sign = -1.0 if facts.better == "lower" else 1.0
    best = _leader(sign * np.array([[one.value for one in points[: len(tables)]]]))[0]
    leaders = _leader(sign * value(draws[:, :, 0], draws[:, :, 1]))
    return Space(
        points=tuple(points[: len(tables)]),
        naive=tuple(points[len(tables) :]),
        confusions=tables,
        prevalence=share,
        metric=facts.name,
        best=(points[best].name, float(np.mean(leaders == best))),
        replicates=times,
        paired=paired,
    )


def _points(
    rates: Mapping[str, tuple[float, float]], draws: Floats, share: float, value: Callable[[Any, Any], Floats]
) -> list[Point]:
    """Every classifier, the naive ones last, given its rates (tpr, fpr) and those of its resamples."""
    tpr, fpr = np.array(list(rates.values())).T
    low, high = _slopes(tpr, fpr)
    naive = np.broadcast_to(np.array(list(NAIVE.values()))[None], (len(draws), 2, 2))
    with_naive = np.concatenate((draws, naive), axis=1)
    optimal = _slopes(with_naive[:, :, 0], with_naive[:, :, 1])[1] > 0.0
    values = value(tpr, fpr)
    points = []
    for place, name in enumerate(rates):
        wins = None if high[place] <= 0.0 else _ratios(low[place], high[place], share)
        others = [] if name in NAIVE else [other for other in rates if other not in {name, *NAIVE}]
        positive = share * tpr[place] + (1.0 - share) * fpr[place]
        points.append(
            Point(
                name=name,
                tpr=float(tpr[place]),
                fpr=float(fpr[place]),
                precision=float(share * tpr[place] / positive) if positive > 0.0 else math.nan,
                dominated_by=tuple(o for o in others if dominated(name, {name: rates[name], o: rates[o]})),
                wins=wins,
                sure=float(np.mean(optimal[:, place] == (wins is not None))),
                value=float(values[place]),
            )
        )
    return points


def _leader(values: Floats) -> NDArray[Any]:
    """Place of the largest value of each line, nan being the least."""
    return np.asarray(np.argmax(np.where(np.isnan(values), -np.inf, values), axis=1))


def _slopes(tpr: Floats, fpr: Floats) -> tuple[Floats, Floats]:
    """For each point of the last axis the slopes between which it maximises tpr - slope · fpr; (0, 0) where it never
    does.
    """
    rise, run = (rate[..., :, None] - rate[..., None, :] for rate in (tpr, fpr))
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = rise / run
    # A point beats those to its left at slopes that are small enough, those to its right at slopes that are large
    # enough.
    high = np.where(run > 0, bound, np.inf).min(axis=-1)
    low = np.maximum(np.where(run < 0, bound, -np.inf).max(axis=-1), 0.0)
    never = ((run == 0) & (rise < 0)).any(axis=-1) | (high <= low)
    return np.where(never, 0.0, low), np.where(never, 0.0, high)


def _ratios(low: float, high: float, share: float) -> tuple[float, float]:
    """Ratios of the cost of a miss to that of a false alarm at which the slope (1 - π) / (π · ratio)
    lies between two.
    """
    odds = (1.0 - share) / share
    return (0.0 if math.isinf(high) else odds / high), (math.inf if low == 0.0 else odds / low)


def _are_tables(data: Any) -> bool:
    return isinstance(data, Mapping) and bool(data) and all(isinstance(one, Confusion) for one in data.values())


@dataclass(frozen=True, eq=False)
class _Predictions:
    """Predictions of several classifiers for the same rows."""

    truth: Bools
    labels: Any
    calls: Mapping[str, Bools]
    mass: Floats
    #: Cluster of each row, None where rows are independent.
    groups: NDArray[Any] | None

    def __post_init__(self) -> None:
        if len(self.calls) < 2:
            raise InputError("A space compares two classifiers or more; name several.")
        if self.truth.all() or not self.truth.any():
            raise InputError("Rates need rows of both classes; the labels have one class only.")

    @classmethod
    def read(
        cls, data: Any, label: str | None, predicted: Any, threshold: float | str, cluster: str | None, pos_label: Any
    ) -> Self:
        if not isinstance(data, Panel):
            truth, labels, calls, groups = _of_columns(data, label, predicted, cluster, pos_label)
            return cls(truth, labels, calls, np.ones(len(truth)), groups)
        if label is not None or predicted is not None or cluster is not None:
            raise InputError("A panel has its labels, scores and clusters; leave label=, predicted= and cluster= out.")
        groups = data.cluster
        if groups is None and data.weights is not None:
            # Weighted rows are not repeated ones: each row is drawn with its weight.
            groups = np.arange(data.n)
        cuts = {model: data.tally(model).at(threshold).threshold for model in data.models}
        calls = {model: data.scores[model] >= cuts[model] for model in data.models}
        return cls(data.is_positive, data.labels, calls, np.asarray(data.mass, dtype=np.float64), groups)

    def tables(self) -> dict[str, BinaryConfusion]:
        """The confusion matrix of each classifier."""
        sides = (~self.truth, self.truth)
        return {
            name: BinaryConfusion(
                np.array([[self.mass[side & ~c].sum(), self.mass[side & c].sum()] for side in sides]),
                self.labels,
                positive=1,
            )
            for name, c in self.calls.items()
        }

    def resampled_rates(self, times: int, rng: np.random.Generator) -> Floats:
        """Rates (tpr, fpr) of every classifier in resamples of rows, or of clusters of rows."""
        # Rows with the same label and predictions are alike: only their number is drawn.
        columns = np.column_stack((self.truth, *self.calls.values()))
        patterns, code = np.unique(columns, axis=0, return_inverse=True)
        counts = self._pattern_counts(code.ravel(), len(patterns), times, rng)
        up, call = patterns[:, 0].astype(np.float64), patterns[:, 1:].astype(np.float64)
        positives, negatives = counts @ up, counts @ (1.0 - up)
        with np.errstate(divide="ignore", invalid="ignore"):
            tpr = np.where(positives[:, None] > 0, counts @ (call * up[:, None]) / positives[:, None], 0.0)
            fpr = np.where(negatives[:, None] > 0, counts @ (call * (1.0 - up)[:, None]) / negatives[:, None], 0.0)
        return np.stack((tpr, fpr), axis=2)

    def _pattern_counts(self, code: NDArray[Any], patterns: int, times: int, rng: np.random.Generator) -> Floats:
        """How often each pattern occurs in every resample."""
        if self.groups is None:
            counts = np.bincount(code, self.mass, patterns)
            return rng.multinomial(round(counts.sum()), counts / counts.sum(), times).astype(np.float64)
        clusters = np.unique(self.groups, return_inverse=True)[1]
        number = int(clusters.max()) + 1
        if number < 2:
            raise InputError(
                "All rows are one cluster, so nothing can be said of how they vary; name another cluster=."
            )
        by_cluster = np.zeros((number, patterns))
        np.add.at(by_cluster, (clusters, code), self.mass)
        parts = [
            rng.multinomial(number, np.full(number, 1.0 / number), min(_BLOCK, times - start)) @ by_cluster
            for start in range(0, times, _BLOCK)
        ]
        return np.concatenate(parts)


def _of_columns(
    data: Any, label: str | None, predicted: Any, cluster: str | None, pos_label: Any
) -> tuple[Bools, Any, dict[str, Bools], NDArray[Any] | None]:
    names = column_names(predicted, "predicted=")
    if label is None or not names:
        raise InputError(
            "Name the columns: label= and predicted=[…], one for each classifier (or pass a panel, or confusions by "
            "name)."
        )
    wanted = [Wanted(label, "label=", "class"), *(Wanted(name, "predicted=", "class") for name in names)]
    columns = any_columns(data, wanted + ([] if cluster is None else [Wanted(cluster, "cluster=")]))
    truth, labels = _check.binary_labels(columns[label], pos_label, label)
    calls = {name: np.asarray(_check.calls(columns[name], columns[label], name, label) == labels[1]) for name in names}
    return truth, labels, calls, None if cluster is None else checked_cluster(columns[cluster], cluster)


def _of_tables(
    data: Mapping[str, Any], times: int, rng: np.random.Generator
) -> tuple[dict[str, BinaryConfusion], Floats]:
    """Confusions by name, and the rates (tpr, fpr) of each in independent resamples."""
    if len(data) < 2:
        raise InputError("A space compares two classifiers or more; pass several by name.")
    tables, draws = {}, []
    for name, table in data.items():
        if not isinstance(table, BinaryConfusion) or not all(table.truth):
            raise InputError(f"{name!r} must be a confusion of two classes with a known positive one and rows of both.")
        tables[str(name)] = table
        up, down = float(table.tp + table.fn), float(table.fp + table.tn)
        if min(up, down) < 1.0:
            raise InputError(f"{name!r} has less than one row of a class; tables to be resampled hold counts of rows.")
        rates = [rng.binomial(round(n), hits / n, times) / round(n) for hits, n in ((table.tp, up), (table.fp, down))]
        draws.append(np.stack(rates, axis=1))
    return tables, np.stack(draws, axis=1)
