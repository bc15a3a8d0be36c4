"""Metrics of an unlabelled target expected under prior shift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError, Undefined
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.resampling.values import at_rates
from tallymark.measures import Evaluation, Measure
from tallymark.metrics.headlines import EXPECTED
from tallymark.quantify.estimation.prevalence import quantiles
from tallymark.quantify.estimation.problem import one_target, problem_of
from tallymark.quantify.estimation.resampling import resampled
from tallymark.quantify.kernels.samples import Samples, Validation
from tallymark.registry import METRICS, QUANTIFIERS, metric_names
from tallymark.summaries.tally import Tally

_REPLICATES = 1_000


def expected(
    validation: Tally,
    target: Tally,
    *,
    threshold: float | str = 0.5,
    metrics: Sequence[str] = EXPECTED,
    method: str = "bayes",
    level: float = 0.95,
    seed: Seed = 0,
    jobs: int | None = None,
    **options: Any,
) -> Evaluation:
    r"""Metrics at a threshold in an unlabelled target, expected under prior shift.

    The rates tpr and fpr are those of the validation sample, the prevalence is estimated from the target's scores;
    intervals resample both.

    Parameters
    ----------
    validation
        Labelled tally.
    target
        Unlabelled tally of the same model's scores.
    threshold
        Number or policy.
    metrics
        Metrics at a threshold.
    method
        Quantifier of the prevalence.
    level
        Confidence level of the intervals.
    seed, jobs
        Seed of the resamples, and threads.
    **options
        Parameters of the metrics such as ``beta`` or ``cost_fn``.

    Returns
    -------
    Evaluation
        The metrics with their limits.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(2)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, rng.normal(2 * y))
    >>> new = tm.tally(scores=rng.normal(2.0 * (np.arange(4000) < 200)))
    >>> ev = tm.quantify.expected(t, new, threshold=1.0, metrics=["precision"])
    >>> [round(v, 2) for v in (ev["precision"].value, ev["precision"].low, ev["precision"].high)]
    [0.14, 0.04, 0.22]

    """
    confidence = checked_level(level)
    names = metric_names(metrics)
    for name in names:
        if METRICS[name].needs != "confusion":
            raise InputError(f"{name} is not a metric at one threshold; prior shift predicts those only.")
    unknown = set(options) - {option for name in names for option in METRICS[name].parameters}
    if unknown:
        raise InputError(f"{min(unknown)!r} is no parameter of {', '.join(names)}.")
    one = one_target(target, "expected()")
    if not isinstance(validation, Tally):
        raise InputError("validation must be a labelled tally: tm.tally(y, scores).")
    cut = validation.at(threshold).threshold
    quantifier = QUANTIFIERS[method]
    problem = problem_of(quantifier, validation, [one], cut)
    at = np.array([cut], dtype=validation.runs[0].scores.dtype)

    def rates_and_share(labelled: Validation, unlabelled: Samples) -> Floats:
        tpr, fpr = labelled.rates(at)
        return np.stack(np.broadcast_arrays(tpr[:, 0], fpr[:, 0], problem.shares(labelled, unlabelled)))

    parts = rates_and_share(problem.clean(one), Samples.of_run(one.runs[0]))[:, 0]
    (drawn,) = resampled(
        rates_and_share,
        validation,
        [one],
        problem.training_prevalence,
        _REPLICATES,
        seed,
        edges=(float(at[0]),),
        jobs=jobs,
    )
    prevalence = float(parts[2])
    if math.isnan(prevalence):
        raise InputError(f"{method} has no estimate here: no threshold tells the classes apart.")
    measures = {}
    for name in names:
        allowed = {k: v for k, v in options.items() if k in METRICS[name].parameters}
        value, reason = _value(name, *(float(part) for part in parts), **allowed)
        measures[name] = Measure(name=name, value=value, prevalence=prevalence, reason=reason)
        if reason is None:
            low, high = quantiles(_values(name, drawn, allowed), confidence)
            measures[name] = replace(
                measures[name],
                low=min(low, value),
                high=max(high, value),
                interval_method="prior shift",
                level=confidence,
            )
    return Evaluation(measures, n=one.n, n_rows=one.n_rows, prevalence=prevalence, threshold=float(at[0]))


def _values(name: str, drawn: Sequence[Floats], options: dict[str, float]) -> Floats:
    tpr, fpr, pi = drawn
    facts = METRICS[name]
    return at_rates(facts, pi * tpr, (1 - pi) * fpr, pi, 1 - pi, {**facts.parameters, **options})


def _value(name: str, tpr: float, fpr: float, pi: float, **options: float) -> tuple[float, str | None]:
    try:
        value = float(_values(name, [np.array([tpr]), np.array([fpr]), np.array([pi])], options)[0])
    except Undefined as error:
        return math.nan, error.reason
    return value, "it has no value at these rates" if math.isnan(value) else None
