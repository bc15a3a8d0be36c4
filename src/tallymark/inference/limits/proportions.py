"""Confidence intervals of a proportion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError
from tallymark.inference.interval import Interval, checked_level
from tallymark.inference.scales import critical_value
from tallymark.registry import choose

ProportionMethod = Literal["mid_p", "wilson", "clopper_pearson", "jeffreys", "agresti_coull"]
Ends = tuple[Floats, Floats]


def _wilson(k: Floats, n: Floats, level: float) -> Ends:
    z2 = critical_value(level) ** 2
    middle = (k + z2 / 2) / (n + z2)
    reach = np.sqrt(z2) / (n + z2) * np.sqrt(k * (n - k) / n + z2 / 4)
    # At 0 and n the formula gives 0 and 1 up to rounding.
    return np.where(k == 0, 0.0, middle - reach), np.where(k == n, 1.0, middle + reach)


def _agresti_coull(k: Floats, n: Floats, level: float) -> Ends:
    z2 = critical_value(level) ** 2
    middle = (k + z2 / 2) / (n + z2)
    reach = np.sqrt(z2 * middle * (1.0 - middle) / (n + z2))
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def _clopper_pearson(k: Floats, n: Floats, level: float) -> Ends:
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2
    low = betaincinv(np.maximum(k, 1e-300), n - k + 1.0, tail)
    high = betaincinv(k + 1.0, np.maximum(n - k, 1e-300), 1.0 - tail)
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


def _jeffreys(k: Floats, n: Floats, level: float) -> Ends:
    from scipy.special import betaincinv

    tail = (1.0 - level) / 2
    low, high = (betaincinv(k + 0.5, n - k + 0.5, share) for share in (tail, 1.0 - tail))
    return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)


#: Bisections that leave a limit exact to the last digits of a float near 1.
_HALVINGS = 60


def _mid_p(k: Floats, n: Floats, level: float) -> Ends:
    tail = (1.0 - level) / 2
    return _mid_p_low(k, n, tail), 1.0 - _mid_p_low(n - k, n, tail)


def _mid_p_low(k: Floats, n: Floats, tail: float) -> Floats:
    """The share at which P(X > k) + P(X = k) / 2 is `tail`; 0 where there are no hits."""
    from scipy.special import betainc

    some = np.maximum(k, 1e-300)
    low, high = np.zeros_like(k), np.where(k > 0, k / n, 0.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # P(X >= k) and P(X > k) as incomplete beta functions, which also take effective rows that are no whole numbers.
        more = np.where(n - k > 0, betainc(some + 1.0, np.maximum(n - k, 1e-300), middle), 0.0)
        beyond = (betainc(some, n - k + 1.0, middle) + more) / 2 > tail
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.where(k > 0, (low + high) / 2, 0.0)


_METHODS: dict[str, Callable[[Floats, Floats, float], Ends]] = {
    "mid_p": _mid_p,
    "wilson": _wilson,
    "clopper_pearson": _clopper_pearson,
    "jeffreys": _jeffreys,
    "agresti_coull": _agresti_coull,
}


def limits(hits: Any, n: Any, level: float, method: str = "mid_p") -> Ends:
    """Limits of many proportions at once; nan where n is 0."""
    k, total = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    defined = total > 0
    low, high = choose("method", method, _METHODS)(np.where(defined, k, 0.0), np.where(defined, total, 1.0), level)
    return np.where(defined, low, math.nan), np.where(defined, high, math.nan)


def proportion(hits: float, n: float, *, level: float = 0.95, method: ProportionMethod = "mid_p") -> Interval:
    r"""Confidence interval of a proportion.

    Brown, Cai & DasGupta (2001), Stat. Sci. 16(2).

    Parameters
    ----------
    hits
        Number of hits.
    n
        Number of rows; with weights, the effective sample size.
    level
        Confidence level.
    method
        ``"mid_p"`` inverts the exact test with half of the probability of the observed count (Lancaster 1961; Berry &
        Armitage 1995, The Statistician 44(4)): it covers 92 % or more at 95 %, where ``"wilson"`` can fall to 83 %.
        ``"wilson"`` inverts the score test, :math:`\left(k + \frac{z^2}{2} \pm z\sqrt{\frac{k(n-k)}{n} +
        \frac{z^2}{4}}\right) / (n + z^2)`. ``"clopper_pearson"`` is exact and never covers less than the level.
        ``"jeffreys"`` takes quantiles of :math:`\mathrm{Beta}(k+\frac12, n-k+\frac12)`. ``"agresti_coull"`` is Wald's
        around Wilson's centre.

    Returns
    -------
    Interval

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.intervals.proportion(0, 20)
    0.0000 (0.0000 to 0.1391, 95 % mid_p)
    >>> tm.intervals.proportion(8, 10, method="clopper_pearson")
    0.8000 (0.4439 to 0.9748, 95 % clopper_pearson)
    """
    k, total = _check.real(hits, "hits"), _check.real(n, "n")
    if not 0.0 <= k <= total or total <= 0.0:
        raise InputError(f"hits is {hits!r} of n = {n!r}, expected 0 <= hits <= n and n > 0.")
    confidence = checked_level(level)
    low, high = limits(k, total, confidence, method)
    return Interval(k / total, float(low), float(high), method, confidence)


def effective_rate(hits: float, total: float, hit_squares: float, miss_squares: float) -> tuple[float, float]:
    r"""A weighted share as hits of an effective sample size, from the sums of squared weights of hits and misses.

    The size is the one at which a binomial has the linearised variance
    :math:`\sum w_i^2 (y_i - p)^2 / (\sum w_i)^2`; at p = 0 or 1 it is Kish's :math:`(\sum w)^2 / \sum w^2`.
    Korn & Graubard (1998), Surv. Methodol. 24(2).
    """
    k, n = effective_rates(*(np.array([value], dtype=np.float64) for value in (hits, total, hit_squares, miss_squares)))
    return float(k[0]), float(n[0])


def effective_rates(hits: Floats, total: Floats, hit_squares: Floats, miss_squares: Floats) -> Ends:
    """The same of many shares at once; 0 rows where there is no mass."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, hits / total, 0.0)
        spread = hit_squares * (1.0 - share) ** 2 + miss_squares * share**2
        inside = (share > 0.0) & (share < 1.0) & (spread > 0.0)
        n = np.where(inside, share * (1.0 - share) * total**2 / spread, total**2 / (hit_squares + miss_squares))
        n = np.where(total > 0, n, 0.0)
    return share * n, n


