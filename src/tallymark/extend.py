"""User-defined metrics, quantifiers, threshold policies and losses.

A declared name works wherever the library's names do, for as long as the process lasts. Declaring it again replaces it,
so that a notebook's cell can be run twice; names of the library cannot be replaced.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Scores
from tallymark.comparison.compare import compare
from tallymark.errors import InputError, TallymarkError, Undefined
from tallymark.evaluation.evaluate import evaluate
from tallymark.metrics.declare import cell_settings, check_summary, or_nan
from tallymark.metrics.parameters import check_parameter
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.quantify.losses import on_distributions
from tallymark.registry import (
    LOSSES,
    METRICS,
    PARAMETERS,
    POLICIES,
    QUANTIFIERS,
    Better,
    CellMetric,
    Loss,
    Method,
    Metric,
    Needs,
    Parameter,
    Policy,
    require_one_of,
)
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally

__all__ = ["loss", "metric", "policy", "quantifier"]


def __dir__() -> list[str]:
    return sorted(__all__)


Function = TypeVar("Function", bound=Callable[..., Any])

#: Counts that passed through floats are whole up to this.
_ROUNDING = 1e-6

#: Cells of a few tables, to test whether a metric of them takes arrays.
_TABLES = np.array([[3.0, 0.0, 2.0], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [4.0, 5.0, 3.0]])

#: What a user-defined metric may be a function of, and the registry's word for it.
_NEEDS: Mapping[str, Needs] = {"cells": "confusion", "tally": "tally", "probabilities": "probabilities"}

#: Reference of what a user declares without one.
_BY_USER = "the user's own"


def metric(
    name: str,
    *,
    needs: Literal["cells", "tally", "probabilities"],
    range: tuple[float, float],  # noqa: A002
    better: Better,
    meaning: str,
    title: str | None = None,
    formula: str = "",
    reference: str = _BY_USER,
    prevalence_free: bool = False,
    rank_only: bool = False,
    chance: float | None = None,
    aliases: tuple[str, ...] = (),
    parameters: Mapping[str, float] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., float]]:
    """Declare a metric; ``evaluate``, ``compare``, reports and ``--metric`` then take its name.

    Its intervals and comparisons come from the four cells or from resampled rows. Where it has no value the function
    returns nan; a metric of a tally that is not `prevalence_free` has none at a stated prevalence.

    Parameters
    ----------
    name : str
        Letters, digits and underscores.
    needs : {"cells", "tally", "probabilities"}
        ``cells`` for a function of arrays tp, fp, fn, tn; the others for a function of a Tally.
    range : tuple of float
        Lowest and highest value.
    better : {"higher", "lower", "zero", "neither"}
        Which values are better. A metric of cells that is ``higher`` or ``lower`` is also a threshold policy.
    meaning : str
        One sentence.
    title, formula, reference : str, optional
        For the glossary and reports; `formula` in LaTeX.
    prevalence_free, rank_only : bool
        Whether it is invariant to class sizes, and to increasing transformations of the scores.
    chance : float, optional
        Value of an uninformative classifier; for cells it is computed.
    aliases : tuple of str
        Other names.
    parameters : mapping, optional
        Names and defaults of parameters of a metric of cells; the function takes them by name, ``evaluate`` and
        ``compare`` as keywords. One of the library's (``beta``) keeps its range, any other may be any number.

    Returns
    -------
    callable
        Decorator; the declared metric is a function of a summary.

    Examples
    --------
    >>> import tallymark as tm
    >>> @tm.extend.metric("recall_to", needs="cells", range=(0, 1), better="higher", meaning="A power of recall.",
    ...                   parameters={"power": 3.0})
    ... def recall_to(tp, fp, fn, tn, power):
    ...     return (tp / (tp + fn)) ** power
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8])
    >>> tm.evaluate(t, metrics=["recall_to"])["recall_to"].value
    0.125
    >>> tm.evaluate(t, metrics=["recall_to"], power=2)["recall_to"].value
    0.25
    """
    kind: Needs = _NEEDS[require_one_of("needs", needs, _NEEDS)]
    require_one_of("better", better, ("higher", "lower", "zero", "neither"))
    low, high = _checked_range(range)
    facts = _described(name, aliases, title=title or name, formula=formula, meaning=meaning, reference=reference)
    facts |= {"family": _BY_USER, "needs": kind, "low": low, "high": high, "better": better}
    facts |= _flags(prevalence_free=prevalence_free, rank_only=rank_only)
    facts["rank_only"] |= kind == "confusion"
    if chance is not None and not low <= _check.real(chance, "chance") <= high:
        raise InputError(f"chance is {chance:g}, outside of the declared range {low:g} to {high:g}.")
    if parameters and kind != "confusion":
        raise InputError("parameters= goes with needs='cells'; a function of a tally has none.")

    def declare(function: Callable[..., Any]) -> Callable[..., float]:
        user = _UserFunction(name, kind, function, low, high, prevalence_free, chance)

        @functools.wraps(function)
        def public(summary: Any, /, **given: float) -> float:
            return or_nan(lambda: user.compute(summary, **given))

        functions: dict[str, Any] = {"chance": user.by_chance, "compute": user.compute, "function": public}
        if kind == "confusion":
            defaults = _declared_parameters(parameters)
            user.require_arrays(defaults)
            declared: Metric = CellMetric(cells=user.cells, parameters=defaults, one_class=True, **functions, **facts)
        else:
            declared = Metric(bound=lambda tally: (low, high), **functions, **facts)  # noqa: ARG005
        METRICS.add_user_defined(declared)
        return public

    return declare


def _declared_parameters(parameters: Mapping[str, float] | None) -> dict[str, float]:
    """The parameters' defaults, checked; names that no metric has had before are declared."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InputError(f"parameters is {parameters!r}, expected a dict of names and defaults.")
    options = {option for function in (evaluate, compare) for option in inspect.signature(function).parameters}
    for name, default in (parameters or {}).items():
        if _identifier(name) in options:
            raise InputError(f"{name!r} cannot be a parameter of a metric: it is an option of evaluate or compare.")
        if name not in PARAMETERS:
            symbol = rf"\mathrm{{{name}}}".replace("_", r"\_")
            PARAMETERS.add_user_defined(Parameter(name, -math.inf, math.inf, symbol, f"Parameter {name}."))
        check_parameter(name, default)
    return dict(parameters or {})


