"""What every command needs: a table, a JSON object, a warning, a bar, and the label a user typed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from tallymark._show import number, plain
from tallymark.errors import InputError, shown
from tallymark.results import Note
from tallymark.sources.files import labels_in
from tallymark.sources.formats import Wanted, expanded


def console() -> Console:
    """Standard output; 120 columns wide when it is a file or a pipe."""
    return Console() if sys.stdout.isatty() else Console(width=120)


def print_table(made: Table) -> None:
    """Print a table of short cells; where it is wider than the terminal, lines run on rather than lose their ends."""
    out = console()
    wide = Measurement.get(out, out.options.update(width=_ENDLESS), made).maximum
    if wide <= out.width:
        out.print(made)
    else:
        Console(width=wide).print(made, soft_wrap=False, no_wrap=True, crop=False)


#: Columns no table has.
_ENDLESS = 10_000


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    json.dump(plain(value), sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_notes(notes: Iterable[Note]) -> None:
    """Guards that fired, below the table."""
    for note in notes:
        console().print(Text.assemble(("! ", "bold yellow"), (f"{note.code} ", "yellow"), note.message))


def print_written(path: str | None) -> None:
    """Say where the report is, if there is one."""
    if path is not None:
        console().print(Text(f"Wrote {path}: open it in a browser.", style="bold"))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A bar on standard error while work goes on; nothing when that is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=100.0)
        yield lambda percent: bar.update(task, completed=percent)


def table(title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Table:
    """A table of (heading, left|right) columns. Cells are plain text, so user text is never read as markup."""
    made = Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for heading, side in columns:
        made.add_column(Text(heading), justify=side, no_wrap=side == "right")  # type: ignore[arg-type]
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def with_limits(value: float, low: float, high: float) -> str:
    """A number and its limits, all to the same decimals."""
    text = number(value)
    decimals = len(text.partition(".")[2]) if "." in text and "e" not in text else None
    ends = [number(end) if decimals is None or math.isinf(end) else f"{end:.{decimals}f}" for end in (low, high)]
    return f"{text} ({(' to ' if low < 0 else '–').join(ends)})"


def require_report_place(path: str | None, *files: str | None) -> None:
    """Refuse, before any work, a place where a report must not go."""
    if path is not None:
        from tallymark.reporting.pages import require_place

        require_place(path, [name for file in files if file is not None for name in expanded(file)])


def masses_wanted(weight: str | None, count: str | None) -> list[Wanted]:
    """The columns --weight and --count name."""
    named: list[tuple[str | None, str, Any]] = [(weight, "--weight", "number"), (count, "--count", "count")]
    return [Wanted(name, option, kind) for name, option, kind in named if name is not None]


def positive_label(file: str, column: str, text: str | None) -> Any:
    """The label a user typed, in the type it has in the file."""
    if text is None:
        return None
    present = labels_in(file, column, "--label")
    for spelled in (str, lambda value: str(value).lower()):
        matches = [value for value in present if spelled(value) == spelled(text)]
        if len(matches) == 1:
            return matches[0]
    raise InputError(f"--pos-label {text!r} does not occur in {column!r}, which has the values {shown(present)}.")
