"""How sure a calibration curve and the errors read off it are."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import Seed, seeds
from tallymark.intervals.influence import masses, sums_between
from tallymark.intervals.rates import Limits
from tallymark.metrics.probability import Binning, calibration_starts
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Calibration errors, by how they bin; and the number of bins they have unless told.
BINNED: dict[str, Binning] = {"ece": "width", "ace": "mass"}
_BINS = 10

_DRAWS = 2_000


def calibration_limits(name: str, tally: Tally, level: float, seed: Seed = 0) -> Limits:
    r"""Limits of a binned calibration error that hold although it is biased upward by noise.

    The error differs from its true value by at most :math:`D = \sum_b \frac{n_b}{n} |g_b - \gamma_b|`, where g are the
    gaps seen in the bins and γ the true ones. A quantile of D, with the noise of each bin normal, is therefore a margin on
    either side; the limits are wide rather than wrong.
    """
    value = METRICS[name].compute(tally)
    starts = calibration_starts(tally, _BINS, BINNED[name])
    noise = _noise_of_gaps(tally, starts)
    draws = np.random.default_rng(seeds(seed, 1)[0]).standard_normal((_DRAWS, len(noise)))
    margin = float(np.quantile(np.sum(np.abs(draws) * noise, axis=1), level))
    return max(0.0, value - margin), min(1.0, value + margin), "triangle"


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
    # One surprise more in every bin: a bin of misses alone is not certain to have no hit.
    surprise = np.maximum(starts, 1.0 - starts) ** 2 / n
    found: Floats = np.sqrt((squares - gaps**2 + surprise) / n)
    return found


def rows_in_bins(tally: Tally, starts: Floats) -> Floats:
    """In each bin, the rows of equal weight that would be as sure (Kish), at the prevalence looked at."""
    total, of_squares = np.zeros(len(starts)), np.zeros(len(starts))
    for run, scale in zip(tally.runs, tally.scale, strict=True):
        mass, squares, _ = masses(run)
        ends = np.append(np.searchsorted(run.scores, starts, "left"), len(run))
        total += scale * sums_between(mass, ends)
        of_squares += scale**2 * sums_between(squares, ends)
    found: Floats = total**2 / of_squares
    return found