@dataclass(frozen=True)
class _UserFunction:
    """A user's function as the registry needs it: results checked, within the range, undefined with a reason."""

    name: str
    kind: Needs
    function: Callable[..., Any]
    low: float
    high: float
    prevalence_free: bool
    chance: float | None

    def cells(self, tp: Any, fp: Any, fn: Any, tn: Any, **parameters: Any) -> Floats:
        """The values of many tables."""
        arrays = np.broadcast_arrays(*(np.asarray(c, dtype=np.float64) for c in (tp, fp, fn, tn)))
        call = lambda: self.function(*arrays, **parameters)
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._in_range(_numbers(self.name, call, arrays[0].shape, "arrays tp, fp, fn, tn"))

    def compute(self, summary: Any, **given: float) -> float:
        """The value of one summary."""
        check_summary(self.name, self.kind, summary, one_class=self.kind == "confusion")
        settings = cell_settings(METRICS[self.name], given)
        if isinstance(summary, Confusion):
            value = float(self.cells(*summary.cells, **settings))
        elif summary.prior is not None and not self.prevalence_free:
            raise Undefined(f"{self.name}: it is not defined at a stated prevalence")
        else:
            value = float(self._in_range(_numbers(self.name, lambda: self.function(summary), (), "a Tally")))
        if math.isnan(value):
            raise Undefined(f"{self.name}: it has no value here")
        return value

    def by_chance(self, summary: Any, **given: float) -> float:
        """Value of an uninformative classifier: as declared, or where prediction and truth are independent."""
        if self.chance is not None:
            return self.chance
        if isinstance(summary, Confusion):
            return self.compute(summary.independent(), **given)
        raise Undefined(f"{self.name}: its chance level was not declared")

    def require_arrays(self, parameters: Mapping[str, float]) -> None:
        """Refuse, at its declaration, a function of the cells that takes one table only."""
        try:
            self.cells(*_TABLES, **parameters)
        except Undefined as error:
            raise InputError(f"{error.reason}; the cells come as arrays, many tables at once.") from None

    def _in_range(self, values: Floats) -> Floats:
        """The values, refused where they lie outside of the declared range."""
        least, most = float(np.nanmin(values, initial=self.high)), float(np.nanmax(values, initial=self.low))
        slack = _ROUNDING * max(1.0, abs(least), abs(most))
        if least < self.low - slack or most > self.high + slack:
            raise InputError(
                f"{self.name} gave {least:g} to {most:g}, but its range was declared as {self.low:g} to {self.high:g}."
            )
        return values


