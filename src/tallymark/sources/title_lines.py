"""Lines above the names of columns in a CSV: titles with one filled cell, empty lines, and Excel's ``sep=;``."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Sequence

#: Lines that are read, and bytes.
_LINES, _BYTES = 60, 65_536
_SEPARATORS = ";,\t|"
_STATED = re.compile(r'\ufeff?"?sep=(.)"?', re.IGNORECASE)


def title_lines(path: str, separator: str | None) -> tuple[int, str | None]:
    """How many lines stand above the names of columns, and the separator that the first line states.

    A line counts as a title if one cell of it is filled; the names are in the line below, which is as wide as most.
    """
    text = "" if path.lower().endswith(".zst") else _start(path)
    if stated := _STATED.fullmatch(text.partition("\n")[0].strip()):
        return 1, stated[1]
    for mark in _SEPARATORS if separator is None else separator:
        rows = list(_rows(text, mark))
        if (number := _titles(rows)) > 0:
            return rows[number - 1][0], None
    return 0, None


def _titles(rows: Sequence[tuple[int, list[str]]]) -> int:
    """How many rows at the top are titles; none where the first one could hold names."""
    filled = [sum(map(bool, map(str.strip, cells))) for _, cells in rows]
    number = next((place for place, count in enumerate(filled) if count > 1), 0)
    if not number or not any(filled[:number]):
        return 0
    widths = Counter(len(cells) for _, cells in rows[number:])
    width, _ = widths.most_common(1)[0]
    return number if filled[number] == len(rows[number][1]) == width else 0


def _rows(text: str, mark: str) -> list[tuple[int, list[str]]]:
    """Rows with the number of the line on which they end; the last one may be cut off and is left out."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=mark)
    rows = []
    try:
        for cells in reader:
            rows.append((reader.line_num, cells))
            if len(rows) > _LINES:
                break
    except csv.Error:
        return []
    return rows[:-1] if len(text) >= _BYTES // 4 else rows


def _start(path: str) -> str:
    opener = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opener(path, "rb") as file:
            return file.read(_BYTES).decode("utf-8", "replace")
    except (OSError, EOFError):
        # The engine says why the file cannot be read.
        return ""
