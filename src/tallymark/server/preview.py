"""The first rows of a file as text: ``python -m tallymark.server.preview FILE [OPTION=VALUE …]`` prints JSON."""

from __future__ import annotations

import json
import sys
import warnings

from tallymark.errors import InputError
from tallymark.sources.data_file import data_file
from tallymark.sources.duck import quoted
from tallymark.sources.engine import engine
from tallymark.sources.formats import Wanted

#: Rows and columns shown, and characters of a cell.
ROWS, COLUMNS, CHARACTERS = 20, 60, 80


def main(path: str, *options: str) -> None:
    """Print names and cells."""
    warnings.simplefilter("ignore")
    file = data_file(path, **dict(option.split("=", 1) for option in options))
    with engine(file) as source:
        names = list(source.types)[:COLUMNS]
    # As texts, cells are shown as they are written.
    with engine(file, [Wanted(name, "preview") for name in names]) as source:
        source.keep_order()
        listed = ", ".join(f"{quoted(name)}::VARCHAR AS c{place}" for place, name in enumerate(names))
        cells = source.query(f"SELECT {listed} FROM {source.reader} LIMIT {ROWS}")
    columns = [["" if cell is None else cell[:CHARACTERS] for cell in column.tolist()] for column in cells.values()]
    print(json.dumps({"columns": names, "rows": list(zip(*columns, strict=True))}))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except InputError as error:
        sys.exit(f"tallymark: {error}")