def kish(total: Floats, squares: Floats) -> Floats:
    """Kish's effective sample size from sums of weights and of squared weights; 0 without rows."""
    values: Floats = np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)
    return values


#: Student's limits of 95 % on f degrees of freedom are those of a variance larger by about 1 + 2.5/f; the factor is at
#: most 4.
_STUDENT, _MOST_UNSURE = 2.5, 4.0


def unsure_by(rows: Floats, effective: Floats) -> Floats:
    r"""Factor that corrects the variance of a weighted share for its few degrees of freedom.

    The variance has about :math:`f = (\sum w^2)^2 / \sum w^4` degrees of freedom. Fourth powers are not kept; of
    lognormal weights f is :math:`n_e / c^3`, with :math:`n_e` the effective rows (Kish) and :math:`c = n / n_e`. The
    factor is :math:`1 + 2.5 (c^3 - 1) / n_e`, which is 1 where all rows weigh the same.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        uneven = np.maximum((rows / effective) ** 3 - 1.0, 0.0)
        factor = 1.0 + _STUDENT * uneven / effective
    values: Floats = np.where((effective > 0.0) & (uneven > 1e-9), np.minimum(factor, _MOST_UNSURE), 1.0)
    return values


def unseen(level: float, rows: float) -> float:
    """Upper limit of the share of rows that differ, although none of `rows` did."""
    return 1.0 - math.pow((1.0 - level) / 2, 1.0 / rows)
