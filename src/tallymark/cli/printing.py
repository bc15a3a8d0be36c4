"""What every command needs: a table, a JSON object, a warning, a bar, and the label a user typed."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress as Bar
from rich.text import Text

from tallymark import __version__, _check
from tallymark._cells import Written
from tallymark._display import columns_of, plain
from tallymark._numbers import number
from tallymark._text import inert_json, visible
from tallymark.cli.formats import chosen, printed
from tallymark.cli.layout import Head, TextTable, wrapped
from tallymark.notes import Note, input_notes
from tallymark.sources.formats import Wanted, expanded
from tallymark.sources.roles import OPTION, Roles

#: Columns of a table in a file or a pipe, where nobody has said how wide it is.
_WIDE = 120


def console() -> Console:
    """Standard output, as wide as the terminal or as COLUMNS says."""
    said = os.environ.get("COLUMNS", "")
    if said.isdigit() and int(said) > 0:
        return Console(width=int(said))
    return Console() if sys.stdout.isatty() else Console(width=_WIDE)


#: The style of each part of a table.
_STYLES = {"title": "bold", "head": "dim", "body": ""}


def print_table(made: TextTable) -> None:
    """Print a table so that nothing of it is lost, whatever the width; or as another program reads it."""
    if chosen() != "table":
        sys.stdout.write(printed(made) + "\n")
        return
    out = console()
    for line in made.lines(out.width):
        # Lines fit already; Rich must not wrap, pad or crop them.
        out.print(Text(line.text, style=_STYLES[line.part]), no_wrap=True, overflow="ignore", crop=False)


def print_rows(rows: Sequence[Mapping[str, Any]], title: str = "", shown: Callable[[Any], str] = number) -> None:
    """Print the lines of a result as a table: text to the left, numbers to the right, nothing for what is missing."""
    columns = columns_of(rows)
    numeric = {
        name: any(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        for name, values in columns.items()
    }
    heads = [(name, "right" if numeric[name] else "left") for name in columns]
    print_table(table(title, heads, [[shown(row.get(name)) for name in columns] for row in rows]))


def print_text(text: str, style: str = "", *, indent: str = "") -> None:
    """Print plain text, wrapped to the terminal; what acts in one is spelled out. Beside tables for another program it goes to standard error."""
    out = console() if chosen() in {"table", "json"} else Console(stderr=True)
    for line in wrapped("\n".join(map(visible, text.split("\n"))), max(out.width - len(indent), 1)):
        out.print(Text((indent + line).rstrip(), style=style), no_wrap=True, overflow="ignore", crop=False)


def print_facts(facts: Mapping[str, Any]) -> None:
    """Facts one below the other; for another program, a table of them."""
    known = {name: _fact(value) for name, value in facts.items() if value not in (None, "")}
    if chosen() == "table":
        for name, value in known.items():
            print_text(f"{name}: {value}", indent="  ")
    else:
        print_table(table("", [("fact", "left"), ("value", "right")], [list(pair) for pair in known.items()]))


def _fact(value: Any) -> str:
    return Written(str(value), value) if isinstance(value, int | float) else str(value)


def print_json(command: str, answer: Mapping[str, Any], notes: Iterable[Note] = ()) -> None:
    """One JSON object on standard output: which command of which version, its answer, and the guards that fired."""
    noted = [vars(note) for note in dict.fromkeys((*input_notes(), *notes))]
    envelope = {"command": command, "version": __version__, **answer, "warnings": noted}
    sys.stdout.write(inert_json(json.dumps(plain(envelope), indent=2, ensure_ascii=False, allow_nan=False)) + "\n")


def print_notes(notes: Iterable[Note]) -> None:
    """Guards that fired, below the table."""
    for note in notes:
        print_text(f"! {note.code} {note.message}", "yellow")


def print_written(path: str | None) -> None:
    """Say where the report is, if there is one."""
    if path is not None:
        print_text(f"Wrote {path}: open it in a browser.", "bold")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error while work goes on; nothing when that is not a terminal. It moves until it knows how far."""
    if not sys.stderr.isatty():
        yield None
        return
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(title), total=None)
        yield lambda percent: bar.update(task, completed=percent, total=100.0)


def table(title: str, columns: Sequence[tuple[Any, ...]], rows: Iterable[Sequence[str]]) -> TextTable:
    """A table of (heading, left|right|prose, optional) columns."""
    return TextTable(title, [Head(*column) for column in columns], [list(row) for row in rows])


def require_report_place(path: str | None, *files: str | None) -> None:
    """Refuse, before any work, a place where a report must not go."""
    if path is not None:
        from tallymark.reporting.pages import require_place

        require_place(path, [name for file in files if file is not None for name in expanded(file)])


def shown_command() -> str:
    """The command as it was typed; of paths the file's name alone, for pages travel."""
    typed = [Path(word).name if os.sep in word and Path(word).parent.exists() else word for word in sys.argv[1:]]
    return shlex.join(["tallymark", *typed])


def masses_wanted(weight: str | None, count: str | None) -> list[Wanted]:
    """The columns --weight and --count name."""
    named: list[tuple[str | None, str, Any]] = [(weight, "--weight", "number"), (count, "--count", "count")]
    return [Wanted(name, option, kind) for name, option, kind in named if name is not None]


def positive_label(columns: Mapping[str, Any], label: str, text: str | None) -> Any:
    """The label a user typed, in the type it has among those that were read."""
    if text is None:
        return None
    present = _check.distinct(_check.labels(columns[label], label), label)
    return Roles(label=label, spelling=OPTION).with_positive(text, present).pos_label
