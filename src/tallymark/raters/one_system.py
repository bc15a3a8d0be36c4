"""A judge's verdicts on one system against people's: corrected rates or grades, error rates, agreement."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark._check import Bools, Floats
from tallymark.audits.class_estimates import AuditEstimate, AuditMeasure
from tallymark.audits.corrected_means import Population, corrected_mean, measure_of
from tallymark.audits.count_table import from_counts
from tallymark.audits.estimates import estimate
from tallymark.errors import Undefined
from tallymark.inference.limits.proportions import limits
from tallymark.inference.scales import student_value
from tallymark.measures import Measure
from tallymark.notes import Note, passing_on_notes
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.raters.agreement import agreement
from tallymark.raters.judgements import Judgement
from tallymark.raters.ratings import MOST_CLASSES
from tallymark.raters.results import Agreement
from tallymark.raters.verdicts import Scale, Verdicts
from tallymark.summaries.confusion import Confusion

#: Why there is no estimate of a verdict that people gave no labelled item, or every one.
_UNSEEN, _ALWAYS = "people gave this verdict to no labelled item", "people gave every labelled item this verdict"
_NONE_PASSED, _NONE_FAILED = "no labelled item was passed by people", "no labelled item was failed by people"


def judged_system(one: Verdicts, scale: Scale, population: Population, level: float) -> Judgement:
    """One system as judged and as corrected."""
    if reason := _too_few(one):
        judged = Measure(name="judged", value=float(one.judged.mean()), no_interval="every item was judged")
        corrected = AuditMeasure(name="corrected", value=math.nan, reason=reason)
        return Judgement(
            n=len(one.judged),
            labelled=int(one.labelled.sum()),
            scale=scale,
            population=population,
            judged=None if scale == "classes" else judged,
            corrected=corrected,
        )
    if scale == "grades":
        return _graded(one, population, level)
    with passing_on_notes():
        audit, agreed = _audit(one, level), _agreement(one, level)
        notes = (*_audit_notes(audit, population), *(() if agreed is None else agreed.warnings), *_uneven_notes(one))
        if scale == "pass":
            result = _of_class(one, audit, 1, population, level)
            notes += _contradiction(result.corrected, result.by_error_rates)
            return replace(result, agreement=agreed, warnings=notes)
    classes = {
        label: _of_class(one.passing(code), audit, code, population, level) for code, label in enumerate(one.classes)
    }
    return Judgement(
        n=len(one.judged),
        labelled=int(one.labelled.sum()),
        scale="classes",
        population=population,
        classes=classes,
        agreement=agreed,
        warnings=notes,
    )


def _too_few(one: Verdicts) -> str | None:
    """Why nothing can be estimated; None where something can."""
    if not one.labelled.any():
        return "no item has a human verdict"
    if one.inclusion is None and one.stratum is not None:
        items, labelled = np.bincount(one.stratum), np.bincount(one.stratum, one.labelled)
        if ((items > 0) & (labelled == 0)).any():
            return "a stratum has no item with a human verdict, so that nothing is known of it"
    if one.uneven:
        values, codes = np.unique(one.judged, return_inverse=True)
        labelled = np.bincount(codes.ravel(), one.labelled)
        if not labelled.all():
            verdict = _named(one, values)[int(np.argmin(labelled))]
            return f"no item judged {verdict} has a human verdict, so that nothing is known of them"
    return None


def _audit(one: Verdicts, level: float) -> AuditEstimate:
    """The audit of the judge's verdicts by people's; classes are their codes."""
    columns: dict[str, NDArray[Any]] = {"judge": one.judged, "human": np.where(one.labelled, one.human, math.nan)}
    options: dict[str, Any] = {"label": "human", "predicted": "judge", "level": level}
    for name in ("stratum", "inclusion", "cluster"):
        if (values := getattr(one, name)) is not None:
            columns[name], options[name] = values, name
    if one.uneven:
        options["stratum"] = "judge"
    if len(one.classes) <= 2 and one.cluster is None:
        options["pos_label"] = 1
    return estimate(columns, **options)


def _of_class(one: Verdicts, audit: AuditEstimate, code: int, population: Population, level: float) -> Judgement:
    """A pass, or one class against the others.

    Where items were labelled with unequal chances, error rates are those over all items: of labelled ones alone they
    would depend on which were labelled.
    """
    seen = one.labelled
    judged, human = one.judged[seen] > 0.0, one.human[seen] > 0.0
    simple = not one.has_design and not one.uneven
    if simple:
        none_passed, none_failed = (_UNSEEN, _ALWAYS) if one.classes else (_NONE_PASSED, _NONE_FAILED)
        sensitivity = _rate("sensitivity", judged[human], level, none_passed)
        specificity = _rate("specificity", ~judged[~human], level, none_failed)
    else:
        sensitivity, specificity = _rates_of_all(audit, code)
    return Judgement(
        n=len(one.judged),
        labelled=int(seen.sum()),
        judged=Measure(name="judged", value=float((one.judged > 0.0).mean()), no_interval="every item was judged"),
        population=population,
        corrected=_of_population(_renamed(audit.prevalences.get(code), "corrected"), one, population),
        by_error_rates=_by_error_rates(one, level) if simple else None,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def _rates_of_all(audit: AuditEstimate, code: int) -> tuple[Measure, Measure]:
    """Sensitivity and specificity of a class over all items."""
    others = [label for label in audit.classes if label != code]
    if len(others) == 1:
        return _renamed(audit.recall.get(code), "sensitivity"), _renamed(audit.recall.get(others[0]), "specificity")
    unknown = Measure(name="specificity", value=math.nan, reason="not estimated for one class of several")
    return _renamed(audit.recall.get(code), "sensitivity"), unknown


def _renamed(measure: AuditMeasure | None, name: str) -> AuditMeasure:
    if measure is None:
        return AuditMeasure(name=name, value=math.nan, reason=_UNSEEN)
    return replace(measure, name=name)


def _of_population(rate: AuditMeasure, one: Verdicts, population: Population) -> AuditMeasure:
    """A rate of these items, or with limits for the items that they are a random sample of."""
    if population == "suite" or rate.low is None or rate.high is None or rate.level is None:
        return rate
    n = _effective_items(one, rate.value, rate.level)
    low, high = (float(end) for end in limits(rate.value * n, n, rate.level, "mid_p"))
    below = math.hypot(rate.value - rate.low, rate.value - low)
    above = math.hypot(rate.high - rate.value, high - rate.value)
    return replace(rate, low=max(rate.value - below, 0.0), high=min(rate.value + above, 1.0))


def _effective_items(one: Verdicts, rate: float, level: float) -> float:
    """The number of independent items that tell as much of the population's rate as these items do.

    Items of one cluster are alike; how much so is estimated from the labelled clusters, with Student's distribution for
    their number.
    """
    n = float(len(one.judged))
    if one.cluster is None:
        return n
    design = one.design()
    human = one.human[one.labelled]
    total = float(design.weight.sum())
    variance, freedom = design.variance(human, float(design.weight @ human) / total, finite=False)
    # Of a mean over the labelled clusters; that over all clusters varies less by the share that was labelled.
    variance *= float((1.0 - design.unlabelled).mean()) / total**2
    wider = student_value(level, freedom) / student_value(level, math.inf)
    return min(rate * (1.0 - rate) / (variance * wider**2), n) if variance > 0.0 else n


def _rate(name: str, right: Bools, level: float, reason: str) -> Measure:
    if not len(right):
        return Measure(name=name, value=math.nan, reason=reason)
    low, high = limits(float(right.sum()), float(len(right)), level, "mid_p")
    return Measure(
        name=name, value=float(right.mean()), low=float(low), high=float(high), interval_method="mid_p", level=level
    )


def _by_error_rates(one: Verdicts, level: float) -> Prevalence | None:
    """The pass rate from the judge's error rates; None where people passed all, or none."""
    human, judged = (values[one.labelled].astype(np.int64) for values in (one.human, one.judged))
    if not 0 < human.sum() < len(human):
        return None
    matrix = np.zeros((2, 2), np.int64)
    np.add.at(matrix, (human, judged), 1)
    passed = int(one.judged.sum())
    answer = from_counts(
        Confusion(matrix, (0, 1), positive=1), predicted_positive=passed, n=len(one.judged), level=level
    )
    return answer if isinstance(answer, Prevalence) else None


