"""``tallymark audit plan`` and ``tallymark audit estimate``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark._numbers import count_with_limits, counted, number, with_limits
from tallymark.cli.naming import listed
from tallymark.cli.output import require_table_place, write_beside, write_report
from tallymark.cli.printing import (
    positive_label,
    print_json,
    print_notes,
    print_rows,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.decide.audit_estimates import AuditEstimate, audit_estimate
from tallymark.decide.audit_plans import AuditPlan, audit_plan
from tallymark.decide.index_audits import IndexAudit, index_audit
from tallymark.errors import InputError, shown
from tallymark.notes import Note, emit
from tallymark.quantify.audits.samples import without_verdict
from tallymark.quantify.estimation.prevalence import Prevalence
from tallymark.sources.any_columns import any_columns, is_missing, numbers
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted
from tallymark.sources.same_rows import require_same_rows

#: The column in which a plan writes the probability with which a row was drawn.
INCLUSION = "inclusion"


def plan(
    file: str, out: str | None, everything: str | None, *, as_json: bool, report: str | None, by: Sequence[str], **options: Any
) -> AuditPlan:  # fmt: skip
    """Draw, write, print; gives back the plan."""
    require_report_place(report, file)
    for place in (out, everything):
        require_table_place(place, file)
    with progress_bar(f"Reading {file}"):
        made = audit_plan(file, by=listed(by), **options)
    kept = np.zeros(len(made.inclusion), dtype=np.bool_)
    kept[made.drawn] = True
    design = {"stratum": made.stratum, INCLUSION: made.inclusion}
    if out is not None:
        empty = np.full(len(kept), "", dtype=object)
        write_beside(out, file, {"kept": kept, "row": np.arange(len(kept)), **design, "checked": empty}, kept="kept")
    if everything is not None:
        write_beside(everything, file, design)
    write_report(made, report, file)
    if as_json:
        print_json("audit plan", made.to_dict())
        return made
    print_text(made.heading(), "bold")
    print_rows(made.rows())
    for place, what in (
        (out, "the rows to check; fill in the column 'checked'"),
        (everything, "every row with its probability"),
    ):
        if place is not None:
            print_text(f"Wrote {place}: {what}.", "bold")
    print_written(report)
    return made


def estimate(
    file: str, checked: str | None, row: str, *, as_json: bool, report: str | None, label: str, score: str | None,
    predicted: str | None, by: Sequence[str], stratum: Sequence[str], inclusion: str | None, value: str | None, pos_label: str | None,
    where: str | None, **options: Any,
) -> AuditEstimate:  # fmt: skip
    """Read, estimate, print; gives back the estimate."""
    require_report_place(report, file, checked)
    groups, layers = listed(by), listed(stratum)
    unchecked: tuple[Note, ...] = ()
    wanted = [
        *([Wanted(label, "--label", "class")] if checked is None else []), *(Wanted(name, "--by") for name in groups),
        *(Wanted(name, "--stratum") for name in layers), *([] if predicted is None else [Wanted(predicted, "--predicted", "class")]),
        *(Wanted(name, option, "number") for name, option in ((score, "--score"), (inclusion, "--inclusion"), (value, "--value"))
          if name is not None),
    ]  # fmt: skip
    if checked is not None and where is not None:
        raise InputError("--where would change which row of FILE a checked row is; filter the file first.")
    if checked is not None and not wanted:
        raise InputError("Name a column of FILE, such as --score, so that its rows can be counted.")
    if inclusion is None and not layers:
        _require_equal_chances(file, checked)
    with progress_bar(f"Reading {file}"):
        columns = any_columns(file, wanted, where=where)
        if checked is not None:
            columns[label], unchecked = _found(checked, row, label, len(next(iter(columns.values()))), file)
            emit(unchecked)
    present = columns[label][~is_missing(columns[label])]
    positive = positive_label({label: np.ma.getdata(present)}, label, pos_label) if len(present) else None
    made = audit_estimate(
        columns, label=label, score=score, predicted=predicted, by=groups, stratum=layers, inclusion=inclusion, value=value,
        pos_label=positive, **options,
    )  # fmt: skip
    made = replace(made, warnings=(*unchecked, *made.warnings))
    write_report(made, report, file)
    if as_json:
        print_json("audit estimate", made.to_dict(), made.warnings)
        return made
    _print(made, file)
    print_notes(made.warnings)
    print_written(report)
    return made


def of_index(file: str, *, as_json: bool, report: str | None, product: Sequence[str], **options: Any) -> IndexAudit:
    """Choose products, print; gives back the plan."""
    require_report_place(report, file)
    with progress_bar(f"Drawing indices for {file}"):
        made = index_audit(file, product=listed(product), **options)
    write_report(made, report, file)
    if as_json:
        print_json("audit index", made.to_dict())
        return made
    print_text(made.heading() + ".", "bold")
    print_rows(made.rows())
    print_written(report)
    return made


def _require_equal_chances(file: str, checked: str | None) -> None:
    """Refuse checked rows that a plan drew with different probabilities, where nobody says to use these."""
    rows = file if checked is None else checked
    with engine(rows) as source:
        if INCLUSION not in source.types:
            return
        chances = {text for text in source.cells([INCLUSION])[INCLUSION] if text}
    # Drawn at random all rows have one probability; but the list alone does not say of how many rows it is a sample.
    if len(chances) > 1 or (checked is None and chances - {"1", "1.0"}):
        where = (
            "" if checked is None else f", and for FILE the table that audit plan --all wrote (or leave {file!r} out)"
        )
        raise InputError(
            f"{rows!r} has the probabilities with which its rows were drawn, in the column {INCLUSION!r}: add --inclusion "
            f"{INCLUSION}{where}. Where rows were drawn otherwise, rename that column."
        )


def _found(checked: str, row: str, label: str, rows: int, file: str) -> tuple[NDArray[Any], tuple[Note, ...]]:
    """What was found, for every row of the file; planned rows without a verdict are noted."""
    columns = any_columns(checked, [Wanted(row, "--row", "number"), Wanted(label, "--label", "class")])
    places = numbers(columns[row], row)
    found = columns[label]
    if not (np.isfinite(places) & (places == np.floor(places)) & (places >= 0) & (places < rows)).all():
        raise InputError(f"{row} of {checked!r} must give places from 0 to {rows - 1}, the rows of {file!r}.")
    at = places.astype(np.int64)
    twice, counts = np.unique(at, return_counts=True)
    if (counts > 1).any():
        raise InputError(
            f"{checked!r} has the rows {shown(twice[counts > 1].tolist(), 5)} more than once; keep one of each."
        )
    require_same_rows(file, checked, at, {row, label})
    missing = without_verdict(found)
    values = np.ma.getdata(found)
    made = np.zeros(rows, dtype=values.dtype)
    absent = np.ones(rows, dtype=np.bool_)
    made[at[~missing]], absent[at[~missing]] = values[~missing], False
    left = int(missing.sum())
    said = f"{len(at) - left} of the {counted(len(at), 'planned row')} of {checked!r} were checked; {left} have no value of {label}"
    return np.ma.MaskedArray(made, mask=absent), (Note("TM125", said),) if left else ()


def _print(made: AuditEstimate, file: str) -> None:
    level = made.prevalence.level
    print_text(f"{file}: audited" + ("" if level is None else f", {100 * level:g} % intervals"), "bold")
    of = "rows" if made.value is None else made.value
    names = [""] if made.by_group is None else list(made.by_group.names)
    rest = [""] * (len(names) - 1)
    lines = [["(all)", *rest, *_counted(made.prevalence)]]
    if made.by_group is not None:
        lines += [[*map(str, key), *_counted(one)] for key, one in made.by_group.entries.items()]
        lines.append(["sum of the groups", *rest, *_counted(made.by_group.total)])
    heads = [*((name, "left") for name in names), ("share", "right"), ("positives" if of == "rows" else of, "right")]
    print_table(table("", [*heads, ("of", "right")], lines))
    if len(made):
        print_table(table("", [("of the calls", "left"), ("estimate", "right")], [
            [m.name, m.reason or with_limits(m.value, m.low or 0.0, m.high or 0.0)] for m in made.values()
        ]))  # fmt: skip
    print_text(made.sentence, "dim")


def _counted(one: Prevalence) -> list[str]:
    if one.reason is not None or one.low is None or one.high is None:
        return ["–", one.reason or "–", number(one.n)]
    return [
        one.written, count_with_limits(one.count, one.low * one.n, one.high * one.n), number(one.n)
    ]  # fmt: skip
