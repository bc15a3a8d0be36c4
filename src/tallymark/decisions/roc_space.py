"""``tm.decisions.space``: several classifiers as points of ROC and PR space, which of them could be the best choice, and for which costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

#: Calling nothing and calling everything positive, which need no classifier.
NAIVE = {"call none": (0.0, 0.0), "call all": (1.0, 1.0)}

#: Cells of the draws that are held at once.
_BLOCK = 250


@dataclass(frozen=True, eq=False, repr=False)
class Point(Shown):
    """A classifier in ROC space: where it is, and for which costs it is the best choice.

    `wins` are the ratios of the cost of a miss to that of a false alarm between which it has the least expected cost of all, None where
    there are none; `sure` is the share of resamples in which it wins somewhere, or nowhere, as it does here. The ends of `wins` themselves are
    estimates. Classifiers with the same rates win together.
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
        """What can be said of it."""
        again = f" (it wins {'nowhere' if self.wins is None else 'somewhere'} in {100 * self.sure:.0f} % of resamples)"
        if self.dominated_by:
            return f"{self.name} is never the best choice: {self.dominated_by[0]} finds at least as many with no more false alarms{again}."
        if self.wins is None:
            return f"{self.name} is never the best choice: whatever the costs, another one costs less{again}."
        low, high = self.wins
        if low == 0.0 and math.isinf(high):
            return f"{self.name} is the best choice whatever the costs{again}."
        if low == 0.0:
            return f"{self.name} is the best choice while a miss costs up to {high:.3g} times a false alarm{again}."
        if math.isinf(high):
            return f"{self.name} is the best choice once a miss costs {low:.3g} times a false alarm or more{again}."
        return f"{self.name} is the best choice while a miss costs between {low:.3g} and {high:.3g} times a false alarm{again}."


@dataclass(frozen=True, eq=False, repr=False)
class Space(Shown):
    """Classifiers in ROC and PR space at a prevalence; `points` has each, `confusions` their tables, the naive ones apart."""

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
        """What can be said, a sentence for each classifier; naive ones where they win."""
        said = [one.sentence() for one in (*self.points, *(one for one in self.naive if one.wins is not None))]
        name, sure = self.best
        return [*said, f"By {self.metric} {name} is ahead (in {100 * sure:.0f} % of resamples)."]

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
                "classifier": one.name, "tpr": one.tpr, "fpr": one.fpr, "precision": one.precision, self.metric: one.value,
                "dominated_by": ", ".join(one.dominated_by), "wins_from": None if one.wins is None else one.wins[0],
                "wins_to": None if one.wins is None else one.wins[1], "sure": one.sure,
            }
            for one in (*self.points, *self.naive)
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "prevalence": self.prevalence, "metric": self.metric, "best": {"classifier": self.best[0], "sure": self.best[1]},
            "replicates": self.replicates, "paired": self.paired, "verdict": self.verdict,
            "classifiers": plain([dict(row) for row in self.rows()]),
        }  # fmt: skip


