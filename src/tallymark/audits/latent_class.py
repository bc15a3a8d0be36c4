"""Two tests without a gold standard: latent class model of Hui and Walter (1980), with profile-likelihood limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError
from tallymark.inference.guards import FEW_ROWS
from tallymark.inference.interval import Interval, checked_level
from tallymark.inference.scales import including, normal_quantile
from tallymark.notes import Note, emit

#: Steps of the EM algorithm before the maximum is polished, and starts of it.
_STEPS = 500
_STARTS = ((0.9, 0.9), (0.7, 0.95), (0.95, 0.7), (0.6, 0.6))

#: No cell of the model is less likely than this, so that logarithms are finite.
_LEAST = 1e-12

#: How near a limit is found.
_PRECISION = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class TwoTests(Shown):
    """Prevalences, sensitivities and specificities of two tests that were given to the same rows.

    `prevalences` by population, `sensitivity` and `specificity` by test, each an interval at `level`. `fit_p` is the
    p-value of the model against the tables as they are: small where the tests err together or differ between the
    populations; nan where two populations leave nothing to test by.
    """

    prevalences: Mapping[Any, Interval]
    sensitivity: Mapping[str, Interval]
    specificity: Mapping[str, Interval]
    log_likelihood: float
    fit_p: float
    level: float
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("prevalences", "sensitivity", "specificity"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))

    def heading(self) -> str:
        """What was estimated from how many populations."""
        fit = "" if math.isnan(self.fit_p) else f"; fit p = {self.fit_p:.2g}"
        return f"two tests in {len(self.prevalences)} populations, no gold standard{fit}"

    def rows(self) -> list[Row]:
        """One line for each parameter."""
        groups = {"prevalence": self.prevalences, "sensitivity": self.sensitivity, "specificity": self.specificity}
        return [
            {"parameter": parameter, "of": str(name), "value": one.value, "low": one.low, "high": one.high}
            for parameter, entries in groups.items()
            for name, one in entries.items()
        ]


def two_tests(
    tables: Sequence[Any] | Mapping[Any, Any], *, tests: Sequence[str] = ("A", "B"), level: float = 0.95
) -> TwoTests:
    r"""Estimate prevalences and the errors of two tests where nobody knows the truth of any row.

    Two tests with the same sensitivity and specificity in every population, which err independently given the truth,
    are identified by two or more populations of different prevalence: of population k, the probability of the results
    a and b is

    .. math:: \pi_k P(a|+) P(b|+) + (1-\pi_k) P(a|-) P(b|-).

    The likelihood is maximised by EM from several starts and polished by a quasi-Newton method; of the two mirrored
    solutions the one is reported in which both tests are better than chance (sensitivity + specificity > 1). Limits
    are those of the profile likelihood on that side. Hui & Walter (1980), Biometrics 36(1). A model that is not
    identified is refused: one population, populations that do not differ by more than chance, a test that tells no more
    than chance (likelihood ratio tests at `level`).

    Guard TM107 warns where fewer than ten rows are estimated to be positive, or negative.

    Parameters
    ----------
    tables
        Counts of each population, [[both positive, only the first], [only the second, both negative]]: rows are the
        results of the first test, columns of the second. A sequence, or a mapping by name.
    tests
        Names of the two tests.
    level
        Confidence level of the intervals, and of the tests of identification.

    Returns
    -------
    TwoTests
        Intervals of the prevalences, sensitivities and specificities.

    Examples
    --------
    >>> import tallymark as tm
    >>> tuberculin = {"school": [[14, 4], [9, 528]], "sanatorium": [[887, 31], [37, 367]]}
    >>> found = tm.audits.two_tests(tuberculin, tests=("Mantoux", "Tine"))
    >>> found.prevalences["sanatorium"], found.sensitivity["Mantoux"]
    (0.7168 (0.6912 to 0.7414, 95 % profile), 0.9661 (0.9514 to 0.9788, 95 % profile))

    """
    confidence = checked_level(level)
    names = [str(name) for name in _check.several(tests, "tests")]
    if len(set(names)) != 2:
        raise InputError(f"tests is {tests!r}, expected two different names.")
    entries = tables if isinstance(tables, Mapping) else dict(enumerate(_check.several(tables, "tables")))
    cells = np.array([_cells(table, f"tables[{key!r}]") for key, table in entries.items()])
    if len(cells) < 2:
        raise InputError(
            "tables has fewer than two populations: two tests without a gold standard need populations of different "
            "prevalence; split the rows by something that goes with the prevalence."
        )
    best = _maximum(cells)
    _require_identified(best, cells, confidence, names)
    ends = _profile_limits(best, cells, confidence)
    intervals = [
        Interval(float(value), *including(float(value), low, high), "profile", confidence)
        for value, (low, high) in zip(best, ends, strict=True)
    ]
    notes = _few(best[4:], cells)
    emit(notes)
    top = _log_likelihood(best, cells)
    return TwoTests(
        prevalences=dict(zip(entries, intervals[4:], strict=True)),
        sensitivity=dict(zip(names, intervals[:2], strict=True)),
        specificity=dict(zip(names, intervals[2:4], strict=True)),
        log_likelihood=top,
        fit_p=_p_value(_saturated(cells) - top, 2 * len(cells) - 4),
        level=confidence,
        warnings=notes,
    )


def _cells(table: Any, name: str) -> Floats:
    """Both positive, only the first, only the second, both negative."""
    values = _check.matrix(table, name, columns=2)
    if values.shape != (2, 2) or (values < 0.0).any() or not values.any():
        raise InputError(
            f"{name} is {values.tolist()}, expected the four counts [[both positive, only the "
            "first], [only the second, both negative]] of a population, none negative."
        )
    flat: Floats = values.ravel()
    return flat


def _given_truth(parameters: Floats) -> tuple[Floats, Floats]:
    """Probabilities of the four results of positive and of negative rows.

    The parameters are the sensitivities of both tests, their specificities, and the prevalences of the populations.
    """
    se, sp = parameters[:2], parameters[2:4]

    def crossed(first: float, second: float) -> Floats:
        return np.outer([first, 1.0 - first], [second, 1.0 - second]).ravel()

    return crossed(*se), crossed(*(1.0 - sp))


def _log_likelihood(parameters: Floats, cells: Floats) -> float:
    up, down = _given_truth(parameters)
    share = parameters[4:, None]
    return float((cells * np.log(np.maximum(share * up + (1.0 - share) * down, _LEAST))).sum())


#: The sign of each rate in the derivative of the four probabilities: of the first test's result, and of the second's.
_FIRST, _SECOND = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])


def _gradient(parameters: Floats, cells: Floats) -> Floats:
    """Derivatives of the log-likelihood."""
    up, down = _given_truth(parameters)
    share = parameters[4:, None]
    ratio = cells / np.maximum(share * up + (1.0 - share) * down, _LEAST)
    of_up, of_down = (share * ratio).sum(axis=0), ((1.0 - share) * ratio).sum(axis=0)

    def of_test(rates: Floats, weights: Floats) -> list[float]:
        first, second = rates
        others = np.where(_SECOND > 0, second, 1.0 - second), np.where(_FIRST > 0, first, 1.0 - first)
        return [float((weights * sign * other).sum()) for sign, other in zip((_FIRST, _SECOND), others, strict=True)]

    of_sensitivity = of_test(parameters[:2], of_up)
    of_specificity = [-slope for slope in of_test(1.0 - parameters[2:4], of_down)]
    return np.array([*of_sensitivity, *of_specificity, *(ratio * (up - down)).sum(axis=1)])


def _maximum(cells: Floats) -> Floats:
    """The most likely parameters, on the side where the tests are better than chance."""
    fits = [_polished(_expectation_maximisation(np.array([*start, *start]), cells), cells) for start in _STARTS]
    best = max(fits, key=lambda parameters: _log_likelihood(parameters, cells))
    if best[0] + best[2] + best[1] + best[3] < 2.0:
        best = np.array([*(1.0 - best[2:4]), *(1.0 - best[:2]), *(1.0 - best[4:])])
    return best


def _expectation_maximisation(rates: Floats, cells: Floats) -> Floats:
    """EM from these rates; every prevalence starts at the share of positive results of its population."""
    n = cells.sum(axis=1)
    positive = (cells[:, 0] + (cells[:, 1] + cells[:, 2]) / 2.0) / n
    parameters = np.concatenate([rates, np.clip(positive, 0.01, 0.99)])
    for _ in range(_STEPS):
        up, down = _given_truth(parameters)
        share = parameters[4:, None]
        of_positives = share * up
        posterior = cells * of_positives / np.maximum(of_positives + (1.0 - share) * down, _LEAST)
        positives, negatives = posterior.sum(axis=0), (cells - posterior).sum(axis=0)
        se = np.array([positives[:2].sum(), positives[::2].sum()]) / max(positives.sum(), _LEAST)
        sp = np.array([negatives[2:].sum(), negatives[1::2].sum()]) / max(negatives.sum(), _LEAST)
        updated = np.concatenate([se, sp, posterior.sum(axis=1) / n])
        if np.abs(updated - parameters).max() < 1e-9:
            return updated
        parameters = updated
    return parameters


def _polished(start: Floats, cells: Floats) -> Floats:
    """The maximum near a start."""
    from scipy.optimize import minimize

    scale = cells.sum()
    fit = minimize(
        lambda parameters: -_log_likelihood(parameters, cells) / scale,
        np.clip(start, 1e-6, 1.0 - 1e-6),
        jac=lambda parameters: -_gradient(parameters, cells) / scale,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9},
    )
    values: Floats = max((fit.x, start), key=lambda parameters: _log_likelihood(parameters, cells))
    return values


def _profiled(best: Floats, cells: Floats, place: int, value: float) -> Floats:
    """The maximum with one parameter at a value, neither test worse than chance.

    Without that constraint the mirrored solution, which is as likely as `best`, would be within the limits too.
    """
    from scipy.optimize import minimize

    start, scale = best.copy(), cells.sum()
    start[place] = value
    for test in (0, 1):
        other = test if place == test + 2 else test + 2
        start[other] = max(start[other], 1.0 - start[test + 2 if other == test else test])
    free = np.arange(len(best)) != place
    # Sensitivity and specificity of each test, of which neither sum may be below 1.
    sums = np.zeros((2, len(best)))
    sums[[0, 1, 0, 1], [0, 1, 2, 3]] = 1.0

    def whole(parameters: Floats) -> Floats:
        every = start.copy()
        every[free] = parameters
        return every

    fit = minimize(
        lambda parameters: -_log_likelihood(whole(parameters), cells) / scale,
        start[free],
        jac=lambda parameters: -_gradient(whole(parameters), cells)[free] / scale,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * int(free.sum()),
        constraints={
            "type": "ineq",
            "fun": lambda parameters: sums @ whole(parameters) - 1.0,
            "jac": lambda parameters: sums[:, free],  # noqa: ARG005
        },
        options={"maxiter": 500, "ftol": 1e-14},
    )
    fits = (whole(np.clip(fit.x, 0.0, 1.0)), start)
    values: Floats = max(fits, key=lambda parameters: _log_likelihood(parameters, cells))
    return values


def _profile_limits(best: Floats, cells: Floats, level: float) -> list[tuple[float, float]]:
    """Where the likelihood, maximised over the other parameters, falls by half a chi-squared quantile."""
    return [
        (_edge(place, 0.0, best, cells, level), _edge(place, 1.0, best, cells, level)) for place in range(len(best))
    ]


def _edge(place: int, end: float, best: Floats, cells: Floats, level: float) -> float:
    """The limit of a parameter between its estimate and an end of its range."""
    from scipy.optimize import brentq

    top, most = _log_likelihood(best, cells), float(normal_quantile(0.5 + level / 2.0))

    def beyond(value: float) -> float:
        # The signed root of the likelihood ratio is nearly linear in the parameter.
        fit = _profiled(best, cells, place, value)
        return math.sqrt(max(2.0 * (top - _log_likelihood(fit, cells)), 0.0)) - most

    estimate = float(best[place])
    if estimate == end or beyond(end) <= 0.0:
        return end
    return float(brentq(beyond, estimate, end, xtol=_PRECISION))


def _require_identified(best: Floats, cells: Floats, level: float, names: Sequence[str]) -> None:
    """Refuse tables that are as likely where the model is not identified."""
    top, (k, _) = _log_likelihood(best, cells), cells.shape
    p = _p_value(top - _saturated(cells.sum(axis=0)[None]), k + 1)
    if p > 1.0 - level:
        raise InputError(
            f"The tables of the {k} populations do not differ by more than chance (p = {p:.2g}), and with equal "
            "prevalences the errors of two tests cannot be told apart; take populations that differ more, or more rows."
        )
    for which, name in enumerate(names):
        result = cells.reshape(-1, 2, 2).sum(axis=2 - which)
        other = cells.reshape(-1, 2, 2).sum(axis=1 + which)
        # A test that is a coin gives the same share in every population, and says nothing of the other test's result.
        chance = _saturated(result.sum(axis=0)[None]) + _saturated(other)
        p = _p_value(top - chance, 3)
        if p > 1.0 - level or not best[which] + best[2 + which] > 1.0:
            raise InputError(
                f"Test {name!r} tells positives from negatives no better than chance (p = {p:.2g} against chance), and "
                "then prevalences and the other test's errors are not identified; without a second test that works, "
                "use from_counts with known rates."
            )


def _saturated(cells: Floats) -> float:
    """The log-likelihood of the tables' own shares."""
    n = cells.sum(axis=1, keepdims=True)
    return float((cells * np.log(np.maximum(cells / n, _LEAST))).sum())


def _p_value(gain: float, freedom: int) -> float:
    """P-value of a likelihood ratio test; nan without degrees of freedom."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, max(2.0 * gain, 0.0))) if freedom > 0 else math.nan


def _few(shares: Floats, cells: Floats) -> tuple[Note, ...]:
    n = cells.sum(axis=1)
    rows, side = min((float((shares * n).sum()), "positive"), (float(((1.0 - shares) * n).sum()), "negative"))
    if rows >= FEW_ROWS:
        return ()
    text = (
        f"only {rows:.3g} rows are estimated to be {side}; the rates of both tests there are unreliable: test more "
        "rows, or another population"
    )
    return (Note("TM107", text),)