def _agreement(one: Verdicts, level: float) -> Agreement | None:
    """Agreement of judge and people on the labelled items.

    None where these were drawn with unequal chances, and of grades of very many values.
    """
    if one.stratum is not None or one.inclusion is not None or one.uneven:
        return None
    columns: dict[str, Any] = {"judge": one.judged[one.labelled], "human": one.human[one.labelled]}
    options: dict[str, Any] = {"rater": ["judge", "human"], "item": "item", "level": level}
    if one.classes or one.passes:
        names = np.array([str(label) for label in one.classes] or ["fail", "pass"])
        columns = {name: names[codes.astype(int)] for name, codes in columns.items()}
    else:
        if len(np.unique(np.concatenate(list(columns.values())))) > MOST_CLASSES:
            return None
        options["weights"] = "interval"
    # Disagreements name the item, or else its row, from 1.
    columns["item"] = np.flatnonzero(one.labelled) + 1 if one.names is None else one.names[one.labelled]
    if one.cluster is not None:
        columns["cluster"], options["cluster"] = one.cluster[one.labelled], "cluster"
    return agreement(columns, **options)


def _audit_notes(audit: AuditEstimate, population: Population) -> tuple[Note, ...]:
    """The notes of the audit; that every row was checked says something else of a judge."""
    notes = tuple(note for note in audit.warnings if note.code != "TM129")
    if len(notes) == len(audit.warnings) or population == "items":
        return notes
    text = (
        "people labelled every item, so that rates of these items are counted, not estimated. Pass the items without "
        "a human verdict too; or, for the rate of all items that these are a sample of, population='items'"
    )
    return (*notes, Note("TM129", text))


