"""Metrics, quantifiers, policies and losses of one's own, declared once: they then work wherever ours do.

A declaration lasts as long as the process; declaring a name of one's own again replaces it, so that a notebook's cell can be
run twice. Names of this library cannot be taken.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Scores
from tallymark.errors import InputError, TallymarkError, Undefined
from tallymark.metrics.declare import check_summary, or_nan
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.quantify.losses import on_distributions
from tallymark.registry import (
    LOSSES,
    METRICS,
    POLICIES,
    QUANTIFIERS,
    Better,
    Loss,
    Method,
    Metric,
    Needs,
    Policy,
    require_one_of,
)
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally

__all__ = ["loss", "metric", "policy", "quantifier"]


def __dir__() -> list[str]:
    return sorted(__all__)


Function = TypeVar("Function", bound=Callable[..., Any])

#: Counts that were floats for a while are whole up to this.
_ROUNDING = 1e-6

#: Cells of a few tables, to see whether a metric of them takes arrays.
_TABLES = np.array([[3.0, 0.0, 2.0], [1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [4.0, 5.0, 3.0]])

#: What a metric of one's own may be a function of, and what the registry calls it.
_NEEDS: Mapping[str, Needs] = {"cells": "confusion", "tally": "tally", "probabilities": "probabilities"}


def metric(
    name: str, *, needs: Literal["cells", "tally", "probabilities"], range: tuple[float, float], better: Better, meaning: str,  # noqa: A002
    title: str | None = None, formula: str = "", reference: str = "the user's own", prevalence_free: bool = False,
    rank_only: bool = False, chance: float | None = None, aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., float]]:  # fmt: skip
    """Declare a metric: ``cells`` is a function of arrays tp, fp, fn, tn, ``tally`` and ``probabilities`` of a Tally.

    `range` and `better` (``higher``, ``lower``, ``zero`` or ``neither``) are what tables, intervals and verdicts go by;
    `prevalence_free` and `rank_only` say what it is invariant to, `chance` what knowing nothing reaches (for cells that
    follows by itself). Where it has no value it returns nan; one of a tally that is not `prevalence_free` has none at a stated
    prevalence. Its intervals and comparisons come from the four cells or from
    resampled rows; ``evaluate``, ``compare``, reports and ``--metric`` know it by its name.

    >>> import tallymark as tm
    >>> @tm.extend.metric("recall_cubed", needs="cells", range=(0, 1), better="higher", meaning="Recall, harshly.")
    ... def recall_cubed(tp, fp, fn, tn):
    ...     return (tp / (tp + fn)) ** 3
    >>> tm.evaluate(tm.tally([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]), metrics=["recall_cubed"])["recall_cubed"].value
    0.125
    """
    kind: Needs = _NEEDS[require_one_of("needs", needs, _NEEDS)]
    require_one_of("better", better, ("higher", "lower", "zero", "neither"))
    low, high = _checked_range(range)
    _require_texts(title=title or name, formula=formula, reference=reference, meaning=meaning)
    _require_flags(prevalence_free=prevalence_free, rank_only=rank_only)
    _require_names(aliases=aliases)
    if chance is not None and not low <= _check.real(chance, "chance") <= high:
        raise InputError(f"chance is {chance:g}, outside of the declared range {low:g} to {high:g}.")

    def declare(function: Callable[..., Any]) -> Callable[..., float]:
        own = _Metric(_identifier(name), kind, function, low, high, prevalence_free, chance)
        if kind == "confusion":
            own.require_arrays()

        @functools.wraps(function)
        def public(summary: Any, /) -> float:
            return or_nan(lambda: own.compute(summary))

        METRICS.add_own(
            Metric(
                name=name, title=title or name, family="the user's own", needs=kind, formula=formula, meaning=meaning,
                reference=reference, low=low, high=high, better=better, prevalence_free=prevalence_free,
                rank_only=rank_only or kind == "confusion", chance=own.by_chance, compute=own.compute, aliases=aliases,
                one_class=kind == "confusion", cells=own.cells if kind == "confusion" else None, function=public,
                bound=None if kind == "confusion" else lambda tally: (low, high),  # noqa: ARG005
            )
        )  # fmt: skip
        return public

    return declare


@dataclass(frozen=True)
class _Metric:
    """A user's function as the registry wants it: checked, in its range, undefined with a reason."""

    name: str
    kind: Needs
    function: Callable[..., Any]
    low: float
    high: float
    prevalence_free: bool
    chance: float | None

    def cells(self, tp: Any, fp: Any, fn: Any, tn: Any) -> Floats:
        """The values of many tables."""
        arrays = np.broadcast_arrays(*(np.asarray(c, dtype=np.float64) for c in (tp, fp, fn, tn)))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = _numbers(self.name, lambda: self.function(*arrays), arrays[0].shape, "arrays tp, fp, fn, tn")
        return self._in_range(values)

    def compute(self, summary: Any) -> float:
        """The value of one summary."""
        check_summary(self.name, self.kind, summary, one_class=self.kind == "confusion")
        if isinstance(summary, Confusion):
            value = float(self.cells(*summary.cells))
        elif summary.prior is not None and not self.prevalence_free:
            raise Undefined(f"{self.name}: it counts the rows as they are and cannot speak of another prevalence")
        else:
            value = float(self._in_range(_numbers(self.name, lambda: self.function(summary), (), "a Tally")))
        if math.isnan(value):
            raise Undefined(f"{self.name}: it has no value here")
        return value

    def by_chance(self, summary: Any) -> float:
        """What knowing nothing reaches: declared, or the value where prediction and truth are independent."""
        if self.chance is not None:
            return self.chance
        if isinstance(summary, Confusion):
            return self.compute(summary.independent())
        raise Undefined(f"{self.name}: what chance reaches was not declared")

    def require_arrays(self) -> None:
        """Refuse, when it is declared, a function of the cells that takes one table only."""
        try:
            self.cells(*_TABLES)
        except Undefined as error:
            raise InputError(f"{error.reason}; the cells come as arrays, many tables at once.") from None

    def _in_range(self, values: Floats) -> Floats:
        """Numbers that are where they were declared to be."""
        least, most = float(np.nanmin(values, initial=self.high)), float(np.nanmax(values, initial=self.low))
        slack = _ROUNDING * max(1.0, abs(least), abs(most))
        if least < self.low - slack or most > self.high + slack:
            raise InputError(
                f"{self.name} gave {least:g} to {most:g}, but its range was declared as {self.low:g} to {self.high:g}."
            )
        return values