@named_columns
def space(
    data: Any, *, label: str | None = None, predicted: str | Sequence[str] | None = None, threshold: float | str = 0.5,
    cluster: str | None = None, pos_label: Any = None, prevalence: float | None = None, metric: str = "balanced_accuracy",
    replicates: int = 2_000, seed: Seed = 0, **parameters: float,
) -> Space:  # fmt: skip
    """Several classifiers in ROC and PR space: which are never the best choice, and for which costs each of the others is.

    `data` is a panel, whose models are cut at `threshold` (a number, or a policy each chooses by), a dataframe or file with a `label`
    and several `predicted` columns, or confusions by name. The expected cost of a classifier at a prevalence is linear in its rates,
    so the best one for a ratio of costs lies on the upper convex hull of the points (calling none and calling all among them); a
    classifier inside is never the best. Sureness comes from resampling rows (or clusters of them) for all classifiers at once; of
    confusions alone, which do not say which rows are the same, from resampling each by itself. `prevalence` is the one to decide at,
    `metric` the one by which a leader is named. Provost & Fawcett (2001), Mach. Learn. 42.

    >>> import tallymark as tm
    >>> def table(tpr, fpr):
    ...     return tm.Confusion.of_cells(tp=tpr * 1000, fp=fpr * 1000, fn=1000 - tpr * 1000, tn=1000 - fpr * 1000)
    >>> five = {"A": table(0.4, 0.05), "B": table(0.75, 0.2), "C": table(0.85, 0.35), "D": table(0.95, 0.6), "E": table(0.5, 0.4)}
    >>> print(tm.decisions.space(five).verdict[4])
    E is never the best choice: B finds at least as many with no more false alarms (it wins nowhere in 100 % of resamples).
    """
    facts = METRICS[metric]
    if facts.cells is None:
        raise InputError(
            f"{metric} is no metric of the four cells; take one such as balanced_accuracy, f1 or expected_cost."
        )
    times = checked_number(replicates, "replicates", 100)
    if unknown := set(parameters) - set(facts.parameters):
        raise InputError(f"{metric} has no parameter {min(unknown)!r}; it has {', '.join(facts.parameters) or 'none'}.")
    tables, draws, paired = _drawn(data, label, predicted, threshold, cluster, pos_label, times, seed)
    share = (
        next(iter(tables.values())).prevalence if prevalence is None else _check.probability(prevalence, "prevalence")
    )
    rates = {name: (float(c.tp / (c.tp + c.fn)), float(c.fp / (c.fp + c.tn))) for name, c in tables.items()}
    whole = rates | NAIVE
    names = list(whole)
    tpr, fpr = (np.array([whole[name][side] for name in names]) for side in (0, 1))
    naive = np.broadcast_to(np.array(list(NAIVE.values()))[None], (times, 2, 2))
    all_draws = np.concatenate((draws, naive), axis=1)
    won = np.stack([_slopes(line[:, 0], line[:, 1])[1] > 0.0 for line in all_draws])
    slopes = _slopes(tpr, fpr)
    better = -1.0 if facts.better == "lower" else 1.0
    values = metric_at_rates(metric, tpr, fpr, share, parameters)
    own = better * metric_at_rates(metric, draws[:, :, 0], draws[:, :, 1], share, parameters)
    leaders = np.nanargmax(np.where(np.isnan(own), -np.inf, own), axis=1)
    best = int(np.nanargmax(np.where(np.isnan(values[: len(rates)]), -np.inf, better * values[: len(rates)])))
    points = []
    for place, name in enumerate(names):
        low, high = slopes[0][place], slopes[1][place]
        wins = None if high <= 0.0 else _ratios(low, high, share)
        over = (
            [other for other in rates if other != name and dominated(name, {name: whole[name], other: whole[other]})]
            if name in rates
            else []
        )
        sure = float(np.mean(won[:, place] == (wins is not None)))
        called = share * tpr[place] + (1.0 - share) * fpr[place]
        precision = float(share * tpr[place] / called) if called > 0.0 else math.nan
        points.append(
            Point(name, float(tpr[place]), float(fpr[place]), precision, tuple(over), wins, sure, float(values[place]))
        )
    return Space(
        tuple(points[: len(rates)]), tuple(points[len(rates) :]), tables, float(share), facts.name,
        (names[best], float(np.mean(leaders == best))), times, paired,
    )  # fmt: skip


def _slopes(tpr: Floats, fpr: Floats) -> tuple[Floats, Floats]:
    """For each point the slopes between which it maximises tpr - slope · fpr: (0, 0) where it never does."""
    low, high = np.zeros(len(tpr)), np.full(len(tpr), np.inf)
    for i in range(len(tpr)):
        rise, run = tpr[i] - tpr, fpr[i] - fpr
        # Points to the left must be beaten by a slope that is small enough, those to the right by one that is large enough.
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = rise / run
        if (run > 0).any():
            high[i] = min(high[i], float(bound[run > 0].min()))
        if (run < 0).any():
            low[i] = max(low[i], float(bound[run < 0].max()))
        same = run == 0
        same[i] = False
        if (same & (rise < 0)).any() or high[i] <= low[i]:
            low[i] = high[i] = 0.0
    return low, high


def _ratios(low: float, high: float, share: float) -> tuple[float, float]:
    """Ratios of the cost of a miss to that of a false alarm at which the slope (1 - π) / (π · ratio) lies between two."""
    odds = (1.0 - share) / share
    return (0.0 if math.isinf(high) else odds / high), (math.inf if low == 0.0 else odds / low)


