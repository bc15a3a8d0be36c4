"""How a metric is declared: a function with its facts, or a formula of the four cells with its facts."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark._numbers import number
from tallymark._rounding import within
from tallymark.errors import InputError, Undefined, UndefinedWarning, shown
from tallymark.metrics import expressions
from tallymark.metrics.margins import Margins
from tallymark.registry import METRICS, Better, Bound, Cells, Metric, Needs, choose
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.tally import Tally

Parameters = ParamSpec("Parameters")
Summary = TypeVar("Summary", Tally, Confusion, Moments, ClassScores)
Average = Literal["micro", "macro", "weighted", "mean_of_f", "f_of_means"]

#: What each kind of metric takes, and the call that makes it.
_TAKES: Mapping[Needs, tuple[type, str]] = {
    "confusion": (Confusion, "tally.at(0.5) or tm.confusion(y, predicted)"),
    "tally": (Tally, "tm.tally(y, scores)"),
    "probabilities": (Tally, "tm.tally(y, probabilities)"),
    "moments": (Moments, "tm.moments(y, scores, classes=…)"),
    "multiclass": (ClassScores, "tm.class_scores(y, scores, classes=…)"),
}


def metric(
    *,
    title: str,
    family: str,
    needs: Needs,
    formula: str,
    meaning: str,
    reference: str,
    low: float,
    high: float,
    better: Better,
    chance: float | Callable[..., float],
    prevalence_free: bool = False,
    rank_only: bool = False,
    one_class: bool = False,
    aliases: tuple[str, ...] = (),
    bound: Bound = None,
    moments: bool = False,
    normal_theory: bool = False,
    cells: Callable[..., Any] | None = None,
    top_heavy: bool = False,
    holds_from: tuple[int, int] = (0, 0),
    extensive: bool = False,
    brief: str = "",
    short: str = "",
) -> Callable[[Callable[Concatenate[Summary, Parameters], float]], Callable[Concatenate[Summary, Parameters], float]]:
    """Declare a function of a summary as a metric.

    The function may raise :class:`Undefined`; callers get ``nan`` and a warning with the reason.
    """

    def declare(
        function: Callable[Concatenate[Summary, Parameters], float],
    ) -> Callable[Concatenate[Summary, Parameters], float]:
        name = function.__name__

        def compute(summary: Any, **options: Any) -> float:
            check_summary(name, needs, summary, one_class=one_class)
            value = float(function(summary, **options))  # type: ignore[call-arg]
            if math.isnan(value):
                raise Undefined(f"{name}: the scores or weights are too large or too small to compute it")
            return within(value, low, high)

        @functools.wraps(function)
        def public(summary: Summary, /, *arguments: Parameters.args, **options: Parameters.kwargs) -> float:
            _refuse_arrays(name, needs, arguments)
            return or_nan(lambda: compute(summary, **options))

        METRICS.add(
            Metric(
                name=name,
                title=title,
                family=family,
                needs=needs,
                formula=formula,
                meaning=meaning,
                reference=reference,
                low=low,
                high=high,
                better=better,
                prevalence_free=prevalence_free,
                rank_only=rank_only,
                one_class=one_class,
                aliases=aliases,
                bound=bound,
                moments=moments,
                normal_theory=normal_theory,
                cells=cells,
                top_heavy=top_heavy,
                holds_from=holds_from,
                extensive=extensive,
                brief=brief,
                short=short,
                chance=chance if callable(chance) else lambda *_, **__: chance,
                compute=compute,
                function=public,
            )
        )

        return public

    return declare


class CellFunction(Protocol):
    """A metric of the four cells, callable on any confusion matrix."""

    def __call__(  # noqa: D102
        self,
        confusion: Confusion,
        /,
        *,
        average: Average | None = None,
        weights: Mapping[Label, float] | None = None,
        classes: Sequence[Label] | None = None,
        **parameters: float,
    ) -> float: ...


def cell_metric(
    name: str,
    expression: str,
    *,
    title: str,
    meaning: str,
    reference: str,
    low: float = 0.0,
    high: float = 1.0,
    better: Better = "higher",
    prevalence_free: bool = False,
    aliases: tuple[str, ...] = (),
    undefined: Mapping[str, str],
    example: float,
    parameters: Mapping[str, float] | None = None,
    f_of_means: bool = False,
    threshold_parameter: str | None = None,
    proportion: tuple[Cells, Cells] | None = None,
    model_free: bool = False,
    of_classes: Callable[[Margins], Floats] | None = None,
    brief: str = "",
    short: str = "",
) -> CellFunction:
    """Declare a metric by its formula of tp, fp, fn, tn.

    `undefined` maps a sub-formula to the reason why the metric has no value where it is 0. `of_classes` extends
    the definition to K classes without averaging; `f_of_means` offers the F of averaged precision and recall. `example`
    is the value, to four decimals, at tp 231, fp 32, fn 27, tn 54.
    """
    evaluate = expressions.to_numpy(expression)
    reasons = {reason: expressions.to_numpy(zero) for zero, reason in undefined.items()}
    defaults = dict(parameters or {})

    def of_cells(cells: Sequence[float], settings: Mapping[str, float]) -> float:
        value = float(evaluate(*cells, **settings))
        if math.isnan(value):
            zeros = (reason for reason, zero in reasons.items() if float(zero(*cells)) == 0.0)
            raise Undefined(f"{name}: {next(zeros, '0 divided by 0')}")
        return within(value, low, high)

    def compute(
        confusion: Confusion,
        *,
        average: str | None = None,
        weights: Mapping[Label, float] | None = None,
        classes: Sequence[Label] | None = None,
        **given: float,
    ) -> float:
        check_summary(name, "confusion", confusion)
        settings = cell_settings(facts, given, confusion.acts_from)
        _refuse_averaging(average, weights, classes)
        if average is None:
            if not isinstance(confusion, BinaryConfusion) and of_classes is not None:
                return _of_classes(name, confusion, of_classes)
            return of_cells(confusion.cells, settings)
        if average == "micro":
            return of_cells(confusion.overall(classes).cells, settings)
        averages = {"macro": "each", "weighted": "each"} | (_OF_F if f_of_means else {})
        how = choose("average", average, averages | {"micro": ""})
        shares = _class_weights(confusion, average, weights, classes)
        if how == "each":
            return _mean_over_classes(name, confusion, shares, lambda part: of_cells(part.cells, settings))
        return _f_of_means(name, confusion, shares, settings.get("beta", 1.0))

    def public(
        confusion: Confusion,
        /,
        *arguments: object,
        average: Average | None = None,
        weights: Mapping[Label, float] | None = None,
        classes: Sequence[Label] | None = None,
        **given: float,
    ) -> float:
        _refuse_arrays(name, "confusion", arguments)
        return or_nan(lambda: compute(confusion, average=average, weights=weights, classes=classes, **given))

    facts = Metric(
        name=name, title=title, family="threshold", needs="confusion", formula=expressions.to_latex(expression),
        meaning=meaning, reference=reference, low=low, high=high, better=better,
        prevalence_free=prevalence_free, rank_only=True, aliases=aliases,
        chance=_by_chance(name, of_cells, compute), compute=compute, function=public,
        cells=evaluate, expression=expression, parameters=defaults, threshold_parameter=threshold_parameter,
        one_class=True, proportion=proportion, model_free=model_free, of_classes=of_classes, brief=brief, short=short,
    )  # fmt: skip
    METRICS.add(facts)

    public.__name__ = public.__qualname__ = name
    public.__module__ = "tallymark.metrics.threshold"
    public.__signature__ = _signature(defaults)  # type: ignore[attr-defined]
    public.__doc__ = _docstring(facts, example, f_of_means=f_of_means)
    return public


def _by_chance(
    name: str, of_cells: Callable[[Sequence[float], Mapping[str, float]], float], compute: Callable[..., float]
) -> Callable[..., float]:
    """The value expected of predictions that know nothing of the truth."""

    def chance(confusion: Confusion, **given: Any) -> float:
        if not isinstance(confusion, BinaryConfusion) or "average" in given:
            return compute(confusion.independent(), **given)
        return of_cells(confusion.cells.independent, cell_settings(METRICS[name], given, confusion.acts_from))

    return chance


#: Averages that F-measures have besides.
_OF_F = {"mean_of_f": "each", "f_of_means": "parts"}


def _refuse_averaging(average: str | None, weights: object, classes: object) -> None:
    """Options of an average that is not asked for."""
    if weights is not None and average != "weighted":
        raise InputError("weights= goes with average='weighted'.")
    if classes is not None and average is None:
        raise InputError("classes= says which classes to average over; give average= too.")


def _f_of_means(name: str, confusion: Confusion, shares: Mapping[Label, float], beta: float) -> float:
    """The F of averaged precision and averaged recall."""
    precision, recall = (
        _mean_over_classes(part, confusion, shares, METRICS[part].compute) for part in ("precision", "recall")
    )
    square = beta**2
    if square * precision + recall == 0.0:
        raise Undefined(f"{name}: macro precision and macro recall are both 0")
    return (1.0 + square) * precision * recall / (square * precision + recall)


def _of_classes(name: str, confusion: Confusion, values: Callable[[Margins], Floats]) -> float:
    """The metric of a K-class matrix as it stands."""
    if not confusion.n:
        raise Undefined(f"{name}: there are no rows")
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(values(Margins.of(confusion.matrix[None]))[0])
    if math.isnan(value):
        empty = [label for label, rows in zip(confusion.labels, confusion.truth.tolist(), strict=True) if not rows]
        sides = [np.count_nonzero(side) for side in (confusion.truth, confusion.predicted)]
        if min(sides) < 2:
            raise Undefined(f"{name}: all rows have one class, or were all given one class")
        raise Undefined(
            f"{name}: there is no row of class {shown(empty)}; tm.metrics.{name}(…, classes=[…]) averages over the others"
        )
    return value


def _signature(defaults: Mapping[str, float]) -> inspect.Signature:
    """What help() shows: the matrix, how to average, and the parameters by name."""
    named = {"average": None, "weights": None, "classes": None, **defaults}
    return inspect.Signature(
        [
            inspect.Parameter("confusion", inspect.Parameter.POSITIONAL_ONLY),
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=d) for name, d in named.items()),
        ]
    )


def _docstring(facts: Metric, example: float, *, f_of_means: bool) -> str:
    how = "Extends to K classes as it stands; else" if facts.of_classes else "For K classes,"
    more = ", or `f_of_means` for the F of macro precision and macro recall" if f_of_means else ""
    settings = ", ".join(f"{key}={value:g}" for key, value in facts.parameters.items())
    return (
        f"{facts.title}: :math:`{facts.formula}`.\n\n{facts.meaning}\n\n"
        f"{how} `average` is `micro`, `macro` or `weighted` (by class size, or by `weights`){more};\n`classes` are those to average over, all unless told.\n"
        + (f"Parameters and their defaults: {settings}.\n" if settings else "")
        + f"\n{facts.reference}\n\n"
        ">>> import tallymark as tm\n"
        f">>> round(tm.metrics.{facts.name}(tm.Confusion.of_cells(tp=231, fp=32, fn=27, tn=54)), 4)\n"
        f"{example}\n"
    )


#: What the reasons of a metric of two classes mean for one class among several.
_FOR_A_CLASS = {
    "nothing was classified positive": "no row was predicted as it",
    "nothing was classified negative": "every row was predicted as it",
    "there are no positives": "it has no rows",
    "there are no negatives": "all rows are of it",
}


def _mean_over_classes(
    name: str, confusion: Confusion, shares: Mapping[Label, float], value: Callable[[Confusion], float]
) -> float:
    total, undefined = 0.0, []
    for label, share in shares.items():
        try:
            total += share * value(confusion.one_vs_rest(label)) if share else 0.0
        except Undefined as error:
            undefined.append((label, error.reason))
    if undefined:
        names = shown([label for label, _ in undefined])
        own = undefined[0][1].partition(": ")[2]
        why = _FOR_A_CLASS.get(own, own)
        raise Undefined(
            f"{name}: undefined for class {names} ({why}); tm.metrics.{name}(…, classes=[…]) averages over the others"
        )
    return total


def _class_weights(
    confusion: Confusion, average: str, weights: Mapping[Label, float] | None, classes: Sequence[Label] | None
) -> dict[Label, float]:
    """Shares that add up to 1: S-ONS's w_c / K with w_c = x_c / mean(x)."""
    chosen = confusion.labels if classes is None else confusion.known(classes)
    if weights is not None:
        if not isinstance(weights, Mapping):
            raise InputError("weights= is a mapping from class to weight, such as {'bread': 0.4, 'milk': 0.6}.")
        missing = [label for label in chosen if label not in weights]
        if missing:
            raise InputError(f"weights= lacks the classes {shown(missing)}; give one number per class.")
        sizes = [float(weights[label]) for label in chosen]
        if min(sizes) < 0 or not math.isfinite(sum(sizes)) or sum(sizes) <= 0:
            raise InputError("weights= must be 0 or more and not all 0.")
    else:
        truth = dict(zip(confusion.labels, confusion.seen.sum(axis=1), strict=True))
        sizes = [float(truth[label]) if average == "weighted" else 1.0 for label in chosen]
        if not sum(sizes) > 0.0:
            raise Undefined("the classes have no rows")
    return {label: size / sum(sizes) for label, size in zip(chosen, sizes, strict=True)}