def quantifier(
    name: str, *, meaning: str, title: str | None = None, formula: str = "", reference: str = "the user's own",
    probabilities: bool = False, shift_proof: bool = True, options: Mapping[str, Any] | None = None, batched: bool = False,
    aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:  # fmt: skip
    """Declare a quantifier: a function of a labelled Tally and the target's scores that gives the share of positives.

    With `batched` it is a kernel of :class:`~tallymark.quantify.kernels.samples.Validation` and
    :class:`~tallymark.quantify.kernels.samples.Samples` that gives the shares of many samples at once. `options` are its
    further arguments and their defaults. Intervals resample the rows of both samples; ``estimate``, ``estimate_many``, the
    report and ``--method`` know it by its name.

    >>> import numpy as np, tallymark as tm
    >>> @tm.extend.quantifier("mean_score", meaning="The mean score placed between the classes' means.")
    ... def mean_score(validation, scores):
    ...     up, down = (run.moments.mean for run in (validation.positive, validation.negative))
    ...     return (scores.mean() - down) / (up - down)
    >>> t = tm.tally([0, 0, 1, 1], [0.0, 0.2, 0.8, 1.0])
    >>> round(tm.quantify.estimate("mean_score", t, tm.tally(scores=[0.1, 0.1, 0.9]), level=None).prevalence, 4)
    0.3333
    """
    _require_texts(title=title or name, formula=formula, reference=reference, meaning=meaning)
    _require_flags(probabilities=probabilities, shift_proof=shift_proof, batched=batched)
    _require_names(aliases=aliases)
    if options is not None and not isinstance(options, Mapping):
        raise InputError(f"options is {options!r}, expected a dict of names and defaults.")
    _require_names(options=tuple(options or ()))

    def declare(function: Function) -> Function:
        def kernel(validation: Validation, target: Samples, **given: Any) -> Floats:
            lines = max(len(validation.negative), len(validation.positive), len(target))
            if batched:
                shares = _numbers(name, lambda: function(validation, target, **given), (lines,), "samples")
            else:
                pairs = zip(_tallies(validation, lines), _score_arrays(target, lines), strict=True)
                shares = np.array([
                    float(_numbers(name, lambda pair=pair: function(*pair, **given), (), "a Tally and scores")) for pair in pairs  # type: ignore[misc]
                ])  # fmt: skip
            # A share beyond 0 or 1 is what correcting for errors may give; one that is infinite is none.
            return np.clip(np.where(np.isfinite(shares), shares, np.nan), 0.0, 1.0)

        QUANTIFIERS.add_own(
            Method(
                name=_identifier(name), title=title or name, formula=formula, meaning=meaning, reference=reference,
                kernel=kernel, interval="bootstrap", probabilities=probabilities,
                shift_proof=shift_proof, options=dict(options or {}), aliases=aliases, whole_rows=not batched,
            )
        )  # fmt: skip
        return function

    return declare


def policy(
    name: str, *, meaning: str, arguments: tuple[str, ...] = (), defaults: tuple[float, ...] = (), example: str = "",
    judged_by: str = "balanced_accuracy", reference: str = "the user's own", aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:  # fmt: skip
    """Declare a threshold policy: a function of a labelled Tally, and of the numbers written behind its name.

    The tally may be weighted: resamples are, so count by mass, not by place. `arguments` names those numbers
    (``"floor:0.9"`` has one), `judged_by` is the metric that says how good its choice is.
    ``Tally.at``, ``threshold=`` everywhere and ``--threshold`` know it by its name; intervals include its choice.

    >>> import tallymark as tm
    >>> @tm.extend.policy("middle", meaning="Half way between the highest and the lowest score.")
    ... def middle(tally):
    ...     return sum(tally.range) / 2
    >>> tm.tally([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]).at("middle").threshold
    0.5
    """
    _require_texts(example=example, reference=reference, meaning=meaning)
    _require_names(aliases=aliases, arguments=arguments)
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

        POLICIES.add_own(
            Policy(
                name=_identifier(name), meaning=meaning, reference=reference, arguments=arguments, choose=choose,
                aliases=aliases, example=example or ":".join(filter(None, (name, ",".join(arguments)))), defaults=numbers, judged_by=METRICS[judged_by].name,
            )
        )  # fmt: skip
        return function

    return declare


def loss(
    name: str, *, meaning: str, range: tuple[float, float] = (0.0, math.inf), better: Better = "lower", title: str | None = None,  # noqa: A002
    formula: str = "", reference: str = "the user's own", ordinal: bool = False, aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """Declare a quantification loss: a function of true and estimated shares, arrays (samples, classes), a value per sample.

    ``GridSearch(loss=)`` and ``tallymark quantifiers`` know it by its name.

    >>> import tallymark as tm
    >>> @tm.extend.loss("largest_error", meaning="The largest error of any class.", range=(0, 1))
    ... def largest_error(truth, estimate):
    ...     return abs(truth - estimate).max(axis=1)
    >>> round(largest_error([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]), 4)
    0.1
    """
    low, high = _checked_range(range)
    require_one_of("better", better, ("higher", "lower", "zero", "neither"))
    _require_texts(title=title or name, formula=formula, reference=reference, meaning=meaning)
    _require_flags(ordinal=ordinal)
    _require_names(aliases=aliases)

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:

        def compute(truth: Floats, estimate: Floats) -> Floats:
            return _numbers(name, lambda: function(truth, estimate), (len(truth),), "arrays of shares")

        LOSSES.add_own(
            Loss(
                name=_identifier(name), title=title or name, formula=formula, meaning=meaning, reference=reference,
                low=low, high=high, better=better, compute=compute, aliases=aliases, ordinal=ordinal,
            )
        )  # fmt: skip
        return functools.wraps(function)(on_distributions(compute))

    return declare


def _checked_range(given: object) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise InputError(f"range is {given!r}, expected the lowest and the highest value, such as (0, 1).")
    return low, high


def _require_texts(**given: object) -> None:
    for option, value in given.items():
        if not isinstance(value, str):
            raise InputError(f"{option} is {value!r}, expected text.")


def _require_flags(**given: object) -> None:
    for option, value in given.items():
        if not isinstance(value, bool):
            raise InputError(f"{option} is {value!r}, expected True or False.")


def _require_names(**given: object) -> None:
    """Refuse what is no list of names; a single text would be read as a list of letters."""
    for option, values in given.items():
        for value in _check.several(values, option):
            _identifier(value)


def _numbers(name: str, call: Callable[[], Any], shape: tuple[int, ...], given: str) -> Floats:
    """What a user's function gives, as numbers of a shape; its failure or another shape said with its name.

    Undefined where it fails, so that a resample it cannot handle costs that resample only.
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
    """Scores of each sample and what they count; a single sample stands for all."""
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
    """The scores of each sample, as often as they occur."""
    for scores, mass in _lines(target, lines):
        counts = None if mass is None else np.rint(mass).astype(np.int64)
        if mass is not None and counts is not None and np.abs(mass - counts).max(initial=0.0) > _ROUNDING:
            raise InputError(
                "A quantifier of scores counts whole rows; for a weighted target declare one with batched=True."
            )
        yield scores if counts is None else np.repeat(scores, counts)
