"""Tests of two models on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from tallymark._check import Bools, Floats, Ints, Masses, Scores
from tallymark.errors import InputError, Undefined
from tallymark.intervals.base import NO_SPREAD, Sampling, Seed, checked_number, in_threads, seeds
from tallymark.intervals.draws import Draws, at_rates, values_of
from tallymark.intervals.effects import EFFECTS, Effect
from tallymark.intervals.influence import design_of
from tallymark.intervals.pool import Pool, Stratum
from tallymark.registry import METRICS, Metric
from tallymark.summaries.panel import Panel
from tallymark.summaries.sorting import starts_of_groups
from tallymark.summaries.tally import Tally

#: Masses held at once by a block of resamples of all models.
_BLOCK = 2**20


#: Limits of a difference at a confidence level.
LimitsAt = Callable[[float], tuple[float, float]]

#: How finely p-values are read off limits, and the least that is told from 0.
_HALVINGS, _LEAST_P = 50, 1e-15


@dataclass(frozen=True)
class Difference:
    """First less second: estimate, standard error, two-sided p, the method behind them, and limits at any level."""

    difference: float
    error: float
    p_value: float
    method: str
    limits: LimitsAt

    def equivalence_p(self, margin: float) -> float:
        """p-value of two one-sided tests: the least α at which limits at level 1 - 2α lie within the margin."""

        def within(alpha: float) -> bool:
            low, high = self.limits(1.0 - 2.0 * alpha)
            return -margin <= low and high <= margin

        return _least_alpha(within, 0.5 - 1e-9)


def _least_alpha(holds: Callable[[float], bool], most: float) -> float:
    """The least α up to `most` at which something holds that holds from there on; 1 where it never does."""
    if not holds(most):
        return 1.0
    if holds(_LEAST_P):
        return _LEAST_P
    low, high = math.log(_LEAST_P), math.log(most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(math.exp(middle)) else (middle, high)
    return math.exp(high)


def student_difference(difference: float, error: float, method: str, freedom: float = math.inf) -> Difference:
    """From a difference and its standard error; normal unless degrees of freedom are given.

    A difference without any variance is not certain, for it comes from few rows.
    """
    from scipy.special import stdtr, stdtrit

    if error <= NO_SPREAD * abs(difference) and difference != 0.0:
        raise Undefined("the rows show a difference but no variance of it; too few, or too much alike, to compare")

    def limits(level: float) -> tuple[float, float]:
        reach = float(stdtrit(freedom, 0.5 + level / 2)) * error
        return difference - reach, difference + reach

    p = 2.0 * float(stdtr(freedom, -abs(difference) / error)) if error > 0.0 else 1.0
    return Difference(difference, error, p, method, limits)


def known_up_to(difference: float, error: float, slack: float) -> Difference:
    """DeLong's z of a difference that is only known up to a slack: limits wider by that much, p at the nearer end."""
    cautious = student_difference(math.copysign(max(0.0, abs(difference) - slack), difference), error, "DeLong")

    def limits(level: float) -> tuple[float, float]:
        low, high = cautious.limits(level)
        reach = (high - low) / 2
        return difference - reach - slack, difference + reach + slack

    return Difference(difference, error, cautious.p_value, "DeLong", limits)


def no_disagreement(span: float, rows: float, method: str) -> Difference:
    r"""Two models that do the same on every row: up to :math:`1 - (\alpha/2)^{1/m}` of a class of m rows may yet differ.

    `span` is how far the metric can move; where it has no end nothing can be said.
    """

    def limits(level: float) -> tuple[float, float]:
        reach = unseen(level, rows) * span if math.isfinite(span) else math.nan
        return -reach, reach

    return Difference(0.0, 0.0, 1.0, method, limits)


def unseen(level: float, rows: float) -> float:
    """The share of rows that may differ although none of m did."""
    return 1.0 - math.pow((1.0 - level) / 2, 1.0 / rows)


#: Part of a row imagined in the worst place for each model: with more the test loses power, with less it errs too often
#: where the models' scores have different shapes.
_EXTRA = 0.25


def auroc_difference(
    values: tuple[float, float], effects: tuple[Effect, Effect], error: float, correlation: float, slack: float = 0.0
) -> Difference:  # fmt: skip
    r"""From each model's own limits and their correlation (MOVER).

    :math:`d - \sqrt{(a-l_a)^2 + (u_b-b)^2 - 2\rho(a-l_a)(u_b-b)}`, and above likewise. Unlike DeLong's z it keeps its size
    with few positives and with scores of different shapes; near a perfect ranking it is timid. `slack` is how far the
    difference can be off because scores share cells. Zou & Donner (2008), Stat. Med. 27(10).
    """
    a, b = values
    d = a - b

    @cache
    def limits(level: float) -> tuple[float, float]:
        (l_a, u_a), (l_b, u_b) = (
            effect.limits(value, level, extra=_EXTRA) for value, effect in zip(values, effects, strict=True)
        )
        down = math.sqrt(max((a - l_a) ** 2 + (u_b - b) ** 2 - 2.0 * correlation * (a - l_a) * (u_b - b), 0.0))
        up = math.sqrt(max((u_a - a) ** 2 + (b - l_b) ** 2 - 2.0 * correlation * (u_a - a) * (b - l_b), 0.0))
        return float(d - down - slack), float(d + up + slack)

    def away(alpha: float) -> bool:
        low, high = limits(1.0 - alpha)
        return low > 0.0 or high < 0.0

    return Difference(d, error, _least_alpha(away, 1.0 - 1e-9), "MOVER", limits)