def cell_settings(facts: Metric, given: Mapping[str, float], threshold: float | None = None) -> dict[str, float]:
    """The parameters of a metric at one threshold, each known and in its range.

    A `threshold` of nan is that of scores that are no probabilities.
    """
    for key in given:
        if key not in facts.parameters:
            allowed = ", ".join(facts.parameters) or "none"
            raise InputError(f"{facts.name} has no parameter {key!r}; it has: {allowed}.")
        check_parameter(key, given[key])
    own = facts.threshold_parameter
    if own is None or own in given or threshold is None:
        return {**facts.parameters, **given}
    low, high = PARAMETER_RANGES[own]
    if not low <= threshold <= high:
        what = (
            "scores lie beyond [0, 1], so the threshold is no probability"
            if math.isnan(threshold)
            else f"the threshold {number(threshold)} is no probability"
        )
        raise Undefined(f"{facts.name}: {what} at which one would act; say {own}= or the costs of both errors")
    return {**facts.parameters, own: threshold, **given}


def check_parameter(name: str, value: float) -> None:
    """Refuse a parameter outside its range."""
    low, high = PARAMETER_RANGES[name]
    if not low <= _check.real(value, name) <= high:
        raise InputError(f"{name} is {value!r}, expected a number from {low:g} to {high:g}.")


