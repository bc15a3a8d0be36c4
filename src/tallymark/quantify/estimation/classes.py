"""Multiclass quantification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Label
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level
from tallymark.inference.limits.proportions import limits
from tallymark.inference.resampling.parallel import seeds
from tallymark.quantify.estimation.class_intervals import ClassLimits
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.declared import ClassMethod, class_methods, estimation_of
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.quantify.kernels.class_rows import ClassRows
from tallymark.quantify.kernels.class_solvers import Solver
from tallymark.registry import Method
from tallymark.summaries.class_panel import ClassPanel

_REPLICATES = 300

#: Numbers held at once: rows of a sample times resamples.
_HELD = 4_000_000


def estimate_classes(
    method: Method,
    validation: ClassPanel,
    target: ClassPanel,
    *,
    training_prevalence: object = None,
    level: float | None = 0.95,
    replicates: int | None = None,
    seed: Seed = 0,
    resample: bool = False,
    options: Mapping[str, Any],
) -> ClassPrevalences:
    """Shares of K classes.

    ``ac`` and ``pacc`` solve least squares on the simplex; ``bayes`` fits prevalences and class shares of cells
    together; ``hdy`` and ``dys`` match the K histograms of the scores for each class at once; ``em``, ``kde`` and
    ``energy`` have their own K-class forms. Methods that count one class against the rest are refused: the rest is
    itself a mixture that shifts. Limits of ``ac`` and ``pacc`` come in closed form, those of ``bayes`` from its
    likelihood, with a joint region each; the others resample the rows of both sides (``kde`` and ``energy``, whose work
    grows with the product of the two, at most 3 000 rows of each).
    """
    form = estimation_of(method.name).classes
    if form is None:
        raise InputError(
            f"{method.name} counts one class against the rest, which is wrong when the rest shifts too; for more than "
            f"two classes use {', '.join(class_methods())}."
        )
    if unknown := set(options) - set(form.options):
        declared = ", ".join(form.options) or "none"
        raise InputError(
            f"{method.name} of more than two classes has no option {min(unknown)!r}; its options are {declared}."
        )
    both = ClassRows.of(validation, target, training_prevalence)
    work = form.solver(both, options)
    shares = work(both.weight[None, :], np.ones((1, both.m)))[0]
    if level is None or not method.reads_target:
        return ClassPrevalences(_entries(method, both, shares, None, None))
    checked = checked_level(level)
    if form.limits is not None and not resample and not np.isnan(shares).any():
        ends = form.limits(both, checked, options)
    else:
        times = _REPLICATES if replicates is None else _check.whole(replicates, "replicates", 100)
        ends = _bootstrap_limits(form, both, work, shares, options, times, checked, seed)
    entries = _entries(method, both, shares, ends, checked)
    return ClassPrevalences(entries, ends.covariance, ends.centre, ends.region)


def _bootstrap_limits(
    form: ClassMethod,
    both: ClassRows,
    work: Solver,
    shares: Floats,
    options: Mapping[str, Any],
    times: int,
    level: float,
    seed: Seed,
) -> ClassLimits:
    few = both.thinned(seed) if form.pairwise else both
    shift: Any = 0.0
    if few is not both:
        work = form.solver(few, options)
        # The few rows scatter around their own estimate; what counts is how far.
        shift = shares - work(few.weight[None, :], np.ones((1, few.m)))[0]
    drawn = np.clip(_resampled(few, work, times, seed) + shift, 0.0, 1.0)
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(drawn, [tail, 1.0 - tail], axis=0)
    return ClassLimits(low, high, "bootstrap", covariance=np.cov(drawn.T))


def _entries(
    method: Method, both: ClassRows, shares: Floats, ends: ClassLimits | None, level: float | None
) -> dict[Label, Prevalence]:
    entries: dict[Label, Prevalence] = {}
    for k, label in enumerate(both.labels):
        value = float(shares[k])
        if math.isnan(value):
            reason = "the classes cannot be told apart"
            entries[label] = Prevalence(method=method.name, prevalence=value, n=both.m, reason=reason)
        elif ends is None or level is None:
            entries[label] = Prevalence(method=method.name, prevalence=value, n=both.m)
        else:
            low, high = float(ends.low[k]), float(ends.high[k])
            if method.shift_proof or value in {0.0, 1.0}:
                # Never surer than a classifier without errors would be on as many rows.
                least = limits(np.array(value * both.m), np.array(float(both.m)), level)
                low, high = min(low, float(least[0])), max(high, float(least[1]))
            entries[label] = Prevalence(
                method=method.name,
                prevalence=value,
                n=both.m,
                low=min(low, value),
                high=max(high, value),
                level=level,
                interval_method=ends.method,
            )
    return entries


def _resampled(both: ClassRows, work: Solver, times: int, seed: Seed) -> Floats:
    step = max(1, min(50, _HELD // max(both.m, both.n)))
    blocks = -(-times // step)
    items = []
    for part in seeds(seed, blocks):
        rng = np.random.default_rng(part)
        weights = np.zeros((step, both.n))
        for rows in both.members:
            weights[:, rows] = rng.multinomial(len(rows), np.full(len(rows), 1.0 / len(rows)), step)
        weights *= both.weight
        masses = rng.multinomial(both.m, np.full(both.m, 1.0 / both.m), step).astype(np.float64)
        items.append(work(weights, masses))
    return np.concatenate(items)[:times]
