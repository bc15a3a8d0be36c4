"""``tm.quantify.estimate``: how many positives there are in an unlabelled sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.errors import InputError
from tallymark.intervals.base import Seed, checked_level, checked_number
from tallymark.intervals.pool import strata_of
from tallymark.quantify import guarding, limits
from tallymark.quantify.asking import Ask, ask_of, targets_of
from tallymark.quantify.densities import adaptive_edges
from tallymark.quantify.joint import fit_jointly, profile_limits
from tallymark.quantify.likelihood import joint_cells
from tallymark.quantify.mixture import contrast, most_likely
from tallymark.quantify.prevalence import Prevalence, Prevalences, quantiles
from tallymark.quantify.samples import Samples
from tallymark.registry import QUANTIFIERS, Method, require_one_of
from tallymark.results import Note
from tallymark.summaries.run import Run
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

IntervalName = Literal["default", "analytic", "profile", "bootstrap"]

_REPLICATES = 1_000

#: Resamples that tell how much the validation sample adds to a profile likelihood's variance.
_FEW = 200


def estimate(
    name: str,
    validation: Any,
    target: Any,
    *,
    threshold: float | str | None = None,
    training_prevalence: float | None = None,
    level: float | None = 0.95,
    interval: IntervalName = "default",
    population: float | None = None,
    replicates: int | None = None,
    seed: Seed = 0,
    strict: bool = False,
    **options: Any,
) -> Any:
    """Estimate the share of positives in `target`, unlabelled scores, from `validation`, labelled ones of the same model.

    `name` is a quantifier such as ``"ac"``, ``"ms"``, ``"em"`` or ``"bayes"`` (``tallymark quantifiers`` lists them);
    `threshold` a number or a policy for those that cut the scores (others have no use for it); `training_prevalence` the share of positives the
    model was trained at, where it is not the validation sample's. A target in groups (:class:`Tallies`) gives
    :class:`Prevalences`, estimates by group whose total adds up. Instead of tallies, ``validation=(y, P)`` and
    ``target=Q`` with a column of scores per class count more than two classes.

    `level` None leaves the interval out; `interval` is ``analytic``, ``profile``, ``bootstrap`` or the method's own
    default; `population` is the size of the population the target is drawn from (or is), whose own count is asked for.
    Other options belong to the method.

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
    if isinstance(validation, tuple):
        from tallymark.quantify.multiclass import estimate_classes

        given = {
            "threshold": threshold,
            "population": population,
            "interval": None if interval == "bootstrap" else interval,
        }
        for option, value in given.items():
            if value is not None and value != "default":
                raise InputError(f"{option}={value!r} goes with two classes; leave it out for more.")
        return estimate_classes(
            method.name, validation, target, training_prevalence=training_prevalence, level=level,
            replicates=replicates, seed=seed, **options,
        )  # fmt: skip
    groups = targets_of(target)
    ask = ask_of(method, validation, list(groups.values()), threshold, training_prevalence, options)
    share = None if level is None else checked_level(level)
    kind = _interval_of(method, interval, options)
    several = isinstance(target, Tallies)
    notes = guarding.checked(ask, groups, strict=strict)
    if several and population is not None:
        raise InputError(
            "population= is the size behind one target; estimate each group on its own to give each its own."
        )
    drawn: dict[tuple[Any, ...], Floats] = {}
    # The baseline does not look at the target, so there is nothing to resample.
    if share is not None and (several or kind == "bootstrap") and method.name != "bl":
        times = _REPLICATES if replicates is None else checked_number(replicates, "replicates", 100)
        found = ask.resampled(list(groups.values()), times, seed)
        drawn = dict(zip(groups, found, strict=True))
    entries = {
        key: _estimate(ask, one, share, kind, population, drawn.get(key), seed, notes) for key, one in groups.items()
    }
    if several:
        return Prevalences(target.names, entries, drawn)
    return entries[()]


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
    """The share of positives in many samples of one pool: line i of `index` lists the places of sample i in `scores`.

    What depends on a row alone is computed once for the pool; each method then works on all samples at once. A share
    that is undefined is nan.

    >>> import numpy as np, tallymark as tm
    >>> t = tm.tally([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> tm.quantify.estimate_many("ac", t, [0.2, 0.3, 0.6, 0.9], [[0, 1], [0, 2], [2, 3]], threshold=0.5).tolist()
    [0.0, 1.0, 1.0]
    """
    pool = _check.scores(scores)
    places = np.asarray(index)
    if places.ndim != 2 or places.dtype.kind not in "iu" or not places.size:
        raise InputError(
            f"index has shape {places.shape} and dtype {places.dtype}, expected one line of row numbers per sample."
        )
    if places.min() < 0 or places.max() >= len(pool):
        raise InputError(f"index holds {places.min()} to {places.max()}, but scores has rows 0 to {len(pool) - 1}.")
    # Checks look at the lowest and highest score only, so the pool need not be sorted.
    target = Tally((Run(np.array([pool.min(), pool.max()])),))
    ask = ask_of(QUANTIFIERS[name], validation, [target], threshold, training_prevalence, options)
    rows: Ints = places.astype(np.int64, copy=False)
    found = ask.shares(ask.clean(target), Samples(pool, index=rows))
    return np.array(np.broadcast_to(found, (len(rows),)))


