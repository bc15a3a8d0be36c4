"""Areas under the precision–recall curve, one name per definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError, Undefined
from tallymark.metrics.declare import metric
from tallymark.registry import choose
from tallymark.summaries.cutoffs import Steps
from tallymark.summaries.tally import Tally, extremes

#: Default upper limit of the recall over which precision is averaged.
UP_TO_RECALL = 0.5

Interpolation = Literal["integral", "step", "trapezoid", "davis_goadrich"]


def _prevalence(tally: Tally, **_: object) -> float:
    return tally.prevalence


def _bound(tally: Tally, *, interpolation: Interpolation = "integral") -> tuple[float, float]:
    """Lowest and highest possible area, summed over cells.

    Inside a cell recall grows from tp0 to tp1 and the false positives from fp0 to fp1 in an unknown order, and the
    positives may be tied or not. A step takes the precision at the end of each tied group, so it is lowest when all
    negatives come first and the positives follow untied.
    """
    if interpolation == "integral":
        # Linear in ROC space, so the two extreme orders bracket it.
        best, worst = extremes(tally)
        return _total(worst, _integral_area), _total(best, _integral_area)
    tp0, tp1, fp0, fp1 = _segments(tally, tally.views.steps())
    positive, negative = tally.positive, tally.negative
    one_score = (positive.scores == positive.hi)[::-1] if positive.hi is not None else np.ones(len(tp0), np.bool_)
    highest_negative = np.full(len(tp0), -np.inf)
    if negative.hi is not None and len(negative):
        place = np.minimum(np.searchsorted(negative.scores, positive.scores), len(negative) - 1)
        shared = negative.scores[place] == positive.scores
        highest_negative = np.where(shared, negative.hi[place], -np.inf)[::-1]
    determined = one_score & (highest_negative <= positive.scores[::-1])
    width = tp1 - tp0
    most = width * tp1 / (tp1 + fp0)
    if interpolation == "step":
        at_once = width * tp1 / (tp1 + fp1)
        least = np.where(one_score, at_once, _integral_area(tp0, tp1, fp1, fp1))
    else:
        least = np.divide(width * tp0, tp0 + fp1, out=np.zeros_like(width), where=tp0 + fp1 > 0)
        most = np.where(tp0 + fp0 > 0, most, width)
    exact = _AREAS[interpolation](tp0, tp1, fp0, fp1)
    total = float(tally.positives)
    return float(np.sum(np.where(determined, exact, least))) / total, float(
        np.sum(np.where(determined, exact, most))
    ) / total


@metric(
    title="Average precision", brief="the top of the list", family="ranking", needs="tally", low=0.0, high=1.0,
    better="higher", chance=_prevalence, rank_only=True, top_heavy=True, aliases=("ap",),
    bound=lambda tally: _bound(tally, interpolation="step"),
    formula=r"\sum_k (R_k - R_{k-1})\, \mathrm{precision}_k",
    meaning="Mean precision over the positives, each taken at its own score; depends on prevalence.",
    reference="Salton & McGill (1983); no interpolation.",
)  # fmt: skip
def average_precision(tally: Tally) -> float:
    r"""Average precision, :math:`\sum_k (R_k - R_{k-1})\,\mathrm{precision}_k` over distinct scores.

    >>> import tallymark as tm
    >>> round(tm.metrics.average_precision(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.8333
    """
    return _total(tally, _step_area)


@metric(
    title="Partial average precision", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=_prevalence, rank_only=True, top_heavy=True, aliases=("pap",),
    bound=lambda tally, **_: (0.0, 1.0),  # noqa: ARG005
    formula=r"\frac1r \sum_{k:\, R_{k-1} < r} (\min(R_k, r) - R_{k-1})\, \mathrm{precision}_k",
    meaning="Mean precision over the first positives of the list, by default up to half of them.",
    reference="Average precision cut at a recall, as in Boyd, Eng & Page (2013), ECML PKDD.",
)  # fmt: skip
def partial_average_precision(tally: Tally, *, recall: float = UP_TO_RECALL) -> float:
    r"""Average precision up to a recall, over that recall.

    :math:`\frac1r\sum (\min(R_k, r) - R_{k-1})\,\mathrm{precision}_k`.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    recall : float
        Recall r up to which precision is averaged.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.metrics.partial_average_precision(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    1.0
    """
    end = _check.real(recall, "recall")
    if not 0.0 < end <= 1.0:
        raise InputError(f"recall is {recall!r}, expected a recall above 0 and up to 1 to which precision is averaged.")
    tp0, tp1, _, fp1 = _segments(tally, tally.views.steps())
    width = np.clip(np.minimum(tp1, end * float(tally.positives)) - tp0, 0.0, None)
    return float(np.sum(width * tp1 / (tp1 + fp1))) / (end * float(tally.positives))


@metric(
    title="Area under the precision–recall curve", family="ranking", needs="tally", low=0.0, high=1.0,
    better="higher", chance=_prevalence, rank_only=True, top_heavy=True,
    formula=r"\int_0^1 \mathrm{precision}\, d\,\mathrm{recall}",
    meaning="Area under the PR curve with the achievable curve between points.",
    reference="Keilwagen, Grosse & Grau (2014), PLoS ONE 9(3); Davis & Goadrich (2006), ICML.",
    bound=_bound,
)  # fmt: skip
def pr_auc(tally: Tally, *, interpolation: Interpolation = "integral") -> float:
    r"""Area under the precision–recall curve. Keilwagen, Grosse & Grau (2014), PLoS ONE 9(3).

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    interpolation : {"integral", "step", "trapezoid", "davis_goadrich"}
        The curve between two points. The achievable one is linear in TP and FP: ``integral`` is the area under it,
        :math:`\int \frac{t}{t + f(t)}\,dt / P` (``auc.integral`` of R's PRROC); ``davis_goadrich`` joins its points at
        whole true positives by straight lines (Davis & Goadrich 2006). ``step`` is :func:`average_precision`.
        ``trapezoid`` joins the points of the data by straight lines: too large with many ties, a little too small
        without any.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [round(tm.metrics.pr_auc(t, interpolation=i), 4) for i in ("integral", "step", "trapezoid", "davis_goadrich")]
    [0.7973, 0.8333, 0.7917, 0.7917]
    """
    area = choose("interpolation", interpolation, _AREAS)
    if area is _davis_goadrich_area and tally.weighted:
        raise Undefined(
            "pr_auc: davis_goadrich steps over whole true positives, which weights do not have; use 'integral'"
        )
    return _total(tally, area)


def _segments(tally: Tally, steps: Steps) -> tuple[Floats, Floats, Floats, Floats]:
    """Each segment in which recall grows: TP before and after, FP before and after, in units of positive mass."""
    down, up = tally.scale
    rate = down / up
    return steps.before.astype(np.float64), steps.tp.astype(np.float64), steps.above * rate, steps.fp * rate


def _step_area(tp0: Floats, tp1: Floats, _: Floats, fp1: Floats) -> Floats:
    return (tp1 - tp0) * tp1 / (tp1 + fp1)


def _trapezoid_area(tp0: Floats, tp1: Floats, fp0: Floats, fp1: Floats) -> Floats:
    # Before anything is predicted positive, precision is taken as 1.
    start = np.divide(tp0, tp0 + fp0, out=np.ones_like(tp0), where=tp0 + fp0 > 0)
    return (tp1 - tp0) * (start + tp1 / (tp1 + fp1)) / 2


def _davis_goadrich_area(tp0: Floats, tp1: Floats, fp0: Floats, fp1: Floats) -> Floats:
    """Trapezoids between whole true positives on the curve that is linear in TP and FP."""
    rise = np.divide(fp1 - fp0, tp1 - tp0, out=np.zeros_like(tp0), where=tp1 > tp0)

    def precision(tp: Floats, fp: Floats) -> Floats:
        # Where nothing is predicted positive yet, the curve starts with the precision of its first segment.
        start = np.divide(1.0, 1.0 + rise, out=np.zeros_like(tp), where=rise >= 0)
        return np.divide(tp, tp + fp, out=start, where=tp + fp > 0)

    # The points between the ends: t / (t + f) at each whole t.
    values = (precision(tp0, fp0) + precision(tp1, fp1)) / 2
    for i in np.flatnonzero(tp1 - tp0 > 1.0):
        t = np.arange(tp0[i] + 1.0, tp1[i])
        values[i] += float(np.sum(t / (t + fp0[i] + rise[i] * (t - tp0[i]))))
    return values


def _integral_area(tp0: Floats, tp1: Floats, fp0: Floats, fp1: Floats) -> Floats:
    # With f(t) = fp0 + h (t - tp0): integral of t / (a t + b), a = 1 + h, b = fp0 - h tp0.
    # A weight of 1e-20 beside one of 1 adds no width and no area.
    width = tp1 - tp0
    a = 1.0 + np.divide(fp1 - fp0, width, out=np.zeros_like(width), where=width > 0)
    b = fp0 - (a - 1.0) * tp0
    start = a * tp0 + b
    bent = np.where(start > 0, np.log1p(a * width / np.where(start > 0, start, 1.0)), 0.0)
    return width / a - b / a**2 * bent


_AREAS = {
    "integral": _integral_area,
    "step": _step_area,
    "trapezoid": _trapezoid_area,
    "davis_goadrich": _davis_goadrich_area,
}


def _total(tally: Tally, area: Callable[[Floats, Floats, Floats, Floats], Floats]) -> float:
    value = (float(np.sum(area(*_segments(tally, steps)))) for steps in tally.views.step_blocks())
    return sum(value) / float(tally.positives)
