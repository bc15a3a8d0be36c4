r"""``tm.raters.judge``: a judge's verdicts on all items corrected by people's verdicts on some.

The corrected pass rate is the design-based estimate of an audit: within the items judged pass and those judged fail,
the share that people pass (:mod:`tallymark.audits`). Nothing is assumed of the judge. Beside it stands the estimate
from the judge's error rates (Rogan & Gladen 1978), which needs them to be the same in all items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from tallymark import _check
from tallymark.audits.corrected_means import Population, design_columns
from tallymark.comparison.compare import Margins
from tallymark.errors import InputError, shown
from tallymark.inference.hypothesis_tests.corrections import holm
from tallymark.inference.hypothesis_tests.heterogeneity import pearson
from tallymark.inference.interval import checked_level
from tallymark.notes import emit, honours_strict
from tallymark.raters.judgements import Judgement
from tallymark.raters.one_system import judged_system
from tallymark.raters.system_differences import compared, difference_of
from tallymark.raters.verdicts import Meaning, Scale, Verdicts, by_system, segments_of
from tallymark.registry import require_one_of
from tallymark.sources.any_columns import any_columns
from tallymark.sources.formats import Wanted, column_names
from tallymark.sources.frames import named_columns
from tallymark.sources.joined import joined_columns

#: Labelled items of a class from which a segment's error rate is compared with those of others.
_COMPARED = 5


@named_columns
@honours_strict
def judge(
    data: Any,
    *,
    judge: str | Sequence[str],
    human: str | Sequence[str],
    labels: Any = None,
    id: str | None = None,  # noqa: A002 - what such a column is called
    system: str | None = None,
    item: str | None = None,
    by: str | Sequence[str] | None = None,
    stratum: str | Sequence[str] | None = None,
    inclusion: str | None = None,
    cluster: str | None = None,
    pos_label: Any = None,
    scale: Scale | None = None,
    population: Population = "suite",
    equivalence: float | None = None,
    noninferiority: float | None = None,
    level: float = 0.95,
    where: str | None = None,
    strict: bool = False,
) -> Judgement:
    """Correct the pass rate (or the mean grade) of a judge by people's verdicts on some of the items.

    The items with a human verdict must be a random sample of all, or of each stratum, or drawn with known
    probabilities. Of one system: the pass rate as judged and as corrected, the judge's sensitivity and specificity
    against people, and their agreement. Of several systems judged on the same items, also the corrected difference of
    every pair.

    Parameters
    ----------
    data
        A dataframe, the path of a file, or arrays by name, one row per item.
    judge
        Column with the judge's verdict on every item; one for each system.
    human
        Column with people's verdicts, null where there is none; one for each system. The difference of two systems is
        that of the items labelled for both, or where fewer were than for one of them, of the two corrected means.
    labels, id
        A second dataframe or file with the columns of people's verdicts, and the column that identifies an item in
        both; items that it does not have were not labelled. Without `labels` the id names the items on which judge and
        people disagree.
    system, item
        Instead of a column for each system: the column that names the system and the one that names the item, where
        each row is the answer of one system to one item.
    by
        Columns of segments, estimated one by one. The p-values of differences are corrected for their number (Holm).
    stratum
        Columns within which the labelled items are a random sample, such as the judge's verdict.
    inclusion
        Column with the probability with which each item was drawn to be labelled.
    cluster
        Column of clusters (conversations) that people judged whole.
    pos_label
        The verdict that is a pass, where it is not obvious. All others are failures.
    scale
        ``"pass"``, ``"classes"`` (the share of each verdict) or ``"grades"`` (numbers of which the mean is wanted).
        Left out, two known words or numbers are pass and fail, more than two words are classes, and more than two
        numbers are grades.
    population
        Whether rates and differences are those of these items (``"suite"``), or of all items that they are a random
        sample of (``"items"``), for which limits are wider. Agreement is always of the latter, and so are error rates
        but for those of a stated design (`stratum`, `inclusion`, `cluster`).
    equivalence
        A difference of two systems that would not matter: a pair is equivalent when two one-sided tests show less.
    noninferiority
        A loss that would not matter: each pair says which system is shown to be not worse than the other by more.
    level
        Confidence level.
    where
        Of a file: only rows that satisfy this SQL condition.
    strict
        Raise warnings as errors.

    Returns
    -------
    Judgement
        ``judged``, ``corrected``, ``sensitivity``, ``specificity``, ``agreement``; of several systems ``systems`` and
        ``comparison``, of two ``difference``; of classes ``classes``.

    Examples
    --------
    >>> import numpy as np, pandas as pd, tallymark as tm
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(2_000) < 0.8
    >>> verdict = np.where(truth, rng.random(2_000) < 0.95, rng.random(2_000) < 0.4)
    >>> human = np.where(np.arange(2_000) < 200, truth, np.nan)
    >>> result = tm.raters.judge(pd.DataFrame({"j": verdict.astype(int), "h": human}), judge="j", human="h")
    >>> round(result.judged.value, 3), result.corrected.written
    (0.834, '0.73 (0.68–0.78)')

    """
    confidence = checked_level(level)
    require_one_of("population", population, get_args(Population))
    margins = Margins.of(equivalence, noninferiority, "higher")
    judges, humans = _check.listed(judge), _check.listed(human)
    if len(judges) != len(humans) or len(set(judges)) < len(judges):
        raise InputError(
            f"judge= names {shown(judges)} and human= {shown(humans)}; expected one of each for every system."
        )
    if len(set(humans)) < len(humans):
        raise InputError(
            f"human= names {shown(humans)}: people's verdicts on one system are none on another. To compare two judges "
            "of the same items, call tm.raters.judge_drift."
        )
    if both := set(judges) & set(humans):
        raise InputError(f"{shown(sorted(both))} cannot be the judge's verdicts and people's; name two columns.")
    if (system is None) != (item is None) or (system is not None and len(judges) > 1):
        raise InputError("In long form name the columns system= and item=, and one column each of judge= and human=.")
    segments, layers = column_names(by, "by="), column_names(stratum, "stratum=")
    if labels is not None and id is None:
        raise InputError("Labels of another file are joined by an id: name it with id=.")
    kind: Literal["number", "class"] = "number" if scale == "grades" else "class"
    wanted = [Wanted(name, "judge=", kind) for name in judges]
    people = [Wanted(name, "human=", kind) for name in humans]
    others = [(system, "system="), (item, "item="), (cluster, "cluster="), (id, "id=")]
    others += [*((name, "by=") for name in segments), *((name, "stratum=") for name in layers)]
    wanted += [Wanted(name, option) for name, option in others if name is not None]
    wanted += [] if inclusion is None else [Wanted(inclusion, "inclusion=", "number")]
    if labels is None or id is None:
        columns = any_columns(data, [*wanted, *people], where=where)
    else:
        columns = joined_columns(data, wanted, labels, people, id, where)
    meaning = Meaning.of(columns, judges, humans, scale, pos_label)
    design = design_columns(columns, layers, inclusion, cluster)
    names = None if id is None else _check.groups(columns[id], id)
    systems = {
        name: replace(meaning.verdicts(columns[name], columns[other], name, other), names=names, **design)
        for name, other in zip(judges, humans, strict=True)
    }
    items: Any = slice(None)
    if system is not None and item is not None:
        systems, items = by_system(next(iter(systems.values())), columns, system, item)
    asked = Request(meaning.scale, population, margins, confidence)
    result = _judged(systems, asked)
    if segments:
        parts = {
            key: {name: one.part(rows) for name, one in systems.items()}
            for key, rows in segments_of(columns, segments, items)
        }
        judged = {key: _judged(part, asked) for key, part in parts.items()}
        unlike = {} if design or meaning.scale != "pass" else _unlike_rates(list(parts.values()))
        notes = [
            replace(note, message=f"{', '.join(map(str, key))}: {note.message}")
            for key, one in judged.items()
            for note in one.warnings
        ]
        result = replace(
            result,
            by=tuple(segments),
            segments=_corrected_together(judged),
            unlike_rates=unlike,
            warnings=(*result.warnings, *notes),
        )
    emit(result.warnings, strict=strict)
    return result


@dataclass(frozen=True)
class Request:
    """What is to be estimated, and how."""

    scale: Scale
    population: Population
    margins: Margins
    level: float


def _judged(systems: Mapping[str, Verdicts], request: Request) -> Judgement:
    """One system, or several and their differences."""
    scale, population, level = request.scale, request.population, request.level
    parts = {name: judged_system(one, scale, population, level) for name, one in systems.items()}
    if len(parts) == 1:
        return next(iter(parts.values()))
    if scale == "classes":
        return Judgement.of_systems(parts)
    comparison, reason = compared(systems, request.margins, population, level)
    result = replace(Judgement.of_systems(parts), comparison=comparison)
    return result if len(parts) > 2 else replace(result, difference=difference_of(comparison, reason))


def _corrected_together(segments: Mapping[tuple[Any, ...], Judgement]) -> dict[tuple[Any, ...], Judgement]:
    """Differences of the segments with p-values that are corrected for their number (Holm)."""
    tested = {
        key: one.difference for key, one in segments.items() if one.difference is not None and not one.difference.reason
    }
    p_values = holm(np.array([one.parameters["p_value"] for one in tested.values()])) if tested else ()
    corrected = dict(segments)
    for (key, one), p in zip(tested.items(), p_values, strict=True):
        difference = replace(one, parameters={**one.parameters, "p_holm": float(p)})
        corrected[key] = replace(segments[key], difference=difference)
    return corrected


def _unlike_rates(segments: Sequence[Mapping[str, Verdicts]]) -> dict[str, float]:
    """p-values of the judge's error rates being the same in all segments (Pearson's test).

    Each system is tested apart, for its rates may differ from another's; the least p-value counts, corrected for the
    number of systems (Holm).
    """
    tests = {}
    for name, side in (("sensitivity", 1.0), ("specificity", 0.0)):
        of_systems = [_unlike(side, [segment[system] for segment in segments]) for system in segments[0]]
        if p_values := [p for p in of_systems if p is not None]:
            tests[name] = float(np.min(holm(np.array(p_values))))
    return tests


def _unlike(side: float, parts: Sequence[Verdicts]) -> float | None:
    """The p-value of one system's rate being the same in all segments; None where too few items are labelled."""
    right, wrong = (
        np.array([float(((one.human == side) & one.labelled & ((one.judged == side) == same)).sum()) for one in parts])
        for same in (True, False)
    )
    kept = right + wrong >= _COMPARED
    return pearson(np.stack([right[kept], wrong[kept]], axis=1))[1] if kept.sum() > 1 else None
