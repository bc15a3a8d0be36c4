r"""Adjusted count quantifiers: at one threshold, over many, or by the mean score.

With tpr, fpr the rates of the validation sample at a threshold and q the share of the target at or above it, most
adjust :math:`\hat\pi = (q - fpr) / (tpr - fpr)`, cut to [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark._rounding import equal
from tallymark.quantify.kernels.batches import in_parts, take, take_lines
from tallymark.quantify.kernels.declare import method
from tallymark.quantify.kernels.densities import logit
from tallymark.quantify.kernels.samples import Samples, Validation

_FORMAN = "Forman (2008), Data Min. Knowl. Discov. 17."
_BELLA = "Bella et al. (2010), ICDM."

#: Thresholds whose rates are closer than this adjust too much (Forman's rule for median sweep).
FAR_ENOUGH = 0.25


def adjusted(q: Any, tpr: Any, fpr: Any, tolerance: float) -> Floats:
    """(q - fpr) / (tpr - fpr), not cut; nan where the rates are equal up to rounding."""
    gap, apart = np.asarray(tpr - fpr, dtype=np.float64), ~equal(tpr, fpr, tolerance)
    return np.asarray(
        np.divide(q - fpr, gap, out=np.full(np.broadcast_shapes(np.shape(q), gap.shape), np.nan), where=apart)
    )


def cut(shares: Floats) -> Floats:
    """Shares clipped to [0, 1]."""
    return np.clip(shares, 0.0, 1.0)


@method("bl", "Baseline", r"\hat\pi = \pi_{train}", "The training prevalence, whatever the target.",
         "Barranquero et al. (2013), Pattern Recognit. 46.", interval="analytic", shift_proof=False, reads_target=False,
         uses_training_prevalence=True)  # fmt: skip
def _bl(validation: Validation, target: Samples) -> Floats:
    return np.broadcast_to(validation.training_prevalence, (max(len(target), len(validation.training_prevalence)),))


@method("cc", "Classify and count", r"\hat\pi = q",
         "The share predicted positive; right only at the prevalence fpr/(1 - tpr + fpr).", _FORMAN,
         interval="analytic", shift_proof=False, reads_validation=False, options={"threshold": 0.5})  # fmt: skip
def _cc(validation: Validation, target: Samples, *, threshold: float) -> Floats:  # noqa: ARG001
    return target.mean(target.scores >= target.scores.dtype.type(threshold))


@method("ac", "Adjusted count", r"\hat\pi = \frac{q - fpr}{tpr - fpr}",
         "Classify and count corrected for both error rates; the Rogan-Gladen estimator.",
         "Gart & Buck (1966), Am. J. Epidemiol. 83; Forman (2008), Data Min. Knowl. Discov. 17.",
         interval="analytic", aliases=("acc", "rogan_gladen"), options={"threshold": 0.5}, precedence=4)  # fmt: skip
def _ac(validation: Validation, target: Samples, *, threshold: float) -> Floats:
    tpr, fpr = validation.rates(np.array([threshold], dtype=validation.positive.scores.dtype))
    share = _cc(validation, target, threshold=threshold)
    return cut(adjusted(share, tpr[:, 0], fpr[:, 0], validation.rounding))


def _at_best(validation: Validation, target: Samples, *merits: Callable[[Floats, Floats], Floats]) -> Floats:
    """Adjusted count at the threshold with the highest merit of those whose rates differ; the lowest of equals.

    Thresholds of equal merit, up to rounding, are told apart by the next merit.
    """
    cuts = validation.candidates
    tpr, fpr = validation.rates(cuts)
    left = ~equal(tpr, fpr, validation.rounding)
    for merit in merits:
        values = np.where(left, merit(tpr, fpr), -np.inf)
        left &= values >= values.max(axis=1, keepdims=True) - validation.rounding
    best = np.argmax(left, axis=1)
    if len(best) == 1:
        q, up, down = target.mean(target.scores >= cuts[best[0]]), tpr[0, best[0]], fpr[0, best[0]]
    else:
        lines = np.arange(len(best))
        above = target.above(cuts)
        q, up, down = above[lines, best] if len(above) > 1 else above[0, best], tpr[lines, best], fpr[lines, best]
    return cut(adjusted(q, up, down, validation.rounding))


@method(
    "x",
    "X",
    r"\hat\pi = \mathrm{AC\ where\ } fpr = 1 - tpr",
    "Adjusted count where both error rates are equal.",
    _FORMAN,
)
def _x(validation: Validation, target: Samples) -> Floats:
    return _at_best(validation, target, lambda tpr, fpr: -np.abs(1.0 - (tpr + fpr)))


@method(
    "max",
    "Max",
    r"\hat\pi = \mathrm{AC\ where\ } tpr - fpr \mathrm{\ is\ largest}",
    "Adjusted count where the correction is smallest.",
    _FORMAN,
)
def _max(validation: Validation, target: Samples) -> Floats:
    return _at_best(validation, target, lambda tpr, fpr: tpr - fpr)


@method(
    "t50",
    "T50",
    r"\hat\pi = \mathrm{AC\ where\ } tpr = \tfrac12",
    "Adjusted count where half of the positives are found, away from the noisy tails.",
    _FORMAN,
)
def _t50(validation: Validation, target: Samples) -> Floats:
    # Of thresholds whose recall is as near to a half the one with the fewest false positives.
    return _at_best(validation, target, lambda tpr, fpr: -np.abs(tpr - 0.5), lambda tpr, fpr: -fpr)  # noqa: ARG005


def _median_over(validation: Validation, target: Samples, usable: Callable[[Floats, Floats], Any]) -> Floats:
    """Median of the adjusted counts at all usable thresholds; nan where there is none."""
    cuts = validation.candidates
    tpr, fpr = validation.rates(cuts)
    kept = usable(tpr, fpr)
    if len(tpr) == 1:
        cuts, tpr, fpr, kept = cuts[kept[0]], tpr[:, kept[0]], fpr[:, kept[0]], kept[:, kept[0]]
    lines = max(len(tpr), len(target))
    if not len(cuts):
        return np.full(lines, np.nan)

    cells = target.cells(cuts)
    steeper = np.divide(1.0, tpr - fpr, out=np.zeros_like(tpr), where=kept)
    off = fpr * steeper

    rows = None if target.index is None else target.index.shape[1]

    def medians(part: slice) -> Floats:
        samples = take(target, part)
        if rows is None:
            shares = samples.above(cuts) * take_lines(steeper, part)
            shares -= take_lines(off, part)
        else:
            # The same from whole numbers of rows below, which saves two passes.
            shares = samples.below(cuts, cells) * (take_lines(steeper, part) / -rows)
            shares += take_lines(steeper, part) - take_lines(off, part)
        return _medians(shares, take_lines(kept, part))

    return in_parts(medians, lines, len(cuts))


def _medians(shares: Floats, kept: Any) -> Floats:
    """Medians of the kept shares of each line, clipped to [0, 1]; clipping the middle ones alone gives the same."""
    if kept.all():
        middle, odd = divmod(shares.shape[1], 2)
        # For two places at once NumPy's partition takes six times as long.
        shares.partition(middle, axis=1)
        high = cut(shares[:, middle])
        return high if odd else (cut(shares[:, :middle].max(axis=1)) + high) / 2.0
    count = kept.sum(axis=1)
    ranked = np.sort(np.where(kept, shares, np.inf), axis=1)
    lines = np.arange(len(ranked))
    top = np.maximum(count, 1)
    middles = (cut(ranked[lines, (top - 1) // 2]) + cut(ranked[lines, top // 2])) / 2.0
    return np.where(count > 0, middles, np.nan)


@method(
    "ms",
    "Median sweep",
    r"\hat\pi = \mathrm{median}_{t:\, tpr - fpr \ge 1/4} \mathrm{AC}(t)",
    "Median of the adjusted counts at all thresholds that do not adjust too much; Max where there is none.",
    _FORMAN,
    aliases=("ms2",),
    precedence=2,
)
def _ms(validation: Validation, target: Samples) -> Floats:
    values = _median_over(validation, target, lambda tpr, fpr: tpr - fpr >= FAR_ENOUGH - validation.rounding)
    return np.where(np.isnan(values), _max(validation, target), values) if np.isnan(values).any() else values


@method(
    "sweep",
    "Median sweep over all thresholds",
    r"\hat\pi = \mathrm{median}_t\, \mathrm{AC}(t)",
    "Median of the adjusted counts at every threshold where the rates differ.",
    _FORMAN,
)
def _sweep(validation: Validation, target: Samples) -> Floats:
    return _median_over(validation, target, lambda tpr, fpr: ~equal(tpr, fpr, validation.rounding))


@method(
    "cs",
    "Continuous sweep",
    r"\hat\pi = \frac{\bar g - \bar g^-}{\bar g^+ - \bar g^-}, \quad g(s) = \int_{\theta_l}^{s} \frac{dt}{F^-(t) - "
    r"F^+(t)}",
    "Mean of the adjusted counts over the thresholds where normal curves fitted to the two classes (on the logits "
    "of probabilities) are apart, placed between its own means in the two classes, so that it is right for scores "
    "that are not normal too; normal=True is the published form, which trusts the curves.",
    "Kloos, Karch, Meertens & de Rooij (2023), arXiv:2308.08387.",
    interval="analytic",
    aliases=("continuous_sweep",),
    options={"far_enough": FAR_ENOUGH, "normal": False},
    resampled_with=("far_enough", "normal"),
)
def _cs(validation: Validation, target: Samples, *, far_enough: float, normal: bool) -> Floats:
    if validation.range == (0.0, 1.0):
        # Normal curves have no ends; probabilities do.
        validation, target = _on_logits(validation), replace(target, scores=logit(target.scores))
    sides = (validation.negative, validation.positive)
    means, spreads = zip(*(_mean_and_spread(side) for side in sides), strict=True)
    lines = max(len(means[0]), len(means[1]), len(target))
    values = np.full(lines, np.nan)
    for i in range(len(means[0])):
        weigh = sweep_weights(
            (means[0][i], spreads[0][i]), (means[1][i], spreads[1][i]), far_enough, validation.rounding
        )
        if weigh is None:
            continue
        part = slice(i, i + 1) if len(means[0]) > 1 else slice(None)
        samples = take(target, part)
        value = samples.mean(weigh(samples.scores))
        if normal:
            values[part] = cut(value)
        else:
            down, up = (one.mean(weigh(one.scores)) for one in (take(side, part) for side in sides))
            values[part] = cut(adjusted(value, up, down, validation.rounding))
    return values


def _on_logits(validation: Validation) -> Validation:
    down, up = (replace(side, scores=logit(side.scores)) for side in (validation.negative, validation.positive))
    return replace(validation, negative=down, positive=up, range=(-np.inf, np.inf))


def _mean_and_spread(side: Samples) -> tuple[Floats, Floats]:
    # Around a score of their own, so that equal scores have no spread.
    pivot = float(side.scores[len(side.scores) // 2])
    mean = pivot + side.mean(side.scores.astype(np.float64) - pivot)
    return mean, np.sqrt(side.mean((side.scores - mean[:, None]) ** 2))


#: Steps of the integral over thresholds.
_STEPS = 4_000


def sweep_weights(
    negative: tuple[float, float], positive: tuple[float, float], far_enough: float, tolerance: float
) -> Callable[[Any], Floats] | None:
    """What a row adds to the mean adjusted count over the thresholds where normal classes are `far_enough` apart.

    Its mean is 0 over negatives and 1 over positives, if these are normal. Classes never that far apart are looked at
    where they are at least half as far apart as anywhere; classes that only rounding tells apart have no weights.
    """
    from scipy.special import ndtr

    (down, down_sd), (up, up_sd) = negative, positive
    ends = (min(down - 4 * down_sd, up - 4 * up_sd), max(down + 4 * down_sd, up + 4 * up_sd))
    t = np.linspace(*ends, _STEPS)
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, fpr = ndtr((up - t) / up_sd), ndtr((down - t) / down_sd)
    gap = np.nan_to_num(tpr - fpr)
    widest = int(np.argmax(gap))
    # Means and spreads that are equal up to rounding move the curves by so much, in spreads.
    spreads = [spread for spread in (down_sd, up_sd) if spread > 0.0]
    if not gap[widest] > tolerance * (1.0 + max(abs(down), abs(up)) / min(spreads, default=math.inf)):
        return None
    apart = gap >= min(far_enough, gap[widest] / 2.0)
    # The stretch around the widest gap; with unequal spreads there can be another one far out.
    left = widest - int(np.argmin(np.append(apart[widest::-1], False))) + 1
    right = widest + int(np.argmin(np.append(apart[widest:], False))) - 1
    if right <= left:
        return None
    t, gap, fpr = t[left : right + 1], gap[left : right + 1], fpr[left : right + 1]
    # The integral of 1/gap up to each score is all that a row of the target adds.
    steps = np.diff(t) * (1.0 / gap[1:] + 1.0 / gap[:-1]) / 2.0
    so_far = np.concatenate(([0.0], np.cumsum(steps)))
    taken = float(np.sum(np.diff(t) * (fpr[1:] / gap[1:] + fpr[:-1] / gap[:-1]) / 2.0))
    return lambda scores: (np.interp(scores, t, so_far) - taken) / (t[-1] - t[0])


@method("pcc", "Probabilistic classify and count", r"\hat\pi = \frac1n \sum_i s_i",
         "The mean probability; right only where the probabilities are.", _BELLA, interval="analytic",
         probabilities=True, shift_proof=False, trusts_probabilities=True, aliases=("pa",))  # fmt: skip
def _pcc(validation: Validation, target: Samples) -> Floats:  # noqa: ARG001
    return target.mean(target.scores)


@method("pacc", "Probabilistic adjusted count", r"\hat\pi = \frac{\bar s - \bar s^-}{\bar s^+ - \bar s^-}",
         "The mean score placed between the classes' mean scores.", _BELLA, interval="analytic",
         aliases=("spa", "smm"), precedence=3)  # fmt: skip
def _pacc(validation: Validation, target: Samples) -> Floats:
    up, down = (side.mean(side.scores) for side in (validation.positive, validation.negative))
    return cut(adjusted(target.mean(target.scores), up, down, validation.rounding))
