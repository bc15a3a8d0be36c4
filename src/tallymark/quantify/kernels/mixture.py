"""Maximum likelihood of the weight of a two-component mixture with known densities."""

from __future__ import annotations

import numpy as np

from tallymark._check import Floats

#: Steps of a search that halves at worst; doubles have no more bits.
_STEPS = 80

#: A share is found when a step no longer moves it by this much.
_CLOSE = 1e-10

#: Relative differences of densities below this are rounding.
_SAME = 1e-12

#: Shares nearer to 0 or 1 than this may belong there.
_NEAR_END = 1e-6

#: Rows worked on at a time, so that they stay in a core's cache.
_BLOCK = 2**15


def contrast(up: Floats, down: Floats) -> tuple[Floats, Floats]:
    """Densities as (up - down) and down, each over the larger of the two; (0, 1) where both are 0.

    A row that neither class can explain then says nothing, and no density is too small to be divided by.
    """
    largest = np.maximum(up, down)
    positive = largest > 0.0
    scale = np.where(positive, largest, 1.0)
    return np.where(positive, (up - down) / scale, 0.0), np.where(positive, down / scale, 1.0)


def most_likely(gap: Floats, base: Floats, mass: Floats | None = None, start: float = 0.5) -> Floats:
    r"""The :math:`\pi` that maximises :math:`\sum_i m_i \ln(\pi u_i + (1-\pi) d_i)` for each line of :func:`contrast`.

    The sum is concave, so its slope has one zero, or none and the best share is 0 or 1. Newton's method, halving
    whenever it would leave the bracket, from `start`. nan where both classes are equally likely in every row.
    """
    lines = max(len(gap), len(mass) if mass is not None else 1)
    low, high = np.zeros(lines), np.ones(lines)
    share = np.full(lines, start)
    settled = np.zeros(lines, dtype=np.bool_)
    for _ in range(_STEPS):
        first, second = _slope(share, gap, base, mass)
        low, high = np.where(first >= 0.0, share, low), np.where(first <= 0.0, share, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = share + first / second
        # Newton's step, or half the way to the end it would cross.
        moved = np.where(step <= low, (share + low) / 2.0, np.where(step >= high, (share + high) / 2.0, step))
        moved = np.where(settled | (first == 0.0) | np.isnan(moved), share, moved)
        settled |= np.abs(moved - share) < _CLOSE
        share = moved
        if settled.all():
            break
    # A sum that still falls at 0 or still rises at 1 has its best share there.
    if (near := (share < _NEAR_END) | (share > 1.0 - _NEAR_END)).any():
        end = np.where(share < 0.5, 0.0, 1.0)
        first, _ = _slope(end, gap, base, mass)
        beyond = near & np.where(end == 0.0, first <= 0.0, first >= 0.0)
        share = np.where(beyond, end, share)
    # Densities that are the same everywhere say nothing.
    apart = np.abs(gap) > _SAME
    identified = (apart if mass is None else apart & (mass > 0.0)).any(axis=1)
    return np.where(identified, share, np.nan)


def _slope(share: Floats, gap: Floats, base: Floats, mass: Floats | None) -> tuple[Floats, Floats]:
    """First derivative of the log-likelihood and minus the second, at one share for each line.

    At a share of 0 or 1 a density that vanishes there, or nearly, makes them infinite: all with one sign.
    """
    first, second = np.zeros(len(share)), np.zeros(len(share))
    with np.errstate(divide="ignore", over="ignore"):
        for start in range(0, gap.shape[1], _BLOCK):
            part = slice(start, start + _BLOCK)
            term = share[:, None] * gap[:, part]
            term += base[:, part]
            np.divide(gap[:, part], term, out=term)
            if mass is None:
                first += term.sum(axis=1)
                second += np.einsum("rk,rk->r", term, term)
                continue
            # A row without mass says nothing, even where its density vanishes.
            term = np.where(mass[:, part] > 0.0, term, 0.0)
            weighted = term * mass[:, part]
            first += weighted.sum(axis=1)
            second += np.einsum("rk,rk->r", weighted, term)
    return first, second


def log_likelihood(share: Floats, up: Floats, down: Floats, mass: Floats | None = None) -> Floats:
    """Log-likelihood of one sample at many shares, up to a constant."""
    largest = np.maximum(up, down)
    positive = largest > 0.0
    up, down = up[positive] / largest[positive], down[positive] / largest[positive]
    weight = np.ones(len(up)) if mass is None else mass[positive]
    values = np.zeros(len(share))
    for i, p in enumerate(share):
        with np.errstate(divide="ignore"):
            terms = np.log(p * up + (1.0 - p) * down)
        values[i] = np.sum(np.where(weight > 0.0, weight * terms, 0.0))
    return values
