"""Confidence limits of an estimated share: in closed form, from the likelihood, and for a finite population."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.inference.limits.proportions import effective_rate, limits
from tallymark.inference.scales import normal_quantile, on_scale, scale_of
from tallymark.quantify.kernels.adjusted import FAR_ENOUGH, sweep_weights
from tallymark.quantify.kernels.densities import logit
from tallymark.quantify.kernels.mixture import log_likelihood
from tallymark.registry import METRICS
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally

Limits = tuple[float, float]


class Case(NamedTuple):
    """What limits in closed form may need: both samples, where scores are cut, the level, and a finite population's
    size.
    """

    validation: Tally
    target: Tally
    threshold: float
    level: float
    population: float | None


#: Limits in closed form.
Analytic = Callable[[Case], Limits]


def rate_above(run: Run, threshold: float) -> tuple[float, float]:
    """Rows of a run at or above a threshold and all of them; effective ones with weights."""
    place = int(np.searchsorted(run.scores, run.scores.dtype.type(threshold), "left"))
    hits, total = float(run.mass_from(np.array(place))), float(run.total)
    if run.squares is None:
        return hits, total
    return effective_rate(hits, total, float(run.squares[place:].sum()), float(run.squares[:place].sum()))


def adjusted_count(
    target: tuple[float, float], positive: tuple[float, float], negative: tuple[float, float], level: float
) -> Limits:
    r"""Limits of (q - fpr)/(tpr - fpr) from hits and rows of the target, the positives and the negatives.

    Lang & Reiczigel (2014), Prev. Vet. Med. 113: the variance of the delta method,

    .. math:: \frac{1}{(tpr-fpr)^2}
        \left(\frac{q(1-q)}{n} + \pi^2 \frac{tpr(1-tpr)}{P} + (1-\pi)^2 \frac{fpr(1-fpr)}{N}\right),

    with a few pseudo-rows, so that rates of 0 and 1 are not taken as certain, and a shift that makes up for the skew.
    """
    z = normal_quantile(0.5 + level / 2.0)
    (k, n), (hits, p), (false, m) = target, positive, negative
    q = (k + z**2 / 2.0) / (n + z**2)
    tpr, fpr = (hits + 1.0) / (p + 2.0), (false + 1.0) / (m + 2.0)
    if tpr <= fpr:
        return 0.0, 1.0
    share = (q - fpr) / (tpr - fpr)
    up, down = tpr * (1.0 - tpr) / (p + 2.0), fpr * (1.0 - fpr) / (m + 2.0)
    error = math.sqrt(q * (1.0 - q) / (n + z**2) + share**2 * up + (1.0 - share) ** 2 * down) / (tpr - fpr)
    shift = 2.0 * z**2 * (share * up - (1.0 - share) * down)
    low, high = (min(1.0, max(0.0, share + shift + side * z * error)) for side in (-1.0, 1.0))
    return low, high


def mean_and_error(run: Run) -> tuple[float, float]:
    """Mean score of a run and the variance of that mean."""
    moments = run.moments
    if run.squares is None:
        n = moments.mass
        return moments.mean, moments.variance / (n - 1.0) if n > 1 else math.inf
    middle = run.scores if run.hi is None else (run.scores + run.hi) / 2.0
    spread = float(np.sum(run.squares * (middle - moments.mean) ** 2))
    rows = run.n_rows
    return moments.mean, spread / moments.mass**2 * rows / max(rows - 1, 1) if rows > 1 else math.inf


def adjusted_mean(target: Run, positive: Run, negative: Run, level: float) -> Limits:
    r"""Limits of the probabilistic adjusted count, by Fieller's theorem.

    The shares :math:`\pi` at which :math:`\bar s - \pi \bar s^+ - (1-\pi)\bar s^-` is within z of its errors
    :math:`\sqrt{V + \pi^2 V^+ + (1-\pi)^2 V^-}` of 0.
    """
    z2 = normal_quantile(0.5 + level / 2.0) ** 2
    (t, v), (up, v_up), (down, v_down) = map(mean_and_error, (target, positive, negative))
    # a π² - 2 b π + c <= 0
    a = (up - down) ** 2 - z2 * (v_up + v_down)
    b = (t - down) * (up - down) - z2 * v_down
    c = (t - down) ** 2 - z2 * (v + v_down)
    if not math.isfinite(a) or a <= 0.0:
        return 0.0, 1.0
    root = math.sqrt(max(b**2 - a * c, 0.0))
    low, high = (min(1.0, max(0.0, (b + side * root) / a)) for side in (-1.0, 1.0))
    return low, high


def of_adjusted_count(case: Case) -> Limits:
    """Limits of the adjusted count at a threshold."""
    of_target, up, down = (
        rate_above(run, case.threshold)
        for run in (case.target.runs[0], case.validation.positive, case.validation.negative)
    )
    return adjusted_count(of_target, up, down, case.level)


def of_adjusted_mean(case: Case) -> Limits:
    """Limits of the probabilistic adjusted count."""
    return adjusted_mean(case.target.runs[0], case.validation.positive, case.validation.negative, case.level)


def continuous_sweep(case: Case) -> Limits:
    """Fieller's limits of the mean of what each row adds to the sweep."""
    runs = [
        replace(
            run,
            scores=run.scores if run.hi is None else (run.scores + run.hi) / 2.0,
            lo=None,
            hi=None,
            known_moments=None,
        )
        for run in (*case.validation.runs, case.target.runs[0])
    ]
    if case.validation.is_probability and case.target.is_probability:
        runs = [replace(run, scores=logit(run.scores)) for run in runs]
    classes = [(run.moments.mean, math.sqrt(run.moments.variance)) for run in runs[:2]]
    weigh = sweep_weights(classes[0], classes[1], FAR_ENOUGH, case.validation.rounding)
    if weigh is None:
        return 0.0, 1.0
    down, up, of_target = (replace(run, scores=weigh(run.scores)) for run in runs)
    return adjusted_mean(of_target, up, down, case.level)


