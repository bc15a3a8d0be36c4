"""The Mann–Whitney test of positives against negatives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallymark._display import Row, Shown, plain
from tallymark.errors import InputError
from tallymark.inference.interval import checked_level
from tallymark.registry import choose, require_one_of
from tallymark.summaries.tally import Tally

Method = Literal["auto", "exact", "normal"]
Alternative = Literal["two-sided", "greater", "less"]

#: ``auto`` counts the exact null distribution up to this many pairs, ``exact`` up to the second number.
_EXACT_PAIRS, _MOST_PAIRS = 2_500, 40_000


@dataclass(frozen=True, repr=False)
class MannWhitney(Shown):
    """Result of the Mann–Whitney test.

    Parameters
    ----------
    u_plus, u_minus
        U⁺ of the positives and PN − U⁺.
    u
        The smaller of the two.
    rank_sum_positive, rank_sum_negative
        Rank sums of the classes.
    z
        Standardised U⁺.
    p_value
        Probability of a U⁺ at least as far in the direction of `alternative`, if labels and scores are independent.
    critical
        The largest U that is significant in a two-sided test at `level`; None if no U is.
    method, alternative, level
        The options of the test.
    """

    u_plus: float
    u_minus: float
    u: float
    rank_sum_positive: float
    rank_sum_negative: float
    z: float
    p_value: float
    critical: float | None
    method: str
    alternative: str
    level: float

    @property
    def u_of_larger_rank_sum(self) -> float:
        """n₁n₂ + nₓ(nₓ+1)/2 − Tₓ with x the class of the larger rank sum, as some course notes define U.

        Equal to `u` for classes of one size; with unequal sizes it can name the other side.
        """
        positive, negative = self.rank_sum_positive, self.rank_sum_negative
        return self.u_minus if positive >= negative else self.u_plus

    def heading(self) -> str:
        """The test."""
        return f"Mann–Whitney test ({self.method}, {self.alternative})"

    def rows(self) -> list[Row]:
        """One row per number; the method and the alternative stand in the heading."""
        return [{"quantity": name, "value": value} for name, value in vars(self).items() if not isinstance(value, str)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


def mann_whitney(
    tally: Tally, *, method: Method = "auto", alternative: Alternative = "two-sided", level: float = 0.95
) -> MannWhitney:
    r"""Mann–Whitney test of positives against negatives, :math:`U^+ = T_p - P(P+1)/2 = \mathrm{AUROC}\cdot PN`.

    Mann & Whitney (1947), Ann. Math. Stat. 18(1).

    Parameters
    ----------
    tally
        A labelled tally of exact scores without weights.
    method
        ``"exact"`` counts all orders (no ties allowed), ``"normal"`` uses the tie-corrected normal approximation with
        continuity correction, ``"auto"`` takes exact for small samples without ties.
    alternative
        ``"greater"`` if positives score higher.
    level
        Level of the critical value.

    Returns
    -------
    MannWhitney

    Examples
    --------
    >>> import tallymark as tm
    >>> test = tm.mann_whitney(tm.tally([-1, -1, 1, 1, -1, 1], [-2.93, -4.73, -0.61, 0.96, -2.76, -1.61]))
    >>> test.u_plus, test.rank_sum_negative, test.rank_sum_positive, test.p_value
    (9.0, 6.0, 15.0, 0.1)
    """
    if not isinstance(tally, Tally):
        raise InputError(
            f"mann_whitney takes a Tally, got {type(tally).__name__}. Write tm.mann_whitney(tm.tally(y, s))."
        )
    if not tally.exact:
        raise InputError("The Mann–Whitney test needs exact scores; this tally is quantised.")
    if tally.weighted:
        raise InputError("The Mann–Whitney test counts rows; it has no weighted form. Use counts=, or no weights.")
    confidence = checked_level(level)
    p, n = int(tally.positives), int(tally.negatives)
    if not p or not n:
        raise InputError("The Mann–Whitney test needs rows of both classes.")
    cut = tally.cutoffs
    groups = np.diff(cut.tp + cut.fp).astype(np.float64)
    tied = bool((groups > 1).any())
    require_one_of("method", method, ("auto", "exact", "normal"))
    sides = choose("alternative", alternative, {"two-sided": (1, -1), "greater": (1,), "less": (-1,)})
    if method == "exact" and tied:
        raise InputError("An exact p-value needs scores without ties; use method='normal'.")
    if method == "exact" and p * n > _MOST_PAIRS:
        raise InputError(f"An exact p-value of {p} by {n} rows takes too long to count; use method='normal'.")
    exact = method == "exact" or (method == "auto" and not tied and p * n <= _EXACT_PAIRS)
    u_plus, pairs, total = tally.views.wins, float(p) * n, float(p + n)
    variance = pairs / 12.0 * (total + 1.0 - float(np.sum(groups**3 - groups)) / (total * (total - 1.0)))
    spread = math.sqrt(max(variance, 0.0))
    counts = _null_counts(p, n) if exact else None
    tails = [
        _exact_tail(counts, u_plus if side > 0 else pairs - u_plus)
        if counts is not None
        else _normal_tail(side * (u_plus - pairs / 2), spread)
        for side in sides
    ]
    return MannWhitney(
        u_plus=u_plus,
        u_minus=pairs - u_plus,
        u=min(u_plus, pairs - u_plus),
        rank_sum_positive=u_plus + p * (p + 1) / 2,
        rank_sum_negative=pairs - u_plus + n * (n + 1) / 2,
        z=(u_plus - pairs / 2) / spread if spread else math.nan,
        p_value=min(1.0, len(tails) * min(tails)),
        critical=_critical(pairs, 1.0 - confidence, spread, counts),
        method="exact" if exact else "normal",
        alternative=alternative,
        level=confidence,
    )


def _null_counts(p: int, n: int) -> NDArray[np.object_]:
    """Orders of p + n rows by U, for U = 0 … pn: coefficients of the Gaussian binomial, as exact integers."""
    counts = np.zeros(p * n + 1, dtype=object)
    counts[0] = 1
    for i in range(1, min(p, n) + 1):
        # Multiply by (1 - q^(m+i)), then divide by (1 - q^i), in place.
        step = max(p, n) + i
        if step < len(counts):
            counts[step:] -= counts[:-step].copy()
        for start in range(i):
            counts[start::i] = np.add.accumulate(counts[start::i])
    return counts


def _exact_tail(counts: NDArray[np.object_], u: float) -> float:
    """Chance of a U⁺ of at least u."""
    return float(sum(counts[int(u) :]) / sum(counts))


def _normal_tail(beyond: float, spread: float) -> float:
    from scipy.special import ndtr

    if spread == 0.0:
        return 1.0
    return float(ndtr(-(beyond - 0.5) / spread))


def _critical(pairs: float, alpha: float, spread: float, counts: NDArray[np.object_] | None) -> float | None:
    if counts is not None:
        below = np.add.accumulate(counts)
        values = int(np.count_nonzero(below <= alpha / 2 * below[-1])) - 1
    else:
        from scipy.special import ndtri

        values = math.floor(pairs / 2 + float(ndtri(alpha / 2)) * spread - 0.5)
    return float(values) if values >= 0 else None
