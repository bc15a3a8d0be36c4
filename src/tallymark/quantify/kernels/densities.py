"""Density estimates of the scores of a class: adaptive histograms and kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Scores
from tallymark.errors import InputError
from tallymark.inference.interval import checked_number
from tallymark.quantify.kernels.samples import Samples, Validation

#: Points at which a kernel density is known; between them it is a straight line.
_POINTS = 2048

#: Added to kernel densities, so that a row far from every kernel says nothing.
FAINT = 1e-12

#: Kernels are cut off so many bandwidths away.
_REACH = 8.0


def adaptive_edges(validation: Validation, most: int | None = None) -> Scores:
    """Edges of bins that hold about the same share of the two classes together, each class counting half.

    Their number is twice the cube root of the smaller class's rows, 4 to 64, unless `most` says otherwise; what lies
    beyond the outer edges belongs to the outer bins.
    """
    scores = np.concatenate((validation.negative.scores, validation.positive.scores)).astype(np.float64)
    mass = np.concatenate([_class_mass(side) / 2.0 for side in (validation.negative, validation.positive)])
    order = np.argsort(scores, kind="stable")
    scores, mass = scores[order], mass[order]
    if most is None:
        least = min(validation.negative.rows, validation.positive.rows)
        most = max(4, min(64, round(2.0 * least ** (1.0 / 3.0))))
    checked_number(most, "bins", 2)
    wanted = np.arange(1, most) / most
    # A hair less, so that a share that is just reached counts as reached whatever the rounding.
    inner = np.unique(scores[np.searchsorted(np.cumsum(mass), wanted * mass.sum() - 1e-9)])
    # A bin begins at its edge, so an edge at the lowest score would leave an empty bin below it.
    inner = inner[inner > scores[0]]
    return np.concatenate(([-math.inf], inner, [math.inf]))


def _class_mass(side: Samples) -> Floats:
    """Share of each place in the class, over all resamples."""
    if side.mass is None:
        return np.full(len(side.scores), 1.0 / len(side.scores))
    total = side.mass.sum(axis=0)
    return np.asarray(total / total.sum(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Binned:
    """Shares of each class in bins, one line per resample, never 0 where the other class is not."""

    edges: Scores
    negative: Floats
    positive: Floats

    def at(self, scores: Scores) -> tuple[Floats, Floats]:
        """Densities of the positive and the negative class at scores, one line per resample."""
        cells = np.searchsorted(self.edges[1:-1], scores, "right")
        return self.positive[:, cells], self.negative[:, cells]


def pooled(values: Floats, weights: Floats) -> Floats:
    """The nearest rising values, by pooling adjacent violators (Ayer et al. 1955)."""
    from scipy.optimize import isotonic_regression

    array: Floats = isotonic_regression(values, weights=weights).x
    return array


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gaussian kernel densities of both classes on a grid of the (transformed) score, one line per resample."""

    scale: str
    low: float
    step: float
    negative: Floats
    positive: Floats

    @classmethod
    def on_simplex(cls, validation: Validation, bandwidth: float) -> Kernels:
        """Kernels around (1 - p, p): along the line the distance is √2 times that of p."""
        width = bandwidth / math.sqrt(2.0)
        return cls._of(validation, "plain", width, width, 0.0, 1.0)

    @classmethod
    def on_line(cls, validation: Validation, bandwidth: float | None = None) -> Kernels:
        """Kernels on the logit of probabilities, on standardised scores otherwise; Silverman's width in each class."""
        scale = "logit" if validation.range == (0.0, 1.0) else "plain"
        widths, ends = [], []
        for side in (validation.negative, validation.positive):
            x, mass = _transformed(side.scores, scale), _class_mass(side)
            centre = np.sum(mass * x)
            spread = math.sqrt(float(np.sum(mass * (x - centre) ** 2)))
            inner = float(np.diff(np.interp([0.25, 0.75], np.cumsum(mass), x))[0]) / 1.349
            typical = min(spread, inner) if inner > 0.0 else spread
            least = 1e-6 * max(1.0, abs(centre))
            widths.append(max(0.9 * typical * side.rows**-0.2, least) if bandwidth is None else bandwidth)
            ends += [float(x[0]), float(x[-1])]
        return cls._of(validation, scale, widths[0], widths[1], min(ends), max(ends))

    @classmethod
    def _of(
        cls, validation: Validation, scale: str, down_width: float, up_width: float, low: float, high: float
    ) -> Kernels:
        reach = _REACH * max(down_width, up_width)
        low, high = low - reach, high + reach
        step = (high - low) / (_POINTS - 1)
        down, up = (_on_grid(side, scale, low, step) for side in (validation.negative, validation.positive))
        # Classes that only rounding tells apart have one density: what is left of it far from every row is noise.
        up = np.where((np.abs(up - down) <= validation.rounding).all(axis=1, keepdims=True), down, up)
        sides = [_smooth(mass, step, width) for mass, width in ((down, down_width), (up, up_width))]
        return cls(scale, low, step, *np.broadcast_arrays(*sides))

    def at(self, scores: Scores) -> tuple[Floats, Floats]:
        """Densities of the positive and the negative class at scores, one line per resample."""
        place = (_transformed(scores, self.scale) - self.low) / self.step
        cell = np.clip(place.astype(np.int64), 0, _POINTS - 2)
        part = np.clip(place - cell, 0.0, 1.0)
        up, down = (side[:, cell] * (1.0 - part) + side[:, cell + 1] * part for side in (self.positive, self.negative))
        return up, down


#: Logits of probabilities nearer to 0 or 1 than this are those of this.
_EDGE = 1e-6


def _transformed(scores: Any, scale: str) -> Floats:
    return logit(scores) if scale == "logit" else np.asarray(scores, dtype=np.float64)


def logit(probabilities: Any) -> Floats:
    """Log odds; the ends are taken as a millionth away."""
    p = np.clip(np.asarray(probabilities, dtype=np.float64), _EDGE, 1.0 - _EDGE)
    return np.log(p / (1.0 - p))


def _on_grid(side: Samples, scale: str, low: float, step: float) -> Floats:
    """Mass of each resample on the grid, each row shared between its two neighbours."""
    place = (_transformed(side.scores, scale) - low) / step
    cell = np.clip(place.astype(np.int64), 0, _POINTS - 2)
    part = place - cell
    mass = np.ones((1, len(place))) if side.mass is None else side.mass
    return (
        np.stack(
            [
                np.bincount(cell, line * (1.0 - part), _POINTS) + np.bincount(cell + 1, line * part, _POINTS)
                for line in mass
            ]
        )
        / side.totals[:, None]
    )


def _smooth(mass: Floats, step: float, width: float) -> Floats:
    """Masses on a grid convolved with a Gaussian of the given width."""
    from scipy.signal import fftconvolve

    if not width > 0.0:
        raise InputError(f"bandwidth is {width!r}, expected a number above 0.")
    reach = min(_POINTS - 1, math.ceil(_REACH * width / step))
    x = np.arange(-reach, reach + 1) * step / width
    kernel = np.exp(-(x**2) / 2.0) / (width * math.sqrt(2.0 * math.pi))
    return np.asarray(np.maximum(fftconvolve(mass, kernel[None, :], mode="same", axes=1), 0.0))
