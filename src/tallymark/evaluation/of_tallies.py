"""Evaluation of tallies: all metrics of two classes, with intervals that include the choice of a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tallymark._policies import policy_in
from tallymark.errors import InputError, Undefined
from tallymark.evaluation.point_estimates import measure_of
from tallymark.evaluation.request import NO_SPREAD, Request, settings_at
from tallymark.inference.guards import score_notes
from tallymark.inference.limits.cell_metrics import Limits, RateQuery, limits_of_many
from tallymark.inference.limits.clustered import clustered_limits
from tallymark.inference.limits.defaults import DEFAULT_REPLICATES, tally_limits
from tallymark.inference.limits.optimism import REPLICATES, Choices, with_choice
from tallymark.inference.resampling.bootstrapping import BootstrapMethod, bootstrap
from tallymark.measures import Evaluation, Measure
from tallymark.metrics.parameters import stated_parameters
from tallymark.notes import Note
from tallymark.registry import METRICS
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally, matrix_at

#: Limits by metric, and by how much each metric at a chosen threshold is too optimistic.
_LimitsAndOptimism = tuple[dict[str, Limits], dict[str, float]]

#: Tallies evaluated together: enough to share the work, few enough to report progress.
_TOGETHER = 256


@dataclass(frozen=True)
class _Pending:
    """Point estimates of a tally whose intervals are still to come."""

    tally: Tally
    request: Request
    matrix: Confusion | None
    policy: str | None
    measures: dict[str, Measure]
    notes: tuple[Note, ...]

    @cached_property
    def defined(self) -> list[str]:
        """Metrics with a value, where both classes have the two rows an interval needs."""
        if self.request.level is None or self.few:
            return []
        return [name for name, measure in self.measures.items() if not math.isnan(measure.value)]

    @property
    def few(self) -> bool:
        """Whether a class has fewer rows than an interval needs."""
        return min(run.n_rows for run in self.tally.runs) < 2

    @property
    def no_interval(self) -> str:
        """Why a metric has none of the intervals that were computed."""
        if self.few:
            return "an interval needs two rows of each class"
        if self.tally.clusters is not None:
            return "it does not vary, or is undefined, where one cluster is left out"
        return NO_SPREAD

    @cached_property
    def at_threshold(self) -> list[str]:
        """Those that are functions of the matrix."""
        return [] if self.matrix is None else [name for name in self.defined if METRICS[name].needs == "confusion"]

    @cached_property
    def settings(self) -> dict[str, dict[str, float]]:
        """The parameters of the metrics at the threshold."""
        return {} if self.matrix is None else settings_at(self.at_threshold, self.matrix, self.request)

    @property
    def threshold(self) -> float | None:
        """Where the scores are cut."""
        return None if self.matrix is None else self.matrix.threshold


def evaluate_tallies(parts: Sequence[tuple[Tally, Request]]) -> list[Evaluation]:
    """Evaluations of one or many tallies; intervals at a threshold are computed for many at once."""
    evaluations: list[Evaluation] = []
    for start in range(0, len(parts), _TOGETHER):
        pending = [_point_estimates(tally, request) for tally, request in parts[start : start + _TOGETHER]]
        first = pending[0].request
        rates: dict[int, dict[str, Limits]] = {}
        if first.level is not None and first.interval == "default":
            queries = {
                i: RateQuery(one.at_threshold, one.matrix, one.settings)
                for i, one in enumerate(pending)
                if one.matrix is not None and one.at_threshold and one.tally.clusters is None
            }
            limits = limits_of_many(list(queries.values()), first.level, first.sampling)
            rates = dict(zip(queries, limits, strict=True))
        for i, one in enumerate(pending):
            evaluations.append(_completed(one, rates.get(i, {})))
            if first.progress is not None:
                first.progress(100.0 * len(evaluations) / len(parts))
    return evaluations


def _point_estimates(data: Tally, request: Request) -> _Pending:
    if not data.labelled:
        raise InputError("evaluate needs labels; this tally has none. Make it with tm.tally(y, scores).")
    tally, prevalence_reason = _at_prevalence(data, request.prevalence)
    names = request.fitting("tally", "probabilities", "confusion")
    intervals = request.level is not None and request.interval == "default"
    notes = score_notes(tally, request.metrics, intervals=intervals)
    matrix, no_matrix, policy, moved = _matrix_at(tally, request.threshold)
    measures = {}
    for name in names:
        facts = METRICS[name]
        reason = prevalence_reason if not facts.prevalence_free else None
        summary = matrix if facts.needs == "confusion" else tally
        if reason or summary is None:
            measures[name] = Measure(name=name, value=math.nan, reason=reason or no_matrix)
        else:
            measures[name] = measure_of(facts, summary, name, **request.of(facts))
    return _Pending(tally, request, matrix, policy, measures, (*notes, *moved))


def _completed(one: _Pending, rates: dict[str, Limits]) -> Evaluation:
    """The evaluation with the intervals of all metrics."""
    tally, request, measures = one.tally, one.request, one.measures
    if request.level is not None:
        limits: dict[str, Limits] = {}
        optimism: dict[str, float] = {}
        if not one.defined:
            pass
        elif tally.clusters is not None:
            limits, optimism = _clustered(one, request.level)
        elif request.interval != "default":
            limits, optimism = _bootstrapped(one, request.level, request.interval)
        else:
            limits, optimism = _by_default(one, request.level, rates)
        measures = request.with_limits(measures, limits, one.no_interval)
        measures |= {name: replace(measures[name], optimism=amount) for name, amount in optimism.items()}
    return Evaluation(
        measures,
        n=tally.n,
        n_rows=tally.n_rows,
        positives=tally.positives,
        prevalence=tally.prior,
        threshold=one.threshold,
        policy=one.policy,
        confusion=one.matrix,
        sampling=request.sampling if tally.clusters is None else "clusters",
        warnings=one.notes,
        class_rows=(tally.runs[0].n_rows, tally.runs[1].n_rows),
    )


def _by_default(one: _Pending, level: float, rates: dict[str, Limits]) -> _LimitsAndOptimism:
    """The default intervals; `rates` are those of the metrics at the threshold, as if it were fixed."""
    request = one.request
    limits, optimism = _with_choice(one, rates, level)
    rest = [name for name in one.defined if name not in one.at_threshold]
    values = {name: one.measures[name].value for name in rest if not one.measures[name].parameters}
    limits |= tally_limits(rest, one.tally, level, request.resampling(DEFAULT_REPLICATES), values)
    return limits, optimism


def _bootstrapped(one: _Pending, level: float, method: BootstrapMethod) -> _LimitsAndOptimism:
    """Percentile or BCa intervals, which hold the threshold fixed; and the optimism of choosing it."""
    request = one.request
    replicates = bootstrap(
        one.tally,
        one.defined,
        threshold=one.threshold,
        sampling=request.sampling,
        seed=request.seed,
        jobs=request.jobs,
        parameters=one.settings,
    )
    intervals = {name: replicates.interval(name, level=level, method=method) for name in one.defined}
    limits = {name: (i.low, i.high, i.interval_method) for name, i in intervals.items() if not math.isnan(i.low)}
    at_threshold = {name: limits[name] for name in one.at_threshold if name in limits}
    return limits, _with_choice(one, at_threshold, level)[1]


def _clustered(one: _Pending, level: float) -> _LimitsAndOptimism:
    """Jackknife intervals of rows in clusters."""
    request = one.request
    if request.interval != "default":
        raise InputError(
            f"interval={request.interval!r} resamples rows one by one; rows in clusters have default intervals only."
        )
    if request.sampling != "plain":
        raise InputError(
            f"sampling={request.sampling!r} is for independent rows; clusters are taken as drawn at random. "
            "Leave it out."
        )
    names = [name for name in one.defined if name not in one.at_threshold or name in one.settings]
    values = {name: one.measures[name].value for name in names}
    limits = clustered_limits(values, one.tally, one.threshold, level, one.settings)
    at_threshold = {name: limits[name] for name in one.at_threshold if name in limits}
    with_choice, optimism = _with_choice(one, at_threshold, level)
    return limits | with_choice, optimism


def _with_choice(one: _Pending, limits: dict[str, Limits], level: float) -> _LimitsAndOptimism:
    """Limits that include the choice of the threshold, where a policy chose it on these rows; and its optimism."""
    request = one.request
    if one.policy is None or not limits:
        return limits, {}
    values = {name: one.measures[name].value for name in limits}
    try:
        choices = Choices.of(one.tally, one.policy, request.resampling(REPLICATES))
    except Undefined:
        return limits, {}
    return with_choice(limits, values, choices, stated_parameters(request.threshold, request.parameters), level)


def _at_prevalence(tally: Tally, prevalence: float | None) -> tuple[Tally, str | None]:
    if prevalence is None:
        return tally, None
    if tally.positives and tally.negatives:
        return tally.at_prevalence(prevalence), None
    return tally, "another prevalence needs rows of both classes"


def _matrix_at(
    tally: Tally, threshold: float | str | None
) -> tuple[Confusion | None, str | None, str | None, tuple[Note, ...]]:
    """The matrix, or the reason there is none; the policy that chose the threshold; and a note where it was moved."""
    if threshold is None:
        threshold = default_threshold([tally])
    policy = policy_in(threshold)
    if policy and not (tally.positives and tally.negatives):
        return None, f"the policy {policy!r} needs rows of both classes", policy, ()
    try:
        matrix, notes = matrix_at(tally, threshold)
    except Undefined as error:
        return None, error.reason, policy, ()
    return matrix, None, policy, notes


def default_threshold(tallies: Iterable[Tally]) -> float | str:
    """The default threshold of a model: 0.5 if its scores are probabilities in every group, else Youden's J."""
    return 0.5 if all(tally.is_probability for tally in tallies if tally.n) else "youden"
