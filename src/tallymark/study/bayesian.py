"""Bayesian comparison of two methods: probabilities that one is better or that they are practically equivalent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.hypothesis_tests import signed_ranks
from tallymark.inference.interval import checked_number
from tallymark.study.method_table import Better, MethodTable, table_of


@dataclass(frozen=True, eq=False, repr=False)
class BayesianTest(Shown):
    """Probabilities that the first method is better, that both are equivalent in practice, and that the second is."""

    test: str
    first: str
    second: str
    n: int
    better_first: float
    equivalent: float
    better_second: float
    rope: float
    error: float = 0.0
    draws: Floats | None = None

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """First better, equivalent, second better."""
        return self.better_first, self.equivalent, self.better_second

    def heading(self) -> str:
        """The test, its region of practical equivalence, and its Monte-Carlo error."""
        error = f"; Monte-Carlo error {self.error:.4f}" if self.error else ""
        methods = f"{self.first} and {self.second} on {self.n} data sets or folds"
        return f"{self.test}: {methods}, equivalent within {self.rope:g}{error}"

    def rows(self) -> Sequence[Row]:
        """The three probabilities."""
        return [
            {
                f"{self.first} better": self.better_first,
                "equivalent": self.equivalent,
                f"{self.second} better": self.better_second,
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self) if one.name != "draws"}


def bayesian_signed_rank(
    data: Any, *, rope: float = 0.01, better: Better = "lower", draws: int = 50_000, seed: int = 0
) -> BayesianTest:
    """Bayesian signed-rank test of two methods over data sets, with a region of practical equivalence.

    Each probability is the share of posterior draws in which that outcome is the likeliest. Benavoli et al. (2017), J.
    Mach. Learn. Res. 18.

    Parameters
    ----------
    data
        A table of two methods, as for :func:`friedman`.
    rope
        Half-width of the region of practical equivalence.
    better
        Whether ``lower`` or ``higher`` values are better.
    draws
        Number of posterior draws.
    seed
        Seed of the draws.

    Returns
    -------
    BayesianTest
        Probabilities of the three outcomes, with their Monte-Carlo error.

    Examples
    --------
    >>> import tallymark as tm
    >>> losses = {"a": [0.1, 0.2, 0.1, 0.2], "b": [0.3, 0.4, 0.5, 0.3]}
    >>> tm.study.bayesian_signed_rank(losses, rope=0.01).better_first > 0.9
    True
    """
    table, differences, order = _two(data, better)
    half, number = _rope(rope), checked_number(draws, "draws", 100)
    rng = np.random.default_rng(_check.whole(seed, "seed", 0, 2**63 - 1))
    parts = signed_ranks.signed_rank_posterior(differences, half, number, rng)
    winners = np.bincount(parts.argmax(axis=1), minlength=3) / len(parts)
    error = float(np.sqrt(winners * (1.0 - winners) / len(parts)).max())
    return _result("Bayesian signed-rank test", table, winners[order], half, error=error, draws=parts[:, order])


def correlated_t(data: Any, *, folds: int | None = None, rope: float = 0.01, better: Better = "lower") -> BayesianTest:
    """Bayesian correlated t-test of two methods on the folds of one data set.

    Folds share training rows, which the correlation ρ = 1/`folds` allows for.

    Parameters
    ----------
    data
        A table of two methods with a line per fold, of every repeat.
    folds
        Folds of one repeat; by default the number of lines.
    rope
        Half-width of the region of practical equivalence.
    better
        Whether ``lower`` or ``higher`` values are better.

    Returns
    -------
    BayesianTest
        Probabilities of the three outcomes.

    Examples
    --------
    >>> import tallymark as tm
    >>> x = [.81, .83, .79, .80, .85, .82, .78, .84, .80, .83]
    >>> y = [.80, .81, .80, .78, .84, .80, .79, .82, .79, .82]
    >>> [round(p, 4) for p in tm.study.correlated_t({"x": x, "y": y}, better="higher").probabilities]
    [0.5, 0.4978, 0.0022]
    """
    table, differences, order = _two(data, better)
    if len(differences) < 2:
        raise InputError("The correlated t-test needs two or more folds.")
    k = len(differences) if folds is None else checked_number(folds, "folds", 2)
    parts = signed_ranks.correlated_t_probabilities(differences, 1.0 / k, _rope(rope))
    return _result("Bayesian correlated t-test", table, np.array(parts)[order], rope)


def _result(test: str, table: MethodTable, probabilities: Floats, rope: float, **more: Any) -> BayesianTest:
    first, second = table.methods
    better_first, equivalent, better_second = map(float, probabilities)
    n = len(table.datasets)
    return BayesianTest(test, first, second, n, better_first, equivalent, better_second, rope, **more)


def _rope(rope: object) -> float:
    half = _check.real(rope, "rope")
    if half < 0.0:
        raise InputError(f"rope is {rope!r}, expected a difference of 0 or more that does not matter.")
    return half


def _two(data: Any, better: Better) -> tuple[MethodTable, Floats, list[int]]:
    """The table of two methods, their differences, and the order of (first better, equivalent, second better)."""
    table = table_of(data, better).complete
    if len(table.methods) != 2:
        raise InputError(f"This test compares two methods, the table has {len(table.methods)}; keep two columns.")
    order = [0, 1, 2] if table.better == "lower" else [2, 1, 0]
    return table, table.values[:, 0] - table.values[:, 1], order
