"""Show what each column of a file could be.

It gives the reason, says what to beware of, such as labels written in two ways, and prints the command for each
question that the file can answer.

Example: tallymark look scores.parquet
"""

from __future__ import annotations

from typing import Any

from tallymark._numbers import number as shown
from tallymark._text import shortened
from tallymark.cli.layout import table
from tallymark.cli.options import File
from tallymark.cli.output import Output, progress_bar
from tallymark.profiling.look import look
from tallymark.profiling.results import LookColumn

#: Characters of an example.
_EXAMPLE = 24


def run(file: File, output: Output) -> None:
    """Look, print."""
    with progress_bar(f"Reading {file}"):
        found = look(file)
    if output.as_json:
        output.answer("look", found.to_dict())
        return
    heads: list[tuple[Any, ...]] = [("column", "left"), ("holds", "left"), ("distinct", "right"), ("missing", "right")]
    heads += [("for example", "left", True), ("could be", "left"), ("because", "prose")]
    output.table(table(found.heading(), heads, [_cells(column) for column in found.columns]))
    if found.cautions:
        output.text("\nBeware", "bold")
        for caution in found.cautions:
            output.text(caution.message, "yellow", indent="  ")
    for question in found.questions:
        output.text(f"\n{question.question}", "bold" if question.answered else "dim")
        output.text(question.reason, "" if question.answered else "dim", indent="  ")
        if question.command:
            output.command(question.shell)


def _cells(column: LookColumn) -> list[str]:
    about = "" if column.counted is not None or not column.distinct else "about "
    others = f" (or {', '.join(role.name for role in column.roles[1:])})" if len(column.roles) > 1 else ""
    examples = ", ".join(shortened(example, _EXAMPLE) for example in column.examples)
    because = column.roles[0].reason if column.roles else ""
    return [
        column.name,
        column.type,
        f"{about}{shown(column.distinct)}",
        shown(column.missing),
        examples,
        column.role,
        f"{because}{others}",
    ]
