"""Vectorised metrics of a block of bootstrap resamples."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats
from tallymark.inference.resampling.resamples import Resamples
from tallymark.metrics.at_k import TOP
from tallymark.metrics.cost import aucc_at_corners, h_at_corners
from tallymark.metrics.precision_recall import UP_TO_RECALL
from tallymark.metrics.recalibration import index_of_outcomes
from tallymark.summaries.cutoffs import Outcomes


def block_auroc(draws: Resamples) -> Floats:
    """AUROC of every resample."""
    down, up = draws.totals
    values: Floats = np.einsum("rk,rk->r", draws.as_floats[1], draws.beaten.astype(np.float64, copy=False)) / (
        down * up
    )
    return values


def block_average_precision(draws: Resamples) -> Floats:
    """Average precision of every resample."""
    down, up = draws.scales
    tp, fp = draws.above
    called = tp + (fp if draws.pool.tally.prior is None else fp * (down / up)[:, None])
    # 0 of 0 where neither the entry nor any above it was drawn adds nothing.
    precision = tp / np.maximum(called, np.finfo(np.float64).tiny)
    values: Floats = np.einsum("rk,rk->r", draws.as_floats[1], precision) / draws.totals[1]
    return values


def block_partial_average_precision(draws: Resamples) -> Floats:
    """Partial average precision of every resample."""
    down, up = draws.scales
    tp, fp = draws.above
    end = (UP_TO_RECALL * draws.totals[1])[:, None]
    width = np.maximum(np.minimum(tp, end) - (tp - draws.positive), 0.0)
    precision = tp / np.maximum(tp + fp * (down / up)[:, None], np.finfo(np.float64).tiny)
    values: Floats = np.einsum("rk,rk->r", width, precision) / end[:, 0]
    return values


def block_precision_at_k(draws: Resamples) -> Floats:
    """Precision of the top tenth of every resample."""
    return _hits_at_top(draws) / (TOP * sum(draws.totals))


def block_recall_at_k(draws: Resamples) -> Floats:
    """Recall of the top tenth of every resample."""
    return _hits_at_top(draws) / (draws.prevalences * sum(draws.totals))


def _hits_at_top(draws: Resamples) -> Floats:
    """Positives in the top tenth of every resample; of a cell that is cut, by the share of it."""
    fp, tp = (np.cumsum(side[:, ::-1], axis=1) for side in draws.merged(draws.pool.places_by_cell))
    down, up = (scale[:, None] for scale in draws.scales)
    hits = tp * up
    called = hits + fp * down
    size: Floats = TOP * (draws.totals[0] + draws.totals[1])
    # The first cell beyond the top tenth, and the rows before it.
    last = np.argmax(called > size[:, None], axis=1)
    rows = np.arange(len(draws))
    before, hits_before = (np.where(last > 0, side[rows, last - 1], 0.0) for side in (called, hits))
    slope = (hits[rows, last] - hits_before) / (called[rows, last] - before)
    values: Floats = slope * (size - before) + hits_before
    return values


def block_h_measure(draws: Resamples) -> Floats:
    """The H-measure of every resample."""
    return np.array([h_at_corners(p, *hull) for p, hull in zip(draws.prevalences.tolist(), draws.hulls, strict=True)])


def block_aucc(draws: Resamples) -> Floats:
    """The area under the cost curve of every resample."""
    return np.array([aucc_at_corners(*hull) for hull in draws.hulls])


def block_hull_auc(draws: Resamples) -> Floats:
    """The area under the convex hull of every resample."""
    return np.array([np.trapezoid(tpr, fpr) for fpr, tpr in draws.hulls])


def block_positive_sd(draws: Resamples) -> Floats:
    """The Bernoulli noise of the positive estimate of every resample."""
    variance = np.zeros(len(draws))
    for scale, masses, stratum in zip(draws.scales, draws.as_floats, draws.pool.strata, strict=True):
        # The squared weights of an entry are proportional to its mass.
        parts = masses * (stratum.squares / stratum.mass) * stratum.scores * (1.0 - stratum.scores)
        # Summed without the entries not drawn, as a tally does, so that rounding is the same.
        variance += scale**2 * np.array([np.sum(line[drawn]) for line, drawn in zip(parts, masses > 0.0, strict=True)])
    values: Floats = np.sqrt(np.maximum(variance, 0.0))
    return values


def block_integrated_calibration_index(draws: Resamples) -> Floats:
    """The integrated calibration index of every resample."""
    scores, places = draws.pool.places_by_score
    down, up = (side * scale[:, None] for side, scale in zip(draws.merged(places), draws.scales, strict=True))
    mass = down + up
    return np.array(
        [
            index_of_outcomes(Outcomes(scores[drawn], hits[drawn] / total[drawn], total[drawn]))
            for drawn, hits, total in zip(mass > 0.0, up, mass, strict=True)
        ]
    )


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
    """Sums of masses times values, where 0 times infinity is 0."""
    infinite = np.isinf(values)
    sums: Floats = np.einsum("rk,k->r", masses, np.where(infinite, 0.0, values) if infinite.any() else values)
    return np.where(masses[:, infinite].any(axis=1), np.inf, sums) if infinite.any() else sums


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
