"""Metrics of a whole block of resamples at once."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats
from tallymark.inference.resampling.resamples import Resamples


def block_auroc(draws: Resamples) -> Floats:
    """AUROC of every resample."""
    down, up = draws.totals
    values: Floats = np.einsum("rk,rk->r", draws.as_floats[1], draws.beaten.astype(np.float64, copy=False)) / (
        down * up
    )
    return values


def block_average_precision(draws: Resamples) -> Floats:
    """Average precision of every resample."""
    down, up = draws.pool.tally.scale
    tp, fp = draws.above
    called = tp + (fp if down == up else fp * (down / up))
    # A replicate without the entry and all above it has 0 of 0 there, which adds nothing.
    precision = tp / np.maximum(called, np.finfo(np.float64).tiny)
    values: Floats = np.einsum("rk,rk->r", draws.as_floats[1], precision) / draws.totals[1]
    return values


def block_ks(draws: Resamples) -> Floats:
    """The Kolmogorov–Smirnov statistic of every resample."""
    down, up = draws.totals
    tp, fp = draws.above
    gaps = tp * (1.0 / up)[:, None]
    gaps -= fp * (1.0 / down)[:, None]
    values: Floats = np.maximum(gaps.max(axis=1), 0.0)
    return values


def block_d_b(draws: Resamples) -> Floats:
    """d_b of every resample."""
    from scipy.special import ndtri

    values: Floats = 2.0 * ndtri((1.0 + block_ks(draws)) / 2)
    return values


def block_gini(draws: Resamples) -> Floats:
    """The Gini coefficient of every resample."""
    return 2.0 * block_auroc(draws) - 1.0


def _sums(masses: Floats, values: Floats) -> Floats:
    """Masses times values, where nothing of infinity is nothing."""
    endless = np.isinf(values)
    sums: Floats = np.einsum("rk,k->r", masses, np.where(endless, 0.0, values) if endless.any() else values)
    return np.where(masses[:, endless].any(axis=1), np.inf, sums) if endless.any() else sums


def block_log_loss(draws: Resamples) -> Floats:
    """Log loss of every resample."""
    p = draws.pool.tally.prior
    totals = draws.totals
    shares = totals[1] / (totals[0] + totals[1]) if p is None else p
    of_negative, of_positive = (
        _sums(masses, loss) / total
        for masses, loss, total in zip(draws.as_floats, draws.pool.log_losses, totals, strict=True)
    )
    values: Floats = shares * of_positive + (1.0 - shares) * of_negative
    return values
