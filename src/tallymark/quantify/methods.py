r"""The quantifiers: each estimates the share of positives in many samples at once.

A kernel takes a :class:`Validation` (scores of known negatives and positives, as sampled or in many resamples) and the
target's :class:`Samples`, and gives one share for each sample, nan where there is none. With tpr, fpr the rates of the
validation sample at a threshold and q the share of the target at or above it, most adjust
:math:`\hat\pi = (q - fpr) / (tpr - fpr)`, cut to [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from tallymark._check import Floats, Scores
from tallymark.calibration.logistic import fit_logistic, log_odds, sigmoid
from tallymark.errors import InputError
from tallymark.intervals.base import checked_number, in_threads
from tallymark.quantify.densities import FAINT, Binned, Kernels, adaptive_edges, logit
from tallymark.quantify.mixture import contrast, most_likely
from tallymark.quantify.samples import Samples, Validation
from tallymark.registry import QUANTIFIERS, Method, choose

Kernel = Callable[..., Floats]
IntervalKind = Literal["analytic", "profile", "bootstrap"]

_FORMAN = "Forman (2008), Data Min. Knowl. Discov. 17."
_BELLA = "Bella et al. (2010), ICDM."

#: Thresholds whose rates are closer than this adjust too much (Forman's rule for median sweep).
_FAR_ENOUGH = 0.25

#: Numbers worked on at a time.
_BLOCK = 2**16


def _method(
    name: str, title: str, formula: str, meaning: str, reference: str, *, interval: IntervalKind = "bootstrap",
    probabilities: bool = False, shift_proof: bool = True, aliases: tuple[str, ...] = (),
    densities: Callable[..., tuple[Floats, Floats]] | None = None,
) -> Callable[[Kernel], Kernel]:  # fmt: skip
    def declare(kernel: Kernel) -> Kernel:
        QUANTIFIERS.add(
            Method(
                name=name, title=title, formula=formula, meaning=meaning, reference=reference, kernel=kernel,
                interval=interval, probabilities=probabilities, shift_proof=shift_proof, aliases=aliases,
                densities=densities,
            )
        )  # fmt: skip
        return kernel

    return declare


def adjusted(q: Any, tpr: Any, fpr: Any) -> Floats:
    """(q - fpr) / (tpr - fpr), not cut; nan where the rates are equal."""
    gap = np.asarray(tpr - fpr, dtype=np.float64)
    return np.asarray(np.divide(q - fpr, gap, out=np.full(np.broadcast_shapes(np.shape(q), gap.shape), np.nan),
                                where=gap != 0.0))  # fmt: skip


def _cut(shares: Floats) -> Floats:
    return np.clip(shares, 0.0, 1.0)


@_method("bl", "Baseline", r"\hat\pi = \pi_{train}", "The training prevalence, whatever the target.",
         "Barranquero et al. (2013), Pattern Recognit. 46.", interval="analytic", shift_proof=False)  # fmt: skip
def _bl(validation: Validation, target: Samples) -> Floats:
    return np.broadcast_to(validation.training_prevalence, (max(len(target), len(validation.training_prevalence)),))


@_method("cc", "Classify and count", r"\hat\pi = q",
         "The share called positive; right only at the prevalence fpr/(1 - tpr + fpr).", _FORMAN,
         interval="analytic", shift_proof=False)  # fmt: skip
def _cc(validation: Validation, target: Samples, *, threshold: float = 0.5) -> Floats:  # noqa: ARG001
    return target.mean(target.scores >= target.scores.dtype.type(threshold))


@_method("ac", "Adjusted count", r"\hat\pi = \frac{q - fpr}{tpr - fpr}",
         "Classify and count corrected for both error rates; the Rogan-Gladen estimator.",
         "Gart & Buck (1966), Am. J. Epidemiol. 83; Forman (2008), Data Min. Knowl. Discov. 17.",
         interval="analytic", aliases=("acc", "rogan_gladen"))  # fmt: skip
def _ac(validation: Validation, target: Samples, *, threshold: float = 0.5) -> Floats:
    tpr, fpr = validation.rates(np.array([threshold], dtype=validation.positive.scores.dtype))
    return _cut(adjusted(_cc(validation, target, threshold=threshold), tpr[:, 0], fpr[:, 0]))


def _at_best(validation: Validation, target: Samples, badness: Callable[[Floats, Floats], Floats]) -> Floats:
    """Adjusted count at the threshold the validation sample likes best; the lowest of equals."""
    cuts = validation.candidates
    tpr, fpr = validation.rates(cuts)
    best = np.argmin(np.where(tpr == fpr, np.inf, badness(tpr, fpr)), axis=1)
    if len(best) == 1:
        return _cut(adjusted(target.mean(target.scores >= cuts[best[0]]), tpr[0, best[0]], fpr[0, best[0]]))
    lines = np.arange(len(best))
    q = target.above(cuts)
    return _cut(adjusted(q[lines, best] if len(q) > 1 else q[0, best], tpr[lines, best], fpr[lines, best]))


@_method("x", "X", r"\hat\pi = \mathrm{AC\ where\ } fpr = 1 - tpr", "Adjusted count where both error rates are equal.",
         _FORMAN)  # fmt: skip
def _x(validation: Validation, target: Samples) -> Floats:
    return _at_best(validation, target, lambda tpr, fpr: np.abs(1.0 - (tpr + fpr)))


@_method("max", "Max", r"\hat\pi = \mathrm{AC\ where\ } tpr - fpr \mathrm{\ is\ largest}",
         "Adjusted count where the correction is smallest.", _FORMAN)  # fmt: skip
def _max(validation: Validation, target: Samples) -> Floats:
    return _at_best(validation, target, lambda tpr, fpr: fpr - tpr)


@_method("t50", "T50", r"\hat\pi = \mathrm{AC\ where\ } tpr = \tfrac12",
         "Adjusted count where half of the positives are found, away from the noisy tails.", _FORMAN)  # fmt: skip
def _t50(validation: Validation, target: Samples) -> Floats:
    return _at_best(validation, target, lambda tpr, fpr: np.abs(tpr - 0.5) + 0.0 * fpr)


def _median_over(validation: Validation, target: Samples, usable: Callable[[Floats, Floats], Any]) -> Floats:
    """Median of the adjusted counts at all usable thresholds; nan where there is none."""
    cuts = validation.candidates
    tpr, fpr = validation.rates(cuts)
    held = usable(tpr, fpr)
    if len(tpr) == 1:
        cuts, tpr, fpr, held = cuts[held[0]], tpr[:, held[0]], fpr[:, held[0]], held[:, held[0]]
    lines = max(len(tpr), len(target))
    if not len(cuts):
        return np.full(lines, np.nan)

    cells = target.cells(cuts)
    steeper = np.divide(1.0, tpr - fpr, out=np.zeros_like(tpr), where=held)
    off = fpr * steeper

    def medians(part: slice) -> Floats:
        shares = _some(target, part).above(cuts, cells) * _line(steeper, part)
        shares -= _line(off, part)
        np.clip(shares, 0.0, 1.0, out=shares)
        return _medians(shares, _line(held, part))

    return _in_parts(medians, lines, len(cuts))


def _in_parts(work: Callable[[slice], Floats], lines: int, width: int) -> Floats:
    """Work on a few lines at a time, so that they stay in a core's cache, and put the answers together."""
    step = max(1, _BLOCK // max(width, 1))
    parts = [slice(start, min(start + step, lines)) for start in range(0, lines, step)]
    return np.concatenate(in_threads(work, parts, None) if len(parts) > 1 else [work(part) for part in parts])


def _some(samples: Samples, part: slice) -> Samples:
    if len(samples) == 1:
        return samples
    index, mass = (None if lines is None else lines[part] for lines in (samples.index, samples.mass))
    return replace(samples, index=index, mass=mass)


def _line(values: Any, part: slice) -> Any:
    return values if len(values) == 1 else values[part]


def _medians(shares: Floats, held: Any) -> Floats:
    """Medians of the held values of each line."""
    if held.all():
        middle, odd = divmod(shares.shape[1], 2)
        # For two places at once NumPy's partition takes six times as long.
        shares.partition(middle, axis=1)
        return shares[:, middle] if odd else (shares[:, :middle].max(axis=1) + shares[:, middle]) / 2.0
    count = held.sum(axis=1)
    ranked = np.sort(np.where(held, shares, np.inf), axis=1)
    lines = np.arange(len(ranked))
    top = np.maximum(count, 1)
    middle = (ranked[lines, (top - 1) // 2] + ranked[lines, top // 2]) / 2.0
    return np.where(count > 0, middle, np.nan)


@_method("ms", "Median sweep", r"\hat\pi = \mathrm{median}_{t:\, tpr - fpr \ge 1/4} \mathrm{AC}(t)",
         "Median of the adjusted counts at all thresholds that do not adjust too much; Max where there is none.",
         _FORMAN, aliases=("ms2",))  # fmt: skip
def _ms(validation: Validation, target: Samples) -> Floats:
    found = _median_over(validation, target, lambda tpr, fpr: tpr - fpr >= _FAR_ENOUGH)
    return np.where(np.isnan(found), _max(validation, target), found) if np.isnan(found).any() else found


@_method("sweep", "Median sweep over all thresholds", r"\hat\pi = \mathrm{median}_t\, \mathrm{AC}(t)",
         "Median of the adjusted counts at every threshold where the rates differ.", _FORMAN)  # fmt: skip
def _sweep(validation: Validation, target: Samples) -> Floats:
    return _median_over(validation, target, lambda tpr, fpr: tpr != fpr)


@_method("cs", "Continuous sweep",
         r"\hat\pi = \frac{1}{\theta_r - \theta_l} \int_{\theta_l}^{\theta_r} \frac{q(t) - F^-(t)}{F^+(t) - F^-(t)} dt",
         "Mean of the adjusted counts over the thresholds where normal curves fitted to the two classes (on the logits "
         "of probabilities) are apart.",
         "Kloos, Karch, Meertens & de Rooij (2023), arXiv:2308.08387.", aliases=("continuous_sweep",))  # fmt: skip
def _cs(validation: Validation, target: Samples, *, far_enough: float = _FAR_ENOUGH) -> Floats:
    if validation.range == (0.0, 1.0):
        # Normal curves have no ends; probabilities do.
        validation, target = _on_logits(validation), replace(target, scores=logit(target.scores))
    means, spreads = zip(*(_mean_and_spread(side) for side in (validation.negative, validation.positive)), strict=True)
    lines = max(len(means[0]), len(means[1]), len(target))
    found = np.full(lines, np.nan)
    curves = len(means[0])
    if curves == 1:
        found[:] = _continuous(target, (means[0][0], spreads[0][0]), (means[1][0], spreads[1][0]), far_enough)
        return found
    for i in range(curves):
        one = _some(target, slice(i, i + 1))
        found[i] = _continuous(one, (means[0][i], spreads[0][i]), (means[1][i], spreads[1][i]), far_enough)[0]
    return found


def _on_logits(validation: Validation) -> Validation:
    down, up = (replace(side, scores=logit(side.scores)) for side in (validation.negative, validation.positive))
    return replace(validation, negative=down, positive=up, range=(-np.inf, np.inf))


def _mean_and_spread(side: Samples) -> tuple[Floats, Floats]:
    mean = side.mean(side.scores.astype(np.float64))
    return mean, np.sqrt(side.mean((side.scores - mean[:, None]) ** 2))


#: Steps of the integral over thresholds.
_STEPS = 1_000


def _continuous(
    target: Samples, negative: tuple[float, float], positive: tuple[float, float], far_enough: float
) -> Floats:
    """Mean adjusted count over the thresholds where tpr and fpr of normal classes are `far_enough` apart."""
    from scipy.special import ndtr

    (down, down_sd), (up, up_sd) = negative, positive
    ends = (min(down - 4 * down_sd, up - 4 * up_sd), max(down + 4 * down_sd, up + 4 * up_sd))
    t = np.linspace(*ends, 4 * _STEPS)
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, fpr = ndtr((up - t) / up_sd), ndtr((down - t) / down_sd)
    apart = np.flatnonzero(tpr - fpr >= far_enough)
    if len(apart) < 2:
        return np.full(len(target), np.nan)
    # The stretch around the widest gap; with unequal spreads there can be another one far out.
    widest = int(np.argmax(tpr - fpr))
    left = widest - int(np.argmin(np.append((tpr - fpr >= far_enough)[widest::-1], False))) + 1
    right = widest + int(np.argmin(np.append((tpr - fpr >= far_enough)[widest:], False))) - 1
    t, gap, fpr = t[left : right + 1], (tpr - fpr)[left : right + 1], fpr[left : right + 1]
    if len(t) < 2:
        return np.full(len(target), np.nan)
    # The integral of 1/gap up to each score is all that a row of the target adds.
    steps = np.diff(t) * (1.0 / gap[1:] + 1.0 / gap[:-1]) / 2.0
    so_far = np.concatenate(([0.0], np.cumsum(steps)))
    taken = float(np.sum(np.diff(t) * (fpr[1:] / gap[1:] + fpr[:-1] / gap[:-1]) / 2.0))
    return _cut((target.mean(np.interp(target.scores, t, so_far)) - taken) / (t[-1] - t[0]))


@_method("pcc", "Probabilistic classify and count", r"\hat\pi = \frac1n \sum_i s_i",
         "The mean probability; right only where the probabilities are.", _BELLA, interval="analytic",
         probabilities=True, shift_proof=False, aliases=("pa",))  # fmt: skip
def _pcc(validation: Validation, target: Samples) -> Floats:  # noqa: ARG001
    return target.mean(target.scores)


@_method("pacc", "Probabilistic adjusted count", r"\hat\pi = \frac{\bar s - \bar s^-}{\bar s^+ - \bar s^-}",
         "The mean score placed between the classes' mean scores.", _BELLA, interval="analytic",
         aliases=("spa", "smm"))  # fmt: skip
def _pacc(validation: Validation, target: Samples) -> Floats:
    up, down = (side.mean(side.scores) for side in (validation.positive, validation.negative))
    return _cut(adjusted(target.mean(target.scores), up, down))


def posterior_densities(scores: Scores, training_prevalence: Floats) -> tuple[Floats, Floats]:
    """Densities of the classes, up to a common factor, that probabilities at a training prevalence imply."""
    s = np.asarray(scores, dtype=np.float64)
    share = training_prevalence[:, None]
    return s / share, (1.0 - s) / (1.0 - share)


def _em_densities(validation: Validation, target: Samples, *, calibration: str | None = None) -> tuple[Floats, Floats]:
    if calibration is None:
        return posterior_densities(target.scores, validation.training_prevalence)
    features = choose("calibration", calibration, _SCALINGS)
    sides = (validation.negative, validation.positive)
    known = features(np.concatenate([side.scores for side in sides]))
    truth = np.repeat([0.0, 1.0], [len(side.scores) for side in sides])
    masses = [_masses(side) for side in sides]
    mass = np.concatenate(masses, axis=1)
    fitted = fit_logistic(known, truth, mass)
    found = sigmoid(fitted[:, :-1] @ features(target.scores) + fitted[:, -1:])
    # A fitted bias makes the mean probability of the validation sample its share of positives.
    share = masses[1].sum(axis=1) / mass.sum(axis=1)
    return posterior_densities(found, share)


def _masses(side: Samples) -> Floats:
    return np.ones((1, len(side.scores))) if side.mass is None else side.mass


#: Features of a probability whose logistic regression calibrates it: bias-corrected temperature, vector scaling.
_SCALINGS: dict[str, Callable[[Scores], Floats]] = {
    "bcts": lambda scores: np.stack([sum(log_odds(scores))]),
    "vs": lambda scores: np.stack(log_odds(scores)),
}


@_method("em", "Expectation maximisation",
         r"\hat\pi = \arg\max_\pi \prod_i \left(\pi \frac{s_i}{\pi_{train}} + (1-\pi) \frac{1-s_i}{1-\pi_{train}}\right)",
         "The prevalence at which calibrated probabilities, moved to it, explain the target best.",
         "Saerens, Latinne & Decaestecker (2002), Neural Comput. 14.", interval="profile", probabilities=True,
         aliases=("emq", "sld"), densities=_em_densities)  # fmt: skip
def _em(validation: Validation, target: Samples, *, calibration: str | None = None) -> Floats:
    up, down = _em_densities(validation, target, calibration=calibration)
    return _most_likely(up, down, target)


def _most_likely(up: Floats, down: Floats, target: Samples) -> Floats:
    """Best share of every sample, a few samples at a time."""
    lines = max(len(up), len(target))
    width = len(target.scores) if target.index is None else target.index.shape[1]
    gap, base = contrast(up, down)

    def best(part: slice) -> Floats:
        (own_gap, own_base), mass = _some(target, part).gathered(_flat(_line(gap, part)), _flat(_line(base, part)))
        return most_likely(own_gap, own_base, mass)

    return _in_parts(best, lines, width)


def _flat(values: Floats) -> Floats:
    return values[0] if len(values) == 1 else values


#: Points of the search of HDy (QuaPy's; the paper steps by 0.01).
_HDY_POINTS = 100


@_method("hdy", "HDy", r"\hat\pi = \mathrm{median}_b \arg\min_\pi H(\pi h^+_b + (1-\pi) h^-_b, h_b)",
         "The mixture of class histograms nearest to the target's by Hellinger distance; median over 10 to 110 bins.",
         "González-Castro, Alaiz-Rodríguez & Alegre (2013), Inf. Sci. 218.")  # fmt: skip
def _hdy(
    validation: Validation,
    target: Samples,
    *,
    bins: Sequence[int] = tuple(range(10, 111, 10)),
    points: int = _HDY_POINTS,
) -> Floats:
    shares = np.linspace(0.0, 1.0, checked_number(points, "points", 2))
    found = []
    for down, up, held in _histograms(validation, target, bins):
        root = np.sqrt(held)

        def best(part: slice, down: Floats = down, up: Floats = up, root: Floats = root) -> Floats:
            own_up, own_down = (_line(side, part)[:, None, :] for side in (up, down))
            mixed = np.sqrt(shares[:, None] * own_up + (1.0 - shares[:, None]) * own_down)
            # The least distance is the largest sum of root products; equal ones differ by rounding only.
            own = _line(root, part)
            if len(mixed) == 1:
                likeness = np.einsum("rk,pk->rp", own, mixed[0])
            else:
                likeness = np.einsum("rk,rpk->rp", np.broadcast_to(own, (len(mixed), own.shape[1])), mixed)
            return np.asarray(shares[np.argmax(np.round(likeness, 14), axis=1)])

        width = held.shape[1] * (points if len(down) > 1 else 1) + points
        found.append(_where_apart(_in_parts(best, max(len(down), len(root)), width), down, up))
    return _median_of(found)


def _where_apart(shares: Floats, down: Floats, up: Floats) -> Floats:
    """Shares, nan where both classes have the same histogram."""
    return np.where((down == up).all(axis=1), np.nan, shares)


def _median_of(found: Sequence[Floats]) -> Floats:
    """Median over the numbers of bins that tell the classes apart; nan where none does."""
    stacked = np.stack(np.broadcast_arrays(*found))
    none = np.isnan(stacked).all(axis=0)
    medians: Floats = (
        np.nanmedian(np.where(none, 0.0, stacked), axis=0) if np.isnan(stacked).any() else np.median(stacked, axis=0)
    )
    return np.where(none, np.nan, medians)


def _histograms(validation: Validation, target: Samples, bins: Sequence[int]) -> Any:
    """Shares of negatives, positives and target in equal bins of the scores' range, for each number of bins."""
    low, high = validation.range
    if isinstance(bins, int | float | str) or not len(bins):
        raise InputError(f"bins is {bins!r}, expected a list of numbers of bins such as [10, 20].")
    for b in bins:
        edges = np.linspace(low, high, checked_number(b, "bins", 2) + 1)
        edges[-1] = np.inf
        yield validation.negative.within(edges), validation.positive.within(edges), target.within(edges)


def _topsoe_slope(mixed: Floats, held: Floats) -> Floats:
    """How Topsøe's distance changes with the mixture, for each bin."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mixed > 0.0, np.log(2.0 * mixed / (mixed + held)), -np.inf)


def _hellinger_slope(mixed: Floats, held: Floats) -> Floats:
    """The same for the squared Hellinger distance, up to a factor and what adds up to nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.sqrt(np.where(held > 0.0, held / mixed, 0.0))


_SLOPES = {"topsoe": _topsoe_slope, "hellinger": _hellinger_slope}

#: Numbers of bins over which DyS takes the median.
_DYS_BINS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 30)


@_method("dys", "DyS", r"\hat\pi = \mathrm{median}_b \arg\min_\pi D(\pi h^+_b + (1-\pi) h^-_b, h_b)",
         "As HDy with Topsøe's distance and a search without a grid; median over 2 to 30 bins.",
         "Maletzke, dos Reis, Cherman & Batista (2019), AAAI.")  # fmt: skip
def _dys(
    validation: Validation, target: Samples, *, bins: Sequence[int] = _DYS_BINS, distance: str = "topsoe"
) -> Floats:
    slope_of = choose("distance", distance, _SLOPES)
    return _median_of([
        _where_apart(_nearest(slope_of, down, up, held), down, up)
        for down, up, held in _histograms(validation, target, bins)
    ])  # fmt: skip


#: Halvings of [0, 1] that leave less than 1e-8.
_HALVINGS = 27


def _nearest(slope_of: Callable[[Floats, Floats], Floats], down: Floats, up: Floats, held: Floats) -> Floats:
    """The share whose mixture of histograms is nearest to the target's: where a convex distance stops falling."""
    gap = up - down

    def best(part: slice) -> Floats:
        own_gap, own_down, own = _line(gap, part), _line(down, part), _line(held, part)
        lines = part.stop - part.start
        low, high = np.zeros(lines), np.ones(lines)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            slopes = slope_of(own_down + middle[:, None] * own_gap, own)
            with np.errstate(invalid="ignore"):
                falling = np.where(own_gap == 0.0, 0.0, own_gap * slopes).sum(axis=1) < 0.0
            low, high = np.where(falling, middle, low), np.where(falling, high, middle)
        # A distance that never falls is least at 0, one that always falls at 1.
        return np.where(low == 0.0, 0.0, np.where(high == 1.0, 1.0, (low + high) / 2.0))

    return _in_parts(best, max(len(down), len(held)), held.shape[1])


@_method("sord", "SORD", r"\hat\pi = \arg\min_\pi \int |\pi F^+ + (1-\pi) F^- - F| ds",
         "The mixture nearest to the target by the area between the cumulative curves, without bins.",
         "Maletzke, dos Reis, Cherman & Batista (2019), AAAI.")  # fmt: skip
def _sord(validation: Validation, target: Samples) -> Floats:
    sides = (validation.negative, validation.positive, target)
    grid = np.unique(np.concatenate([side.scores for side in sides]).astype(np.float64))
    places = [np.searchsorted(grid, side.scores.astype(np.float64)) for side in sides]
    gaps = np.diff(grid)

    def best(part: slice) -> Floats:
        down, up, all_of = (
            np.cumsum(_some(side, part).on(place, len(grid)), axis=1)[:, :-1]
            for side, place in zip(sides, places, strict=True)
        )
        return _weighted_median(all_of - down, up - down, gaps)

    return _in_parts(best, max(map(len, sides)), len(grid))


def _weighted_median(a: Floats, b: Floats, weight: Floats) -> Floats:
    """The share in [0, 1] that minimises Σ w |a - share·b| on each line: a weighted median of a/b."""
    a, b = np.broadcast_arrays(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(b != 0.0, a / b, 0.0)
    pull = weight * np.abs(b)
    order = np.argsort(turn, axis=1)
    pull, turn = np.take_along_axis(pull, order, axis=1), np.take_along_axis(turn, order, axis=1)
    so_far = np.cumsum(pull, axis=1)
    half = so_far[:, -1:] / 2.0
    middle = np.argmax(so_far >= half, axis=1) if turn.shape[1] else np.zeros(len(turn), dtype=np.int64)
    if not turn.shape[1]:
        return np.full(len(turn), np.nan)
    picked = turn[np.arange(len(turn)), middle]
    return np.where(so_far[:, -1] > 0.0, _cut(picked), np.nan)


@_method("energy", "Energy distance",
         r"\hat\pi = \frac{E|T-X^-| - E|T-X^+| + E|X^+-X^-| - E|X^--X^{-\prime}|}{2E|X^+-X^-| - E|X^+-X^{+\prime}| - E|X^--X^{-\prime}|}",
         "The mixture nearest to the target by energy distance, in closed form.",
         "Kawakubo, du Plessis & Sugiyama (2016), IEICE Trans.; Castaño et al. (2024).", aliases=("ed", "edy"))  # fmt: skip
def _energy(validation: Validation, target: Samples) -> Floats:
    down, up = validation.negative, validation.positive
    to_down, to_up = _distances_to(down, target.scores), _distances_to(up, target.scores)
    within_down, within_up = down.mean(_distances_to(down, down.scores)), up.mean(_distances_to(up, up.scores))
    between = up.mean(_distances_to(down, up.scores))
    apart = 2.0 * between - within_up - within_down
    gap = target.mean(_flat(to_down)) - target.mean(_flat(to_up)) + between - within_down
    with np.errstate(divide="ignore", invalid="ignore"):
        return _cut(np.where(apart > 0.0, gap / apart, np.nan))


def _distances_to(side: Samples, scores: Scores) -> Floats:
    """Mean distance of each score to the rows of a class, one line per resample."""
    x, s = side.scores.astype(np.float64), np.asarray(scores, dtype=np.float64)
    mass = np.ones((1, len(x))) if side.mass is None else side.mass
    below = np.zeros((len(mass), len(x) + 1))
    np.cumsum(mass, axis=1, out=below[:, 1:])
    moved = np.zeros_like(below)
    np.cumsum(mass * x, axis=1, out=moved[:, 1:])
    place = np.searchsorted(x, s, "right")
    share, part = below[:, place] / side.totals[:, None], moved[:, place] / side.totals[:, None]
    mean = moved[:, -1:] / side.totals[:, None]
    found: Floats = s * (2.0 * share - 1.0) + mean - 2.0 * part
    return found


def _kde_densities(validation: Validation, target: Samples, *, bandwidth: float = 0.1) -> tuple[Floats, Floats]:
    up, down = Kernels.on_simplex(validation, bandwidth).at(target.scores)
    return up + FAINT, down + FAINT


@_method("kde", "KDE maximum likelihood", r"\hat\pi = \arg\max_\pi \prod_i (\pi \hat f^+(s_i) + (1-\pi) \hat f^-(s_i))",
         "The most likely mixture of Gaussian kernel densities of the classes' probabilities.",
         "Moreo, González & del Coz (2025), Mach. Learn. 114.", probabilities=True,
         aliases=("kde_ml", "kdey"), densities=_kde_densities)  # fmt: skip
def _kde(validation: Validation, target: Samples, *, bandwidth: float = 0.1) -> Floats:
    if len(validation.positive) == 1:
        return _most_likely(*_kde_densities(validation, target, bandwidth=bandwidth), target)

    def best(part: slice) -> Floats:
        own = _some(target, part)
        some = replace(validation, negative=_some(validation.negative, part), positive=_some(validation.positive, part))
        return _most_likely(*_kde_densities(some, own, bandwidth=bandwidth), own)

    return _in_parts(best, len(validation.positive), len(target.scores))


def bayes_densities(
    validation: Validation, target: Samples, *, density: str = "bins", bins: int | None = None,
    bandwidth: float | None = None, monotone: bool = False,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Densities of both classes at the target's scores, the way Bayesian Calibration was asked to estimate them."""
    if density == "kde":
        if monotone:
            raise InputError("monotone=True goes with density='bins'.")
        up, down = Kernels.on_line(validation, bandwidth).at(target.scores)
        return up + FAINT, down + FAINT
    if density != "bins":
        raise InputError(f"density={density!r} is not known; choose 'bins' or 'kde'.")
    return Binned.of(validation, adaptive_edges(validation, bins), monotone=monotone).at(target.scores)


@_method("bayes", "Bayesian Calibration", r"\hat\pi = \arg\max_\pi \prod_i (\pi f^+(s_i) + (1-\pi) f^-(s_i))",
         "The most likely mixture of the classes' score densities, for any scores; gives calibrated posteriors too.",
         "Puts & Daas (2021), arXiv:2102.08659.", aliases=("bayesian_calibration",),
         densities=bayes_densities)  # fmt: skip
def _bayes(
    validation: Validation, target: Samples, *, density: str = "bins", bins: int | None = None,
    bandwidth: float | None = None, monotone: bool = False,
) -> Floats:  # fmt: skip
    if density != "bins":
        return _most_likely(
            *bayes_densities(validation, target, density=density, bandwidth=bandwidth, monotone=monotone), target
        )
    edges = adaptive_edges(validation, bins)
    binned = Binned.of(validation, edges, monotone=monotone)
    return most_likely(*contrast(binned.positive, binned.negative), target.within(edges))
