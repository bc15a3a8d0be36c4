"""File formats and how the engine reads each: named columns are typed by their role, never sniffed."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Literal, NamedTuple

from tallymark._check import MISSING_WORDS
from tallymark.errors import ColumnError, InputError, shown
from tallymark.sources.data_file import options_of

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class Wanted(NamedTuple):
    """A column to read, the option that named it, and the kind of its values."""

    column: str
    option: str
    #: Columns of kind class hold the same labels (the truth and predictions), so they have one type.
    kind: Literal["text", "class", "number", "count"] = "text"

    @property
    def is_text(self) -> bool:
        """Whether it holds labels or names, which may be text."""
        return self.kind in {"text", "class"}


#: Type of a named column of a file without types: codes keep their zeros, scores their fractions.
_TYPE_BY_KIND = {"text": "VARCHAR", "class": "VARCHAR", "number": "DOUBLE", "count": "DOUBLE"}


@dataclass(frozen=True)
class Format:
    """A file format: the extensions (``.gz`` and ``.zst`` may follow) and the options of the engine's reader."""

    endings: tuple[str, ...]
    function: str
    options: tuple[str, ...] = ()
    #: Spellings of a missing value.
    missing: tuple[str, ...] = ()
    #: The reader's option that fixes types; None where the file stores them.
    typing: str | None = None
    #: Further options under which the fields come as they are written.
    verbatim: tuple[str, ...] = ()
    #: Options under which types are inferred from all rows instead of the first ones.
    thorough: tuple[str, ...] = ()
    #: Further options to see a file's columns fast; None where a column that is absent is a missing value.
    peek: tuple[str, ...] | None = ()
    #: Options of :func:`tallymark.data_file` that say how such a file is read.
    stated: frozenset[str] = frozenset()

    def reader(self, options: Sequence[str]) -> str:
        """The files in a query's FROM; their names are its one parameter."""
        return f"{self.function}({', '.join(('?', *options))})"


