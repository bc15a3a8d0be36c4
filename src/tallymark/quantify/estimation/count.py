"""Quantification by several methods with diagnostics: fit, sensitivity, audit and notes (``tm.quantify.count``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, TypeAlias

from tallymark import _check
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict
from tallymark._positives import Positives, checked_name
from tallymark.errors import InputError
from tallymark.measures import Evaluation
from tallymark.notes import Note, emit, honours_strict, strictly
from tallymark.quantify.estimation.class_drift import ClassDrift, class_drift
from tallymark.quantify.estimation.class_prevalences import ClassPrevalences
from tallymark.quantify.estimation.declared import has_profile
from tallymark.quantify.estimation.disagreement import disagreement
from tallymark.quantify.estimation.estimate import estimate
from tallymark.quantify.estimation.expected import expected
from tallymark.quantify.estimation.labelled_design import design_notes
from tallymark.quantify.estimation.mixture_test import MixtureFit, MixtureFits, mixture_fit
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import Sensitivity, sensitivity
from tallymark.registry import QUANTIFIERS
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.score_notes import hard_labels
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: The methods unless others are named: uncorrected, in closed form, robust, and for any scores.
USUAL = ("cc", "ac", "ms", "bayes")
#: The same for K classes.
USUAL_OF_CLASSES = ("cc", "ac", "pacc", "em")

Estimate: TypeAlias = Prevalence | Prevalences | ClassPrevalences


@dataclass(frozen=True, kw_only=True, repr=False)
class Count(Shown):
    """Everything that was estimated about a target."""

    #: By method.
    estimates: Mapping[str, Estimate]
    #: Whether the scores of the whole target fit the prior-shift model.
    fit: MixtureFit | None = None
    #: The same for each group, where there are groups.
    fits: MixtureFits | None = None
    #: What a shift that the test of fit cannot see would do to the counts.
    sensitivity: Sensitivity | None = None
    #: Metrics to expect in the target.
    expected: Evaluation | None = None
    #: Labelled rows of the same population, and the positives among them.
    labelled: tuple[float, float] | None = None
    #: What each method counts in all groups put together, where there are groups.
    pooled: Mapping[str, float] = field(default_factory=FrozenDict)
    #: The estimate from the labelled rows alone, where they are a random sample of the population.
    audit: Prevalence | Prevalences | None = None
    #: Whether labelled rows of several groups contradict prior shift.
    drift: ClassDrift | None = None
    #: Growth rates are computed along this column of the groups, in this order of its values.
    growth: str | None = None
    order: Sequence[Any] | None = None
    #: Notes on the samples themselves.
    of_samples: tuple[Note, ...] = ()
    #: What positive rows are called, in the plural; None for positives.
    called: str | None = None

    @property
    def words(self) -> Positives:
        """The words for positive rows."""
        return Positives(self.called)

    @property
    def warnings(self) -> tuple[Note, ...]:
        """Every note, each once; where there are groups, their fits stand for the whole."""
        fit = self.fits if self.fits is not None else self.fit
        parts = [one for entry in self.estimates.values() for one in _parts(entry)]
        notes = [*self.of_samples, *(note for one in parts for note in one.warnings)]
        notes += [note for one in (fit, self.audit) if one is not None for note in one.warnings]
        return tuple(dict.fromkeys(notes))

    @property
    def totals(self) -> dict[str, Prevalence]:
        """The estimate of all groups together, by method of two classes."""
        binary = {name: one for name, one in self.estimates.items() if not isinstance(one, ClassPrevalences)}
        return {name: total_of(one) for name, one in binary.items()}

    def lines(self) -> list[tuple[dict[str, Any] | None, str | None, Prevalence]]:
        """Each estimate with its group and class; the group of a total is None."""
        lines: list[tuple[dict[str, Any] | None, str | None, Prevalence]] = []
        for entry in (*self.estimates.values(), *([] if self.audit is None else [self.audit])):
            if isinstance(entry, Prevalence):
                lines.append((None, None, entry))
            elif isinstance(entry, Prevalences):
                lines += [(dict(zip(entry.names, key, strict=True)), None, one) for key, one in entry.entries.items()]
                lines.append((None, None, entry.total))
            else:
                lines += [(None, str(label), one) for label, one in entry.items()]
        return lines

    def subtotals(self) -> list[tuple[dict[str, Any], Prevalence]]:
        """Sums over all columns of groups but one, where there are several."""
        return [
            ({name: key[0]}, one)
            for entry in self.estimates.values()
            if isinstance(entry, Prevalences)
            for name, by in entry.subtotals().items()
            for key, one in by.entries.items()
        ]

    def growths(self) -> list[dict[str, Any]]:
        """Growth from each value of the column of `growth` to the next, by method and group."""
        if self.growth is None:
            return []
        return [
            {"method": name, **line}
            for name, entry in self.estimates.items()
            if isinstance(entry, Prevalences)
            for line in entry.growths(self.growth, self.order)
        ]

    def with_labelled(self) -> list[dict[str, Any]]:
        """Counts with the labelled rows of the same population added, by method."""
        if self.labelled is None:
            return []
        rows, positives = self.labelled
        return [
            {
                "method": one.method,
                "count": one.count + positives,
                **(
                    {}
                    if one.low is None or one.high is None
                    else {"low": one.low * one.n + positives, "high": one.high * one.n + positives}
                ),
                "n": one.n + rows,
            }
            for one in self.totals.values()
            if one.reason is None
        ]

    def heading(self) -> str:
        """How many methods counted."""
        level = next((one.level for _, _, one in self.lines()), None)
        counted = "Count" if self.called is None else f"Count of {self.called}"
        return f"{counted} by {', '.join(self.estimates)}" + ("" if level is None else f", {100 * level:g} % intervals")

    def rows(self) -> list[Row]:
        """One row per method, group and class."""
        return [
            {**(group or {}), **({} if label is None else {"class": label}), **one.rows()[0]}
            for group, label, one in self.lines()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything that was estimated, as plain values."""
        lines = self.lines()
        total = next((one.n for group, _, one in lines if group is None), None)
        name = {} if self.called is None else {"called": self.called}
        entries: dict[str, Any] = {"n": total, **name, "estimates": [_line(*line) for line in lines]}
        if subtotals := self.subtotals():
            entries["subtotals"] = [_line(group, None, one) for group, one in subtotals]
        if self.growth is not None:
            entries["growth"] = self.growths()
        if self.labelled is not None:
            rows, positives = self.labelled
            entries["known"] = {"n": rows, "positives": positives}
            entries["with_known"] = self.with_labelled()
        if self.pooled:
            entries["pooled"] = dict(self.pooled)
        parts: dict[str, Any] = {
            "fit": self.fit,
            "class_drift": self.drift,
            "fits": self.fits,
            "sensitivity": self.sensitivity,
        }
        parts["expected"] = self.expected
        return entries | {name: part.to_dict() for name, part in parts.items() if part is not None}


