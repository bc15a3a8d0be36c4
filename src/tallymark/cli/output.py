"""What a command prints: tables, sentences, one JSON object, a report, and tables written to files."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress as Bar
from rich.text import Text

from tallymark import __version__
from tallymark._cells import Written
from tallymark._display import columns_of, definitions_of, plain
from tallymark._numbers import number
from tallymark._text import inert_json, visible
from tallymark._workbook import Sheet, require_workbook, write_workbook
from tallymark._write import replacing, require_writable
from tallymark.cli.layout import TextTable, table, wrapped
from tallymark.cli.options import OptionGroup, flag
from tallymark.cli.table_formats import FORMATS, values_of, written
from tallymark.errors import InputError
from tallymark.notes import Note, input_notes
from tallymark.registry import choose
from tallymark.sources.engine import engine
from tallymark.sources.formats import expanded
from tallymark.sources.written_rows import write_rows

#: Columns of a table in a file or a pipe, where no width is known.
_WIDE = 120

#: Workbooks that rows can be written to.
_ROWS_WORKBOOKS = (".xlsx", ".ods")

#: The style of each part of a table.
_STYLES = {"title": "bold", "head": "dim", "body": ""}


@dataclass
class Printed:
    """What a command printed: tables, and the texts between them."""

    tables: list[TextTable] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def write(self, path: str, inputs: Sequence[str]) -> None:
        """Write it as a workbook."""
        sheets = [
            Sheet(made.title.strip() or f"Table {place}", values_of(made)) for place, made in enumerate(self.tables, 1)
        ]
        names = dict.fromkeys(str(row[0]) for made in self.tables for row in made.rows if row)
        about = [("command", shown_command()), ("version", __version__)]
        texts = [text for text in map(str.strip, self.texts) if text]
        about += [("note", one) for one in dict.fromkeys([note.message for note in input_notes()] + texts)]
        write_workbook(path, sheets, [*about, *definitions_of(names)], inputs=inputs)


_PRINTED: ContextVar[Printed | None] = ContextVar("printed", default=None)


@contextmanager
def writing_tables(groups: Iterable[object], inputs: Sequence[str]) -> Iterator[None]:
    """Within it, what is printed is kept, and at the end written to where ``--out`` says."""
    outputs = [group for group in groups if isinstance(group, Output) and group.out is not None]
    if not outputs:
        yield
        return
    place = str(outputs[0].out)
    names = [name for file in inputs for name in expanded(file)]
    require_workbook(place, names)
    printed = Printed()
    token = _PRINTED.set(printed)
    failed: typer.Exit | None = None
    try:
        yield
    except typer.Exit as error:
        # A requirement that does not hold: what was printed is written all the same.
        failed = error
    finally:
        _PRINTED.reset(token)
    printed.write(place, names)
    typer.echo(f"Wrote {visible(place)}.", err=True)
    if failed is not None:
        raise failed


@dataclass(frozen=True)
class Output(OptionGroup):
    """What is printed, and how."""

    heading: ClassVar[str] = "Output"

    json: Annotated[bool, flag("json", "Print one JSON object and nothing else.")] = False
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Print {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    ] = "table"
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write the tables to this .xlsx, .ods or .html file, with notes."),
    ] = None

    def __post_init__(self) -> None:
        choose("--format", self.format, dict.fromkeys(FORMATS))
        if self.out is not None and self.as_json:
            raise InputError("--out writes the tables that are printed; leave out --json.")
        if self.json and self.format != "table":
            raise InputError("Give --json or --format, not both.")

    @property
    def as_json(self) -> bool:
        """Whether the answer is one JSON object."""
        return self.json or self.format == "json"

    @property
    def for_people(self) -> bool:
        """Whether tables are laid out for a terminal."""
        return self.format == "table"

    def answer(self, command: str, values: Mapping[str, Any], notes: Iterable[Note] = ()) -> None:
        """Print one JSON object: which command of which version, its answer, and the guards that fired."""
        all_notes = [vars(note) for note in dict.fromkeys((*input_notes(), *notes))]
        envelope = {"command": command, "version": __version__, **values, "warnings": all_notes}
        sys.stdout.write(inert_json(json.dumps(plain(envelope), indent=2, ensure_ascii=False, allow_nan=False)) + "\n")

    def table(self, made: TextTable) -> None:
        """Print a table, without loss at any width, or in the format of another program."""
        self.record(made)
        if not self.for_people:
            sys.stdout.write(written(made, self.format) + "\n")
            return
        out = console()
        for line in made.lines(out.width):
            # Lines fit already; Rich must not wrap, pad or crop them.
            out.print(Text(line.text, style=_STYLES[line.part]), no_wrap=True, overflow="ignore", crop=False)

    def record(self, made: TextTable) -> None:
        """Keep a table for the workbook, where one is written."""
        if (printed := _PRINTED.get()) is not None:
            printed.tables.append(made)

    def record_facts(self, facts: Mapping[str, Any]) -> None:
        """Keep facts for the workbook that are printed as a sentence."""
        self.record(_facts_table(facts))

    def rows(self, rows: Sequence[Mapping[str, Any]], title: str = "", shown: Callable[[Any], str] = number) -> None:
        """Print rows as a table: text to the left, numbers to the right, nothing for what is missing."""
        columns = columns_of(rows)
        heads = [(name, "right" if any(map(_is_number, values)) else "left") for name, values in columns.items()]
        self.table(table(title, heads, [[shown(row.get(name)) for name in columns] for row in rows]))

    def text(self, text: str, style: str = "", *, indent: str = "") -> None:
        """Print plain text, wrapped to the terminal; to standard error where tables are for another program."""
        if (printed := _PRINTED.get()) is not None:
            printed.texts.append(text)
        self._say(text, style, indent)

    def _say(self, text: str, style: str = "", indent: str = "") -> None:
        out = console() if self.for_people or self.as_json else Console(stderr=True)
        for line in wrapped("\n".join(map(visible, text.split("\n"))), max(out.width - len(indent), 1)):
            out.print(Text((indent + line).rstrip(), style=style), no_wrap=True, overflow="ignore", crop=False)

    def command(self, shell: str) -> None:
        """Print a command to be copied: on one line, however long."""
        out = console() if self.for_people else Console(stderr=True)
        out.print(Text(f"  $ {visible(shell)}", style="bold"), soft_wrap=True)

    def lines(self, heading: str) -> None:
        """Print a heading of several lines, the first in bold."""
        first, *others = heading.splitlines()
        self.text(first, "bold")
        for line in others:
            self.text(line)

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Print facts one below the other; for another program, a table of them."""
        if self.for_people:
            self.record_facts(facts)
            for name, value in _present(facts).items():
                self._say(f"{name}: {value}", indent="  ")
        else:
            self.table(_facts_table(facts))

    def notes(self, notes: Iterable[Note]) -> None:
        """Print the guards that fired."""
        for note in notes:
            self.text(f"! {note.code} {note.message}", "yellow")


