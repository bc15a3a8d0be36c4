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
from tallymark._write import replacing, require_writable
from tallymark.errors import InputError

#: What spreadsheets take, and what a name of a sheet may not have.
_MOST_ROWS, _MOST_CHARACTERS, _LONGEST_NAME = 2**20 - 1, 32_767, 31
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")

#: The same file for the same result: workbooks record when they were made.
_MADE = datetime(2000, 1, 1)  # noqa: DTZ001 - no time zone is stored

#: The name of the last sheet.
ABOUT = "About"

#: Who made a workbook, and where its kinds say so: what else is in the place of one is not written over.
_AUTHOR = "Tallymark"
_AUTHOR_PARTS = ("docProps/core.xml", "meta.xml")
_HTML_START = f"<!doctype html><meta charset='utf-8'><meta name='author' content='{_AUTHOR}'>"

#: How numbers are shown: whole ones, shares, larger ones, and those that four decimals would show as none.
_FORMATS = {"whole": "#,##0", "share": "#,##0.0000", "amount": "#,##0.00", "tiny": "0.00E+00"}


@dataclass(frozen=True)
class Sheet:
    """A table with a title, by column."""

    title: str
    columns: Mapping[str, Sequence[Any]]


def write_workbook(
    path: str | PathLike[str],
    sheets: Sequence[Sheet],
    about: Sequence[tuple[str, str]] = (),
    *,
    inputs: Sequence[str] = (),
) -> None:
    """Write tables, each to a sheet of its own, and remarks by kind, if there are any, to a last one."""
    writer = require_workbook(path, inputs)
    kinds, remarks = [kind for kind, _ in about], [text for _, text in about]
    listed = [*sheets, *([Sheet(ABOUT, {"what": kinds, "remark": remarks})] if about else [])]
    for sheet in listed:
        if max(map(len, sheet.columns.values()), default=0) > _MOST_ROWS and writer is not _html:
            raise InputError(f"{sheet.title or 'rows'}: a sheet holds {_MOST_ROWS} rows; write a CSV or Parquet file.")
    named = _named(listed)
    with replacing(path, inputs=inputs) as temporary:
        writer(temporary, named)


def require_workbook(path: str | PathLike[str], inputs: Sequence[str] = ()) -> _Writer:
    """What writes a workbook of this name; refuses, before any work, a place where none may go."""
    ending = Path(path).suffix.lower()
    writer = _WRITERS.get(ending)
    if writer is None:
        raise InputError(f"{fspath(path)!r}: write a file that ends in {', '.join(_WRITERS)}.")
    if ending == ".xlsx":
        office("xlsxwriter")
    target = require_writable(path, inputs=inputs)
    if target.exists() and target.stat().st_size and not _is_ours(target):
        raise InputError(
            f"Will not write over {fspath(path)!r}, which holds something else; delete it or name another."
        )
    return writer


