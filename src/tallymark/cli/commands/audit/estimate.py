"""Estimate counts and metrics from rows that were checked.

It says how many positives there are among all rows, and how good the predictions are.

Example: tallymark audit estimate planned.parquet check.csv --score p --threshold 0.5 --inclusion inclusion
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallymark import audits
from tallymark._check import Label, TypedLabel, named_label
from tallymark._numbers import count_with_limits, counted, with_limits
from tallymark._numbers import number as shown_number
from tallymark.audits.checked_rows import without_verdict
from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.estimates import BinaryAuditEstimate
from tallymark.cli.commands.audit.options import (
    INCLUSION,
    By,
    Publish,
    Sizes,
    Threshold,
    Value,
    print_classes,
    print_publication,
    sizes_of,
)
from tallymark.cli.layout import table
from tallymark.cli.options import Level, OptionGroup, PosLabel, Where, column, columns, data_file, text
from tallymark.cli.output import Output, ReportedOutput, progress_bar
from tallymark.cli.reading import wanted_by
from tallymark.errors import InputError, shown
from tallymark.notes import Note, emit
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.sources.any_columns import any_columns, is_missing, numbers
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted
from tallymark.sources.same_rows import require_same_rows


@dataclass(frozen=True)
class CheckOptions(OptionGroup):
    """Which rows were checked, and how they were drawn."""

    heading: ClassVar[str] = "Checked rows"

    label: Annotated[str, column("Column with the verdict; empty where a row was not checked.", "class")] = "checked"
    inclusion: Annotated[str | None, column("Column with the probability with which a row was drawn.", "number")] = None
    stratum: Annotated[list[str] | None, columns("Columns that make the strata")] = None
    cluster: Annotated[str | None, column("Column of the clusters that were drawn and checked whole.")] = None
    id: Annotated[str | None, column("Column that identifies a row, in FILE and in CHECKED.")] = None
    pos_label: PosLabel = None


@dataclass(frozen=True)
class EstimateOptions(OptionGroup):
    """What is estimated."""

    score: Annotated[str | None, column("Column with the score.", "number")] = None
    threshold: Threshold = None
    predicted: Annotated[str | None, column("Column with the predicted class.", "class")] = None
    by: By = None
    value: Value = None
    estimator: Annotated[
        str | None, text("METHOD", "ppi, expansion, difference, ratio or greg; left out, the one that fits.")
    ] = None
    level: Level = 0.95


def run(
    file: Annotated[str, data_file("FILE", "Every row of the target (or the checked rows alone, with --inclusion).")],
    checks: CheckOptions,
    options: EstimateOptions,
    output: ReportedOutput,
    checked: Annotated[
        str | None, data_file("[CHECKED]", "The checked rows, with a column that says which rows of FILE they are.")
    ] = None,
    row: Annotated[
        str, text("COLUMN", "Without --id: column of CHECKED with the place of each row in FILE, from 0.")
    ] = "row",
    where: Where = None,
    size: Sizes = None,
    publish: Publish = None,
    pool: Annotated[
        str | None, text("CLASS", "With --by: also the share of this class in each group, pooled over the groups.")
    ] = None,
) -> None:
    """Read, estimate, print."""
    output.require_place(file, checked)
    wanted = [one for one in wanted_by(options, checks) if checked is None or one.column != checks.label]
    if checked is not None and where is not None:
        raise InputError("--where would change which row of FILE a checked row is; filter the file first.")
    if checked is not None and not wanted:
        raise InputError("Name a column of FILE, such as --score, so that its rows can be counted.")
    if size is not None and checked is not None:
        raise InputError("--size is for the checked rows alone; leave CHECKED out and pass them as FILE.")
    if checks.inclusion is None and not checks.stratum:
        _require_equal_chances(file, checked)
    notes: tuple[Note, ...] = ()
    with progress_bar(f"Reading {file}"):
        columns = any_columns(file, wanted, where=where)
        if checked is not None:
            rows = len(next(iter(columns.values())))
            places = _Places(file, checked, row, checks.id, None if checks.id is None else columns[checks.id])
            columns[checks.label], notes = _verdicts(places, checks.label, rows)
            _refuse_lost_verdicts(places, checks.label, columns[checks.label])
            emit(notes)
    sizes = None if size is None else _typed(sizes_of(size), columns, checks.stratum)
    estimate = audits.estimate(columns, **vars(checks), **vars(options), size=sizes)
    estimate = replace(estimate, warnings=(*notes, *estimate.warnings))
    decisions = None if publish is None else audits.publication(estimate, publish)
    shares = None if pool is None else audits.pooled(estimate, _class_of(estimate, pool))
    output.write_report(estimate.published_by(decisions), file)
    if output.as_json:
        rule = {} if decisions is None else {"publication": decisions.to_dict()}
        rule |= {} if shares is None else {"pooled": shares.to_dict()}
        output.answer("audit estimate", estimate.to_dict() | rule, estimate.warnings)
        return
    if isinstance(estimate, BinaryAuditEstimate):
        _print(estimate, file, output)
    else:
        print_classes(estimate, file, output)
    print_publication(decisions, output)
    if shares is not None:
        output.text(f"{shares.heading()}.", "bold")
        output.rows(shares.rows())
    output.notes(estimate.warnings)
    output.say_where()


def _class_of(estimate: AuditEstimate, typed: str) -> Label:
    """The class that was typed."""
    return named_label(TypedLabel(typed), list(estimate.classes))


def _require_equal_chances(file: str, checked: str | None) -> None:
    """Refuse checked rows that a plan drew with different probabilities, unless an option says to use these."""
    rows = file if checked is None else checked
    with engine(rows) as source:
        if INCLUSION not in source.types:
            return
        chances = {cell for cell in source.cells([INCLUSION])[INCLUSION] if cell}
    # Drawn at random all rows have one probability; but the list alone does not say of how many rows it is a sample.
    if len(chances) > 1 or (checked is None and chances - {"1", "1.0"}):
        where = (
            "" if checked is None else f", and for FILE the table that audit plan --all wrote (or leave {file!r} out)"
        )
        raise InputError(
            f"{rows!r} has the probabilities with which its rows were drawn, in the column {INCLUSION!r}: add "
            "--inclusion "
            f"{INCLUSION}{where}. Where rows were drawn otherwise, rename that column."
        )


@dataclass(frozen=True)
class _Places:
    """How the rows of the list of checked rows are found in the file: by their ids, or by their places."""

    file: str
    checked: str
    row: str
    id: str | None
    #: The ids of the rows of the file.
    ids: NDArray[Any] | None

    @property
    def key(self) -> Wanted:
        """The column of the list that says which row of the file each is."""
        return Wanted(self.row, "--row", "number") if self.id is None else Wanted(self.id, "--id")

    def of(self, column: NDArray[Any], rows: int) -> NDArray[np.int64]:
        """The place in the file of each row of the list."""
        at = self._by_place(column, rows) if self.ids is None else self._by_id(column)
        repeated, counts = np.unique(at, return_counts=True)
        if (counts > 1).any():
            which = repeated[counts > 1] if self.ids is None else np.asarray(self.ids)[repeated[counts > 1]]
            raise InputError(
                f"{self.checked!r} has the rows {shown(which.tolist(), 5)} more than once; keep one of each."
            )
        return at

    def _by_place(self, column: NDArray[Any], rows: int) -> NDArray[np.int64]:
        places = numbers(column, self.row)
        if not (np.isfinite(places) & (places == np.floor(places)) & (places >= 0) & (places < rows)).all():
            raise InputError(
                f"{self.row} of {self.checked!r} must give places from 0 to {rows - 1}, the rows of {self.file!r}."
            )
        return places.astype(np.int64)

    def _by_id(self, column: NDArray[Any]) -> NDArray[np.int64]:
        if (missing := int(is_missing(column).sum())) > 0:
            raise InputError(
                f"{self.checked!r} lists {counted(missing, 'row')} without a value of {self.id}; fill it in."
            )
        places = {name: place for place, name in enumerate(np.asarray(self.ids).tolist())}
        given = np.ma.getdata(column).tolist()
        if absent := [name for name in given if name not in places]:
            raise InputError(
                f"{self.file!r} has no row with the {self.id} {shown(absent, 5)}, which {self.checked!r} lists; it "
                "may be another file, or another spelling."
            )
        return np.array([places[name] for name in given], dtype=np.int64)


def _verdicts(places: _Places, label: str, rows: int) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """The verdict on every row of the file, masked where there is none; planned rows without one are noted."""
    checked = places.checked
    columns = any_columns(checked, [places.key, Wanted(label, "--label", "class")])
    verdicts = columns[label]
    at = places.of(columns[places.key.column], rows)
    require_same_rows(
        places.file, checked, at, {places.row, places.key.column, label}, identified=places.id is not None
    )
    missing, values = without_verdict(verdicts), np.ma.getdata(verdicts)
    spread, absent = np.zeros(rows, dtype=values.dtype), np.ones(rows, dtype=np.bool_)
    spread[at[~missing]], absent[at[~missing]] = values[~missing], False
    unchecked = int(missing.sum())
    message = (
        f"{len(at) - unchecked} of the {counted(len(at), 'planned row')} of {checked!r} were checked; {unchecked} have "
        "no "
        f"value of {label}"
    )
    return np.ma.MaskedArray(spread, mask=absent), (Note("TM125", message),) if unchecked else ()


def _refuse_lost_verdicts(places: _Places, label: str, verdicts: NDArray[Any]) -> None:
    """Refuse a file whose rows have verdicts that the list of checked rows lacks: they would be lost."""
    with engine(places.file) as source:
        if label not in source.types:
            return
    known = ~without_verdict(any_columns(places.file, [Wanted(label, "--label", "class")])[label])
    if lost := int((known & without_verdict(verdicts)).sum()):
        raise InputError(
            f"{counted(lost, 'row')} of {places.file!r} {'has' if lost == 1 else 'have'} a value of {label} that "
            f"{places.checked!r} lacks. Put all verdicts into one of the two files, and rename or remove the column in "
            "the other."
        )


def _typed(
    sizes: Mapping[str, float], columns: Mapping[str, NDArray[Any]], stratum: list[str] | None
) -> dict[Any, float]:
    """Sizes by the values of the stratum's column, which may be numbers."""
    if not stratum or len(stratum) > 1:
        raise InputError("--size has the sizes of the strata of one column; name it with --stratum.")
    values = {str(value): value for value in np.unique(np.ma.getdata(columns[stratum[0]])).tolist()}
    return {values.get(name, name): size for name, size in sizes.items()}


