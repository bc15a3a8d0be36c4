"""``tallymark quantify`` and ``tallymark from-counts``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallymark._show import number
from tallymark.cli.evaluating import class_and_column
from tallymark.cli.printing import (
    masses_wanted,
    positive_label,
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
    with_limits,
)
from tallymark.errors import GuardWarning, InputError
from tallymark.quantify.asking import options_of
from tallymark.quantify.counts import from_counts
from tallymark.quantify.estimating import estimate
from tallymark.quantify.prevalence import Prevalence, Prevalences
from tallymark.quantify.shift import MixtureFit, MixtureFits, mixture_fit
from tallymark.quantify.unseen import Sensitivity, sensitivity
from tallymark.quantify.without_labels import expected
from tallymark.registry import QUANTIFIERS
from tallymark.results import Evaluation, Note
from tallymark.sources.engine import quoted
from tallymark.sources.files import read_files, require_in
from tallymark.sources.formats import Wanted
from tallymark.sources.scan import scan
from tallymark.summaries.confusion import Confusion
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally

#: What is counted with when no method is named: one in closed form, one robust one, and one for any shift of the prior.
_USUAL = ("cc", "ac", "ms", "bayes")


@dataclass(frozen=True)
class Asked:
    """What the command line asked for."""

    validation: str
    target: str | None
    label: str
    score: str | None
    probabilities: Sequence[str] = ()
    methods: Sequence[str] = ()
    by: Sequence[str] = ()
    growth: str | None = None
    expect: Sequence[str] = ()
    pos_label: str | None = None
    weight: str | None = None
    count: str | None = None
    where: str | None = None
    threshold: str | None = None
    calibration: str | None = None
    training_prevalence: float | None = None
    population: float | None = None
    level: float | None = 0.95
    interval: str = "default"
    seed: int = 0
    drop_missing: bool = False
    memory_limit: str | None = None
    threads: int | None = None
    strict: bool = False
    as_json: bool = False
    report: str | None = None


@dataclass(frozen=True)
class Answer:
    """Everything that was estimated."""

    estimates: dict[str, Any]
    fit: MixtureFit | None = None
    expectation: Evaluation | None = None
    #: The fit of each group, where there are groups.
    fits: MixtureFits | None = None
    #: What a shift that went unseen would do.
    unseen: Sensitivity | None = None
    #: Rows of the same file that are labelled, and the positives among them.
    known: tuple[float, float] | None = None
    #: What each method counts in all groups put together, where there are groups.
    pooled: Mapping[str, float] = field(default_factory=dict)


def run(asked: Asked) -> Answer:
    """Read, estimate, print; gives back what was printed."""
    require_report_place(asked.report, asked.validation, asked.target)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = _of_classes(asked) if asked.probabilities else _of_scores(asked)
    found = (Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, GuardWarning))
    notes = list(dict.fromkeys(found))
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(
            answer.estimates, asked.report, title=f"{asked.target or asked.validation}: how many?", fit=answer.fit,
            expectation=answer.expectation, warnings=tuple(notes), growth=asked.growth, fits=answer.fits, unseen=answer.unseen,
            known=answer.known, progress=progress,
            )  # fmt: skip
    if asked.as_json:
        print_json(_json(answer, asked) | {"warnings": [vars(note) for note in notes]})
    else:
        _print(answer, asked)
        print_notes(notes)
        print_written(asked.report)
    return answer


def _split(parts: Iterable[str]) -> list[str]:
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]


def _calibration(asked: Asked, name: str) -> dict[str, Any]:
    """The asked calibration, for a method that takes one."""
    takes = asked.calibration is not None and "calibration" in options_of(QUANTIFIERS[name])
    return {"calibration": asked.calibration} if takes else {}


def _of_scores(asked: Asked) -> Answer:
    if asked.score is None:
        raise InputError(
            "Say which column holds the scores: --score COLUMN (or --probability CLASS=COLUMN for each class)."
        )
    groups, methods = _split(asked.by), _split(asked.methods) or list(_USUAL)
    methods = [QUANTIFIERS[name].name for name in methods]
    if asked.growth is not None and asked.growth not in groups:
        raise InputError(f"--growth {asked.growth} is not among the columns of --by ({', '.join(groups) or 'none'}).")
    if asked.growth is not None and asked.level is None:
        raise InputError("--growth needs intervals; leave --level 0 out.")
    validation, target = _tallies(asked, asked.score, groups)
    if asked.calibration is not None and not any(_calibration(asked, name) for name in methods):
        raise InputError("--calibration goes with em; add it to --method.")
    if groups and asked.population is not None:
        raise InputError("--population is the size behind one target; leave out --by, or count each group on its own.")
    if not _split(asked.methods) and asked.threshold is None and not validation.is_probability:
        # Without a threshold only methods for any scores can be the default.
        methods = [name for name in methods if "threshold" not in options_of(QUANTIFIERS[name])]
    estimates = _each(methods, lambda name: estimate(
        name, validation, target, threshold=asked.threshold,
        training_prevalence=asked.training_prevalence, level=asked.level, population=asked.population, seed=asked.seed,
        interval=_kind(name, asked.interval), strict=asked.strict,
        **_calibration(asked, name),
    ))  # fmt: skip
    whole = _together(target)
    wanted = _split(asked.expect)
    expectation = None
    if wanted:
        cut = asked.threshold if asked.threshold is not None else "0.5" if validation.is_probability else None
        if cut is None:
            raise InputError("--expect needs --threshold: a number or a policy.")
        expectation = expected(
            validation, whole, threshold=cut, metrics=wanted, level=asked.level or 0.95, seed=asked.seed
        )
    fits = mixture_fit(validation, target, strict=asked.strict) if isinstance(target, Tallies) else None
    with warnings.catch_warnings():
        # What the groups have said already.
        warnings.simplefilter("ignore" if fits is not None else "always")
        fit = mixture_fit(validation, whole, strict=asked.strict)
    sure = [name for name in methods if QUANTIFIERS[name].shift_proof]
    unseen = None
    if sure and asked.level is not None:
        unseen = sensitivity(
            validation, whole, sure, threshold=asked.threshold, training_prevalence=asked.training_prevalence
        )
    known = (float(validation.n), float(validation.positives)) if asked.target is None else None
    pooled = {}
    if isinstance(target, Tallies):
        pooled = {
            name: estimate(
                name, validation, whole, threshold=asked.threshold, training_prevalence=asked.training_prevalence, level=None,
                **_calibration(asked, name),
            ).count
            for name in methods
        }  # fmt: skip
    return Answer(estimates, fit, expectation, fits, unseen, known, pooled)


def _kind(name: str, interval: str) -> Any:
    """The asked kind of interval where the method has it, else its own."""
    method = QUANTIFIERS[name]
    has = {"analytic": method.interval == "analytic", "profile": method.densities is not None}
    return interval if has.get(interval, True) else "default"


def _together(target: Tally | Tallies) -> Tally:
    if isinstance(target, Tally):
        return target
    first, *rest = target.values()
    return first.merge(*rest)


def _tallies(asked: Asked, score: str, groups: Sequence[str]) -> tuple[Tally, Tally | Tallies]:
    """The validation sample and the target, from one file or two."""
    name = quoted(asked.label)
    if asked.target is None:
        known, asked_for = f"{name} IS NOT NULL", f"{name} IS NULL"
    else:
        known, asked_for = None, None
    shared = [Wanted(score, "--score", "number"), *masses_wanted(asked.weight, asked.count)]
    require_in(asked.validation, [Wanted(asked.label, "--label"), *shared])
    require_in(asked.target or asked.validation, [*shared, *(Wanted(group, "--by") for group in groups)])
    positive = positive_label(asked.validation, asked.label, asked.pos_label)
    options: dict[str, Any] = {
        "score": score, "weight": asked.weight, "count": asked.count, "drop_missing": asked.drop_missing,
        "memory_limit": asked.memory_limit, "threads": asked.threads, "strict": asked.strict,
    }  # fmt: skip
    condition = " AND ".join(f"({part})" for part in (asked_for, asked.where) if part) or None
    with progress_bar(f"Reading {asked.validation}") as progress:
        validation = scan(
            asked.validation, label=asked.label, where=known, pos_label=positive, progress=progress, **options
        )
    with progress_bar(f"Reading {asked.target or asked.validation}") as progress:
        target = scan(asked.target or asked.validation, by=groups, where=condition, progress=progress, **options)
    return validation, target


def _of_classes(asked: Asked) -> Answer:
    plain_only = {
        "--score": asked.score, "--by": asked.by, "--where": asked.where, "--weight": asked.weight, "--count": asked.count,
        "--expect": asked.expect, "--population": asked.population, "--pos-label": asked.pos_label, "--growth": asked.growth,
        "--threshold": asked.threshold, "--training-prevalence": asked.training_prevalence,
        "--interval": asked.interval != "default",
    }  # fmt: skip
    if used := [option for option, value in plain_only.items() if value]:
        raise InputError(f"{', '.join(used)}: these go with --score, not with --probability.")
    pairs = [class_and_column(text) for text in asked.probabilities]
    columns = [Wanted(column, "--probability", "number") for _, column in pairs]
    known = read_files(asked.validation, [Wanted(asked.label, "--label"), *columns])
    truth = known[asked.label]
    if asked.target is None:
        missing = np.ma.getmaskarray(truth)
        parts = [{column: known[column][side] for _, column in pairs} for side in (~missing, missing)]
        if not missing.any():
            raise InputError(
                f"Every row of {asked.validation!r} has a label; name a second file, or leave labels empty in the rows to count."
            )
        truth = np.asarray(truth[~missing])
        labelled, unknown = parts
    else:
        labelled, unknown = known, read_files(asked.target, columns)
    present = {str(value): value for value in np.unique(truth)}
    if absent := [label for label, _ in pairs if label not in present]:
        raise InputError(
            f"--probability names {absent[0]!r}, which is not a label; {asked.label!r} has {', '.join(present)}."
        )
    matrices = [np.column_stack([part[column] for _, column in pairs]) for part in (labelled, unknown)]
    classes = [present[label] for label, _ in pairs]
    methods = [QUANTIFIERS[name].name for name in _split(asked.methods) or ("cc", "ac", "pacc", "em")]
    return Answer(_each(methods, lambda name: estimate(
        name, (truth, matrices[0]), matrices[1], classes=classes, level=asked.level, seed=asked.seed,
        **_calibration(asked, name),
    )))  # fmt: skip


def _each(methods: Sequence[str], count: Callable[[str], Any]) -> dict[str, Any]:
    """What each method counts, with a bar."""
    found: dict[str, Any] = {}
    with progress_bar("Counting") as progress:
        for name in methods:
            found[name] = count(name)
            if progress is not None:
                progress(100.0 * len(found) / len(methods))
    return found


def _lines(answer: Answer) -> list[tuple[dict[str, Any] | None, str | None, Prevalence]]:
    """Each estimate with its group and class; the group of a total is None."""
    found: list[tuple[dict[str, Any] | None, str | None, Prevalence]] = []
    for entry in answer.estimates.values():
        if isinstance(entry, Prevalence):
            found.append((None, None, entry))
        elif isinstance(entry, Prevalences):
            found += [(dict(zip(entry.names, key, strict=True)), None, one) for key, one in entry.entries.items()]
            found.append((None, None, entry.total))
        else:
            found += [(None, str(label), one) for label, one in entry.items()]
    return found


def _subtotals(answer: Answer) -> list[tuple[dict[str, Any], Prevalence]]:
    """Sums over all keys but one, where there are several."""
    return [
        ({name: key[0]}, one)
        for entry in answer.estimates.values()
        if isinstance(entry, Prevalences)
        for name, by in entry.subtotals().items()
        for key, one in by.entries.items()
    ]


def _growth(answer: Answer, column: str) -> list[dict[str, Any]]:
    """Growth from each value of a column to the next, by method and group."""
    return [{"method": name, **line} for name, entry in answer.estimates.items() for line in entry.growths(column)]


def _with_known(one: Prevalence, known: tuple[float, float]) -> dict[str, Any]:
    """A count with the labelled rows of the same population added."""
    rows, positives = known
    ends = (
        {}
        if one.low is None or one.high is None
        else {"low": one.low * one.n + positives, "high": one.high * one.n + positives}
    )
    return {"method": one.method, "count": one.count + positives, **ends, "n": one.n + rows}


def _totals(answer: Answer) -> list[Prevalence]:
    return [entry.total if isinstance(entry, Prevalences) else entry for entry in answer.estimates.values()
            if isinstance(entry, Prevalence | Prevalences)]  # fmt: skip


def _json(answer: Answer, asked: Asked) -> dict[str, Any]:
    found: dict[str, Any] = {"estimates": [
        {"method": one.method, "group": group, **({"class": label} if label is not None else {}), **_without_method(one)}
        for group, label, one in _lines(answer)
    ]}  # fmt: skip
    if subtotals := _subtotals(answer):
        found["subtotals"] = [
            {"method": one.method, "group": group, **_without_method(one)} for group, one in subtotals
        ]
    if asked.growth is not None:
        found["growth"] = _growth(answer, asked.growth)
    if answer.known is not None:
        rows, positives = answer.known
        found["known"] = {"n": rows, "positives": positives}
        found["with_known"] = [_with_known(one, answer.known) for one in _totals(answer) if one.reason is None]
    if answer.pooled:
        found["pooled"] = dict(answer.pooled)
    if answer.fit is not None:
        found["fit"] = answer.fit.to_dict()
    if answer.fits is not None:
        found["fits"] = answer.fits.to_dict()
    if answer.unseen is not None:
        found["sensitivity"] = answer.unseen.to_dict()
    if answer.expectation is not None:
        found["expected"] = answer.expectation.to_dict()
    return found


def _without_method(one: Prevalence) -> dict[str, Any]:
    return {name: value for name, value in one.to_dict().items() if name != "method"}


def _print(answer: Answer, asked: Asked) -> None:
    lines = _lines(answer)
    first = lines[0][2]
    level = "" if first.level is None else f", {100 * first.level:g} % intervals"
    print_text(f"{asked.target or asked.validation}: counted with {asked.validation}{level}", "bold")
    groups = list(lines[0][0] or ())
    classes = lines[0][1] is not None
    heads = [("method", "left"), *((name, "left") for name in groups), *([("class", "left")] if classes else [])]
    heads += [("prevalence", "right"), ("count", "right"), ("of", "right"), ("interval", "prose")]
    subtotals = _subtotals(answer)
    rows = []
    for group, label, one in [*lines, *((group, None, one) for group, one in subtotals)]:
        # A sum is marked by what it sums over.
        named = [str(group[name]) if group is not None and name in group else "(all)" for name in groups]
        shown = [one.method, *named, *([label or ""] if classes else [])]
        if one.reason is not None:
            rows.append([*shown, "–", "–", number(one.n), one.reason])
            continue
        share, count = number(one.prevalence), f"{one.count:.0f}"
        if one.low is not None and one.high is not None:
            share = with_limits(one.prevalence, one.low, one.high)
            count += f" ({one.low * one.n:.0f}–{one.high * one.n:.0f})"
        rows.append([*shown, share, count, number(one.n), one.interval or ""])
    print_table(table("", heads, rows))
    if asked.growth is not None:
        others = [name for name in groups if name != asked.growth]
        columns = [("method", "left"), *((name, "left") for name in others), ("from", "left"), ("to", "left")]
        print_table(table("", [*columns, ("growth of the count", "right")], [
            [line["method"], *(str(line["group"][name]) if line["group"] else "(all)" for name in others), str(line["from"]),
             str(line["to"]), line["reason"] or _percent(line["growth"], line["low"], line["high"])]
            for line in _growth(answer, asked.growth)
        ]))  # fmt: skip
    if answer.expectation is not None:
        ev = answer.expectation
        print_text(f"\nExpected at threshold {number(ev.threshold)} and prevalence {number(ev.prevalence)}", "bold")
        print_table(table("", [("metric", "left"), ("value", "right")], [
            [m.name, m.reason or (number(m.value) if m.low is None or m.high is None else with_limits(m.value, m.low, m.high))]
            for m in ev.values()
        ]))  # fmt: skip
    for line in _remarks(answer):
        print_text(line, "dim")


#: A sum of groups further from the count of all rows together than this, relatively, is worth a word.
_APART = 0.05


def _remarks(answer: Answer) -> list[str]:
    """What must be said beside the numbers."""
    found = []
    totals = _totals(answer)
    if answer.known is not None:
        rows, positives = answer.known
        sums = ", ".join(f"{one.method} {one.count + positives:.0f}" for one in totals if one.reason is None)
        found.append(
            f"With the {number(rows)} labelled rows of the same file, {number(positives)} of them positive: {sums}."
        )
    for one in totals:
        pooled = answer.pooled.get(one.method)
        if pooled is not None and one.reason is None and abs(one.count - pooled) > _APART * max(one.count, pooled):
            found.append(
                f"{one.method}: the groups add up to {one.count:.0f}, but counted together they have {pooled:.0f}; their scores do "
                "not fit one and the same pair of classes."
            )
    naive = [name for name in answer.estimates if not QUANTIFIERS[name].shift_proof]
    for name in naive:
        right = next((one.details.get("right_at") for one in totals if one.method == name and one.details), None)
        where = "" if right is None else f"; right only at a prevalence of {number(right)}"
        found.append(f"{name}: not corrected for the classifier's errors{where}.")
    if answer.fits is not None:
        found.append(f"Fit by group: {answer.fits.verdict}.")
    elif answer.fit is not None:
        found.append(f"Fit: {answer.fit.verdict} (p = {answer.fit.p_value:.3g}).")
    if answer.unseen is not None:
        found.append(f"Sensitivity: {answer.unseen.sentence}")
    return found


def _percent(value: float, low: float, high: float) -> str:
    return f"{100 * value:+.1f} % ({100 * low:+.1f} to {100 * high:+.1f} %)"


def run_from_counts(
    cells: tuple[int, int, int, int], predicted_positive: float, n: float, methods: Sequence[str],
    population: float | None, level: float, seed: int, *, as_json: bool,
) -> dict[str, Prevalence]:  # fmt: skip
    """Estimate from an audit table, print; gives back what was printed."""
    tp, fn, fp, tn = cells
    audit = Confusion(np.array([[tn, fp], [fn, tp]]), (0, 1), positive=1)
    found = {
        name: from_counts(audit, predicted_positive=predicted_positive, n=n, method=name, level=level, population=population, seed=seed)
        for name in _split(methods) or ["cc", "ac", "bayes"]
    }  # fmt: skip
    if as_json:
        print_json({"estimates": [{"group": None, **one.to_dict()} for one in found.values()], "warnings": []})
        return found
    rows = [
        [name, "–", "–", one.reason] if one.reason is not None or one.low is None or one.high is None else
        [name, with_limits(one.prevalence, one.low, one.high), f"{one.count:.0f} ({one.low * one.n:.0f}–{one.high * one.n:.0f})", one.interval or ""]
        for name, one in found.items()
    ]  # fmt: skip
    title = f"{predicted_positive:g} of {n:g} called positive; audit tp {tp}, fn {fn}, fp {fp}, tn {tn}"
    print_text(title, "bold")
    heads = [("method", "left"), ("prevalence", "right"), ("count", "right"), ("interval", "prose")]
    print_table(table("", heads, [[str(cell) for cell in row] for row in rows]))
    return found
