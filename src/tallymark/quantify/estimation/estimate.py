"""Estimation of the prevalence of an unlabelled sample (``tm.quantify.estimate``), with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints, Scores
from tallymark.errors import InputError
from tallymark.inference.interval import Seed, checked_level, checked_number
from tallymark.inference.resampling.cluster_draws import fewest_clusters, widened
from tallymark.inference.resampling.strata import strata_of
from tallymark.notes import Note, emit
from tallymark.quantify.estimation import guards
from tallymark.quantify.estimation import intervals as limits
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.classes import estimate_classes
from tallymark.quantify.estimation.declared import estimation_of, has_profile
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences, quantiles
from tallymark.quantify.estimation.problem import Problem, problem_of, targets_of
from tallymark.quantify.kernels.samples import Samples
from tallymark.registry import QUANTIFIERS, Method, require_one_of
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.run import Run
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

IntervalName = Literal["default", "analytic", "profile", "bootstrap"]

_REPLICATES = 1_000

#: Resamples that tell how much the validation sample adds to a profile likelihood's variance.
_WIDENING_REPLICATES = 200


@overload
def estimate(
    name: str,
    validation: Tally,
    target: Tally,
    *,
    threshold: float | str | None = ...,
    training_prevalence: float | None = ...,
    level: float | None = ...,
    interval: IntervalName = ...,
    population: float | None = ...,
    replicates: int | None = ...,
    seed: Seed = ...,
    jobs: int | None = ...,
    strict: bool = ...,
    **options: Any,
) -> Prevalence: ...
@overload
def estimate(
    name: str,
    validation: Tally,
    target: Tallies,
    *,
    threshold: float | str | None = ...,
    training_prevalence: float | None = ...,
    level: float | None = ...,
    interval: IntervalName = ...,
    replicates: int | None = ...,
    seed: Seed = ...,
    jobs: int | None = ...,
    strict: bool = ...,
    **options: Any,
) -> Prevalences: ...
@overload
def estimate(
    name: str,
    validation: ClassPanel,
    target: ClassPanel,
    *,
    training_prevalence: Sequence[float] | None = ...,
    level: float | None = ...,
    interval: IntervalName = ...,
    replicates: int | None = ...,
    seed: Seed = ...,
    jobs: int | None = ...,
    strict: bool = ...,
    **options: Any,
) -> ClassPrevalences: ...
def estimate(
    name: str,
    validation: Tally | ClassPanel,
    target: Tally | Tallies | ClassPanel,
    *,
    threshold: float | str | None = None,
    training_prevalence: Any = None,
    level: float | None = 0.95,
    interval: IntervalName = "default",
    population: float | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    jobs: int | None = None,
    strict: bool = False,
    **options: Any,
) -> Prevalence | Prevalences | ClassPrevalences:
    """Estimate the prevalence of an unlabelled target from its scores and a labelled validation sample of the same
    model.

    Where tallies have clusters (``tm.tally(…, clusters=…)``) whole clusters are resampled.

    Parameters
    ----------
    name
        A quantifier such as ``"ac"``, ``"ms"``, ``"em"`` or ``"bayes"`` (``tallymark quantifiers`` lists them).
    validation
        Labelled scores; a class panel (:func:`tallymark.class_panel`) of more than two classes.
    target
        Unlabelled scores of the same model; in groups (:class:`Tallies`), or a class panel.
    threshold
        Number or policy, for methods that cut the scores.
    training_prevalence
        Prevalence the model was trained at, for methods that use or trust it, where it is not the validation sample's.
    level
        Confidence level of the interval; None leaves the interval out.
    interval
        ``analytic``, ``profile``, ``bootstrap``, or the method's default. The profile likelihood of ``ac`` is 8 to
        34 % shorter than its default (Lang & Reiczigel) where the share is 2 % or less.
    population
        Size of the population the target is a sample of (or is); its count is then estimated.
    replicates, seed, jobs
        Number of resamples, their seed, and threads.
    strict
        Raise guards as errors.
    **options
        Options of the method.

    Returns
    -------
    Prevalence, Prevalences or ClassPrevalences
        The share and the count with their limits; by group with a total that adds up, or by class.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(1000) % 2
    >>> t = tm.tally(y, 1 / (1 + np.exp(-rng.normal(3 * y - 1.5))))
    >>> truth = np.arange(5000) < 500
    >>> u = tm.tally(scores=1 / (1 + np.exp(-rng.normal(3 * truth - 1.5))))
    >>> tm.quantify.estimate("cc", validation=t, target=u, threshold=0.5).count
    789.0
    >>> tm.quantify.estimate("ac", validation=t, target=u, threshold=0.5)
    ac: 0.1242 (0.1008 to 0.1441, 95 % analytic), 621 (504 to 721) of 5000

    """
    method = QUANTIFIERS[name]
    _refuse_unused(method, validation, threshold, training_prevalence)
    if isinstance(validation, tuple):
        raise InputError(
            "Rows of more than two classes are a class panel: validation=tm.class_panel(y, scores, classes=…)."
        )
    if isinstance(validation, ClassPanel):
        if not isinstance(target, ClassPanel):
            raise InputError(
                f"target is a {type(target).__name__}, expected a class panel: target=tm.class_panel(scores=new, "
                "classes=…)."
            )
        given = {
            "threshold": threshold,
            "population": population,
            "interval": None if interval == "bootstrap" else interval,
        }
        for option, value in given.items():
            if value is not None and value != "default":
                raise InputError(f"{option}={value!r} goes with two classes; leave it out for more.")
        return estimate_classes(
            method,
            validation,
            target,
            training_prevalence=training_prevalence,
            level=level,
            replicates=replicates,
            seed=seed,
            resample=interval == "bootstrap",
            options=options,
        )
    answer = estimate_tallies(
        name,
        validation,
        target,
        threshold=threshold,
        training_prevalence=training_prevalence,
        level=level,
        interval=interval,
        population=population,
        replicates=replicates,
        seed=seed,
        jobs=jobs,
        options=options,
    )
    emit(answer.warnings, strict=strict)
    return answer


def estimate_tallies(
    name: str,
    validation: Tally,
    target: Tally | Tallies | ClassPanel,
    *,
    threshold: float | str | None = None,
    training_prevalence: Any = None,
    level: float | None = 0.95,
    interval: IntervalName = "default",
    population: float | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    jobs: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Prevalence | Prevalences:
    """The estimate of two classes; guards are in the result's `warnings`, none is emitted."""
    method = QUANTIFIERS[name]
    groups = targets_of(target)
    problem = problem_of(method, validation, list(groups.values()), threshold, training_prevalence, options)
    confidence = None if level is None else checked_level(level)
    clusters = fewest_clusters([validation, *groups.values()])
    kind = _interval_of(problem, interval) if clusters is None else _CLUSTERED
    if clusters is not None and clusters < 2:
        # One cluster shows no variation between clusters.
        confidence = None
    notes = guards.notes_of(problem, groups)
    if isinstance(target, Tallies) and population is not None:
        raise InputError(
            "population= is the size behind one target; estimate each group on its own to give each its own."
        )
    drawn: dict[tuple[Any, ...], Floats] = {}
    # A method that does not read the target has nothing to resample.
    if confidence is not None and (isinstance(target, Tallies) or kind in _RESAMPLED) and method.reads_target:
        times = _REPLICATES if replicates is None else checked_number(replicates, "replicates", 100)
        drawn = _draws(problem, groups, times, seed, jobs, confidence, clusters)
    entries = {
        key: _estimate(problem, one, confidence, kind, population, drawn.get(key), seed, notes)
        for key, one in groups.items()
    }
    return Prevalences(target.names, entries, drawn) if isinstance(target, Tallies) else entries[()]


