"""Tables as a workbook (``.xlsx``, ``.ods``) or as HTML to paste: numbers with formats, and a last sheet of remarks."""

from __future__ import annotations

import html
import math
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tallymark._extras import office
from tallymark._text import visible
from tallymark._write import replacing
from tallymark.errors import InputError

#: What spreadsheets take, and what a name of a sheet may not have.
_MOST_ROWS, _MOST_CHARACTERS, _LONGEST_NAME = 2**20 - 1, 32_767, 31
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")

#: The same file for the same result: workbooks record when they were made.
_MADE = datetime(2000, 1, 1)  # noqa: DTZ001 - no time zone is stored

#: The name of the last sheet.
ABOUT = "About"


@dataclass(frozen=True)
class Sheet:
    """A table with a title, by column."""

    title: str
    columns: Mapping[str, Sequence[Any]]


def write_workbook(
    path: str | PathLike[str],
    sheets: Sequence[Sheet],
    about: Sequence[tuple[str, str]],
    *,
    inputs: Sequence[str] = (),
) -> None:
    """Write tables, each to a sheet of its own, and remarks by kind to a last one."""
    writer = _WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise InputError(f"{fspath(path)!r}: write a file that ends in {', '.join(_WRITERS)}.")
    kinds, remarks = [kind for kind, _ in about], [text for _, text in about]
    listed = [*sheets, Sheet(ABOUT, {"what": kinds, "remark": remarks})]
    for sheet in listed:
        if max(map(len, sheet.columns.values()), default=0) > _MOST_ROWS and writer is not _html:
            raise InputError(f"{sheet.title}: a sheet holds {_MOST_ROWS} rows; write a CSV or Parquet file.")
    named = _named(listed)
    with replacing(path, inputs=inputs) as temporary:
        writer(temporary, named)


def require_workbook(path: str) -> None:
    """Refuse a place that is no workbook, before any work is done."""
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise InputError(f"{path!r}: write a file that ends in {', '.join(_WRITERS)}.")
    if ending == ".xlsx":
        office("xlsxwriter")


def _named(sheets: Sequence[Sheet]) -> list[tuple[str, Sheet]]:
    """Sheets with names that a spreadsheet takes, each once."""
    named: dict[str, Sheet] = {}
    for sheet in sheets:
        bare = _NOT_IN_NAMES.sub(" ", visible(sheet.title)).strip()[:_LONGEST_NAME] or "Table"
        name, number = bare, 1
        while name.lower() in {other.lower() for other in named}:
            number += 1
            name = f"{bare[: _LONGEST_NAME - 4]} {number}"
        named[name] = sheet
    return list(named.items())


def _plain(value: Any) -> Any:
    """A cell as text, a finite number, or nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, bool | date):
        return str(value)
    # A text that carries its number is text here; programs get the number in a column of its own.
    return value if isinstance(value, int | float) else visible(str(value))[:_MOST_CHARACTERS]


def _decimals(values: Sequence[Any]) -> int:
    """Decimals to show of a column of numbers: none of whole ones, four of shares, more of tiny ones."""
    numbers = [abs(value) for value in values if isinstance(value, int | float)]
    if all(float(value).is_integer() for value in numbers):
        return 0
    least = min((value for value in numbers if value > 0.0), default=1.0)
    return 6 if least < 1e-4 else 4 if max(numbers) <= 10.0 else 2


def _xlsx(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
    with office("xlsxwriter").Workbook(str(path), options) as book:
        book.set_properties({"created": _MADE})
        bold, title = book.add_format({"bold": True, "bottom": 1, "text_wrap": True}), book.add_format({"italic": True})
        formats = {n: book.add_format({"num_format": f"#,##0{'.' * bool(n)}{'0' * n}"}) for n in (0, 2, 4, 6)}
        for name, sheet in sheets:
            page = book.add_worksheet(name)
            page.write_string(0, 0, visible(sheet.title), title)
            for place, (column, given) in enumerate(sheet.columns.items()):
                values = [_plain(value) for value in given]
                shown = formats[_decimals(values)]
                page.write_string(1, place, visible(column), bold)
                for row, value in enumerate(values, 2):
                    if isinstance(value, str):
                        page.write_string(row, place, value)
                    elif value is not None:
                        page.write_number(row, place, value, shown)
                widest = max([len(column), *(len(str(value)) for value in values[:200])])
                page.set_column(place, place, min(max(widest + 2, 8), 60))
            page.freeze_panes(2, 0)


def _ods(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{_ods_rows(sheet)}</table:table>" for name, sheet in sheets
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_NAMESPACES} office:version="1.3">'
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    parts = {"mimetype": _ODS, "META-INF/manifest.xml": _MANIFEST, "content.xml": content}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            packed = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _MADE.timetuple()[:6]), text.encode(), packed)


def _ods_rows(sheet: Sheet) -> str:
    def cell(value: Any) -> str:
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        return f'<table:table-cell office:value-type="float" office:value="{value!r}"/>'

    columns = [[_plain(value) for value in values] for values in sheet.columns.values()]
    lines = [[visible(sheet.title)], [visible(name) for name in sheet.columns], *zip(*columns, strict=True)]
    return "".join(f"<table:table-row>{''.join(map(cell, line))}</table:table-row>" for line in lines)


def _html(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    """Tables that a text processor takes over with their alignment."""
    parts = ["<!doctype html><meta charset='utf-8'><title>Tables</title>"]
    for name, sheet in sheets:
        columns = [[_plain(value) for value in values] for values in sheet.columns.values()]
        digits = [_decimals(values) for values in columns]
        parts += [f"<h2>{html.escape(visible(sheet.title or name))}</h2><table border='1' cellspacing='0'><tr>"]
        parts += [f"<th>{html.escape(visible(column))}</th>" for column in sheet.columns]
        parts += [
            "</tr><tr>" + "".join(_html_cell(value, n) for value, n in zip(line, digits, strict=True))
            for line in zip(*columns, strict=True)
        ]
        parts.append("</tr></table>")
    path.write_text("\n".join(parts), encoding="utf-8")


def _html_cell(value: Any, decimals: int) -> str:
    if isinstance(value, int | float):
        return f"<td align='right'>{value:,.{decimals}f}</td>"
    return f"<td>{html.escape(value or '')}</td>"


_WRITERS: dict[str, Callable[[Path, Sequence[tuple[str, Sheet]]], None]] = {
    ".xlsx": _xlsx,
    ".ods": _ods,
    ".html": _html,
}

_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_NAMESPACES = " ".join(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "table", "text"))
_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    f'<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0" manifest:version="1.3">'
    f'<manifest:file-entry manifest:full-path="/" manifest:version="1.3" manifest:media-type="{_ODS}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)
