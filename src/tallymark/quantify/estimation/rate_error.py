"""How far an adjusted count may be off because the classifier's error rates are only estimated."""

from __future__ import annotations

import math

from tallymark.errors import InputError
from tallymark.summaries.confusion import BinaryConfusion, Confusion


def adjusted_count_error(confusion: Confusion) -> float:
    r"""Compute the standard error of an adjusted count that stems from the error rates, over all prevalences.

    An adjusted count is :math:`\hat p = (c - \mathrm{fpr}) / (\mathrm{tpr} - \mathrm{fpr})` with rates of a labelled
    sample of P positives and N negatives. The root of the mean of its variance over prevalences from 0 to 1, in a
    target of any size, is

    .. math:: \frac{1}{|\mathrm{tpr} - \mathrm{fpr}|}
              \sqrt{\frac{1}{3}\left(\frac{t(1-t)}{P} + \frac{f(1-f)}{N}\right)}

    where :math:`t = (\mathrm{TP} + ½)/(P + 1)` and :math:`f = (\mathrm{FP} + ½)/(N + 1)`, so that rates of 0 and 1 are
    not taken for known. A classifier chosen by it serves a count better than the most accurate one may (Barranquero
    2013, section 7.2.1).

    Parameters
    ----------
    confusion
        Counts of two classes, of rows that the classifier was not trained on.

    Returns
    -------
    float
        The error as a share of the target; infinite where tpr = fpr.

    Examples
    --------
    >>> import tallymark as tm
    >>> strict = tm.Confusion.of_cells(tp=40, fp=1, fn=60, tn=99)
    >>> even = tm.Confusion.of_cells(tp=85, fp=15, fn=15, tn=85)
    >>> round(tm.quantify.adjusted_count_error(strict), 3), round(tm.quantify.adjusted_count_error(even), 3)
    (0.075, 0.042)
    """
    if not isinstance(confusion, Confusion):
        raise InputError(f"Got a {type(confusion).__name__}, expected a confusion of two classes.")
    cells = confusion if isinstance(confusion, BinaryConfusion) else confusion.binary
    positives, negatives = float(cells.tp + cells.fn), float(cells.fp + cells.tn)
    if not positives or not negatives:
        raise InputError("There are no rows of one class, so that its rate is not known; both are needed.")
    return error_of_rates(float(cells.tp), positives, float(cells.fp), negatives)


def error_of_rates(tp: float, positives: float, fp: float, negatives: float) -> float:
    """The error from counts; infinite where the rates are equal."""
    apart = abs(tp / positives - fp / negatives)
    if apart == 0.0:
        return math.inf
    t, f = (tp + 0.5) / (positives + 1.0), (fp + 0.5) / (negatives + 1.0)
    return math.sqrt((t * (1.0 - t) / positives + f * (1.0 - f) / negatives) / 3.0) / apart
