"""Evaluation of one or many tallies: all metrics of two classes, with intervals that include a chosen threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tallymark.errors import InputError, Undefined
from tallymark.evaluation.point_estimates import measure_of
from tallymark.evaluation.request import Request, settings_at
from tallymark.inference.guards import score_notes
from tallymark.inference.limits.cell_metrics import Asked as RatesAsked
from tallymark.inference.limits.cell_metrics import Limits, limits_of_many
from tallymark.inference.limits.clustered import clustered_limits
from tallymark.inference.limits.defaults import tally_limits
from tallymark.inference.limits.optimism import Choices, with_choice
from tallymark.inference.resampling.bootstrapping import bootstrap
from tallymark.measures import Evaluation, Measure
from tallymark.notes import Note
from tallymark.registry import METRICS, asked_parameters, policy_in
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tally import Tally, matrix_at


@dataclass(frozen=True)
class _Looked:
    """A tally, what was measured of it, and what is still asked: its intervals."""

    tally: Tally
    asked: Request
    matrix: Confusion | None
    policy: str | None
    measures: dict[str, Measure]
    notes: tuple[Note, ...]

    @cached_property
    def defined(self) -> list[str]:
        """Metrics with a value, where both classes have the two rows an interval needs."""
        if self.asked.level is None or min(run.n_rows for run in self.tally.runs) < 2:
            return []
        return [name for name, measure in self.measures.items() if not math.isnan(measure.value)]

    @cached_property
    def at_threshold(self) -> list[str]:
        """Those that are functions of the matrix."""
        return [] if self.matrix is None else [name for name in self.defined if METRICS[name].needs == "confusion"]


def evaluate_tallies(parts: Sequence[tuple[Tally, Request]]) -> list[Evaluation]:
    """Evaluations of one or many tallies; intervals at a threshold are found for many at once."""
    items: list[Evaluation] = []
    for start in range(0, len(parts), _TOGETHER):
        looked = [_look(tally, asked) for tally, asked in parts[start : start + _TOGETHER]]
        first = looked[0].asked
        rates: dict[int, dict[str, Limits]] = {}
        if first.level is not None and first.interval == "default":
            questions = {
                i: RatesAsked(one.at_threshold, one.matrix, settings_at(one.at_threshold, one.matrix, one.asked))
                for i, one in enumerate(looked)
                if one.matrix is not None and one.at_threshold and one.tally.clusters is None
            }
            answers = limits_of_many(list(questions.values()), first.level, first.sampling)
            rates = dict(zip(questions, answers, strict=True))
        for i, one in enumerate(looked):
            items.append(_completed(one, rates.get(i, {})))
            if first.progress is not None:
                first.progress(100.0 * len(items) / len(parts))
    return items


#: Tallies evaluated together: enough to share the work, few enough to show that it goes on.
_TOGETHER = 256


def _look(data: Tally, asked: Request) -> _Looked:
    if not data.labelled:
        raise InputError("evaluate needs labels; this tally has none. Make it with tm.tally(y, scores).")
    tally, lens_reason = _seen_at(data, asked.prevalence)
    names = asked.fitting("tally", "probabilities", "confusion")
    notes = score_notes(tally, asked.metrics, intervals=asked.level is not None and asked.interval == "default")
    matrix, no_matrix, policy, moved = _matrix_at(tally, asked.threshold)
    measures = {}
    for name in names:
        facts = METRICS[name]
        reason = lens_reason if not facts.prevalence_free else None
        summary = matrix if facts.needs == "confusion" else tally
        if reason or summary is None:
            measures[name] = Measure(name=name, value=math.nan, reason=reason or no_matrix)
        else:
            measures[name] = measure_of(facts, summary, name, **asked.of(facts))
    return _Looked(tally, asked, matrix, policy, measures, (*notes, *moved))


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
        sampling=asked.sampling if tally.clusters is None else "clusters",
        warnings=one.notes,
        class_rows=(tally.runs[0].n_rows, tally.runs[1].n_rows),
    )


def _limits_of_tally(
    one: _Looked, rates: dict[str, Limits], level: float
) -> tuple[dict[str, Limits], dict[str, float]]:
    """Intervals of what has a value, those at the threshold given; and what the choice of the threshold flatters."""
    tally, asked, defined, of_rates = one.tally, one.asked, one.defined, one.at_threshold
    if not defined:
        return {}, {}
    if tally.clusters is not None:
        if asked.interval != "default":
            raise InputError(
                f"interval={asked.interval!r} resamples rows one by one; rows in clusters have default intervals only."
            )
        if asked.sampling != "plain":
            raise InputError(
                f"sampling={asked.sampling!r} speaks of single rows; clusters are taken as drawn at random. Leave it out."
            )
        cut = None if one.matrix is None else one.matrix.threshold
        settings = {} if one.matrix is None else settings_at(of_rates, one.matrix, asked)
        values = {name: one.measures[name].value for name in defined if name not in of_rates or name in settings}
        jackknifed = clustered_limits(values, tally, cut, level, settings)
        at_cut = {name: jackknifed[name] for name in of_rates if name in jackknifed}
        included, optimism = _with_choice(at_cut, one.measures, tally, one.policy, asked, level)
        return jackknifed | included, optimism
    if asked.interval != "default":
        threshold = None if one.matrix is None else one.matrix.threshold
        settings = {} if one.matrix is None else settings_at(of_rates, one.matrix, asked)
        replicates = bootstrap(
            tally,
            defined,
            threshold=threshold,
            sampling=asked.sampling,
            seed=asked.seed,
            jobs=asked.jobs,
            parameters=settings,
        )
        drawn = {name: replicates.interval(name, level=level, method=asked.interval) for name in defined}  # type: ignore[arg-type]
        resampled = {name: (i.low, i.high, i.interval_method) for name, i in drawn.items() if not math.isnan(i.low)}
        # These hold the threshold fixed; what its choice flatters is said all the same.
        at_threshold = {name: resampled[name] for name in of_rates if name in resampled}
        return resampled, _with_choice(at_threshold, one.measures, tally, one.policy, asked, level)[1]
    limits, optimism = _with_choice(rates, one.measures, tally, one.policy, asked, level)
    rest = [name for name in defined if name not in of_rates]
    known = {name: one.measures[name].value for name in rest if not one.measures[name].parameters}
    return limits | tally_limits(
        rest, tally, level, asked.sampling, seed=asked.seed, jobs=asked.jobs, known=known
    ), optimism


def _with_choice(
    limits: dict[str, Limits],
    measures: Mapping[str, Measure],
    tally: Tally,
    policy: str | None,
    asked: Request,
    level: float,
) -> tuple[dict[str, Limits], dict[str, float]]:
    """Limits that include the choice of the threshold, where a policy chose it, and what the choice flatters."""
    if policy is None or not limits:
        return limits, {}
    values = {name: measures[name].value for name in limits}
    try:
        choices = Choices.of(tally, policy, sampling=asked.sampling, seed=asked.seed, jobs=asked.jobs)
    except Undefined:
        return limits, {}
    return with_choice(limits, values, choices, asked_parameters(asked.threshold, asked.parameters), level)


def _seen_at(tally: Tally, prevalence: float | None) -> tuple[Tally, str | None]:
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
    """Where a model's scores are cut unless told: 0.5 if they are probabilities in every group, else by Youden's J."""
    return 0.5 if all(tally.is_probability for tally in tallies if tally.n) else "youden"