def _print(estimate: BinaryAuditEstimate, file: str, output: Output) -> None:
    level = estimate.prevalence.level
    output.text(f"{file}: audited" + ("" if level is None else f", {100 * level:g} % intervals"), "bold")
    columns = [""] if estimate.by_group is None else list(estimate.by_group.names)
    rest = [""] * (len(columns) - 1)
    lines = [["(all)", *rest, *_counted(estimate.prevalence)]]
    if estimate.by_group is not None:
        lines += [[*map(str, key), *_counted(one)] for key, one in estimate.by_group.entries.items()]
        lines.append(["sum of the groups", *rest, *_counted(estimate.by_group.total)])
    heads = [*((name, "left") for name in columns), ("share", "right"), (estimate.value or "positives", "right")]
    output.table(table("", [*heads, ("of", "right")], lines))
    if len(estimate):
        measures = [[m.name, m.reason or with_limits(m.value, m.low or 0.0, m.high or 0.0)] for m in estimate.values()]
        output.table(table("", [("of the calls", "left"), ("estimate", "right")], measures))
    output.text(estimate.sentence, "dim")
    for line in estimate.explanations:
        output.text(line)


def _counted(one: Prevalence) -> list[str]:
    if one.reason is not None or one.low is None or one.high is None:
        return ["–", one.reason or "–", shown_number(one.n)]
    return [one.written, count_with_limits(one.count, one.low * one.n, one.high * one.n), shown_number(one.n)]