def _is_ours(path: Path) -> bool:
    """Whether an existing file is an earlier workbook of this program."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = [name for name in _AUTHOR_PARTS if name in archive.namelist()]
            return any(_AUTHOR.encode() in archive.read(name) for name in parts)
    except (OSError, zipfile.BadZipFile):
        with path.open("rb") as file:
            return file.read(len(_HTML_START)) == _HTML_START.encode()


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


def _formats(values: Sequence[Any]) -> list[str]:
    """The format of each cell of a column: whole numbers have no decimals where the column has no others."""
    numbers = [value for value in values if isinstance(value, int | float)]
    whole = all(float(value).is_integer() for value in numbers)
    return ["whole" if whole or not isinstance(value, int | float) else _format(abs(value)) for value in values]


def _format(size: float) -> str:
    if 0.0 < size < 5e-4:
        return "tiny"
    return "share" if size <= 10.0 else "amount"


def _with_formats(sheet: Sheet) -> list[tuple[str, list[tuple[Any, str]]]]:
    """The columns of a sheet: cells with their formats."""
    plain = {name: [_plain(value) for value in values] for name, values in sheet.columns.items()}
    return [(visible(name), list(zip(values, _formats(values), strict=True))) for name, values in plain.items()]


def _xlsx(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    options = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
    with office("xlsxwriter").Workbook(str(path), options) as book:
        book.set_properties({"created": _MADE, "author": _AUTHOR})
        bold, title = book.add_format({"bold": True, "bottom": 1, "text_wrap": True}), book.add_format({"italic": True})
        formats = {name: book.add_format({"num_format": form}) for name, form in _FORMATS.items()}
        for name, sheet in sheets:
            page = book.add_worksheet(name)
            top = 1 if sheet.title else 0
            if sheet.title:
                page.write_string(0, 0, visible(sheet.title), title)
            for place, (column, cells) in enumerate(_with_formats(sheet)):
                page.write_string(top, place, column, bold)
                for row, (value, form) in enumerate(cells, top + 1):
                    if isinstance(value, str):
                        page.write_string(row, place, value)
                    elif value is not None:
                        page.write_number(row, place, value, formats[form])
                widest = max([len(column), *(len(str(value)) for value, _ in cells[:200])])
                page.set_column(place, place, min(max(widest + 2, 8), 60))
            page.freeze_panes(top + 1, 0)


def _ods(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{_ods_rows(sheet)}</table:table>" for name, sheet in sheets
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_NAMESPACES} office:version="1.3">'
        f"{_ODS_STYLES}<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    parts = {"mimetype": _ODS, "META-INF/manifest.xml": _MANIFEST, "content.xml": content, "meta.xml": _ODS_META}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            packed = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _MADE.timetuple()[:6]), text.encode(), packed)


def _ods_rows(sheet: Sheet) -> str:
    def cell(value: Any, form: str) -> str:
        if value is None:
            return "<table:table-cell/>"
        if isinstance(value, str):
            return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
        return f'<table:table-cell table:style-name="{form}" office:value-type="float" office:value="{value!r}"/>'

    columns = _with_formats(sheet)
    lines = [*([[(visible(sheet.title), "")]] if sheet.title else []), [(name, "") for name, _ in columns]]
    lines += [list(line) for line in zip(*(cells for _, cells in columns), strict=True)]
    return "".join(f"<table:table-row>{''.join(cell(*one) for one in line)}</table:table-row>" for line in lines)


def _html(path: Path, sheets: Sequence[tuple[str, Sheet]]) -> None:
    """Tables that a text processor takes over with their alignment."""
    parts = [f"{_HTML_START}<title>Tables</title>"]
    for name, sheet in sheets:
        columns = _with_formats(sheet)
        parts += [f"<h2>{html.escape(visible(sheet.title or name))}</h2><table border='1' cellspacing='0'><tr>"]
        parts += [f"<th{_as_text(column)}>{html.escape(column)}</th>" for column, _ in columns]
        parts += [
            "</tr><tr>" + "".join(_html_cell(*cell) for cell in line)
            for line in zip(*(cells for _, cells in columns), strict=True)
        ]
        parts.append("</tr></table>")
    path.write_text("\n".join(parts), encoding="utf-8")


def _as_text(text: str) -> str:
    """What keeps a cell text in a spreadsheet that takes the table over and would compute it."""
    return " style='mso-number-format:\"\\@\"' sdnum='1033;0;@'" if text.startswith(("=", "+", "-", "@")) else ""


#: Formats of numbers in Python's own language.
_WRITTEN = {"whole": ",.0f", "share": ",.4f", "amount": ",.2f", "tiny": ".2e"}


def _html_cell(value: Any, form: str) -> str:
    if isinstance(value, int | float):
        return f"<td align='right'>{value:{_WRITTEN[form]}}</td>"
    return f"<td{_as_text(value or '')}>{html.escape(value or '')}</td>"


_Writer = Callable[[Path, Sequence[tuple[str, Sheet]]], None]
_WRITERS: dict[str, _Writer] = {
    ".xlsx": _xlsx,
    ".ods": _ods,
    ".html": _html,
}

_ODS = "application/vnd.oasis.opendocument.spreadsheet"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_NAMESPACES = " ".join(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "table", "text", "style"))
_NAMESPACES += f' xmlns:number="{_OASIS}:datastyle:1.0" xmlns:meta="{_OASIS}:meta:1.0"'
_ODS_META = (
    f'<?xml version="1.0" encoding="UTF-8"?><office:document-meta {_NAMESPACES} office:version="1.3"><office:meta>'
    f"<meta:generator>{_AUTHOR}</meta:generator></office:meta></office:document-meta>"
)
_ODS_NUMBERS = {
    "whole": '<number:number number:decimal-places="0" number:min-integer-digits="1" number:grouping="true"/>',
    "share": '<number:number number:decimal-places="4" number:min-decimal-places="4" number:min-integer-digits="1"/>',
    "amount": '<number:number number:decimal-places="2" number:min-decimal-places="2" number:min-integer-digits="1" '
    'number:grouping="true"/>',
    "tiny": '<number:scientific-number number:decimal-places="2" number:min-decimal-places="2" '
    'number:min-integer-digits="1" number:min-exponent-digits="2"/>',
}
_ODS_STYLES = "".join(
    f'<number:number-style style:name="N{name}">{number}</number:number-style>'
    f'<style:style style:name="{name}" style:family="table-cell" style:data-style-name="N{name}"/>'
    for name, number in _ODS_NUMBERS.items()
)
_ODS_STYLES = f"<office:automatic-styles>{_ODS_STYLES}</office:automatic-styles>"
_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?>'
    f'<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0" manifest:version="1.3">'
    f'<manifest:file-entry manifest:full-path="/" manifest:version="1.3" manifest:media-type="{_ODS}"/>'
    '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
    '<manifest:file-entry manifest:full-path="meta.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)