def row_influence(panel: Panel, metric: str, *, plain: bool) -> tuple[Floats, Floats]:
    """Influence of every row (columns) on the metric of each model (rows), and of the logarithm of each class's mass."""
    found, by_mass = np.zeros((len(panel.models), panel.n)), np.zeros((len(panel.models), 2))
    for i, model in enumerate(panel.models):
        tally = panel.tally(model)
        effect = EFFECTS[metric](tally)
        by_mass[i] = design_of(metric, tally, plain=plain).by_mass
        for positive, side in ((False, ~panel.is_positive), (True, panel.is_positive)):
            found[i, side] = effect.of_rows(panel.scores[model][side], positive=positive)
    return found, by_mass


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

    def _drawn(self, rng: np.random.Generator, times: int, sampling: Sampling) -> list[Masses]:
        """Masses of the rows of each class in `times` resamples."""
        if sampling == "plain":
            together = self._resample(np.concatenate(self._masses), rng, times)
            cut = len(self._masses[0])
            return [together[:, :cut], together[:, cut:]]
        return [self._resample(mass, rng, times) for mass in self._masses]

    def _resample(self, mass: Masses, rng: np.random.Generator, times: int) -> Masses:
        n = len(mass)
        if self._panel.counts is not None:
            drawn: Masses = rng.multinomial(int(mass.sum()), mass / mass.sum(), times)
            return drawn
        place = rng.integers(0, n, (times, n)) + np.arange(times)[:, None] * n
        counts = np.bincount(place.ravel(), minlength=times * n).reshape(times, n)
        return counts if self._panel.weights is None else counts * mass

    def values(
        self, metric: str, thresholds: dict[str, float | None], replicates: int, seed: Seed, jobs: int | None,
        sampling: Sampling = "plain", parameters: Mapping[str, Mapping[str, float]] | None = None,
    ) -> dict[str, Floats]:  # fmt: skip
        """The metric of every model in every resample."""
        checked_number(replicates, "replicates", 2)
        rows = sum(map(len, self._sides))
        per_block = max(1, min(64, _BLOCK // rows))
        sizes = [min(per_block, replicates - start) for start in range(0, replicates, per_block)]

        def block(part: tuple[int, np.random.SeedSequence]) -> dict[str, Floats]:
            times, entropy = part
            drawn = self._drawn(np.random.Generator(np.random.SFC64(entropy)), times, sampling)
            found = {}
            for model, (pool, places) in self._models.items():
                sides = [
                    np.add.reduceat(masses[:, order], starts, axis=1) if len(starts) < len(order) else masses[:, order]
                    for masses, (order, starts) in zip(drawn, places, strict=True)
                ]
                settings = None if parameters is None else parameters[model]
                # A resample without one of the classes has no metric.
                with np.errstate(divide="ignore", invalid="ignore"):
                    found[model] = values_of(metric, Draws(pool, sides[0], sides[1]), thresholds[model], settings)
            return found

        blocks = in_threads(block, zip(sizes, seeds(seed, len(sizes)), strict=True), jobs)
        return {model: np.concatenate([found[model] for found in blocks]) for model in self._models}


def cell_values(
    panel: Panel, metric: str, thresholds: dict[str, float | None], replicates: int, seed: Seed,
    sampling: Sampling = "plain", parameters: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Floats]:  # fmt: skip
    """A metric at one threshold of every model in every resample of unweighted rows.

    Which models call a row positive is all that matters about it, so resampling draws counts of these patterns.
    """
    checked_number(replicates, "replicates", 2)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    called = np.stack([panel.scores[model] >= thresholds[model] for model in panel.models])
    # The class is one more bit of a row's pattern.
    patterns, which = np.unique(np.vstack((panel.is_positive[None, :], called)), axis=1, return_inverse=True)
    counts = np.bincount(which.ravel(), panel.mass)
    up = patterns[0].astype(np.bool_)
    sides = [up | ~up] if sampling == "plain" else [~up, up]
    drawn = np.zeros((replicates, len(counts)), dtype=np.int64)
    for side in sides:
        n = counts[side].sum()
        drawn[:, side] = rng.multinomial(int(n), counts[side] / n, replicates)
    hits = {positive: drawn[:, side] @ patterns[1:, side].T.astype(np.int64) for positive, side in ((0, ~up), (1, up))}
    totals = drawn[:, up].sum(axis=1), drawn[:, ~up].sum(axis=1)
    return {
        model: at_rates(
            METRICS[metric], hits[1][:, i], hits[0][:, i], *totals, None if parameters is None else parameters[model]
        )
        for i, model in enumerate(panel.models)
    }


def bootstrap_difference(estimate: float, drawn: Floats, freedom: float) -> Difference:
    """From the differences of paired resamples: their standard error on either side of the estimate.

    Student's p-value keeps its size where percentiles of few positives do not.
    """
    if not math.isfinite(estimate):
        raise Undefined("a model's own value is infinite, so there is no difference to compare")
    known = drawn[np.isfinite(drawn)]
    if len(known) < 0.9 * len(drawn):
        raise Undefined("the metric is undefined in many resamples; more rows are needed")
    return student_difference(estimate, float(known.std(ddof=1)), "paired bootstrap", freedom)


def mcnemar(first: Bools, second: Bools, counts: Masses, kind: Literal["exact", "mid_p"] = "mid_p") -> Difference:
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
    error = math.sqrt(max(0.0, b + c - (b - c) ** 2 / n)) / n
    name = f"McNemar, {kind.replace('_', '-')}"
    return Difference((b - c) / n, error, p, name, lambda level: _newcombe(both, b, c, neither, level))


def _newcombe(both: int, b: int, c: int, neither: int, level: float) -> tuple[float, float]:
    """Newcombe (1998), Stat. Med. 17(22), method 10: score limits of both shares and their correlation."""
    from tallymark.intervals.proportions import limits

    n = both + b + c + neither
    p1, p2 = (both + b) / n, (both + c) / n
    (l1, l2), (u1, u2) = limits(np.array([both + b, both + c]), n, level, "wilson")
    margins = (both + b) * (c + neither) * (both + c) * (b + neither)
    phi = 0.0
    if margins > 0:
        lead = both * neither - b * c
        phi = (max(lead - n / 2, 0.0) if lead > 0 else lead) / math.sqrt(margins)
    d = p1 - p2
    down = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
    up = math.sqrt((p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2)
    return float(d - down), float(d + up)


#: Rows that can be permuted one by one.
_MOST_ROWS = 20_000_000


def permutation_p(
    panel: Panel, first: str, second: str, metric: Metric, thresholds: dict[str, float | None], estimate: float,
    permutations: int, seed: Seed, parameters: Mapping[str, float],
) -> float:  # fmt: skip
    """Two-sided p when, under the null, each row's two scores could be exchanged.

    Metrics of the ranking exchange ranks, so that models on different scales can be compared.
    """
    if len({thresholds[first], thresholds[second]}) > 1:
        raise InputError("A permutation test exchanges scores, so both models need one threshold.")
    checked_number(permutations, "replicates", 2)
    if panel.counts is not None:
        # A count of c is c rows, and each may be exchanged or not.
        if int(panel.counts.sum()) > _MOST_ROWS:
            raise InputError(f"{int(panel.counts.sum())} rows are too many to permute; use another method.")
        panel = panel.keep(np.repeat(np.arange(panel.n), panel.counts)).without_masses()
    a, b = (
        _ranks(panel.scores[m]) if metric.rank_only and metric.needs != "confusion" else panel.scores[m]
        for m in (first, second)
    )
    rng = np.random.default_rng(seeds(seed, 1)[0])
    further = 0
    for flip in _flips(rng, len(a), permutations):
        x, y = np.where(flip, b, a), np.where(flip, a, b)
        values = [_value(panel, scores, metric, thresholds[first], parameters) for scores in (x, y)]
        further += abs(values[0] - values[1]) >= abs(estimate) - 1e-12
    return (further + 1.0) / (permutations + 1.0)


def _flips(rng: np.random.Generator, n: int, times: int) -> Iterator[Bools]:
    for _ in range(times):
        yield rng.integers(0, 2, n, dtype=np.int8).astype(np.bool_)


def _ranks(scores: Scores) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = rankdata(scores)
    return ranks


def _value(
    panel: Panel, scores: Scores, metric: Metric, threshold: float | None, parameters: Mapping[str, float]
) -> float:
    tally = Tally.of(scores, panel.is_positive, panel.labels, counts=panel.counts, weights=panel.weights)
    return value_of(metric, tally, threshold, parameters)


def value_of(metric: Metric, tally: Tally, threshold: float | None, parameters: Mapping[str, float]) -> float:
    """A metric of a tally, at a threshold where it needs one."""
    if metric.needs == "confusion":
        return metric.compute(tally.at(threshold if threshold is not None else 0.5), **parameters)
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


PairedMethod = Literal["mover", "delong", "influence", "mcnemar", "bootstrap", "permutation"]
