r"""Price index formulas as functions of sums over products: a matrix product computes many product sets at once.

Every bilateral formula between two periods is a function of a few sums :math:`\sum_i m_i a_i`, where :math:`m_i` says
whether a product is in the set (or how much of it) and :math:`a_i` depends on its two prices and quantities. ILO/IMF
(2004), Consumer Price Index Manual, ch. 15 to 17.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats

#: Prices and quantities of the base and of the current period.
Terms = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, ...]]


@dataclass(frozen=True)
class Bilateral:
    """A formula between two periods: what is summed over products, and what is made of the sums."""

    title: str
    terms: Terms
    combine: Callable[..., Floats]
    #: Needs quantities.
    weighted: bool = True

    def between(self, p0: Floats, q0: Floats, p1: Floats, q1: Floats, members: Floats) -> Floats:
        """The index of every set of products (lines of `members`), from products that both periods have; nan where a
        set has none.
        """
        both = np.isfinite(p0) & np.isfinite(p1)
        prices = [np.where(both, part, 1.0) for part in (p0, p1)]
        amounts = [np.where(both, part, 0.0) for part in (q0, q1)]
        terms = self.terms(prices[0], amounts[0], prices[1], amounts[1])
        sums = [members @ np.where(both, term, 0.0) for term in terms]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.combine(*sums)
        return np.where(members @ both.astype(np.float64) > 0.0, values, np.nan)


def _ones(x: Floats) -> Floats:
    return np.ones_like(x)


JEVONS = Bilateral(
    "Jevons", lambda p0, _, p1, __: (np.log(p1 / p0), _ones(p0)), lambda s, n: np.exp(s / n), weighted=False
)
DUTOT = Bilateral("Dutot", lambda p0, _, p1, __: (p1, p0), lambda a, b: a / b, weighted=False)
CARLI = Bilateral("Carli", lambda p0, _, p1, __: (p1 / p0, _ones(p0)), lambda s, n: s / n, weighted=False)
LASPEYRES = Bilateral("Laspeyres", lambda p0, q0, p1, _: (p1 * q0, p0 * q0), lambda a, b: a / b)
PAASCHE = Bilateral("Paasche", lambda p0, _, p1, q1: (p1 * q1, p0 * q1), lambda a, b: a / b)
FISHER = Bilateral(
    "Fisher", lambda p0, q0, p1, q1: (p1 * q0, p0 * q0, p1 * q1, p0 * q1), lambda a, b, c, d: np.sqrt(a / b * (c / d))
)
TORNQVIST = Bilateral(
    "Törnqvist",
    lambda p0, q0, p1, q1: (p0 * q0 * np.log(p1 / p0), p0 * q0, p1 * q1 * np.log(p1 / p0), p1 * q1),
    lambda a, b, c, d: np.exp(0.5 * (a / b + c / d)),
)
WALSH = Bilateral("Walsh", lambda p0, q0, p1, q1: (p1 * np.sqrt(q0 * q1), p0 * np.sqrt(q0 * q1)), lambda a, b: a / b)

BILATERAL: Mapping[str, Bilateral] = {
    "jevons": JEVONS, "dutot": DUTOT, "carli": CARLI, "laspeyres": LASPEYRES, "paasche": PAASCHE, "fisher": FISHER,
    "tornqvist": TORNQVIST, "walsh": WALSH,
}  # fmt: skip

#: Multilateral formulas: each takes prices and quantities (periods × products) and sets of products, and gives levels
#: by period.
Multilateral = Callable[[Floats, Floats, Floats], Floats]


def geks(formula: Bilateral) -> Multilateral:
    r"""Gini, Éltető, Köves and Szulc: the geometric mean of all ways over a third period,
    :math:`\prod_l [P_{0l}P_{lt}]^{1/T}`.
    """

    def levels(P: Floats, Q: Floats, members: Floats) -> Floats:
        periods = len(P)
        logs = np.zeros((len(members), periods, periods))
        for a in range(periods):
            for b in range(a + 1, periods):
                logs[:, a, b] = np.log(formula.between(P[a], Q[a], P[b], Q[b], members))
                logs[:, b, a] = np.log(formula.between(P[b], Q[b], P[a], Q[a], members))
        # A pair of periods without a common product is bridged by the others.
        ways = logs[:, 0, :, None] + logs
        defined = np.isfinite(ways)
        total = np.where(defined, ways, 0.0).sum(axis=1)
        means = np.divide(total, defined.sum(axis=1), out=np.full(total.shape, np.nan), where=defined.any(axis=1))
        return np.asarray(np.exp(means - means[:, :1]))

    return levels


#: Rounds of Geary and Khamis's equations, and when they are solved.
_ROUNDS, _CLOSE = 2_000, 1e-13


def geary_khamis(P: Floats, Q: Floats, members: Floats) -> Floats:
    """Levels that deflate expenditure to quantities at average deflated prices, solved by repetition for every set."""
    priced = np.isfinite(P)
    price, amount = np.where(priced, P, 0.0), np.where(priced, Q, 0.0)
    value = price * amount
    levels = np.ones((len(members), len(P)))
    sold = amount.sum(axis=0)
    spent = members @ value.T
    for _ in range(_ROUNDS):
        reference = np.divide((1.0 / levels) @ value, sold, out=np.zeros((len(members), P.shape[1])), where=sold > 0.0)
        volume = (members * reference) @ amount.T
        with np.errstate(divide="ignore", invalid="ignore"):
            following = spent / volume
            following /= following[:, :1]
        done = np.nanmax(np.abs(following - levels), initial=0.0) < _CLOSE
        levels = np.where(np.isfinite(following), following, 1.0)
        if done:
            break
    return np.where(spent > 0.0, levels, np.nan)


def time_product_dummy(P: Floats, Q: Floats, members: Floats, *, weighted: bool = True) -> Floats:
    """Time effects of log prices on products and periods, by least squares; weighed by expenditure shares within each
    period.
    """
    sold = np.isfinite(P)
    logs = np.where(sold, np.log(np.where(sold, P, 1.0)), 0.0)
    indices = np.full((len(members), len(P)), np.nan)
    for line, member in enumerate(members):
        weights = np.where(sold, P * Q if weighted else 1.0, 0.0) * member
        weights = np.nan_to_num(weights)
        total = weights.sum(axis=1, keepdims=True)
        if weighted:
            weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
        by_product = weights.sum(axis=0)
        used = by_product > 0.0
        w, y = weights[:, used], logs[:, used]
        # Products are taken out first: what is left are the periods' equations.
        share = w / by_product[used]
        system = np.diag(w.sum(axis=1)) - share @ w.T
        right = (w * y).sum(axis=1) - share @ (w * y).sum(axis=0)
        effects = np.zeros(len(P))
        effects[1:] = np.linalg.lstsq(system[1:, 1:], right[1:], rcond=None)[0]
        indices[line] = np.where(total[:, 0] > 0.0, np.exp(effects - effects[0]), np.nan)
    return indices


MULTILATERAL: Mapping[str, Multilateral] = {
    "geks_jevons": geks(JEVONS), "geks_fisher": geks(FISHER), "geks_tornqvist": geks(TORNQVIST),
    "geary_khamis": geary_khamis, "time_product_dummy": time_product_dummy,
}  # fmt: skip

#: Formulas that need no quantities.
UNWEIGHTED = {*(name for name, made in BILATERAL.items() if not made.weighted), "geks_jevons", "time_product_dummy"}
