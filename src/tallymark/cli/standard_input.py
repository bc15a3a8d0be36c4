"""``-`` for standard input: its rows are put into a file of their own, which is gone when the command ends."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallymark.errors import InputError

#: How rows begin, and the ending of a file that holds them; anything else is a table with commas.
_BEGINNINGS = {b"PAR1": ".parquet", b"{": ".jsonl", b"PK\x03\x04": ".xlsx", b"\xd0\xcf\x11\xe0": ".xls"}


@contextmanager
def standard_input(arguments: list[str]) -> Iterator[None]:
    """While a command runs, a lone ``-`` among its arguments is the name of a file with what standard input has."""
    places = [place for place, text in enumerate(arguments) if text == "-" and place > 0]
    if not places:
        yield
        return
    if len(places) > 1:
        raise InputError("Standard input can be read only once; name a file in place of the second '-'.")
    with tempfile.TemporaryDirectory(prefix="tallymark-") as folder:
        rows = Path(folder) / "stdin"
        with rows.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with rows.open("rb") as file:
            start = file.read(4).lstrip()
        if not start:
            raise InputError(
                "Standard input is empty; pipe rows into the command, e.g. 'cat scores.csv | tallymark evaluate - "
                "--label y --score p'."
            )
        ending = next((ending for begin, ending in _BEGINNINGS.items() if start.startswith(begin)), ".csv")
        arguments[places[0]] = str(rows.rename(rows.with_suffix(ending)))
        yield
