"""Metrics of probabilities: Brier score, log loss, skill scores and binned calibration errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tallymark import _check
from tallymark._check import Bools, Floats, Ints, Scores
from tallymark._display import Row, Shown
from tallymark.errors import InputError
from tallymark.metrics.declare import metric
from tallymark.registry import METRICS, choose, require_one_of
from tallymark.summaries.bisection import lowest_scores, mass_above
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally

Binning = Literal["width", "mass"]


def _mean_loss(tally: Tally, of_positive: Callable[[Floats], Floats], of_negative: Callable[[Floats], Floats]) -> float:
    down, up = tally.scale
    total = up * tally.positive.sum_of(of_positive) + down * tally.negative.sum_of(of_negative)
    return total / float(tally.n)


def _entropy(tally: Tally) -> float:
    """Log loss of stating the prevalence for every row."""
    p = tally.prevalence
    return -sum(share * math.log(share) for share in (p, 1.0 - p) if share > 0.0)


def _variance(tally: Tally) -> float:
    """Brier score of stating the prevalence for every row."""
    return tally.prevalence * (1.0 - tally.prevalence)


def _mean_square(moments: ScoreMoments, target: float) -> float:
    """Mean squared distance of a class's scores from 0 or 1, from their moments."""
    return (moments.mean - target) ** 2 + moments.variance if moments.mass else 0.0


def log_to_one(s: Floats) -> Floats:
    """Log loss of a positive with probability s."""
    with np.errstate(divide="ignore"):
        return -np.log(s)


