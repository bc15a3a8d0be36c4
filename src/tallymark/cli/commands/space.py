"""``tallymark space``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallymark.cli.naming import listed
from tallymark.cli.output import typed_label, write_report
from tallymark.cli.printing import (
    print_json,
    print_rows,
    print_text,
    print_written,
    progress_bar,
    require_report_place,
)
from tallymark.decisions.roc_space import Space, space


def run(
    file: str, *, as_json: bool, report: str | None, label: str, predicted: Sequence[str], pos_label: str | None, **options: Any
) -> Space:  # fmt: skip
    """Place, print; gives back what was printed."""
    require_report_place(report, file)
    with progress_bar(f"Reading {file}"):
        positive = typed_label(file, label, pos_label)
        found = space(file, label=label, predicted=listed(predicted), pos_label=positive, **options)
    write_report(found, report, file)
    if as_json:
        print_json("space", found.to_dict())
        return found
    for line in found.heading().splitlines():
        print_text(line, "bold" if line == found.heading().splitlines()[0] else "")
    print_rows(found.rows())
    print_written(report)
    return found
