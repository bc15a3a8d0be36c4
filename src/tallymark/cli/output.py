"""Tables that commands write: the rows of a file with further columns beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tallymark._write import replacing, require_writable
from tallymark.cli.printing import positive_label, progress_bar, shown_command
from tallymark.errors import InputError
from tallymark.sources.engine import engine
from tallymark.sources.files import read_files
from tallymark.sources.formats import Wanted, expanded


def require_table_place(out: str | None, *files: str) -> None:
    """Refuse, before any work, a place where a table must not go."""
    if out is None:
        return
    if Path(out).suffix.lower() not in {".csv", ".parquet"}:
        raise InputError(f"{out!r}: write a .csv or a .parquet file.")
    require_writable(out, inputs=[name for file in files for name in expanded(file)])


def write_beside(
    out: str,
    file: str,
    columns: Mapping[str, NDArray[Any]],
    *,
    numbers: Sequence[str] = (),
    kept: str | None = None,
) -> None:
    """Write the rows of `file` with these columns, in the same order; where one says which are `kept`, only those.

    `numbers` are the columns of `file` that the command reads as numbers.
    """
    with replacing(out, inputs=expanded(file)) as temporary, engine(file, writes=str(temporary)) as source:
        if taken := [name for name in columns if name in source.types]:
            raise InputError(f"{file!r} has a column {taken[0]!r} already; rename it.")
        source.keep_order()
        source.write(str(temporary), columns, parquet=out.lower().endswith(".parquet"), kept=kept, numbers=numbers)


def write_report(made: Any, report: str | None, file: str) -> None:
    """Write a result's page, where one was asked for."""
    if report is not None:
        from tallymark.reporting.pages import report as write

        with progress_bar(f"Writing {report}") as progress:
            write(made, report, title=Path(file).name, command=shown_command(), progress=progress)


def typed_label(file: str, label: str, text: str | None) -> Any:
    """The positive label as it was typed, in the type it has in a file."""
    return None if text is None else positive_label(read_files(file, [Wanted(label, "--label")]), label, text)
