"""Count a class in rows without labels.

The count is corrected for the classifier's errors, by several methods, and the assumption behind it is tested.

Example: tallymark quantify labelled.csv new.csv --label y --score p --method ac,ms,bayes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import typer

from tallymark.audits.checked_rows import audit_of
from tallymark.audits.prevalences import audited
from tallymark.cli.commands.evaluate import class_and_column
from tallymark.cli.count_tables import print_count
from tallymark.cli.options import (
    Called,
    ClusteredRowOptions,
    EngineOptions,
    Label,
    LevelOrNone,
    OptionGroup,
    Order,
    Seed,
    Threshold,
    column,
    columns,
    data_file,
    flag,
    names,
    number,
    text,
)
from tallymark.cli.output import ReportedOutput, progress_bar
from tallymark.cli.reading import wanted_by
from tallymark.errors import InputError, UnnamedColumnError
from tallymark.quantify.estimation.count import Count, count
from tallymark.quantify.estimation.prevalence import Prevalence, Prevalences
from tallymark.sources.any_columns import any_columns
from tallymark.sources.constructors import class_panel
from tallymark.sources.duck import Progress, quoted
from tallymark.sources.engine import Engine, engine, not_missing
from tallymark.sources.files import columns_of
from tallymark.sources.formats import Wanted
from tallymark.sources.left_out import complete_rows
from tallymark.sources.open_rows import Table
from tallymark.sources.roles import OPTION, Roles
from tallymark.summaries.class_panel import ClassPanel
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True)
class GroupOptions(OptionGroup):
    """Groups of the target."""

    heading: ClassVar[str] = "Groups"

    by: Annotated[list[str] | None, columns("Count each group of these columns")] = None
    growth: Annotated[str | None, column("Growth rates along this column of --by.")] = None
    order: Order = None


@dataclass(frozen=True)
class MethodOptions(OptionGroup):
    """How rows are counted."""

    heading: ClassVar[str] = "Methods"

    method: Annotated[
        list[str] | None,
        names("METHOD", "Quantifiers, of two classes cc, ac, ms and bayes; `tallymark quantifiers` lists them"),
    ] = None
    threshold: Threshold = None
    calibration: Annotated[str | None, text("METHOD", "Calibrate for em first: bcts or vs.")] = None
    training_prevalence: Annotated[
        float | None, number("SHARE", "Share of positives the model was trained at (em, bl).")
    ] = None
    population: Annotated[float | None, number("COUNT", "Size of the population the target is from (or is).")] = None
    level: LevelOrNone = 0.95
    interval: Annotated[
        str, text("METHOD", "default, analytic, profile or bootstrap, for the methods that have it.")
    ] = "default"
    seed: Seed = 0
    called: Called = None

    def given(self) -> dict[str, Any]:
        """The options of ``tm.quantify.count``."""
        return {name: value for name, value in vars(self).items() if name != "method"} | {"level": self.level or None}


@dataclass(frozen=True)
class AuditOptions(OptionGroup):
    """Labelled rows as a random sample of the file."""

    heading: ClassVar[str] = "Audit"

    audit: Annotated[bool, flag("audit", "The labelled rows are a random sample: count by them too.")] = False
    inclusion: Annotated[str | None, column("Column with the probability with which a row was drawn.", "number")] = None


def run(
    validation: Annotated[
        str, data_file("VALIDATION", "Labelled rows; with no TARGET, rows without a label are the target.")
    ],
    label: Label,
    groups: GroupOptions,
    methods: MethodOptions,
    audit: AuditOptions,
    rows: ClusteredRowOptions,
    engine: EngineOptions,
    output: ReportedOutput,
    target: Annotated[str | None, data_file("[TARGET]", "Rows to count, with scores of the same model.")] = None,
    score: Annotated[str | None, column("Score column, in both files.", "number")] = None,
    probability: Annotated[
        list[str] | None,
        typer.Option(metavar="CLASS=COLUMN", help="Score column of a class, once per class, to count more than two."),
    ] = None,
    expect: Annotated[list[str] | None, names("METRIC", "Metrics at --threshold to expect in the target")] = None,
) -> Count:
    """Read, count, print; gives back what was printed."""
    output.require_place(validation, target)
    files = Files(validation, target, label)
    if probability:
        _refuse_for_classes(groups, methods, audit, rows, engine, {"score": score, "expect": expect})
        panels = _read_classes(files, probability)
        with progress_bar("Counting") as progress:
            result = count(
                *panels,
                methods.method or (),
                progress=progress,
                level=methods.level or None,
                seed=methods.seed,
                calibration=methods.calibration,
            )
    else:
        if score is None:
            raise UnnamedColumnError(
                "Say which column holds the scores: --score COLUMN (or --probability CLASS=COLUMN for each class)."
            )
        _check_options(files, groups, methods, audit, rows)
        samples = _read_scores(files, score, groups.by or [], audit, rows, engine, methods.level or 0.95)
        with progress_bar("Counting") as progress:
            result = count(
                samples.validation,
                samples.target,
                methods.method or (),
                same_population=target is None,
                audit=samples.audit,
                labelled=samples.labelled,
                expect=expect or (),
                growth=groups.growth,
                order=groups.order or None,
                progress=progress,
                **methods.given(),
            )
    output.write_report(result, target, validation, title=f"{Path(target or validation).name}: how many?")
    if output.as_json:
        output.answer("quantify", result.to_dict(), result.warnings)
    else:
        print_count(result, f"{target or validation}: counted with {validation}", output)
        output.notes(result.warnings)
        output.say_where()
    return result


@dataclass(frozen=True)
class Files:
    """Where the labelled rows and the rows to count are."""

    validation: str
    #: None where rows of the same file without a label are the target.
    target: str | None
    label: str


@dataclass(frozen=True)
class Samples:
    """What a count is made from."""

    validation: Tally
    target: Tally | Tallies
    audit: Prevalence | Prevalences | None = None
    #: Labelled rows by group; None where they do not have the groups, or there are none.
    labelled: Tallies | None = None


def _refuse_for_classes(
    groups: GroupOptions,
    methods: MethodOptions,
    audit: AuditOptions,
    rows: ClusteredRowOptions,
    engine: EngineOptions,
    more: Mapping[str, Any],
) -> None:
    """Refuse options that have no meaning for more than two classes."""
    usual, everywhere = vars(MethodOptions()), {"method", "calibration", "level", "seed"}
    given = {name: value for group in (groups, audit, rows, engine) for name, value in vars(group).items()} | dict(more)
    given |= {name: value != usual[name] for name, value in vars(methods).items() if name not in everywhere}
    if used := [f"--{name.replace('_', '-')}" for name, value in given.items() if value]:
        raise InputError(f"{', '.join(used)}: these go with --score, not with --probability.")


def _check_options(
    files: Files, groups: GroupOptions, methods: MethodOptions, audit: AuditOptions, rows: ClusteredRowOptions
) -> None:
    """Refuse options that do not go together."""
    by, growth = groups.by or [], groups.growth
    checks = {
        f"--growth {growth} is not among the columns of --by ({', '.join(by) or 'none'}).": (
            growth is not None and growth not in by
        ),
        "--order goes with --growth: it is the order of the periods that growth is followed along.": (
            bool(groups.order) and growth is None
        ),
        "--growth needs intervals; leave --level 0 out.": growth is not None and not methods.level,
        "--population is the size behind one target; leave out --by, or count each group on its own.": (
            bool(by) and methods.population is not None
        ),
        "--audit takes the labelled rows for a random sample of one file with all rows; leave the second file out.": (
            audit.audit and files.target is not None
        ),
        "--audit counts rows; leave out --weight and --count, and say with --inclusion how rows were drawn.": (
            audit.audit and (rows.weight is not None or rows.count is not None)
        ),
        "--audit is about all rows of the file; leave --where out, and count groups with --by.": (
            audit.audit and rows.where is not None
        ),
    }
    for message, refused in checks.items():
        if refused:
            raise InputError(message)


def _read_scores(
    files: Files,
    score: str,
    by: list[str],
    audit: AuditOptions,
    rows: ClusteredRowOptions,
    options: EngineOptions,
    level: float,
) -> Samples:
    """Both samples, and what else the labelled rows tell; each file is opened once."""
    shared = Roles(scores=(score,), weight=rows.weight, count=rows.count, cluster=rows.cluster, spelling=OPTION)
    labelled, unlabelled = replace(shared, label=files.label, pos_label=rows.pos_label), replace(shared, by=tuple(by))
    one_file, name = files.target is None, quoted(files.label)
    wanted = [*labelled.wanted, *wanted_by(audit)]
    wanted += unlabelled.wanted if one_file else []
    with (
        progress_bar(f"Reading {files.validation} and {files.target or 'its rows without a label'}") as progress,
        _opened(files.validation, wanted, options, progress, rows.where if one_file else None) as source,
        _same_or_opened(source, files.target, unlabelled, options, progress, rows.where) as other,
    ):
        validation_rows = _table(source, labelled, f"{name} IS NOT NULL" if one_file else None, rows)
        chosen = [part for part in (f"{name} IS NULL" if one_file else None, rows.where) if part]
        counted = _table(other, unlabelled, " AND ".join(f"({part})" for part in chosen) or None, rows)
        if one_file and not counted.n:
            satisfying = " that satisfies --where" if rows.where else ""
            raise InputError(
                f"Every row of {files.validation!r}{satisfying} has a label: there is nothing to count. Rows without "
                "one "
                "are the target, or name a second file with the rows to count."
            )
        validation, target = validation_rows.tallies().of_one_model(), counted.tallies().of_one_model()
        samples = Samples(validation, target)  # type: ignore[arg-type]
        if audit.audit:
            columns = columns_of(source, wanted)
            checked = audit_of(columns, files.label, score, by, audit.inclusion, [], None, rows.pos_label)
            samples = replace(samples, audit=audited(checked, level))
        if by and rows.weight is None and rows.cluster is None and set(by) <= set(source.types):
            where = not_missing(by, validation_rows.where) if rows.drop_missing else validation_rows.where
            groups = Table(source, replace(labelled, by=tuple(by)), where).tallies()
            samples = replace(samples, labelled=_exact(groups.of_one_model()))
    return samples


def _opened(file: str, wanted: Any, options: EngineOptions, progress: Progress | None, where: str | None) -> Any:
    return engine(
        file, wanted, where=where, memory_limit=options.memory_limit, threads=options.threads, progress=progress
    )


@contextmanager
def _same_or_opened(
    source: Engine,
    target: str | None,
    roles: Roles,
    options: EngineOptions,
    progress: Progress | None,
    where: str | None,
) -> Iterator[Engine]:
    """The engine of the target: that of the labelled rows where both are in one file."""
    if target is None:
        yield source
    else:
        with _opened(target, roles.wanted, options, progress, where) as other:
            yield other


def _table(source: Engine, roles: Roles, where: str | None, rows: ClusteredRowOptions) -> Table:
    """Rows of an open file that satisfy a condition, without those that miss a value where they are to be dropped."""
    if rows.drop_missing:
        where = complete_rows(source, [name for name, *_ in roles.wanted], where)
    return Table(source, roles, where)


def _exact(tallies: Tally | Tallies) -> Tallies | None:
    """Groups whose scores are all kept; quantised ones cannot be tested for drift."""
    if isinstance(tallies, Tally) or any(tally.grid is not None for tally in tallies.values()):
        return None
    return tallies


def _read_classes(files: Files, probability: list[str]) -> tuple[ClassPanel, ClassPanel]:
    """Both samples with one score per class."""
    pairs = [class_and_column(written) for written in probability]
    scores = [Wanted(name, "--probability", "number") for _, name in pairs]
    columns_read = any_columns(files.validation, [Wanted(files.label, "--label"), *scores])
    truth = columns_read[files.label]
    if files.target is None:
        missing = np.ma.getmaskarray(truth)
        if not missing.any():
            raise InputError(
                f"Every row of {files.validation!r} has a label; name a second file, or leave labels empty in the rows "
                "to count."
            )
        truth = np.asarray(truth[~missing])
        labelled, unlabelled = ({name: columns_read[name][side] for _, name in pairs} for side in (~missing, missing))
    else:
        labelled, unlabelled = columns_read, any_columns(files.target, scores)
    present = {str(value): value for value in np.unique(truth)}
    if absent := [label for label, _ in pairs if label not in present]:
        raise InputError(
            f"--probability names {absent[0]!r}, which is not a label; {files.label!r} has {', '.join(present)}."
        )
    matrices = [np.column_stack([part[name] for _, name in pairs]) for part in (labelled, unlabelled)]
    classes = [present[label] for label, _ in pairs]
    return class_panel(truth, matrices[0], classes=classes), class_panel(scores=matrices[1], classes=classes)