@dataclass(frozen=True)
class CheckedOutput(Output):
    """Output of a command whose warnings may be errors."""

    strict: Annotated[bool, flag("strict", "Treat warnings as errors.")] = False


@dataclass(frozen=True)
class ReportedOutput(CheckedOutput):
    """Output that may include a report."""

    report: Annotated[str | None, typer.Option(metavar="FILE", help="Also write a report to this HTML file.")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.report is not None and self.out is not None and Path(self.report).resolve() == Path(self.out).resolve():
            raise InputError(f"--report and --out both name {self.out!r}; name two files.")

    def require_place(self, *inputs: str | None) -> None:
        """Refuse, before any work, a place where a report must not go."""
        require_report_place(self.report, *inputs)

    def write_report(self, result: Any, *files: str | None, title: str = "", **options: Any) -> None:
        """Write the report of a result, where one was asked for; it states the `files` and is called as the first."""
        if self.report is not None:
            from tallymark.reporting.pages import report

            named = [file for file in files if file is not None]
            options |= {"title": title or Path(named[0]).name, "files": named, "command": shown_command()}
            with progress_bar(f"Writing {self.report}") as progress:
                report(result, self.report, progress=progress, **options)

    def say_where(self) -> None:
        """Print where the report is, if there is one."""
        if self.report is not None:
            self.text(f"Wrote {self.report}: open it in a browser.", "bold")


def console() -> Console:
    """Standard output, as wide as the terminal or as COLUMNS says."""
    width = os.environ.get("COLUMNS", "")
    if width.isdigit() and int(width) > 0:
        return Console(width=int(width))
    return Console() if sys.stdout.isatty() else Console(width=_WIDE)


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on standard error, where that is a terminal; indeterminate until a percentage is known.

    Where the variable TALLYMARK_PROGRESS names a file, it has what is done and how far that is.
    """
    if place := os.environ.get("TALLYMARK_PROGRESS"):
        yield _progress_file(Path(place), title)
        return
    if not sys.stderr.isatty():
        yield None
        return
    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(title), total=None)
        yield lambda percent: bar.update(task, completed=percent, total=100.0)


def _progress_file(place: Path, title: str) -> Callable[[float], None]:
    def write(percent: float) -> None:
        place.write_text(f"{title}: {percent:.0f} %", encoding="utf-8")

    place.write_text(title, encoding="utf-8")
    return write


def shown_command() -> str:
    """The command as it was typed; of paths the file's name alone, because reports are passed on."""
    typed = [Path(word).name if os.sep in word and Path(word).parent.exists() else word for word in sys.argv[1:]]
    return shlex.join(["tallymark", *typed])


def require_report_place(path: str | None, *inputs: str | None) -> None:
    """Refuse, before any work, a place where a report must not go."""
    if path is not None:
        from tallymark.reporting.pages import require_place

        require_place(path, [name for file in inputs if file is not None for name in expanded(file)])


def require_table_place(out: str | None, *inputs: str) -> None:
    """Refuse, before any work, a place where a table must not go."""
    if out is None:
        return
    names = [name for file in inputs for name in expanded(file)]
    if Path(out).suffix.lower() in {".csv", ".parquet"}:
        require_writable(out, inputs=names)
    elif Path(out).suffix.lower() in _ROWS_WORKBOOKS:
        require_workbook(out, names)
    else:
        raise InputError(f"{out!r}: write a file that ends in .csv, .parquet, {', '.join(_ROWS_WORKBOOKS)}.")


def write_beside(
    out: str, file: str, columns: Mapping[str, NDArray[Any]], *, numbers: Sequence[str] = (), kept: str | None = None
) -> None:
    """Write the rows of `file` with these columns, in the same order; where one says which are `kept`, only those.

    `numbers` are the columns of `file` that the command reads as numbers.
    """
    if Path(out).suffix.lower() in _ROWS_WORKBOOKS:
        with tempfile.TemporaryDirectory(prefix="tallymark-") as folder:
            parquet = str(Path(folder) / "rows.parquet")
            write_beside(parquet, file, columns, numbers=numbers, kept=kept)
            with engine(parquet) as source:
                source.keep_order()
                typed = source.query(f"SELECT * FROM {source.reader}")
        write_workbook(
            out, [Sheet("", {name: column.tolist() for name, column in typed.items()})], inputs=expanded(file)
        )
        return
    with replacing(out, inputs=expanded(file)) as temporary, engine(file, writes=str(temporary)) as source:
        if taken := [name for name in columns if name in source.types]:
            raise InputError(f"{file!r} has a column {taken[0]!r} already; rename it.")
        source.keep_order()
        write_rows(
            source, str(temporary), columns, parquet=out.lower().endswith(".parquet"), kept=kept, numbers=numbers
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _facts_table(facts: Mapping[str, Any]) -> TextTable:
    return table("", [("fact", "left"), ("value", "right")], [list(pair) for pair in _present(facts).items()])


def _present(facts: Mapping[str, Any]) -> dict[str, str]:
    return {name: _fact(value) for name, value in facts.items() if value not in (None, "")}


def _fact(value: Any) -> str:
    return Written(str(value), value) if _is_number(value) else str(value)