def _drawn(
    data: Any,
    label: str | None,
    predicted: Any,
    threshold: float | str,
    cluster: str | None,
    pos_label: Any,
    times: int,
    seed: Seed,
) -> tuple[dict[str, BinaryConfusion], Floats, bool]:
    """The table of each classifier, its rates (tpr, fpr) in every resample, and whether the resamples are of the same rows."""
    rng = np.random.default_rng(seeds(seed, 1)[0])
    if isinstance(data, Mapping) and data and all(isinstance(one, Confusion) for one in data.values()):
        return _of_tables(data, times, rng)
    if isinstance(data, Panel):
        if label is not None or predicted is not None or cluster is not None:
            raise InputError(
                "A panel knows its labels, scores and clusters; leave label=, predicted= and cluster= out."
            )
        truth, mass, groups = data.is_positive, np.asarray(data.mass, dtype=np.float64), data.cluster
        if groups is None and data.weights is not None:
            # Weights are no repeated rows: each row is drawn with its own.
            groups = np.arange(data.n)
        cuts = {model: data.tally(model).at(threshold).threshold for model in data.models}
        calls = {model: data.scores[model] >= cuts[model] for model in data.models}
        labels: Any = data.labels
    else:
        truth, labels, calls, groups = _of_columns(data, label, predicted, cluster, pos_label)
        mass = np.ones(len(truth))
    if len(calls) < 2:
        raise InputError("A space compares two classifiers or more; name several.")
    if truth.all() or not truth.any():
        raise InputError("Rates need rows of both classes; the labels have one class only.")
    tables = {
        name: BinaryConfusion(
            np.array([[mass[~truth & ~c].sum(), mass[~truth & c].sum()], [mass[truth & ~c].sum(), mass[truth & c].sum()]]), labels, positive=1
        )
        for name, c in calls.items()
    }  # fmt: skip
    return tables, _resampled(truth, np.stack(list(calls.values()), axis=1), mass, groups, times, rng), True


def _of_columns(
    data: Any, label: str | None, predicted: Any, cluster: str | None, pos_label: Any
) -> tuple[Bools, Any, dict[str, Bools], NDArray[Any] | None]:
    names = column_names(predicted, "predicted=")
    if label is None or not names:
        raise InputError(
            "Name the columns: label= and predicted=[…], one for each classifier (or pass a panel, or confusions by name)."
        )
    wanted = [Wanted(label, "label=", "class"), *(Wanted(name, "predicted=", "class") for name in names)]
    columns = any_columns(data, wanted + ([] if cluster is None else [Wanted(cluster, "cluster=")]))
    truth, labels = _check.binary_labels(columns[label], pos_label, label)
    calls = {}
    for name in names:
        calls[name] = np.asarray(_check.calls(columns[name], columns[label], name, label) == labels[1])
    return truth, labels, calls, None if cluster is None else checked_cluster(columns[cluster], cluster)


def _of_tables(
    data: Mapping[str, Any], times: int, rng: np.random.Generator
) -> tuple[dict[str, BinaryConfusion], Floats, bool]:
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
        draws.append(
            np.stack(
                (
                    rng.binomial(round(up), table.tp / up, times) / round(up),
                    rng.binomial(round(down), table.fp / down, times) / round(down),
                ),
                axis=1,
            )
        )
    return tables, np.stack(draws, axis=1), False


def _resampled(
    truth: Bools, calls: NDArray[Any], mass: Floats, groups: NDArray[Any] | None, times: int, rng: np.random.Generator
) -> Floats:
    """Rates of every classifier in resamples of rows, or of clusters of rows."""
    # Rows with the same label and calls are alike: only their number is drawn.
    patterns, code = np.unique(np.column_stack((truth, calls)), axis=0, return_inverse=True)
    own = None if groups is None else np.unique(groups, return_inverse=True)[1]
    if own is not None and int(own.max()) < 1:
        raise InputError("All rows are one cluster, so nothing can be said of how they vary; name another cluster=.")
    if own is None:
        counts = np.bincount(code.ravel(), mass, len(patterns))
        drawn = rng.multinomial(round(counts.sum()), counts / counts.sum(), times).astype(np.float64)
    else:
        number = int(own.max()) + 1
        by_cluster = np.zeros((number, len(patterns)))
        np.add.at(by_cluster, (own, code.ravel()), mass)
        parts = [
            rng.multinomial(number, np.full(number, 1.0 / number), min(_BLOCK, times - start)) @ by_cluster
            for start in range(0, times, _BLOCK)
        ]
        drawn = np.concatenate(parts)
    up, call = patterns[:, 0].astype(np.float64), patterns[:, 1:].astype(np.float64)
    positives, negatives = drawn @ up, drawn @ (1.0 - up)
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr = np.where(positives[:, None] > 0, drawn @ (call * up[:, None]) / positives[:, None], 0.0)
        fpr = np.where(negatives[:, None] > 0, drawn @ (call * (1.0 - up)[:, None]) / negatives[:, None], 0.0)
    return np.stack((tpr, fpr), axis=2)
