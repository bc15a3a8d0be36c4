"""``tallymark costs``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

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
from tallymark.decisions.item_costs import Costs, costs
from tallymark.errors import InputError
from tallymark.sources.any_columns import numbers
from tallymark.sources.engine import engine
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted


def run(
    file: str, *, as_json: bool, report: str | None, label: str, score: Sequence[str], predicted: Sequence[str], amounts: Mapping[str, str],
    matrix: str | None, pos_label: str | None, **options: Any,
) -> Costs:  # fmt: skip
    """Add up, print; gives back what was printed."""
    require_report_place(report, file, matrix)
    own: dict[str, Any] = {name: _amount(text) for name, text in amounts.items()}
    with progress_bar(f"Reading {file}"):
        positive = typed_label(file, label, pos_label)
        found = costs(
            file, label=label, score=listed(score) or None, predicted=listed(predicted) or None, pos_label=positive,
            matrix=None if matrix is None else _matrix(matrix), **own, **options,
        )  # fmt: skip
    write_report(found, report, file)
    if as_json:
        print_json("costs", found.to_dict())
        return found
    first, *said = found.heading().splitlines()
    print_text(first, "bold")
    for line in said:
        print_text(line)
    for lines in (found.rows(), found.pairs, found.by_class):
        if lines:
            print_rows(lines)
    print_written(report)
    return found


def _amount(text: str) -> float | str:
    """A number, or the name of a column."""
    try:
        return float(text)
    except ValueError:
        return text


def _matrix(path: str) -> dict[str, dict[str, float]]:
    """Costs from a table whose first column names the truth and whose others are the calls."""
    with engine(path) as source:
        first, *others = source.types
    if not others:
        raise InputError(f"{path!r} must have a column that names the truth and one for each call.")
    columns = read_files(path, [Wanted(first, "--matrix"), *(Wanted(name, "--matrix", "number") for name in others)])
    values = {name: numbers(columns[name], name) for name in others}
    truths = [str(name) for name in np.ma.getdata(columns[first]).tolist()]
    return {
        truth: {call: float(values[call][row]) for call in others if np.isfinite(values[call][row])}
        for row, truth in enumerate(truths)
    }