def log_to_zero(s: Floats) -> Floats:
    """Log loss of a negative with probability s."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-s)


@metric(
    title="Brier score", family="probability", needs="probabilities", low=0.0, high=1.0, better="lower",
    chance=_variance, one_class=True, moments=True, holds_from=(0, 20),
    formula=r"\frac1n \sum_i (s_i - y_i)^2",
    meaning="Mean squared distance of the probability from the outcome; strictly proper.",
    reference="Brier (1950), Mon. Weather Rev. 78(1).",
)  # fmt: skip
def brier(tally: Tally) -> float:
    r"""Brier score, :math:`\frac1n\sum_i (s_i - y_i)^2`. Brier (1950).

    >>> import tallymark as tm
    >>> round(tm.metrics.brier(tm.tally([0, 1, 1], [0.5, 0.5, 1.0])), 4)
    0.1667
    """
    p = tally.prevalence
    return p * _mean_square(tally.positive.moments, 1.0) + (1.0 - p) * _mean_square(tally.negative.moments, 0.0)


@metric(
    title="Log loss", family="probability", needs="probabilities", low=0.0, high=math.inf, better="lower",
    chance=_entropy, one_class=True, bound="order",
    formula=r"-\frac1n \sum_i y_i \ln s_i + (1 - y_i) \ln (1 - s_i)",
    meaning="Mean of −ln of the outcome's probability; infinite when an outcome of probability 0 occurs.",
    reference="Good (1952), J. R. Stat. Soc. B 14(1).",
)  # fmt: skip
def log_loss(tally: Tally) -> float:
    r"""Log loss, :math:`-\frac1n\sum_i y_i\ln s_i + (1-y_i)\ln(1-s_i)`; nothing is clipped. Good (1952).

    >>> import tallymark as tm
    >>> round(tm.metrics.log_loss(tm.tally([0, 1], [0.2, 0.9])), 4)
    0.1643
    """
    return _mean_loss(tally, log_to_one, log_to_zero)


@metric(
    title="Brier skill score", family="probability", needs="probabilities", low=-math.inf, high=1.0, better="higher",
    chance=0.0, moments=True, formula=r"1 - \frac{\mathrm{Brier}}{\pi (1 - \pi)}", aliases=("bss",),
    meaning="Relative reduction of the Brier score from stating the prevalence for every row; below 0 that is better.",
    reference="Murphy (1973), J. Appl. Meteorol. 12(4).",
)  # fmt: skip
def brier_skill(tally: Tally) -> float:
    r"""Brier skill score, :math:`1 - \mathrm{Brier} / (\pi(1-\pi))`, against the constant prevalence. Murphy (1973).

    >>> import tallymark as tm
    >>> round(tm.metrics.brier_skill(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.3675
    """
    return 1.0 - METRICS["brier"].compute(tally) / _variance(tally)


@metric(
    title="Log loss skill score", family="probability", needs="probabilities", low=-math.inf, high=1.0, better="higher",
    chance=0.0, bound="order", formula=r"1 - \frac{\mathrm{log\ loss}}{H(\pi)}", aliases=("mcfadden_r2",),
    meaning="Relative reduction of the log loss from stating the prevalence for every row; below 0 that is better.",
    reference="McFadden (1974), Frontiers in Econometrics.",
)  # fmt: skip
def log_loss_skill(tally: Tally) -> float:
    r"""Log loss skill score, :math:`1 - \mathrm{log\ loss} / H(\pi)` with :math:`H(\pi)` the entropy of the prevalence.

    McFadden's R² of a logistic regression. McFadden (1974).

    >>> import tallymark as tm
    >>> round(tm.metrics.log_loss_skill(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.3186
    """
    return 1.0 - METRICS["log_loss"].compute(tally) / _entropy(tally)


class Bins(NamedTuple):
    """Calibration bins with any rows: mass, mean score, share of positives."""

    mass: Floats
    mean_score: Floats
    observed: Floats


#: Default number of bins of a calibration error.
BINS = 10

#: The largest number of bins that is accepted.
MOST_BINS = 10**6


def _starts(tally: Tally, bins: int, by: Binning) -> Floats:
    """The lowest score of each bin; that of the next bin where one is empty, inf where none follows."""
    bins = _check.whole(bins, "bins", 1, MOST_BINS)
    require_one_of("by", by, ("width", "mass"))
    if by == "width":
        return _edges(bins, tally.runs[0].scores.dtype)[:-1]
    total, numbers = mass_above(tally, tally.runs[0].scores.dtype.type(-np.inf), "left")[0], np.arange(bins)

    def reached(scores: Scores) -> Bools:
        """Whether a score is in each bin or a higher one: its bin is the one in which the middle of its mass falls."""
        # The margin puts a middle on an edge into the bin above, whatever the rounding of the weights.
        above, with_it = (mass_above(tally, scores, side)[0] for side in ("right", "left"))
        middle = (1.0 - (above + with_it) / 2 / total) * bins + 1e-9
        in_bin: Bools = np.clip(middle, 0, bins - 1).astype(np.int64) >= numbers
        return in_bin

    return lowest_scores(tally, reached, bins).astype(np.float64)


def _edges(bins: int, dtype: Any) -> Floats:
    """Edges of bins of equal width."""
    # Quotients rounded like the scores: linspace would give 0.30000000000000004 for 0.3.
    return (np.arange(bins + 1) / bins).astype(dtype).astype(np.float64)


def _bin_of_score(scores: Floats, bins: int, dtype: Any) -> Ints:
    """The bin of equal width that a score falls in."""
    return np.clip(np.searchsorted(_edges(bins, dtype), scores, "right") - 1, 0, bins - 1)


def calibration_bins(tally: Tally, bins: int, by: Binning) -> Bins:
    """Rows binned by score: equal `width` over [0, 1] (1.0 falls in the last), or equal `mass`, ties kept together."""
    starts = _starts(tally, bins, by)
    # The runs are sorted, so a bin is a slice of each.
    of_class = [in_slices(run, starts) for run in tally.runs]
    mass, sums = (sum(scale * part[i] for scale, part in zip(tally.scale, of_class, strict=True)) for i in (0, 1))
    filled = np.asarray(mass) > 0
    total, hits = np.asarray(mass)[filled], tally.scale[1] * of_class[1][0][filled]
    return Bins(total, np.asarray(sums)[filled] / total, hits / total)


def in_slices(run: Run, starts: Floats) -> tuple[Floats, Floats]:
    """Mass, and mass times score, between each start and the next; what lies below the first belongs to it."""
    places = np.append(np.searchsorted(run.scores, starts, "left"), len(run))
    places[0] = 0
    mass = np.diff(run.mass_before(places)).astype(np.float64)
    sums = np.zeros(len(starts))
    some = np.flatnonzero(places[1:] > places[:-1])
    if len(some):
        values = run.scores if run.kind == "unit" else run.scores * run.mass
        sums[some] = np.add.reduceat(values, places[some], dtype=np.float64)
    return mass, sums


def calibration_starts(tally: Tally, bins: int, by: Binning) -> Floats:
    """The lowest score of each bin with any rows."""
    starts = _starts(tally, bins, by)
    lowest = np.full(len(starts), np.inf)
    for run in tally.runs:
        places = np.append(np.searchsorted(run.scores, starts, "left"), len(run))
        places[0] = 0
        some = places[1:] > places[:-1]
        lowest[some] = np.minimum(lowest[some], run.scores[places[:-1][some]])
    values: Floats = lowest[np.isfinite(lowest)]
    return values


def _calibration_error(tally: Tally, bins: int, by: Binning, norm: str) -> float:
    value = calibration_bins(tally, bins, by)
    share, gap = value.mass / value.mass.sum(), np.abs(value.observed - value.mean_score)
    return float(choose("norm", norm, _NORMS)(share, gap))


_NORMS: dict[str, Callable[[Floats, Floats], Any]] = {
    "mean": lambda share, gap: np.sum(share * gap),
    "rms": lambda share, gap: np.sqrt(np.sum(share * gap**2)),
    "max": lambda _, gap: np.max(gap),
}


def _shuffled_calibration(tally: Tally, bins: int, by: Binning, norm: str = "mean") -> float:
    value = calibration_bins(tally, bins, by)
    share = value.mass / value.mass.sum()
    return float(choose("norm", norm, _NORMS)(share, np.abs(value.mean_score - tally.prevalence)))


def _binned_bound(tally: Tally, bins: int, by: Binning, norm: str = "mean") -> tuple[float, float]:
    """Bounds of the mean gap where cells are binned instead of rows.

    A score is off by at most the width of its cell. A cell that may belong to two bins can have been put whole into the
    wrong one, which changes the shares of both.
    """
    value = _calibration_error(tally, bins, by, norm)
    if norm != "mean":
        return 0.0, 1.0
    edges = np.union1d(*(run.scores for run in tally.runs)).astype(np.float64)
    mass, top, lowest = np.zeros(len(edges)), np.full(len(edges), -np.inf), np.full(len(edges), np.inf)
    moved = 0.0
    for run, scale in zip(tally.runs, tally.scale, strict=True):
        place = np.searchsorted(edges, run.scores)
        lo, hi = (run.scores if end is None else end for end in (run.lo, run.hi))
        mass[place] += scale * run.mass
        top[place], lowest[place] = np.maximum(top[place], hi), np.minimum(lowest[place], lo)
        moved += scale * float(np.sum(run.mass * (hi - run.scores)))
    if by == "width":
        first, last = (_bin_of_score(ends, bins, tally.runs[0].scores.dtype) for ends in (lowest, top))
    else:
        upto = np.cumsum(mass) / mass.sum()
        # Any part of the cell may be one score, whose middle lies anywhere in the cell's mass.
        first, last = (
            np.floor(ends * bins + side * 1e-6) for ends, side in ((upto - mass / mass.sum(), -1), (upto, 1))
        )
        last = np.where(lowest == top, first, last)
    doubtful = float(np.sum(mass[np.clip(first, 0, bins - 1) != np.clip(last, 0, bins - 1)]))
    slack = (moved + 2.0 * doubtful) / float(tally.n)
    return max(0.0, value - slack), min(1.0, value + slack)


Norm = Literal["mean", "rms", "max"]


def _calibration_metric(by: Binning, title: str, meaning: str, reference: str) -> metric:
    """The declaration of a binned calibration error."""
    return metric(
        title=title,
        family="probability",
        needs="probabilities",
        better="lower",
        chance=lambda tally, bins=BINS, norm="mean": _shuffled_calibration(tally, bins, by, norm),
        one_class=True,
        formula=r"\sum_b \frac{n_b}{n} \left| \bar y_b - \bar s_b \right|",
        meaning=meaning,
        reference=reference,
        bound=lambda tally, bins=BINS, norm="mean": _binned_bound(tally, bins, by, norm),
    )


@_calibration_metric(
    "width",
    "Expected calibration error",
    "Mean gap between stated probability and observed share over bins of equal width.",
    "Naeini, Cooper & Hauskrecht (2015), AAAI.",
)
def ece(tally: Tally, *, bins: int = BINS, norm: Norm = "mean") -> float:
    r"""Expected calibration error over bins of equal width, :math:`\sum_b \frac{n_b}{n}|\bar y_b - \bar s_b|`.

    It depends on the number of bins, which belongs beside a published value. Naeini et al. (2015).

    Parameters
    ----------
    tally : Tally
        Labelled probabilities.
    bins : int
        Number of bins.
    norm : {"mean", "rms", "max"}
        Weighted mean, root mean square or maximum of the gaps.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> round(tm.metrics.ece(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.3375
    """
    return _calibration_error(tally, bins, "width", norm)


@_calibration_metric(
    "mass",
    "Adaptive calibration error",
    "Mean gap between stated probability and observed share over bins that hold equally many rows.",
    "Nixon et al. (2019), CVPR Workshops.",
)
def ace(tally: Tally, *, bins: int = BINS, norm: Norm = "mean") -> float:
    r"""Calibration error over bins of equal mass, :math:`\sum_b \frac{n_b}{n}|\bar y_b - \bar s_b|`.

    Nixon et al. (2019), CVPR Workshops.

    Parameters
    ----------
    tally : Tally
        Labelled probabilities.
    bins : int
        Number of bins.
    norm : {"mean", "rms", "max"}
        Weighted mean, root mean square or maximum of the gaps.

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> round(tm.metrics.ace(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), bins=2), 4)
    0.1875
    """
    return _calibration_error(tally, bins, "mass", norm)


@dataclass(frozen=True, repr=False)
class BrierParts(Shown):
    """The Brier score as reliability − resolution + uncertainty + within_bins."""

    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float

    @property
    def brier(self) -> float:
        """The Brier score: the sum of the parts."""
        return self.reliability - self.resolution + self.uncertainty + self.within_bins

    def heading(self) -> str:
        """The identity."""
        return "Brier score = reliability - resolution + uncertainty + within_bins"

    def rows(self) -> list[Row]:
        """One line per part."""
        return [{"part": name, "value": value} for name, value in self.to_dict().items()]

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return {
            "brier": self.brier,
            "reliability": self.reliability,
            "resolution": self.resolution,
            "uncertainty": self.uncertainty,
            "within_bins": self.within_bins,
        }


def brier_parts(tally: Tally, *, bins: int = BINS) -> BrierParts:
    r"""Murphy's decomposition of the Brier score over bins of equal width, with the remainder within bins.

    :math:`\mathrm{BS} = \sum_b \frac{n_b}{n}(\bar s_b - \bar y_b)^2 - \sum_b \frac{n_b}{n}(\bar y_b - \bar y)^2 +
    \bar y(1 - \bar y) + W`. W is 0 when scores within a bin are equal. Murphy (1973), J. Appl. Meteorol. 12(4);
    Stephenson et al. (2008), Weather Forecast. 23(4).

    Parameters
    ----------
    tally : Tally
        Labelled probabilities.
    bins : int
        Number of bins.

    Returns
    -------
    BrierParts

    Examples
    --------
    >>> import tallymark as tm
    >>> parts = tm.brier_parts(tm.tally([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]))
    >>> parts.reliability, parts.resolution, parts.uncertainty, parts.within_bins
    (0.0625, 0.0, 0.25, 0.0)
    """
    if not isinstance(tally, Tally):
        raise InputError(
            f"brier_parts takes a Tally, got {type(tally).__name__}. Write tm.brier_parts(tm.tally(y, p))."
        )
    score = METRICS["brier"].compute(tally)
    binned = calibration_bins(tally, bins, "width")
    share, p = binned.mass / binned.mass.sum(), tally.prevalence
    reliability = float(np.sum(share * (binned.mean_score - binned.observed) ** 2))
    resolution = float(np.sum(share * (binned.observed - p) ** 2))
    uncertainty = p * (1.0 - p)
    return BrierParts(reliability, resolution, uncertainty, score - reliability + resolution - uncertainty)
