r"""One-slack cutting planes: minimise :math:`\frac12\|w\|^2 + C\,\xi(w)` with :math:`\xi` the largest of many planes.

Each step adds the plane that is highest at a query point and solves the dual problem of the planes so far. The query
point lies half way between the best point so far and that solution, which takes about half as many steps as the
solution. Joachims, Finley & Yu (2009), Mach. Learn. 77.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats

#: From w to the plane (its slope g and height d) with the largest d − w·g.
Oracle = Callable[[Floats], tuple[Floats, float]]

#: Planes kept; beyond that those without weight are dropped, except the newest.
_PLANES, _NEWEST = 200, 20

#: A gap counts as closed only if the gain over w = 0 is this many times the gap.
_GAIN = 100.0

#: A gap below this share of the tolerance is closed even without a gain: w = 0 is the solution.
_NOTHING = 1e-3


@dataclass(frozen=True)
class Solution:
    """The best w, its distance from the optimum (over C), the steps taken, and whether they converged.

    `bound` is a lower bound of the objective.
    """

    w: Floats
    gap: float
    steps: int
    converged: bool
    bound: float


def minimise(
    oracle: Oracle, start: Floats, C: float, tol: float, max_iter: int, progress: Callable[[float], None] | None = None
) -> Solution:
    """Iterate until the gap over C is at most `tol` and a hundredth of the gain over w = 0, or for `max_iter` steps."""
    # The plane of the true labels, g = 0 and d = 0, keeps the slack from being negative.
    slopes, heights = np.zeros((1, len(start))), np.zeros(1)
    products = np.zeros((1, 1))
    weights = np.array([C])
    best_w, best = start, np.inf
    at_zero = C * oracle(np.zeros_like(start))[1]
    point, dual, gap, first_gap = start, 0.0, np.inf, None
    for step in range(1, max_iter + 1):
        slope, height = oracle(point)
        value = 0.5 * float(point @ point) + C * max(height - float(point @ slope), 0.0)
        if value < best:
            best_w, best = point, value
        products = np.pad(products, (0, 1))
        slopes, heights = np.vstack((slopes, slope)), np.append(heights, height)
        products[-1] = products[:, -1] = slopes @ slope
        weights = dual_optimum(products, heights, C, np.append(weights, 0.0))
        solution = weights @ slopes
        reached = float(heights @ weights) - 0.5 * float(solution @ solution)
        stalled, dual = reached <= dual * (1.0 + 1e-12), max(dual, reached)
        gap = (best - dual) / C
        if gap <= tol and (gap * _GAIN * C <= at_zero - best or gap <= _NOTHING * tol):
            return Solution(best_w, max(gap, 0.0), step, converged=True, bound=dual)
        if progress is not None:
            first_gap = gap if first_gap is None else first_gap
            progress(100.0 * min(max(np.log(first_gap / gap) / np.log(max(first_gap / tol, np.e)), 0.0), 1.0))
        # A plane that does not cut off the dual's solution adds nothing: query that solution next.
        point = solution if stalled else 0.5 * (best_w + solution)
        if len(heights) > _PLANES:
            keep = weights > 0.0
            keep[0] = keep[-_NEWEST:] = True
            slopes, heights, weights = slopes[keep], heights[keep], weights[keep]
            products = products[np.ix_(keep, keep)]
    return Solution(best_w, max(gap, 0.0), max_iter, converged=False, bound=dual)


#: Maximum of steps of the dual, per plane.
_ROUNDS = 50


def dual_optimum(products: Floats, heights: Floats, C: float, start: Floats) -> Floats:
    r"""Active-set solution of :math:`\max d\alpha - \frac12\alpha'G\alpha` with :math:`\alpha \ge 0, \sum\alpha = C`.

    Starts from feasible weights; each round solves for the active planes exactly and adds the one with the largest
    gain.
    """
    weights = start.copy()
    active = weights > 0.0
    scale = max(float(np.mean(np.diag(products))), np.finfo(np.float64).tiny)
    for _ in range(_ROUNDS * len(weights)):
        used = np.flatnonzero(active)
        system = np.ones((len(used) + 1, len(used) + 1))
        system[:-1, :-1] = products[np.ix_(used, used)]
        # Repeated planes make the system singular.
        system[np.arange(len(used)), np.arange(len(used))] += 1e-11 * scale
        system[-1, -1] = 0.0
        solved = np.linalg.solve(system, np.append(heights[used], C))
        target, level = solved[:-1], float(solved[-1])
        if (target < 0.0).any():
            now = weights[used]
            falling = target < 0.0
            ratio = now[falling] / (now[falling] - target[falling])
            step = float(ratio.min())
            weights[used] = np.maximum(now + step * (target - now), 0.0)
            dropped = used[falling][ratio <= step]
            weights[dropped], active[dropped] = 0.0, False
            continue
        weights[used] = target
        gains = heights - products @ weights - level
        gains[active] = -np.inf
        best = int(np.argmax(gains))
        if gains[best] <= 1e-12 * max(1.0, abs(level)):
            break
        active[best] = True
    return weights
