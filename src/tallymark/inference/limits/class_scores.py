"""Limits of metrics of K-class scores: by influence functions, else by a bootstrap of the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.errors import Undefined
from tallymark.inference.declared import inference_of
from tallymark.inference.interval import Sampling, Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.replicated import replicated_limits
from tallymark.inference.resampling.parallel import in_threads, seeds
from tallymark.registry import METRICS
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.run import Run

#: Resamples: enough for a mean and a standard error.
_REPLICATES = 100

#: Resamples made with one seed.
_BLOCK = 10

#: Scores in one resample at most; of more rows so many are kept, each of which stands for several of its class.
_MOST = 200_000


def class_score_limits(
    names: Sequence[str],
    panel: ClassPanel,
    values: Mapping[str, float],
    level: float,
    sampling: Sampling,
    seed: Seed,
    jobs: int | None = None,
) -> dict[str, Limits]:
    """Limits of each metric by the method that is declared for it, else Student's on its scale from resampled rows.

    `plain` draws all rows at random, `stratified` within each class. Efron & Tibshirani (1993), ch. 6 and 10.
    """
    draws = _Rows(panel)
    if min(draws.sizes) < 2:
        return {}
    entries: dict[str, Limits] = {}
    resampled = []
    for name in names:
        declared = inference_of(name)
        if declared.class_limits is not None:
            entries[name] = declared.class_limits(panel.class_scores, level, seed)
        elif declared.class_effect is not None:
            limits = declared.class_effect(panel).limits(level, plain=sampling == "plain")
            entries[name] = (*limits, "beta, extra row")
        else:
            resampled.append(name)
    if not resampled:
        return entries

    def block(entropy: Any) -> list[dict[str, float]]:
        rng = np.random.default_rng(entropy)
        return [draws.values(resampled, draws.drawn(rng, sampling)) for _ in range(_BLOCK)]

    lines = [line for part in in_threads(block, seeds(seed, _REPLICATES // _BLOCK), jobs) for line in part]
    for name in resampled:
        drawn = np.array([line[name] for line in lines])
        ends = replicated_limits(METRICS[name], values[name], drawn, int(min(draws.sizes)), level)
        if ends is not None:
            entries[name] = (*ends, f"{sampling} bootstrap, bias-corrected")
    return entries


class _Rows:
    """Rows of a panel, sorted once by the scores that are asked for within every class, not in every resample."""

    def __init__(self, panel: ClassPanel) -> None:
        present, k = np.flatnonzero(panel.mass > 0), len(panel.labels)
        codes, rows = np.asarray(panel.codes), np.ones(panel.n) if panel.counts is None else panel.counts
        kept = present if len(present) * k <= _MOST else _some_of_each_class(present, codes, k, _MOST // k)
        self.sizes = np.bincount(codes[present], rows[present], k)
        self.labels, self.counted = panel.labels, panel.counts is not None
        self.codes: Ints = codes[kept]
        self.scores: Floats = panel.scores[kept]
        self.mass = panel.mass[kept].astype(np.float64)
        self.members = [np.flatnonzero(self.codes == c) for c in range(k)]
        #: How many rows each kept one stands for, and the weight of each of them.
        kept_sizes = np.bincount(self.codes, rows[kept], k)
        self.rows: Floats = rows[kept] * (self.sizes / np.maximum(kept_sizes, 1.0))[self.codes]
        self.weight: Floats = np.ones(len(kept)) if self.counted else self.mass
        self._orders: dict[tuple[int, int], Ints] = {}
        self._predicted = self.scores.argmax(axis=1)
        highest, right = self.scores.max(axis=1), self._predicted == self.codes
        self._highest = highest
        self._answers = [side[np.argsort(highest[side])] for side in (np.flatnonzero(~right), np.flatnonzero(right))]

    def drawn(self, rng: np.random.Generator, sampling: Sampling) -> Floats:
        """The mass of each row in one resample."""
        values = np.zeros(len(self.codes))
        for rows in self.members if sampling == "stratified" else [np.arange(len(self.codes))]:
            total = self.rows[rows].sum()
            values[rows] = rng.multinomial(round(total), self.rows[rows] / total) * self.weight[rows]
        return values

    def values(self, names: Sequence[str], mass: Floats) -> dict[str, float]:
        """The metrics of one resample, nan where undefined."""
        summary = self._summary(mass)
        entries = {}
        for name in names:
            facts = METRICS[name]
            try:
                entries[name] = facts.compute(summary.moments if facts.needs == "moments" else summary)
            except Undefined:
                entries[name] = math.nan
        return entries

    def _order(self, i: int, c: int) -> Ints:
        """The rows of class c in ascending order of score i."""
        if (i, c) not in self._orders:
            self._orders[i, c] = self.members[c][np.argsort(self.scores[self.members[c], i])]
        return self._orders[i, c]

    def _summary(self, mass: Floats) -> ClassScores:
        def run(values: Floats, order: Ints) -> Run:
            drawn = order[mass[order] > 0]
            weights = mass[drawn]
            squares = weights * self.weight[drawn]
            return Run(values[drawn], weights=weights, squares=squares, rows=np.ones(len(drawn), np.int64))

        def of_score(i: int) -> Sequence[Run]:
            return _OnDemand(lambda c: run(self.scores[:, i], self._order(i, c)), len(self.labels))

        # Most metrics ask for few of the K × K runs.
        runs = _OnDemand(of_score, len(self.labels))
        matrix = Confusion.of_codes(self.codes, self._predicted, self.labels, weights=mass)
        moments = Moments.of(self.codes, self.scores, self.labels, weights=mass)
        wrong, right = (run(self._highest, order) for order in self._answers)
        return ClassScores(self.labels, runs, matrix, moments, (wrong, right))


class _OnDemand(Sequence[Any]):
    """A sequence whose entries are made when they are asked for."""

    def __init__(self, make: Callable[[int], Any], length: int) -> None:
        self._make, self._length = make, length

    def __getitem__(self, index: Any) -> Any:
        return self._make(range(self._length)[index])

    def __len__(self) -> int:
        return self._length


def _some_of_each_class(present: Ints, codes: Ints, k: int, number: int) -> Ints:
    """About so many of the rows, half of them in proportion to the classes and half as many of each class: a rare
    class keeps all its rows, where proportions alone could leave it without.
    """
    rng = np.random.default_rng(0)
    members = [present[codes[present] == c] for c in range(k)]
    shares = [(1.0 / k + len(rows) / len(present)) / 2 for rows in members]
    return np.sort(
        np.concatenate(
            [
                rng.choice(rows, min(len(rows), max(math.ceil(number * share), 2)), replace=False)
                for rows, share in zip(members, shares, strict=True)
            ]
        )
    )
