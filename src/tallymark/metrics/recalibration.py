"""What recalibrating probabilities would change: slope and intercept of the log odds, smooth and isotonic curves."""

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
from tallymark.metrics.logistic import fit_logistic, log_odds, sigmoid
from tallymark.metrics.probability import in_stretches, log_to_one, log_to_zero
from tallymark.registry import METRICS, choose
from tallymark.summaries.bisection import lowest_scores, mass_above
from tallymark.summaries.cutoffs import Outcomes
from tallymark.summaries.run import Run
from tallymark.summaries.sorting import blocks
from tallymark.summaries.tally import Tally


def logistic_recalibration(tally: Tally) -> tuple[float, float]:
    """Slope and intercept that make log odds right on these rows."""
    lowest, highest = _ends(tally)
    if lowest == highest:
        raise Undefined("all probabilities are equal, so they have no slope")
    negative, positive = (run.scores for run in tally.runs)
    if negative[-1] <= positive[0] or positive[-1] <= negative[0]:
        # The steeper the better, without end; one score that the classes share does not change that.
        return math.inf if negative[-1] <= positive[0] else -math.inf, math.nan
    x, share, mass, _ = _coarse(tally)
    slope, intercept = fit_logistic(x[None, :], share, mass[None, :])[0].tolist()
    return _settled(tally, slope, intercept)


def _settled(tally: Tally, slope: float, intercept: float) -> tuple[float, float]:
    """Newton's steps on all rows, without a ridge, from an answer that is nearly right."""
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
        if np.abs(step).max() < _SETTLED * max(1.0, abs(slope)):
            return slope, intercept
    # Never seen; the slow way that halves steps.
    scores, share, mass = tally.views.outcomes(tally.scale)
    found = fit_logistic(_logit(scores)[None, :], share, mass[None, :])[0].tolist()
    return found[0], found[1]


#: Cells in which a first answer is found; a step or two on all rows then settle it.
_COARSE = 2**12


class _Coarse(NamedTuple):
    """Log odds with their shares of positives and masses; `exact` where they are all there are."""

    x: Floats
    share: Floats
    mass: Floats
    exact: bool


