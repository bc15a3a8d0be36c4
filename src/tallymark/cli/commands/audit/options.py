"""What the commands of an audit share."""

from __future__ import annotations

from typing import Annotated

from tallymark.audits.class_estimates import AuditEstimate
from tallymark.audits.publishing import RULES, Publication
from tallymark.cli.options import column, columns, names, number, text
from tallymark.cli.output import Output
from tallymark.errors import InputError, shown
from tallymark.sources.any_columns import any_columns
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted

#: The column in which a plan writes the probability with which a row was drawn.
INCLUSION = "inclusion"

By = Annotated[list[str] | None, columns("Group by these columns")]
Value = Annotated[str | None, column("Estimate this column's sum instead of the number of rows.", "number")]
Threshold = Annotated[float | None, number("NUMBER", "Scores from here on are predicted positive.")]
Sizes = Annotated[
    list[str] | None, names("NAME=NUMBER", "Size of each stratum, or a CSV file with names and sizes in two columns")
]
Publish = Annotated[str | None, text("RULE", f"Say what may be published by this rule: {', '.join(RULES)}.")]


def sizes_of(given: list[str]) -> dict[str, float]:
    """Sizes by name, from ``name=number`` or from a file of two columns."""
    if len(given) == 1 and "=" not in given[0]:
        with engine(given[0]) as source:
            columns = list(source.types)
            if len(columns) != 2:
                raise InputError(f"{given[0]!r} has {len(columns)} columns, expected two: names and sizes.")
        name_column, size_column = columns
        cells = any_columns(given[0], [Wanted(name_column, "--size"), Wanted(size_column, "--size", "number")])
        pairs = list(zip(cells[name_column].tolist(), cells[size_column].tolist(), strict=True))
    else:
        pairs = [part.rpartition("=")[::2] for part in given]
    sizes: dict[str, float] = {}
    for name, size in pairs:
        try:
            sizes[str(name)] = float(size)
        except (TypeError, ValueError):
            raise InputError(f"The size of {name!r} is {size!r}, expected a number, as in north=12000.") from None
    if len(sizes) < len(pairs):
        raise InputError(f"A stratum has two sizes; names are {shown([name for name, _ in pairs])}.")
    return sizes


def print_publication(decisions: Publication | None, output: Output) -> None:
    """Print what may be published, where a rule was named."""
    if decisions is not None:
        output.text(decisions.heading(), "bold")
        output.rows(decisions.rows())


def print_classes(estimate: AuditEstimate, title: str, output: Output) -> None:
    """Print the estimates of an audit by class."""
    first, *others = estimate.heading().splitlines()
    output.text(f"{title}: {first[0].lower()}{first[1:]}", "bold")
    output.rows(estimate.printed_rows() if output.for_people else estimate.rows())
    if output.for_people and estimate.matrix is not None:
        output.rows(estimate.matrix.printed_rows(), estimate.matrix.heading(), shown=str)
    for line in others:
        output.text(line)
