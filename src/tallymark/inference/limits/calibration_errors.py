"""Limits of calibration errors."""

from __future__ import annotations

import math

import numpy as np

from tallymark._check import Floats
from tallymark.inference.interval import Seed
from tallymark.inference.limits.cell_metrics import Limits
from tallymark.inference.limits.influence import masses, sums_between
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.resampling.parallel import seeds
from tallymark.inference.scales import critical_value
from tallymark.metrics.multiclass import top_label_answers
from tallymark.metrics.probability import BINS, Binning, calibration_starts
from tallymark.metrics.recalibration import smoother_of
from tallymark.registry import METRICS
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.tally import Tally

_DRAWS = 2_000

#: Curves of drawn outcomes.
_CURVES = 400


def calibration_limits(name: str, by: Binning, tally: Tally, level: float, seed: Seed = 0) -> Limits:
    r"""Conservative limits of a binned calibration error, which noise biases upward.

    The error differs from its true value by at most :math:`D = \sum_b \frac{n_b}{n} |g_b - \gamma_b|`, where g are the
    observed gaps of the bins and γ the true ones. A quantile of D, with normal noise in each bin, is therefore a margin
    on either side.
    """
    return _around(METRICS[name].compute(tally), _margin(by, tally, level, seed))


def classwise_limits(scores: ClassScores, level: float, seed: Seed) -> Limits:
    """Conservative limits of a mean over classes: the margin is the mean of the classes' margins."""
    tallies = (scores.one_vs_rest(c) for c in range(len(scores.labels)))
    each = [(METRICS["ece"].compute(tally), _margin("width", tally, level, seed)) for tally in tallies]
    value, margin = (float(np.mean(part)) for part in zip(*each, strict=True))
    return _around(value, margin)


def top_label_limits(scores: ClassScores, level: float, seed: Seed) -> Limits:
    """The same for the probability of the predicted class."""
    return _around(METRICS["ece_top_label"].compute(scores), _margin("width", top_label_answers(scores), level, seed))


def index_limits(tally: Tally, level: float, seed: Seed = 0) -> Limits:
    r"""Limits of the integrated calibration index, which noise biases upward too.

    The smooth curve is linear in the outcomes, :math:`\hat f = S y`, so the index differs from that of the curve's
    expectation by at most the mean of :math:`|S y - S \mathrm{E}y|`: a quantile of it, with outcomes drawn from the
    curve, is a margin on either side, to which the spread of the gaps over the rows is added. The lower limit is 0
    unless the index exceeds what calibrated probabilities would show, with outcomes drawn from the scores.
    """
    (scores, share, mass), smoother = smoother_of(tally)
    rng = np.random.default_rng(seeds(seed, 1)[0])
    n = float(rows_in_bins(tally, np.zeros(1))[0])
    weight = mass / mass.sum()
    curve = np.clip(np.einsum("dc,c->d", smoother, share), 0.0, 1.0)

    def distances(truth: Floats, centre: Floats) -> Floats:
        """Mean distance of curves of outcomes drawn from `truth` from a curve."""
        drawn = _drawn_shares(rng, np.clip(truth, 0.0, 1.0), n * weight)
        off = np.abs(np.einsum("rc,dc->rd", drawn, smoother) - centre)
        values: Floats = np.einsum("rd,d->r", off, weight)
        return values

    # One pseudo-row at each score, so that an empty or full end of the curve has variance.
    likely = (n * curve + scores) / (n + 1.0)
    margin = float(np.quantile(distances(likely, np.einsum("dc,c->d", smoother, likely)), level))
    gaps = np.abs(curve - scores)
    value = float((weight * gaps).sum())
    # The scores vary too, and with them the gaps.
    spread = math.sqrt(float((weight * (gaps - value) ** 2).sum()) / n)
    # Where every score is 0 or 1 and right, nothing varies; a share of the rows not sampled may be wrong.
    reach = math.hypot(margin, critical_value(level) * spread) or unseen(level, n)
    low, high, method = _around(value, reach)
    calibrated = value <= float(np.quantile(distances(scores, scores), 0.5 + level / 2))
    return (0.0 if calibrated else low), high, method


def _drawn_shares(rng: np.random.Generator, truth: Floats, rows: Floats) -> Floats:
    """Shares of positives in cells of so many (effective) rows, drawn many times."""
    # Rounding must not turn a whole number of rows into one more.
    whole = np.ceil(rows * (1.0 - 1e-9))
    off = rng.binomial(whole.astype(np.int64), truth, (_CURVES, len(truth))) / whole - truth
    values: Floats = truth + off * np.sqrt(whole / rows)
    return values


def _around(value: float, margin: float) -> Limits:
    return max(0.0, value - margin), min(1.0, value + margin), "triangle"


def _margin(by: Binning, tally: Tally, level: float, seed: Seed) -> float:
    """A quantile of the sum of the noise of all bins."""
    noise = _noise_of_gaps(tally, calibration_starts(tally, BINS, by))
    draws = np.random.default_rng(seeds(seed, 1)[0]).standard_normal((_DRAWS, len(noise)))
    return float(np.quantile(np.sum(np.abs(draws) * noise, axis=1), level))


def _noise_of_gaps(tally: Tally, starts: Floats) -> Floats:
    """Standard error of each bin's share of the rows times its gap: outcomes, scores and shares are all random."""
    total = float(tally.n)
    gaps, squares = np.zeros(len(starts)), np.zeros(len(starts))
    for run, scale, outcome in zip(tally.runs, tally.scale, (0.0, 1.0), strict=True):
        mass, _, _ = masses(run)
        off = outcome - run.scores.astype(np.float64)
        ends = np.append(np.searchsorted(run.scores, starts, "left"), len(run))
        gaps += sums_between(scale * mass * off, ends) / total
        squares += sums_between(scale * mass * off**2, ends) / total
    n = float(rows_in_bins(tally, starts[:1])[0])
    # One pseudo-outcome per bin, so that an all-negative bin has variance.
    surprise = np.maximum(starts, 1.0 - starts) ** 2 / n
    values: Floats = np.sqrt((squares - gaps**2 + surprise) / n)
    return values


def rows_in_bins(tally: Tally, starts: Floats) -> Floats:
    """Kish's effective sample size of each bin, at the stated prevalence."""
    total, of_squares = np.zeros(len(starts)), np.zeros(len(starts))
    for run, scale in zip(tally.runs, tally.scale, strict=True):
        mass, squares, _ = masses(run)
        ends = np.append(np.searchsorted(run.scores, starts, "left"), len(run))
        total += scale * sums_between(mass, ends)
        of_squares += scale**2 * sums_between(squares, ends)
    values: Floats = total**2 / of_squares
    return values