def quantifier(
    name: str,
    *,
    meaning: str,
    title: str | None = None,
    formula: str = "",
    reference: str = _BY_USER,
    probabilities: bool = False,
    shift_proof: bool = True,
    options: Mapping[str, Any] | None = None,
    batched: bool = False,
    aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Declare a quantifier; ``estimate``, ``estimate_many``, reports and ``--method`` then take its name.

    The function takes a labelled Tally and the array of the target's scores and returns the share of positives. Its
    intervals resample the rows of both samples.

    Parameters
    ----------
    name : str
        Letters, digits and underscores.
    meaning : str
        One sentence.
    title, formula, reference : str, optional
        For the glossary and reports; `formula` in LaTeX.
    probabilities : bool
        Whether the scores must be probabilities.
    shift_proof : bool
        Whether it is consistent under prior shift.
    options : mapping, optional
        Further arguments of the function and their defaults.
    batched : bool
        Whether it is a kernel of :class:`~tallymark.quantify.kernels.samples.Validation` and
        :class:`~tallymark.quantify.kernels.samples.Samples` that returns the shares of many samples at once.
    aliases : tuple of str
        Other names.

    Returns
    -------
    callable
        Decorator that returns the function unchanged.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> @tm.extend.quantifier("mean_score", meaning="The mean score placed between the classes' means.")
    ... def mean_score(validation, scores):
    ...     up, down = (run.moments.mean for run in (validation.positive, validation.negative))
    ...     return (scores.mean() - down) / (up - down)
    >>> t = tm.tally([0, 0, 1, 1], [0.0, 0.2, 0.8, 1.0])
    >>> round(tm.quantify.estimate("mean_score", t, tm.tally(scores=[0.1, 0.1, 0.9]), level=None).prevalence, 4)
    0.3333
    """
    facts = _described(name, aliases, title=title or name, formula=formula, meaning=meaning, reference=reference)
    facts |= _flags(probabilities=probabilities, shift_proof=shift_proof)
    _flags(batched=batched)
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options is {options!r}, expected a dict of names and defaults.")
    _names("options", tuple(options or ()))

    def declare(function: Function) -> Function:
        def share(pair: tuple[Tally, Scores], given: Mapping[str, Any]) -> float:
            return float(_numbers(name, lambda: function(*pair, **given), (), "a Tally and scores"))

        def kernel(validation: Validation, target: Samples, **given: Any) -> Floats:
            lines = max(len(validation.negative), len(validation.positive), len(target))
            if batched:
                shares = _numbers(name, lambda: function(validation, target, **given), (lines,), "samples")
            else:
                pairs = zip(_tallies(validation, lines), _score_arrays(target, lines), strict=True)
                shares = np.array([share(pair, given) for pair in pairs])
            # Correction for errors may give a share beyond 0 or 1; an infinite one is undefined.
            return np.clip(np.where(np.isfinite(shares), shares, np.nan), 0.0, 1.0)

        QUANTIFIERS.add_user_defined(
            Method(kernel=kernel, interval="bootstrap", options=dict(options or {}), whole_rows=not batched, **facts)
        )
        return function

    return declare


def policy(
    name: str,
    *,
    meaning: str,
    arguments: tuple[str, ...] = (),
    defaults: tuple[float, ...] = (),
    example: str = "",
    judged_by: str = "balanced_accuracy",
    reference: str = _BY_USER,
    aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Declare a threshold policy; ``Tally.at``, ``threshold=`` everywhere and ``--threshold`` then take its name.

    The function takes a labelled Tally, and the numbers written behind the policy's name, and returns a threshold. The
    tally may be weighted (resamples are), so it should count by mass, not by position. Intervals include the choice.

    Parameters
    ----------
    name : str
        Letters, digits and underscores.
    meaning : str
        One sentence.
    arguments : tuple of str
        Names of the numbers behind the name; ``"floor:0.9"`` has one.
    defaults : tuple of float
        Values of the last arguments where they are left out.
    example : str
        How it is written.
    judged_by : str
        The metric that its choice is judged by.
    reference : str
        For the glossary.
    aliases : tuple of str
        Other names.

    Returns
    -------
    callable
        Decorator that returns the function unchanged.

    Examples
    --------
    >>> import tallymark as tm
    >>> @tm.extend.policy("middle", meaning="Half way between the highest and the lowest score.")
    ... def middle(tally):
    ...     return sum(tally.range) / 2
    >>> tm.tally([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]).at("middle").threshold
    0.5
    """
    arguments = _names("arguments", arguments)
    written = example or ":".join(filter(None, (name, ",".join(arguments))))
    facts = _described(name, aliases, meaning=meaning, reference=reference, example=written)
    numbers = tuple(_check.real(default, "defaults") for default in _check.several(defaults, "defaults"))
    if len(numbers) > len(arguments):
        raise InputError(
            f"defaults has {len(numbers)} numbers for {len(arguments)} arguments; each default is of an argument."
        )

    def declare(function: Function) -> Function:
        def choose(tally: Tally, *numbers: float) -> float:
            threshold = float(_numbers(name, lambda: function(tally, *numbers), (), "a Tally"))
            if math.isnan(threshold):
                raise Undefined(f"the policy {name!r} chooses no threshold here")
            return threshold

        POLICIES.add_user_defined(
            Policy(choose=choose, arguments=arguments, defaults=numbers, judged_by=METRICS[judged_by].name, **facts)
        )
        return function

    return declare


def loss(
    name: str,
    *,
    meaning: str,
    range: tuple[float, float] = (0.0, math.inf),  # noqa: A002
    better: Better = "lower",
    title: str | None = None,
    formula: str = "",
    reference: str = _BY_USER,
    ordinal: bool = False,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a quantification loss; ``GridSearch(loss=)`` and ``tallymark quantifiers`` then take its name.

    The function takes the true and the estimated shares, arrays (samples, classes), and returns one value per sample.

    Parameters
    ----------
    name : str
        Letters, digits and underscores.
    meaning : str
        One sentence.
    range : tuple of float
        Lowest and highest value.
    better : {"lower", "higher"}
        Which values are better.
    title, formula, reference : str, optional
        For the glossary and reports; `formula` in LaTeX.
    ordinal : bool
        Whether it depends on the order of the classes.
    aliases : tuple of str
        Other names.

    Returns
    -------
    callable
        Decorator; the declared loss also takes the shares of one sample.

    Examples
    --------
    >>> import tallymark as tm
    >>> @tm.extend.loss("largest_error", meaning="The largest error of any class.", range=(0, 1))
    ... def largest_error(truth, estimate):
    ...     return abs(truth - estimate).max(axis=1)
    >>> round(largest_error([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]), 4)
    0.1
    """
    low, high = _checked_range(range)
    require_one_of("better", better, ("higher", "lower", "zero", "neither"))
    facts = _described(name, aliases, title=title or name, formula=formula, meaning=meaning, reference=reference)
    facts |= {"low": low, "high": high, "better": better, **_flags(ordinal=ordinal)}

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        def compute(truth: Floats, estimate: Floats) -> Floats:
            return _numbers(name, lambda: function(truth, estimate), (len(truth),), "arrays of shares")

        LOSSES.add_user_defined(Loss(compute=compute, **facts))
        return functools.wraps(function)(on_distributions(compute))

    return declare


def _checked_range(given: Iterable[float]) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise InputError(f"range is {given!r}, expected the lowest and the highest value, such as (0, 1).")
    return low, high


def _described(name: str, aliases: object, **texts: object) -> dict[str, Any]:
    """The facts that all declarations share, checked."""
    for option, value in texts.items():
        if not isinstance(value, str):
            raise InputError(f"{option} is {value!r}, expected text.")
    return {"name": _identifier(name), "aliases": _names("aliases", aliases), **texts}


def _flags(**given: object) -> dict[str, Any]:
    for option, value in given.items():
        if not isinstance(value, bool):
            raise InputError(f"{option} is {value!r}, expected True or False.")
    return given


def _names(option: str, values: object) -> tuple[str, ...]:
    """A list of names; a single text, which would be read as a list of letters, is refused."""
    return tuple(_identifier(value) for value in _check.several(values, option))


def _numbers(name: str, call: Callable[[], Any], shape: tuple[int, ...], given: str) -> Floats:
    """The numbers that a user's function returns; its failure or a wrong shape is reported under its name.

    A failure is Undefined, so that a resample it cannot handle is left out and the others are kept.
    """
    try:
        value = np.asarray(call(), dtype=np.float64)
    except TallymarkError:
        raise
    except Exception as error:
        raise Undefined(f"{name}: the function failed on {given} ({type(error).__name__}: {error})") from error
    if value.shape not in (shape, ()):
        raise InputError(f"{name} gave numbers of shape {value.shape} for {given}, expected {shape or 'one number'}.")
    return np.broadcast_to(value, shape)


def _identifier(name: object) -> str:
    if not isinstance(name, str) or not name.isidentifier():
        raise InputError(f"{name!r} cannot be a name here; use letters, digits and underscores, such as 'my_metric'.")
    return name


def _lines(samples: Samples, lines: int) -> Iterator[tuple[Scores, Floats | None]]:
    """Scores and masses of each sample; a single sample is repeated."""
    for line in np.arange(lines) % len(samples):
        if samples.index is not None:
            yield samples.scores[samples.index[line]], None
        else:
            yield samples.scores, None if samples.mass is None else samples.mass[line].astype(np.float64)


def _tallies(validation: Validation, lines: int) -> Iterator[Tally]:
    """The labelled tally of each resample."""
    for (down, light), (up, heavy) in zip(
        _lines(validation.negative, lines), _lines(validation.positive, lines), strict=True
    ):
        weights = [np.ones(len(s)) if w is None else w for s, w in ((down, light), (up, heavy))]
        truth = np.repeat([False, True], [len(down), len(up)])
        yield Tally.of(np.concatenate((down, up)), truth, (0, 1), weights=np.concatenate(weights))


def _score_arrays(target: Samples, lines: int) -> Iterator[Scores]:
    """The scores of each sample, repeated by their counts."""
    for scores, mass in _lines(target, lines):
        counts = None if mass is None else np.rint(mass).astype(np.int64)
        if mass is not None and counts is not None and np.abs(mass - counts).max(initial=0.0) > _ROUNDING:
            raise InputError(
                "A quantifier of scores takes whole rows; for a weighted target declare one with batched=True."
            )
        yield scores if counts is None else np.repeat(scores, counts)