def total_of(entry: Prevalence | Prevalences) -> Prevalence:
    """An estimate of all groups together."""
    return entry.total if isinstance(entry, Prevalences) else entry


def _parts(entry: Estimate) -> Sequence[Prevalence]:
    return [entry] if isinstance(entry, Prevalence) else list(entry.values())


def _line(group: dict[str, Any] | None, label: str | None, one: Prevalence) -> dict[str, Any]:
    values = {name: value for name, value in one.to_dict().items() if name != "method"}
    return {"method": one.method, "group": group, **({} if label is None else {"class": label}), **values}


@honours_strict
def count(
    validation: Tally | ClassPanel,
    target: Tally | Tallies | ClassPanel,
    methods: Sequence[str] = (),
    *,
    same_population: bool = False,
    audit: Prevalence | Prevalences | None = None,
    labelled: Tallies | None = None,
    expect: Sequence[str] = (),
    growth: str | None = None,
    order: Sequence[Any] | None = None,
    level: float | None = 0.95,
    seed: int = 0,
    called: str | None = None,
    strict: bool = False,  # noqa: ARG001 - read by honours_strict
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Count:
    """Count the positives (or each of K classes) of a target by several methods, with tests of the assumption.

    Parameters
    ----------
    validation : Tally or ClassPanel
        Labelled rows with scores.
    target : Tally, Tallies or ClassPanel
        Rows to count, with scores of the same model; several groups are counted one by one and summed.
    methods : sequence of str
        Quantifiers; left out, ``cc``, ``ac``, ``ms`` and ``bayes`` (of K classes ``cc``, ``ac``, ``pacc`` and ``em``).
    same_population : bool
        Whether the labelled rows are a part of the population: their positives are then added, and it is tested whether
        they were chosen by their scores.
    audit : Prevalence or Prevalences, optional
        An estimate of :func:`tallymark.audits.from_audit`, to be compared with the counts.
    labelled : Tallies, optional
        Labelled rows by group, to test whether the groups contradict prior shift.
    expect : sequence of str
        Metrics to expect in the target at ``threshold``.
    growth : str, optional
        Name of a column of the groups along which growth rates are computed.
    order : sequence, optional
        The values of that column in their order in time, where it cannot be read from them.
    level, seed, strict
        As in :func:`tallymark.quantify.estimate`.
    called : str, optional
        What positive rows are called, in the plural: ``"platforms"``. Tables, JSON and reports then say so.
    progress : callable, optional
        Called with the percentage done.
    **options
        ``threshold``, ``calibration``, ``training_prevalence``, ``population`` and ``interval`` of
        :func:`tallymark.quantify.estimate`; each goes to the methods that have it.

    Returns
    -------
    Count

    Examples
    --------
    >>> import numpy as np, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> y, z = rng.random(2_000) < 0.5, rng.random(3_000) < 0.2
    >>> p, q = (1 / (1 + np.exp(-rng.normal(3 * truth - 1.5))) for truth in (y, z))
    >>> answer = tm.quantify.count(tm.tally(y, p), tm.tally(scores=q), ["ac", "bayes"])
    >>> low, high = answer.totals["bayes"].count_low, answer.totals["bayes"].count_high
    >>> bool(low < z.sum() < high)
    True

    """
    _require_kinds(
        validation=(validation, (Tally, ClassPanel)),
        target=(target, (Tally, Tallies, ClassPanel)),
        audit=(audit, (Prevalence, Prevalences, NoneType)),
        labelled=(labelled, (Tallies, NoneType)),
        growth=(growth, (str, NoneType)),
    )
    _check.callback(progress)
    listed = [methods] if isinstance(methods, str) else _check.several(methods, "methods")
    names = [QUANTIFIERS[name].name for name in listed]
    name = checked_name(called)
    if isinstance(validation, ClassPanel):
        if name is not None:
            raise InputError(
                "called= is the name of the positive rows; of several classes each has its own. Leave it out."
            )
        return _count_classes(validation, target, names or USUAL_OF_CLASSES, level, seed, progress, options)
    if isinstance(target, ClassPanel):
        raise InputError("The labelled rows have scores of two classes and the target has more; give both the same.")
    counter = _Counter(validation, target, names, level, seed, options)
    estimates = counter.estimates(progress)
    whole = counter.whole
    fits = mixture_fit(validation, target) if isinstance(target, Tallies) else None
    # Where groups are tested one by one, the fit of all rows together is shown and not judged.
    with nullcontext() if fits is None else strictly(strict=False):
        fit = mixture_fit(validation, whole)
    labelled_counts = (float(validation.n), float(validation.positives)) if same_population else None
    notes = counter.notes
    if labelled_counts is not None:
        if audit is not None:
            corrected = {name: total_of(one) for name, one in estimates.items() if QUANTIFIERS[name].shift_proof}
            notes += disagreement(total_of(audit), corrected, labelled_counts)
        notes += design_notes(validation, whole, fit)
    emit(notes)
    return Count(
        estimates=FrozenDict(estimates),
        fit=fit,
        fits=fits,
        sensitivity=counter.sensitivity(),
        expected=_expected(validation, whole, _check.several(expect, "expect"), options.get("threshold"), level, seed),
        labelled=labelled_counts,
        pooled=FrozenDict({} if fits is None else counter.pooled()),
        audit=audit,
        drift=None if labelled is None or len(labelled) < 2 else class_drift(labelled, seed=seed),
        growth=growth,
        order=order,
        of_samples=notes,
        called=name,
    )


def _require_kinds(**values: tuple[object, tuple[type, ...]]) -> None:
    """Refuse values of another type than each may have."""
    for name, (value, kinds) in values.items():
        if not isinstance(value, kinds):
            expected_kinds = " or ".join("None" if kind is NoneType else f"a {kind.__name__}" for kind in kinds)
            raise InputError(f"{name} is a {type(value).__name__}, expected {expected_kinds}.")


#: Options of a count, and the methods that take each.
_OPTIONS: Mapping[str, Callable[[Any], bool]] = {
    "threshold": lambda method: "threshold" in method.options,
    "calibration": lambda method: "calibration" in method.options,
    "training_prevalence": lambda method: method.uses_training_prevalence or method.trusts_probabilities,
}


class _Counter:
    """Counts of one target by several methods that share their options."""

    def __init__(
        self,
        validation: Tally,
        target: Tally | Tallies,
        names: Sequence[str],
        level: float | None,
        seed: int,
        options: Mapping[str, Any],
    ) -> None:
        self.validation, self.target, self.level = validation, target, level
        self.given = {name: value for name, value in options.items() if value is not None}
        _refuse_unused(self.given, names)
        samples = (validation, *(target.values() if isinstance(target, Tallies) else (target,)))
        self.notes: tuple[Note, ...] = tuple(note for sample in samples for note in hard_labels(sample, "the score"))
        emit(self.notes)
        self.settings = {"level": level, "seed": seed, "population": self.given.get("population")}
        self.names = list(names) or self._usual()

    def _usual(self) -> list[str]:
        """The default methods; without a threshold, of scores that are no probabilities those that need none."""
        if "threshold" in self.given or self.validation.is_probability:
            return list(USUAL)
        return [name for name in USUAL if "threshold" not in QUANTIFIERS[name].options]

    @property
    def whole(self) -> Tally:
        """All groups of the target together."""
        if isinstance(self.target, Tally):
            return self.target
        first, *rest = self.target.values()
        return first.merge(*rest)

    def estimate(self, name: str, sample: Tally | Tallies, **settings: Any) -> Any:
        """What one method counts, with the options it takes."""
        method = QUANTIFIERS[name]
        options = {key: self.given[key] for key, takes in _OPTIONS.items() if key in self.given and takes(method)}
        return estimate(name, self.validation, sample, **options, **settings)

    def estimates(self, progress: Callable[[float], None] | None) -> dict[str, Prevalence | Prevalences]:
        """What each method counts, with intervals."""
        interval = self.given.get("interval", "default")
        return _each(
            self.names,
            lambda name: self.estimate(name, self.target, interval=_interval(name, interval), **self.settings),
            progress,
        )

    def pooled(self) -> dict[str, float]:
        """What each method counts in all groups put together."""
        return {name: self.estimate(name, self.whole, level=None).count for name in self.names}

    def sensitivity(self) -> Sensitivity | None:
        """Effect of shifts that the mixture test would miss; None where no corrected count has an interval."""
        corrected = [name for name in self.names if QUANTIFIERS[name].shift_proof]
        # Two values have no distance by which the positives' could move unseen.
        if not corrected or self.level is None or hard_labels(self.validation, "the score"):
            return None
        options = {key: self.given.get(key) for key in ("threshold", "training_prevalence")}
        return sensitivity(self.validation, self.whole, corrected, **options)


def _refuse_unused(given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse options that are unknown, and a calibration that no method takes."""
    allowed = (*_OPTIONS, "population", "interval")
    if unknown := [name for name in given if name not in allowed]:
        raise InputError(f"count() has no option {unknown[0]!r}; it has {', '.join(allowed)}.")
    takes = _OPTIONS["calibration"]
    if "calibration" in given and not any(takes(QUANTIFIERS[name]) for name in names):
        methods = ", ".join(name for name, method in QUANTIFIERS.items() if takes(method))
        raise InputError(f"calibration goes with {methods}; add it to the methods.")


def _interval(name: str, interval: str) -> Any:
    """The kind of interval that is wanted where the method has it, else its default."""
    method = QUANTIFIERS[name]
    has = {"analytic": method.interval == "analytic", "profile": has_profile(method)}
    return interval if has.get(interval, True) else "default"


def _expected(
    validation: Tally, whole: Tally, metrics: Sequence[str], threshold: Any, level: float | None, seed: int
) -> Evaluation | None:
    if not metrics:
        return None
    if threshold is None and not validation.is_probability:
        raise InputError("Metrics to expect need a threshold: a number or a policy.")
    return expected(
        validation,
        whole,
        threshold="0.5" if threshold is None else threshold,
        metrics=metrics,
        level=level or 0.95,
        seed=seed,
    )


def _count_classes(
    validation: ClassPanel,
    target: Any,
    names: Sequence[str],
    level: float | None,
    seed: int,
    progress: Callable[[float], None] | None,
    options: Mapping[str, Any],
) -> Count:
    given = {name: value for name, value in options.items() if value is not None}
    if unused := [name for name in given if name != "calibration"]:
        raise InputError(f"{', '.join(unused)}: for two classes, here are {len(validation.labels)}.")
    _refuse_unused(given, names)

    def one(name: str) -> Any:
        takes = _OPTIONS["calibration"](QUANTIFIERS[name])
        return estimate(name, validation, target, level=level, seed=seed, **(given if takes else {}))

    return Count(estimates=FrozenDict(_each(names, one, progress)))


def _each(
    names: Sequence[str], counted: Callable[[str], Any], progress: Callable[[float], None] | None
) -> dict[str, Any]:
    estimates: dict[str, Any] = {}
    for name in names:
        estimates[name] = counted(name)
        if progress is not None:
            progress(100.0 * len(estimates) / len(names))
    return estimates
