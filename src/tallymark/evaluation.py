"""``tm.evaluate``: every metric that fits the data, with what belongs beside each number."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, Literal, overload

import numpy as np

from tallymark.errors import GuardWarning, InputError, Undefined, guard, nearest
from tallymark.intervals.base import Sampling, Seed, checked_level
from tallymark.intervals.choosing import Choices, with_choice
from tallymark.intervals.class_rates import class_limits
from tallymark.intervals.defaults import tally_limits
from tallymark.intervals.effects import EFFECTS, FEW_NEGATIVES
from tallymark.intervals.rates import Asked as RatesAsked
from tallymark.intervals.rates import Limits, limits_of_many, rate_limits
from tallymark.intervals.replicates import bootstrap
from tallymark.metrics.bounds import bound
from tallymark.metrics.declare import cell_settings, check_parameter
from tallymark.metrics.multiclass import spcc_one_vs_one, spcc_one_vs_rest
from tallymark.registry import METRICS, Metric, asked_parameters, metric_names, require_one_of
from tallymark.results import Evaluation, Evaluations, Measure, Note
from tallymark.sources.filepanel import FilePanel
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.multiclass import ClassScores
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

Metrics = str | Iterable[str] | None
Progress = Callable[[float], None]
IntervalMethod = Literal["default", "percentile", "bca"]

#: Below chance by this many standard errors the direction of the scores is doubted.
_INVERTED = -3.0
#: Share of the rows on one score from which ties are reported.
_HEAVY_TIE = 0.1
#: Skewness within a class beyond which sPCC misleads.
_SKEWED = 2.0
#: The metrics that skewness misleads.
_OF_MOMENTS = frozenset({"spcc", "d_a", "d_e", "d_b_normal"})
#: Fewer rows of a class than this make every number shaky.
_FEW = 10

#: Below this a chance level is rounding noise.
_NOISE = 1e-12

#: What a K-class confusion matrix is described by: name, metric, averaging.
_AVERAGES = (
    ("precision_macro", "precision", "macro"),
    ("recall_macro", "recall", "macro"),
    ("f1_macro", "f1", "mean_of_f"),
    ("f1_of_macro_means", "f1", "f_of_means"),
    ("f1_micro", "f1", "micro"),
    ("precision_weighted", "precision", "weighted"),
    ("recall_weighted", "recall", "weighted"),
    ("f1_weighted", "f1", "weighted"),
)
_WHOLE = ("accuracy", "error", "balanced_accuracy", "kappa", "mcc")
_PER_CLASS = ("precision", "recall", "f1", "specificity")


@overload
def evaluate(data: Tallies | Panel | FilePanel, /, *, metrics: Metrics = ..., threshold: float | str | None = ...,
             level: float | None = ..., prevalence: float | None = ..., interval: IntervalMethod = ...,
             sampling: Sampling = ..., seed: Seed = ..., strict: bool = ..., progress: Progress | None = ...,
             **parameters: float) -> Evaluations: ...  # fmt: skip
@overload
def evaluate(data: Tally | Confusion | Moments | ClassScores, /, *, metrics: Metrics = ...,
             threshold: float | str | None = ..., level: float | None = ..., prevalence: float | None = ...,
             interval: IntervalMethod = ..., sampling: Sampling = ..., seed: Seed = ...,
             strict: bool = ..., progress: Progress | None = ..., **parameters: float) -> Evaluation: ...  # fmt: skip
def evaluate(
    data: Tally | Tallies | Panel | FilePanel | Confusion | Moments | ClassScores,
    /,
    *columns: object,
    metrics: Metrics = None,
    threshold: float | str | None = None,
    level: float | None = 0.95,
    prevalence: float | None = None,
    interval: IntervalMethod = "default",
    sampling: Sampling = "plain",
    seed: Seed = 0,
    strict: bool = False,
    progress: Progress | None = None,
    **parameters: float,
) -> Evaluation | Evaluations:
    """Every metric that fits the data: an :class:`Evaluation`, or :class:`Evaluations` for several models or groups.

    `threshold` is a number or a policy such as ``"youden"``; left out, it is 0.5 where all scores lie in [0, 1] and
    ``"youden"`` elsewhere. `prevalence` states the prevalence that prior-dependent numbers should speak of.
    `metrics` picks some by name. `strict` turns guards into errors. `parameters` are those of metrics, such as
    ``cost_fp=1, cost_fn=50`` or ``beta=2``; a policy like ``cost:1,50`` sets them too.

    `level` is that of the confidence intervals, None leaves them out. The ``"default"`` method of each metric is named in
    `method`, and the docs show what it covers; ``"percentile"`` and ``"bca"`` are bootstrap intervals. `sampling`
    ``plain`` takes all rows as drawn at random, ``stratified`` the class sizes as fixed by design; a stated `prevalence`
    takes that as known. Where a policy chose the threshold on these rows, default intervals include the choice, and
    `optimism` says how much it flatters each number. `progress` is called with the percentage of the groups that are done.

    >>> import tallymark as tm
    >>> ev = tm.evaluate(tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]), threshold=0.5)
    >>> ev["auroc"].value, ev["auroc"].chance
    (0.8888888888888888, 0.5)
    >>> ev["recall"]
    recall = 0.6667, 95 % interval 0.1320 to 0.9833, chance 0.5000
    """
    if columns:
        raise InputError("evaluate takes one summary. Write tm.evaluate(tm.tally(y, scores)).")
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}, expected a function of the percentage that is done.")
    chosen = None if metrics is None else metric_names(metrics)
    asked = _Asked(
        chosen, threshold, prevalence, strict, None if level is None else checked_level(level),
        require_one_of("interval", interval, ("default", "percentile", "bca")),
        require_one_of("sampling", sampling, ("stratified", "plain")), seed, _checked(parameters), progress,
    )  # fmt: skip
    result: Evaluation | Evaluations = _evaluate(data, asked)
    for note in result.warnings:
        warnings.warn(GuardWarning(note.code, note.message), stacklevel=2)
    return result


def _checked(parameters: Mapping[str, float]) -> Mapping[str, float]:
    """Parameters that some metric has, each in its range."""
    known = {name for facts in METRICS.values() for name in facts.parameters}
    for name, value in parameters.items():
        if name not in known:
            raise InputError(
                f"evaluate has no option {name!r}.{nearest(name, known)} Parameters of metrics are: {', '.join(sorted(known))}."
            )
        check_parameter(name, value)
    return parameters


#: Why a metric does not fit, by what it needs.
_LACKING = {
    "confusion": "needs predicted classes, or a threshold on scores",
    "tally": "needs scores of two classes: tm.tally(y, scores)",
    "probabilities": "needs probabilities of two classes: tm.tally(y, probabilities)",
    "moments": "needs a score for each class: tm.moments(y, scores, classes=…)",
    "multiclass": "needs a score for each class: tm.class_scores(y, scores, classes=…)",
}


@dataclass(frozen=True)
class _Asked:
    """What the caller asked for."""

    metrics: list[str] | None
    threshold: float | str | None
    prevalence: float | None
    strict: bool
    level: float | None = None
    interval: str = "default"
    sampling: Sampling = "plain"
    seed: Seed = 0
    parameters: Mapping[str, float] = field(default_factory=dict)
    progress: Progress | None = None

    def of(self, facts: Metric) -> dict[str, float]:
        """The parameters of a metric that were asked for, by name or by the policy."""
        asked = asked_parameters(self.threshold, self.parameters)
        return {name: value for name, value in asked.items() if name in facts.parameters}

    def with_limits(self, measures: dict[str, Measure], limits: Mapping[str, Limits]) -> dict[str, Measure]:
        """The measures with their intervals; an estimate at the end of its range belongs to its interval."""
        return measures | {
            name: replace(
                measures[name], low=min(low, measures[name].value), high=max(high, measures[name].value), method=method,
                level=self.level,
            )
            for name, (low, high, method) in limits.items()
            if not math.isnan(measures[name].value)
        }  # fmt: skip

    def fitting(self, *needs: str) -> list[str]:
        """The asked metrics, or all that these summaries can give."""
        if self.metrics is None:
            return [name for name in METRICS if METRICS[name].needs in needs]
        for name in self.metrics:
            if METRICS[name].needs not in needs:
                raise InputError(f"{name} {_LACKING[METRICS[name].needs]}.")
        return self.metrics

    def refuse_resampling(self) -> None:
        """A matrix alone is not resampled: its default intervals need nothing but the cells."""
        if self.level is not None and self.interval != "default":
            raise InputError(f"interval={self.interval!r} resamples scores; labels alone have default intervals only.")

    def refuse_binary_options(self) -> None:
        if self.threshold is not None or self.prevalence is not None:
            raise InputError(
                "threshold= and prevalence= speak of two classes; this data has a score for each of K classes."
            )


@singledispatch
def _evaluate(data: object, _: _Asked) -> Any:
    raise InputError(
        f"evaluate takes a Tally, Tallies, Panel, Confusion, Moments or ClassScores, got {type(data).__name__}. "
        "Write tm.evaluate(tm.tally(y, scores))."
    )


@_evaluate.register
def _(data: Tally, asked: _Asked) -> Evaluation:
    return _evaluated([(data, asked)])[0]


@_evaluate.register
def _(data: Tallies, asked: _Asked) -> Evaluations:
    # One default for all groups of a model: a group whose scores happen to lie in [0, 1] is no exception.
    by_model: dict[Any, list[Tally]] = {}
    for key, tally in data.entries.items():
        by_model.setdefault(key[0] if data.by_model else None, []).append(tally)
    asked_of = {
        model: asked if asked.threshold is not None else replace(asked, threshold=_default_threshold(tallies))
        for model, tallies in by_model.items()
    }
    found = _evaluated(
        [(tally, asked_of[key[0] if data.by_model else None]) for key, tally in data.entries.items()]
    )  # fmt: skip
    return Evaluations(data.names, dict(zip(data.entries, found, strict=True)), data.by_model)


@dataclass(frozen=True)
class _Looked:
    """A tally, what was measured of it, and what is still asked: its intervals."""

    tally: Tally
    asked: _Asked
    matrix: Confusion | None
    policy: str | None
    measures: dict[str, Measure]
    notes: tuple[Note, ...]

    @property
    def defined(self) -> list[str]:
        """Metrics with a value, where both classes have the two rows an interval needs."""
        if self.asked.level is None or min(run.n_rows for run in self.tally.runs) < 2:
            return []
        return [name for name, measure in self.measures.items() if not math.isnan(measure.value)]

    @property
    def at_threshold(self) -> list[str]:
        """Those that are functions of the matrix."""
        return [] if self.matrix is None else [name for name in self.defined if METRICS[name].needs == "confusion"]


def _evaluated(parts: Sequence[tuple[Tally, _Asked]]) -> list[Evaluation]:
    """Evaluations of one or many tallies; intervals at a threshold are found for many at once."""
    found: list[Evaluation] = []
    for start in range(0, len(parts), _TOGETHER):
        looked = [_look(tally, asked) for tally, asked in parts[start : start + _TOGETHER]]
        first = looked[0].asked
        rates: dict[int, dict[str, Limits]] = {}
        if first.level is not None and first.interval == "default":
            questions = {
                i: RatesAsked(one.at_threshold, one.matrix, _settings(one.at_threshold, one.matrix, one.asked))
                for i, one in enumerate(looked)
                if one.matrix is not None and one.at_threshold
            }
            answers = limits_of_many(list(questions.values()), first.level, first.sampling)
            rates = dict(zip(questions, answers, strict=True))
        for i, one in enumerate(looked):
            found.append(_completed(one, rates.get(i, {})))
            if first.progress is not None:
                first.progress(100.0 * len(found) / len(parts))
    return found


#: Tallies evaluated together: enough to share the work, few enough to show that it goes on.
_TOGETHER = 256


def _look(data: Tally, asked: _Asked) -> _Looked:
    if not data.labelled:
        raise InputError("evaluate needs labels; this tally has none. Make it with tm.tally(y, scores).")
    tally, lens_reason = _seen_at(data, asked.prevalence)
    names = asked.fitting("tally", "probabilities", "confusion")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GuardWarning)
        _guard_scores(tally, asked)
        matrix, no_matrix, policy = _matrix_at(tally, asked.threshold)
    measures = {}
    for name in names:
        facts = METRICS[name]
        reason = lens_reason if not facts.prevalence_free else None
        summary = matrix if facts.needs == "confusion" else tally
        if reason or summary is None:
            measures[name] = Measure(name=name, value=math.nan, reason=reason or no_matrix)
        else:
            measures[name] = _measure(facts, summary, name, **asked.of(facts))
    notes = tuple(Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, GuardWarning))
    return _Looked(tally, asked, matrix, policy, measures, notes)


def _completed(one: _Looked, rates: dict[str, Limits]) -> Evaluation:
    """The evaluation with the intervals of all metrics."""
    tally, asked, matrix, measures = one.tally, one.asked, one.matrix, one.measures
    if asked.level is not None:
        limits, optimism = _limits_of_tally(one, rates, asked.level)
        measures = asked.with_limits(measures, limits)
        measures |= {name: replace(measures[name], optimism=off) for name, off in optimism.items()}
    return Evaluation(
        measures,
        n=tally.n,
        n_rows=tally.n_rows,
        positives=tally.positives,
        prevalence=tally.prior,
        threshold=None if matrix is None else matrix.threshold,
        policy=one.policy,
        confusion=matrix,
        sampling=asked.sampling,
        warnings=one.notes,
    )


@_evaluate.register
def _(data: Panel, asked: _Asked) -> Evaluations:
    evaluations: Evaluations = _evaluate(data.tallies(), asked)
    return evaluations


@_evaluate.register
def _(data: FilePanel, asked: _Asked) -> Evaluations:
    evaluations: Evaluations = _evaluate(data.tallies(), asked)
    return evaluations


@_evaluate.register
def _(data: Confusion, asked: _Asked) -> Evaluation:
    if asked.threshold is not None:
        raise InputError("A confusion matrix has its threshold behind it; evaluate a tally to choose one.")
    asked.refuse_resampling()
    if not data.is_binary:
        if asked.prevalence is not None:
            raise InputError("prevalence= speaks of one positive class; take one with .one_vs_rest(label) first.")
        asked.fitting("confusion")
        return _of_classes(data, asked)
    seen = data.at_prevalence(asked.prevalence) if asked.prevalence is not None else data
    measures = {
        name: _measure(METRICS[name], seen, name, **asked.of(METRICS[name])) for name in asked.fitting("confusion")
    }
    if asked.level is not None:
        limits = rate_limits(measures, seen, asked.level, asked.sampling, _settings(measures, seen, asked))
        measures = asked.with_limits(measures, limits)
    return Evaluation(
        measures,
        n=data.n,
        n_rows=data.n_rows,
        positives=data.tp + data.fn,
        prevalence=seen.prior,
        threshold=data.threshold,
        confusion=data,
        sampling=asked.sampling,
    )


@_evaluate.register
def _(data: Moments, asked: _Asked) -> Evaluation:
    asked.refuse_binary_options()
    measures = {name: _measure(METRICS[name], data) for name in asked.fitting("moments")}
    return Evaluation(measures, n=data.n, n_rows=int(data.n_rows.sum()), tables=_correlation_tables(data))


@_evaluate.register
def _(data: ClassScores, asked: _Asked) -> Evaluation:
    asked.refuse_binary_options()
    asked.refuse_resampling()
    names = asked.fitting("moments", "multiclass", "confusion")
    labels = _of_classes(data.confusion, asked)
    measures = dict(labels.measures)
    for name in names:
        if METRICS[name].needs == "moments":
            measures[name] = _measure(METRICS[name], data.moments)
        elif METRICS[name].needs == "multiclass":
            measures[name] = _measure(METRICS[name], data)
    return Evaluation(
        measures,
        n=labels.n,
        n_rows=labels.n_rows,
        confusion=data.confusion,
        per_class=labels.per_class,
        tables=_correlation_tables(data.moments),
    )


def _of_classes(confusion: Confusion, asked: _Asked) -> Evaluation:
    averaged = {metric for _, metric, _ in _AVERAGES}
    metrics = asked.metrics
    for name in metrics or ():
        if METRICS[name].needs == "confusion" and name not in {*_WHOLE, *averaged}:
            raise InputError(
                f"{name} speaks of two classes, here are {len(confusion.labels)}. "
                f"Average it: tm.metrics.{name}(confusion, average='macro')."
            )
    options: dict[str, tuple[str, dict[str, Any]]] = {
        name: (name, {}) for name in _WHOLE if metrics is None or name in metrics
    }
    options |= {
        name: (metric, {"average": average})
        for name, metric, average in _AVERAGES
        if metrics is None or metric in metrics
    }
    measures = {name: _measure(METRICS[metric], confusion, name, **more) for name, (metric, more) in options.items()}
    parts = [confusion.one_vs_rest(label) for label in confusion.labels]
    of_each = [{name: _measure(METRICS[name], part) for name in _PER_CLASS} for part in parts]
    if asked.level is not None:
        limits = limits_of_many([RatesAsked(_PER_CLASS, part) for part in parts], asked.level, asked.sampling)
        of_each = [asked.with_limits(found, own) for found, own in zip(of_each, limits, strict=True)]
    per_class = dict(zip(map(str, confusion.labels), of_each, strict=True))
    if asked.level is not None:
        defined: dict[str, tuple[str, str | None]] = {
            name: (metric, more.get("average"))
            for name, (metric, more) in options.items()
            if not math.isnan(measures[name].value)
        }
        measures = asked.with_limits(
            measures, class_limits(confusion, defined, asked.level, asked.sampling, asked.seed)
        )
    return Evaluation(
        measures, n=confusion.n, n_rows=confusion.n_rows, confusion=confusion, per_class=per_class,
        sampling=asked.sampling,
    )  # fmt: skip


def _settings(names: Iterable[str], matrix: Confusion, asked: _Asked) -> dict[str, dict[str, float]]:
    """All parameters of the metrics at a threshold; what has none there has no value either."""
    found = {}
    for name in names:
        try:
            found[name] = cell_settings(METRICS[name], asked.of(METRICS[name]), matrix.threshold)
        except Undefined:
            continue
    return found


def _limits_of_tally(
    one: _Looked, rates: dict[str, Limits], level: float
) -> tuple[dict[str, Limits], dict[str, float]]:
    """Intervals of what has a value, those at the threshold given; and what the choice of the threshold flatters."""
    tally, asked, defined, of_rates = one.tally, one.asked, one.defined, one.at_threshold
    if not defined:
        return {}, {}
    if asked.interval != "default":
        threshold = None if one.matrix is None else one.matrix.threshold
        settings = {} if one.matrix is None else _settings(of_rates, one.matrix, asked)
        found = bootstrap(
            tally, defined, threshold=threshold, sampling=asked.sampling, seed=asked.seed, parameters=settings
        )
        drawn = {name: found.interval(name, level=level, method=asked.interval) for name in defined}  # type: ignore[arg-type]
        resampled = {name: (i.low, i.high, i.method) for name, i in drawn.items() if not math.isnan(i.low)}
        # These hold the threshold fixed; what its choice flatters is said all the same.
        at_threshold = {name: resampled[name] for name in of_rates if name in resampled}
        return resampled, _with_choice(at_threshold, one.measures, tally, one.policy, asked, level)[1]
    limits, optimism = _with_choice(rates, one.measures, tally, one.policy, asked, level)
    rest = [name for name in defined if name not in of_rates]
    known = {name: one.measures[name].value for name in rest if not one.measures[name].parameters}
    return limits | tally_limits(rest, tally, level, asked.sampling, seed=asked.seed, known=known), optimism


def _with_choice(
    limits: dict[str, Limits], measures: Mapping[str, Measure], tally: Tally, policy: str | None, asked: _Asked, level: float
) -> tuple[dict[str, Limits], dict[str, float]]:  # fmt: skip
    """Limits that include the choice of the threshold, where a policy chose it, and what the choice flatters."""
    if policy is None or not limits:
        return limits, {}
    values = {name: measures[name].value for name in limits}
    try:
        choices = Choices.of(tally, policy, sampling=asked.sampling, seed=asked.seed)
    except Undefined:
        return limits, {}
    return with_choice(limits, values, choices, asked_parameters(asked.threshold, asked.parameters), level)


def _measure(facts: Metric, summary: Any, name: str | None = None, **options: Any) -> Measure:
    name = name or facts.name
    has_prevalence = isinstance(summary, Tally) or (isinstance(summary, Confusion) and summary.is_binary)
    prevalence = summary.prevalence if has_prevalence and not facts.prevalence_free else None
    try:
        value = facts.compute(summary, **options)
    except Undefined as error:
        return Measure(name=name, value=math.nan, prevalence=prevalence, reason=error.reason)
    interval = bound(facts.name, summary, **options) if isinstance(summary, Tally) and not summary.exact else None
    return Measure(
        name=name,
        value=value,
        chance=None if facts.better in {"neither", "zero"} else _or_none(lambda: facts.chance(summary, **options)),
        prevalence=prevalence,
        bound=interval,
        parameters={key: value for key, value in options.items() if key in facts.parameters},
    )


def _or_none(compute: Callable[[], float]) -> float | None:
    try:
        level = compute()
    except Undefined:
        return None
    # Expected tables carry rounding noise; a chance level of 1e-19 is 0.
    return 0.0 if abs(level) < _NOISE else level


def _seen_at(tally: Tally, prevalence: float | None) -> tuple[Tally, str | None]:
    if prevalence is None:
        return tally, None
    if tally.positives and tally.negatives:
        return tally.at_prevalence(prevalence), None
    return tally, "another prevalence needs rows of both classes"


def _matrix_at(tally: Tally, threshold: float | str | None) -> tuple[Confusion | None, str | None, str | None]:
    """The matrix, or the reason there is none; and the policy that chose the threshold."""
    if threshold is None:
        threshold = _default_threshold([tally])
    policy = threshold if isinstance(threshold, str) and not _is_number(threshold) else None
    if policy and not (tally.positives and tally.negatives):
        return None, f"the policy {policy!r} needs rows of both classes", policy
    try:
        return tally.at(threshold), None, policy
    except Undefined as error:
        return None, error.reason, policy


def _default_threshold(tallies: Iterable[Tally]) -> float | str:
    return 0.5 if all(tally.is_probability for tally in tallies if tally.n) else "youden"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _guard_scores(tally: Tally, asked: _Asked) -> None:
    if not tally.positives or not tally.negatives:
        return
    strict = asked.strict
    needing = [name for name in asked.metrics or () if METRICS[name].needs == "probabilities"]
    if needing and not tally.is_probability:
        low, high = tally.range
        guard("TM102", f"{', '.join(needing)} asked of scores from {low:.4g} to {high:.4g}; calibrate them to "
              "probabilities first", strict=strict)  # fmt: skip
    few = min(run.n_rows for run in tally.runs)
    effective = min(run.worth for run in tally.runs)
    if few < _FEW or effective < _FEW:
        rows = f"only {few} row{'s' if few != 1 else ''} of one class"
        rows += "" if effective >= 0.99 * few else f", whose uneven weights make them count like {effective:.1f}"
        guard("TM107", f"{rows}; every number is shaky and intervals hold their level from {_FEW} on: gather "
              f"{max(1, math.ceil(_FEW * few / effective) - few)} more", strict=strict)  # fmt: skip
    elif effective < _UNEVEN * few and effective < _MANY:
        guard("TM113", f"the weights of one class are so uneven that its {few} rows count like {effective:.0f}; intervals may be "
              "too short, above all where weights and scores go together", strict=strict)  # fmt: skip
    _guard_intervals(tally, asked)
    up, down = (float(run.n_rows) for run in (tally.positive, tally.negative))
    auroc = METRICS["auroc"].compute(tally)
    if (auroc - 0.5) / math.sqrt((up + down + 1.0) / (12.0 * up * down)) < _INVERTED:
        guard("TM103", f"AUROC is {auroc:.4f}, far below 0.5: higher scores seem to mean negative. Nothing was flipped; "
              "negate the scores or pass the other pos_label", strict=strict)  # fmt: skip
    if tally.n_rows >= _FEW / _HEAVY_TIE and tally.exact and not _untied(tally):
        cut = tally.cutoffs
        heaviest = float(np.max(np.diff(cut.tp + cut.fp))) / float(tally.n)
        if heaviest >= _HEAVY_TIE and len(cut.thresholds) > 3:
            guard("TM104", f"{100 * heaviest:.0f} % of the rows share one score; ties count one half, and no threshold can "
                  "separate them", strict=strict)  # fmt: skip
    if asked.metrics is not None and not _OF_MOMENTS & set(asked.metrics):
        return
    worst = max((moments.skewness for moments in tally.scaled_moments), key=abs)
    if abs(worst) > _SKEWED:
        guard("TM105", f"the scores of one class are strongly skewed ({worst:.1f}); sPCC and d′ see two moments only, "
              "read them beside AUROC or transform the scores", strict=strict)  # fmt: skip


def _untied(tally: Tally) -> bool:
    """Whether every row has a score of its own, told without merging the classes."""
    below, at_or_below = tally.placements
    alone = below is at_or_below and all(run.kind == "unit" for run in tally.runs)
    return alone and all(bool((run.scores[1:] != run.scores[:-1]).all()) for run in tally.runs)


#: Effective rows, as a share of the rows and in number, below which uneven weights are worth a word.
_UNEVEN, _MANY = 0.5, 100.0

#: A row with more than this share of a metric's variance carries it, where the smaller class has this many rows or more.
_CARRIES, _ROWS = 0.25, 30


def _guard_intervals(tally: Tally, asked: _Asked) -> None:
    """Say where intervals, or values under a stated prevalence, were found not to hold."""
    names = [name for name in asked.metrics or METRICS if METRICS[name].needs in {"tally", "probabilities"}]
    odds = (1.0 - tally.prevalence) / tally.prevalence
    if tally.prior is not None and odds / tally.negative.worth > FEW_NEGATIVES:
        top = [name for name in names if METRICS[name].top_heavy]
        if top:
            guard("TM111", f"at a prevalence of {tally.prevalence:g} the top of the list rests on a few of {tally.negative.n_rows} "
                  f"negatives: {', '.join(top)} come out too high (intervals allow for it). About {math.ceil(odds / FEW_NEGATIVES)} "
                  "negatives are needed", strict=asked.strict)  # fmt: skip
    if asked.level is None or asked.interval != "default":
        return
    down, up = (run.worth for run in tally.runs)
    short = {
        name: METRICS[name].holds_from
        for name in names
        if down < METRICS[name].holds_from[0] or up < METRICS[name].holds_from[1]
    }
    if asked.metrics is not None and short:
        needs = "; ".join(f"{name}: {a} negatives and {b} positives" for name, (a, b) in short.items())
        guard("TM112", f"intervals were found to hold their level only from so many rows on ({needs}); here there are "
              f"{tally.negative.n_rows} and {tally.positive.n_rows}", strict=asked.strict)  # fmt: skip
    carried = [name for name in asked.metrics or () if METRICS[name].bound == "moments" and name in EFFECTS]
    if not carried or min(run.n_rows for run in tally.runs) < _ROWS:
        return
    with contextlib.suppress(Undefined):
        parts = np.concatenate([side.shares_of_variance for side in EFFECTS[carried[0]](tally).sides])
        if parts.sum() > 0.0 and float(parts.max() / parts.sum()) > _CARRIES:
            guard("TM113", f"one row carries {100 * parts.max() / parts.sum():.0f} % of the variance of {carried[0]}: scores with "
                  "such far outliers may have no variance at all. Read AUROC, or transform the scores", strict=asked.strict)  # fmt: skip


def _correlation_tables(moments: Moments) -> Mapping[str, Any]:
    return {
        "classes": list(moments.labels),
        "spcc_one_vs_one": spcc_one_vs_one(moments),
        "spcc_one_vs_rest": spcc_one_vs_rest(moments),
    }
