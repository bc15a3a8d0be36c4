"""``tallymark quantify``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tallymark.cli.commands.counted import Answer, as_json, print_answer, total_of
from tallymark.cli.commands.evaluate import class_and_column
from tallymark.cli.naming import listed
from tallymark.cli.printing import (
    positive_label,
    print_json,
    print_notes,
    print_written,
    progress_bar,
    require_report_place,
    shown_command,
)
from tallymark.errors import ColumnError, InputError
from tallymark.measures import Evaluation
from tallymark.notes import emit, strictly
from tallymark.quantify.audits.agreement import disagreement
from tallymark.quantify.audits.from_audit import audited
from tallymark.quantify.audits.samples import audit_of
from tallymark.quantify.estimation.class_drift import ClassDrift, class_drift
from tallymark.quantify.estimation.estimate import estimate
from tallymark.quantify.estimation.expected import expected
from tallymark.quantify.estimation.labelled_design import design_notes
from tallymark.quantify.estimation.mixture_test import mixture_fit
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.quantify.estimation.sensitivity import sensitivity
from tallymark.registry import QUANTIFIERS
from tallymark.sources.any_columns import is_missing
from tallymark.sources.constructors import class_panel
from tallymark.sources.duck import quoted
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted
from tallymark.sources.roles import OPTION, Roles
from tallymark.sources.rows import Rows
from tallymark.summaries.guards import hard_labels
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
    order: Sequence[str] | None = None
    expect: Sequence[str] = ()
    pos_label: str | None = None
    weight: str | None = None
    count: str | None = None
    cluster: str | None = None
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
    audit: bool = False
    inclusion: str | None = None
    as_json: bool = False
    report: str | None = None


def run(asked: Asked) -> Answer:
    """Read, estimate, print; gives back what was printed."""
    require_report_place(asked.report, asked.validation, asked.target)
    answer = _of_classes(asked) if asked.probabilities else _of_scores(asked)
    notes = answer.notes
    if asked.report is not None:
        from tallymark.reporting.pages import report

        with progress_bar(f"Writing {asked.report}") as progress:
            report(
            answer.estimates, asked.report, title=f"{Path(asked.target or asked.validation).name}: how many?", command=shown_command(), fit=answer.fit,
            expectation=answer.expectation, warnings=tuple(notes), growth=asked.growth, order=asked.order, fits=answer.fits, unseen=answer.unseen,
            known=answer.known, audit=answer.audit, progress=progress,
            )  # fmt: skip
    if asked.as_json:
        print_json("quantify", as_json(answer, asked.growth, asked.order), notes)
    else:
        print_answer(answer, asked.target or asked.validation, asked.validation, asked.growth, asked.order)
        print_notes(notes)
        print_written(asked.report)
    return answer


def _calibration(asked: Asked, name: str) -> dict[str, Any]:
    """The asked calibration, for a method that takes one."""
    takes = asked.calibration is not None and "calibration" in QUANTIFIERS[name].options
    return {"calibration": asked.calibration} if takes else {}


def _of_scores(asked: Asked) -> Answer:
    groups, methods = listed(asked.by), [QUANTIFIERS[name].name for name in listed(asked.methods) or _USUAL]
    score = _checked(asked, groups, methods)
    validation, target = _tallies(asked, score, groups)
    samples = (validation, *(target.values() if isinstance(target, Tallies) else (target,)))
    met = tuple(note for sample in samples for note in hard_labels(sample, score))
    emit(met)
    if not listed(asked.methods) and asked.threshold is None and not validation.is_probability:
        # Without a threshold only methods for any scores can be the default.
        methods = [name for name in methods if "threshold" not in QUANTIFIERS[name].options]

    def counted(name: str, sample: Tally | Tallies, **options: Any) -> Any:
        method = QUANTIFIERS[name]
        # Options of several methods go to those that have them.
        shared: dict[str, Any] = {"threshold": asked.threshold} if "threshold" in method.options else {}
        if method.uses_training_prevalence or method.trusts_probabilities:
            shared["training_prevalence"] = asked.training_prevalence
        return estimate(name, validation, sample, **shared, **options, **_calibration(asked, name))

    estimates = _each(
        methods,
        lambda name: counted(
            name,
            target,
            level=asked.level,
            population=asked.population,
            seed=asked.seed,
            interval=_kind(name, asked.interval),
        ),
    )
    audit = _audited(asked, score, groups)
    known = (float(validation.n), float(validation.positives)) if asked.target is None else None
    if audit is not None and known is not None:
        met += disagreement(
            total_of(audit),
            {name: total_of(one) for name, one in estimates.items() if QUANTIFIERS[name].shift_proof},
            known,
        )
    whole = _together(target)
    fits = mixture_fit(validation, target) if isinstance(target, Tallies) else None
    # Where groups are fitted, the fit of all rows together is shown and not judged.
    with nullcontext() if fits is None else strictly(strict=False):
        fit = mixture_fit(validation, whole)
    if known is not None:
        met += design_notes(validation, whole, fit)
    emit(met)
    corrected = [name for name in methods if QUANTIFIERS[name].shift_proof]
    unseen = None
    # Two values have no distance by which the positives' could move unseen.
    if corrected and asked.level is not None and not hard_labels(validation, score):
        unseen = sensitivity(
            validation, whole, corrected, threshold=asked.threshold, training_prevalence=asked.training_prevalence
        )
    return Answer(
        estimates,
        fit,
        _expectation(asked, validation, whole),
        fits,
        unseen,
        known=known,
        pooled={name: counted(name, whole, level=None).count for name in methods} if fits is not None else {},
        audit=audit,
        drift=_drift(asked, score, groups),
        met=met,
    )


def _audited(asked: Asked, score: str, groups: Sequence[str]) -> Prevalence | Prevalences | None:
    """What the labelled rows say as an audit of the whole file, where they are said to be one."""
    if not asked.audit:
        return None
    if asked.target is not None:
        raise InputError(
            "--audit takes the labelled rows for a random sample of one file with all rows; leave the second file out."
        )
    if asked.weight is not None or asked.count is not None:
        raise InputError(
            "--audit counts rows; leave out --weight and --count, and say with --inclusion how rows were drawn."
        )
    if asked.where is not None:
        raise InputError("--audit speaks of all rows of the file; leave --where out, and count groups with --by.")
    wanted = [
        Wanted(asked.label, "--label"),
        Wanted(score, "--score", "number"),
        *(Wanted(name, "--by") for name in groups),
    ]
    if asked.inclusion is not None:
        wanted.append(Wanted(asked.inclusion, "--inclusion", "number"))
    columns = read_files(asked.validation, wanted)
    labelled = {asked.label: np.ma.getdata(columns[asked.label])[~is_missing(columns[asked.label])]}
    positive = positive_label(labelled, asked.label, asked.pos_label)
    audit = audit_of(columns, asked.label, score, groups, asked.inclusion, [], None, positive)
    return audited(audit, asked.level or 0.95)


def _drift(asked: Asked, score: str, groups: Sequence[str]) -> ClassDrift | None:
    """Whether labelled rows of the groups contradict prior shift; None where the labelled rows do not know them."""
    if not groups or asked.weight is not None or asked.cluster is not None:
        return None
    roles = Roles(label=asked.label, scores=(score,), by=tuple(groups), count=asked.count, spelling=OPTION)
    known = None if asked.target is not None else f"{quoted(asked.label)} IS NOT NULL"
    rows = Rows(paths=asked.validation, roles=roles, where=known, drop_missing=asked.drop_missing)
    try:
        with rows.open() as table:
            table.choose_positive(asked.pos_label)
            tallies = table.tallies().of_one_model()
    except ColumnError:
        return None
    few = len(tallies) < 2 if isinstance(tallies, Tallies) else True
    return None if few or any(t.grid is not None for t in tallies.values()) else class_drift(tallies, seed=asked.seed)  # type: ignore[union-attr, arg-type]


def _checked(asked: Asked, groups: Sequence[str], methods: Sequence[str]) -> str:
    """The score column, where the options go together."""
    if asked.score is None:
        raise InputError(
            "Say which column holds the scores: --score COLUMN (or --probability CLASS=COLUMN for each class)."
        )
    if asked.growth is not None and asked.growth not in groups:
        raise InputError(f"--growth {asked.growth} is not among the columns of --by ({', '.join(groups) or 'none'}).")
    if asked.order is not None and asked.growth is None:
        raise InputError("--order goes with --growth: it is the order of the periods that growth is followed along.")
    if asked.growth is not None and asked.level is None:
        raise InputError("--growth needs intervals; leave --level 0 out.")
    _refuse_calibration(asked, methods)
    if groups and asked.population is not None:
        raise InputError("--population is the size behind one target; leave out --by, or count each group on its own.")
    return asked.score


def _refuse_calibration(asked: Asked, methods: Sequence[str]) -> None:
    if asked.calibration is not None and not any(_calibration(asked, name) for name in methods):
        takes = ", ".join(name for name in QUANTIFIERS if "calibration" in QUANTIFIERS[name].options)
        raise InputError(f"--calibration goes with {takes}; add it to --method.")


def _expectation(asked: Asked, validation: Tally, whole: Tally) -> Evaluation | None:
    """Metrics to expect at the threshold in the target, where they are asked for."""
    wanted = listed(asked.expect)
    if not wanted:
        return None
    cut = asked.threshold if asked.threshold is not None else "0.5" if validation.is_probability else None
    if cut is None:
        raise InputError("--expect needs --threshold: a number or a policy.")
    return expected(validation, whole, threshold=cut, metrics=wanted, level=asked.level or 0.95, seed=asked.seed)


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
    condition = " AND ".join(f"({part})" for part in (asked_for, asked.where) if part) or None
    shared = Roles(scores=(score,), weight=asked.weight, count=asked.count, cluster=asked.cluster, spelling=OPTION)
    with progress_bar(f"Reading {asked.validation} and {asked.target or 'its rows without a label'}") as progress:
        labelled = Rows(
            paths=asked.validation,
            roles=replace(shared, label=asked.label),
            where=known,
            drop_missing=asked.drop_missing,
            memory_limit=asked.memory_limit,
            threads=asked.threads,
            progress=progress,
        )
        target_file = asked.target or asked.validation
        unlabelled = replace(labelled, paths=target_file, roles=replace(shared, by=tuple(groups)), where=condition)
        # Both are opened first, so that a column that is not there is refused before any work.
        with labelled.open() as table, unlabelled.open() as other:
            table.choose_positive(asked.pos_label)
            if asked.target is None and not other.n:
                raise InputError(
                    f"Every row of {asked.validation!r}{' that satisfies --where' if asked.where else ''} has a label: there is nothing to "
                    "count. Rows without one are the target, or name a second file with the rows to count."
                )
            validation, target = table.tallies().of_one_model(), other.tallies().of_one_model()
    return validation, target  # type: ignore[return-value]


def _of_classes(asked: Asked) -> Answer:
    plain_only = {
        "--score": asked.score, "--by": asked.by, "--where": asked.where, "--weight": asked.weight, "--count": asked.count, "--cluster": asked.cluster,
        "--expect": asked.expect, "--population": asked.population, "--pos-label": asked.pos_label, "--growth": asked.growth, "--order": asked.order,
        "--threshold": asked.threshold, "--training-prevalence": asked.training_prevalence,
        "--interval": asked.interval != "default",
        "--drop-missing": asked.drop_missing,
        "--audit": asked.audit,
        "--memory-limit": asked.memory_limit,
        "--threads": asked.threads,
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
    validation = class_panel(truth, matrices[0], classes=classes)
    target = class_panel(scores=matrices[1], classes=classes)
    methods = [QUANTIFIERS[name].name for name in listed(asked.methods) or ("cc", "ac", "pacc", "em")]
    _refuse_calibration(asked, methods)
    return Answer(_each(methods, lambda name: estimate(
        name, validation, target, level=asked.level, seed=asked.seed,
        **_calibration(asked, name),
    )))  # fmt: skip


def _each(methods: Sequence[str], count: Callable[[str], Any]) -> dict[str, Any]:
    """What each method counts, with a bar."""
    entries: dict[str, Any] = {}
    with progress_bar("Counting") as progress:
        for name in methods:
            entries[name] = count(name)
            if progress is not None:
                progress(100.0 * len(entries) / len(methods))
    return entries