def _refuse_unused(method: Method, validation: object, threshold: object, training_prevalence: object) -> None:
    """Refuse options that the method does not use."""
    if threshold is not None and isinstance(validation, Tally) and "threshold" not in method.options:
        takes = ", ".join(name for name in QUANTIFIERS if "threshold" in QUANTIFIERS[name].options)
        raise InputError(
            f"threshold={threshold!r} goes with methods that cut the scores ({takes}); {method.name} does not."
        )
    if training_prevalence is not None and not (method.uses_training_prevalence or method.trusts_probabilities):
        takes = ", ".join(n for n, m in QUANTIFIERS.items() if m.uses_training_prevalence or m.trusts_probabilities)
        raise InputError(
            f"training_prevalence={training_prevalence!r} goes with {takes}; {method.name} has no use for it."
        )


#: Intervals by resampling whole clusters, and all that resample.
_CLUSTERED = "cluster bootstrap"
_RESAMPLED = frozenset({"bootstrap", _CLUSTERED})


def _draws(
    problem: Problem,
    groups: Mapping[tuple[Any, ...], Tally],
    times: int,
    seed: Seed,
    jobs: int | None,
    level: float,
    clusters: int | None,
) -> dict[tuple[Any, ...], Floats]:
    """Shares of every group in resamples; of whole clusters where rows come in them."""
    fitted = problem.fitted
    draws = (fitted or problem).resampled(list(groups.values()), times, seed, jobs)
    if clusters is not None or fitted is not None:
        estimates = np.array([[problem.share_of(one)] for one in groups.values()])
        if fitted is not None:
            # Around the estimates as they are, with the error that fitted densities have.
            draws = np.clip(draws + estimates - np.array([[fitted.share_of(one)] for one in groups.values()]), 0.0, 1.0)
        if clusters is not None:
            draws = np.clip(widened(draws, estimates, clusters, level), 0.0, 1.0)
    return dict(zip(groups, draws, strict=True))


