"""Influence functions of metrics of the scores themselves: moments, losses and calibration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.inference.limits.effect import ScoreEffect
from tallymark.inference.limits.influence import STEP
from tallymark.metrics.logistic import log_odds, sigmoid
from tallymark.metrics.probability import log_to_one, log_to_zero
from tallymark.metrics.recalibration import logistic_recalibration
from tallymark.registry import METRICS
from tallymark.summaries.run import Run, ScoreMoments
from tallymark.summaries.tally import Tally


def moments_effect(name: str, *, bounded: bool = True) -> Callable[[Tally], ScoreEffect]:
    """A metric of class means and variances: the chain rule, with slopes by central differences."""

    def effect(tally: Tally) -> ScoreEffect:
        functions = [_moment_effect(name, tally, side) for side in (0, 1)]
        score_effect = ScoreEffect(tally, functions[0], functions[1])
        return score_effect.with_bounds(METRICS[name].low, METRICS[name].high) if bounded else score_effect

    return effect


def _moment_effect(name: str, tally: Tally, side: int) -> Callable[[Floats], Floats]:
    moments = tally.runs[side].moments
    if moments.variance <= 0.0:
        # All scores of the class are equal: no spread.
        return np.zeros_like
    sd = math.sqrt(moments.variance)
    by_mean, by_variance = (
        _slope(name, tally, side, change, step) for change, step in (("mean", STEP * sd), ("variance", STEP * sd**2))
    )

    def of(scores: Floats) -> Floats:
        # Scores near the largest float overflow; their metric has no interval.
        with np.errstate(over="ignore", invalid="ignore"):
            gap = scores - moments.mean
            values: Floats = by_mean * gap + by_variance * (gap**2 - moments.variance)
        return values

    return of


def _slope(name: str, tally: Tally, side: int, change: str, step: float) -> float:
    up, down = (METRICS[name].compute(_shifted(tally, side, **{change: by})) for by in (step, -step))
    return (up - down) / (2.0 * step)


def _shifted(tally: Tally, side: int, *, mean: float = 0.0, variance: float = 0.0) -> Tally:
    """The tally with one class's mean or variance moved, its masses as they are."""
    runs = list(tally.runs)
    m = runs[side].moments
    moved = ScoreMoments(m.mass, m.mean + mean, m.m2 + variance * m.mass, m.m3)
    runs[side] = replace(runs[side], known_moments=moved)
    return replace(tally, runs=tuple(runs))


def log_loss_effect(tally: Tally) -> ScoreEffect:
    """Influence of a mean loss."""
    p = tally.prevalence

    def centred(run: Run, share: float, loss: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        mean = run.sum_of(loss) / float(run.total)
        if math.isinf(mean):
            raise Undefined("log_loss: infinite, so it has no spread")
        return lambda scores: share * (loss(scores) - mean)

    score_effect = ScoreEffect(
        tally, centred(tally.negative, 1.0 - p, log_to_zero), centred(tally.positive, p, log_to_one)
    )
    low, high = np.array(tally.range)
    # The largest loss of a score within the range.
    return score_effect.with_bounds(0.0, float(max(log_to_one(low), log_to_zero(high))))


def skill_effect(name: str, loss: str, effect: Callable[[Tally], ScoreEffect]) -> Callable[[Tally], ScoreEffect]:
    """Influence of a skill score, 1 - loss / loss of the constant prevalence; `effect` is that of the loss."""

    def of(tally: Tally) -> ScoreEffect:
        of_loss = effect(tally)
        if of_loss.bounded is None:
            raise TypeError(f"{loss} is no mean of losses")
        factor = -1.0 / METRICS[loss].chance(tally)
        score_effect = ScoreEffect(
            tally, lambda s: factor * of_loss.of_negative(s), lambda s: factor * of_loss.of_positive(s)
        )
        return score_effect.with_bounds(1.0 + factor * of_loss.bounded.high, METRICS[name].high, anchor=1.0)

    return of


def calibration_slope_effect(tally: Tally) -> ScoreEffect:
    """Influence of the slope of a logistic regression: score function over information."""
    slope, intercept = logistic_recalibration(tally)
    if math.isinf(slope):
        raise Undefined("the classes do not overlap, so the slope has no spread")
    parts = [
        (run, share, y)
        for run, share, y in zip(tally.runs, (1.0 - tally.prevalence, tally.prevalence), (0.0, 1.0), strict=True)
    ]

    def features(s: Floats) -> tuple[Floats, Floats]:
        x: Floats = sum(log_odds(s))  # type: ignore[assignment]
        return x, sigmoid(intercept + slope * x)

    information = np.zeros((2, 2))
    for run, share, _ in parts:
        x, p = features(run.scores.astype(np.float64))
        weight = share * run.mass / float(run.total) * p * (1.0 - p)
        information += np.array([[np.sum(weight), np.sum(weight * x)], [np.sum(weight * x), np.sum(weight * x * x)]])
    if not np.linalg.det(information) > 0.0:
        raise Undefined("the classes do not overlap, so the slope has no spread")
    of_one, of_x = np.linalg.inv(information)[1]

    def effect(run: Run, share: float, y: float) -> Callable[[Floats], Floats]:
        def raw(s: Floats) -> Floats:
            x, p = features(s)
            values: Floats = share * (y - p) * (of_one + of_x * x)
            return values

        mean = run.sum_of(raw) / float(run.total)
        return lambda s: raw(s) - mean

    down, up = (effect(*part) for part in parts)
    return ScoreEffect(tally, down, up)


def calibration_intercept_effect(tally: Tally) -> ScoreEffect:
    """Influence of the intercept of a logistic regression with slope 1."""
    intercept = METRICS["calibration_intercept"].compute(tally)

    def chance(s: Floats) -> Floats:
        return sigmoid(intercept + sum(log_odds(s)))  # type: ignore[arg-type]

    shares = (1.0 - tally.prevalence, tally.prevalence)
    information = sum(
        share * run.sum_of(lambda s: chance(s) * (1.0 - chance(s))) / float(run.total)
        for run, share in zip(tally.runs, shares, strict=True)
    )
    means = [run.sum_of(chance) / float(run.total) for run in tally.runs]
    down, up = (
        lambda s, mean=mean, share=share: share * (mean - chance(s)) / information
        for mean, share in zip(means, shares, strict=True)
    )
    return ScoreEffect(tally, down, up)