def _coarse(tally: Tally) -> _Coarse:
    """Every distinct score where there are few; else the middle of each of a few stretches of the classes' runs."""
    if _few_scores(tally, _COARSE):
        scores, share, mass = tally.views.outcomes(tally.scale)
        return _Coarse(_logit(scores), share, mass, exact=True)
    parts = []
    # Short ones towards both ends, where neighbouring scores lie far apart.
    shares = (1.0 - np.cos(np.linspace(0.0, math.pi, _COARSE + 1))) / 2
    for run, scale, y in _classes(tally):
        edges = np.unique(np.round(shares * len(run)).astype(np.int64))
        mass = scale * np.diff(run.mass_before(edges))
        parts.append((_logit(run.scores[(edges[:-1] + edges[1:]) // 2]), np.full(len(mass), y), mass))
    x, share, mass = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _Coarse(x, share, mass, exact=False)


def _few_scores(tally: Tally, most: int) -> bool:
    """Whether there are at most so many distinct scores; classes that alone have more are not merged to tell."""
    return max(run.n_distinct for run in tally.runs) <= most and len(tally.views.outcomes(tally.scale).scores) <= most


def _classes(tally: Tally) -> Iterator[tuple[Run, float, float]]:
    """The run of each class, what a unit of its mass counts at the prevalence looked at, and its outcome."""
    return zip(tally.runs, tally.scale, (0.0, 1.0), strict=True)


def _row_blocks(tally: Tally) -> Iterator[tuple[Floats, float, Any]]:
    """Log odds, outcome and mass of all rows, in blocks that stay in a core's cache."""
    for run, scale, y in _classes(tally):
        for block in blocks(len(run), _ROWS):
            yield _logit(run.scores[block]), y, scale if run.kind == "unit" else scale * run.mass[block]


#: Rows per block: a handful of columns of as many fit in a core's own cache.
_ROWS = 2**14


def _logit(scores: Any) -> Floats:
    log_p, minus_log_q = log_odds(scores)
    return log_p + minus_log_q


def _ends(tally: Tally) -> tuple[float, float]:
    """Log odds of the lowest and of the highest score."""
    scores = [run.scores[place] for run in tally.runs if len(run) for place in (0, -1)]
    low, high = _logit(np.array([min(scores), max(scores)])).tolist()
    return low, high


@metric(
    title="Calibration slope", family="probability", needs="probabilities", low=-math.inf, high=math.inf,
    better="neither", chance=0.0, formula=r"b \text{ in } \mathrm{logit}\,\Pr(y=1) = a + b\,\mathrm{logit}(s)",
    meaning="By what log odds should be multiplied: 1 is right, below 1 the probabilities are too extreme.",
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
    """What must be added to the log odds so that the probabilities add up to the positives."""
    few, share, few_mass, exact = _coarse(tally)
    wanted = float(np.sum(few_mass * share) / few_mass.sum())
    # The mean probability rises with a, so its root lies where it is too low on one side and too high on the other.
    lowest, highest = _ends(tally)
    low, high = -highest - _FAR, -lowest + _FAR
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if float(np.sum(few_mass * sigmoid(few + middle))) / few_mass.sum() < wanted
            else (low, middle)
        )
    values = (low + high) / 2
    for _ in range(0 if exact else _STEPS):
        mean = slope = 0.0
        for x, _, mass in _row_blocks(tally):
            p = sigmoid(x + values)
            weighted = mass * p
            mean += float(np.sum(weighted))
            slope += float(np.sum(weighted * (1.0 - p)))
        if not slope > 0.0:
            break
        step = (wanted * float(few_mass.sum()) - mean) / slope
        values += min(max(step, -1.0), 1.0)
        if abs(step) < _SETTLED:
            break
    return values


@metric(
    title="Calibration in the large",
    family="probability",
    needs="probabilities",
    low=-math.inf,
    high=math.inf,
    better="zero",
    chance=in_the_large,
    formula=r"a \text{ in } \mathrm{logit}\,\Pr(y=1) = a + \mathrm{logit}(s)",
    meaning="What must be added to the log odds so that the probabilities add up to the positives: 0 is right, below 0 they are too high.",
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


#: Log odds beyond which a probability is 0 or 1, and halvings that leave no more than rounding of the stretch between.
_FAR, _HALVINGS = 40.0, 70

#: Newton's steps on all rows at most, and one so small that the next would be rounding.
_STEPS, _SETTLED = 20, 1e-7


#: Points at which the smooth curve is computed, cells the scores are put into first, and the share of rows in its window.
_POINTS, _CELLS, _WINDOW = 50, 250, 2.0 / 3.0


def smooth_outcomes(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Scores, their mass, and the share of positives there by a local straight line (lowess without robustness steps).

    Around each point the two thirds of the rows nearest to it count, by the tricube of their distance. Cleveland (1979).
    """
    return _smooth(_in_cells(tally))


def smoother_of(tally: Tally) -> tuple[Outcomes, Floats]:
    """What happened in cells of scores, and the matrix that takes their shares of positives to the curve, before it is clipped."""
    outcomes = _in_cells(tally)
    scores, _, mass = outcomes
    at, lines = _local_lines(scores, mass)
    return outcomes, np.stack([np.interp(scores, at, column) for column in lines.T], axis=1)


def _smooth(outcomes: Outcomes) -> tuple[Floats, Floats, Floats]:
    scores, share, mass = outcomes
    at, lines = _local_lines(scores, mass)
    fitted = np.einsum("pc,c->p", lines, share)
    return scores, mass, np.clip(np.interp(scores, at, fitted), 0.0, 1.0)


def _local_lines(scores: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Points at which local straight lines are read off, and the weight of every score there (a row for each point)."""
    at = scores[np.unique(np.linspace(0, len(scores) - 1, _POINTS).astype(np.int64))]
    reach = _reach(at, scores, mass)
    far = np.abs(scores[None, :] - at[:, None])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        part = np.minimum(far / reach[:, None], 1.0)
        # Products: a power of 3 takes ten times as long.
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
    """The distance within which each point has a window's mass: that of the last row taken in.

    From each score up, the first one with which the window is full; the nearest of these stretches is the window.
    """
    upto = np.concatenate(([0.0], np.cumsum(mass)))
    last = np.searchsorted(upto, upto[:-1] + _WINDOW * upto[-1] * (1.0 - 1e-12), "left") - 1
    full = last < len(scores)
    first, last = scores[full], scores[last[full]]
    farthest = np.maximum(at[:, None] - first[None, :], last[None, :] - at[:, None])
    values: Floats = np.maximum(farthest.min(axis=1), 0.0)
    return values


def _in_cells(tally: Tally) -> Outcomes:
    """What happened at every score, neighbouring ones joined into cells of about equal mass where there are many."""
    if _few_scores(tally, _FEW):
        return _joined(tally.views.outcomes(tally.scale))
    total = float(mass_above(tally, tally.runs[0].scores.dtype.type(-np.inf), "left")[0])
    upto = np.linspace(0.0, total, _CELLS, endpoint=False)
    # A cell begins with the first score that takes the mass beyond its share.
    starts = np.unique(
        lowest_scores(tally, lambda scores: total - mass_above(tally, scores, "right")[0] > upto, _CELLS)
    )
    (down, sums_down), (up, sums_up) = (
        (scale * mass, scale * sums)
        for run, scale, _ in _classes(tally)
        for mass, sums in [in_stretches(run, starts.astype(np.float64))]
    )
    return Outcomes((sums_down + sums_up) / (down + up), up / (down + up), down + up)


def _joined(outcomes: Outcomes) -> Outcomes:
    """The same of scores that are merged already."""
    scores, share, mass = outcomes
    if len(scores) <= _CELLS:
        return outcomes
    upto = np.cumsum(mass)
    starts = np.unique(np.searchsorted(upto, np.linspace(0.0, float(upto[-1]), _CELLS, endpoint=False), "right"))
    total = np.add.reduceat(mass, starts)
    sums, hits = (np.add.reduceat(mass * values, starts) for values in (scores, share))
    return Outcomes(sums / total, hits / total, total)


#: Distinct scores up to which the classes are merged before they are put into cells.
_FEW = 2**16


def _distance_from(tally: Tally, said: float) -> float:
    """Mean distance of the probabilities from a number."""
    return sum(scale * run.sum_of(lambda s: np.abs(s - said)) for run, scale, _ in _classes(tally)) / float(tally.n)


@metric(
    title="Integrated calibration index (ICI)", family="probability", needs="probabilities", low=0.0, high=1.0,
    better="lower", chance=lambda tally: _distance_from(tally, tally.prevalence),
    formula=r"\frac1n \sum_i |\hat f(s_i) - s_i|", aliases=("ici",),
    meaning="Mean distance of the probabilities from a smooth curve of what happened: a calibration error without bins.",
    reference="Austin & Steyerberg (2019), Stat. Med. 38(21).", bound=lambda tally: (0.0, 1.0),  # noqa: ARG005
)  # fmt: skip
def integrated_calibration_index(tally: Tally) -> float:
    r"""Integrated calibration index, :math:`\frac1n\sum_i|\hat f(s_i) - s_i|`, with :math:`\hat f` a lowess curve.

    The curve is Cleveland's local line over two thirds of the rows, without robustness steps, as ``val.prob`` of R's rms
    draws it, at fifty points with straight lines between. Austin & Steyerberg (2019).

    >>> import tallymark as tm
    >>> round(tm.metrics.integrated_calibration_index(tm.tally([0, 0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.6, 0.9])), 4)
    0.1267
    """
    return _mean_gap(_in_cells(tally))


def index_of_outcomes(outcomes: Outcomes) -> float:
    """The same of distinct scores that are merged already."""
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
        """The score itself: the sum of the parts."""
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
    r"""The Brier score or log loss taken apart without bins (CORP).

    With :math:`\hat s` the probabilities recalibrated by isotonic regression and :math:`\bar y` the prevalence,
    :math:`S(s) = [S(s) - S(\hat s)] - [S(\bar y) - S(\hat s)] + S(\bar y)`: what calibrating would save, what the ranking
    is worth, and what a constant would cost. No part is negative. Dimitriadis, Gneiting & Jordan (2021), PNAS 118(8).

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
    own = METRICS[score].compute(tally)
    _, share, mass = tally.views.outcomes(tally.scale)
    weight = mass / mass.sum()
    fitted = isotonic_regression(share, weights=mass).x
    recalibrated = float(np.sum(weight * loss(fitted, share)))
    uncertainty = METRICS[score].chance(tally)
    return ScoreParts(
        METRICS[score].name, max(0.0, own - recalibrated), max(0.0, uncertainty - recalibrated), uncertainty
    )


def _squared(said: Floats, share: Floats) -> Floats:
    return share * (1.0 - said) ** 2 + (1.0 - share) * said**2


def _surprise(said: Floats, share: Floats) -> Floats:
    # An outcome that never occurs costs nothing, whatever was said of it.
    return np.where(share > 0.0, share * log_to_one(np.maximum(said, 1e-300)), 0.0) + np.where(
        share < 1.0, (1.0 - share) * log_to_zero(np.minimum(said, 1.0 - 1e-16)), 0.0
    )


_LOSSES = {"brier": _squared, "log_loss": _surprise}
