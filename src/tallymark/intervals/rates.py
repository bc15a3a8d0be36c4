"""Intervals of metrics at one threshold: everything there depends on the two rates and the prevalence.

Each rate is known up to its mid-p confidence distribution, half Beta(hits, misses + 1) and half Beta(hits + 1, misses);
the metric's limits are quantiles of its values over draws of the rates. A metric that is infinite in the sample has an
infinite upper limit. Berry & Armitage (1995), The Statistician 44(4); Goutte & Gaussier (2005), ECIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import NO_SPREAD, Sampling
from tallymark.intervals.proportions import effective_rate, limits
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

Limits = tuple[float, float, str]

#: Points at which rates are drawn: evenly spread, so that no seed is needed.
_DRAWS = 2**13

#: Shares of a fixed margin, by (hits, misses): intervals of a proportion are made for them.
_OF_A_CLASS = {"recall": ("tp", "fn"), "fnr": ("fn", "tp"), "specificity": ("tn", "fp"), "fpr": ("fp", "tn")}

#: Shares whose margin is fixed only when all rows were drawn at random.
_OF_A_SAMPLE = {
    "accuracy": (("tp", "tn"), ("fp", "fn")), "error": (("fp", "fn"), ("tp", "tn")),
    "precision": (("tp",), ("fp",)), "fdr": (("fp",), ("tp",)),
    "npv": (("tn",), ("fn",)), "false_omission_rate": (("fn",), ("tn",)),
    "predicted_prevalence": (("tp", "fp"), ("fn", "tn")), "prevalence": (("tp", "fn"), ("fp", "tn")),
}  # fmt: skip


def rate_limits(
    names: Iterable[str], confusion: Confusion, level: float, sampling: Sampling = "stratified",
    parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Limits]:  # fmt: skip
    """Low, high and method of metrics of a binary matrix; those that class sizes fix are left out.

    `stratified` holds the class sizes (or the stated prevalence) fixed; `plain` draws all rows at random. `parameters`
    are those of each metric, where they are not its defaults.
    """
    if not all(confusion.truth):
        return {}
    mass, squares = _cells(confusion)
    found: dict[str, Limits] = {}
    drawn = None
    for name in names:
        if name in _OF_A_CLASS:
            hit, miss = _OF_A_CLASS[name]
            found[name] = _proportion(mass, squares, (hit,), (miss,), level)
        elif name in _OF_A_SAMPLE and confusion.prior is None and (sampling == "plain" or name == "prevalence"):
            hits, misses = _OF_A_SAMPLE[name]
            if any(mass[cell] for cell in (*hits, *misses)):
                found[name] = _proportion(mass, squares, hits, misses, level)
        elif name != "prevalence":
            drawn = drawn or _draws(confusion, sampling)
            tail = (1.0 - level) / 2
            settings = (parameters or {}).get(name, METRICS[name].parameters)
            values: Floats = METRICS[name].cells(*drawn, **settings)  # type: ignore[misc]
            low, high = np.nanquantile(values, [tail, 1.0 - tail], method="nearest")
            found[name] = float(low), float(high), "mid-p draws"
    return found


def _proportion(
    mass: dict[str, float], squares: dict[str, float], hits: tuple[str, ...], misses: tuple[str, ...], level: float
) -> Limits:
    total = sum(mass[cell] for cell in (*hits, *misses))
    k, n = effective_rate(
        sum(mass[c] for c in hits), total, sum(squares[c] for c in hits), sum(squares[c] for c in misses)
    )
    low, high = limits(k, n, level)
    return float(low), float(high), "mid-p"


def _cells(confusion: Confusion) -> tuple[dict[str, float], dict[str, float]]:
    """Masses of the four cells as sampled, and their squared weights (the counts themselves without weights)."""
    squares = confusion.matrix if confusion.squares is None else confusion.squares
    i: int = confusion.positive  # type: ignore[assignment]
    places = {"tp": (i, i), "fn": (i, 1 - i), "fp": (1 - i, i), "tn": (1 - i, 1 - i)}
    return tuple({cell: float(a[at]) for cell, at in places.items()} for a in (confusion.matrix, squares))  # type: ignore[return-value]


def _draws(confusion: Confusion, sampling: Sampling) -> tuple[Floats, Floats, Floats, Floats]:
    """Draws of the four cells, as shares of the whole, at the prevalence looked at."""
    mass, squares = _cells(confusion)
    points = _points()
    tpr, fpr = (
        _confidence(
            points[j], points[j + 3], *effective_rate(mass[hit], mass[hit] + mass[miss], squares[hit], squares[miss])
        )
        for j, (hit, miss) in enumerate((("tp", "fn"), ("fp", "tn")))
    )
    share: Any = confusion.prevalence
    if confusion.prior is None:
        known = _known_shares(confusion) if sampling == "stratified" else _drawn_shares(mass, squares)
        share = share if known is None else _confidence(points[2], points[5], *known)
    return share * tpr, (1.0 - share) * fpr, share * (1.0 - tpr), (1.0 - share) * (1.0 - fpr)


def _drawn_shares(mass: dict[str, float], squares: dict[str, float]) -> tuple[float, float]:
    """Positives and rows behind the prevalence of rows drawn at random; with weights, effective ones."""
    up, down = ("tp", "fn"), ("fp", "tn")
    return effective_rate(
        sum(mass[c] for c in up), sum(mass.values()), sum(squares[c] for c in up), sum(squares[c] for c in down)
    )


def _known_shares(confusion: Confusion) -> tuple[float, float] | None:
    """The same where class sizes are fixed: their weights still vary; None where all weigh the same."""
    if confusion.squares is None or confusion.rows_per_cell is None:
        return None
    totals, squares, rows = confusion.truth, confusion.squares.sum(axis=1), confusion.rows_per_cell.sum(axis=1)
    # Relative variance of each class's mass, its number of rows held fixed.
    uneven = float(np.sum(np.maximum(squares / totals**2 - 1.0 / rows, 0.0)))
    share = confusion.prevalence
    if uneven <= NO_SPREAD:
        return None
    n = max(1.0 / (share * (1.0 - share) * uneven) - 1.0, 1.0)
    return share * n, n


def _confidence(points: Floats, coin: Floats, hits: float, n: float) -> Floats:
    """Draws of a rate, half from each side of what was seen: their quantiles are the mid-p limits of a proportion."""
    low, high = _quantiles(hits, n - hits + 1.0), _quantiles(hits + 1.0, n - hits)
    nodes = _nodes()
    return np.where(coin < 0.5, np.interp(points, nodes, low), np.interp(points, nodes, high))


def _quantiles(a: float, b: float) -> Floats:
    """Quantiles of a Beta distribution at the nodes."""
    from scipy.special import betaincinv

    # Where nothing, or everything, was hit, half a row stands for it: a rate of exactly 0 has infinite odds.
    found: Floats = betaincinv(max(a, 0.5), max(b, 0.5), _nodes())
    return found


#: Nodes between which a quantile function is a straight line: its error is far below that of any sample.
_NODES = 1_025


@cache
def _nodes() -> Floats:
    """Shares that crowd towards 0 and 1, where quantile functions bend."""
    return (1.0 - np.cos(np.linspace(0.0, math.pi, _NODES))) / 2


@cache
def _points() -> Floats:
    """Evenly spread points of the unit cube: multiples of square roots, without their whole part (Kronecker)."""
    return np.stack([np.arange(1, _DRAWS + 1) * math.sqrt(prime) % 1.0 for prime in (2, 3, 5, 7, 11, 13)])