def estimate_many(
    name: str,
    validation: Tally,
    scores: object,
    index: object,
    *,
    threshold: float | str | None = None,
    training_prevalence: float | None = None,
    **options: Any,
) -> Floats:
    """Estimate the prevalence in many samples of one pool of scores.

    What depends on a row alone is computed once for the pool; each method then works on all samples at once.

    Parameters
    ----------
    name
        A quantifier.
    validation
        Labelled scores.
    scores
        The pool of unlabelled scores.
    index
        Line i lists the places of sample i in `scores`; lines may differ in length.
    threshold, training_prevalence, **options
        As of :func:`estimate`.

    Returns
    -------
    array
        The prevalence of each sample, nan where it is undefined.

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tm.quantify.estimate_many("ac", t, [0.2, 0.3, 0.6, 0.9], [[0, 1], [0, 2], [2, 3]], threshold=0.5).tolist()
    [0.0, 1.0, 1.0]

    """
    _refuse_unused(QUANTIFIERS[name], validation, threshold, training_prevalence)
    pool = _check.scores(scores)
    lines = _lines_of(index, len(pool))
    # Checks look at the lowest and highest score only, so the pool need not be sorted.
    target = Tally((Run(np.array([pool.min(), pool.max()])),))
    problem = problem_of(QUANTIFIERS[name], validation, [target], threshold, training_prevalence, options)
    values = problem.shares(problem.clean(target), _samples(pool, lines))
    return np.array(np.broadcast_to(values, (len(lines),)))


def _lines_of(index: object, rows: int) -> Ints | list[Ints]:
    """Row numbers of each sample, checked: a matrix, or lists of different lengths."""
    ragged = isinstance(index, list | tuple) and len({len(line) for line in index if hasattr(line, "__len__")}) > 1
    lines = [np.asarray(line) for line in index] if ragged else [np.asarray(index)]  # type: ignore[attr-defined]
    for part in lines:
        if part.ndim != (1 if ragged else 2) or part.dtype.kind not in "iu" or not part.size:
            raise InputError(
                f"index has shape {part.shape} and dtype {part.dtype}, expected one line of row numbers per sample."
            )
        if part.min() < 0 or part.max() >= rows:
            raise InputError(f"index holds {part.min()} to {part.max()}, but scores has rows 0 to {rows - 1}.")
    whole = [part.astype(np.int64, copy=False) for part in lines]
    return whole if ragged else whole[0]


def _samples(pool: Scores, lines: Ints | list[Ints]) -> Samples:
    """Samples of one size by their places; of different sizes by how often each place occurs."""
    if not isinstance(lines, list):
        return Samples(pool, index=lines)
    order = np.argsort(pool, kind="stable")
    mass = np.stack([np.bincount(line, minlength=len(pool))[order] for line in lines]).astype(np.float64)
    return Samples(pool[order], mass=mass)


def _interval_of(problem: Problem, interval: str) -> str:
    method = problem.method
    kind: str = require_one_of("interval", interval, ("default", "analytic", "profile", "bootstrap"))
    if kind == "default":
        return "bootstrap" if problem.needs_bootstrap else method.interval
    if kind == "analytic" and method.interval != "analytic":
        raise InputError(f"{method.name} has no interval in closed form; use interval='{method.interval}'.")
    if kind == "profile" and not has_profile(method):
        raise InputError(f"{method.name} maximises no likelihood; use interval='{method.interval}'.")
    return kind if method.reads_target else "analytic"


