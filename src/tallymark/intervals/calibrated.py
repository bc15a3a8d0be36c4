"""How sure a calibration curve and the errors read off it are."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats
from tallymark.intervals.base import Seed
from tallymark.intervals.rates import Limits
from tallymark.intervals.replicates import Draws, over_replicates
from tallymark.metrics.probability import Binning, calibration_starts
from tallymark.registry import METRICS
from tallymark.summaries.tally import Tally

#: Calibration errors, by how they bin.
BINNED: dict[str, Binning] = {"ece": "width", "ace": "mass"}

_BINS = 10

#: Entries resampled at most: bins are coarse.
_MOST = 2**12


def calibration_limits(name: str, tally: Tally, level: float, *, replicates: int, seed: Seed) -> Limits:
    r"""Limits of a binned calibration error that hold although it is biased upward by noise.

    The error differs from its true value by at most :math:`D = \sum_b \frac{n_b}{n} |g_b - \gamma_b|`, where g are the
    gaps seen in the bins and γ the true ones. A quantile of D over resamples is therefore a margin on either side; the
    limits are wide rather than wrong.
    """
    value = METRICS[name].compute(tally)
    starts = calibration_starts(tally, _BINS, BINNED[name])
    blocks = over_replicates(
        tally, lambda draws: _gaps(draws, starts), replicates=replicates, seed=seed, most=_MOST, edges=starts
    )
    whole = _gaps(Draws.of(tally, _MOST, starts), starts)
    off = np.sum(np.abs(np.concatenate(blocks) - whole), axis=1)
    margin = float(np.quantile(off, level))
    return max(0.0, value - margin), min(1.0, value + margin), "stratified bootstrap, triangle"


def _gaps(draws: Draws, starts: Floats) -> Floats:
    """In each replicate, the share of each bin times the gap between its observed share and its mean score."""
    prior = draws.pool.tally.prior
    down, up = draws.totals
    shares = (down / (down + up), up / (down + up)) if prior is None else (1.0 - prior, prior)
    total = np.zeros((len(draws), len(starts)))
    for masses, stratum, share, mass, is_positive in zip(
        draws.as_floats, draws.pool.strata, shares, (down, up), (0.0, 1.0), strict=True
    ):
        gap = is_positive - stratum.scores
        ends = np.append(np.searchsorted(stratum.cells, starts[1:], "left"), len(gap))
        begin = 0
        for b, end in enumerate(ends.tolist()):
            total[:, b] += np.einsum("rk,k->r", masses[:, begin:end], gap[begin:end]) * share / mass
            begin = end
    return total
