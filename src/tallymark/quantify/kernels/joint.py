r"""Joint maximum likelihood of the target's prevalences and the classes' distributions over cells.

With v the labelled rows of each class in each cell and t the target's rows in each cell,

.. math:: L(\pi, f) = \sum_k \sum_c v_{kc} \ln f_{kc} + \sum_c t_c \ln \sum_k \pi_k f_{kc}

is maximised over the prevalences and the shares f alike. To take the shares as the labelled rows have them would treat
their noise as known: estimates of common classes then come out too low, the more so the more cells there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats

#: Rows spread over the cells of each class, so that no cell is impossible for it.
PSEUDO_ROWS = 0.5

#: Rounds of expectation maximisation at most (a class on its way to 0 can need thousands), and the move of a prevalence
#: below which a line has settled: for an estimate, and on the way to a limit.
_ROUNDS, CLOSE, CLOSE_ENOUGH = 5_000, 1e-11, 1e-6

#: Halvings of a stretch that holds a limit.
_HALVINGS = 18


@dataclass(frozen=True, eq=False)
class JointFit:
    """Most likely prevalences (lines, classes), shares of cells (lines, classes, cells) and their log-likelihood."""

    prevalences: Floats
    shares: Floats
    likelihood: Floats


def smoothed(rows: Floats) -> Floats:
    """Rows of each class by cell with half a row more, spread over the cells."""
    values: Floats = rows + PSEUDO_ROWS / rows.shape[-1]
    return values


def without_residue(prevalences: Floats, rows: Any) -> Floats:
    """Prevalences of (lines, classes) in which a class that less than a thousandth of a row is left of has none.

    Expectation maximisation comes ever nearer to a prevalence of 0 and never reaches it.
    """
    kept = np.where(prevalences * rows < _RESIDUE, 0.0, prevalences)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


#: Rows of a class below which a prevalence is 0.
_RESIDUE = 1e-3


def fit_jointly(
    labelled: Floats,
    target: Floats,
    fixed_at: Floats | None = None,
    start: JointFit | None = None,
    close: float = CLOSE,
) -> JointFit:
    """The most likely prevalences and shares of each line.

    `labelled` are rows by (line, class, cell), smoothed, `target` the target's by (line, cell). `fixed_at` fixes
    prevalences, by (line, class), where it is not nan. Expectation maximisation, two steps at a time extrapolated
    (SQUAREM, Varadhan & Roland 2008, Scand. J. Stat. 35) wherever that does not lower the likelihood.
    """
    lines, classes = max(len(labelled), len(target), 0 if fixed_at is None else len(fixed_at)), labelled.shape[1]
    labelled, target = (np.broadcast_to(part, (lines, *part.shape[1:])) for part in (labelled, target))
    if start is None:
        pi = np.full((lines, classes), 1.0 / classes)
        f = labelled / labelled.sum(axis=2, keepdims=True)
    else:
        pi, f = (np.broadcast_to(part, (lines, *part.shape[1:])) for part in (start.prevalences, start.shares))
    if fixed_at is not None:
        pi = _with_fixed(pi, fixed_at)
    pi, f = np.array(pi), np.array(f)
    # A line that has settled is left alone, so that it ends the same alone and among others.
    active = np.arange(lines)
    for _ in range(_ROUNDS):
        part_labelled, part_target, part_fixed = (
            labelled[active],
            target[active],
            None if fixed_at is None else fixed_at[active],
        )
        before = pi[active], f[active]
        one = _step(*before, part_labelled, part_target, part_fixed)
        two = _step(*one, part_labelled, part_target, part_fixed)
        tried = _extrapolated(before, one, two)
        better = _likelihood(*tried, part_labelled, part_target) > _likelihood(*two, part_labelled, part_target)
        pi[active], f[active] = (np.where(_wide(better, b), a, b) for a, b in zip(tried, two, strict=True))
        active = active[np.abs(one[0] - before[0]).max(axis=1) + np.abs(one[1] - before[1]).max(axis=(1, 2)) > close]
        if not len(active):
            break
    return JointFit(pi, f, _likelihood(pi, f, labelled, target))


def _wide(flags: Any, like: Floats) -> Any:
    return flags.reshape((-1,) + (1,) * (like.ndim - 1))


def _mixed(pi: Floats, f: Floats) -> Floats:
    sums: Floats = np.einsum("lk,lkc->lc", pi, f)
    return sums


def _step(pi: Floats, f: Floats, labelled: Floats, target: Floats, fixed_at: Floats | None) -> tuple[Floats, Floats]:
    """One step of expectation maximisation."""
    mixed = _mixed(pi, f)
    rate = np.divide(target, mixed, out=np.zeros_like(mixed), where=mixed > 0.0)
    assigned = pi[:, :, None] * f * rate[:, None, :]
    by_class = assigned.sum(axis=2)
    rows = labelled + assigned
    total = by_class.sum(axis=1, keepdims=True)
    moved = np.divide(by_class, total, out=np.array(np.broadcast_to(pi, by_class.shape)), where=total > 0.0)
    return (moved if fixed_at is None else _with_fixed(moved, fixed_at)), rows / rows.sum(axis=2, keepdims=True)


def _with_fixed(pi: Floats, fixed_at: Floats) -> Floats:
    """Prevalences with some of them fixed, the others in proportion."""
    fixed = ~np.isnan(fixed_at)
    free = np.where(fixed, 0.0, pi)
    total = free.sum(axis=1, keepdims=True)
    count = np.maximum((~fixed).sum(axis=1, keepdims=True), 1)
    share = np.divide(free, total, out=np.where(fixed, 0.0, 1.0 / count), where=total > 0.0)
    rest = 1.0 - np.where(fixed, fixed_at, 0.0).sum(axis=1, keepdims=True)
    return np.where(fixed, fixed_at, share * np.maximum(rest, 0.0))


def _extrapolated(
    start: tuple[Floats, Floats], one: tuple[Floats, Floats], two: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """A longer step in the direction of two, as far as it stays inside."""
    r = [b - a for a, b in zip(start, one, strict=True)]
    v = [c - b - step for b, c, step in zip(one, two, r, strict=True)]
    norms = [np.sqrt(sum((part**2).reshape(len(part), -1).sum(axis=1) for part in parts)) for parts in (r, v)]
    alpha = -np.maximum(np.divide(norms[0], norms[1], out=np.ones_like(norms[0]), where=norms[1] > 0.0), 1.0)
    items = [
        a - 2.0 * _wide(alpha, a) * step + _wide(alpha, a) ** 2 * bend
        for a, step, bend in zip(start, r, v, strict=True)
    ]
    inside = np.ones(len(alpha), dtype=np.bool_)
    for part in items:
        inside &= (part >= 0.0).reshape(len(part), -1).all(axis=1)
    pi, f = (np.where(_wide(inside, b), a, b) for a, b in zip(items, two, strict=True))
    return pi / pi.sum(axis=1, keepdims=True), f / f.sum(axis=2, keepdims=True)


def _likelihood(pi: Floats, f: Floats, labelled: Floats, target: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        of_target = np.where(target > 0.0, target * np.log(_mixed(pi, f)), 0.0).sum(axis=1)
        values: Floats = of_target + (labelled * np.log(f)).sum(axis=(1, 2))
    return np.where(np.isnan(values), -np.inf, values)


def profile_limits(labelled: Floats, target: Floats, best: JointFit, level: float) -> tuple[Floats, Floats]:
    r"""Limits of each class's prevalence: those within :math:`\chi^2_1` of the most likely one, all else fitted anew.

    One line only. Limits of all classes are sought at once, on both sides.
    """
    from scipy.special import chdtri

    allowed = float(chdtri(1, 1.0 - level)) / 2.0
    top, classes = float(best.likelihood[0]), labelled.shape[1]
    estimate = np.tile(best.prevalences[0], 2)
    ends = np.repeat([0.0, 1.0], classes)
    which = np.tile(np.arange(classes), 2)
    # A class that has died out can hardly come back by small steps, so none starts from nothing.
    start = JointFit(0.99 * best.prevalences + 0.01 / classes, best.shares, best.likelihood)

    def inside(values: Floats) -> Any:
        fixed_at = np.full((len(values), classes), np.nan)
        fixed_at[np.arange(len(values)), which] = values
        return top - fit_jointly(labelled, target, fixed_at, start, CLOSE_ENOUGH).likelihood <= allowed

    return _edges(inside, estimate, ends)


def _edges(inside: Callable[[Floats], Any], start: Floats, ends: Floats) -> tuple[Floats, Floats]:
    """Where stretches that hold `start` end on the way to `ends`; lower and upper ones."""
    reached = inside(ends) | (start == ends)
    near, far = start.copy(), ends.copy()
    for _ in range(_HALVINGS):
        middle = (near + far) / 2.0
        within = inside(middle)
        near, far = np.where(within, middle, near), np.where(within, far, middle)
    values = np.where(reached, ends, (near + far) / 2.0)
    half = len(values) // 2
    return values[:half], values[half:]


def region_holds(labelled: Floats, target: Floats, best: JointFit, prevalences: Floats, level: float) -> bool:
    r"""Whether prevalences of all classes lie in the joint region: within :math:`\chi^2_{K-1}` of the
    most likely ones.
    """
    from scipy.special import chdtri

    allowed = float(chdtri(labelled.shape[1] - 1, 1.0 - level)) / 2.0
    fitted = fit_jointly(labelled, target, prevalences[None, :], best)
    return bool(float(best.likelihood[0]) - float(fitted.likelihood[0]) <= allowed)
