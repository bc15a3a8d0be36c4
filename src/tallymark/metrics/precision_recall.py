"""Areas under the precision–recall curve, one name per definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from tallymark._check import Floats
from tallymark.metrics.declare import metric
from tallymark.registry import choose
from tallymark.summaries.cutoffs import Steps
from tallymark.summaries.tally import Tally

Interpolation = Literal["step", "trapezoid", "davis_goadrich"]


def _prevalence(tally: Tally, **_: object) -> float:
    return tally.prevalence


def _bound(tally: Tally, *, interpolation: Interpolation = "davis_goadrich") -> tuple[float, float]:
    """Least and most the area can be, cell by cell.

    Inside a cell recall grows from tp0 to tp1 while the false positives go from fp0 to fp1 in an unknown order, and
    the positives may share one score or have one each. A step takes the precision at the end of each tied group, so
    it is lowest when all negatives come first and the positives follow one by one.
    """
    if interpolation == "davis_goadrich":
        # Linear in ROC space, so the two extreme orders bracket it.
        best, worst = tally.extremes
        return _total(worst, _davis_goadrich_area), _total(best, _davis_goadrich_area)
    tp0, tp1, fp0, fp1 = _segments(tally, tally.steps())
    positive, negative = tally.positive, tally.negative
    one_score = (positive.scores == positive.hi)[::-1] if positive.hi is not None else np.ones(len(tp0), np.bool_)
    highest_negative = np.full(len(tp0), -np.inf)
    if negative.hi is not None and len(negative):
        place = np.minimum(np.searchsorted(negative.scores, positive.scores), len(negative) - 1)
        shared = negative.scores[place] == positive.scores
        highest_negative = np.where(shared, negative.hi[place], -np.inf)[::-1]
    known = one_score & (highest_negative <= positive.scores[::-1])
    width = tp1 - tp0
    most = width * tp1 / (tp1 + fp0)
    if interpolation == "step":
        at_once = width * tp1 / (tp1 + fp1)
        least = np.where(one_score, at_once, _davis_goadrich_area(tp0, tp1, fp1, fp1))
    else:
        least = np.divide(width * tp0, tp0 + fp1, out=np.zeros_like(width), where=tp0 + fp1 > 0)
        most = np.where(tp0 + fp0 > 0, most, width)
    exact = _AREAS[interpolation](tp0, tp1, fp0, fp1)
    total = float(tally.positives)
    return float(np.sum(np.where(known, exact, least))) / total, float(np.sum(np.where(known, exact, most))) / total


@metric(
    title="Average precision", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=_prevalence, rank_only=True, aliases=("ap",),
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
    title="Area under the precision–recall curve", family="ranking", needs="tally", low=0.0, high=1.0,
    better="higher", chance=_prevalence, rank_only=True,
    formula=r"\int_0^1 \mathrm{precision}\, d\,\mathrm{recall}",
    meaning="Area under the PR curve with the achievable curve between points (Davis–Goadrich).",
    reference="Davis & Goadrich (2006), ICML.",
    bound=_bound,
)  # fmt: skip
def pr_auc(tally: Tally, *, interpolation: Interpolation = "davis_goadrich") -> float:
    r"""Area under the precision–recall curve.

    `interpolation` names the definition: ``step`` is :func:`average_precision`; ``trapezoid`` joins the points by
    straight lines, which is too optimistic; ``davis_goadrich`` follows the curve that is reachable between two
    points, linear in TP and FP: :math:`\int \frac{t}{t + f(t)}\,dt / P`. Davis & Goadrich (2006).

    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [round(tm.metrics.pr_auc(t, interpolation=i), 4) for i in ("step", "trapezoid", "davis_goadrich")]
    [0.8333, 0.7917, 0.7973]
    """
    return _total(tally, choose("interpolation", interpolation, _AREAS))


def _segments(tally: Tally, steps: Steps) -> tuple[Floats, Floats, Floats, Floats]:
    """Each stretch in which recall grows: TP before and after, FP before and after, in units of positive mass."""
    down, up = tally.scale
    rate = down / up
    return steps.before.astype(np.float64), steps.tp.astype(np.float64), steps.above * rate, steps.fp * rate


def _step_area(tp0: Floats, tp1: Floats, _: Floats, fp1: Floats) -> Floats:
    return (tp1 - tp0) * tp1 / (tp1 + fp1)


def _trapezoid_area(tp0: Floats, tp1: Floats, fp0: Floats, fp1: Floats) -> Floats:
    # Before anything is called positive, precision is taken as 1.
    start = np.divide(tp0, tp0 + fp0, out=np.ones_like(tp0), where=tp0 + fp0 > 0)
    return (tp1 - tp0) * (start + tp1 / (tp1 + fp1)) / 2


def _davis_goadrich_area(tp0: Floats, tp1: Floats, fp0: Floats, fp1: Floats) -> Floats:
    # With f(t) = fp0 + h (t - tp0): integral of t / (a t + b), a = 1 + h, b = fp0 - h tp0.
    # Beside a weight of 1, one of 1e-20 adds no width, and no area.
    width = tp1 - tp0
    a = 1.0 + np.divide(fp1 - fp0, width, out=np.zeros_like(width), where=width > 0)
    b = fp0 - (a - 1.0) * tp0
    start = a * tp0 + b
    bent = np.where(start > 0, np.log1p(a * width / np.where(start > 0, start, 1.0)), 0.0)
    return width / a - b / a**2 * bent


_AREAS = {"step": _step_area, "trapezoid": _trapezoid_area, "davis_goadrich": _davis_goadrich_area}


def _total(tally: Tally, area: Callable[[Floats, Floats, Floats, Floats], Floats]) -> float:
    found = (float(np.sum(area(*_segments(tally, steps)))) for steps in tally.step_blocks())
    return sum(found) / float(tally.positives)
