"""Prevalence from a confusion table of an audit and the target's predicted counts (misclassification correction)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tallymark import _check
from tallymark._rounding import equal, rounding
from tallymark.errors import InputError
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.limits.proportions import effective_rate, limits
from tallymark.inference.resampling.parallel import seeds
from tallymark.inference.scales import normal_quantile
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.intervals import adjusted_count, checked_population, of_population
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.registry import choose
from tallymark.summaries.confusion import BinaryConfusion, Confusion

#: Resamples of the Bayesian estimate.
_DRAWS = 20_000

Pair = tuple[float, float]


def from_counts(
    confusion: Confusion,
    *,
    predicted_positive: float,
    n: float,
    method: str = "ac",
    level: float = 0.95,
    population: float | None = None,
    seed: Seed = 0,
) -> Prevalence:
    r"""Estimate how many of `n` rows are positive when `predicted_positive` of them were predicted so.

    Methods
    -------
    - ``ac``: adjusted count (Rogan-Gladen), :math:`\hat\pi = (q - fpr)/(tpr - fpr)`, with the limits of
      Lang & Reiczigel (2014) around its analytic variance (in `details`). For audit samples of any prevalence.
    - ``calibration``: :math:`\hat\pi = q \cdot ppv + (1 - q)(1 - npv)`, unbiased when the audit sample is a random
      sample of the target, and then more precise. Tenenbein (1970); Kloos et al. (2020).
    - ``bayes``: Meertens' constrained Bayesian estimate, draws of the two rates from their Jeffreys posteriors and of q
      from its own, kept where the share lies in [0, 1] (arXiv:1902.02412). The estimate is their median; the limits are
      quantiles of draws with one more row for each rate, cut at 0 and 1, which hold their level with few audited rows
      too.
    - ``cc``: the share predicted positive, uncorrected.

    Guard TM107 warns of fewer than ten audited rows of a class (or, for ``calibration``, of a prediction).

    Parameters
    ----------
    confusion
        Table of an audit sample, truth against prediction.
    predicted_positive, n
        Rows of the target predicted positive, and all its rows.
    method
        One of the methods above.
    level
        Confidence level of the interval.
    population
        Size of a finite population of which the `n` rows are a sample or all; its prevalence is then estimated.
    seed
        Seed of the draws of ``bayes``.

    Returns
    -------
    Prevalence
        The share and the count with their limits; rates and variance in `details`.

    Examples
    --------
    >>> import tallymark as tm
    >>> audit = tm.confusion([1] * 100 + [0] * 100, [1] * 80 + [0] * 20 + [1] * 10 + [0] * 90)
    >>> tm.audits.from_counts(audit, predicted_positive=300, n=1000)
    ac: 0.2857 (0.1974 to 0.3613, 95 % analytic), 286 (197 to 361) of 1000

    """
    if not isinstance(confusion, BinaryConfusion):
        raise InputError(
            "from_counts takes a table of two classes with a known positive one: tm.confusion(y, predicted, "
            "pos_label=…)."
        )
    rows, predicted = _check.real(n, "n"), _check.real(predicted_positive, "predicted_positive")
    if not 0.0 <= predicted <= rows or rows <= 0.0:
        raise InputError(
            f"predicted_positive is {predicted:g} of n = {rows:g}, expected 0 <= predicted_positive <= n and n > 0."
        )
    work, sides = choose("method", method, _METHODS)
    table = _Table(confusion)
    target = _Target(predicted, rows, checked_level(level), checked_population(population, rows), seed)
    answer: Prevalence = work(table, target)
    notes = _few(table, sides)
    emit(notes)
    return replace(answer, warnings=notes)


def _few(table: _Table, sides: Sequence[str]) -> tuple[Note, ...]:
    """A note where a rate that the method uses has few rows."""
    rows, side = min((getattr(table, name)[1], name) for name in sides)
    if rows >= FEW_ROWS:
        return ()
    text = (
        f"only {rows:.3g} audited rows {_SIDES[side]}; the estimate is unreliable and its limits reach their level "
        f"from {FEW_ROWS} on: audit {math.ceil(FEW_ROWS - rows)} more"
    )
    return (Note("TM107", text),)


#: What the rows behind a rate of the table have in common.
_SIDES = {
    "tpr": "are positive",
    "fpr": "are negative",
    "ppv": "are predicted positive",
    "missed": "are predicted negative",
}


class _Table:
    """Rates of an audit sample as (hits, rows); effective ones with weights."""

    def __init__(self, confusion: BinaryConfusion) -> None:
        i = confusion.positive
        self.mass = confusion.matrix.astype(np.float64)
        self.squares = self.mass if confusion.squares is None else confusion.squares
        self.weighted = confusion.squares is not None
        self.rounding = rounding(confusion.n_rows if self.weighted else 0)
        self.tpr, self.fpr = self._rate((i, i), (i, 1 - i)), self._rate((1 - i, i), (1 - i, 1 - i))
        self.ppv, self.missed = self._rate((i, i), (1 - i, i)), self._rate((i, 1 - i), (1 - i, 1 - i))

    def _rate(self, hit: tuple[int, int], miss: tuple[int, int]) -> Pair:
        hits, total = float(self.mass[hit]), float(self.mass[hit] + self.mass[miss])
        if not self.weighted or not total:
            return hits, total
        return effective_rate(hits, total, float(self.squares[hit]), float(self.squares[miss]))


def _share(rate: Pair) -> float:
    return rate[0] / rate[1]


@dataclass(frozen=True)
class _Target:
    """The target: rows predicted positive, all rows, and the options of the estimate."""

    predicted: float
    n: float
    level: float
    #: Size of the population, None where the rows themselves are counted.
    population: float | None
    seed: Seed

    @property
    def rate(self) -> Pair:
        """Rows predicted positive, of all."""
        return self.predicted, self.n

    @property
    def size(self) -> float | int:
        """What is counted: the target's rows, or the population's."""
        rows = self.n if self.population is None else self.population
        return int(rows) if float(rows).is_integer() else rows

    def estimate(self, method: str, share: float, ends: Pair, details: dict[str, float]) -> Prevalence:
        """A share with its limits."""
        low, high = ends if self.population is None else of_population(share, ends, self.level, self.population)
        return Prevalence(
            method=method,
            prevalence=share,
            n=self.size,
            low=min(low, share),
            high=max(high, share),
            level=self.level,
            interval_method="draws" if method == "bayes" else "analytic",
            details=details,
        )

    def undefined(self, method: str, reason: str, details: dict[str, float]) -> Prevalence:
        """No estimate, with the reason."""
        return Prevalence(method=method, prevalence=math.nan, n=self.size, reason=reason, details=details)


def _require_both(table: _Table) -> None:
    if not table.tpr[1] or not table.fpr[1]:
        raise InputError("The audit table has one class only; error rates need rows of both classes.")


def _ac(table: _Table, target: _Target) -> Prevalence:
    _require_both(table)
    q, tpr, fpr = _share(target.rate), _share(table.tpr), _share(table.fpr)
    details = {"tpr": tpr, "fpr": fpr, "predicted_positive": q}
    if equal(tpr, fpr, table.rounding):
        reason = "the classifier calls both classes positive alike (tpr = fpr), so its calls say nothing"
        return target.undefined("ac", reason, details)
    raw = (q - fpr) / (tpr - fpr)
    of_rates = raw**2 * tpr * (1 - tpr) / table.tpr[1], (1 - raw) ** 2 * fpr * (1 - fpr) / table.fpr[1]
    variance = q * (1 - q) / target.n + of_rates[0] + of_rates[1]
    details |= {"unclipped": raw, "variance": variance / (tpr - fpr) ** 2}
    ends = adjusted_count(target.rate, table.tpr, table.fpr, target.level)
    return target.estimate("ac", min(1.0, max(0.0, raw)), ends, details)


def _cc(table: _Table, target: _Target) -> Prevalence:
    _require_both(table)
    tpr, fpr = _share(table.tpr), _share(table.fpr)
    low, high = limits(target.predicted, target.n, target.level)
    right_at = {"right_at": fpr / (1.0 - tpr + fpr)} if tpr - fpr < 1.0 else {}
    details = {"tpr": tpr, "fpr": fpr, **right_at}
    return target.estimate("cc", _share(target.rate), (float(low), float(high)), details)


def _calibration(table: _Table, target: _Target) -> Prevalence:
    if not table.ppv[1] or not table.missed[1]:
        side = "positive" if not table.ppv[1] else "negative"
        raise InputError(
            f"No row of the audit sample was predicted {side}, so the share of right calls there is unknown; use "
            "method='ac'."
        )
    q, ppv, missed = _share(target.rate), _share(table.ppv), _share(table.missed)
    share = q * ppv + (1.0 - q) * missed
    z = normal_quantile(0.5 + target.level / 2.0)
    # A pseudo-row or two, as Agresti & Coull: a share of 0 or 1 in a small sample is not certain.
    spreads = [(k + 1.0) / (m + 2.0) * (1.0 - (k + 1.0) / (m + 2.0)) / (m + 2.0) for k, m in (table.ppv, table.missed)]
    variance = q**2 * spreads[0] + (1.0 - q) ** 2 * spreads[1] + (ppv - missed) ** 2 * q * (1.0 - q) / target.n
    reach = z * math.sqrt(variance)
    ends = max(0.0, share - reach), min(1.0, share + reach)
    details = {"ppv": ppv, "npv": 1.0 - missed, "predicted_positive": q, "variance": variance}
    return target.estimate("calibration", share, ends, details)


def _bayes(table: _Table, target: _Target) -> Prevalence:
    _require_both(table)
    rng = np.random.default_rng(seeds(target.seed, 1)[0])
    tpr, fpr, q = (rng.beta(k + 0.5, m - k + 0.5, _DRAWS) for k, m in (table.tpr, table.fpr, target.rate))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (q - fpr) / (tpr - fpr)
    kept = shares[(tpr > fpr) & (shares >= 0.0) & (shares <= 1.0)]
    details = {
        "tpr": _share(table.tpr),
        "fpr": _share(table.fpr),
        "predicted_positive": _share(target.rate),
        "kept": len(kept) / _DRAWS,
    }
    if len(kept) < _DRAWS // 1_000:
        reason = (
            "hardly any rates that fit the audit table give so many predicted positives; the audit sample is not one "
            "of the target"
        )
        return target.undefined("bayes", reason, details)
    ends = _limits_of_draws(target.rate, table.tpr, table.fpr, target.level, rng)
    return target.estimate("bayes", float(np.median(kept)), ends, details)


#: The chance that the pseudo-row of a rate moves the limit outwards: 1/2 gives mid-p limits of a single rate, 1 exact
#: ones.
_OUTWARDS = 0.6


def _limits_of_draws(target: Pair, positive: Pair, negative: Pair, level: float, rng: np.random.Generator) -> Pair:
    """Quantiles of (q - fpr)/(tpr - fpr) over draws of the three rates, with one more row of each in every draw.

    That row is predicted positive or not at random, so that it moves the limit outwards more often than not. Draws
    outside [0, 1] are cut there, not left out: without them few audited rows hold a share of 0 or 1 in 63 to 87 % of
    samples.
    """
    draws = [
        (
            rng.gamma(hits, size=_DRAWS),
            rng.gamma(rows - hits, size=_DRAWS),
            rng.exponential(size=_DRAWS),
            rng.random(_DRAWS),
        )
        for hits, rows in (target, positive, negative)
    ]
    ends = []
    # The share falls where the rate of the target falls, and where a rate of the table rises.
    for chances, quantile, undefined in (
        ((1.0 - _OUTWARDS, _OUTWARDS, _OUTWARDS), (1.0 - level) / 2.0, 0.0),
        ((_OUTWARDS, 1.0 - _OUTWARDS, 1.0 - _OUTWARDS), (1.0 + level) / 2.0, 1.0),
    ):
        q, tpr, fpr = (
            (yes + more * (coin < chance)) / (yes + no + more)
            for (yes, no, more, coin), chance in zip(draws, chances, strict=True)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(tpr > fpr, np.clip((q - fpr) / (tpr - fpr), 0.0, 1.0), undefined)
        ends.append(float(np.quantile(shares, quantile)))
    return ends[0], ends[1]


#: Each method, and the rates that it uses.
_METHODS: dict[str, tuple[Callable[[_Table, _Target], Prevalence], tuple[str, str]]] = {
    "ac": (_ac, ("tpr", "fpr")),
    "calibration": (_calibration, ("ppv", "missed")),
    "bayes": (_bayes, ("tpr", "fpr")),
    "cc": (_cc, ("tpr", "fpr")),
    "rogan_gladen": (_ac, ("tpr", "fpr")),
}
