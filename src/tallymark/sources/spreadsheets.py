"""Tables in spreadsheets (``.xlsx``, ``.xls``, ``.ods``): the sheet, the row of names, and what stands below it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from tallymark.errors import InputError, nearest, shown
from tallymark.sources.extras import office

#: Rows among which the row of names is looked for.
_FIRST = 50

Row = list[Any]


def read_spreadsheet(name: str, wanted: Sequence[str], *, sheet: str | None = None) -> tuple[dict[str, Row], list[str]]:
    """The columns of a sheet, and what to say of how it was read."""
    calamine = office("python_calamine")
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
    said += [f"names of columns in row {place + 1}"] if place else []
    said += [f"{left_out} line{'s' if left_out > 1 else ''} below the table left out"] if left_out else []
    return _columns(rows[place], body, wanted, name), said


def _sheet(
    book: Any, name: str, names: Sequence[str], wanted: Sequence[str], sheet: str | None
) -> tuple[str, list[Row]]:
    """The sheet that is named, the only one with cells, or the only one with all wanted columns."""
    if sheet is not None:
        chosen = names[int(sheet) - 1] if sheet.isdigit() and sheet not in names and int(sheet) <= len(names) else sheet
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
    return [cell.strip() if isinstance(cell, str) else "" for cell in row]


def _has(rows: Sequence[Row], wanted: Sequence[str]) -> bool:
    return any(set(wanted) <= set(_texts(row)) for row in rows[:_FIRST])


def _header(rows: Sequence[Row], wanted: Sequence[str]) -> int | None:
    """The first row with all wanted names; else the first of texts that is as wide as what stands below it."""
    for place, row in enumerate(rows[:_FIRST]):
        if wanted and set(wanted) <= set(_texts(row)):
            return place
    for place, row in enumerate(rows[:_FIRST]):
        names = [text for text in _texts(row) if text]
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
    for place, cell in enumerate(header):
        values = [row[place] for row in body]
        title = str(cell).strip()
        if not title and all(value == "" for value in values):
            continue
        title = title or f"column {place + 1}"
        if title in columns:
            if title in wanted:
                raise InputError(f"{name!r} has two columns {title!r}; rename one.")
            title = f"{title} ({place + 1})"
        columns[title] = [None if value == "" else value for value in values]
    return columns