def classify_and_count(case: Case) -> Limits:
    """Wilson's limits of the share predicted positive; of a finite population's, with the usual correction."""
    hits, n = rate_above(case.target.runs[0], case.threshold)
    low, high = (float(end) for end in limits(hits, n, case.level))
    left = 1.0 if case.population is None else math.sqrt(max(0.0, 1.0 - case.target.n / case.population))
    return hits / n + (low - hits / n) * left, hits / n + (high - hits / n) * left


def mean_probability(case: Case) -> Limits:
    r"""Limits of a mean probability, on the logit scale.

    The positives of a finite population vary around the sum of their probabilities by :math:`\sum s(1-s)`.
    """
    run = case.target.runs[0]
    mean, variance = mean_and_error(run)
    if not 0.0 < mean < 1.0 or not math.isfinite(variance):
        return 0.0, 1.0
    if case.population is not None:
        within = run.sum_of(lambda s: s * (1.0 - s)) / float(run.total)
        variance = variance * max(0.0, 1.0 - case.target.n / case.population) + within / case.population
    return on_scale(mean, math.sqrt(variance), max(case.target.n_rows - 1.0, 1.0), case.level, scale_of(0.0, 1.0))


def baseline(case: Case) -> Limits:
    """Wilson's limits of the validation sample's share; a population's own share varies on top of it."""
    effective = (case.validation.positives + case.validation.negatives) ** 2 / sum(
        run.total**2 / run.effective_size for run in case.validation.runs
    )
    share = case.validation.positives / case.validation.n
    low, high = (float(end) for end in limits(share * effective, effective, case.level))
    wider = 1.0 if case.population is None else math.sqrt(1.0 + effective / case.population)
    return max(0.0, share + (low - share) * wider), min(1.0, share + (high - share) * wider)


def not_degenerate(ends: Limits, validation: Tally, target: Tally, level: float) -> Limits:
    r"""Limits that are not a single 0 or 1, although every resample was cut there.

    Of m rows without a sign of the class a share :math:`1 - (\alpha/2)^{1/m}` may be of it, and more where the best
    threshold finds only a part of them.
    """
    low, high = ends
    if high > low:
        return ends
    separation = max(METRICS["ks"].compute(validation), 1e-6)
    unseen = min(1.0, (1.0 - ((1.0 - level) / 2.0) ** (1.0 / max(target.runs[0].effective_size, 1.0))) / separation)
    return max(0.0, low - unseen), min(1.0, high + unseen)


#: Halvings that leave a limit no wider than rounding.
_HALVINGS = 45


def profile(best: float, up: Floats, down: Floats, mass: Floats, level: float, widen: float = 1.0) -> Limits:
    r"""Shares whose log-likelihood is within :math:`\chi^2_1 / 2` of the best one's, times `widen`.

    The likelihood of the target takes the densities as known; `widen` is the variance with their error over the
    variance without.
    """
    allowed = widen * normal_quantile(0.5 + level / 2.0) ** 2 / 2.0
    top = float(log_likelihood(np.array([best]), up, down, mass)[0])

    def inside(share: float) -> bool:
        return bool(top - log_likelihood(np.array([share]), up, down, mass)[0] <= allowed)

    return _edge(inside, best, 0.0), _edge(inside, best, 1.0)


def _edge(inside: Callable[[float], bool], start: float, end: float) -> float:
    """Bisect for the boundary of the accepted region between `start` and `end`."""
    if start == end or inside(end):
        return end
    for _ in range(_HALVINGS):
        middle = (start + end) / 2.0
        start, end = (middle, end) if inside(middle) else (start, middle)
    return (start + end) / 2.0


def of_population(share: float, ends: Limits, level: float, population: float) -> Limits:
    r"""Limits for the share in a finite population of which the target is a sample (or all of it).

    The share of a population of N itself varies by :math:`\pi(1-\pi)/N` around the one it was drawn at; that part of
    the variance falls away.
    """
    z = normal_quantile(0.5 + level / 2.0)
    of_population_share = share * (1.0 - share) / population
    items = []
    for end in ends:
        variance = ((end - share) / z) ** 2
        left = max(variance - of_population_share, 0.0) / variance if variance > 0.0 else 0.0
        items.append(share + (end - share) * math.sqrt(left))
    return items[0], items[1]


def checked_population(population: object, n: float) -> float | None:
    """Size of the population a target is a sample of."""
    if population is None:
        return None
    if isinstance(population, bool) or not isinstance(population, int | float | np.number) or not population >= n:
        raise InputError(
            f"population is {population!r}, expected the size of the population, at least the target's {n:g}."
        )
    return _check.real(population, "population")