def _estimate(
    problem: Problem,
    target: Tally,
    level: float | None,
    kind: str,
    population: float | None,
    drawn: Floats | None,
    seed: Seed,
    notes: tuple[Note, ...],
) -> Prevalence:
    size = limits.checked_population(population, target.n)
    counted = target.n
    if size is not None:
        counted = int(size) if size.is_integer() else size
    method, declared = problem.method, estimation_of(problem.method.name)
    share = problem.share_of(target)
    prevalence = Prevalence(
        method=method.name,
        prevalence=share,
        n=counted,
        details=_details(problem),
        warnings=notes,
    )
    if math.isnan(share):
        return replace(prevalence, reason="the scores do not tell the classes of the validation sample apart")
    if level is None or (not method.reads_target and problem.stated):
        return prevalence
    spread = None if problem.fitted is None else _fitting_variance(problem.fitted, target, seed)
    if kind in _RESAMPLED and drawn is not None:
        ends = quantiles(drawn, level)
    elif kind == "profile":
        ends = _profile(problem, target, share, level, seed, spread)
    elif declared.analytic is not None:
        case = limits.Case(problem.validation, target, problem.options.get("threshold", 0.5), level, size)
        ends = declared.analytic(case)
    else:
        return prevalence
    if kind in _RESAMPLED or not declared.knows_population:
        ends = limits.not_degenerate(ends, problem.validation, target, level)
    if size is not None and not declared.knows_population:
        ends = limits.of_population(share, ends, level, size)
    ends = min(ends[0], share), max(ends[1], share)
    notes = (*notes, *guards.uncalibrated(problem, target, share, ends, math.sqrt(spread or 0.0)))
    return replace(prevalence, low=ends[0], high=ends[1], level=level, interval_method=kind, warnings=notes)


def _details(problem: Problem) -> dict[str, float]:
    """Intermediate values to report beside the estimate."""
    entries: dict[str, float] = {}
    if problem.method.uses_training_prevalence:
        entries["training_prevalence"] = problem.training_prevalence
    if "threshold" in problem.options:
        cut = problem.options["threshold"]
        hits, positives = limits.rate_above(problem.validation.positive, cut)
        false, negatives = limits.rate_above(problem.validation.negative, cut)
        tpr, fpr = hits / positives, false / negatives
        entries |= {"threshold": cut, "tpr": tpr, "fpr": fpr}
        if not problem.method.shift_proof and tpr - fpr < 1.0:
            # Where a count of predicted positives would be right (Forman's theorem).
            entries["right_at"] = fpr / (1.0 - tpr + fpr)
    return entries


def _fitting_variance(problem: Problem, target: Tally, seed: Seed) -> float:
    """Variance of a share over resamples of the validation sample."""
    return float(np.nanvar(problem.resampled([target], _WIDENING_REPLICATES, seed, sides="validation")[0]))


def _profile(
    problem: Problem, target: Tally, share: float, level: float, seed: Seed, spread: float | None
) -> limits.Limits:
    """Limits from the likelihood of the target, widened by what the validation sample's own error adds."""
    profile_of = estimation_of(problem.method.name).profile
    if profile_of is not None and (ends := profile_of(problem, target, level)) is not None:
        return ends
    stratum = strata_of(target.runs, 2**12)[0]
    samples = Samples(stratum.scores, mass=stratum.mass[None, :])
    densities = problem.method.densities(problem.clean(target), samples, **problem.options)  # type: ignore[misc]
    up, down = (side[0] for side in densities)
    mass = stratum.mass / stratum.mass.sum() * target.runs[0].effective_size
    mixed = share * up + (1.0 - share) * down
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(mixed > 0.0, (up - down) / mixed, 0.0)
    information = float(np.sum(mass * score**2))
    widen = 1.0
    if information > 0.0:
        # Densities that come with the scores are not known better than fitted ones would be: `spread` is the variance
        # of the latter.
        widen += information * (_fitting_variance(problem, target, seed) if spread is None else spread)
    return limits.profile(share, up, down, mass, level, widen)
