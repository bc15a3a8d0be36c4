"""A permutation test of two models on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tallymark._check import Bools, Floats, Scores
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests.paired import value_of
from tallymark.inference.interval import Seed, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import Metric
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

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
