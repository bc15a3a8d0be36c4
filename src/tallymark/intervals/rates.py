"""Intervals of metrics at one threshold: everything there depends on the two rates and the prevalence.

Each rate is known up to a Jeffreys posterior, Beta(hits + ½, misses + ½); the metric's limits are quantiles of its
values over draws of the rates. Its coverage is close to nominal from five positives up, and it is never degenerate.
A metric that is infinite in the sample has an infinite upper limit. Brown, Cai & DasGupta (2001); Goutte & Gaussier (2005), ECIR.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import Sampling, Seed, or_nan, seeds
from tallymark.intervals.proportions import effective_rate, limits
from tallymark.metrics import expressions
from tallymark.metrics.threshold import d_prime_of_rates
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion

Limits = tuple[float, float, str]

#: Points at which posteriors are drawn: evenly spread, so that no seed is needed.
_DRAWS = 2**13

#: Shares of a fixed margin, by (hits, misses): Wilson's interval is made for them.
_OF_A_CLASS = {"recall": ("tp", "fn"), "fnr": ("fn", "tp"), "specificity": ("tn", "fp"), "fpr": ("fp", "tn")}

#: Shares whose margin is fixed only when all rows were drawn at random.
_OF_A_SAMPLE = {
    "accuracy": (("tp", "tn"), ("fp", "fn")), "error": (("fp", "fn"), ("tp", "tn")),
    "precision": (("tp",), ("fp",)), "fdr": (("fp",), ("tp",)),
    "npv": (("tn",), ("fn",)), "false_omission_rate": (("fn",), ("tn",)),
    "predicted_prevalence": (("tp", "fp"), ("fn", "tn")), "prevalence": (("tp", "fn"), ("fp", "tn")),
}  # fmt: skip


def rate_limits(
    names: Iterable[str], confusion: Confusion, level: float, sampling: Sampling = "stratified"
) -> dict[str, Limits]:
    """Low, high and method of metrics of a binary matrix; those that class sizes fix are left out.

    `stratified` holds the class sizes (or the stated prevalence) fixed; `plain` draws all rows at random.
    """
    if not all(confusion.truth):
        return {}
    mass, squares = _cells(confusion)
    found: dict[str, Limits] = {}
    drawn = None
    for name in names:
        if name in _OF_A_CLASS:
            hit, miss = _OF_A_CLASS[name]
            found[name] = _wilson(mass, squares, (hit,), (miss,), level)
        elif name in _OF_A_SAMPLE and confusion.prior is None and (sampling == "plain" or name == "prevalence"):
            hits, misses = _OF_A_SAMPLE[name]
            if any(mass[cell] for cell in (*hits, *misses)):
                found[name] = _wilson(mass, squares, hits, misses, level)
        elif name != "prevalence":
            drawn = drawn or _draws(confusion, sampling)
            tail = (1.0 - level) / 2
            low, high = np.nanquantile(_values(name, drawn), [tail, 1.0 - tail], method="nearest")
            found[name] = float(low), float(high), "jeffreys"
    return found


def _wilson(
    mass: dict[str, float], squares: dict[str, float], hits: tuple[str, ...], misses: tuple[str, ...], level: float
) -> Limits:
    total = sum(mass[cell] for cell in (*hits, *misses))
    k, n = effective_rate(
        sum(mass[c] for c in hits), total, sum(squares[c] for c in hits), sum(squares[c] for c in misses)
    )
    low, high = limits(k, n, level)
    return float(low), float(high), "wilson"


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
        _posterior(points[j], *effective_rate(mass[hit], mass[hit] + mass[miss], squares[hit], squares[miss]))
        for j, (hit, miss) in enumerate((("tp", "fn"), ("fp", "tn")))
    )
    share: Any = confusion.prevalence
    if sampling == "plain" and confusion.prior is None:
        up, down = (("tp", "fn"), ("fp", "tn"))
        p, n = sum(mass[c] for c in up), sum(mass.values())
        share = _posterior(points[2], *effective_rate(p, n, sum(squares[c] for c in up), sum(squares[c] for c in down)))
    return share * tpr, (1.0 - share) * fpr, share * (1.0 - tpr), (1.0 - share) * (1.0 - fpr)


def _posterior(points: Floats, hits: float, n: float) -> Floats:
    from scipy.special import betaincinv

    drawn: Floats = betaincinv(hits + 0.5, n - hits + 0.5, points)
    return drawn


@cache
def _points() -> Floats:
    """Evenly spread points of the unit cube: multiples of square roots, without their whole part (Kronecker)."""
    return np.stack([np.arange(1, _DRAWS + 1) * math.sqrt(prime) % 1.0 for prime in (2, 3, 5)])


def _values(name: str, cells: tuple[Floats, ...]) -> Floats:
    facts = METRICS[name]
    if facts.expression is not None:
        found: Floats = expressions.to_numpy(facts.expression)(*cells, **facts.parameters)
        return found
    tp, fp, fn, tn = cells
    of_rates: Floats = d_prime_of_rates(tp / (tp + fn), fp / (fp + tn))
    return of_rates


def class_limits(
    confusion: Confusion, computes: dict[str, Any], level: float, sampling: Sampling = "stratified", seed: Seed = 0
) -> dict[str, Limits]:
    """Limits of metrics of a K-class matrix: each true class's answers drawn from a Dirichlet posterior.

    A class of n rows is drawn as if it had n - 2, which gives its shares the variance of a sample; one pseudo-row in all
    is spread over the K × K cells, so that nothing is certain and small classes are hardly pulled towards guessing.
    `plain` draws the class sizes too.
    """
    matrix = confusion.matrix.astype(np.float64)
    k = len(confusion.labels)
    if confusion.squares is not None:
        totals, squares = matrix.sum(axis=1, keepdims=True), confusion.squares.sum(axis=1, keepdims=True)
        matrix = matrix * np.divide(totals, squares, out=np.zeros_like(totals), where=squares > 0)
    rows = matrix.sum(axis=1, keepdims=True)
    matrix = matrix * np.divide(np.maximum(rows - 2.0, 0.5), rows, out=np.zeros_like(rows), where=rows > 0)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    truth = confusion.matrix.sum(axis=1, keepdims=True)
    found: dict[str, list[float]] = {name: [] for name in computes}
    for _ in range(_CLASS_DRAWS):
        gammas = rng.standard_gamma(matrix + 1.0 / k**2)
        sizes = truth if sampling == "stratified" else truth.sum() * rng.dirichlet(truth[:, 0] + 1.0 / k)[:, None]
        totals = gammas.sum(axis=1, keepdims=True)
        drawn = sizes * np.divide(gammas, totals, out=np.zeros_like(gammas), where=totals > 0)
        table = Confusion(drawn, confusion.labels, confusion.positive)
        for name, compute in computes.items():
            found[name].append(or_nan(compute, table))
    tail = (1.0 - level) / 2
    ends = {name: np.nanquantile(values, [tail, 1.0 - tail]) for name, values in found.items()}
    return {name: (float(low), float(high), "dirichlet") for name, (low, high) in ends.items() if not math.isnan(low)}


#: Draws of a K-class matrix.
_CLASS_DRAWS = 1_000
