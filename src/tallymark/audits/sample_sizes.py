"""Sample sizes of audits in closed form: for an overall accuracy, and for the recall where all found are checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tallymark import _check
from tallymark.errors import InputError
from tallymark.inference.interval import checked_level


def accuracy_size(shares: Any, accuracies: Any, *, standard_error: float) -> int:
    r"""Rows to check so that the overall accuracy has this standard error, in proportion to the strata.

    :math:`n = \left(\sum_h W_h\sqrt{U_h(1 - U_h)} / S\right)^2` (Cochran 1977, eq. 5.25; Olofsson et al. 2014, eq. 13).
    Rare classes need more than their share; ``tm.audits.plan(measure="accuracy", least=50)`` gives it to them.

    Parameters
    ----------
    shares
        Share of the rows (area) of each predicted class, adding up to 1.
    accuracies
        Expected precision (user's accuracy) of each.
    standard_error
        Standard error of the overall accuracy.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.audits.accuracy_size([0.02, 0.015, 0.32, 0.645], [0.7, 0.6, 0.9, 0.95], standard_error=0.01)
    641

    """
    weights, expected = _check.weights(shares, "shares"), _check.weights(accuracies, "accuracies")
    if len(weights) != len(expected):
        raise InputError(f"shares has {len(weights)} values and accuracies {len(expected)}; expected as many.")
    if not math.isclose(float(weights.sum()), 1.0, abs_tol=1e-6):
        raise InputError(f"shares add up to {weights.sum():g}, expected 1.")
    if float(expected.max()) > 1.0:
        raise InputError(f"accuracies go up to {expected.max():g}, expected shares from 0 to 1.")
    error = _check.probability(standard_error, "standard_error")
    spread = float(weights @ np.sqrt(expected * (1.0 - expected)))
    if not spread > 0.0:
        raise InputError("Every one of accuracies is 0 or 1, so that no row would be needed; expect some error.")
    # Rounding must not add a row where the formula gives a whole number.
    return math.ceil((spread / error) ** 2 - 1e-9)


def elusion_size(found: int, others: int, *, recall: float, missed: float = 0.0, level: float = 0.95) -> int:
    """Rows of the others to check so that the recall's lower limit reaches `recall`, with all rows found known.

    The limit is the exact one-sided one (Clopper-Pearson) of the share that was missed, at half of 1 - `level`.

    Parameters
    ----------
    found
        Positives among the rows that were found and checked.
    others
        Rows that were not found, of which some are to be checked.
    recall
        The lower limit to reach.
    missed
        Expected share of positives among the others.
    level
        Confidence level of the two-sided interval of which this is the lower limit.

    Returns
    -------
    int
        The number of rows to check.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.audits.elusion_size(8_000, 92_000, recall=0.95, missed=0.002)
    2804

    """
    from scipy.special import betaincinv

    positives, rows = _check.whole(found, "found", 1), _check.whole(others, "others", 1)
    target = _check.probability(recall, "recall")
    rate = 0.0 if missed == 0 else _check.probability(missed, "missed")
    tail = (1.0 - checked_level(level)) / 2.0
    most = positives / target - positives
    if rate * rows >= most:
        raise InputError(
            f"With {rate * rows:.0f} missed the recall is {positives / (positives + rate * rows):.4g}, below "
            f"{target:g}; no sample can show more."
        )

    def reached(n: int) -> bool:
        seen = math.ceil(rate * n)
        upper = 1.0 if seen >= n else float(betaincinv(seen + 1.0, n - seen, 1.0 - tail))
        return seen + upper * (rows - n) <= most

    if not reached(rows):
        return rows
    few, many = 1, rows
    while few < many:
        middle = (few + many) // 2
        few, many = (few, middle) if reached(middle) else (middle + 1, many)
    return many
