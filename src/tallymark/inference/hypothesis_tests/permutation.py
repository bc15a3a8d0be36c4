"""Permutation test of two models on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from tallymark._check import Bools, Floats, Scores
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.summaries.panel import Panel
from tallymark.summaries.tally import Tally

#: Rows that can be permuted one by one.
_MOST_ROWS = 20_000_000


def permutation_p(
    panel: Panel,
    models: tuple[str, str],
    value: Callable[[Tally], float],
    estimate: float,
    *,
    by_rank: bool,
    permutations: int,
    seed: Seed,
) -> float:
    """Two-sided p-value of a difference `estimate` of values, under the null that each row's scores are exchangeable.

    With `by_rank` ranks are exchanged, so that models on different scales can be compared.
    """
    checked_number(permutations, "replicates", 2)
    if panel.counts is not None:
        # A count of c is c rows, and each may be exchanged or not.
        if int(panel.counts.sum()) > _MOST_ROWS:
            raise InputError(f"{int(panel.counts.sum())} rows are too many to permute; use another method.")
        panel = panel.keep(np.repeat(np.arange(panel.n), panel.counts)).without_masses()
    a, b = (_ranks(panel.scores[model]) if by_rank else panel.scores[model] for model in models)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    further = 0
    for flip in _flips(rng, len(a), permutations):
        x, y = np.where(flip, b, a), np.where(flip, a, b)
        values = [
            value(Tally.of(scores, panel.is_positive, panel.labels, counts=panel.counts, weights=panel.weights))
            for scores in (x, y)
        ]
        further += abs(values[0] - values[1]) >= abs(estimate) - 1e-12
    return (further + 1.0) / (permutations + 1.0)


def _flips(rng: np.random.Generator, n: int, times: int) -> Iterator[Bools]:
    for _ in range(times):
        yield rng.integers(0, 2, n, dtype=np.int8).astype(np.bool_)


def _ranks(scores: Scores) -> Floats:
    from scipy.stats import rankdata

    ranks: Floats = rankdata(scores)
    return ranks
