"""Tests of two models on the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallymark._check import Bools, Floats, Ints, Masses, Scores
from tallymark.errors import InputError, Undefined
from tallymark.intervals.base import NO_SPREAD, Seed, checked_number, in_threads, seeds
from tallymark.intervals.draws import Draws, of_cells, values_of
from tallymark.intervals.influence import EFFECTS
from tallymark.intervals.pool import Pool, Stratum
from tallymark.registry import METRICS, Metric
from tallymark.summaries.panel import Panel
from tallymark.summaries.sorting import starts_of_groups
from tallymark.summaries.tally import Tally

#: Masses held at once by a block of resamples of all models.
_BLOCK = 2**20


@dataclass(frozen=True)
class Difference:
    """First less second: estimate, standard error, limits, two-sided p and the method behind them."""

    difference: float
    error: float
    low: float
    high: float
    p_value: float
    method: str
    #: Limits at level 1 - 2α, which two one-sided tests at α look at.
    inner: tuple[float, float]


def student_difference(
    difference: float, error: float, level: float, method: str, freedom: float = math.inf
) -> Difference:
    """From a difference and its standard error; normal unless degrees of freedom are given.

    No difference on any row is certain enough; a difference without any variance is not, for it comes from few rows.
    """
    from scipy.special import stdtr, stdtrit

    if error <= NO_SPREAD * abs(difference) and difference != 0.0:
        raise Undefined("the rows show a difference but no variance of it; too few, or too much alike, to compare")
    wide, narrow = (float(stdtrit(freedom, share)) * error for share in (0.5 + level / 2, level))
    p = 2.0 * float(stdtr(freedom, -abs(difference) / error)) if error > 0.0 else 1.0
    return Difference(
        difference, error, difference - wide, difference + wide, p, method, (difference - narrow, difference + narrow)
    )


def row_influence(panel: Panel, metric: str) -> Floats:
    """Influence of every row (columns) on the metric of each model (rows)."""
    found = np.zeros((len(panel.models), panel.n))
    for own, model in zip(found, panel.models, strict=True):
        effect = EFFECTS[metric](panel.tally(model))
        for positive, side in ((False, ~panel.is_positive), (True, panel.is_positive)):
            own[side] = effect.of_rows(panel.scores[model][side], positive=positive)
    return found


class Resampler:
    """Rows of a panel resampled together, so that every model sees the same ones."""

    def __init__(self, panel: Panel, models: Sequence[str]) -> None:
        there = panel.mass > 0
        self._sides = [np.flatnonzero(there & side) for side in (~panel.is_positive, panel.is_positive)]
        if min(map(len, self._sides)) < 2:
            raise InputError("Two rows or more of each class are needed.")
        self._panel = panel
        self._models = {model: self._sorted(model) for model in models}
        self._masses = [panel.mass[rows] for rows in self._sides]

    def _sorted(self, model: str) -> tuple[Pool, list[tuple[Ints, Ints]]]:
        """A model's pool of distinct scores, and how rows become entries: their order and where groups begin."""
        strata, places = [], []
        for rows in self._sides:
            scores, mass = self._panel.scores[model][rows], self._panel.mass[rows]
            order = np.argsort(scores, kind="stable")
            starts = starts_of_groups(scores[order])
            summed = np.add.reduceat(mass[order], starts).astype(np.float64)
            counted = np.diff(np.append(starts, len(rows)))
            distinct = scores[order][starts]
            strata.append(Stratum(distinct, distinct.astype(np.float64), counted, summed, summed))
            places.append((order, starts))
        pool = Pool(self._panel.tally(model), strata[0], strata[1])
        pool.placements  # noqa: B018 - cached before threads share it
        return pool, places

    def _drawn(self, rng: np.random.Generator, times: int) -> list[Masses]:
        """Masses of the rows of each class in `times` resamples."""
        found = []
        for mass in self._masses:
            n = len(mass)
            if self._panel.counts is not None:
                found.append(rng.multinomial(int(mass.sum()), mass / mass.sum(), times))
                continue
            place = rng.integers(0, n, (times, n)) + np.arange(times)[:, None] * n
            counts = np.bincount(place.ravel(), minlength=times * n).reshape(times, n)
            found.append(counts if self._panel.weights is None else counts * mass)
        return found

    def values(
        self, metric: str, thresholds: dict[str, float | None], replicates: int, seed: Seed, jobs: int | None
    ) -> dict[str, Floats]:
        """The metric of every model in every resample."""
        checked_number(replicates, "replicates", 2)
        rows = sum(map(len, self._sides))
        per_block = max(1, min(64, _BLOCK // rows))
        sizes = [min(per_block, replicates - start) for start in range(0, replicates, per_block)]

        def block(part: tuple[int, np.random.SeedSequence]) -> dict[str, Floats]:
            times, entropy = part
            drawn = self._drawn(np.random.Generator(np.random.SFC64(entropy)), times)
            found = {}
            for model, (pool, places) in self._models.items():
                sides = [
                    np.add.reduceat(masses[:, order], starts, axis=1) if len(starts) < len(order) else masses[:, order]
                    for masses, (order, starts) in zip(drawn, places, strict=True)
                ]
                found[model] = values_of(metric, Draws(pool, sides[0], sides[1]), thresholds[model])
            return found

        blocks = in_threads(block, zip(sizes, seeds(seed, len(sizes)), strict=True), jobs)
        return {model: np.concatenate([found[model] for found in blocks]) for model in self._models}


def cell_values(
    panel: Panel, metric: str, thresholds: dict[str, float | None], replicates: int, seed: Seed
) -> dict[str, Floats]:
    """A metric at one threshold of every model in every resample of unweighted rows.

    Which models call a row positive is all that matters about it, so resampling draws counts of these patterns.
    """
    checked_number(replicates, "replicates", 2)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    called = np.stack([panel.scores[model] >= thresholds[model] for model in panel.models])
    hits, totals = [], []
    for side in (~panel.is_positive, panel.is_positive):
        patterns, which = np.unique(called[:, side], axis=1, return_inverse=True)
        counts = np.bincount(which.ravel(), panel.mass[side])
        totals.append(int(counts.sum()))
        hits.append(rng.multinomial(totals[-1], counts / counts.sum(), replicates) @ patterns.T.astype(np.int64))
    return {
        model: of_cells(metric, hits[1][:, i], hits[0][:, i], totals[1], totals[0])
        for i, model in enumerate(panel.models)
    }


def bootstrap_difference(estimate: float, drawn: Floats, level: float, freedom: float) -> Difference:
    """From the differences of paired resamples: their standard error on either side of the estimate.

    Student's p-value keeps its size where percentiles of few positives do not.
    """
    if not math.isfinite(estimate):
        raise Undefined("a model's own value is infinite, so there is no difference to compare")
    known = drawn[np.isfinite(drawn)]
    if len(known) < 0.9 * len(drawn):
        raise Undefined("the metric is undefined in many resamples; more rows are needed")
    return student_difference(estimate, float(known.std(ddof=1)), level, "paired bootstrap", freedom)


def mcnemar(
    first: Bools, second: Bools, counts: Masses, level: float, kind: Literal["exact", "mid_p"] = "mid_p"
) -> Difference:
    r"""McNemar's test of two models that are right on different rows.

    Of the rows only one model gets right, each should win half: exact binomial, or `mid_p` which counts half of the
    observed table and is less timid. The interval is Newcombe's for paired shares, from Wilson limits of both.
    McNemar (1947), Psychometrika 12(2); Fagerland, Lydersen & Laake (2013), BMC Med. Res. Methodol. 13.
    """
    from scipy.stats import binom

    b, c = (int(counts[own & ~other].sum()) for own, other in ((first, second), (second, first)))
    both, neither = int(counts[first & second].sum()), int(counts[~first & ~second].sum())
    n, m = both + neither + b + c, b + c
    least = min(b, c)
    tail = float(binom.cdf(least, m, 0.5)) - (float(binom.pmf(least, m, 0.5)) / 2 if kind == "mid_p" else 0.0)
    p = 1.0 if b == c else min(1.0, 2.0 * tail)
    low, high = _newcombe(both, b, c, neither, level)
    error = math.sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n
    inner = _newcombe(both, b, c, neither, max(2.0 * level - 1.0, 0.01))
    return Difference((b - c) / n, error, low, high, p, f"McNemar, {kind.replace('_', '-')}", inner)


def _newcombe(both: int, b: int, c: int, neither: int, level: float) -> tuple[float, float]:
    """Newcombe (1998), Stat. Med. 17(22), method 10: score limits of both shares and their correlation."""
    from tallymark.intervals.proportions import limits

    n = both + b + c + neither
    p1, p2 = (both + b) / n, (both + c) / n
    (l1, l2), (u1, u2) = limits(np.array([both + b, both + c]), n, level)
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    phi = 0.0
    if margins > 0:
        lead = both * neither - b * c
        phi = (max(lead - n / 2, 0.0) if lead > 0 else lead) / math.sqrt(margins)
    d = p1 - p2
    down = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    up = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return float(d - down), float(d + up)


def permutation_p(
    panel: Panel, first: str, second: str, metric: Metric, thresholds: dict[str, float | None], estimate: float,
    permutations: int, seed: Seed,
) -> float:  # fmt: skip
    """Two-sided p when, under the null, each row's two scores could be exchanged.

    Metrics of the ranking exchange ranks, so that models on different scales can be compared.
    """
    if len({thresholds[first], thresholds[second]}) > 1:
        raise InputError("A permutation test exchanges scores, so both models need one threshold.")
    checked_number(permutations, "replicates", 2)
    if panel.counts is not None:
        # A count of c is c rows, and each may be exchanged or not.
        panel = panel.keep(np.repeat(np.arange(panel.n), panel.counts)).without_masses()
    a, b = (
        _ranks(panel.scores[m]) if metric.rank_only and metric.needs != "confusion" else panel.scores[m]
        for m in (first, second)
    )
    rng = np.random.default_rng(seeds(seed, 1)[0])
    further = 0
    for flip in _flips(rng, len(a), permutations):
        x, y = np.where(flip, b, a), np.where(flip, a, b)
        values = [_value(panel, scores, metric, thresholds[first]) for scores in (x, y)]
        further += abs(values[0] - values[1]) >= abs(estimate) - 1e-12
    return (further + 1.0) / (permutations + 1.0)


def _flips(rng: np.random.Generator, n: int, times: int) -> Iterator[Bools]:
    for _ in range(times):
        yield rng.integers(0, 2, n, dtype=np.int8).astype(np.bool_)


def _ranks(scores: Scores) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = rankdata(scores)
    return ranks


def _value(panel: Panel, scores: Scores, metric: Metric, threshold: float | None) -> float:
    tally = Tally.of(scores, panel.is_positive, panel.labels, counts=panel.counts, weights=panel.weights)
    return value_of(metric, tally, threshold)


def value_of(metric: Metric, tally: Tally, threshold: float | None) -> float:
    """A metric of a tally, at a threshold where it needs one."""
    if metric.needs == "confusion":
        return metric.compute(tally.at(threshold if threshold is not None else 0.5))
    return metric.compute(tally)


def holm(p_values: Floats) -> Floats:
    """Holm's step-down adjustment. Holm (1979), Scand. J. Stat. 6(2)."""
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def metric_named(name: str) -> Metric:
    """A metric two models can be compared by."""
    if not isinstance(name, str):
        raise InputError(f"metric is {name!r}; compare by one metric at a time, given by name.")
    facts = METRICS[name]
    if facts.needs not in {"tally", "probabilities", "confusion"}:
        raise InputError(f"{name} speaks of K classes; compare takes metrics of two.")
    return facts


PairedMethod = Literal["delong", "influence", "mcnemar", "bootstrap", "permutation"]
