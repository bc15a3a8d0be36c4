"""Correlations of label and score (Pearson, Spearman, Kendall) and discriminability indices d′."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tallymark._check import Floats
from tallymark.errors import Undefined
from tallymark.metrics.declare import GUBBELS, metric
from tallymark.metrics.ranking import auroc_of, best_informedness
from tallymark.summaries.tally import Tally, extremes


class _Spread(NamedTuple):
    gap: float
    positive: float
    negative: float


def _spread(tally: Tally) -> _Spread:
    """Difference of the class means and the two variances."""
    down, up = tally.views.scaled_moments
    if math.isnan(up.variance + down.variance) and tally.n_rows > 1:
        raise Undefined(
            "the scores are so large or so small that the moments of their cells are lost; scale them first"
        )
    return _Spread(tally.views.scaled_gap, up.variance, down.variance)


def _ratio(name: str, gap: float, spread: float) -> float:
    """Signed distance in units of spread: infinite for two different constants."""
    if spread == 0.0 and gap == 0.0:
        raise Undefined(f"{name}: all scores are equal")
    return gap / spread if spread else math.copysign(math.inf, gap)


@metric(
    title="Sample Pearson correlation (sPCC)", family="correlation", needs="tally", low=-1.0, high=1.0,
    better="higher", chance=0.0, moments=True, normal_theory=True,
    formula=r"\sqrt{\tfrac{N P}{(N+P)(N+P-1)}}\;\frac{\bar s^+ - \bar s^-}{s}",
    meaning="Correlation of the 0/1 label with the score; on hard labels it is the MCC.", reference=GUBBELS,
)  # fmt: skip
def spcc(tally: Tally) -> float:
    r"""Pearson correlation of label and score, :math:`\sqrt{\frac{NP}{(N+P)(N+P-1)}}\,\frac{\bar s^+-\bar s^-}{s}`.

    At a stated prevalence π it is
    :math:`\sqrt{\pi(1-\pi)}\Delta/\sqrt{\pi(1-\pi)\Delta^2+\pi\sigma_+^2+(1-\pi)\sigma_-^2}`, the same formula at
    π = P/n. It depends on two moments only: heavy skew within a class makes it low even for a perfect ranking. Gubbels
    (2023).

    >>> import tallymark as tm
    >>> round(tm.metrics.spcc(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.6476
    """
    gap, var_up, var_down = _spread(tally)
    p = tally.prevalence
    total = p * (1.0 - p) * gap**2 + p * var_up + (1.0 - p) * var_down
    if total == 0.0:
        raise Undefined("spcc: all scores are equal")
    return _within(math.sqrt(p * (1.0 - p)) * gap / math.sqrt(total))


@metric(
    title="Discriminability d′a", family="correlation", needs="tally", low=-math.inf, high=math.inf, better="higher",
    chance=0.0, prevalence_free=True, moments=True, normal_theory=True,
    formula=r"\frac{\mu^+ - \mu^-}{\sqrt{(\sigma_+^2 + \sigma_-^2)/2}}",
    meaning="Distance of the class means in units of their root mean square spread; √2·Z(AUROC) for normal scores.",
    reference="Simpson & Fitter (1973), Psychol. Bull. 80(6).",
)  # fmt: skip
def d_a(tally: Tally) -> float:
    r"""Discriminability :math:`d'_a = (\mu^+-\mu^-)/\sqrt{(\sigma_+^2+\sigma_-^2)/2}`, signed. Simpson & Fitter (1973).

    >>> import tallymark as tm
    >>> round(tm.metrics.d_a(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    1.6997
    """
    gap, var_up, var_down = _spread(tally)
    return _ratio("d_a", gap, math.sqrt((var_up + var_down) / 2))


@metric(
    title="Discriminability d′e", family="correlation", needs="tally", low=-math.inf, high=math.inf, better="higher",
    chance=0.0, prevalence_free=True, moments=True, normal_theory=True,
    formula=r"\frac{2 (\mu^+ - \mu^-)}{\sigma_+ + \sigma_-}",
    meaning="Distance of the class means in units of their mean spread.",
    reference="Egan & Clarke (1962), Psychophysics in the use of sensory data.",
)  # fmt: skip
def d_e(tally: Tally) -> float:
    r"""Discriminability :math:`d'_e = 2(\mu^+-\mu^-)/(\sigma_++\sigma_-)`, signed. Egan & Clarke (1962).

    >>> import tallymark as tm
    >>> round(tm.metrics.d_e(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    1.7333
    """
    gap, var_up, var_down = _spread(tally)
    return _ratio("d_e", gap, (math.sqrt(var_up) + math.sqrt(var_down)) / 2)


@metric(
    title="Discriminability d′b", family="correlation", needs="tally", low=0.0, high=math.inf, better="higher",
    chance=0.0, prevalence_free=True, rank_only=True, bound="order", holds_from=(50, 50),
    formula=r"2\, Z\left(\max_t \mathrm{BA}(t)\right)",
    meaning="The d′ of two equal normals that would allow the best balanced accuracy seen at a single threshold.",
    reference=GUBBELS,
)  # fmt: skip
def d_b(tally: Tally) -> float:
    r"""Bayes discriminability from one threshold, :math:`d'_b = 2 Z(\max_t \mathrm{BA}(t))`.

    :func:`d_b_normal` is the likelihood-ratio form of Das & Geisler; the two differ when the spreads do.

    >>> import tallymark as tm
    >>> round(tm.metrics.d_b(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    1.349
    """
    from scipy.special import ndtri

    return 2.0 * float(ndtri((1.0 + best_informedness(tally)) / 2))


@metric(
    title="Bayes discriminability of two normals", family="correlation", needs="tally", low=0.0, high=math.inf,
    better="higher", chance=0.0, prevalence_free=True, moments=True, normal_theory=True, formula=r"-2\, Z(e_B)",
    meaning="As d′b, with the error of the best decision between two normals of the classes' means and spreads.",
    reference="Das & Geisler (2021), J. Vis. 21(10).",
)  # fmt: skip
def d_b_normal(tally: Tally) -> float:
    r"""Bayes discriminability :math:`-2Z(e_B)`, with :math:`e_B` the error of the likelihood-ratio decision between
    two normals that have the classes' means and variances, at equal priors. Das & Geisler (2021).

    >>> import tallymark as tm
    >>> round(tm.metrics.d_b_normal(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    1.7781
    """
    from scipy.special import ndtri_exp

    gap, var_up, var_down = _spread(tally)
    if min(var_up, var_down) == 0.0:
        if gap == 0.0 and var_up == var_down:
            raise Undefined("d_b_normal: all scores are equal")
        return math.inf
    # In units of the narrower class, put at 0: the other has mean d and spread r, and the likelihoods are equal where
    # a z² + 2 b z + c = 0, which always has real roots.
    narrow, wide = sorted((math.sqrt(var_up), math.sqrt(var_down)))
    d, r = gap / narrow, wide / narrow
    a, b, c = 1.0 - 1.0 / r**2, d / r**2, -(d**2) / r**2 - 2.0 * math.log(r)
    q = -(b + math.copysign(math.sqrt(b**2 - a * c), b))
    if q == 0.0:
        return 0.0
    cuts = np.sort([c / q] if a == 0.0 else [q / a, c / q])
    edges = np.concatenate(([-np.inf], cuts, [np.inf]))
    # In logarithms: beyond d of about 12 the parts of the error lose their digits, beyond 75 they underflow.
    with np.errstate(invalid="ignore"):
        parts = np.minimum(_log_normal_mass(edges), _log_normal_mass((edges - d) / r))
        error = float(np.logaddexp.reduce(parts)) - math.log(2.0)
    return max(0.0, -2.0 * float(ndtri_exp(error)))


def _log_normal_mass(edges: Floats) -> Floats:
    """Logarithm of the standard normal mass between neighbouring edges, from the tail that keeps its digits."""
    from scipy.special import log_ndtr

    low, high = edges[:-1], edges[1:]
    # Right of 0 the two tails are those of the mirrored normal.
    near, far = np.where(low > 0.0, -low, high), np.where(low > 0.0, -high, low)
    larger, smaller = log_ndtr(near), log_ndtr(far)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = larger + np.log1p(-np.exp(np.minimum(smaller - larger, 0.0)))
    return values


def _tied(tally: Tally, power: int) -> float:
    """Sum over tied groups of their share of the mass to a power, at the tally's prevalence."""
    down, up = tally.scale
    if tally.views.untied:
        # Every row is a group, so the classes need not be merged.
        return float(
            sum(len(run) * (scale / float(tally.n)) ** power for run, scale in zip(tally.runs, (down, up), strict=True))
        )
    cut = tally.cutoffs
    groups: Floats = np.diff(cut.tp * up + cut.fp * down)
    # Shares first: powers of weights of 1e-140 vanish.
    share = groups / groups.sum()
    return float(np.sum(share * share if power == 2 else share * share * share))


def _concordance(tally: Tally) -> float:
    """AUROC − ½."""
    return auroc_of(tally) - 0.5


@metric(
    title="Spearman's ρ of label and score", family="correlation", needs="tally", low=-1.0, high=1.0,
    better="higher", chance=0.0, rank_only=True, aliases=("spearman_rho",),
    formula=r"\rho(\mathrm{rank}(s), y)", meaning="Pearson correlation of the label with the rank of the score.",
    reference="Spearman (1904), Am. J. Psychol. 15(1).", bound=lambda tally: _rank_bound(tally, _spearman),
)  # fmt: skip
def spearman(tally: Tally) -> float:
    r"""Spearman's rank correlation of label and score, ties at their mean rank:
    :math:`\sqrt{12 p(1-p)}\,(\mathrm{AUROC}-\frac12)/\sqrt{1-\sum t^3/n^3}`. Spearman (1904).

    >>> import tallymark as tm
    >>> round(tm.metrics.spearman(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.4472
    """
    return _spearman(tally, _concordance(tally), _tied(tally, 3))


@metric(
    title="Kendall's τ-b of label and score", family="correlation", needs="tally", low=-1.0, high=1.0,
    better="higher", chance=0.0, rank_only=True, aliases=("kendall_tau_b",),
    formula=r"\frac{C - D}{\sqrt{P N\,(n^2 - \sum t^2)/2}}",
    meaning="Concordant minus discordant pairs, corrected for ties.", reference="Kendall (1945), Biometrika 33(3).",
    bound=lambda tally: _rank_bound(tally, _kendall),
)  # fmt: skip
def kendall(tally: Tally) -> float:
    r"""Kendall's :math:`\tau_b = (C - D)/\sqrt{PN\,(n^2-\sum t^2)/2}` of label and score. Kendall (1945).

    >>> import tallymark as tm
    >>> round(tm.metrics.kendall(tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])), 4)
    0.4082
    """
    return _kendall(tally, _concordance(tally), _tied(tally, 2))


def _spearman(tally: Tally, half: float, cubes: float) -> float:
    _require_two_scores(tally, cubes, "spearman")
    p = tally.prevalence
    return _within(math.sqrt(12.0 * p * (1.0 - p)) * half / math.sqrt(1.0 - cubes))


def _kendall(tally: Tally, half: float, squares: float) -> float:
    _require_two_scores(tally, squares, "kendall")
    p = tally.prevalence
    return _within(2.0 * half * math.sqrt(2.0 * p * (1.0 - p)) / math.sqrt(1.0 - squares))


def _require_two_scores(tally: Tally, tied: float, name: str) -> None:
    if tied >= 1.0:
        cell = "all scores lie in one cell of the quantised tally; use the exact one"
        raise Undefined(f"{name}: {'all scores are equal' if tally.exact else cell}")


def spearman_slope(tally: Tally) -> float:
    """Derivative of Spearman's ρ with respect to AUROC while the tied mass stays."""
    # A tenth stays well inside the range.
    return 10.0 * _spearman(tally, 0.1, _tied(tally, 3))


def kendall_slope(tally: Tally) -> float:
    """Derivative of Kendall's τ-b with respect to AUROC while the tied mass stays."""
    return 10.0 * _kendall(tally, 0.1, _tied(tally, 2))


def _within(correlation: float) -> float:
    """Clip rounding error to [−1, 1]."""
    return max(-1.0, min(1.0, correlation))


def _rank_bound(tally: Tally, formula: Callable[[Tally, float, float], float]) -> tuple[float, float]:
    """Bounds from the extremes of the concordance and of the tied mass."""
    power = 3 if formula is _spearman else 2
    halves = [_concordance(extreme) for extreme in extremes(tally)]
    ties = (_surely_tied(tally, power), _tied(tally, power))
    values = [formula(tally, half, tied) for half in halves for tied in ties]
    return max(-1.0, min(values)), min(1.0, max(values))


def _surely_tied(tally: Tally, power: int) -> float:
    """The minimum of :func:`_tied`: within a cell only rows of a class with a single score are surely tied.

    Where both classes have the same single score in a cell, the whole cell is tied.
    """
    sides = []
    edges = np.union1d(*(run.scores for run in tally.runs))
    for run, scale in zip(tally.runs, tally.scale, strict=True):
        place = np.searchsorted(edges, run.scores)
        mass, score = np.zeros(len(edges)), np.full(len(edges), np.nan)
        lo, hi = (run.scores if end is None else end for end in (run.lo, run.hi))
        mass[place] = np.where(lo == hi, scale * run.mass / float(tally.n), 0.0)
        score[place] = np.where(lo == hi, lo, np.nan)
        sides.append((mass, score))
    (down, low), (up, high) = sides
    return float(np.sum(np.where(low == high, (down + up) ** power, down**power + up**power)))