def _interval_of(method: Method, interval: str, options: Mapping[str, Any]) -> str:
    kind = require_one_of("interval", interval, ("default", "analytic", "profile", "bootstrap"))
    if kind == "default":
        # A calibration fitted on the validation sample brings that sample's error along, and limits in closed form speak
        # of a method as it is by default.
        unusual = options.get("calibration") or (method.interval == "analytic" and set(options) - {"threshold"})
        kde = method.interval == "profile" and options.get("density") == "kde"
        return "bootstrap" if unusual or kde else method.interval
    if kind == "analytic" and method.interval != "analytic":
        raise InputError(f"{method.name} has no interval in closed form; use interval='{method.interval}'.")
    if kind == "profile" and method.densities is None:
        raise InputError(f"{method.name} maximises no likelihood; use interval='{method.interval}'.")
    return str(kind)


def _estimate(
    ask: Ask, target: Tally, level: float | None, kind: str, population: float | None, drawn: Floats | None,
    seed: Seed, notes: tuple[Note, ...],
) -> Prevalence:  # fmt: skip
    size = limits.checked_population(population, target.n)
    n = target.n if size is None else int(size) if size.is_integer() else size
    share = float(ask.shares(ask.clean(target), Samples.of_run(target.runs[0]))[0])
    details = _details(ask)
    if math.isnan(share):
        reason = "the scores do not tell the classes of the validation sample apart"
        return Prevalence(
            method=ask.method.name, prevalence=math.nan, n=n, reason=reason, details=details, warnings=notes
        )
    if level is None:
        return Prevalence(method=ask.method.name, prevalence=share, n=n, details=details, warnings=notes)
    if kind == "bootstrap" and drawn is not None:
        ends = limits.not_degenerate(quantiles(drawn, level), ask.validation, target, level)
    elif kind == "profile":
        ends = _profile(ask, target, share, level, seed)
    elif ask.method.name == "bl" and ask.stated:
        return Prevalence(method=ask.method.name, prevalence=share, n=n, details=details, warnings=notes)
    else:
        ends = limits.ANALYTIC[ask.method.name](ask.validation, target, ask.options.get("threshold", 0.5), level, size)
    if size is not None and ask.method.name not in limits.OWN_POPULATION:
        ends = limits.of_population(share, ends, level, size)
    return Prevalence(
        method=ask.method.name, prevalence=share, n=n, low=min(ends[0], share), high=max(ends[1], share), level=level,
        interval="analytic" if ask.method.name == "bl" else kind, details=details, warnings=notes,
    )  # fmt: skip


def _details(ask: Ask) -> dict[str, float]:
    """What a reader wants to know beside the estimate."""
    if "threshold" not in ask.options:
        return {"training_prevalence": ask.training_prevalence} if ask.method.name in {"em", "bl"} else {}
    cut = ask.options["threshold"]
    hits, positives = limits.rate_above(ask.validation.positive, cut)
    false, negatives = limits.rate_above(ask.validation.negative, cut)
    tpr, fpr = hits / positives, false / negatives
    found = {"threshold": cut, "tpr": tpr, "fpr": fpr}
    if ask.method.name == "cc" and tpr - fpr < 1.0:
        # Where classify and count would be right (Forman's theorem).
        found["right_at"] = fpr / (1.0 - tpr + fpr)
    return found


def _profile(ask: Ask, target: Tally, share: float, level: float, seed: Seed) -> tuple[float, float]:
    """Limits from the likelihood of the target, widened by what the validation sample's own error adds."""
    clean = ask.clean(target)
    if ask.method.name == "bayes" and ask.options.get("density", "bins") == "bins":
        cells = joint_cells(clean, Samples.of_run(target.runs[0]), adaptive_edges(clean, ask.options.get("bins")))
        low, high = profile_limits(*cells, fit_jointly(*cells), level)
        # A rare class can vanish into shares fitted to a large target: the joint likelihood is then falsely sure of a low
        # prevalence. The limits with the shares as the labelled rows have them are joined to it.
        known, seen = cells
        down, up = (known / known.sum(axis=2, keepdims=True))[0]
        held = float(most_likely(*contrast(up[None], down[None]), seen)[0])
        ends = limits.profile(held, up, down, seen[0], level)
        return min(float(low[1]), ends[0]), max(float(high[1]), ends[1])
    own = strata_of(target.runs, 2**12)[0]
    samples = Samples(own.scores, mass=own.mass[None, :])
    up, down = (side[0] for side in ask.method.densities(clean, samples, **ask.options))  # type: ignore[misc]
    mass = own.mass / own.mass.sum() * target.runs[0].worth
    mixed = share * up + (1.0 - share) * down
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(mixed > 0.0, (up - down) / mixed, 0.0)
    information = float(np.sum(mass * score**2))
    widen = 1.0
    if (ask.method.name != "em" or ask.options.get("calibration")) and information > 0.0:
        spread = float(np.nanvar(ask.resampled([target], _FEW, seed, "validation")[0]))
        widen += spread * information
    return limits.profile(share, up, down, mass, level, widen)
