r"""Self-starting CUSUM control chart for an estimated reference.

A CUSUM with limits for a known mean and deviation signals far too early when both are estimated from ten periods (every
148 periods instead of every 370). Self-starting, each new period is compared with all before it: for normal period
means of :math:`n_t` rows

.. math:: T_t = \frac{x_t - \bar x_{t-1}}{s_{t-1}\sqrt{1/n_t + 1/\sum_{i<t} n_i}}

has Student's distribution, so :math:`U_t = \Phi^{-1}(F_{t-2}(T_t))` are independent standard normal numbers, and the
textbook's limits hold exactly. Hawkins (1987), The Statistician 36(4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tallymark._check import Bools, Floats
from tallymark.errors import InputError

#: Reference value k: half the shift, in standard deviations of a period's mean, that the chart detects soonest.
ALLOWANCE = 0.5

#: Nodes of the integral equation of run lengths, and runs simulated for their median.
_NODES, _RUNS = 80, 4_000

#: Mean run lengths from which the median is not simulated.
_LONG = 5_000.0

#: p-value of the reference's statistics above which its rows are taken for independent.
_NO_SIGN = 0.2

#: Periods that a reference has at least: two leave no degree of freedom to standardise the next.
FEWEST = 3


@dataclass(frozen=True, eq=False)
class ControlChart:
    """The chart of one statistic: standardised values, both cumulative sums, and where they cross the limit."""

    standardised: Floats
    up: Floats
    down: Floats
    limit: float
    signals: Bools

    def larger_sum(self, place: int) -> float:
        """The larger of both cumulative sums in a period."""
        return float(max(self.up[place], self.down[place]))


def control_chart(values: Floats, sizes: Floats, reference: int, run_length: float) -> ControlChart:
    """A self-starting two-sided CUSUM whose first `reference` periods cannot signal.

    Periods after a signal are compared with those before it, so that a shift does not become the new reference.
    """
    if reference < FEWEST:
        raise InputError(f"A reference needs {FEWEST} periods or more, here are {reference}.")
    from scipy.special import ndtri, stdtr

    limit = cusum_limit(run_length)
    number = len(values)
    standardised, up, down = np.full(number, np.nan), np.zeros(number), np.zeros(number)
    # Rows, mean and weighted sum of squares of the periods so far, and their number.
    rows, mean, squares, periods = 0.0, 0.0, 0.0, 0
    high = low = 0.0
    for t in range(number):
        if t >= reference:
            freedom = periods - 1
            error = np.sqrt(squares / freedom * (1.0 / sizes[t] + 1.0 / rows))
            gap = values[t] - mean
            if error > 0.0:
                # By the lower tail on both sides: an upper one is rounded to 1 long before.
                tail = max(float(stdtr(freedom, -abs(gap) / error)), 1e-300)
                standardised[t] = -np.sign(gap) * float(ndtri(tail))
            else:
                # No variation so far: any difference is significant.
                standardised[t] = 0.0 if gap == 0.0 else np.sign(gap) * 8.0
            high = max(0.0, high + standardised[t] - ALLOWANCE)
            low = max(0.0, low - standardised[t] - ALLOWANCE)
            up[t], down[t] = high, low
        if t < reference or max(high, low) <= limit:
            total = rows + sizes[t]
            gap = values[t] - mean
            squares += gap**2 * rows * sizes[t] / total
            mean += gap * sizes[t] / total
            rows, periods = total, periods + 1
    return ControlChart(standardised, up, down, limit, np.maximum(up, down) > limit)


def unusual(statistics: Floats, freedom: Floats, reference: int) -> Floats:
    r"""p-values of :math:`\chi^2` statistics of periods whose rows may share a random effect.

    Such an effect makes the statistic of every period larger than a :math:`\chi^2`, also in the reference. Where the
    statistics of the reference together show it, a period must also be unusual among them: logarithms of statistics
    over their degrees of freedom are taken for normal, so that a new one's distance from the reference's mean has
    Student's distribution.
    """
    from scipy.special import chdtrc, stdtr

    p = np.where(freedom > 0.0, chdtrc(np.maximum(freedom, 1.0), statistics), np.nan)
    used = np.flatnonzero((freedom > 0.0) & (statistics > 0.0) & (np.arange(len(p)) < reference))
    if len(used) < FEWEST or chdtrc(freedom[used].sum(), statistics[used].sum()) > _NO_SIGN:
        return np.asarray(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(statistics / freedom)
    # Independent rows alone would make them vary by 2 / freedom.
    variance = max(float(logs[used].var(ddof=1)), 2.0 / float(freedom[used].mean()))
    error = np.sqrt(variance * (1.0 + 1.0 / len(used)))
    return np.asarray(np.fmax(p, stdtr(len(used) - 1.0, (logs[used].mean() - logs) / error)))


@lru_cache(maxsize=64)
def cusum_limit(run_length: float) -> float:
    """Limit of a two-sided CUSUM of standard normal numbers whose average run length is `run_length` periods."""
    if not run_length >= 2.0:
        raise InputError(f"run_length is {run_length!r}, expected 2 periods or more between false alarms.")
    low, high = 0.01, 60.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if average_run_length(middle) < run_length else (low, middle)
    return (low + high) / 2.0


def average_run_length(limit: float, shift: float = 0.0) -> float:
    """Mean number of periods until a two-sided CUSUM signals, with the mean shifted by `shift` standard deviations."""
    both = [_one_sided(limit, side * shift) for side in (1.0, -1.0)]
    return 1.0 / sum(1.0 / length for length in both)


def _one_sided(limit: float, shift: float) -> float:
    """Page's integral equation by Gauss and Legendre's nodes."""
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    x, w = limit * (nodes + 1.0) / 2.0, limit * weights / 2.0
    places = np.concatenate(([0.0], x))
    density = np.exp(-((x[None, :] - places[:, None] + ALLOWANCE - shift) ** 2) / 2.0) / np.sqrt(2.0 * np.pi)
    system = np.eye(_NODES + 1)
    system[:, 0] -= ndtr(ALLOWANCE - shift - places)
    system[:, 1:] -= density * w[None, :]
    return float(np.linalg.solve(system, np.ones(_NODES + 1))[0])


@lru_cache(maxsize=64)
def median_run_length(limit: float) -> float:
    """Median number of periods until a false alarm, by simulation; long run lengths are taken for exponential."""
    if (mean := average_run_length(limit)) > _LONG:
        return float(np.log(2.0) * mean)
    rng = np.random.default_rng(0)
    up, down, alive, step = np.zeros(_RUNS), np.zeros(_RUNS), np.ones(_RUNS, dtype=np.bool_), 0
    while np.count_nonzero(alive) > _RUNS // 2 and step < 10**6:
        step += 1
        z = rng.standard_normal(_RUNS)
        up, down = np.maximum(0.0, up + z - ALLOWANCE), np.maximum(0.0, down - z - ALLOWANCE)
        alive &= np.maximum(up, down) <= limit
    return float(step)
