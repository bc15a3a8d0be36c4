"""``tallymark impact``."""

from __future__ import annotations

from typing import Any

from tallymark._numbers import change, number, p_value
from tallymark.cli.output import typed_label, write_report
from tallymark.cli.printing import (
    print_json,
    print_notes,
    print_table,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
    table,
)
from tallymark.decide.impacts import Impact, impact


def run(file: str, *, as_json: bool, report: str | None, label: str, pos_label: str | None, **options: Any) -> Impact:
    """Compare, print; gives back what was printed."""
    require_report_place(report, file)
    with progress_bar(f"Reading {file}"):
        positive = typed_label(file, label, pos_label)
        found = impact(file, label=label, pos_label=positive, **options)
    write_report(found, report, file)
    if as_json:
        print_json("impact", found.to_dict(), found.warnings)
        return found
    print_text(f"{file}: {found.heading()}", "bold")
    timed = any(part.period is not None for part in found.parts)
    heads = [
        *([("period", "left")] if timed else []), ("class", "left"), ("errors", "left"), ("rows", "right"), ("mean", "right"),
        ("shift of the level", "right"), ("KS", "right"), ("p", "right"), ("verdict", "prose"),
    ]  # fmt: skip
    lines = [
        [
            *([str(row["period"])] if timed else []), row["class"], row["errors"], number(row["n"]), number(row["mean"]),
            change(row["shift"], row["low"], row["high"]),
            number(row["ks"]), "" if row["p_value"] is None else p_value(row["p_value"]), row["verdict"],
        ]
        for row in found.rows()
    ]  # fmt: skip
    print_table(table("", heads, lines))
    print_text(
        "fp: what false positives bring in; fn: what false negatives take away; total: both.", "dim", indent="  "
    )
    print_notes(found.warnings)
    print_written(report)
    return found
