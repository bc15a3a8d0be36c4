"""Distribution matching quantifiers: HDy, DyS, SORD, energy distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tallymark._check import Floats, Scores
from tallymark._rounding import first_largest, rounding
from tallymark.errors import InputError
from tallymark.inference.interval import checked_number
from tallymark.quantify.kernels.adjusted import cut
from tallymark.quantify.kernels.batches import in_parts, squeezed, take, take_lines
from tallymark.quantify.kernels.declare import method
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import choose

#: Points of the search of HDy (QuaPy's; the paper steps by 0.01).
_HDY_POINTS = 100


@method(
    "hdy",
    "HDy",
    r"\hat\pi = \mathrm{median}_b \arg\min_\pi H(\pi h^+_b + (1-\pi) h^-_b, h_b)",
    "The mixture of class histograms nearest to the target's by Hellinger distance; median over 10 to 110 bins.",
    "González-Castro, Alaiz-Rodríguez & Alegre (2013), Inf. Sci. 218.",
    options={"bins": tuple(range(10, 111, 10)), "points": _HDY_POINTS},
)
def _hdy(
    validation: Validation,
    target: Samples,
    *,
    bins: Sequence[int],
    points: int,
) -> Floats:
    shares = np.linspace(0.0, 1.0, checked_number(points, "points", 2))
    tolerance = max(validation.rounding, rounding(target.terms))
    items = []
    for down, up, observed in _histograms(validation, target, bins):
        root = np.sqrt(observed)

        def best(part: slice, down: Floats = down, up: Floats = up, root: Floats = root) -> Floats:
            own_up, own_down = (take_lines(side, part)[:, None, :] for side in (up, down))
            mixed = np.sqrt(shares[:, None] * own_up + (1.0 - shares[:, None]) * own_down)
            # The least distance is the largest sum of root products.
            part_root = take_lines(root, part)
            if len(mixed) == 1:
                likeness = np.einsum("rk,pk->rp", part_root, mixed[0])
            else:
                likeness = np.einsum("rk,rpk->rp", np.broadcast_to(part_root, (len(mixed), part_root.shape[1])), mixed)
            return np.asarray(shares[first_largest(likeness, tolerance)])

        width = observed.shape[1] * (points if len(down) > 1 else 1) + points
        nearest = in_parts(best, max(len(down), len(root)), width)
        items.append(_where_identified(nearest, down, up, observed, validation.rounding))
    return _median_of(items)


def _where_identified(shares: Floats, down: Floats, up: Floats, observed: Floats, tolerance: float) -> Floats:
    """Shares, nan where no row of the target lies in a bin in which the classes differ: every mixture
    is then as near.
    """
    return np.where(((np.abs(down - up) > tolerance) & (observed > 0.0)).any(axis=1), shares, np.nan)


def _median_of(shares: Sequence[Floats]) -> Floats:
    """Median over the numbers of bins that tell the classes of the target apart; nan where none does."""
    stacked = np.stack(np.broadcast_arrays(*shares))
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


def _topsoe_slope(mixed: Floats, observed: Floats) -> Floats:
    """How Topsøe's distance changes with the mixture, for each bin."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mixed > 0.0, np.log(2.0 * mixed / (mixed + observed)), -np.inf)


def _hellinger_slope(mixed: Floats, observed: Floats) -> Floats:
    """Derivative of the squared Hellinger distance, up to terms constant in the mixture."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.sqrt(np.where(observed > 0.0, observed / mixed, 0.0))


_SLOPES = {"topsoe": _topsoe_slope, "hellinger": _hellinger_slope}

#: Numbers of bins over which DyS takes the median.
_DYS_BINS = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 30)


@method(
    "dys",
    "DyS",
    r"\hat\pi = \mathrm{median}_b \arg\min_\pi D(\pi h^+_b + (1-\pi) h^-_b, h_b)",
    "As HDy with Topsøe's distance and a search without a grid; median over 2 to 30 bins.",
    "Maletzke, dos Reis, Cherman & Batista (2019), AAAI.",
    options={"bins": _DYS_BINS, "distance": "topsoe"},
)
def _dys(validation: Validation, target: Samples, *, bins: Sequence[int], distance: str) -> Floats:
    slope_of = choose("distance", distance, _SLOPES)
    return _median_of(
        [
            _where_identified(_nearest(slope_of, down, up, observed), down, up, observed, validation.rounding)
            for down, up, observed in _histograms(validation, target, bins)
        ]
    )


#: Halvings of [0, 1] that leave less than 1e-10.
_HALVINGS = 34


def _nearest(slope_of: Callable[[Floats, Floats], Floats], down: Floats, up: Floats, observed: Floats) -> Floats:
    """The share whose mixture of histograms is nearest to the target's: where a convex distance stops falling."""
    gap = up - down

    def best(part: slice) -> Floats:
        part_gap, part_down, part_observed = take_lines(gap, part), take_lines(down, part), take_lines(observed, part)
        lines = part.stop - part.start
        low, high = np.zeros(lines), np.ones(lines)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            slopes = slope_of(part_down + middle[:, None] * part_gap, part_observed)
            with np.errstate(invalid="ignore"):
                falling = np.where(part_gap == 0.0, 0.0, part_gap * slopes).sum(axis=1) < 0.0
            low, high = np.where(falling, middle, low), np.where(falling, high, middle)
        # A distance that never falls is least at 0, one that always falls at 1.
        return np.where(low == 0.0, 0.0, np.where(high == 1.0, 1.0, (low + high) / 2.0))

    return in_parts(best, max(len(down), len(observed)), observed.shape[1])


