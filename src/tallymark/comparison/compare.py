"""``tm.compare``: paired comparison of models on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallymark import _check
from tallymark.comparison.methods import (
    METHODS,
    RESAMPLED,
    Differences,
    ModelLimits,
    Problem,
    delong_differences,
    mover_differences,
)
from tallymark.comparison.of_outcomes import OutcomeComparison, outcome_differences
from tallymark.comparison.results import Comparison, Pair
from tallymark.errors import InputError
from tallymark.inference.declared import inference_of
from tallymark.inference.guards import comparison_notes
from tallymark.inference.hypothesis_tests.corrections import holm, holm_levels
from tallymark.inference.hypothesis_tests.delong_in_files import delong_in_files
from tallymark.inference.hypothesis_tests.difference import Difference
from tallymark.inference.hypothesis_tests.paired import PairedInfluence, PairedMethod, metric_named
from tallymark.inference.interval import Sampling, Seed, checked_level
from tallymark.inference.limits.influence import FIXED
from tallymark.inference.limits.outcome_means import rate_of
from tallymark.inference.limits.proportions import unseen
from tallymark.inference.resampling.parallel import Resampling
from tallymark.notes import emit
from tallymark.registry import Metric, require_one_of
from tallymark.sources.filepanel import FilePanel
from tallymark.sources.open_rows import Table
from tallymark.summaries.outcomes import Outcomes
from tallymark.summaries.panel import Panel


def compare(
    panel: Panel | FilePanel | Outcomes,
    *,
    metric: str = "auroc",
    method: PairedMethod | None = None,
    threshold: float | str | None = None,
    level: float = 0.95,
    equivalence: float | None = None,
    noninferiority: float | None = None,
    sampling: Sampling = "plain",
    mcnemar_kind: Literal["exact", "mid_p"] = "mid_p",
    replicates: int = 2_000,
    seed: Seed = 0,
    jobs: int | None = None,
    strict: bool = False,
    **parameters: float,
) -> Comparison:
    """Paired comparison of models by one metric: difference, interval, p-value and verdict of every pair.

    p-values, equivalence tests and limits of several pairs are corrected by Holm's method.

    Parameters
    ----------
    panel
        Rows with the scores of two models or more (:func:`tallymark.panel`). Files beyond two million rows
        (:func:`tallymark.scan_panel`) are compared by AUROC. Or outcomes without true labels
        (:func:`tallymark.outcomes`), of which means are compared: pass rates by ``"mcnemar"``, grades, and rows in
        clusters or repeated runs of an item, by Student's ``"t"`` of the differences; any of them by ``"bootstrap"`` of
        the items or clusters.
    metric
        Name of a metric.
    method
        ``"mover"`` combines the limits of each model (of areas with a smaller pseudo-observation than
        :func:`tallymark.evaluate` takes) with the correlation of the two: the default of auroc, gini, average
        precision, the area under the PR curve and proportions at a threshold. ``"delong"`` is the textbook's z of
        auroc, as R's pROC has it. ``"influence"`` is the default of metrics with an influence function (sPCC, Brier
        score, log loss, …), ``"mcnemar"`` of accuracy and error of unweighted rows, ``"clusters"`` (jackknife over
        clusters) of rows in clusters, ``"bootstrap"`` of everything else. ``"permutation"`` exchanges the two models'
        scores row by row; its interval is the bootstrap's.
    threshold
        For metrics of a confusion matrix: a number, or a policy by which each model chooses its threshold. A policy
        chooses anew in every paired resample, and limits are percentiles (of the metric that the policy maximises at
        least Student's); methods that hold thresholds fixed are refused for any other metric.
    level
        Confidence level.
    equivalence
        A difference δ that would not matter: a pair is equivalent when two one-sided tests show that it differs by less
        than δ, and the rows do not merely agree.
    noninferiority
        A loss δ that would not matter: each pair says which model is shown to be not worse than the other by more
        than δ (one-sided, at `level`).
    sampling
        ``"plain"`` takes all rows as drawn at random, ``"stratified"`` the class sizes as fixed by design.
    mcnemar_kind
        Exact or mid-p version of McNemar's test.
    replicates, seed
        Number and seed of the resamples.
    jobs
        Number of threads; by default one for each core, at most 8.
    strict
        Raise warnings as errors.
    **parameters
        Parameters of the metric (``cost_fp=1, cost_fn=50``); policies such as ``cost:1,50`` set them too.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(1)
    >>> y = rng.random(500) < 0.3
    >>> panel = tm.panel(y, {"a": rng.normal(y * 1.5), "b": rng.normal(y * 1.0)})
    >>> comparison = tm.compare(panel)
    >>> comparison.verdict
    'a is better'
    >>> comparison.sample_size(0.02)["positives"] > 143
    True
    """
    if isinstance(panel, Outcomes):
        stated = {"metric": metric != "auroc", "threshold": threshold is not None, "sampling": sampling != "plain"}
        if used := [name for name, given in (stated | dict.fromkeys(parameters, True)).items() if given]:
            raise InputError(f"Outcomes are compared by their means; leave out {', '.join(used)}.")
        margins = Margins.of(equivalence, noninferiority, "higher")
        return _compare_outcomes(
            panel, method, checked_level(level), margins, mcnemar_kind, Resampling(replicates, seed, jobs, "plain")
        )
    if not isinstance(panel, Panel | FilePanel):
        raise InputError(
            f'compare takes a Panel, got {type(panel).__name__}. Write tm.panel(y, {{"a": score_a, "b": score_b}}).'
        )
    if len(panel.models) < 2:
        raise InputError("compare needs two models or more on the same rows.")
    facts, confidence = metric_named(metric), checked_level(level)
    margins = Margins.of(equivalence, noninferiority, facts.better)
    design: Sampling = require_one_of("sampling", sampling, ("stratified", "plain"))
    if isinstance(panel, FilePanel):
        with panel.open() as table:
            if not table.small and table.roles.cluster is None:
                return _compare_files(table, facts, method, confidence, margins, design)
            panel = table.panel()
    panel = panel.keep(panel.mass > 0)
    resampling = Resampling(replicates, seed, jobs, design)
    problem = Problem(panel, facts, threshold, resampling, mcnemar_kind, parameters)
    _refuse_idle_threshold(problem)
    way = problem.default_method if method is None else require_one_of("method", method, METHODS)
    _require_fitting(problem, way)
    differences = METHODS[way](problem)
    notes = comparison_notes(facts, problem.tally)
    emit(notes, strict=strict)
    unweighted = panel.weights is None
    return Comparison(
        metric=facts.name,
        values=problem.values,
        pairs=pairs_of(facts.better, facts.high - facts.low, differences, confidence, margins, problem.units),
        level=confidence,
        n=int(panel.mass.sum()) if unweighted else panel.n,
        positives=int((panel.mass * panel.is_positive).sum()) if unweighted else int(panel.is_positive.sum()),
        equivalence=margins.equivalence,
        thresholds={model: cut for model, cut in problem.thresholds.items() if cut is not None} or None,
        sampling=design if panel.cluster is None else "clusters",
        parameters=problem.given or None,
        warnings=notes,
        policy=problem.policy if way in RESAMPLED else None,
    )


def _refuse_idle_threshold(problem: Problem) -> None:
    """Refuse a threshold that the metric does not have, and a metric that is the same for all models."""
    facts = problem.facts
    if problem.threshold is not None and (facts.model_free or facts.needs != "confusion"):
        raise InputError(f"{facts.name} does not depend on a threshold; leave it out.")
    if facts.model_free:
        raise InputError(f"The {facts.name} is that of the data, whatever the model.")


def _require_fitting(problem: Problem, way: str) -> None:
    """Refuse a method that does not go with the other options or with the rows."""
    kind, cluster = problem.mcnemar_kind, problem.panel.cluster
    require_one_of("mcnemar_kind", kind, ("exact", "mid_p"))
    if kind != "mid_p" and way != "mcnemar":
        raise InputError(f"mcnemar_kind={kind!r} goes with method='mcnemar'; this is compared by {way!r}.")
    if cluster is not None and problem.resampling.sampling != "plain":
        raise InputError(
            f"sampling={problem.resampling.sampling!r} is for independent rows; clusters are taken as drawn at random. "
            "Leave it out."
        )
    if cluster is None and way == "clusters":
        raise InputError(
            "method='clusters' needs a panel that knows which rows belong together: tm.panel(…, clusters=…)."
        )
    if cluster is not None and way != "clusters":
        raise InputError(f"method={way!r} takes rows one by one; rows in clusters are compared by method='clusters'.")
    if problem.policy is not None and way not in RESAMPLED and not problem.maximised:
        raise InputError(
            f"method={way!r} holds thresholds fixed, but {problem.policy!r} chooses them on these rows and does not "
            f"maximise {problem.facts.name}: leave method= out to resample the choice, "
            "or give a number as the threshold."
        )


def _compare_files(
    table: Table, facts: Metric, method: str | None, level: float, margins: Margins, sampling: Sampling
) -> Comparison:
    """Compare AUROCs of rows in files: tallies in a first pass, DeLong's covariance in a second."""
    if not inference_of(facts.name).linear_in_auroc or method not in {None, "mover", "delong"}:
        raise InputError(
            f"{table.n} rows are compared by auroc with DeLong's covariance; "
            f"for {facts.name} read fewer rows with where=."
        )
    areas, slack, tallies = delong_in_files(table)
    by_model = {model: tally for (model,), tally in tallies.entries.items()}
    values = {model: facts.compute(tally) for model, tally in by_model.items()}
    first = next(iter(by_model.values()))
    fewest = min(run.effective_size for run in first.runs)
    unit = facts.high - facts.low
    off = {model: unit * width for model, width in slack.items()}
    if method == "delong":
        differences = delong_differences(facts, areas, fewest, off)
    else:
        influence = inference_of(facts.name).influence
        effects = {} if influence is None else {model: influence(tally) for model, tally in by_model.items()}
        paired = PairedInfluence(effects, dict.fromkeys(by_model, FIXED), unit**2 * areas.covariance)
        differences = mover_differences(facts, values, ModelLimits.of_effects(facts, values, paired, fewest), off)
    return Comparison(
        metric=facts.name,
        values=values,
        pairs=pairs_of(facts.better, facts.high - facts.low, differences, level, margins, fewest),
        level=level,
        n=first.n_rows,
        positives=first.positive.n_rows,
        equivalence=margins.equivalence,
        sampling=sampling,
    )


def _compare_outcomes(
    outcomes: Outcomes,
    method: str | None,
    level: float,
    margins: Margins,
    kind: Literal["exact", "mid_p"],
    resampling: Resampling,
) -> Comparison:
    """Compare means of outcomes."""
    if len(outcomes.systems) < 2:
        raise InputError("compare needs the outcomes of two systems or more on the same items.")
    if method not in {None, "mcnemar", "t", "bootstrap"}:
        raise InputError(f"method is {method!r}; outcomes are compared by 'mcnemar', 't' or 'bootstrap'.")
    if method == "mcnemar" and not (outcomes.binary and outcomes.independent):
        raise InputError("method='mcnemar' is for outcomes of 0 and 1, one row per item and no clusters.")
    require_one_of("mcnemar_kind", kind, ("exact", "mid_p"))
    if outcomes.groups < 2:
        raise InputError("compare needs two items or clusters or more.")
    span = 1.0 if outcomes.binary else math.inf
    differences = outcome_differences(outcomes, method, kind, resampling)
    means = outcomes.values.mean(axis=0)
    return OutcomeComparison(
        metric=outcomes.name,
        values={name: float(mean) for name, mean in zip(outcomes.systems, means, strict=True)},
        pairs=pairs_of("higher", span, differences, level, margins, outcomes.groups),
        level=level,
        n=outcomes.n,
        positives=0,
        equivalence=margins.equivalence,
        sampling="plain" if outcomes.independent else "clusters",
        rates={name: rate_of(outcomes, place, level) for place, name in enumerate(outcomes.systems)},
    )


@dataclass(frozen=True)
class Margins:
    """Differences that would not matter: of a test of equivalence, and of one of non-inferiority."""

    equivalence: float | None = None
    noninferiority: float | None = None

    @classmethod
    def of(cls, equivalence: float | None, noninferiority: float | None, better: str) -> Margins:
        """Checked; `better` is the direction of the metric."""
        for name, margin in (("equivalence", equivalence), ("noninferiority", noninferiority)):
            if margin is not None and not _check.real(margin, name) > 0.0:
                raise InputError(f"{name} is {margin!r}, expected a difference above 0 that would not matter.")
        if noninferiority is not None and better not in {"higher", "lower"}:
            raise InputError("noninferiority= is for a metric that is better higher or lower.")
        return cls(equivalence, noninferiority)


def pairs_of(
    better: str, most: float, differences: Differences, level: float, margins: Margins, fewest: float
) -> tuple[Pair, ...]:
    """Holm-corrected tests, limits and verdict of every pair.

    `most` is the width of the metric's range, `fewest` are the rows of the smaller class.
    """
    p_values = np.array([d.p_value for d in differences.values()])
    adjusted, levels = holm(p_values), holm_levels(p_values, 1.0 - level)
    margin = margins.equivalence
    same: list[float | None] = [None] * len(differences)
    if margin is not None:
        same = list(holm(np.array([d.equivalence_p(margin) for d in differences.values()])))
    # That all rows agree does not exclude that a share of the rows not sampled differs.
    agreed = margin is not None and unseen(2.0 * level - 1.0, fewest) * most <= margin
    pairs = []
    for ((first, second), d), p, pair_level, q in zip(differences.items(), adjusted, levels, same, strict=True):
        low, high = d.limits(pair_level)
        equivalent = q is not None and q <= 1.0 - level and (agreed or d.error > 0.0)
        higher, lower = (first, second) if d.difference > 0 else (second, first)
        verdict = _verdict(better, higher, lower, margin if equivalent else None, shown=not p >= 1.0 - level)
        kept = _not_worse((first, second), d, better, margins.noninferiority, pair_level)
        if kept:
            verdict += f"; {' and '.join(kept)} shown to be not worse by {margins.noninferiority:g}"
        pairs.append(
            Pair(
                first=first,
                second=second,
                difference=d.difference,
                error=d.error,
                low=max(low, -most),
                high=min(high, most),
                p_value=d.p_value,
                p_holm=float(p),
                verdict=verdict,
                method=d.method,
                level=pair_level,
                p_equivalence=None if q is None else float(q),
                not_worse=kept,
            )
        )
    return tuple(pairs)


def _not_worse(
    pair: tuple[str, str], d: Difference, better: str, margin: float | None, level: float
) -> tuple[str, ...]:
    """The models of a pair that one-sided limits show to be not worse than the other by more than a margin."""
    if margin is None:
        return ()
    low, high = d.limits(2.0 * level - 1.0)
    of_first, of_second = (low, -high) if better == "higher" else (-high, low)
    return tuple(name for name, least in zip(pair, (of_first, of_second), strict=True) if least > -margin)


def _verdict(better: str, higher: str, lower: str, margin: float | None, *, shown: bool) -> str:
    """The conclusion of a pair: whether a difference is shown, and the margin it is shown to be within."""
    if not shown:
        return "no difference shown" if margin is None else f"equivalent within {margin:g}"
    verdict = {"higher": f"{higher} is better", "lower": f"{lower} is better"}.get(better, f"{higher} is higher")
    return verdict if margin is None else f"{verdict}, but equivalent within {margin:g}"
