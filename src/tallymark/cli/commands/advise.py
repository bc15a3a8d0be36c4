"""``tallymark advise``."""

from __future__ import annotations

from typing import Any

from tallymark.cli.output import typed_label, write_report
from tallymark.cli.printing import (
    print_json,
    print_rows,
    print_table,
    print_text,
    print_written,
    require_report_place,
    table,
)
from tallymark.errors import InputError
from tallymark.prices.advice import advise


def run(
    *, file: str | None, label: str | None, pos_label: str | None, as_json: bool, report: str | None, **options: Any
) -> None:
    """Say which metric to watch, and why."""
    require_report_place(report, file)
    if file is None and (label is not None or options["period"] is not None):
        raise InputError("--period, --label and --value name columns of a file; name the file first.")
    positive = None if file is None or label is None else typed_label(file, label, pos_label)
    advice = advise(file, label=label, pos_label=positive, **options)
    write_report(advice, report, file or "Which metric to watch")
    if as_json:
        print_json("advise", advice.to_dict())
        return
    for line in advice.heading().splitlines():
        print_text(line, "bold" if not line.startswith("Doubtful") else "yellow")
    print_table(
        table("", [("about", "left"), ("because", "prose")], [[row["about"], row["because"]] for row in advice.rows()])
    )
    if advice.evidence:
        print_rows(advice.evidence)
    print_written(report)
