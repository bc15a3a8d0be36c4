"""``tallymark``: the command line. Commands are declared in :mod:`tallymark.cli.commands` and loaded when they run."""

from __future__ import annotations

import codecs
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from tallymark import __version__
from tallymark._memory import load_libraries_while_there_is_room
from tallymark._text import visible
from tallymark.cli.declare import CONTEXT, CommandPackage
from tallymark.cli.standard_input import standard_input
from tallymark.errors import TallymarkError
from tallymark.notes import GUARDS, GuardWarning, recording_input_notes
from tallymark.sources.file_states import unchanged_files

app = typer.Typer(
    name="tallymark",
    help="How good is a classifier really, and how many are there really?",
    cls=CommandPackage,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tallymark {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run a command; bad input ends with status 2 and one message on standard error."""
    _speak_any_encoding()
    warnings.formatwarning = lambda message, *_, **__: f"tallymark: {visible(str(message))}\n"
    # Results carry their notes, and each command prints them; but not those of how the rows were read.
    warnings.filterwarnings("ignore", category=GuardWarning)
    of_input = "|".join(code for code, guard in GUARDS.items() if guard.of_input)
    warnings.filterwarnings("default", message=of_input, category=GuardWarning)
    try:
        load_libraries_while_there_is_room()
        with standard_input(sys.argv), unchanged_files(), recording_input_notes():
            typer.main.get_command(app)()
    except TallymarkError as error:
        typer.echo(f"tallymark: {visible(str(error))}", err=True)
        sys.exit(2)
    except MemoryError:
        typer.echo("tallymark: there is not enough memory for this.", err=True)
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read the output has seen enough, as `head` has; the rest must not be written when Python ends either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        typer.echo(f"tallymark: {visible(f'{error.strerror or error}{where}')}.", err=True)
        sys.exit(2)


def _speak_any_encoding() -> None:
    """Where standard output cannot say a character, say what comes nearest instead of failing."""
    codecs.register_error("tallymark", _nearest)
    # Whoever closed standard output wants to read nothing.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="tallymark")


#: What is written for a character that the terminal lacks.
_PLAIN = {
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "•": "*",
    "\u202f": " ",
    "∞": "inf",
    "≥": ">=",
    "≤": "<=",
    "·": ".",
    "×": "x",
    "±": "+/-",
    "′": "'",
}


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lost), error.end


if __name__ == "__main__":
    main()
