"""The path of a data file, with what the file itself does not say: encoding, separator, decimal mark, sheet."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from os import PathLike, fspath

from tallymark.errors import InputError

#: Names of separators and decimal marks that a shell makes hard to type.
_NAMED = {"tab": "\t", "\\t": "\t", "semicolon": ";", "comma": ",", "point": ".", "dot": ".", "space": " "}


class DataFile(str):  # noqa: SLOT000 - its options are attributes
    """The path of a file, or a pattern, with options of reading it; wherever a path is taken, this is too."""

    encoding: str | None
    separator: str | None
    decimal: str | None
    sheet: str | None

    @property
    def options(self) -> dict[str, str]:
        """The options that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}


def data_file(
    path: str | PathLike[str],
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
) -> DataFile:
    """A file with what cannot be recognised in it, to be passed wherever a path is.

    Without options a CSV's encoding (UTF-8, UTF-16, Windows-1252), separator, decimal mark, thousands mark and per cent
    signs are recognised; what has two readings is refused.

    Parameters
    ----------
    path
        The file, or a pattern.
    encoding
        Of a CSV, such as ``"latin-1"`` or ``"cp1250"``; of a Stata, SPSS or SAS file that does not state it.
    separator
        Between the fields of a CSV: one character, or ``"tab"``.
    decimal
        ``","`` or ``"."`` (or ``"comma"``, ``"point"``): the mark before the fraction of a number that is text.
    sheet
        Name of a spreadsheet's sheet, or its number from 1.

    Returns
    -------
    DataFile
        A text with the options beside it.

    Examples
    --------
    >>> import tallymark as tm
    >>> tm.data_file("offices.csv", encoding="cp1250", decimal=",").options
    {'encoding': 'cp1250', 'decimal': ','}

    """
    if not isinstance(path, str | PathLike):
        raise InputError(f"The file is {path!r}, expected a path.")
    file = DataFile(fspath(path))
    file.encoding = _encoding(encoding)
    file.separator = _separator(separator)
    file.decimal = _decimal(decimal)
    file.sheet = _sheet(sheet)
    return file


def options_of(path: object) -> Mapping[str, str]:
    """The options that a path carries."""
    return path.options if isinstance(path, DataFile) else {}


def _encoding(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        known = codecs.lookup(value)
        b"x".decode(known.name)
    except (LookupError, TypeError, ValueError):
        raise InputError(f"encoding={value!r} is not known; name one such as 'utf-8', 'latin-1' or 'cp1252'.") from None
    return known.name


def _separator(value: str | None) -> str | None:
    if value is None:
        return None
    mark = _NAMED.get(value, value) if isinstance(value, str) else value
    if not isinstance(mark, str) or len(mark) != 1 or mark in "\r\n\"'":
        raise InputError(f"separator={value!r}: name one character such as ',' or ';', or 'tab'.")
    return mark


def _decimal(value: str | None) -> str | None:
    mark = _NAMED.get(value, value) if isinstance(value, str) else value
    if mark is not None and (not isinstance(mark, str) or mark not in {".", ","}):
        raise InputError(f"decimal={value!r}: it is ',' or '.' (or 'comma', 'point').")
    return mark


def _sheet(value: str | int | None) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"sheet={value!r}: name a sheet, or give its number from 1.")
    return str(value)
