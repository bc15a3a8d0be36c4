"""``tm.quantify.estimate``: how many positives there are in an unlabelled sample."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tallymark import _check
from tallymark._check import Floats, Ints
from tallymark.errors import GuardWarning, InputError, guard
from tallymark.intervals.base import Seed, checked_level, checked_number
from tallymark.intervals.pool import strata_of
from tallymark.quantify import limits
from tallymark.quantify.densities import Binned, adaptive_edges
from tallymark.quantify.prevalence import Prevalence, Prevalences, quantiles
from tallymark.quantify.resampling import resampled
from tallymark.quantify.samples import Samples, Validation, worth_of
from tallymark.registry import QUANTIFIERS, Method, require_one_of
from tallymark.results import Note
from tallymark.summaries.run import Run
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

IntervalName = Literal["default", "analytic", "profile", "bootstrap"]

_REPLICATES = 1_000

#: Resamples that tell how much the validation sample adds to a profile likelihood's variance.
_FEW = 200


@dataclass(frozen=True)
class Ask:
    """A method and what it is asked of."""

    method: Method
    validation: Tally
    training_prevalence: float
    options: Mapping[str, Any]

    def shares(self, validation: Validation, target: Samples) -> Floats:
        """The kernel with its options."""
        found: Floats = self.method.kernel(validation, target, **self.options)
        return found

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """Thresholds that no cell may straddle."""
        return (float(self.options["threshold"]),) if "threshold" in self.options else ()

    def clean(self, target: Tally) -> Validation:
        """The validation sample itself, for one target."""
        return Validation.of(self.validation, target, self.training_prevalence)

    def resampled(self, targets: list[Tally], replicates: int, seed: Seed, sides: str = "both") -> Floats:
        """Shares of each target in every resample."""
        return resampled(
            self.shares, self.validation, targets, self.training_prevalence, replicates, seed,
            edges=self.edges, sides=sides,
        )  # fmt: skip


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
    replicates: int = _REPLICATES,
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

        return estimate_classes(
            method.name, validation, target, training_prevalence=training_prevalence, level=level,
            replicates=replicates, seed=seed, **options,
        )  # fmt: skip
    groups = targets_of(target)
    ask = ask_of(method, validation, list(groups.values()), threshold, training_prevalence, options)
    share = None if level is None else checked_level(level)
    kind = _interval_of(method, interval, options)
    several = isinstance(target, Tallies)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _guard_shift(ask, groups, strict=strict)
        _guard_calibration(ask, strict=strict)
    notes = tuple(Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, GuardWarning))
    for note in notes:
        guard(note.code, note.message)
    drawn: dict[tuple[Any, ...], Floats] = {}
    if share is not None and (several or kind == "bootstrap"):
        found = ask.resampled(list(groups.values()), checked_number(replicates, "replicates", 100), seed)
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


def targets_of(target: object) -> dict[tuple[Any, ...], Tally]:
    """Unlabelled tallies by group; a labelled target is looked at without its labels."""
    if isinstance(target, Tally):
        return {(): _unlabelled(target)}
    if isinstance(target, Tallies):
        return {key: _unlabelled(tally) for key, tally in target.entries.items()}
    raise InputError(
        f"target is a {type(target).__name__}, expected a Tally: write target=tm.tally(scores=new_scores)."
    )


def _unlabelled(tally: Tally) -> Tally:
    if not tally.labelled:
        return tally
    merged = (
        tally.negative.merge(tally.positive)
        if len(tally.negative) and len(tally.positive)
        else max(tally.runs, key=len)
    )
    return Tally((merged,), grid=tally.grid)


def ask_of(
    method: Method, validation: object, targets: list[Tally], threshold: float | str | None,
    training_prevalence: float | None, options: Mapping[str, Any],
) -> Ask:  # fmt: skip
    """A method with everything it was asked of checked."""
    if not isinstance(validation, Tally) or not validation.labelled:
        raise InputError(
            f"validation is {'unlabelled' if isinstance(validation, Tally) else 'a ' + type(validation).__name__}, expected "
            "a labelled Tally: write validation=tm.tally(y, scores)."
        )
    if not validation.positives or not validation.negatives:
        one = "positives" if not validation.negatives else "negatives"
        raise InputError(f"validation has {one} only; error rates need rows of both classes.")
    if any(not target.n_rows for target in targets):
        raise InputError("The target has no rows.")
    kinds = {str(tally.runs[0].scores.dtype) for tally in (validation, *targets)}
    if len(kinds) > 1:
        raise InputError(
            f"validation and target hold scores of different types ({', '.join(sorted(kinds))}); convert one of them."
        )
    if method.probabilities and not all(tally.is_probability for tally in (validation, *targets)):
        ends = [tally.range for tally in (validation, *targets)]
        raise InputError(
            f"{method.name} needs probabilities, but the scores run from {min(e[0] for e in ends):g} to "
            f"{max(e[1] for e in ends):g}. Calibrate them first (tm.calibration.platt), or use a method for any scores such as bayes, pacc or ms."
        )
    known = set(inspect.signature(method.kernel).parameters) - {"validation", "target"}
    unknown = set(options) - known
    if unknown:
        raise InputError(
            f"{method.name} has no option {min(unknown)!r}; its options are {', '.join(sorted(known)) or 'none'}."
        )
    chosen = dict(options)
    if "threshold" in known:
        if threshold is None and not validation.is_probability:
            raise InputError(
                f"{method.name} cuts the scores; say where with threshold=, a number (0 for decision values) or a policy such as 'max'."
            )
        chosen["threshold"] = 0.5 if threshold is None else validation.at(threshold).threshold
    share = float(validation.positives / validation.n)
    if training_prevalence is not None:
        share = _check.probability(training_prevalence, "training_prevalence")
    return Ask(method, validation, share, chosen)


def _interval_of(method: Method, interval: str, options: Mapping[str, Any]) -> str:
    kind = require_one_of("interval", interval, ("default", "analytic", "profile", "bootstrap"))
    if kind == "default":
        # A calibration fitted on the validation sample brings that sample's error along.
        return "bootstrap" if options.get("calibration") else method.interval
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
    n = target.n if size is None else size
    share = float(ask.shares(ask.clean(target), Samples.of_run(target.runs[0]))[0])
    details = _details(ask)
    if math.isnan(share):
        reason = "no threshold tells the classes of the validation sample apart (tpr = fpr)"
        return Prevalence(
            method=ask.method.name, prevalence=math.nan, n=n, reason=reason, details=details, warnings=notes
        )
    if level is None:
        return Prevalence(method=ask.method.name, prevalence=share, n=n, details=details, warnings=notes)
    if kind == "bootstrap" and drawn is not None:
        low, high = quantiles(drawn, level)
    elif kind == "profile":
        low, high = _profile(ask, target, share, level, seed)
    else:
        low, high = _ANALYTIC[ask.method.name](ask, target, level)
    if size is not None:
        low, high = limits.of_population(share, (low, high), level, size)
    return Prevalence(
        method=ask.method.name, prevalence=share, n=n, low=min(low, share), high=max(high, share), level=level,
        interval=kind, details=details, warnings=notes,
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
        edges = adaptive_edges(clean, ask.options.get("bins"))
        binned = Binned.of(clean, edges, monotone=bool(ask.options.get("monotone", False)))
        up, down = binned.positive[0], binned.negative[0]
        mass = Samples.of_run(target.runs[0]).within(edges)[0] * worth_of(target.runs[0])
    else:
        own = strata_of(target.runs, 2**12)[0]
        samples = Samples(own.scores, mass=own.mass[None, :])
        up, down = (side[0] for side in ask.method.densities(clean, samples, **ask.options))  # type: ignore[misc]
        mass = own.mass / own.mass.sum() * worth_of(target.runs[0])
    mixed = share * up + (1.0 - share) * down
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(mixed > 0.0, (up - down) / mixed, 0.0)
    information = float(np.sum(mass * score**2))
    widen = 1.0
    if (ask.method.name != "em" or ask.options.get("calibration")) and information > 0.0:
        spread = float(np.nanvar(ask.resampled([target], _FEW, seed, "validation")[0]))
        widen += spread * information
    return limits.profile(share, up, down, mass, level, widen)


def _analytic_ac(ask: Ask, target: Tally, level: float) -> tuple[float, float]:
    cut = ask.options["threshold"]
    seen, up, down = (
        limits.rate_above(run, cut) for run in (target.runs[0], ask.validation.positive, ask.validation.negative)
    )
    return limits.adjusted_count(seen, up, down, level)


def _analytic_pcc(ask: Ask, target: Tally, level: float) -> tuple[float, float]:  # noqa: ARG001
    from tallymark.intervals.base import on_scale, scale_of

    mean, variance = limits.mean_and_error(target.runs[0])
    if not 0.0 < mean < 1.0 or not math.isfinite(variance):
        return 0.0, 1.0
    return on_scale(mean, math.sqrt(variance), max(target.n_rows - 1.0, 1.0), level, scale_of(0.0, 1.0))


def _analytic_bl(ask: Ask, target: Tally, level: float) -> tuple[float, float]:  # noqa: ARG001
    from tallymark.intervals.proportions import limits as proportion_limits

    low, high = proportion_limits(ask.training_prevalence * ask.validation.n_rows, ask.validation.n_rows, level)
    return float(low), float(high)


_ANALYTIC = {
    "ac": _analytic_ac,
    "cc": lambda ask, target, level: limits.share_of(target.runs[0], ask.options["threshold"], level),
    "pacc": lambda ask, target, level: limits.adjusted_mean(ask.validation, target, level),
    "pcc": _analytic_pcc,
    "bl": _analytic_bl,
}

#: Log odds of a validation sample may need a slope this far from 1 before probabilities are called uncalibrated.
_STEEP = 1.5


def _guard_calibration(ask: Ask, *, strict: bool) -> None:
    """Say so when probabilities that are taken at their word are wrong on the validation sample."""
    if ask.method.name not in {"em", "pcc"} or ask.options.get("calibration"):
        return
    from tallymark.calibration.maps import temperature

    slope = 1.0 / temperature(ask.validation, bias=True).parameters["temperature"]
    if not 1.0 / _STEEP <= slope <= _STEEP:
        guard(
            "TM110",
            f"{ask.method.name} takes the scores for calibrated probabilities, but on the validation sample their log odds "
            f"would have to be multiplied by {slope:.2g}. Use calibration='bcts' (em), or a method for any scores such as bayes",
            strict=strict,
        )


#: A share of target rows beyond the validation sample's scores from which it is worth a word; of n validation rows about
#: two in n are expected there, in a class that has become common a few times as many.
_BEYOND, _BY_CHANCE = 0.01, 20.0


def _guard_shift(ask: Ask, groups: Mapping[tuple[Any, ...], Tally], *, strict: bool) -> None:
    low, high = ask.validation.range
    for key, target in groups.items():
        run = target.runs[0]
        beyond = float(run.mass_before(np.array(np.searchsorted(run.scores, low, "left"))))
        beyond += float(run.mass_from(np.array(np.searchsorted(run.scores, high, "right"))))
        if beyond > (_BEYOND + _BY_CHANCE / ask.validation.n_rows) * run.total:
            where = f"group {', '.join(map(str, key))}: " if key else ""
            guard(
                "TM108",
                f"{where}{100 * beyond / run.total:.1f} % of the target's scores lie outside the validation sample's range "
                f"({low:g} to {high:g}); the same model on the same kind of data would not give them. Check the model and the columns",
                strict=strict,
            )
