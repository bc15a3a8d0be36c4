"""Intervals of metrics of a binary confusion matrix, by propagating the uncertainty of its rates and prevalence.

Each rate has its mid-p confidence distribution, half Beta(hits, misses + 1) and half Beta(hits + 1, misses);
the metric's limits are quantiles of its values over draws of the rates. A metric that is infinite in the sample has an
infinite upper limit. Berry & Armitage (1995), The Statistician 44(4); Goutte & Gaussier (2005), ECIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Sampling
from tallymark.inference.limits.proportions import effective_rates, kish, limits, unsure_by
from tallymark.inference.scales import NO_SPREAD
from tallymark.metrics.declare import smooth_cells
from tallymark.registry import METRICS, Metric
from tallymark.summaries.confusion import Confusion

Limits = tuple[float, float, str]

#: Points at which rates are drawn: evenly spread, so that no seed is needed.
_DRAWS = 2**13

#: Matrices drawn at a time: what stays in a core's cache.
_TOGETHER = 8


class RateQuery(NamedTuple):
    """Metrics of one binary matrix, and the parameters of each where they are not its defaults."""

    names: Sequence[str]
    confusion: Confusion
    parameters: Mapping[str, Mapping[str, float]] = {}


def rate_limits(
    names: Iterable[str],
    confusion: Confusion,
    level: float,
    sampling: Sampling = "stratified",
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Limits]:
    """Low, high and method of metrics of a binary matrix; those that class sizes fix are left out.

    `stratified` holds the class sizes (or the stated prevalence) fixed; `plain` draws all rows at random. `parameters`
    are those of each metric, where they are not its defaults.
    """
    return limits_of_many([RateQuery(list(names), confusion, parameters or {})], level, sampling)[0]


def limits_of_many(
    queries: Sequence[RateQuery], level: float, sampling: Sampling = "stratified"
) -> list[dict[str, Limits]]:
    """The same of many matrices at once."""
    if not queries:
        return []
    items: list[dict[str, Limits]] = [{} for _ in queries]
    proportions, drawn = _by_kind(queries, sampling)
    cells = _Cells.of([one.confusion for one in queries])
    for name, places in proportions.items():
        low, high = cells.take(places).proportion(METRICS[name], level)
        for i, a, b in zip(places, low.tolist(), high.tolist(), strict=True):
            if not math.isnan(a):
                items[i][name] = (a, b, "mid-p")
    for start in range(0, len(drawn), _TOGETHER):
        block = drawn[start : start + _TOGETHER]
        draws = cells.take(block).draws(sampling)
        for row, name, (a, b) in _quantiles_of_metrics([queries[i] for i in block], draws, level, sampling):
            items[block[row]][name] = (a, b, "mid-p draws")
    return [
        {name: limit[name] for name in one.names if name in limit} for one, limit in zip(queries, items, strict=True)
    ]


def _by_kind(queries: Sequence[RateQuery], sampling: Sampling) -> tuple[dict[str, list[int]], list[int]]:
    """The matrices whose proportions are wanted, by metric; and those that have to be drawn for other metrics."""
    proportions: dict[str, list[int]] = {}
    drawn: dict[int, None] = {}
    for i, one in enumerate(queries):
        for name in one.names if all(one.confusion.truth) else ():
            if _is_proportion(name, one.confusion, sampling):
                proportions.setdefault(name, []).append(i)
            elif not METRICS[name].model_free:
                drawn[i] = None
    return proportions, list(drawn)


#: The cells of each class.
_CLASSES = ({"tp", "fn"}, {"fp", "tn"})


def _is_proportion(name: str, confusion: Confusion, sampling: Sampling) -> bool:
    """Whether a metric is a share of a number of rows that its interval may take as fixed."""
    facts = METRICS[name]
    if facts.proportion is None:
        return False
    hits, misses = facts.proportion
    if {*hits, *misses} in _CLASSES:
        return True
    # Other margins are fixed only when all rows were drawn at random.
    return confusion.prior is None and (sampling == "plain" or facts.model_free)


def _quantiles_of_metrics(
    queries: Sequence[RateQuery], draws: tuple[Floats, Floats, Floats, Floats], level: float, sampling: Sampling
) -> Iterable[tuple[int, str, tuple[float, float]]]:
    """Limits of the metrics that are drawn, by matrix and name."""
    wanted: dict[tuple[str, tuple[tuple[str, float], ...]], list[int]] = {}
    for row, one in enumerate(queries):
        for name in one.names:
            if not METRICS[name].model_free and not _is_proportion(name, one.confusion, sampling):
                settings = one.parameters.get(name, METRICS[name].parameters)
                wanted.setdefault((name, tuple(settings.items())), []).append(row)
    tail = (1.0 - level) / 2
    for (name, chosen), rows in wanted.items():
        cells = draws if len(rows) == len(queries) else tuple(column[rows] for column in draws)
        facts = METRICS[name]
        shape = (len(rows), _DRAWS)
        drawn = [np.broadcast_to(part(*cells, **dict(chosen)), shape) for part in smooth_cells(facts)]
        # A metric with a kink is the smaller of two smooth ones. Draws of it alone would never reach the kink, where a
        # count is right.
        ends = np.minimum(np.min([_limits_of_draws(values, tail) for values in drawn], axis=0), facts.high)
        yield from ((row, name, (low, high)) for row, low, high in zip(rows, *ends.tolist(), strict=True))


def _limits_of_draws(values: Floats, tail: float) -> Floats:
    """Lower and upper quantiles of draws, a row for each matrix."""
    # A minimum over NaN is NaN.
    if np.isnan(values.min()):
        return np.nanquantile(values, [tail, 1.0 - tail], axis=1, method="nearest")
    return np.array([_ends(row, tail) for row in values]).T


def _ends(values: Floats, share: float) -> tuple[float, float]:
    """Lower and upper quantile, selected among the few values that a subsample shows to be small or large.

    Selecting them among all values takes NumPy four times as long.
    """
    place = round((_DRAWS - 1) * share)
    sample = np.sort(values[::_EVERY])
    reach = min(2 * place // _EVERY + 8, len(sample) - 1)
    small, large = values.compress(values <= sample[reach]), values.compress(values >= sample[-1 - reach])
    small, large = (few if len(few) > place else values for few in (small, large))
    last = len(large) - 1 - place
    return float(np.partition(small, place)[place]), float(np.partition(large, last)[last])


#: One draw in so many is in the subsample.
_EVERY = 32


class _Cells(NamedTuple):
    """Cells of many matrices: masses, sums of squared weights (the counts themselves without weights) and rows.

    `prior` is the stated prevalence, nan where none is.
    """

    mass: dict[str, Floats]
    squares: dict[str, Floats]
    rows: dict[str, Floats]
    prior: Floats
    weighted: bool

    @classmethod
    def of(cls, confusions: Sequence[Confusion]) -> _Cells:
        weighted = any(c.squares is not None for c in confusions)
        mass = np.array([_positive_last(c, c.matrix) for c in confusions], dtype=np.float64)
        squares = np.array(
            [_positive_last(c, c.matrix if c.squares is None else c.squares) for c in confusions], dtype=np.float64
        )
        rows = np.array(
            [_positive_last(c, c.matrix if c.rows_per_cell is None else c.rows_per_cell) for c in confusions],
            dtype=np.float64,
        )
        prior = np.array([math.nan if c.prior is None else c.prior for c in confusions])
        return cls(_named(mass), _named(squares), _named(rows), prior, weighted)

    def take(self, places: Sequence[int]) -> _Cells:
        """Some of the matrices."""
        at = np.asarray(places)
        mass, squares, rows = (
            {name: cells[at] for name, cells in side.items()} for side in (self.mass, self.squares, self.rows)
        )
        return _Cells(mass, squares, rows, self.prior[at], self.weighted)

    def _rates(self, hits: Sequence[str], misses: Sequence[str]) -> tuple[Floats, Floats]:
        """Hits and rows of a share; with weights, effective ones, divided by :func:`unsure_by`."""
        hit, miss = (np.asarray(sum(self.mass[c] for c in cells)) for cells in (hits, misses))
        squares = [np.asarray(sum(self.squares[c] for c in cells)) for cells in (hits, misses)]
        k, n = effective_rates(hit, hit + miss, *squares)
        if not self.weighted:
            return k, n
        rows, of_squares = np.asarray(sum(self.rows[c] for c in (*hits, *misses))), squares[0] + squares[1]
        unsure = unsure_by(rows, kish(hit + miss, of_squares))
        return k / unsure, n / unsure

    def proportion(self, facts: Metric, level: float) -> tuple[Floats, Floats]:
        """Limits of a metric that is a proportion."""
        hits, misses = facts.proportion or ((), ())
        return limits(*self._rates(hits, misses), level)

    def draws(self, sampling: Sampling) -> tuple[Floats, Floats, Floats, Floats]:
        """Draws of the four cells, as shares of the whole, at the stated prevalence; a row for each matrix."""
        up, down = (("tp", "fn"), ("fp", "tn"))
        tpr, fpr = (_confidence(j, *self._rates((hit,), (miss,))) for j, (hit, miss) in enumerate((up, down)))
        positives, everything = (sum(self.mass[c] for c in cells) for cells in (up, (*up, *down)))
        sampled: Floats = np.asarray(positives / everything)
        share: Floats = np.where(np.isnan(self.prior), sampled, self.prior)[:, None]
        hits_and_rows = self._rates(up, down) if sampling == "plain" else self._uneven_classes(sampled)
        if hits_and_rows is not None:
            free = np.isnan(self.prior) & (hits_and_rows[1] > 0.0)
            if free.any():
                drawn = _confidence(2, *hits_and_rows)
                share = drawn if free.all() else np.where(free[:, None], drawn, share)
        rest = 1.0 - share
        tp, fp = share * tpr, rest * fpr
        # The other two in the memory of the rates, which are no longer needed: to allocate takes longer than to fill.
        fn, tn = (np.subtract(1.0, rate, out=rate) for rate in (tpr, fpr))
        fn *= share
        tn *= rest
        return tp, fp, fn, tn

    def _uneven_classes(self, share: Floats) -> tuple[Floats, Floats] | None:
        """Effective positives and rows for the variance of the prevalence where class sizes are fixed, weights not.

        Rows are 0 where all weigh the same, and the prevalence has no variance.
        """
        if not self.weighted:
            return None
        # Relative variance of each class's mass, its number of rows held fixed.
        parts = [
            np.maximum(
                sum(self.squares[c] for c in cells) / sum(self.mass[c] for c in cells) ** 2
                - 1.0 / sum(self.rows[c] for c in cells),
                0.0,
            )
            for cells in (("fp", "tn"), ("tp", "fn"))
        ]
        uneven = parts[0] + parts[1]
        varies = uneven > NO_SPREAD
        n = np.maximum(1.0 / np.where(varies, share * (1.0 - share) * uneven, 1.0) - 1.0, 1.0)
        return np.where(varies, share * n, 0.0), np.where(varies, n, 0.0)


def _positive_last(confusion: Confusion, matrix: Any) -> Any:
    """A matrix of two classes, the negative one first."""
    return matrix if confusion.positive == 1 else matrix[::-1, ::-1]


def _named(matrices: Floats) -> dict[str, Floats]:
    return {"tn": matrices[:, 0, 0], "fp": matrices[:, 0, 1], "fn": matrices[:, 1, 0], "tp": matrices[:, 1, 1]}


def _confidence(dimension: int, hits: Floats, n: Floats) -> Floats:
    """Draws from the mid-p confidence distribution of rates; its quantiles are the mid-p limits."""
    pairs = zip(hits.tolist(), (n - hits).tolist(), strict=True)
    both = np.array([(_quantiles(k, misses + 1.0), _quantiles(k + 1.0, misses)) for k, misses in pairs])
    both = both.reshape(len(hits), 2 * _NODES)
    place, part = _places()[dimension]
    # Steps between the nodes, which are fewer than the draws, are taken first.
    steps: Floats = np.diff(both, axis=1).take(place, axis=1)
    steps *= part
    steps += both.take(place, axis=1)
    return steps


@lru_cache(maxsize=2**12)
def _quantiles(a: float, b: float) -> Floats:
    """Quantiles of a Beta distribution at the nodes, right to seven digits.

    Computed at a few places and interpolated by a polynomial in normal scores of the log odds, which are smooth
    whatever the distribution. Cached, because groups of a few hundred rows have few different counts.
    """
    from scipy.special import betaincinv, expit, logit

    # Without hits, or without misses, half a row stands for them: a rate of exactly 0 has infinite odds.
    a, b = max(a, 0.5), max(b, 0.5)
    few, matrix = _polynomial()
    # The upper half from above, where a quantile near 1 still has all its digits.
    lower, upper = few[: _COMPUTED // 2 + 1], few[: _COMPUTED // 2][::-1]
    odds = np.concatenate((logit(betaincinv(a, b, lower)), -logit(betaincinv(b, a, upper))))
    values = np.empty(_NODES)
    values[0], values[-1] = 0.0, 1.0
    # Not a dot product of BLAS: its results depend on the number of threads.
    values[1:-1] = expit(np.einsum("k,kn->n", odds, matrix))
    values.flags.writeable = False
    return values


#: Nodes between which a quantile function is a straight line: its error is far below that of any sample.
_NODES = 1_025

#: Places at which the quantile function itself is computed.
_COMPUTED = 33


@cache
def _nodes() -> Floats:
    """Shares that crowd towards 0 and 1, where quantile functions bend."""
    return (1.0 - np.cos(np.linspace(0.0, math.pi, _NODES))) / 2


@cache
def _polynomial() -> tuple[Floats, Floats]:
    """Shares at which a function is computed, and the matrix that interpolates from them to the inner nodes.

    Lagrange's polynomial through Chebyshev's points of the normal scores, in barycentric form. Berrut & Trefethen
    (2004), SIAM Rev. 46(3).
    """
    from scipy.special import ndtr, ndtri

    wanted = ndtri(_nodes()[1:-1])
    places = wanted[-1] * -np.cos(np.linspace(0.0, math.pi, _COMPUTED))
    weights = np.where(np.arange(_COMPUTED) % 2, -1.0, 1.0)
    weights[[0, -1]] /= 2.0
    gaps = wanted[:, None] - places[None, :]
    same = np.abs(gaps) < 1e-12
    parts = weights / np.where(same, 1.0, gaps)
    matrix = np.where(same.any(axis=1)[:, None], same, parts / parts.sum(axis=1, keepdims=True))
    return ndtr(places), np.ascontiguousarray(matrix.T)


@cache
def _places() -> list[tuple[Any, Floats]]:
    """For each rate, the node before each draw and how far it is to the next.

    Nodes of the upper distribution come after those of the lower one.
    """
    items = []
    for points, coin in zip(_points()[:3], _points()[3:], strict=True):
        nodes = _nodes()
        place = np.clip(np.searchsorted(nodes, points, "right") - 1, 0, _NODES - 2)
        part = (points - nodes[place]) / (nodes[place + 1] - nodes[place])
        items.append((place + _NODES * (coin >= 0.5), part))
    return items


@cache
def _points() -> Floats:
    """Evenly spread points of the unit cube: multiples of square roots, without their whole part (Kronecker)."""
    return np.stack([np.arange(1, _DRAWS + 1) * math.sqrt(prime) % 1.0 for prime in (2, 3, 5, 7, 11, 13)])
