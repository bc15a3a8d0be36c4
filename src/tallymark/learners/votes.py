r"""Exact comparison of weighted votes of neighbours, in rational numbers, because floats break exact ties.

A class with :math:`j` of the neighbours has :math:`j\,w_c` votes. The votes of all classes and all :math:`j` are ranked
once, so that a prediction only looks up ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tallymark._check import Floats, Ints
from tallymark.errors import InputError

#: An alpha is replaced by the nearest fraction with a denominator of at most this.
_DENOMINATOR = 100


def class_weights(sizes: Sequence[int] | Ints, alpha: float | None) -> Floats:
    r"""Weight of a vote for each class: :math:`(N_c/M)^{-1/\alpha}` with M the smallest size, 1 for alpha = ∞.

    Without alpha :math:`1 - N_c/S`, S all rows. Barranquero et al. (2013), Pattern Recognit. 46.

    >>> class_weights([60, 40], 1).round(2).tolist(), class_weights([60, 40], None).round(2).tolist()
    ([0.67, 1.0], [0.4, 0.6])
    """
    rows = np.asarray(sizes, dtype=np.float64)
    if alpha is None:
        return np.asarray(1.0 - rows / rows.sum())
    return np.asarray((rows / rows.min()) ** (-1.0 / checked_alpha(alpha)))


def checked_alpha(alpha: float) -> float:
    """An alpha of 1 or more; infinity gives all classes equal weights."""
    if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not alpha >= 1.0:
        raise InputError(
            f"alpha is {alpha!r}, expected a number of 1 or more, or None for the weights 1 - N_c/S (PWK); "
            "float('inf') gives all classes equal weights (KNN)."
        )
    return float(alpha)


def vote_ranks(sizes: Sequence[int] | Ints, k: int, alpha: float | None) -> Ints:
    """Rank of 0 to `k` votes for each class (lines): equal votes have equal ranks, more votes a higher one."""
    votes = [[_vote(j, int(rows), int(np.sum(sizes)), alpha) for j in range(k + 1)] for rows in sizes]
    ranks = {vote: rank for rank, vote in enumerate(sorted({vote for line in votes for vote in line}))}
    return np.array([[ranks[vote] for vote in line] for line in votes], dtype=np.int64)


def _vote(j: int, rows: int, everyone: int, alpha: float | None) -> Fraction:
    """An exact number that orders votes as j·w does."""
    if alpha is None:
        return Fraction(j * (everyone - rows))
    if math.isinf(checked_alpha(alpha)):
        return Fraction(j)
    ratio = Fraction(alpha).limit_denominator(_DENOMINATOR)
    # j·N^(-v/u) to the power of u.
    return Fraction(j**ratio.numerator, rows**ratio.denominator) if rows else Fraction(0)


def winners(ranks: Ints, counts: Ints) -> Ints:
    """The class with the most votes in each line of `counts`; a tie goes to the earlier class, as in scikit-learn."""
    return np.asarray(np.argmax(ranked(ranks, counts), axis=1))


def ranked(ranks: Ints, counts: Ints) -> Ints:
    """The rank of each class's votes, line by line."""
    return np.stack([ranks[c, counts[:, c]] for c in range(len(ranks))], axis=1)