PARQUET = Format((".parquet", ".pq"), "read_parquet")
CSV = Format(
    (".csv", ".tsv", ".txt"),
    "read_csv",
    (
        # Numbers and text only: DuckDB would read the labels "yes" and "no" as true and false, dates as times, and
        # round the fractions of a column that begins with whole numbers.
        "auto_type_candidates = ['DOUBLE', 'VARCHAR']",
    ),
    missing=(f"nullstr = {list(MISSING_WORDS)}",),
    typing="types",
    verbatim=("all_varchar = true",),
    peek=("sample_size = 100",),
    stated=frozenset({"encoding", "separator", "decimal"}),
)
JSON = Format(
    (".jsonl", ".ndjson"),
    "read_json",
    ("format = 'newline_delimited'",),
    typing="columns",
    thorough=("sample_size = -1",),
    peek=None,
)
#: A whole file of JSON: a list of objects, or an object in which `#path` of the file's name leads to one.
DOCUMENT = Format((".json",), "read_json", ("format = 'auto'", "maximum_object_size = 1073741824"), peek=None)
#: Files that are copied into Parquet before the engine reads them.
SPREADSHEET = Format((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "", stated=frozenset({"sheet", "decimal"}))
STATISTICS = Format(
    (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt"), "", stated=frozenset({"encoding", "decimal"})
)
_FORMATS = (PARQUET, CSV, JSON, DOCUMENT, SPREADSHEET, STATISTICS)

#: Endings of the files that can be read.
ENDINGS = tuple(ending + packed for form in _FORMATS for ending in form.endings for packed in ("", ".gz", ".zst"))


@dataclass(frozen=True)
class Files:
    """One or more files of one kind."""

    form: Format
    names: tuple[str, ...]
    shown: str
    #: Where the rows are in a file of JSON, one name per level; empty where the file is a list of them.
    inside: tuple[str, ...] = ()
    #: Options that the caller states of how they are read.
    options: Mapping[str, str] = field(default_factory=dict)
    #: What the engine reads in place of the files; empty where it reads them.
    copies: tuple[str, ...] = ()
    #: What was recognised in making the copies.
    said: tuple[str, ...] = ()

    @property
    def places(self) -> list[str]:
        """Absolute paths for the engine, with wildcards escaped."""
        return [_literal(os.path.abspath(name)) for name in self.copies or self.names]  # noqa: PTH100 - keeps links

    @property
    def allowed(self) -> list[str]:
        """Everything the engine may open."""
        return [*self.places, *(os.path.abspath(name) for name in self.copies or self.names)]  # noqa: PTH100

    @property
    def folder_keys(self) -> set[str]:
        """Columns that the folders' names would add: ``region`` of ``region=north/``."""
        folders = {part for name in self.names for part in Path(os.path.abspath(name)).parent.parts}  # noqa: PTH100
        return {part.partition("=")[0].lower() for part in folders if "=" in part}

    @classmethod
    def at(cls, paths: Paths) -> Files:
        """Files by path, wildcard or list of either; each must exist, hold something and be of one known kind."""
        if not isinstance(paths, str | PathLike | list | tuple):
            raise InputError(
                f"The files are {paths!r}; name a file, a pattern like 'scores/*.parquet', or a list of them."
            )
        several = [paths] if isinstance(paths, str | PathLike) else paths
        if odd := [p for p in several if not isinstance(p, str | PathLike)]:
            raise InputError(f"One of the files is {odd[0]!r}, expected a path.")
        given, inside = _without_path([fspath(p) for p in several])
        if not given:
            raise InputError("No files given; name a file, a pattern like 'scores/*.parquet', or a list of them.")
        items = [name for pattern in given for name in expanded(pattern)]
        for name in items:
            require_text(name)
        forms = {_format(Path(name)) for name in items}
        if len(forms) > 1:
            raise InputError("The files are of different kinds; read CSV and Parquet files apart.")
        shown_name = given[0] if len(given) == 1 else f"{len(items)} files"
        form = forms.pop()
        options = options_of(several[0])
        if any(options_of(path) != options for path in several):
            raise InputError("The files are read with different options; state the same of each, or read them apart.")
        if unused := [f"{name}=" for name in options if name not in form.stated]:
            raise InputError(f"{shown_name!r}: {', '.join(unused)} says nothing of such a file.")
        return cls(form, tuple(items), shown_name, inside, options)


def _without_path(given: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The names of files without the path to the rows inside of them (``log.json#results.rows``), and that path."""
    file, mark, path = given[0].rpartition("#") if len(given) == 1 else ("", "", "")
    # A file may have the mark in its name.
    if not mark or not file.lower().removesuffix(".gz").endswith(".json") or os.path.exists(given[0]):  # noqa: PTH110 - names too long
        return given, ()
    return [file], tuple(part for part in path.split(".") if part)


def require_text(name: str) -> None:
    """Refuse a file name that is not valid UTF-8."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{name!a} is no name in UTF-8; rename the file.") from None


def column_names(value: object, option: str) -> list[str]:
    """Names of columns from one or several, none of None."""
    if value is None:
        return []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise InputError(
            f"{option}{value!r}: columns are named by text, or by a list of texts; rename the column first."
        )
    return list(listed)


def require_columns(wanted: Sequence[Wanted], present: Mapping[str, str]) -> None:
    """Refuse a column that is missing, or whose type does not fit its role."""
    for one in wanted:
        name, option, kind = one
        if name not in present:
            raise ColumnError(f"{ColumnError.missing(name, list(present), option)}{_named_by_place(name, present)}")
        column_type = present[name]
        if not one.is_text and not _NUMERIC.fullmatch(column_type):
            raise InputError(f"{name} holds {column_type}, expected numbers; convert the column first.")
        if kind == "count" and not is_whole(column_type):
            raise InputError(
                f"{name} holds {column_type}, expected whole numbers (how often each row occurs); "
                "for survey or expenditure weights use weight=."
            )
        if one.is_text and _NESTED.search(column_type):
            raise InputError(f"{name} holds {column_type}; expected text, whole numbers or bools.")


def _named_by_place(name: str, present: Mapping[str, str]) -> str:
    """What to do about a column whose header is read as a missing value."""
    unnamed = [column for column in present if re.fullmatch(r"column\d+", column)] if name in MISSING_WORDS else []
    if not unnamed:
        return ""
    return (
        f" A header {name!r} is read as a missing value, and such a column is named by its place: {shown(unnamed)}. "
        "Use that name, or rename the column in the file."
    )


def is_whole(kind: str) -> bool:
    """Whether a type holds whole numbers only."""
    return _WHOLE.fullmatch(kind) is not None


def is_number(kind: str) -> bool:
    """Whether a type holds numbers."""
    return _NUMERIC.fullmatch(kind) is not None


def types_by_role(wanted: Sequence[Wanted]) -> dict[str, str]:
    """Types of named columns of a file without types; one that is wanted as numbers and as text is numeric."""
    return {name: _TYPE_BY_KIND[kind] for name, _, kind in sorted(wanted, key=lambda one: not one.is_text)}


_NUMERIC = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|BOOLEAN")
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")
_NESTED = re.compile(r"(STRUCT|MAP|UNION|BLOB|\[)")


def expanded(pattern: str) -> list[str]:
    """The files that match a pattern; a file of that exact name comes before its wildcards."""
    (pattern,), _ = _without_path([pattern])
    try:
        path = Path(pattern)
        if path.is_dir():
            example = pattern.rstrip("/") + "/*.parquet"
            raise InputError(f"{pattern!r} is a directory; name its files, e.g. {example!r}.")
        if path.exists():
            return [pattern]
        matches = sorted(name for name in glob.glob(_escaped(path), recursive=True) if Path(name).is_file())
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"No file can be called {pattern[:80]!r}: {error.args[-1]}.") from None
    if matches:
        return matches
    if any(c in pattern for c in "*?["):
        raise InputError(f"No file matches {pattern!r}; check the folder and the pattern.")
    raise InputError(f"No file {pattern!r}; check the path.")


def _escaped(path: Path) -> str:
    """The pattern with wildcards escaped in the folders that exist under that exact name."""
    for folder in path.parents:
        if folder.is_dir():
            return str(Path(glob.escape(str(folder))) / path.relative_to(folder))
    return str(path)


def stated_of(path: str) -> frozenset[str]:
    """The options that may be stated of a file or pattern, by its ending; none of an unknown one."""
    form = _by_ending(path)
    return frozenset() if form is None else form.stated


def _by_ending(name: str) -> Format | None:
    bare = name.lower().removesuffix(".gz").removesuffix(".zst")
    return next((form for form in _FORMATS if bare.endswith(form.endings)), None)


def _format(file: Path) -> Format:
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InputError(
            f"{str(file)!r} is not a regular file; write the rows to disk first, or pipe them into a command with - in "
            "place of the file."
        )
    if status.st_size == 0:
        raise InputError(f"{str(file)!r} is empty.")
    if form := _by_ending(file.name):
        return form
    endings = ", ".join(ending for form in _FORMATS for ending in form.endings)
    raise InputError(f"{str(file)!r}: cannot tell the format; use a name that ends in {endings}.")


def _literal(path: str) -> str:
    """The path with wildcards escaped: a file may be called ``scores[1].csv``."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
