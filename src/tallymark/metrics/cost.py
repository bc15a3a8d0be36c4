"""Metrics averaged over the costs of errors: H-measure and area under the cost curve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark.errors import InputError, Undefined
from tallymark.metrics.declare import metric
from tallymark.metrics.hull import roc_hull
from tallymark.summaries.tally import Tally


@metric(
    title="H-measure", family="ranking", needs="tally", low=0.0, high=1.0, better="higher", chance=0.0,
    rank_only=True, bound="order", aliases=("h",), holds_from=(50, 50),
    formula=r"1 - \frac{\int L(c)\,u(c)\,dc}{\int L_0(c)\,u(c)\,dc}",
    meaning="Share of the misclassification loss saved, averaged over costs that are the same for every model.",
    reference="Hand (2009), Mach. Learn. 77(1); Hand & Anagnostopoulos (2014), Pattern Recognit. Lett. 40.",
)  # fmt: skip
def h_measure(tally: Tally, *, severity_ratio: float | None = None) -> float:
    r"""H-measure, :math:`1 - \int L(c)u(c)dc / \int L_0(c)u(c)dc`, any real scores.

    :math:`L(c)` is the minimum of :math:`c\pi_0\,\mathrm{fpr} + (1-c)\pi_1\,\mathrm{fnr}` over all thresholds,
    :math:`L_0` that of the better constant classifier, u the distribution of costs.

    Parameters
    ----------
    tally : Tally
        Labelled scores.
    severity_ratio : float, optional
        Cost of a false positive over that of a false negative, r; u is then Beta(2, 1+1/r), of mode r/(1+r). r = 1 is
        the Beta(2, 2) of Hand (2009), r = π₁/π₀ the default of R's hmeasure. By default u is Beta(1+π₁, 1+π₀) (Hand &
        Anagnostopoulos 2014).

    Returns
    -------
    float

    Examples
    --------
    >>> import tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(tm.metrics.h_measure(t, severity_ratio=1), 4)
    0.5
    """
    hull = roc_hull(tally)
    return h_at_corners(tally.prevalence, hull.fpr, hull.tpr, severity_ratio)


def h_at_corners(prevalence: float, fpr: Floats, tpr: Floats, severity_ratio: float | None = None) -> float:
    """The H-measure of a hull with these corners."""
    constant = constant_loss(prevalence, severity_ratio)
    if not constant > 0.0:
        raise Undefined("h_measure: one class is too small a share of all rows to be distinguished from 0")
    prices = h_prices(prevalence, fpr, tpr, severity_ratio)
    return min(1.0, max(0.0, 1.0 - _loss(fpr, tpr, prices) / constant))


class Prices(NamedTuple):
    """Cost of a unit of fpr and of fnr at each corner of a hull, over the cost ratios for which it is optimal."""

    of_fpr: Floats
    of_fnr: Floats


def _loss(fpr: Floats, tpr: Floats, prices: Prices) -> float:
    """Expected minimum loss, for hull corners from (0, 0) to (1, 1)."""
    return float(np.sum(prices.of_fpr * fpr) + np.sum(prices.of_fnr * (1.0 - tpr)))


def h_prices(prevalence: float, fpr: Floats, tpr: Floats, severity_ratio: float | None = None) -> Prices:
    """Prices under the H-measure's Beta distribution of costs."""
    from scipy.special import betainc

    p1 = prevalence
    if severity_ratio is None:
        a, b = 1.0 + p1, 2.0 - p1
    else:
        ratio = _check.real(severity_ratio, "severity_ratio")
        if ratio <= 0.0:
            raise InputError(f"severity_ratio is {severity_ratio!r}, expected a positive number.")
        a, b = 2.0, 1.0 + 1.0 / ratio
    gain, price = p1 * np.diff(tpr), (1.0 - p1) * np.diff(fpr)
    # Corner i is optimal while c lies between the slopes of the adjacent edges; the first one for high c.
    switch = np.concatenate(([1.0], gain / (gain + price), [0.0]))
    # Integrals of c u(c) and (1 - c) u(c) up to each switch.
    with_c = betainc(a + 1.0, b, switch) * a / (a + b)
    without = betainc(a, b + 1.0, switch) * b / (a + b)
    return Prices((1.0 - p1) * -np.diff(with_c), p1 * -np.diff(without))


def constant_loss(prevalence: float, severity_ratio: float | None = None) -> float:
    """Expected minimum loss of constant classifiers under the H-measure's costs."""
    ends = np.array([0.0, 1.0])
    return _loss(ends, ends, h_prices(prevalence, ends, ends, severity_ratio))


def aucc_prices(fpr: Floats, tpr: Floats) -> Prices:
    """Prices with a uniform distribution of the probability-cost (mix of prevalence and costs)."""
    x, _ = cost_envelope(fpr, tpr)
    rising = np.diff(x**2) / 2
    return Prices(np.diff(x) - rising, rising)


def cost_envelope(fpr: Floats, tpr: Floats) -> tuple[Floats, Floats]:
    r"""Corners of the lower envelope of the cost lines: probability-cost and normalised expected cost.

    Each ROC hull corner is a line :math:`\mathrm{fnr}\,x + \mathrm{fpr}\,(1-x)`; neighbours meet at
    Δfpr / (Δfpr + Δtpr). Drummond & Holte (2006), Mach. Learn. 65(1).
    """
    across, up = np.diff(fpr), np.diff(tpr)
    x = np.concatenate(([0.0], across / (across + up), [1.0]))
    last = np.append(np.arange(len(fpr)), len(fpr) - 1)
    return x, (1.0 - tpr[last]) * x + fpr[last] * (1.0 - x)


@metric(
    title="Area under the cost curve", family="ranking", needs="tally", low=0.0, high=0.25, better="lower",
    chance=0.25, prevalence_free=True, rank_only=True, bound="order", holds_from=(50, 50),
    formula=r"\int_0^1 \min_t \left[\mathrm{fnr}(t)\,x + \mathrm{fpr}(t)(1-x)\right] dx",
    meaning="Mean normalised cost at the best threshold for each mix of prevalence and costs, all mixes alike.",
    reference="Drummond & Holte (2006), Mach. Learn. 65(1).",
)  # fmt: skip
def aucc(tally: Tally) -> float:
    r"""Area under the lower envelope of the cost curve, :math:`\int_0^1\min_t[\mathrm{fnr}\,x+\mathrm{fpr}(1-x)]dx`.

    0 is perfect, 0.25 the value of constant classifiers. Drummond & Holte (2006).

    >>> import tallymark as tm
    >>> round(tm.metrics.aucc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.125
    """
    hull = roc_hull(tally)
    return aucc_at_corners(hull.fpr, hull.tpr)


def aucc_at_corners(fpr: Floats, tpr: Floats) -> float:
    """The area of a hull with these corners."""
    x, cost = cost_envelope(fpr, tpr)
    return float(np.trapezoid(cost, x))
