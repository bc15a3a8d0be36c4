"""Westfall and Young's step-down test of pairs of methods: p-values corrected by joint resampling of the signs."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Seed, checked_level, checked_number
from tallymark.inference.resampling.parallel import seeds
from tallymark.registry import require_one_of
from tallymark.study.method_table import Better
from tallymark.study.rank_tests import TestResult, pair_lines, ranked_table

#: Sign changes counted at a time.
_BLOCK = 2**14


def westfall_young(
    data: Any,
    control: str | None = None,
    *,
    better: Better = "lower",
    on: Literal["ranks", "values"] = "ranks",
    replicates: int = 20_000,
    level: float = 0.95,
    seed: Seed = 0,
) -> TestResult:
    r"""Westfall and Young's step-down test of pairs of methods, which uses how their differences depend on each other.

    If two methods are alike, their difference on a data set is as likely to have one sign as the other. The signs of
    all pairs are changed together, data set by data set, so that dependence between pairs is kept; the p-value of a
    pair is the probability that the largest :math:`|t|` of this and all less extreme pairs is as large. It holds the
    family-wise error and has more power than Holm's correction where pairs depend on each other. Westfall & Young
    (1993), *Resampling-Based Multiple Testing*, algorithm 2.8.

    Parameters
    ----------
    data
        A table of results: a dataframe or file (a line per data set, or tidy), a mapping from method to values, or an
        array.
    control
        The method with which the others are compared; all pairs by default.
    better
        Whether ``lower`` or ``higher`` values are better.
    on
        Differences of ``ranks`` within each data set, or of the ``values``, which should then be of one unit.
    replicates
        Changes of signs; all of them are enumerated where there are no more than this.
    level
        Confidence level: methods differ where p ≤ 1 − `level`.
    seed
        Seed of the changes of signs.

    Returns
    -------
    TestResult
        A line for each pair, with the p-value before (``p``) and after correction (``p_value``).

    Examples
    --------
    >>> import tallymark as tm
    >>> table = {"a": [1, 2, 1, 1, 1, 1], "b": [2, 1, 2, 2, 3, 2], "c": [3, 3, 3, 3, 2, 3]}
    >>> tm.study.westfall_young(table).p_values.round(4).tolist()
    [0.3438, 0.0312, 0.3438]
    """
    require_one_of("on", on, ("ranks", "values"))
    share, number = checked_level(level), checked_number(replicates, "replicates", 100)
    ranked = ranked_table(data, better)
    pairs = ranked.pairs(control)
    numbers = ranked.ranks if on == "ranks" else ranked.table.values
    place = {name: column for column, name in enumerate(ranked.table.methods)}
    differences = np.stack([numbers[:, place[a]] - numbers[:, place[b]] for a, b in pairs], axis=1)
    observed = _t_statistics(differences, np.ones((1, len(differences))))[0]
    exact = 2 ** (len(differences) - 1) <= number
    raw, corrected = _p_values(differences, observed, number, exact=exact, seed=seed)
    how = "all changes of signs" if exact else f"{number} random changes of signs"
    lines = pair_lines(ranked, pairs, corrected, share, raw)
    return ranked.result("Westfall–Young", f"differences of {on}; p-values: {how}", pairs=lines, level=share)


def _t_statistics(differences: Floats, signs: Floats) -> Floats:
    """Absolute t statistics of each pair (columns) for each change of signs (rows); infinite without spread."""
    n = len(differences)
    means = signs @ differences / n
    # A sign changes no square.
    squares = (differences**2).mean(axis=0)
    variance = np.maximum(squares - means**2, 0.0)
    spread = np.sqrt(variance / max(n - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(means) / spread
    # Equal differences everywhere leave no spread but that of rounding.
    certain = variance <= 1e-12 * squares
    return np.asarray(np.where(certain, np.where(np.abs(means) > 0.0, np.inf, 0.0), t))


def _p_values(
    differences: Floats, observed: Floats, replicates: int, *, exact: bool, seed: Seed
) -> tuple[Floats, Floats]:
    """p-values of each pair alone and of the step-down procedure, from the same changes of signs."""
    order = np.argsort(-observed, kind="stable")
    alone, together, number = np.zeros(len(observed)), np.zeros(len(observed)), 0
    tolerance = 1e-9 * np.maximum(np.where(np.isfinite(observed), observed, 1.0), 1.0)
    for signs in _signs(len(differences), replicates, exact=exact, seed=seed):
        t = _t_statistics(differences, signs)
        alone += (t >= observed - tolerance).sum(axis=0)
        # The largest statistic of each pair and all less extreme ones.
        largest = np.maximum.accumulate(t[:, order[::-1]], axis=1)[:, ::-1]
        together += (largest >= (observed - tolerance)[order]).sum(axis=0)
        number += len(signs)
    # Of random changes the observed signs are one more.
    one = 0 if exact else 1
    stepped = np.maximum.accumulate((together + one) / (number + one))
    corrected = np.empty(len(observed))
    corrected[order] = stepped
    return (alone + one) / (number + one), corrected


def _signs(n: int, replicates: int, *, exact: bool, seed: Seed) -> Any:
    """Changes of signs of n data sets, block by block; of all of them, half, for both halves have the same |t|."""
    if exact:
        listed = itertools.product((1.0, -1.0), repeat=n - 1)
        while block := list(itertools.islice(listed, _BLOCK)):
            yield np.column_stack((np.ones(len(block)), np.array(block).reshape(len(block), n - 1)))
        return
    rng = np.random.default_rng(seeds(seed, 1)[0])
    for start in range(0, replicates, _BLOCK):
        yield rng.choice([-1.0, 1.0], size=(min(_BLOCK, replicates - start), n))
