"""Two methods as Bayesians compare them: how likely is it that one is better, and how likely that it does not matter?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
        """What was asked, and how exactly it is known."""
        error = f"; Monte-Carlo error {self.error:.4f}" if self.error else ""
        return f"{self.test}: {self.first} and {self.second} on {self.n} data sets or folds, equivalent within {self.rope:g}{error}"

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
        names = ("test", "first", "second", "n", "better_first", "equivalent", "better_second", "rope", "error")
        return {name: plain(getattr(self, name)) for name in names}


def bayesian_signed_rank(
    data: Any, *, rope: float = 0.01, better: Better = "lower", draws: int = 50_000, seed: int = 0
) -> BayesianTest:
    """The Bayesian signed-rank test of two methods, with a region of practical equivalence of half-width `rope`.

    Each probability is the share of posterior draws in which that answer is the likeliest; its Monte-Carlo error is stated.
    Benavoli et al. (2017), J. Mach. Learn. Res. 18.

    >>> import tallymark as tm
    >>> tm.study.bayesian_signed_rank({"a": [0.1, 0.2, 0.1, 0.2], "b": [0.3, 0.4, 0.5, 0.3]}, rope=0.01).better_first > 0.9
    True
    """
    table, differences = _two(data, better)
    half = _rope(rope)
    parts = signed_ranks.signed_rank_posterior(
        differences,
        half,
        checked_number(draws, "draws", 100),
        np.random.default_rng(_check.whole(seed, "seed", 0, 2**63 - 1)),
    )
    winners = np.bincount(parts.argmax(axis=1), minlength=3) / len(parts)
    error = float(np.sqrt(winners * (1.0 - winners) / len(parts)).max())
    order = (0, 1, 2) if table.better == "lower" else (2, 1, 0)
    return _bayesian(
        "Bayesian signed-rank test", table, len(differences), winners[list(order)], half, error, parts[:, order]
    )


def correlated_t(data: Any, *, folds: int | None = None, rope: float = 0.01, better: Better = "lower") -> BayesianTest:
    """The Bayesian correlated t-test of two methods on the folds of one data set; folds share training rows, which ρ = 1/`folds` allows for.

    `data` has a line per fold (of every repeat); `folds` is the number of folds of one repeat, by default the number of lines.

    >>> import tallymark as tm
    >>> x = [.81, .83, .79, .80, .85, .82, .78, .84, .80, .83]
    >>> y = [.80, .81, .80, .78, .84, .80, .79, .82, .79, .82]
    >>> [round(p, 4) for p in tm.study.correlated_t({"x": x, "y": y}, better="higher").probabilities]
    [0.5, 0.4978, 0.0022]
    """
    table, differences = _two(data, better)
    if len(differences) < 2:
        raise InputError("The correlated t-test needs two or more folds.")
    k = len(differences) if folds is None else checked_number(folds, "folds", 2)
    parts = signed_ranks.correlated_t_probabilities(differences, 1.0 / k, _rope(rope))
    order = (0, 1, 2) if table.better == "lower" else (2, 1, 0)
    return _bayesian("Bayesian correlated t-test", table, len(differences), np.array(parts)[list(order)], rope)


def _bayesian(
    test: str,
    table: MethodTable,
    n: int,
    probabilities: Floats,
    rope: float,
    error: float = 0.0,
    draws: Floats | None = None,
) -> BayesianTest:
    first, second = table.methods
    one, both, other = map(float, probabilities)
    return BayesianTest(test, first, second, n, one, both, other, rope, error, draws)


def _rope(rope: object) -> float:
    half = _check.real(rope, "rope")
    if half < 0.0:
        raise InputError(f"rope is {rope!r}, expected a difference of 0 or more that does not matter.")
    return half


def _two(data: Any, better: Better) -> tuple[MethodTable, Floats]:
    table = table_of(data, better).complete
    if len(table.methods) != 2:
        raise InputError(f"This test compares two methods, the table has {len(table.methods)}; keep two columns.")
    return table, table.values[:, 0] - table.values[:, 1]
