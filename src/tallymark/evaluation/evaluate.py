"""``tm.evaluate``: all metrics of a summary, with intervals, chance levels and diagnostics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, overload

from tallymark import _check
from tallymark._check import Label
from tallymark._positives import checked_name
from tallymark.errors import InputError
from tallymark.evaluation.of_classes import correlation_tables, evaluate_classes
from tallymark.evaluation.of_tallies import default_threshold, evaluate_tallies
from tallymark.evaluation.point_estimates import measure_of
from tallymark.evaluation.request import (
    NO_SPREAD,
    IntervalMethod,
    Progress,
    Request,
    checked_parameters,
    settings_at,
    why_no_interval,
)
from tallymark.inference.guards import class_notes, table_notes
from tallymark.inference.interval import Sampling, Seed, checked_level
from tallymark.inference.limits.cell_metrics import rate_limits
from tallymark.inference.limits.class_scores import class_score_limits
from tallymark.inference.limits.outcome_means import rate_of
from tallymark.measures import Evaluation, Evaluations, Measure
from tallymark.metrics import headlines
from tallymark.metrics.averages import CLASS_METRICS
from tallymark.notes import emit
from tallymark.registry import METRICS, metric_names, require_one_of
from tallymark.sources.filepanel import FilePanel
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.class_scores import ClassScores
from tallymark.summaries.confusion import BinaryConfusion, Confusion
from tallymark.summaries.moments import Moments
from tallymark.summaries.outcomes import Outcomes
from tallymark.summaries.panel import Panel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

Metrics = str | Iterable[str] | None

#: Why metrics of K scores a row have no interval where only their summary is known.
_NO_ROWS = "its interval needs the rows: tm.class_panel(y, scores, classes=…)"


@overload
def evaluate(
    data: Tallies | Panel | FilePanel | Outcomes,
    /,
    *,
    metrics: Metrics = ...,
    threshold: float | str | None = ...,
    level: float | None = ...,
    prevalence: float | None = ...,
    interval: IntervalMethod = ...,
    sampling: Sampling = ...,
    seed: Seed = ...,
    jobs: int | None = ...,
    strict: bool = ...,
    progress: Progress | None = ...,
    classes: None = ...,
    called: str | None = ...,
    **parameters: float,
) -> Evaluations: ...
@overload
def evaluate(
    data: Tally | Confusion | Moments | ClassScores | ClassPanel,
    /,
    *,
    metrics: Metrics = ...,
    threshold: float | str | None = ...,
    level: float | None = ...,
    prevalence: float | None = ...,
    interval: IntervalMethod = ...,
    sampling: Sampling = ...,
    seed: Seed = ...,
    jobs: int | None = ...,
    strict: bool = ...,
    progress: Progress | None = ...,
    classes: Sequence[Label] | None = ...,
    called: str | None = ...,
    **parameters: float,
) -> Evaluation: ...
def evaluate(
    data: Tally | Tallies | Panel | FilePanel | Confusion | Moments | ClassScores | ClassPanel | Outcomes,
    /,
    *columns: object,
    metrics: Metrics = None,
    threshold: float | str | None = None,
    level: float | None = 0.95,
    prevalence: float | None = None,
    interval: IntervalMethod = "default",
    sampling: Sampling = "plain",
    seed: Seed = 0,
    jobs: int | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    classes: Sequence[Label] | None = None,
    called: str | None = None,
    **parameters: float,
) -> Evaluation | Evaluations:
    """Compute all metrics of a summary, with confidence intervals, chance levels and warnings.

    Parameters
    ----------
    data
        What :func:`tallymark.tally`, :func:`tallymark.panel`, :func:`tallymark.confusion` and the like made.
    *columns
        Not accepted: raises an error that says how to make a summary of columns.
    metrics
        Names of metrics; all that fit the data by default.
    threshold
        A number, or a policy such as ``"youden"`` that chooses one. By default 0.5 where all scores lie in [0, 1], and
        ``"youden"`` elsewhere.
    level
        Level of the confidence intervals; None leaves them out. Where a policy chose the threshold on these rows,
        default intervals include the choice, and `optimism` says by how much each metric is too good.
    prevalence
        Prevalence to compute metrics at that depend on it, taken as known; by default the sample's.
    interval
        ``"default"`` takes the method of each metric (named in `interval_method`), ``"percentile"`` and ``"bca"`` the
        bootstrap.
    sampling
        ``"plain"`` takes all rows as drawn at random, ``"stratified"`` the class sizes as fixed by design.
    seed
        Seed of the resampling; the same seed gives the same numbers for any `jobs`.
    jobs
        Number of threads; by default one for each core, at most 8.
    strict
        Raise warnings as errors.
    progress
        Called with the percentage of the groups that are done.
    classes
        Of K predicted classes, those that averages over classes are over; all of them by default. Metrics without
        averaging stay those of the whole matrix.
    called
        What positive rows are called, in the plural: ``"platforms"``. Tables, JSON and reports then say so.
    **parameters
        Parameters of metrics, such as ``cost_fp=1, cost_fn=50`` or ``beta=2``; a policy like ``cost:1,50`` sets them
        too.

    Returns
    -------
    Evaluation or Evaluations
        The measures by name; `Evaluations` of several models or groups.

    Examples
    --------
    >>> import tallymark as tm
    >>> ev = tm.evaluate(tm.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.7, 0.9]), threshold=0.5)
    >>> ev["auroc"].value, ev["auroc"].chance
    (0.8888888888888888, 0.5)
    >>> ev["recall"]
    recall = 0.6667, 95 % interval 0.1320 to 0.9833, chance 0.5000
    """
    if columns:
        raise InputError("evaluate takes one summary. Write tm.evaluate(tm.tally(y, scores)).")
    _check.callback(progress)
    if metrics is not None and not isinstance(metrics, Iterable):
        raise InputError(f"metrics is {metrics!r}, expected a name or a list of names.")
    averages, plainly = _averages(metrics)
    if averages and not isinstance(data, Confusion | ClassScores | ClassPanel):
        raise InputError(
            f"{averages[0]} is an average over classes; it needs predicted classes or a score for each class."
        )
    of_classes = isinstance(data, Confusion | ClassScores | ClassPanel) and not isinstance(data, BinaryConfusion)
    if classes is not None and not of_classes:
        raise InputError(
            "classes= says which classes averages are over; it needs predicted classes of more than two kinds, or a "
            "score for each class."
        )
    chosen = None if metrics is None else [*metric_names(plainly), *(CLASS_METRICS[name].metric for name in averages)]
    request = Request(
        metrics=chosen,
        threshold=threshold,
        prevalence=prevalence,
        strict=strict,
        level=None if level is None else checked_level(level),
        interval=require_one_of("interval", interval, ("default", "percentile", "bca")),
        sampling=require_one_of("sampling", sampling, ("stratified", "plain")),
        seed=seed,
        parameters=checked_parameters(parameters),
        progress=progress,
        jobs=jobs,
        classes=classes,
        named=None if metrics is None else (*averages, *metric_names(plainly)),
    )
    result: Evaluation | Evaluations = _evaluate(data, request)
    _refuse_unused(parameters, result)
    if metrics is None:
        result = _with_leading(result)
    if called is not None:
        result = _with_name(result, checked_name(called))
    emit(result.warnings, strict=strict)
    return result


def _with_leading(result: Evaluation | Evaluations) -> Any:
    """The result with the metrics that are shown first; of groups, which have a line each, only a few."""
    if not isinstance(result, Evaluations):
        return _led(result, headlines.TABLE + headlines.CLASSES)
    grouped = len(result.names) > result.by_model
    entries = {
        key: _led(one, _few(one) if grouped else headlines.TABLE + headlines.CLASSES)
        for key, one in result.entries.items()
    }
    return replace(result, entries=entries)


def _with_name(result: Evaluation | Evaluations, called: str | None) -> Any:
    """The result with the name of its positive rows."""
    if isinstance(result, Evaluations):
        return replace(result, entries={key: _with_name(one, called) for key, one in result.entries.items()})
    if result.positives is None:
        raise InputError(
            "called= is the name of the positive rows, and no class is the positive one here; leave it out."
        )
    return replace(result, called=called)


def _led(one: Evaluation, metrics: Sequence[str]) -> Evaluation:
    leading = tuple(name for name in dict.fromkeys(metrics) if name in one.measures)
    return replace(one, leading=leading if len(one) > len(leading) else ())


def _few(one: Evaluation) -> Sequence[str]:
    if "auroc" in one.measures:
        return headlines.BY_GROUP
    return headlines.PREDICTIONS_BY_GROUP if "f1" in one.measures else headlines.CLASSES_BY_GROUP


def _refuse_unused(parameters: Mapping[str, float], result: Evaluation | Evaluations) -> None:
    """Refuse a parameter that no evaluated metric has."""
    measures = [
        one for part in (result.values() if isinstance(result, Evaluations) else [result]) for one in part.values()
    ]
    for name in parameters:
        if not any(name in one.parameters for one in measures):
            takes = ", ".join(metric for metric, facts in METRICS.items() if name in facts.parameters)
            raise InputError(
                f"{name}= is a parameter of {takes}, and none of the metrics evaluated here has it; leave it out."
            )


def _averages(metrics: Metrics) -> tuple[list[str], list[str]]:
    """Names that are averages over classes, such as f1_macro, and all others."""
    names = [metrics] if isinstance(metrics, str) else list(metrics) if isinstance(metrics, Iterable) else []
    averages = [
        name
        for name in names
        if isinstance(name, str) and name in CLASS_METRICS and CLASS_METRICS[name].average is not None
    ]
    return averages, [name for name in names if name not in averages]


@singledispatch
def _evaluate(data: object, _: Request) -> Any:
    raise InputError(
        "evaluate takes a Tally, Tallies, Panel, ClassPanel, Confusion, Moments or ClassScores, got "
        f"{type(data).__name__}. Write tm.evaluate(tm.tally(y, scores))."
    )


@_evaluate.register
def _(data: Tally, request: Request) -> Evaluation:
    return evaluate_tallies([(data, request)])[0]


@_evaluate.register
def _(data: Tallies, request: Request) -> Evaluations:
    # One default for all groups of a model: a group whose scores happen to lie in [0, 1] is no exception.
    by_model: dict[Any, list[Tally]] = {}
    for key, tally in data.entries.items():
        by_model.setdefault(key[0] if data.by_model else None, []).append(tally)
    request_of = {
        model: request if request.threshold is not None else replace(request, threshold=default_threshold(tallies))
        for model, tallies in by_model.items()
    }
    evaluations = evaluate_tallies(
        [(tally, request_of[key[0] if data.by_model else None]) for key, tally in data.entries.items()]
    )
    return Evaluations(data.names, dict(zip(data.entries, evaluations, strict=True)), data.by_model)


@_evaluate.register(Panel)
@_evaluate.register(FilePanel)
def _(data: Panel | FilePanel, request: Request) -> Evaluations:
    evaluations: Evaluations = _evaluate(data.tallies(), request)
    return evaluations


@_evaluate.register
def _(data: Confusion, request: Request) -> Evaluation:
    if request.threshold is not None:
        raise InputError("The threshold of a confusion matrix is fixed; evaluate a tally to choose one.")
    request.refuse_resampling()
    if not isinstance(data, BinaryConfusion):
        if request.prevalence is not None:
            raise InputError("prevalence= needs one positive class; take one with .one_vs_rest(label) first.")
        request.fitting("confusion")
        return evaluate_classes(data, request)
    reweighted = data.at_prevalence(request.prevalence) if request.prevalence is not None else data
    measures = {
        name: measure_of(METRICS[name], reweighted, name, **request.of(METRICS[name]))
        for name in request.fitting("confusion")
    }
    if request.level is not None:
        limits = rate_limits(
            measures, reweighted, request.level, request.sampling, settings_at(measures, reweighted, request)
        )
        measures = request.with_limits(measures, limits, why_no_interval(reweighted))
    return Evaluation(
        measures,
        n=data.n,
        n_rows=data.n_rows,
        positives=data.tp + data.fn,
        prevalence=reweighted.prior,
        threshold=data.threshold,
        confusion=data,
        sampling=request.sampling,
        warnings=table_notes(data),
    )


@_evaluate.register
def _(data: Outcomes, request: Request) -> Evaluations:
    if request.named is not None or request.threshold is not None or request.prevalence is not None:
        raise InputError("Outcomes are evaluated by their means alone; leave out metrics=, threshold= and prevalence=.")
    evaluations = {}
    for place, system in enumerate(data.systems):
        rate = rate_of(data, place, request.level or 0.95)
        limits: dict[str, Any]
        if math.isnan(rate.low):
            limits = {"no_interval": "all outcomes are alike, or of one cluster, which tells nothing of their spread"}
        else:
            limits = {} if request.level is None else vars(rate)
        measure = Measure(name=data.name, **{"value": rate.value, **limits})
        evaluations[system,] = Evaluation(
            {data.name: measure}, n=data.n, n_rows=data.n, sampling="plain" if data.independent else "clusters"
        )
    return Evaluations(("model",), evaluations)


@_evaluate.register
def _(data: Moments, request: Request) -> Evaluation:
    request.refuse_binary_options()
    request.refuse_limits()
    measures = {name: measure_of(METRICS[name], data) for name in request.fitting("moments")}
    if request.level is not None:
        measures = request.with_limits(measures, {}, _NO_ROWS)
    return Evaluation(
        measures,
        n=data.n,
        n_rows=int(data.n_rows.sum()),
        tables=correlation_tables(data),
        warnings=class_notes(data),
    )


@_evaluate.register
def _(data: ClassScores, request: Request) -> Evaluation:
    request.refuse_binary_options()
    request.refuse_resampling()
    names = request.fitting("moments", "multiclass", "confusion")
    labels = evaluate_classes(data.confusion, request)
    measures = dict(labels.measures)
    for name in names:
        if METRICS[name].needs == "moments":
            measures[name] = measure_of(METRICS[name], data.moments)
        elif METRICS[name].needs == "multiclass":
            measures[name] = measure_of(METRICS[name], data)
    if request.level is not None:
        measures = request.with_limits(measures, {}, _NO_ROWS)
    return Evaluation(
        measures,
        n=labels.n,
        n_rows=labels.n_rows,
        confusion=data.confusion,
        per_class=labels.per_class,
        averaged_over=labels.averaged_over,
        tables=correlation_tables(data.moments),
        warnings=labels.warnings,
    )


@_evaluate.register
def _(data: ClassPanel, request: Request) -> Evaluation:
    evaluation: Evaluation = _evaluate(data.class_scores, request)
    if request.level is None:
        return evaluation
    names = [
        name
        for name, measure in evaluation.items()
        if name in METRICS and METRICS[name].needs in {"moments", "multiclass"} and not math.isnan(measure.value)
    ]
    values = {name: evaluation[name].value for name in names}
    limits = class_score_limits(names, data, values, request.level, request.sampling, request.seed, request.jobs)
    few = data.class_scores.moments.n_rows.min() < 2
    why = "an interval needs two rows of every class" if few else NO_SPREAD
    scored = request.with_limits({name: evaluation[name] for name in names}, limits, why)
    return replace(evaluation, measures={**evaluation.measures, **scored}, sampling=request.sampling)
