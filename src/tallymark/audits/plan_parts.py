"""Sample of one group of rows for an audit: strata, allocation, and the interval to expect from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Ints
from tallymark._display import Row
from tallymark.audits.designs import Layers, allocated, chances, cut_strata, doubt, drawn_by, drawn_within
from tallymark.audits.shares import effective_limits
from tallymark.errors import InputError


@dataclass(frozen=True)
class Options:
    """How rows are drawn: number of strata, least rows of each, allocation, level, design, and a ratio to expect."""

    strata: int
    least: int
    allocation: str
    level: float
    draw: Callable[..., Part]
    ratio: float | None = None


@dataclass(frozen=True)
class Part:
    """One group's plan."""

    score: Floats
    weight: Floats
    codes: Ints
    layers: Layers
    taken: Ints
    inclusion: Floats
    by_chance: bool = False
    ratio: float | None = None

    def draw(self, rng: np.random.Generator) -> Ints:
        """The places of the rows to check."""
        return drawn_by(self.inclusion, rng) if self.by_chance else drawn_within(self.codes, self.taken, rng)

    @property
    def variance(self) -> float:
        """Variance of the estimate, if the scores are right."""
        if not self.by_chance:
            return self.layers.variance(self.taken.astype(np.float64))
        p = np.clip(self.score, 0.001, 0.999)
        return float(((1.0 - self.inclusion) / self.inclusion * p * (1.0 - p) * self.weight**2).sum()) / len(p) ** 2

    def expected(self, level: float) -> tuple[float, float, float]:
        """The estimate to expect, and its limits."""
        checked = int(self.taken.sum())
        positives = round(float(self.inclusion @ self.score))
        mean = float((self.score * self.weight).sum() / self.weight.sum()) if self.ratio is None else self.ratio
        if (self.inclusion >= 1.0).all():
            return mean, mean, mean
        if self.ratio is None:
            return mean, *effective_limits(mean, self.variance, checked, min(positives, checked), float(checked), level)
        # A share of the positives: these are the rows it rests on.
        rows = max(positives, 2)
        return mean, *effective_limits(mean, self.variance, rows, round(mean * rows), float(rows), level)

    def table(self, first: int) -> list[Row]:
        """A line per stratum, numbered from `first`."""
        lines: list[Row] = []
        for code in range(len(self.taken)):
            scores = self.score[self.codes == code]
            lines.append(
                {
                    "stratum": first + code,
                    "score_from": float(scores.min()),
                    "score_to": float(scores.max()),
                    "rows": len(scores),
                    "expected_share": float(scores.mean()),
                    "check": int(self.taken[code]),
                }
            )
        return lines


def planned(score: Floats, weight: Floats, n: int, options: Options) -> Part:
    """The sample of `n` rows by the design of the options."""
    return replace(options.draw(score, weight, n, options), ratio=options.ratio)


def stratified(score: Floats, weight: Floats, n: int, options: Options) -> Part:
    """Strata along the score."""
    # No more strata than `least` rows can be had of each.
    codes = cut_strata(score, max(1, min(options.strata, n // options.least)))
    layers = Layers.of(codes, score, weight)
    taken = allocated(layers, min(n, len(score)), options.least, options.allocation)
    return Part(score, weight, codes, layers, taken, (taken / layers.sizes)[codes])


def simple(score: Floats, weight: Floats, n: int, options: Options) -> Part:  # noqa: ARG001 - as the other designs
    """All rows alike."""
    codes = np.zeros(len(score), dtype=np.int64)
    taken = np.array([min(n, len(score))])
    return Part(
        score, weight, codes, Layers.of(codes, score, weight), taken, np.full(len(score), taken[0] / len(score))
    )


def uncertain(score: Floats, weight: Floats, n: int, options: Options) -> Part:  # noqa: ARG001
    """Probabilities in proportion to the deviation of a row's label."""
    codes = np.zeros(len(score), dtype=np.int64)
    taken = np.array([min(n, len(score))])
    chance = chances(doubt(score) * np.abs(weight), int(taken[0]))
    return Part(score, weight, codes, Layers.of(codes, score, weight), taken, chance, by_chance=True)


DESIGNS: Mapping[str, Callable[..., Part]] = {"stratified": stratified, "simple": simple, "uncertainty": uncertain}


def search(score: Floats, weight: Floats, width: float, options: Options) -> int:
    """The least number of rows whose expected interval is no wider than `width`."""
    few, many = min(options.least, len(score)), len(score)
    while few < many:
        middle = (few + many) // 2
        _, low, high = planned(score, weight, middle, options).expected(options.level)
        few, many = (few, middle) if high - low <= width else (middle + 1, many)
    return many


def needed(score: Floats, weight: Floats, width: float, level: float, ratio: float | None) -> int:
    """Rows that a simple random sample needs for an interval as wide."""
    return search(score, weight, width, Options(1, 2, "proportional", level, simple, ratio))


def called_rows(p: Floats, measure: str, threshold: float | None) -> Bools:
    """The rows that are predicted positive; refused where there is nothing to plan for."""
    if threshold is None:
        raise InputError(f"The {measure} belongs to a threshold; say which with threshold=.")
    called = p >= _check.real(threshold, "threshold")
    if not called.any():
        raise InputError(f"No row has a score of {threshold!r} or more, so nothing is called positive.")
    if measure == "recall" and (called.all() or not p.any()):
        raise InputError(
            "Every row is called positive, or every score is 0: there is no recall to plan for at this threshold."
        )
    return np.asarray(called)
