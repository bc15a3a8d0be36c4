"""Partial area under the ROC curve, by each of its definitions."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.metrics.declare import metric
from tallymark.registry import require_one_of
from tallymark.summaries.tally import Tally, extremes

Range = tuple[float, float]

#: Narrower ranges are rounding noise.
_NARROWEST = 1e-9

#: Default upper limit of the false positive rate.
UP_TO = 0.1

Standard = Literal["none", "mcclish", "box", "concordant"]


def roc_path(tally: Tally) -> tuple[Floats, Floats]:
    """Fpr and tpr of the ROC curve's corners from (0, 0) to (1, 1), tied scores as slanted segments."""
    steps = tally.views.steps()
    tp = steps.tp / tally.positives
    fpr = np.empty(2 * len(tp) + 2)
    tpr = np.empty_like(fpr)
    fpr[0] = tpr[0:2] = 0.0
    fpr[1:-1:2], fpr[2:-1:2] = steps.above / tally.negatives, steps.fp / tally.negatives
    tpr[2:-1:2], tpr[3::2] = tp, tp
    fpr[-1] = 1.0
    return fpr, tpr


def _ends(fpr: Range | None, tpr: Range | None) -> Range:
    if fpr is not None and tpr is not None:
        raise InputError("Give a range of fpr= or of tpr=, not both.")
    name, ends = ("tpr", tpr) if tpr is not None else ("fpr", (0.0, UP_TO) if fpr is None else fpr)
    low, high = _check.pair(ends, name)
    if not 0.0 <= low < high <= 1.0 or high - low < _NARROWEST:
        raise InputError(f"{name}={ends!r} is not a range inside [0, 1]; write {name}=(0, 0.1), for example.")
    return low, high


def _diagonal(_: Tally, *, fpr: Range | None = None, tpr: Range | None = None, standard: Standard = "none") -> float:
    low, high = _ends(fpr, tpr)
    triangle = (high**2 - low**2) / 2
    area = triangle if tpr is None else (high - low) - triangle
    return {"none": area, "box": area / (high - low), "mcclish": 0.5, "concordant": (high - low) / 2}[standard]


def _bound(tally: Tally, *, standard: Standard = "none", **ends: Range | None) -> tuple[float, float]:
    best, worst = extremes(tally)
    if standard != "concordant":
        return partial_auc(worst, standard=standard, **ends), partial_auc(best, standard=standard, **ends)
    # Not monotone, but the difference of two areas that are: from fpr 0 upwards, or from recall 1 downwards.
    low, high = _ends(ends.get("fpr"), ends.get("tpr"))
    if ends.get("tpr"):

        def down_to(one: Tally, recall: float) -> float:
            return partial_auc(one, tpr=(recall, 1.0), standard=standard) if recall < 1.0 else 0.0

        return down_to(worst, low) - down_to(best, high), down_to(best, low) - down_to(worst, high)

    def up_to(one: Tally, fpr: float) -> float:
        return partial_auc(one, fpr=(0.0, fpr), standard=standard) if fpr else 0.0

    return up_to(worst, high) - up_to(best, low), up_to(best, high) - up_to(worst, low)


@metric(
    title="Partial area under the ROC curve", family="ranking", needs="tally", low=0.0, high=1.0, better="higher",
    chance=_diagonal, prevalence_free=True, rank_only=True, aliases=("pauc",), holds_from=(100, 10),
    formula=r"\int_a^b \mathrm{tpr}\, d\,\mathrm{fpr}",
    meaning="Area under the part of the ROC curve that matters, by default up to a false positive rate of 10 %.",
    reference="McClish (1989), Med. Decis. Making 9(3); Carrington et al. (2020), BMC Med. Inform. Decis. Mak. 20:4.",
    bound=_bound,
)  # fmt: skip
def partial_auc(
    tally: Tally, *, fpr: Range | None = None, tpr: Range | None = None, standard: Standard = "none"
) -> float:
    r"""Area under the ROC curve over a range of false positive rates or of recalls.

    McClish (1989), Med. Decis. Making 9(3); Carrington et al. (2020), BMC Med. Inform. Decis. Mak. 20:4.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    fpr : tuple of float, optional
        Range (a, b) of false positive rates; (0, 0.1) by default.
    tpr : tuple of float, optional
        Range (a, b) of recalls in its place.
    standard : {"none", "box", "mcclish", "concordant"}
        ``none`` is the raw area :math:`A = \int_a^b \mathrm{tpr}\,d\mathrm{fpr}` (for `tpr`,
        :math:`\int_a^b (1-\mathrm{fpr})\,d\mathrm{tpr}`); ``box`` divides by b − a; ``mcclish`` maps chance to ½ and
        perfect to 1, :math:`\frac12 (1 + \frac{A - m}{M - m})`; ``concordant`` is half the vertical plus half the
        horizontal area of that part of the curve, so that parts add up to AUROC.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> [tm.metrics.partial_auc(t, fpr=(0, 0.5), standard=s) for s in ("none", "box", "mcclish", "concordant")]
    [0.25, 0.5, 0.6666666666666666, 0.5]
    """
    low, high = _ends(fpr, tpr)
    require_one_of("standard", standard, ("none", "mcclish", "box", "concordant"))
    x, y = _segment(*roc_path(tally), low, high, by_recall=tpr is not None)
    vertical, horizontal = float(np.trapezoid(y, x)), float(np.trapezoid(1.0 - x, y))
    area = vertical if tpr is None else horizontal
    if standard == "box":
        return area / (high - low)
    if standard == "mcclish":
        least, most = _diagonal(tally, fpr=fpr, tpr=tpr), high - low
        return (1.0 + (area - least) / (most - least)) / 2
    return (vertical + horizontal) / 2 if standard == "concordant" else area


def _segment(x: Floats, y: Floats, low: float, high: float, *, by_recall: bool) -> tuple[Floats, Floats]:
    """The part of the curve where fpr (or recall) runs from low to high.

    A jump at an end belongs to the part that stops there, so that adjoining parts are disjoint and complete.
    """
    along = y if by_recall else x

    def place(at: float) -> float:
        before = int(np.searchsorted(along, at, "right")) - 1
        if before == len(along) - 1:
            return float(before)
        return before + float((at - along[before]) / (along[before + 1] - along[before]))

    begin, end = (0.0 if low == 0.0 else place(low)), place(high)
    places = np.concatenate(([begin], np.arange(np.floor(begin) + 1, np.ceil(end)), [end]))
    index = np.arange(len(x))
    return np.interp(places, index, x), np.interp(places, index, y)