#: What each parameter of a formula may be. At odds of 1 to 0 nobody would act, so `odds_at` stays below 1.
PARAMETER_RANGES = {
    "beta": (0.0, math.inf),
    "cost_fp": (0.0, math.inf),
    "cost_fn": (0.0, math.inf),
    "odds_at": (0.0, math.nextafter(1.0, 0.0)),
}


def _refuse_arrays(name: str, needs: Needs, arguments: tuple[object, ...]) -> None:
    """Columns passed where a summary belongs, as other libraries take them."""
    if arguments:
        expected, maker = _TAKES[needs]
        raise InputError(
            f"{name} takes one {expected.__name__}, got {len(arguments) + 1} arguments. "
            f"Write tm.metrics.{name}({_direct(maker)}); options are given by name."
        )


def _direct(maker: str) -> str:
    """The way to make a summary from columns."""
    return maker.rsplit(" or ", maxsplit=1)[-1]


def check_summary(name: str, needs: Needs, summary: object, *, one_class: bool = True) -> None:
    """Refuse a summary that a metric is no function of, with the call that makes the right one."""
    expected, maker = _TAKES[needs]
    if not isinstance(summary, expected):
        calls = " or ".join(f"tm.metrics.{name}({argument})" for argument in maker.split(" or "))
        raise InputError(f"{name} takes a {expected.__name__}, got {type(summary).__name__}. Write {calls}.")
    if isinstance(summary, Tally) and summary.labelled and not one_class:
        for label, run in zip(summary.labels or (), summary.runs, strict=True):
            if not len(run):
                raise Undefined(f"{name}: there is no row of class {label!r}")
    if needs == "probabilities" and isinstance(summary, Tally):
        require_probabilities(name, summary)


def require_probabilities(name: str, tally: Tally) -> None:
    """Scores outside [0, 1] are no probabilities; an empty tally has none."""
    if not tally.is_probability:
        low, high = tally.range
        what = "there are no rows" if math.isnan(low) else f"scores run from {number(low)} to {number(high)}"
        raise Undefined(f"{name}: {what}, probabilities in [0, 1] are needed; calibrate the scores first")


def or_nan(compute: Callable[[], float]) -> float:
    """A value, or nan with a warning that says why there is none."""
    try:
        return compute()
    except Undefined as error:
        warnings.warn(UndefinedWarning(error.reason), stacklevel=3)
        return float(np.nan)
