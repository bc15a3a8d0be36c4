"""Precision, recall and lift at k: metrics of the k rows with the highest scores."""

from __future__ import annotations

import math

import numpy as np

from tallymark import _check
from tallymark.errors import InputError
from tallymark.metrics.declare import metric
from tallymark.summaries.bisection import lowest_scores, mass_above
from tallymark.summaries.tally import Tally

_REFERENCE = "Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, ch. 8."

#: The default share of the rows: the top tenth.
TOP = 0.1


def _top(tally: Tally, k: float | None, share: float | None) -> tuple[float, float]:
    """Positives among the first rows and the number of those rows, at the tally's prevalence.

    Of tied rows that do not all fit, each is equally likely to be among the first.
    """
    n = float(tally.n)
    if k is not None and share is not None:
        raise InputError("Give k= (rows) or share= (of all rows), not both.")
    if k is not None:
        size = _check.real(k, "k")
        if not 0.0 < size <= n:
            raise InputError(f"k is {k!r}, expected a number of rows above 0 and up to {n:g}.")
    else:
        part = TOP if share is None else _check.real(share, "share")
        if not 0.0 < part <= 1.0:
            raise InputError(f"share is {share!r}, expected a share of the rows above 0 and up to 1.")
        size = part * n
    # The lowest cut-off with at most `size` rows above it, and the next lower one: the end lies between the two.
    within = lowest_scores(tally, lambda scores: mass_above(tally, scores, "left")[0] <= size, 1)
    lower = [run.scores[place - 1] for run in tally.runs if (place := np.searchsorted(run.scores, within[0]))]
    predicted, hits = mass_above(tally, np.append(within, max(lower)) if lower else within, "left")
    return float(np.interp(size, predicted, hits)), size


@metric(
    title="Precision at k", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=lambda tally, **_: tally.prevalence, rank_only=True, bound="order", top_heavy=True,
    formula=r"\frac{\mathrm{TP}_k}{k}",
    meaning="Share of positives among the k rows with the highest scores (the top tenth by default).",
    reference=_REFERENCE,
)  # fmt: skip
def precision_at_k(tally: Tally, *, k: float | None = None, share: float | None = None) -> float:
    r"""Precision among the first k rows, :math:`\mathrm{TP}_k / k`. Manning, Raghavan & Schütze (2008).

    Of rows tied at the end, the share that fits is counted.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    k : float, optional
        Number of rows at the top of the list.
    share : float, optional
        The same as a share of all rows; 0.1 by default.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.metrics.precision_at_k(tm.tally([0, 0, 1, 0, 1], [0.1, 0.4, 0.35, 0.2, 0.8]), k=2)
    0.5
    """
    hits, size = _top(tally, k, share)
    return hits / size


@metric(
    title="Recall at k", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=lambda tally, k=None, share=None: (share or TOP) if k is None else k / float(tally.n),
    rank_only=True, bound="order", formula=r"\frac{\mathrm{TP}_k}{P}",
    meaning="Share of the positives that are among the k rows with the highest scores (the top tenth by default).",
    reference=_REFERENCE,
)  # fmt: skip
def recall_at_k(tally: Tally, *, k: float | None = None, share: float | None = None) -> float:
    r"""Recall of the first k rows, :math:`\mathrm{TP}_k / P`.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    k : float, optional
        Number of rows at the top of the list.
    share : float, optional
        The same as a share of all rows; 0.1 by default.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.metrics.recall_at_k(tm.tally([0, 0, 1, 0, 1], [0.1, 0.4, 0.35, 0.2, 0.8]), k=3)
    1.0
    """
    hits, _ = _top(tally, k, share)
    return hits / (tally.prevalence * float(tally.n))


@metric(
    title="Lift at k", family="ranking", needs="tally", low=0.0, high=math.inf, better="higher", chance=1.0,
    rank_only=True, bound="order", top_heavy=True, formula=r"\frac{\mathrm{TP}_k / k}{P / n}",
    meaning="How many times as many positives the top k rows hold as k random rows (the top tenth by default).",
    reference="Witten, Frank & Hall (2011), Data Mining, 3rd ed., ch. 5.",
)  # fmt: skip
def lift_at_k(tally: Tally, *, k: float | None = None, share: float | None = None) -> float:
    r"""Lift of the first k rows, :math:`\frac{\mathrm{TP}_k/k}{P/n}`.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    k : float, optional
        Number of rows at the top of the list.
    share : float, optional
        The same as a share of all rows; 0.1 by default.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.metrics.lift_at_k(tm.tally([0, 0, 1, 0, 1], [0.1, 0.4, 0.35, 0.2, 0.8]), k=1)
    2.5
    """
    hits, size = _top(tally, k, share)
    return hits / size / tally.prevalence
