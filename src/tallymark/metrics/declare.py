"""Declaration of metrics: a function of a summary, or a formula of the four cells, together with its facts."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

import numpy as np

from tallymark._check import Floats, Label
from tallymark._numbers import number
from tallymark._rounding import within
from tallymark.errors import InputError, Undefined, UndefinedWarning
from tallymark.metrics import averages, expressions
from tallymark.metrics.margins import F_OF_MEANS
from tallymark.metrics.parameters import check_parameter
from tallymark.registry import (
    METRICS,
    PARAMETERS,
    CellFacts,
    CellMetric,
    Metric,
    MetricFacts,
    Needs,
    ScoreFacts,
    require_one_of,
)
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.tally import Tally

Options = ParamSpec("Options")
Summary = TypeVar("Summary", Tally, Confusion, Moments, ClassScores)
Average = Literal["micro", "macro", "weighted", "mean_of_f", "f_of_means", "f_of_weighted_means"]

#: A reference that several metrics share.
GUBBELS = "Gubbels (2023), master thesis, TU Eindhoven, ch. 1."

#: What each kind of metric takes, and the call that makes it.
_TAKES: Mapping[Needs, tuple[type, str]] = {
    "confusion": (Confusion, "tally.at(0.5) or tm.confusion(y, predicted)"),
    "tally": (Tally, "tm.tally(y, scores)"),
    "probabilities": (Tally, "tm.tally(y, probabilities)"),
    "moments": (Moments, "tm.moments(y, scores, classes=…)"),
    "multiclass": (ClassScores, "tm.class_scores(y, scores, classes=…)"),
}


def _facts(kind: type[MetricFacts], declared: MetricFacts) -> dict[str, Any]:
    """The facts of a kind, by name."""
    return {fact.name: getattr(declared, fact.name) for fact in fields(kind)}


@dataclass(frozen=True, kw_only=True)
class metric(ScoreFacts):  # noqa: N801 - a decorator
    """Declare a function of a summary as a metric: ``@metric(title=…, …)`` with the fields of ScoreFacts.

    The function may raise :class:`Undefined`; callers then get ``nan`` and a warning with the reason.
    """

    chance: float | Callable[..., float]

    def __call__(
        self, function: Callable[Concatenate[Summary, Options], float]
    ) -> Callable[Concatenate[Summary, Options], float]:
        """Register the function; what is returned warns instead of raising Undefined."""
        name, chance = function.__name__, self.chance

        def compute(summary: Summary, **options: Any) -> float:
            check_summary(name, self.needs, summary, one_class=self.one_class)
            value = float(function(summary, **options))  # type: ignore[call-arg]
            if math.isnan(value):
                raise Undefined(f"{name}: the scores or weights are too large or too small to compute it")
            return within(value, self.low, self.high)

        @functools.wraps(function)
        def public(summary: Summary, /, *arguments: Options.args, **options: Options.kwargs) -> float:
            _refuse_arrays(name, self.needs, arguments)
            return or_nan(lambda: compute(summary, **options))

        takes, maker = _TAKES[self.needs]
        parameter = f"{takes.__name__.lower()} : {takes.__name__}\n    Made by ``{maker}``."
        public.__doc__ = with_sections(function.__doc__ or "", parameter, _RETURNS)
        METRICS.add(
            (Metric if self.cells is None else CellMetric)(
                name=name,
                chance=chance if callable(chance) else lambda *_, **__: chance,
                compute=compute,
                function=public,
                **_facts(ScoreFacts, self),
            )
        )
        return public


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


@dataclass(frozen=True, kw_only=True)
class CellFormula(CellFacts):
    """A metric declared by its formula of tp, fp, fn, tn."""

    name: str = field(kw_only=False)
    #: In the language of :mod:`tallymark.metrics.expressions`.
    expression: str = field(kw_only=False)
    #: From a sub-formula to the reason why the metric has no value where it is 0.
    undefined: Mapping[str, str]
    #: The value, to four decimals, at tp 231, fp 32, fn 27, tn 54.
    example: float
    #: Whether the F-measure of averaged precision and recall is offered as an average.
    f_of_means: bool = False
    #: Whether errors of the two kinds cancel, so that correcting one may make it worse.
    errors_cancel: bool = False

    @functools.cached_property
    def cells(self) -> Callable[..., Floats]:
        """The compiled formula."""
        return expressions.to_numpy(self.expression)

    def of_cells(self, cells: Sequence[float], settings: Mapping[str, float]) -> float:
        """The value of one table; raises Undefined with the reason."""
        value = float(self.cells(*cells, **settings))
        if math.isnan(value):
            zeros = (
                reason for part, reason in self.undefined.items() if float(expressions.to_numpy(part)(*cells)) == 0.0
            )
            raise Undefined(f"{self.name}: {next(zeros, '0 divided by 0')}")
        return within(value, self.low, self.high)

    def compute(
        self,
        confusion: Confusion,
        *,
        average: str | None = None,
        weights: Mapping[Label, float] | None = None,
        classes: Sequence[Label] | None = None,
        **given: float,
    ) -> float:
        """The value of a confusion matrix, averaged over its classes where `average` is given."""
        check_summary(self.name, "confusion", confusion)
        settings = cell_settings(self, given, confusion.acts_from)
        averages.require_consistent(average, weights, classes)
        if average is None:
            if not isinstance(confusion, BinaryConfusion) and self.of_classes is not None:
                return averages.without_averaging(self.name, confusion, self.of_classes)
            return self.of_cells(confusion.cells, settings)
        if average == "micro":
            return self.of_cells(confusion.overall(classes).cells, settings)
        of_f = ("mean_of_f", *F_OF_MEANS) if self.f_of_means else ()
        require_one_of("average", average, ("macro", "weighted", *of_f, "micro"))
        shares = averages.class_shares(confusion, average, weights, classes)
        if average in F_OF_MEANS:
            return averages.f_of_means(self.name, confusion, shares, settings.get("beta", 1.0))
        return averages.mean_over_classes(
            self.name, confusion, shares, lambda part: self.of_cells(part.cells, settings)
        )

    def chance(self, confusion: Confusion, **given: Any) -> float:
        """The value expected of predictions that are independent of the truth."""
        if not isinstance(confusion, BinaryConfusion) or "average" in given:
            return self.compute(confusion.independent(), **given)
        return self.of_cells(confusion.cells.independent, cell_settings(self, given, confusion.acts_from))

    def declared(self) -> CellFunction:
        """Register the metric; its public function."""

        def public(
            confusion: Confusion,
            /,
            *arguments: object,
            average: Average | None = None,
            weights: Mapping[Label, float] | None = None,
            classes: Sequence[Label] | None = None,
            **given: float,
        ) -> float:
            _refuse_arrays(self.name, "confusion", arguments)
            return or_nan(lambda: self.compute(confusion, average=average, weights=weights, classes=classes, **given))

        facts = CellMetric(
            name=self.name,
            family="threshold",
            needs="confusion",
            formula=expressions.to_latex(self.expression),
            expression=self.expression,
            cells=self.cells,
            chance=self.chance,
            compute=self.compute,
            function=public,
            rank_only=True,
            one_class=True,
            errors_cancel=self.errors_cancel,
            **_facts(CellFacts, self),
        )
        METRICS.add(facts)
        vars(public).update(__signature__=_signature(self.parameters))
        public.__name__ = public.__qualname__ = self.name
        public.__module__ = "tallymark.metrics.threshold"
        public.__doc__ = _docstring(facts, self.example, f_of_means=self.f_of_means)
        return public


def _declaring(formula: Callable[Options, CellFormula]) -> Callable[Options, CellFunction]:
    def declare(*arguments: Options.args, **facts: Options.kwargs) -> CellFunction:
        return formula(*arguments, **facts).declared()

    return declare


#: Declare a metric by its formula; takes the fields of :class:`CellFormula`.
cell_metric = _declaring(CellFormula)


_RETURNS = "float\n    ``nan``, with a warning that gives the reason, where the metric is undefined."


def with_sections(text: str, parameter: str, returns: str) -> str:
    """The docstring of a function of one summary without options, with the numpydoc sections that it leaves out."""
    text = inspect.cleandoc(text)
    if "Parameters\n---" in text:
        return text
    about, _, example = text.partition(">>>")
    return (
        f"{about}Parameters\n----------\n{parameter}\n\nReturns\n-------\n{returns}\n\nExamples\n--------\n>>>{example}"
    )


def _signature(defaults: Mapping[str, float]) -> inspect.Signature:
    """What help() shows: the matrix, the options of averaging, and the parameters by name."""
    named = {"average": None, "weights": None, "classes": None, **defaults}
    return inspect.Signature(
        [
            inspect.Parameter("confusion", inspect.Parameter.POSITIONAL_ONLY),
            *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=d) for name, d in named.items()),
        ]
    )


def _docstring(facts: CellMetric, example: float, *, f_of_means: bool) -> str:
    without = "Without it, the K-class definition of the metric.\n    " if facts.of_classes else ""
    kinds = "`micro`, `macro` or `weighted` (by class size, or by `weights`)"
    if f_of_means:
        kinds += (
            ",\n    `mean_of_f`, `f_of_means` for the F of macro precision and macro recall, or"
            "\n    `f_of_weighted_means` for the F of their means by class size, or by `weights`"
        )
    return "\n".join(
        (
            f"{facts.title}: :math:`{facts.formula}`.\n\n{facts.meaning}\n",
            "Parameters\n----------",
            "confusion : Confusion\n    Confusion matrix of two or K classes.",
            f"average : str, optional\n    How to average over K classes. {without}{kinds}.",
            "weights : mapping, optional\n    Weight of each class, where classes count by size.",
            "classes : sequence, optional\n    Classes to average over; all of them by default.",
            *(
                f"{name} : float, default {value:g}\n    {PARAMETERS[name].help}"
                for name, value in facts.parameters.items()
            ),
            f"\nReturns\n-------\n{_RETURNS}",
            f"\nReferences\n----------\n{facts.reference}",
            "\nExamples\n--------",
            ">>> import tallymark as tm",
            f">>> round(tm.metrics.{facts.name}(tm.Confusion.of_cells(tp=231, fp=32, fn=27, tn=54)), 4)",
            f"{example}\n",
        )
    )


def cell_settings(
    facts: Metric | CellFormula, given: Mapping[str, float], threshold: float | None = None
) -> dict[str, float]:
    """All parameters of a metric at one threshold: the given ones, checked, and the defaults of the others.

    A `threshold` of nan is one on scores that are not probabilities.
    """
    for key in given:
        if key not in facts.parameters:
            allowed = ", ".join(facts.parameters) or "none"
            raise InputError(f"{facts.name} has no parameter {key!r}; it has: {allowed}.")
        check_parameter(key, given[key])
    name = facts.threshold_parameter
    if name is None or name in given or threshold is None:
        return {**facts.parameters, **given}
    if not PARAMETERS[name].low <= threshold <= PARAMETERS[name].high:
        what = (
            "scores lie beyond [0, 1], so the threshold is no probability"
            if math.isnan(threshold)
            else f"the threshold {number(threshold)} is no probability"
        )
        raise Undefined(f"{facts.name}: {what} at which one would act; say {name}= or the costs of both errors")
    return {**facts.parameters, name: threshold, **given}


def smooth_cells(facts: Metric) -> Sequence[Callable[..., Floats]]:
    """The smooth functions of the cells of which a metric is the smallest: itself where it has no absolute value."""
    if facts.expression is None:
        return () if facts.cells is None else (facts.cells,)
    return [expressions.to_numpy(part) for part in expressions.smooth_parts(facts.expression)]


def _refuse_arrays(name: str, needs: Needs, arguments: tuple[object, ...]) -> None:
    """Refuse columns in place of a summary, as other libraries take them."""
    if arguments:
        expected, maker = _TAKES[needs]
        raise InputError(
            f"{name} takes one {expected.__name__}, got {len(arguments) + 1} arguments. "
            f"Write tm.metrics.{name}({maker.rsplit(' or ', maxsplit=1)[-1]}); options are given by name."
        )


def check_summary(name: str, needs: Needs, summary: object, *, one_class: bool = True) -> None:
    """Refuse a summary of the wrong kind, with the call that makes the right one."""
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
    """Refuse scores outside [0, 1], and an empty tally."""
    if not tally.is_probability:
        low, high = tally.range
        what = "there are no rows" if math.isnan(low) else f"scores run from {number(low)} to {number(high)}"
        raise Undefined(f"{name}: {what}, probabilities in [0, 1] are needed; calibrate the scores first")


def or_nan(compute: Callable[[], float]) -> float:
    """A value, or nan with a warning that gives the reason where it is undefined."""
    try:
        return compute()
    except Undefined as error:
        warnings.warn(UndefinedWarning(error.reason), stacklevel=3)
        return float(np.nan)