@method(
    "sord",
    "SORD",
    r"\hat\pi = \arg\min_\pi \int |\pi F^+ + (1-\pi) F^- - F| ds",
    "The mixture nearest to the target by the area between the cumulative curves, without bins.",
    "Maletzke, dos Reis, Cherman & Batista (2019), AAAI.",
)
def _sord(validation: Validation, target: Samples) -> Floats:
    sides = (validation.negative, validation.positive, target)
    grid = np.unique(np.concatenate([side.scores for side in sides]).astype(np.float64))
    places = [np.searchsorted(grid, side.scores.astype(np.float64)) for side in sides]
    gaps = np.diff(grid)

    def best(part: slice) -> Floats:
        down, up, all_of = (
            np.cumsum(take(side, part).on(place, len(grid)), axis=1)[:, :-1]
            for side, place in zip(sides, places, strict=True)
        )
        return _weighted_median(all_of - down, up - down, gaps, validation.rounding)

    return in_parts(best, max(map(len, sides)), len(grid))


def _weighted_median(a: Floats, b: Floats, weight: Floats, tolerance: float) -> Floats:
    """The share in [0, 1] that minimises Σ w |a - share·b| on each line: a weighted median of a/b, the lowest of
    equals.

    Gaps b of shares that are 0 up to rounding have no say.
    """
    a, b = np.broadcast_arrays(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(np.abs(b) > tolerance, a / b, 0.0)
    pull = np.where(np.abs(b) > tolerance, weight * np.abs(b), 0.0)
    order = np.argsort(turn, axis=1)
    pull, turn = np.take_along_axis(pull, order, axis=1), np.take_along_axis(turn, order, axis=1)
    so_far = np.cumsum(pull, axis=1)
    half = so_far[:, -1:] / 2.0
    middle = (
        np.argmax(so_far >= half * (1.0 - tolerance), axis=1) if turn.shape[1] else np.zeros(len(turn), dtype=np.int64)
    )
    if not turn.shape[1]:
        return np.full(len(turn), np.nan)
    picked = turn[np.arange(len(turn)), middle]
    return np.where(so_far[:, -1] > 0.0, cut(picked), np.nan)


@method(
    "energy",
    "Energy distance",
    r"\hat\pi = \frac{E|T-X^-| - E|T-X^+| + E|X^+-X^-| - E|X^--X^{-\prime}|}{2E|X^+-X^-| - E|X^+-X^{+\prime}| - "
    r"E|X^--X^{-\prime}|}",
    "The mixture nearest to the target by energy distance, in closed form.",
    "Kawakubo, du Plessis & Sugiyama (2016), IEICE Trans.; Castaño et al. (2024).",
    aliases=("ed", "edy"),
)
def _energy(validation: Validation, target: Samples) -> Floats:
    down, up = validation.negative, validation.positive
    to_down, to_up = _distances_to(down, target.scores), _distances_to(up, target.scores)
    within_down, within_up = down.mean(_distances_to(down, down.scores)), up.mean(_distances_to(up, up.scores))
    between = up.mean(_distances_to(down, up.scores))
    apart = 2.0 * between - within_up - within_down
    gap = target.mean(squeezed(to_down)) - target.mean(squeezed(to_up)) + between - within_down
    with np.errstate(divide="ignore", invalid="ignore"):
        return cut(np.where(apart > validation.rounding * between, gap / apart, np.nan))


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
    values: Floats = s * (2.0 * share - 1.0) + mean - 2.0 * part
    return values