def _named(one: Verdicts, values: Floats) -> list[str]:
    """What verdicts are called."""
    if one.passes:
        return ["pass" if value > 0.0 else "fail" for value in values]
    return [str(one.classes[int(value)]) if one.classes else f"{value:g}" for value in values]


def _uneven_notes(one: Verdicts) -> tuple[Note, ...]:
    if not one.uneven:
        return ()
    values, codes = np.unique(one.judged, return_inverse=True)
    share = np.bincount(codes.ravel(), one.labelled) / np.bincount(codes.ravel())
    listed = ", ".join(
        f"{100 * part:.3g} % of those judged {name}" for name, part in zip(_named(one, values), share, strict=True)
    )
    text = (
        f"people labelled {listed}: they are taken as drawn at random within each verdict, and the agreement on the "
        "labelled items is left out. If they were chosen in another way, say how with stratum= or inclusion="
    )
    return (Note("TM128", text),)


def _contradiction(corrected: AuditMeasure | None, by_rates: Prevalence | None) -> tuple[Note, ...]:
    """A note where the two corrections contradict each other."""
    ours = None if corrected is None else corrected.interval
    theirs = None if by_rates is None else by_rates.interval
    if ours is None or theirs is None or (ours[0] <= theirs[1] and theirs[0] <= ours[1]):
        return ()
    text = (
        f"corrected by the labelled items the pass rate is {ours[0]:.3g} to {ours[1]:.3g}, by the judge's error rates "
        f"{theirs[0]:.3g} to {theirs[1]:.3g}: the labelled items are no random sample, or the error rates differ "
        "between kinds of items"
    )
    return (Note("TM118", text),)


def _graded(one: Verdicts, population: Population, level: float) -> Judgement:
    """Mean grades as judged and as corrected, and how far the judge's grades lie above people's."""
    low, high = one.range
    nothing = np.zeros(len(one.judged))
    corrected = _estimated("corrected", one, (one.human, one.judged), (low, high), population, level)
    gap = (one.judged - one.human, nothing)
    bias = _estimated("bias", one, gap, (low - high, high - low), population, level)
    with passing_on_notes():
        agreed = _agreement(one, level)
    return Judgement(
        n=len(one.judged),
        labelled=int(one.labelled.sum()),
        scale="grades",
        population=population,
        judged=Measure(name="judged", value=float(one.judged.mean()), no_interval="every item was judged"),
        corrected=corrected,
        bias=bias,
        agreement=agreed,
        warnings=(*(() if agreed is None else agreed.warnings), *_uneven_notes(one)),
    )


def _estimated(
    name: str,
    one: Verdicts,
    verdicts: tuple[Floats, Floats],
    ends: tuple[float, float],
    population: Population,
    level: float,
) -> AuditMeasure:
    """A mean of people's verdicts over all items; of `verdicts` the first are people's."""
    try:
        mean = corrected_mean(*verdicts, one.labelled, ends, one.design(), population)
        if ends[0] == ends[1] and not (one.labelled.all() and population == "suite"):
            unknown = "all grades are alike, which tells nothing of their spread"
            return AuditMeasure(name=name, value=mean.value, no_interval=unknown)
        return measure_of(name, mean, level)
    except Undefined as undefined:
        return AuditMeasure(name=name, value=math.nan, reason=undefined.reason)
