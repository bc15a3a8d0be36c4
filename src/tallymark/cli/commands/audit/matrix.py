"""Estimate counts or areas and accuracies from an error matrix.

FILE has the numbers of checked rows: a line for each predicted class (or stratum), its name in the first column, and a
column for each true class. Sizes of the strata stand in a column "size", or are given by --size.

Example: tallymark audit matrix matrix.csv --size forest=200000,other=9800000 --unit 0.09
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from tallymark.audits.error_matrix import from_matrix
from tallymark.audits.publishing import publication
from tallymark.cli.commands.audit.options import Publish, Sizes, print_classes, print_publication, sizes_of
from tallymark.cli.options import Level, OptionGroup, data_file, flag, number
from tallymark.cli.output import ReportedOutput
from tallymark.errors import InputError
from tallymark.sources.engine import engine

#: The column of the file that holds the sizes of the strata.
_SIZE = "size"


@dataclass(frozen=True)
class MatrixOptions(OptionGroup):
    """Sizes of the strata, and what they are."""

    unit: Annotated[float, number("NUMBER", "What one of the sizes is worth, such as 0.09 hectares a pixel.")] = 1.0
    finite: Annotated[
        bool | None,
        flag(
            "finite/--areas",
            "Sizes are numbers of rows, many of which were checked, or areas; left out, only a stratum with as many "
            "checked rows as its size is taken as known.",
        ),
    ] = None
    level: Level = 0.95


def run(
    file: Annotated[str, data_file("FILE", "CSV file with the matrix: names, and a column for each true class.")],
    options: MatrixOptions,
    output: ReportedOutput,
    size: Sizes = None,
    publish: Publish = None,
) -> None:
    """Read a matrix, estimate, print."""
    output.require_place(file)
    matrix, sizes = _matrix_of(file)
    if (size is None) == (sizes is None):
        raise InputError(
            f"Give the sizes of the strata in a column {_SIZE!r} of {file!r} or by --size, one of the two."
        )
    estimate = from_matrix(matrix, sizes if size is None else sizes_of(size), **vars(options))
    decisions = None if publish is None else publication(estimate, publish)
    output.write_report(estimate.published_by(decisions), file)
    if output.as_json:
        rule = {} if decisions is None else {"publication": decisions.to_dict()}
        output.answer("audit matrix", estimate.to_dict() | rule, estimate.warnings)
        return
    print_classes(estimate, file, output)
    print_publication(decisions, output)
    output.notes(estimate.warnings)
    output.say_where()


def _matrix_of(file: str) -> tuple[dict[str, dict[str, float]], dict[str, float] | None]:
    """The matrix of a file by row and column, and the sizes of its rows where it has them."""
    with engine(file) as source:
        first, *others = source.types
        cells = source.cells([first, *others])
    names = [str(name) for name in cells[first]]
    if len(set(names)) < len(names):
        raise InputError(f"Two lines of {file!r} have one name in the column {first!r}.")
    columns = {name: [_number(cell, name, file) for cell in cells[name]] for name in others}
    sizes = columns.pop(_SIZE, None)
    _refuse_margins(names, columns, file)
    matrix = {name: {column: columns[column][line] for column in columns} for line, name in enumerate(names)}
    return matrix, None if sizes is None else dict(zip(names, sizes, strict=True))


def _refuse_margins(names: Sequence[str], columns: Mapping[str, Sequence[float]], file: str) -> None:
    """Refuse a column or a line that is the sum of the others: it would be taken for a class or a stratum."""
    table = np.array(list(columns.values())).T
    for cells, place, what in ((table, list(columns), "column"), (table.T, list(names), "line")):
        last, others = cells[:, -1], cells[:, :-1]
        if others.shape[1] > 1 and len(last) > 1 and last.any() and (others.sum(axis=1) == last).all():
            raise InputError(
                f"The {what} {place[-1]!r} of {file!r} is the sum of the others; leave totals out of the matrix."
            )


def _number(cell: object, column: str, file: str) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise InputError(f"{column} of {file!r} holds {cell!r}, expected numbers of checked rows.") from None
