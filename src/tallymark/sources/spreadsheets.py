"""Tables in spreadsheets (``.xlsx``, ``.xls``, ``.ods``): the sheet, the row of names, and what stands below it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from statistics import median
from typing import Any

from tallymark._check import MISSING_WORDS
from tallymark._extras import office
from tallymark.errors import InputError, nearest, shown

#: Bytes that a workbook may unpack to, and cells that a sheet may have up to its last one.
_LARGEST, _MOST_CELLS = 2**30, 10**8

_BLOCK = 2**22
_CELL, _ROW = re.compile(rb'<c r="([A-Z]+)[0-9]'), re.compile(rb'<row r="([0-9]+)"')

#: A formula whose value was never computed.
_UNCALCULATED = re.compile(rb"</f>(<v ?/>|<v></v>)?</c>")

#: Years that may be names of columns.
_YEARS = (1900, 2100)

#: Rows among which the row of names is looked for.
_FIRST = 50

Row = list[Any]


def read_spreadsheet(name: str, wanted: Sequence[str], *, sheet: str | None = None) -> tuple[dict[str, Row], list[str]]:
    """The columns of a sheet, and what to say of how it was read."""
    calamine = office("python_calamine")
    unread = _examine(name) if zipfile.is_zipfile(name) else []
    try:
        book = calamine.CalamineWorkbook.from_path(name)
        names = [one.name for one in book.sheets_metadata if one.visible == calamine.SheetVisibleEnum.Visible]
        chosen, rows = _sheet(book, name, names, wanted, sheet)
    except calamine.CalamineError as error:
        raise InputError(f"Cannot read {name!r} as a spreadsheet: {error}.") from None
    place = _header(rows, wanted)
    if place is None:
        raise InputError(
            f"{name!r}, sheet {chosen!r}: there is no row of names over the columns; each column needs one."
        )
    body, left_out = _body(rows[place + 1 :])
    said = [f"sheet {chosen}"] if len(names) > 1 else []
    said += unread
    said += [f"names of columns in row {place + 1}"] if place else []
    said += [f"{left_out} line{'s' if left_out > 1 else ''} below the table left out"] if left_out else []
    return _columns(rows[place], body, wanted, name), said


def _examine(name: str) -> list[str]:
    """What of a workbook is not read, to be said; refuses one that would not fit into memory.

    The reader gives no error cells, and reserves room for every cell up to the last one in use.
    """
    errors = False
    with zipfile.ZipFile(name) as archive:
        if sum(one.file_size for one in archive.infolist()) > _LARGEST:
            raise InputError(f"{name!r} unpacks to more than {_LARGEST >> 20} MB; save the table as CSV or Parquet.")
        for sheet in archive.namelist():
            if not re.fullmatch(r"xl/worksheets/[^/]+\.xml", sheet):
                continue
            columns, last = set[bytes](), 0
            with archive.open(sheet) as file:
                while block := file.read(_BLOCK):
                    block += file.readline()
                    columns |= set(_CELL.findall(block))
                    last = max([last, *map(int, _ROW.findall(block))])
                    errors = errors or b't="e"' in block
                    if _UNCALCULATED.search(block):
                        raise InputError(
                            f"{name!r} has formulas without values; open it in a spreadsheet program and save it."
                        )
            widest = max(map(_place, columns), default=0)
            if widest * last > _MOST_CELLS:
                raise InputError(
                    f"{name!r} has a cell in row {last}, column {widest}, far from the others; delete it, or save the "
                    "table as CSV."
                )
    return ["error cells as missing values"] if errors else []


def _place(letters: bytes) -> int:
    """The number of a column from its letters."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _sheet(
    book: Any, name: str, names: Sequence[str], wanted: Sequence[str], sheet: str | None
) -> tuple[str, list[Row]]:
    """The sheet that is named, the only one with cells, or the only one with all wanted columns."""
    if sheet is not None:
        by_number = {str(place): name for place, name in enumerate(names, 1)}
        chosen = sheet if sheet in names else by_number.get(sheet, sheet)
        if chosen not in book.sheet_names:
            raise InputError(f"{name!r} has no sheet {sheet!r}.{nearest(sheet, names)} It has {shown(names)}.")
        return chosen, _rows(book, chosen)
    tables = {one: rows for one in names if (rows := _rows(book, one))}
    if not tables:
        raise InputError(f"{name!r} has no cells.")
    if len(tables) > 1:
        fitting = {one: rows for one, rows in tables.items() if wanted and _has(rows, wanted)}
        if len(fitting) != 1:
            raise InputError(
                f"{name!r} has the sheets {shown(tables)}; say which with --sheet (tm.data_file(…, sheet=…))."
            )
        tables = fitting
    return next(iter(tables.items()))


def _rows(book: Any, sheet: str) -> list[Row]:
    rows: list[Row] = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    while rows and not _filled(rows[-1]):
        rows.pop()
    return rows


def _filled(row: Row) -> int:
    """How many cells of a row have something in them."""
    return sum(cell != "" for cell in row)


def _texts(row: Row) -> list[str]:
    """The cells as names of columns; a name may be a year."""
    return [cell.strip() if isinstance(cell, str) else str(int(cell)) if _is_year(cell) else "" for cell in row]


def _is_year(cell: Any) -> bool:
    return type(cell) in {int, float} and float(cell).is_integer() and _YEARS[0] <= cell <= _YEARS[1]


def _has(rows: Sequence[Row], wanted: Sequence[str]) -> bool:
    return any(set(wanted) <= set(_texts(row)) for row in rows[:_FIRST])


def _header(rows: Sequence[Row], wanted: Sequence[str]) -> int | None:
    """The first row with all wanted names; else the first of texts that is as wide as what stands below it."""
    for place, row in enumerate(rows[:_FIRST]):
        if wanted and set(wanted) <= set(_texts(row)):
            return place
    for place, row in enumerate(rows[:_FIRST]):
        names = [text for text in _texts(row) if text] if any(isinstance(cell, str) and cell for cell in row) else []
        below = [_filled(other) for other in rows[place + 1 : place + 1 + _FIRST] if _filled(other)]
        if names and len(names) == _filled(row) and len(names) >= 0.8 * median(below or [1]):
            return place
    return None


def _body(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows of the table without empty ones; lines of one cell below an empty row are footnotes."""
    kept = [row for row in rows if _filled(row)]
    gap = next((place for place, row in enumerate(rows) if not _filled(row)), len(rows))
    rest = [row for row in rows[gap:] if _filled(row)]
    if rest and gap > 0 and all(_filled(row) == 1 for row in rest) and max(map(_filled, rows[:gap])) > 1:
        return list(rows[:gap]), len(rest)
    return kept, 0


def _columns(header: Row, body: Sequence[Row], wanted: Sequence[str], name: str) -> dict[str, Row]:
    """Columns by name; those without a name and without values are left out."""
    columns: dict[str, Row] = {}
    for place, (cell, known) in enumerate(zip(header, _texts(header), strict=True)):
        values = [row[place] for row in body]
        title = known or str(cell).strip()
        if not title and all(value == "" for value in values):
            continue
        title = title or f"column {place + 1}"
        if title in columns:
            if title in wanted:
                raise InputError(f"{name!r} has two columns {title!r}; rename one.")
            title = f"{title} ({place + 1})"
        columns[title] = [None if value in MISSING_WORDS else value for value in values]
    return columns
