"""Calibration maps from scores to probabilities, fitted on a labelled tally.

A map holds at the prevalence of the sample it was fitted on. For a target of another prevalence, Bayesian Calibration
(:func:`tallymark.quantify.bayesian_calibration`) estimates that prevalence first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError
from tallymark.metrics.logistic import fit_logistic, log_odds, logit, sigmoid
from tallymark.notes import Note, emit
from tallymark.registry import CALIBRATIONS, METRICS, Calibration, choose
from tallymark.summaries.run import Run
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class CalibrationMap(Shown):
    """A fitted calibration map, callable on scores.

    `parameters` has the few numbers of a Platt, beta or temperature map, and the number of steps of an isotonic one.
    """

    name: str
    parameters: Mapping[str, float]
    function: Callable[[Floats], Floats] = field(repr=False)
    probabilities: bool = False
    warnings: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenDict(self.parameters))

    def __call__(self, scores: object) -> Floats:
        """Probabilities of scores."""
        s = _check.scores(scores).astype(np.float64)
        if self.probabilities:
            _require_probabilities(self.name, float(s.min()), float(s.max()))
        return self.function(s)

    def apply(self, tally: Tally) -> Tally:
        """The tally of the same rows with calibrated scores; scores with one probability become tied."""
        return with_scores(tally, self)

    def heading(self) -> str:
        """Name of the method."""
        return f"{self.name} calibration"

    def rows(self) -> list[Row]:
        """The parameters."""
        return [dict(self.parameters)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"name": self.name, "parameters": dict(self.parameters)}


def with_scores(tally: Tally, function: Callable[[Any], Floats]) -> Tally:
    """The same rows with other scores."""
    if tally.grid is not None:
        raise InputError("A quantised tally has cells, not scores; calibrate the rows before they are tallied.")
    runs = [Run.of(function(run.scores), run.counts, run.weights) if len(run) else run for run in tally.runs]
    return Tally(tuple(runs), tally.labels, tally.prior)


def _require_probabilities(name: str, low: float, high: float) -> None:
    if low < 0.0 or high > 1.0:
        raise InputError(
            f"{name} calibration takes probabilities, but the scores run from {low:g} to {high:g}; "
            "use platt or isotonic."
        )


def _columns(tally: Tally, name: str) -> tuple[Floats, Floats, Floats]:
    """Scores, their outcomes (0 or 1) and masses; refuses a tally with one class only."""
    if not isinstance(tally, Tally) or not tally.labelled:
        raise InputError(f"{name} is fitted on a labelled tally: tm.calibration.{name}(tm.tally(y, scores)).")
    if not tally.positives or not tally.negatives:
        raise InputError(f"{name} calibration needs rows of both classes; this tally has one class only.")
    runs = tally.runs
    scores = np.concatenate([run.scores if run.hi is None else (run.scores + run.hi) / 2.0 for run in runs])
    truth = np.repeat([0.0, 1.0], [len(run) for run in runs])
    mass = np.concatenate([run.mass for run in runs]).astype(np.float64)
    return scores.astype(np.float64), truth, mass


# Functions with names, not lambdas, so that a fitted map can be pickled.
def _line(slope: float, intercept: float, x: Floats) -> Floats:
    return sigmoid(slope * x + intercept)


def _steps(corners: Floats, heights: Floats, x: Floats) -> Floats:
    return np.interp(x, corners, heights)


def _beta(x: Floats, a: float, b: float, c: float) -> Floats:
    low, high = log_odds(x)
    return sigmoid(a * low + b * high + c)


def _tempered(slope: float, bias: float, x: Floats) -> Floats:
    return sigmoid(slope * logit(x) + bias)


def platt(tally: Tally) -> CalibrationMap:
    r"""Platt's logistic map, :math:`1 / (1 + e^{-(a s + b)})`, for any scores.

    The outcomes are smoothed to :math:`(P+1)/(P+2)` and :math:`1/(N+2)` as in Platt (1999), so that classes that do not
    overlap have finite slopes.

    Parameters
    ----------
    tally : Tally
        Labelled scores with rows of both classes.

    Returns
    -------
    CalibrationMap

    Examples
    --------
    >>> import tallymark as tm
    >>> to_probability = tm.calibration.platt(tm.tally([0, 0, 1, 1], [-2.0, 0.5, -0.5, 3.0]))
    >>> to_probability([-2.0, 0.0, 3.0]).round(2).tolist()
    [0.33, 0.48, 0.71]
    """
    s, truth, mass = _columns(tally, "platt")
    up, down = tally.positive.effective_size, tally.negative.effective_size
    smoothed = np.where(truth == 1.0, (up + 1.0) / (up + 2.0), 1.0 / (down + 2.0))
    a, b = fit_logistic(s[None, :], smoothed, mass[None, :])[0]
    return CalibrationMap("platt", {"slope": float(a), "intercept": float(b)}, partial(_line, a, b))


def isotonic(tally: Tally) -> CalibrationMap:
    """Isotonic regression of the labels on the scores (pool adjacent violators), interpolated linearly.

    Zadrozny & Elkan (2002), KDD.

    Parameters
    ----------
    tally : Tally
        Labelled scores with rows of both classes.

    Returns
    -------
    CalibrationMap

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.calibration.isotonic(tm.tally([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))([0.1, 0.25, 0.4]).tolist()
    [0.0, 0.5, 1.0]
    """
    from scipy.optimize import isotonic_regression

    s, truth, mass = _columns(tally, "isotonic")
    order = np.argsort(s, kind="stable")
    s, truth, mass = s[order], truth[order], mass[order]
    starts = np.flatnonzero(np.append(True, s[1:] != s[:-1]))
    weight = np.add.reduceat(mass, starts)
    share = np.add.reduceat(mass * truth, starts) / weight
    fitted = isotonic_regression(share, weights=weight).x
    corners = s[starts]
    return CalibrationMap("isotonic", {"steps": float(len(np.unique(fitted)))}, partial(_steps, corners, fitted))


def beta(tally: Tally) -> CalibrationMap:
    r"""Beta calibration of probabilities, :math:`\mathrm{logit}^{-1}(a \ln p - b \ln(1-p) + c)` with a, b not negative.

    Kull, Silva Filho & Flach (2017), AISTATS.

    Parameters
    ----------
    tally : Tally
        Labelled probabilities with rows of both classes.

    Returns
    -------
    CalibrationMap

    Examples
    --------
    >>> import tallymark as tm
    >>> m = tm.calibration.beta(tm.tally([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]))
    >>> m([0.1, 0.5, 0.9]).round(2).tolist()
    [0.1, 0.69, 0.99]
    """
    s, truth, mass = _columns(tally, "beta")
    _require_probabilities("beta", float(s.min()), float(s.max()))
    features = log_odds(s)
    entries = dict(zip("abc", fit_logistic(np.stack(features), truth, mass[None, :])[0].tolist(), strict=True))
    # As in the paper, a feature with a negative slope is left out and the other fitted again.
    for name, place in (("a", 1), ("b", 0)):
        if entries[name] < 0.0:
            slope, c = fit_logistic(features[place][None, :], truth, mass[None, :])[0].tolist()
            entries = {"a": 0.0, "b": 0.0, "c": c} | {"ab"[place]: max(slope, 0.0)}
    return CalibrationMap("beta", entries, partial(_beta, **entries), probabilities=True)


def temperature(tally: Tally, *, bias: bool = False) -> CalibrationMap:
    r"""Temperature scaling of probabilities, :math:`\mathrm{logit}^{-1}(\mathrm{logit}(p)/T + b)`.

    Guo et al. (2017), ICML; with `bias` bias-corrected, Alexandari, Kundaje & Shrikumar (2020), ICML.

    Parameters
    ----------
    tally : Tally
        Labelled probabilities with rows of both classes.
    bias : bool
        Whether to fit b; it is 0 otherwise.

    Returns
    -------
    CalibrationMap

    Examples
    --------
    >>> import tallymark as tm
    >>> m = tm.calibration.temperature(tm.tally([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]))
    >>> round(m.parameters["temperature"], 3)
    0.931
    """
    s, truth, mass = _columns(tally, "temperature")
    _require_probabilities("temperature", float(s.min()), float(s.max()))
    slope, *rest = fit_logistic(logit(s)[None, :], truth, mass[None, :], intercept=bias)[0].tolist()
    b = rest[0] if rest else 0.0
    notes: tuple[Note, ...] = ()
    if slope < 0.0:
        message = (
            "higher probabilities mean negative on these rows, so no temperature above 0 fits and all get one "
            "probability. Nothing was flipped; check the scores and pos_label"
        )
        notes = (Note("TM103", message),)
        emit(notes)
        share = float(np.sum(mass * truth) / mass.sum())
        slope, b = 0.0, math.log(share / (1.0 - share)) if bias else 0.0
    entries = {"temperature": 1.0 / slope if slope else np.inf, "bias": b}
    return CalibrationMap("temperature", entries, partial(_tempered, slope, b), probabilities=True, warnings=notes)


def log_odds_slope(tally: Tally) -> tuple[float, float]:
    """Slope of the logistic recalibration of a sample's log odds, and its standard error."""
    s, truth, mass = _columns(tally, "temperature")
    x = logit(s)
    slope, bias = fit_logistic(x[None, :], truth, mass[None, :])[0]
    p = sigmoid(slope * x + bias)
    weight = mass * p * (1.0 - p) * sum(run.effective_size for run in tally.runs) / float(tally.n)
    total = float(weight.sum())
    spread = float(np.sum(weight * (x - np.sum(weight * x) / total) ** 2)) if total > 0.0 else 0.0
    return float(slope), spread**-0.5 if spread > 0.0 else np.inf


def log_odds_offset(tally: Tally) -> tuple[float, float]:
    """Calibration in the large of a sample's log odds, and its standard error."""
    s, _, mass = _columns(tally, "temperature")
    offset = METRICS["calibration_intercept"].compute(tally)
    p = sigmoid(logit(s) + offset)
    weight = mass * p * (1.0 - p) * sum(run.effective_size for run in tally.runs) / float(tally.n)
    total = float(weight.sum())
    return offset, total**-0.5 if total > 0.0 else np.inf


for _fit, _meaning, _reference in (
    (platt, "A logistic curve of any scores.", "Platt (1999)."),
    (isotonic, "Isotonic regression of the labels on the scores.", "Zadrozny & Elkan (2002), KDD."),
    (beta, "A curve of three parameters for probabilities.", "Kull, Silva Filho & Flach (2017), AISTATS."),
    (temperature, "Log odds of probabilities divided by one number.", "Guo et al. (2017), ICML."),
):
    CALIBRATIONS.add(Calibration(name=_fit.__name__, meaning=_meaning, reference=_reference, fit=_fit))


def calibrate(tally: Tally, method: str) -> CalibrationMap:
    """Fit a calibration map by name.

    Parameters
    ----------
    tally : Tally
        Labelled scores with rows of both classes.
    method : {"platt", "isotonic", "beta", "temperature"}
        The method; beta and temperature need probabilities.

    Returns
    -------
    CalibrationMap
    """
    # Methods that use a target need more than a labelled tally.
    methods = {name: entry.fit for name, entry in CALIBRATIONS.items() if not entry.uses_target}
    fit: Callable[[Tally], CalibrationMap] = choose("method", method, methods)
    return fit(tally)
