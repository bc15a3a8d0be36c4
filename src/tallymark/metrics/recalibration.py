"""Calibration slope and intercept, integrated calibration index, and the CORP decomposition of mean scores."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark.errors import InputError, Undefined
from tallymark.metrics.declare import metric
from tallymark.metrics.logistic import fit_logistic, logit, sigmoid
from tallymark.metrics.probability import in_slices, log_to_one, log_to_zero
from tallymark.registry import METRICS, choose
from tallymark.summaries.bisection import lowest_scores, mass_above
from tallymark.summaries.cutoffs import Outcomes
from tallymark.summaries.run import Run
from tallymark.summaries.sorting import blocks
from tallymark.summaries.tally import Tally


def logistic_recalibration(tally: Tally) -> tuple[float, float]:
    """Slope and intercept of the logistic recalibration of the log odds on these rows."""
    lowest, highest = _ends(tally)
    if lowest == highest:
        raise Undefined("all probabilities are equal, so they have no slope")
    negative, positive = (run.scores for run in tally.runs)
    if negative[-1] <= positive[0] or positive[-1] <= negative[0]:
        # Separated classes, or classes that share one score: the likelihood grows without limit with the slope.
        return math.inf if negative[-1] <= positive[0] else -math.inf, math.nan
    x, share, mass, _ = _coarse(tally)
    slope, intercept = fit_logistic(x[None, :], share, mass[None, :])[0].tolist()
    return _refined(tally, slope, intercept)


def _refined(tally: Tally, slope: float, intercept: float) -> tuple[float, float]:
    """Newton's method on all rows, without a ridge penalty, from a good starting point."""
    total = float(tally.n)
    for _ in range(_STEPS):
        gradient, curve = np.zeros(2), np.zeros(3)
        for x, y, mass in _row_blocks(tally):
            p = sigmoid(slope * x + intercept)
            off, weight = mass * (y - p), mass * p * (1.0 - p)
            gradient += np.sum(off * x), np.sum(off)
            weighted = weight * x
            curve += np.sum(weighted * x), np.sum(weighted), np.sum(weight)
        gradient, curve = gradient / total, curve / total
        hessian = np.array([[curve[0], curve[1]], [curve[1], curve[2]]])
        if not np.linalg.det(hessian) > 0.0:
            break
        step = np.linalg.solve(hessian, gradient)
        slope, intercept = slope + float(step[0]), intercept + float(step[1])
        if np.abs(step).max() < _CONVERGED * max(1.0, abs(slope)):
            return slope, intercept
    # Not converged, which no test has met: the slower method with step halving.
    scores, share, mass = tally.views.outcomes(tally.scale)
    slope, intercept = fit_logistic(logit(scores)[None, :], share, mass[None, :])[0].tolist()
    return slope, intercept


#: Cells of the starting point; a step or two on all rows then converge.
_COARSE = 2**12


class _Coarse(NamedTuple):
    """Log odds with their shares of positives and masses; `exact` where no scores were merged."""

    x: Floats
    share: Floats
    mass: Floats
    exact: bool


