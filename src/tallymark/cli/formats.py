"""``--format``: what a command prints its tables as. In any other format than a terminal's, tables go to standard output alone."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from tallymark._cells import Written
from tallymark._writers import comma_separated, latex, markdown
from tallymark.cli.layout import TextTable
from tallymark.errors import InputError
from tallymark.registry import choose

_chosen = "table"


def chosen() -> str:
    """The format that was asked for."""
    return _chosen


def printed(table: TextTable) -> str:
    """A table as text in the chosen format."""
    heads = [head.text for head in table.heads]
    columns = {_once(name, heads[:i]): [row[i] for row in table.rows] for i, name in enumerate(heads)}
    text: str = _WRITERS[_chosen](columns, table)
    return text


def _once(name: str, before: list[str]) -> str:
    """A heading that stands twice is numbered."""
    return f"{name} {before.count(name) + 1}" if name in before else name


def _csv(columns: dict[str, list[str]], table: TextTable) -> str:
    """All digits of every number, limits in columns of their own, and in a last column why there is no number."""
    spread: dict[str, list[Any]] = {}
    reasons = [""] * len(table.rows)
    for (name, cells), head in zip(columns.items(), table.heads, strict=True):
        if head.kind != "right" or not any(isinstance(cell, Written) for cell in cells):
            spread[name] = list(cells)
            continue
        written = [cell if isinstance(cell, Written) else Written(cell) for cell in cells]
        if any(cell.value is not None for cell in written):
            spread[name] = [None if cell.value != cell.value else cell.value for cell in written]
        for end in ("low", "high"):
            if any(getattr(cell, end) is not None for cell in written):
                spread[f"{name} {end}"] = [getattr(cell, end) for cell in written]
        for row, cell in enumerate(cells):
            if not isinstance(cell, Written) and cell not in _NO_NUMBER:
                reasons[row] = f"{reasons[row]}; {cell}" if reasons[row] else cell
    return comma_separated(spread | ({"reason": reasons} if any(reasons) else {}))


#: What tables of the terminal write where there is no number.
_NO_NUMBER = {"", "–", "undefined"}


def _latex(columns: dict[str, list[str]], table: TextTable) -> str:
    return latex(columns, str, table.title, right={head.text for head in table.heads if head.kind == "right"})


def _markdown(columns: dict[str, list[str]], table: TextTable) -> str:
    return markdown(columns, str, right={head.text for head in table.heads if head.kind == "right"})


_WRITERS = {"csv": _csv, "md": _markdown, "latex": _latex}

#: What a user can ask for: a terminal's table, one JSON object, or the tables for another program.
FORMATS = ("table", "json", *_WRITERS)


def with_formats(command: Any) -> Any:
    """A command, and those below it, whose tables and JSON can be asked for by ``--format`` as well."""
    for part in getattr(command, "commands", {}).values():
        with_formats(part)
    if any(option.name == "json" for option in command.params):
        command.params.append(_option())
        run = command.invoke
        command.invoke = lambda ctx: run(_with_json(ctx))
    return command


def _option() -> Any:
    """The option as Typer makes it of a declaration; it is not handed to the command, which knows of tables alone."""
    template = typer.Typer(add_completion=False)

    @template.command()
    def _(
        form: Annotated[
            str,
            typer.Option(
                "--format",
                metavar="FORMAT",
                callback=_choose,
                help=f"Print {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
            ),
        ] = "table",
    ) -> None:
        del form

    (option,) = (one for one in typer.main.get_command(template).params if "--format" in one.opts)
    option.expose_value = False
    return option


def _choose(ctx: typer.Context, value: str) -> str:
    global _chosen  # noqa: PLW0603 - one command a process
    choose("--format", value, dict.fromkeys(FORMATS))
    if value != "table" and "--json" in sys.argv:
        raise InputError("Say --json or --format, not both.")
    _chosen = value
    ctx.meta["tallymark.format"] = value
    return value


def _with_json(ctx: Any) -> Any:
    if ctx.meta.get("tallymark.format") == "json":
        ctx.params["json"] = True
    return ctx
