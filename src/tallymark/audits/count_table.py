"""Prevalence from an imperfect test or classifier (Rogan-Gladen), by its rates or by a confusion table of an audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._rounding import equal, rounding
from tallymark.audits.rates import GivenRate, Rate, of_counts, rates_of_test
from tallymark.errors import InputError
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.limits.proportions import effective_rate, limits
from tallymark.inference.resampling.parallel import seeds
from tallymark.inference.scales import normal_quantile
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.intervals import adjusted_count, checked_population, of_population
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.registry import choose
from tallymark.summaries.confusion import BinaryConfusion, Confusion

#: Resamples of the Bayesian estimate, and behind the sum of several populations.
_DRAWS = 20_000

Pair = tuple[float, float]

#: A number, or one for each of several populations.
Counts = float | Sequence[float] | Mapping[Any, float]


def from_counts(
    confusion: Confusion | None = None,
    *,
    predicted_positive: Counts,
    n: Counts,
    sensitivity: GivenRate | None = None,
    specificity: GivenRate | None = None,
    n_effective: Counts | None = None,
    method: str = "ac",
    level: float = 0.95,
    population: Counts | None = None,
    seed: Seed = 0,
) -> Prevalence | Prevalences:
    r"""Estimate how many of `n` rows are positive when `predicted_positive` of them were predicted (or tested) so.

    The errors of the predictions are known from the table of an audit sample, or from the `sensitivity` and
    `specificity` of a test.

    Methods
    -------
    - ``ac``: adjusted count (Rogan-Gladen), :math:`\hat\pi = (q - fpr)/(tpr - fpr)`, with the limits of
      Lang & Reiczigel (2014) around its analytic variance (in `details`). For audit samples of any prevalence. Where
      both rates are known exactly, the limits are the mid-p limits of q, transformed in the same way.
    - ``calibration``: :math:`\hat\pi = q \cdot ppv + (1 - q)(1 - npv)`, unbiased when the audit sample is a random
      sample of the target, and then more precise; needs the table. Tenenbein (1970); Kloos et al. (2020).
    - ``bayes``: Meertens' constrained Bayesian estimate, draws of the two rates from their Jeffreys posteriors and of q
      from its own, kept where the share lies in [0, 1] (arXiv:1902.02412). The estimate is their median; the limits are
      quantiles of draws with one more row for each rate, cut at 0 and 1, which hold their level with few audited rows
      too.
    - ``cc``: the share predicted positive, uncorrected.

    Guard TM107 warns of fewer than ten audited rows of a class (or, for ``calibration``, of a prediction), and of a
    published interval that is as wide as if there were so few; TM109 where no share explains the number predicted
    positive.

    Parameters
    ----------
    confusion
        Table of an audit sample, truth against prediction; left out where `sensitivity` and `specificity` are given.
    predicted_positive, n
        Rows of the target predicted positive, and all its rows; with survey weights, their sums. For several
        populations a sequence of each, or a mapping by name.
    sensitivity, specificity
        Each a number (known exactly), ``(value, low, high)`` (published, with limits at `level`) or ``(right, rows)``
        (counted). An interval counts as the rows of the sample whose Jeffreys posterior, a Beta distribution, has both
        limits as its quantiles, so that lopsided intervals keep their shape; with a limit of 0 or 1, as the rows at
        which the mid-p limit of the value is the other limit. The point estimate uses the published value.
    n_effective
        Effective sample size of a survey, `n` over its design effect: the rows of a simple random sample in which the
        share predicted positive would be as precise. It replaces `n` in the limits, not in the count.
    method
        One of the methods above.
    level
        Confidence level of the interval.
    population
        Size of a finite population of which the `n` rows are a sample or all; its prevalence is then estimated.
    seed
        Seed of the draws of ``bayes``, and of those behind the sum of several populations.

    Returns
    -------
    Prevalence or Prevalences
        The share and the count with their limits; rates and variance in `details`. Of several populations an estimate
        of each, by name or place, and their total: its limits are quantiles over draws that share the two rates.

    Examples
    --------
    >>> import tallymark as tm
    >>> audit = tm.confusion([1] * 100 + [0] * 100, [1] * 80 + [0] * 20 + [1] * 10 + [0] * 90)
    >>> tm.audits.from_counts(audit, predicted_positive=300, n=1000)
    ac: 0.2857 (0.1974 to 0.3613, 95 % analytic), 286 (197 to 361) of 1000
    >>> tm.audits.from_counts(predicted_positive=4, n=100, sensitivity=(57, 60), specificity=(98, 100))
    ac: 0.0215 (0.0000 to 0.0891, 95 % analytic), 2 (0 to 9) of 100
    >>> tm.audits.from_counts(predicted_positive=160, n=1000, sensitivity=0.9, specificity=(0.95, 0.92, 0.97))
    ac: 0.1294 (0.0885 to 0.1636, 95 % analytic), 129 (88 to 164) of 1000

    """
    confidence = checked_level(level)
    errors = _errors_of(confusion, sensitivity, specificity, confidence)
    work: _Method = choose("method", method, _METHODS)
    if errors.ppv is None and "ppv" in work.rates:
        raise InputError(
            f"method={method!r} needs the table of an audit sample: sensitivity and specificity do not say how often a "
            "prediction is right. Use method='ac' or 'bayes'."
        )
    targets = _targets(predicted_positive, n, n_effective, population, confidence, seed)
    few = _few(errors, work.rates)
    entries: dict[Any, Prevalence] = {}
    for key, target in targets.items():
        entry = work.estimate(errors, target)
        entries[key] = replace(entry, warnings=(*few, *_beyond(entry, target)))
    emit(dict.fromkeys(note for entry in entries.values() for note in entry.warnings))
    if None in entries:
        return entries[None]
    draws = _replicates(work, errors, list(targets.values()), seed)
    keyed = {(key,): entry for key, entry in entries.items()}
    return Prevalences(("population",), keyed, dict(zip(keyed, draws, strict=True)))


def _errors_of(
    confusion: Confusion | None, sensitivity: GivenRate | None, specificity: GivenRate | None, level: float
) -> _Errors:
    """The error rates, from a table or as they were given."""
    if confusion is None and sensitivity is None and specificity is None:
        raise InputError("from_counts needs the table of an audit sample, or sensitivity= and specificity=.")
    if confusion is None:
        (right, _, _), (negative, _, _) = rates_of_test(sensitivity, specificity, level)
        return _Errors(right, negative.complement, None, None, _OF_TEST, 0.0)
    if sensitivity is not None or specificity is not None:
        raise InputError(
            "from_counts was given a table and sensitivity or specificity; the table has both rates: give one of the "
            "two."
        )
    if not isinstance(confusion, BinaryConfusion):
        raise InputError(
            "from_counts takes a table of two classes with a known positive one: tm.confusion(y, predicted, "
            "pos_label=…)."
        )
    return _errors_in(confusion)


def _targets(
    predicted_positive: Counts,
    n: Counts,
    n_effective: Counts | None,
    population: Counts | None,
    level: float,
    seed: Seed,
) -> dict[Any, _Target]:
    """Each population by its name, or by its place; under None where there is one."""
    given: dict[str, Any] = {"predicted_positive": predicted_positive, "n": n}
    optional = {"n_effective": n_effective, "population": population}
    columns = {name: _by_key(value, name) for name, value in given.items()}
    columns |= {name: _by_key(value, name) for name, value in optional.items() if value is not None}
    keys = list(columns["predicted_positive"])
    for name, values in columns.items():
        if list(values) != keys:
            raise InputError(
                f"predicted_positive is {_what(columns['predicted_positive'])} and {name} {_what(values)}; give one "
                "number each, sequences of one length or mappings with the same keys."
            )
    if not keys:
        raise InputError("predicted_positive is empty, expected at least one population.")
    return {
        key: _target([columns[name][key] if name in columns else None for name in (*given, *optional)], level, seed)
        for key in keys
    }


def _by_key(given: Any, name: str) -> dict[Any, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, str) or not isinstance(given, Iterable) or (isinstance(given, np.ndarray) and not given.ndim):
        return {None: given}
    return dict(enumerate(_check.several(given, name)))


def _what(values: dict[Any, Any]) -> str:
    """How an argument was given, for a message."""
    return "one number" if None in values else f"of {len(values)} populations ({', '.join(map(str, values))})"


def _target(given: Sequence[Any], level: float, seed: Seed) -> _Target:
    predicted_positive, n, n_effective, population = given
    rows, predicted = _check.real(n, "n"), _check.real(predicted_positive, "predicted_positive")
    if not 0.0 <= predicted <= rows or rows <= 0.0:
        raise InputError(
            f"predicted_positive is {predicted:g} of n = {rows:g}, expected 0 <= predicted_positive <= n and n > 0."
        )
    effective = rows if n_effective is None else _check.real(n_effective, "n_effective")
    if not effective > 0.0:
        raise InputError(f"n_effective is {effective:g}, expected more than 0 rows.")
    return _Target(predicted, rows, effective, level, checked_population(population, rows), seed)


def _few(errors: _Errors, rates: Sequence[str]) -> tuple[Note, ...]:
    """A note where a rate that the method uses has few rows."""
    rows, name = min((getattr(errors, name).rows, name) for name in rates)
    if rows >= FEW_ROWS:
        return ()
    more = math.ceil(FEW_ROWS - rows)
    text = errors.rests.format(rows=f"{rows:.3g}", side=_SIDES[name], rate=_NAMES.get(name))
    text += f"; the estimate is unreliable and its limits reach their level from {FEW_ROWS} on: audit {more} more"
    return (Note("TM107", text),)


def _beyond(entry: Prevalence, target: _Target) -> tuple[Note, ...]:
    """A note where no share explains the number of predicted positives, so that both limits are 0 or 1."""
    if entry.high != 0.0 and entry.low != 1.0:
        return ()
    side = ("fewer", "no row") if entry.high == 0.0 else ("more", "every row")
    text = (
        f"{target.predicted:g} of {target.n:g} rows are predicted positive, {side[0]} by more than chance than if "
        f"{side[1]} were positive: the error rates are not those of the target"
    )
    return (Note("TM109", text),)


#: What a rate rests on, of an audit sample and of a test's given rates.
_OF_TABLE = "only {rows} audited rows {side}"
_OF_TEST = "the {rate} of the test is as uncertain as if it came from {rows} rows"

#: What the false positive rate and the true positive rate of a test are called.
_NAMES = {"tpr": "sensitivity", "fpr": "specificity"}

#: What the rows behind a rate of the table have in common.
_SIDES = {
    "tpr": "are positive",
    "fpr": "are negative",
    "ppv": "are predicted positive",
    "missed": "are predicted negative",
}


@dataclass(frozen=True)
class _Errors:
    """Rates of a test or of an audit sample; effective rows with weights, no predictive values without a table."""

    tpr: Rate
    fpr: Rate
    #: The share of positives among the rows predicted positive, and among those predicted negative.
    ppv: Rate | None
    missed: Rate | None
    #: What the rates rest on, for a note.
    rests: str
    #: How far rates may differ by rounding alone.
    rounding: float


def _errors_in(confusion: BinaryConfusion) -> _Errors:
    """The rates of a table."""
    i = confusion.positive
    mass, squares = confusion.matrix.astype(np.float64), confusion.squares

    def rate(hit: tuple[int, int], miss: tuple[int, int]) -> Rate:
        hits, total = float(mass[hit]), float(mass[hit] + mass[miss])
        if squares is None or not total:
            return of_counts(hits, total)
        return of_counts(*effective_rate(hits, total, float(squares[hit]), float(squares[miss])))

    return _Errors(
        tpr=rate((i, i), (i, 1 - i)),
        fpr=rate((1 - i, i), (1 - i, 1 - i)),
        ppv=rate((i, i), (1 - i, i)),
        missed=rate((i, 1 - i), (1 - i, 1 - i)),
        rests=_OF_TABLE,
        rounding=rounding(0 if squares is None else confusion.n_rows),
    )


@dataclass(frozen=True)
class _Target:
    """The target: rows predicted positive, all rows, and the options of the estimate."""

    predicted: float
    n: float
    #: Rows of a simple random sample that is as precise.
    effective: float
    level: float
    #: Size of the population, None where the rows themselves are counted.
    population: float | None
    seed: Seed

    @property
    def rate(self) -> Rate:
        """Rows predicted positive, of all; effective ones of a survey."""
        share = self.predicted / self.n
        hits = self.predicted if self.effective == self.n else share * self.effective
        return Rate(hits, self.effective, share)

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


def _require_both(errors: _Errors) -> None:
    if errors.rests is _OF_TABLE and not (errors.tpr.rows and errors.fpr.rows):
        raise InputError("The audit table has one class only; error rates need rows of both classes.")


def _ac(errors: _Errors, target: _Target) -> Prevalence:
    _require_both(errors)
    q, tpr, fpr = target.rate.value, errors.tpr.value, errors.fpr.value
    details = {"tpr": tpr, "fpr": fpr, "predicted_positive": q}
    if equal(tpr, fpr, errors.rounding):
        reason = "the classifier calls both classes positive alike (tpr = fpr), so its calls say nothing"
        return target.undefined("ac", reason, details)
    raw = (q - fpr) / (tpr - fpr)
    of_rates = [
        weight**2 * rate.value * (1 - rate.value) / rate.rows if rate.rows else math.inf
        for weight, rate in ((raw, errors.tpr), (1 - raw, errors.fpr))
    ]
    variance = q * (1 - q) / target.effective + sum(of_rates)
    details |= {"unclipped": raw, "variance": variance / (tpr - fpr) ** 2}
    if errors.tpr.known and errors.fpr.known:
        low, high = ((float(end) - fpr) / (tpr - fpr) for end in limits(*target.rate.counted, target.level))
        ends = max(0.0, low), min(1.0, high)
    else:
        ends = adjusted_count(target.rate.counted, errors.tpr.counted, errors.fpr.counted, target.level)
    return target.estimate("ac", min(1.0, max(0.0, raw)), ends, details)


def _cc(errors: _Errors, target: _Target) -> Prevalence:
    _require_both(errors)
    tpr, fpr = errors.tpr.value, errors.fpr.value
    low, high = limits(*target.rate.counted, target.level)
    right_at = {"right_at": fpr / (1.0 - tpr + fpr)} if tpr - fpr < 1.0 else {}
    details = {"tpr": tpr, "fpr": fpr, **right_at}
    return target.estimate("cc", target.rate.value, (float(low), float(high)), details)


def _calibration(errors: _Errors, target: _Target) -> Prevalence:
    of_positive, of_negative = _predictive(errors)
    q, ppv, missed = target.rate.value, of_positive.value, of_negative.value
    share = q * ppv + (1.0 - q) * missed
    z = normal_quantile(0.5 + target.level / 2.0)
    # A pseudo-row or two, as Agresti & Coull: a share of 0 or 1 in a small sample is not certain.
    shares = [((rate.hits + 1.0) / (rate.rows + 2.0), rate.rows + 2.0) for rate in (of_positive, of_negative)]
    spreads = [p * (1.0 - p) / rows for p, rows in shares]
    variance = q**2 * spreads[0] + (1.0 - q) ** 2 * spreads[1] + (ppv - missed) ** 2 * q * (1.0 - q) / target.effective
    reach = z * math.sqrt(variance)
    ends = max(0.0, share - reach), min(1.0, share + reach)
    details = {"ppv": ppv, "npv": 1.0 - missed, "predicted_positive": q, "variance": variance}
    return target.estimate("calibration", share, ends, details)


def _predictive(errors: _Errors) -> tuple[Rate, Rate]:
    """Both predictive rates of a table that has rows of both predictions."""
    of_positive, of_negative = errors.ppv, errors.missed
    if of_positive is None or of_negative is None or not of_positive.rows or not of_negative.rows:
        side = "negative" if of_positive is not None and of_positive.rows else "positive"
        raise InputError(
            f"No row of the audit sample was predicted {side}, so the share of right calls there is unknown; use "
            "method='ac'."
        )
    return of_positive, of_negative


def _bayes(errors: _Errors, target: _Target) -> Prevalence:
    _require_both(errors)
    rng = np.random.default_rng(seeds(target.seed, 1)[0])
    tpr, fpr, q = (_jeffreys_draws(rate, rng) for rate in (errors.tpr, errors.fpr, target.rate))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (q - fpr) / (tpr - fpr)
    kept = shares[(tpr > fpr) & (shares >= 0.0) & (shares <= 1.0)]
    details = {
        "tpr": errors.tpr.value,
        "fpr": errors.fpr.value,
        "predicted_positive": target.rate.value,
        "kept": len(kept) / _DRAWS,
    }
    if len(kept) < _DRAWS // 1_000:
        reason = (
            "hardly any rates that fit the audit table give so many predicted positives; the audit sample is not one "
            "of the target"
        )
        return target.undefined("bayes", reason, details)
    ends = _limits_of_draws(target.rate.counted, errors.tpr.counted, errors.fpr.counted, target.level, rng)
    return target.estimate("bayes", float(np.median(kept)), ends, details)


def _jeffreys_draws(rate: Rate, rng: np.random.Generator) -> Floats:
    """Draws of a rate from its posterior."""
    return rng.beta(rate.hits + 0.5, rate.rows - rate.hits + 0.5, _DRAWS)


def _replicates(work: _Method, errors: _Errors, targets: Sequence[_Target], seed: Seed) -> list[Floats]:
    """Draws of the share of each population, with the same draws of the error rates in all of them."""
    rng = np.random.default_rng(seeds(seed, 1)[0])
    first, second = (_jeffreys_draws(getattr(errors, name), rng) for name in work.rates)
    return [np.clip(work.share(_jeffreys_draws(target.rate, rng), first, second), 0.0, 1.0) for target in targets]


def _adjusted(q: Floats, tpr: Floats, fpr: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        shares: Floats = np.where(tpr > fpr, (q - fpr) / (tpr - fpr), math.nan)
    return shares


def _predicted(q: Floats, ppv: Floats, missed: Floats) -> Floats:
    return q * ppv + (1.0 - q) * missed


def _uncorrected(q: Floats, _: Floats, __: Floats) -> Floats:
    return q


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


@dataclass(frozen=True)
class _Method:
    """An estimate of one target, the two rates that it uses, and the share as a function of q and these."""

    estimate: Callable[[_Errors, _Target], Prevalence]
    rates: tuple[str, str]
    share: Callable[[Floats, Floats, Floats], Floats]


_METHODS = {
    "ac": _Method(_ac, ("tpr", "fpr"), _adjusted),
    "calibration": _Method(_calibration, ("ppv", "missed"), _predicted),
    "bayes": _Method(_bayes, ("tpr", "fpr"), _adjusted),
    "cc": _Method(_cc, ("tpr", "fpr"), _uncorrected),
    "rogan_gladen": _Method(_ac, ("tpr", "fpr"), _adjusted),
}