def _coarse(tally: Tally) -> _Coarse:
    """Every distinct score where there are few; else the middle scores of slices of the classes' runs."""
    if _few_scores(tally, _COARSE):
        scores, share, mass = tally.views.outcomes(tally.scale)
        return _Coarse(logit(scores), share, mass, exact=True)
    parts = []
    # Shorter slices towards both ends, where neighbouring scores lie far apart.
    shares = (1.0 - np.cos(np.linspace(0.0, math.pi, _COARSE + 1))) / 2
    for run, scale, y in _classes(tally):
        edges = np.unique(np.round(shares * len(run)).astype(np.int64))
        mass = scale * np.diff(run.mass_before(edges))
        parts.append((logit(run.scores[(edges[:-1] + edges[1:]) // 2]), np.full(len(mass), y), mass))
    x, share, mass = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _Coarse(x, share, mass, exact=False)


def _few_scores(tally: Tally, most: int) -> bool:
    """Whether there are at most so many distinct scores; classes are merged only if neither alone has more."""
    return max(run.n_distinct for run in tally.runs) <= most and len(tally.views.outcomes(tally.scale).scores) <= most


def _classes(tally: Tally) -> Iterator[tuple[Run, float, float]]:
    """The run of each class, the scale of its mass at the tally's prevalence, and its outcome."""
    return zip(tally.runs, tally.scale, (0.0, 1.0), strict=True)


def _row_blocks(tally: Tally) -> Iterator[tuple[Floats, float, Any]]:
    """Log odds, outcome and mass of all rows, in blocks that stay in a core's cache."""
    for run, scale, y in _classes(tally):
        for block in blocks(len(run), _ROWS):
            yield logit(run.scores[block]), y, scale if run.kind == "unit" else scale * run.mass[block]


#: Rows per block: a few columns of as many fit in a core's cache.
_ROWS = 2**14


def _ends(tally: Tally) -> tuple[float, float]:
    """Log odds of the lowest and of the highest score."""
    scores = [run.scores[place] for run in tally.runs if len(run) for place in (0, -1)]
    low, high = logit(np.array([min(scores), max(scores)])).tolist()
    return low, high


@metric(
    title="Calibration slope", family="probability", needs="probabilities", low=-math.inf, high=math.inf,
    better="neither", chance=0.0, formula=r"b \text{ in } \mathrm{logit}\,\Pr(y=1) = a + b\,\mathrm{logit}(s)",
    meaning="Factor by which log odds should be multiplied: 1 is calibrated, below 1 probabilities are too extreme.",
    reference="Cox (1958), Biometrika 45; Van Calster et al. (2019), BMC Med. 17:230.",
    bound=lambda tally: (-math.inf, math.inf), holds_from=(50, 50),  # noqa: ARG005
)  # fmt: skip
def calibration_slope(tally: Tally) -> float:
    r"""Calibration slope: b of the logistic regression :math:`\mathrm{logit}\Pr(y=1) = a + b\,\mathrm{logit}(s)`.

    Infinite where the classes share one score at most. Cox (1958); Van Calster et al. (2019).

    >>> import tallymark as tm
    >>> round(tm.metrics.calibration_slope(tm.tally([0, 1, 0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8, 0.6, 0.7])), 4)
    1.0699
    """
    return logistic_recalibration(tally)[0]


def in_the_large(tally: Tally) -> float:
    """The shift of the log odds with which the probabilities add up to the number of positives."""
    few, share, few_mass, exact = _coarse(tally)
    target = float(np.sum(few_mass * share) / few_mass.sum())
    # Bisection: the mean probability increases with the shift.
    lowest, highest = _ends(tally)
    low, high = -highest - _FAR, -lowest + _FAR
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_low = float(np.sum(few_mass * sigmoid(few + middle))) / few_mass.sum() < target
        low, high = (middle, high) if too_low else (low, middle)
    shift = (low + high) / 2
    for _ in range(0 if exact else _STEPS):
        mean = slope = 0.0
        for x, _, mass in _row_blocks(tally):
            p = sigmoid(x + shift)
            weighted = mass * p
            mean += float(np.sum(weighted))
            slope += float(np.sum(weighted * (1.0 - p)))
        if not slope > 0.0:
            break
        step = (target * float(few_mass.sum()) - mean) / slope
        shift += min(max(step, -1.0), 1.0)
        if abs(step) < _CONVERGED:
            break
    return shift


@metric(
    title="Calibration in the large",
    family="probability",
    needs="probabilities",
    low=-math.inf,
    high=math.inf,
    better="zero",
    chance=in_the_large,
    formula=r"a \text{ in } \mathrm{logit}\,\Pr(y=1) = a + \mathrm{logit}(s)",
    meaning="Shift of the log odds with which the probabilities add up to the positives: 0 is calibrated, below 0 they "
    "are too high.",
    reference="Cox (1958), Biometrika 45; Van Calster et al. (2019), BMC Med. 17:230.",
    bound=lambda tally: (-math.inf, math.inf),  # noqa: ARG005
)
def calibration_intercept(tally: Tally) -> float:
    r"""Calibration in the large: a of :math:`\mathrm{logit}\Pr(y=1) = a + \mathrm{logit}(s)`, the slope held at 1.

    Cox (1958); Van Calster et al. (2019).

    >>> import tallymark as tm
    >>> round(tm.metrics.calibration_intercept(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.4771
    """
    return in_the_large(tally)


#: Log odds beyond which a probability is 0 or 1, and the bisection steps that reduce the interval to rounding.
_FAR, _HALVINGS = 40.0, 70

#: Maximum of Newton steps on all rows, and the size of a step at which they have converged.
_STEPS, _CONVERGED = 20, 1e-7


#: Points at which the smooth curve is computed, cells of the scores, and the share of rows in its window.
_POINTS, _CELLS, _WINDOW = 50, 250, 2.0 / 3.0


def smoother_of(tally: Tally) -> tuple[Outcomes, Floats]:
    """Outcomes in cells of scores, and the matrix from their shares of positives to the curve before clipping."""
    outcomes = _in_cells(tally)
    scores, _, mass = outcomes
    at, lines = _local_lines(scores, mass)
    return outcomes, np.stack([np.interp(scores, at, column) for column in lines.T], axis=1)


def _smooth(outcomes: Outcomes) -> tuple[Floats, Floats, Floats]:
    """Scores, their mass, and their smoothed share of positives (lowess without robustness steps).

    Local straight lines over the nearest two thirds of the rows with tricube weights. Cleveland (1979).
    """
    scores, share, mass = outcomes
    at, lines = _local_lines(scores, mass)
    fitted = np.einsum("pc,c->p", lines, share)
    return scores, mass, np.clip(np.interp(scores, at, fitted), 0.0, 1.0)


def _local_lines(scores: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Points of the smooth curve, and the weight of every score in each (a row per point)."""
    at = scores[np.unique(np.linspace(0, len(scores) - 1, _POINTS).astype(np.int64))]
    reach = _reach(at, scores, mass)
    far = np.abs(scores[None, :] - at[:, None])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = np.minimum(far / reach[:, None], 1.0)
        # Products, because a power of 3 takes ten times as long.
        rest = 1.0 - part * part * part
        near = rest * rest * rest
    if not (reach > 0.0).all():
        near = np.where(reach[:, None] > 0.0, near, far == 0.0)
    weight = near * mass
    total = weight.sum(axis=1)
    centre = np.einsum("pc,c->p", weight, scores) / total
    gap = scores[None, :] - centre[:, None]
    pull = weight * gap
    spread = np.einsum("pc,pc->p", pull, gap)
    slanted = (spread > 1e-12 * total * float(scores[-1] - scores[0]) ** 2) & (scores[-1] > scores[0])
    lever = np.divide(at - centre, spread, out=np.zeros(len(at)), where=slanted)
    values: Floats = weight / total[:, None] + lever[:, None] * pull
    return at, values


def _reach(at: Floats, scores: Floats, mass: Floats) -> Floats:
    """Half-width of each point's window: the distance of the farthest row among the nearest ones.

    From each score upwards, the range that holds a window's mass; the range nearest to the point is its window.
    """
    upto = np.concatenate(([0.0], np.cumsum(mass)))
    last = np.searchsorted(upto, upto[:-1] + _WINDOW * upto[-1] * (1.0 - 1e-12), "left") - 1
    full = last < len(scores)
    first, last = scores[full], scores[last[full]]
    farthest = np.maximum(at[:, None] - first[None, :], last[None, :] - at[:, None])
    values: Floats = np.maximum(farthest.min(axis=1), 0.0)
    return values


def _in_cells(tally: Tally) -> Outcomes:
    """Outcomes by score; where scores are many, neighbours are merged into cells of about equal mass."""
    if _few_scores(tally, _FEW):
        return _joined(tally.views.outcomes(tally.scale))
    total = float(mass_above(tally, tally.runs[0].scores.dtype.type(-np.inf), "left")[0])
    upto = np.linspace(0.0, total, _CELLS, endpoint=False)
    # A cell begins with the first score whose cumulative mass exceeds its share.
    starts = np.unique(
        lowest_scores(tally, lambda scores: total - mass_above(tally, scores, "right")[0] > upto, _CELLS)
    )
    (down, sums_down), (up, sums_up) = (
        scale * np.stack(in_slices(run, starts.astype(np.float64))) for run, scale, _ in _classes(tally)
    )
    return Outcomes((sums_down + sums_up) / (down + up), up / (down + up), down + up)


def _joined(outcomes: Outcomes) -> Outcomes:
    """The same of the outcomes of distinct scores."""
    scores, share, mass = outcomes
    if len(scores) <= _CELLS:
        return outcomes
    upto = np.cumsum(mass)
    starts = np.unique(np.searchsorted(upto, np.linspace(0.0, float(upto[-1]), _CELLS, endpoint=False), "right"))
    total = np.add.reduceat(mass, starts)
    sums, hits = (np.add.reduceat(mass * values, starts) for values in (scores, share))
    return Outcomes(sums / total, hits / total, total)


#: Distinct scores up to which the classes are merged before they are binned into cells.
_FEW = 2**16


def _distance_from(tally: Tally, value: float) -> float:
    """Mean distance of the probabilities from a value."""
    return sum(scale * run.sum_of(lambda s: np.abs(s - value)) for run, scale, _ in _classes(tally)) / float(tally.n)


@metric(
    title="Integrated calibration index (ICI)", family="probability", needs="probabilities", low=0.0, high=1.0,
    better="lower", chance=lambda tally: _distance_from(tally, tally.prevalence),
    formula=r"\frac1n \sum_i |\hat f(s_i) - s_i|", aliases=("ici",),
    meaning="Mean distance of the probabilities from a smooth calibration curve: a calibration error without bins.",
    reference="Austin & Steyerberg (2019), Stat. Med. 38(21).", bound=lambda tally: (0.0, 1.0),  # noqa: ARG005
)  # fmt: skip
def integrated_calibration_index(tally: Tally) -> float:
    r"""Integrated calibration index, :math:`\frac1n\sum_i|\hat f(s_i) - s_i|`, with :math:`\hat f` a lowess curve.

    The curve is Cleveland's local line over two thirds of the rows, without robustness steps, as in ``val.prob`` of R's
    rms, at fifty points with straight lines between. Austin & Steyerberg (2019).

    >>> import tallymark as tm
    >>> round(tm.metrics.integrated_calibration_index(tm.tally([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.9])), 4)
    0.1267
    """
    return _mean_gap(_in_cells(tally))


def index_of_outcomes(outcomes: Outcomes) -> float:
    """The integrated calibration index of the outcomes of distinct scores."""
    return _mean_gap(_joined(outcomes))


def _mean_gap(outcomes: Outcomes) -> float:
    scores, mass, fitted = _smooth(outcomes)
    return float(np.average(np.abs(fitted - scores), weights=mass))


@dataclass(frozen=True, repr=False)
class ScoreParts(Shown):
    """A mean score as miscalibration − discrimination + uncertainty."""

    score: str
    miscalibration: float
    discrimination: float
    uncertainty: float

    @property
    def value(self) -> float:
        """The mean score: the sum of the parts."""
        return self.miscalibration - self.discrimination + self.uncertainty

    def heading(self) -> str:
        """The identity."""
        return f"{self.score} = miscalibration - discrimination + uncertainty"

    def rows(self) -> list[Row]:
        """One line per part."""
        return [{"part": name, "value": value} for name, value in self.to_dict().items() if name != "score"]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "score": self.score,
            "value": self.value,
            "miscalibration": self.miscalibration,
            "discrimination": self.discrimination,
            "uncertainty": self.uncertainty,
        }


def score_parts(tally: Tally, *, score: Literal["brier", "log_loss"] = "brier") -> ScoreParts:
    r"""CORP decomposition of the Brier score or log loss, without bins.

    With :math:`\hat s` the probabilities recalibrated by isotonic regression and :math:`\bar y` the prevalence,
    :math:`S(s) = [S(s) - S(\hat s)] - [S(\bar y) - S(\hat s)] + S(\bar y)`: miscalibration, discrimination and
    uncertainty. No part is negative. Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8).

    Parameters
    ----------
    tally : Tally
        Labelled probabilities.
    score : {"brier", "log_loss"}
        The mean score to decompose.

    Returns
    -------
    ScoreParts

    Examples
    --------
    >>> import tallymark as tm
    >>> parts = tm.score_parts(tm.tally([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75]))
    >>> parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.0625, 0.0, 0.25)
    """
    from scipy.optimize import isotonic_regression

    if not isinstance(tally, Tally):
        raise InputError(
            f"score_parts takes a Tally, got {type(tally).__name__}. Write tm.score_parts(tm.tally(y, p))."
        )
    loss = choose("score", score, _LOSSES)
    value = METRICS[score].compute(tally)
    _, share, mass = tally.views.outcomes(tally.scale)
    weight = mass / mass.sum()
    fitted = isotonic_regression(share, weights=mass).x
    recalibrated = float(np.sum(weight * loss(fitted, share)))
    uncertainty = METRICS[score].chance(tally)
    return ScoreParts(
        METRICS[score].name, max(0.0, value - recalibrated), max(0.0, uncertainty - recalibrated), uncertainty
    )


def _squared(stated: Floats, share: Floats) -> Floats:
    return share * (1.0 - stated) ** 2 + (1.0 - share) * stated**2


def _logarithmic(stated: Floats, share: Floats) -> Floats:
    # An outcome that does not occur has no loss, whatever its probability.
    of_positives = np.where(share > 0.0, share * log_to_one(np.maximum(stated, 1e-300)), 0.0)
    return of_positives + np.where(share < 1.0, (1.0 - share) * log_to_zero(np.minimum(stated, 1.0 - 1e-16)), 0.0)


_LOSSES = {"brier": _squared, "log_loss": _logarithmic}
