"""Bias and noise of the sum of probabilities as an estimate of the number of positives."""

from __future__ import annotations

import math

import numpy as np

from tallymark.metrics.declare import GUBBELS, metric
from tallymark.summaries.tally import Tally


def _mean_score(tally: Tally) -> float:
    if not tally.labelled:
        return tally.runs[0].moments.mean
    p = tally.prevalence
    return (1.0 - p) * tally.negative.moments.mean + p * tally.positive.moments.mean


def _bernoulli_variance(tally: Tally) -> float:
    scales = tally.scale if tally.labelled else (1.0,)
    total = 0.0
    for run, scale in zip(tally.runs, scales, strict=True):
        if run.squares is not None:
            spread = run.scores.astype(np.float64)
            total += scale**2 * float(np.sum(run.squares * spread * (1.0 - spread)))
        elif len(run):
            m = run.moments
            total += scale**2 * (m.mass * m.mean * (1.0 - m.mean) - m.m2)
    return total


def _sd_bound(tally: Tally) -> tuple[float, float]:
    # The slope of s(1 - s) never exceeds 1, so the error of a cell is at most its width.
    slack = sum(
        float(np.sum(run.squares * (run.hi - run.scores)))
        for run in tally.runs
        if run.squares is not None and run.hi is not None
    )
    slack *= max(tally.scale if tally.labelled else (1.0,)) ** 2
    variance = _bernoulli_variance(tally)
    return math.sqrt(max(0.0, variance - slack)), math.sqrt(variance + slack)


@metric(
    title="Bias of the probabilities", family="counting", needs="probabilities", low=-1.0, high=1.0, better="zero",
    chance=lambda tally: _mean_score(tally) - tally.prevalence, one_class=True, moments=True,
    formula=r"\frac1n \Big(\sum_i s_i - P\Big)",
    meaning="Mean probability minus the true share of positives.", reference=GUBBELS,
)  # fmt: skip
def bias(tally: Tally) -> float:
    r"""Bias of the probabilities, :math:`(\sum_i s_i - P)/n`. Gubbels (2023).

    >>> import tallymark as tm
    >>> round(tm.metrics.bias(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    -0.0875
    """
    return _mean_score(tally) - tally.prevalence


@metric(
    title="Positive estimate", family="counting", needs="probabilities", low=0.0, high=math.inf, better="neither",
    chance=lambda tally: _mean_score(tally) * float(tally.n), one_class=True, moments=True, extensive=True,
    formula=r"\sum_i s_i", meaning="Number of positives as the sum of the probabilities.", reference=GUBBELS,
)  # fmt: skip
def positive_estimate(tally: Tally) -> float:
    r"""Expected number of positives, :math:`\sum_i s_i`. Works without labels. Gubbels (2023).

    >>> import tallymark as tm
    >>> tm.metrics.positive_estimate(tm.tally(scores=[0.25, 0.5, 0.75]))
    1.5
    """
    return _mean_score(tally) * float(tally.n)


@metric(
    title="Bernoulli sd of the positive estimate", family="counting", needs="probabilities", low=0.0, high=math.inf,
    better="neither", chance=lambda tally: math.sqrt(max(0.0, _bernoulli_variance(tally))), one_class=True,
    formula=r"\sqrt{\sum_i s_i (1 - s_i)}",
    meaning="Bernoulli noise inside the sample; not the error of the count, and too small for an interval.",
    reference=GUBBELS, bound=_sd_bound,
)  # fmt: skip
def positive_sd(tally: Tally) -> float:
    r"""Bernoulli noise of the positive estimate, :math:`\sqrt{\sum_i s_i(1-s_i)}` (with weights,
    :math:`\sqrt{\sum_i w_i^2 s_i(1-s_i)}`). The error of the model is not included. Gubbels (2023).

    >>> import tallymark as tm
    >>> round(tm.metrics.positive_sd(tm.tally(scores=[0.25, 0.5, 0.75])), 4)
    0.7906
    """
    return math.sqrt(max(0.0, _bernoulli_variance(tally)))
