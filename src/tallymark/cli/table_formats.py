"""Tables for other programs: CSV with all digits, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallymark._cells import Written
from tallymark._writers import comma_separated, latex, markdown
from tallymark.cli.layout import TextTable

#: What tables of the terminal write where there is no number.
_NO_NUMBER = {"", "–", "undefined"}


def written(table: TextTable, form: str) -> str:
    """A table as text in one of the formats."""
    heads = [head.text for head in table.heads]
    columns = {_unique(name, heads[:i]): [row[i] for row in table.rows] for i, name in enumerate(heads)}
    return _WRITERS[form](columns, table)


def _unique(name: str, before: Sequence[str]) -> str:
    """A heading; one that occurs twice is numbered."""
    return f"{name} {before.count(name) + 1}" if name in before else name


def values_of(table: TextTable) -> dict[str, list[Any]]:
    """All digits of every number, limits in columns of their own, and in a last column why there is no number."""
    heads = [head.text for head in table.heads]
    columns = {_unique(name, heads[:i]): [row[i] for row in table.rows] for i, name in enumerate(heads)}
    spread: dict[str, list[Any]] = {}
    reasons = [""] * len(table.rows)
    for (name, cells), head in zip(columns.items(), table.heads, strict=True):
        if head.kind != "right" or not any(isinstance(cell, Written) for cell in cells):
            spread[name] = list(cells)
            continue
        numbers = [cell if isinstance(cell, Written) else Written(cell) for cell in cells]
        if any(cell.value is not None for cell in numbers):
            spread[name] = [None if cell.value != cell.value else cell.value for cell in numbers]
        for end in ("low", "high"):
            if any(getattr(cell, end) is not None for cell in numbers):
                spread[f"{name} {end}"] = [getattr(cell, end) for cell in numbers]
        for row, cell in enumerate(cells):
            if not isinstance(cell, Written) and cell not in _NO_NUMBER:
                reasons[row] = f"{reasons[row]}; {cell}" if reasons[row] else cell
    return spread | ({"reason": reasons} if any(reasons) else {})


def _csv(_: dict[str, list[str]], table: TextTable) -> str:
    return comma_separated(values_of(table))


def _latex(columns: dict[str, list[str]], table: TextTable) -> str:
    return latex(columns, str, table.title, right={head.text for head in table.heads if head.kind == "right"})


def _markdown(columns: dict[str, list[str]], table: TextTable) -> str:
    return markdown(columns, str, right={head.text for head in table.heads if head.kind == "right"})


_WRITERS = {"csv": _csv, "md": _markdown, "latex": _latex}

#: What ``--format`` takes: a table for a terminal, one JSON object, or tables for another program.
FORMATS = ("table", "json", *_WRITERS)
