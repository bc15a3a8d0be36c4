"""Numbers written in other ways than 1234.5: decimal commas, thousands marks and per cent signs, from whole columns.

What a column means is decided from all its values. "1.234" alone has two readings, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Column
from tallymark.errors import InputError
from tallymark.sources.duck import quoted, text

#: Spaces that stand in numbers, and the apostrophe of Swiss ones, in a class of a regular expression.
_SPACES = " \u00a0\u2007\u202f'’"

#: Patterns of a number without spaces and per cent sign. A group is three digits behind a mark.
_PATTERNS = {
    # Only a decimal point is possible (with commas between thousands: `grouped`), only a decimal comma, or either: one
    # group, which may be a fraction. Each with the mark that it has.
    "point": (".", r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?"),
    "grouped": (",", r"[+-]?\d{1,3}(,\d{3})+\.\d*([eE][+-]?\d+)?|[+-]?[1-9]\d{0,2}(,\d{3}){2,}"),
    "comma": (",", r"[+-]?(\d+,\d*|,\d+|\d{1,3}(\.\d{3})+,\d*)([eE][+-]?\d+)?"),
    "groups": (".", r"[+-]?[1-9]\d{0,2}(\.\d{3}){2,}"),
    "either_point": (".", r"[+-]?[1-9]\d{0,2}\.\d{3}"),
    "either_comma": (",", r"[+-]?[1-9]\d{0,2},\d{3}"),
}

#: A header that says its numbers are per cent.
_PER_CENT = re.compile(
    r"%|(?<![^\W_])(per ?cent|percentage|pct|procent|prozent|pour ?cent\w*|por ?ciento|per ?cento)(?![^\W_])",
    re.IGNORECASE,
)

#: Rows looked at before the whole column is.
_FIRST = 2_000

Query = Callable[[str], Mapping[str, Column]]


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a text column are written."""

    decimal: str = "."
    #: Marks of thousands and spaces to remove.
    removed: str = ""
    #: Whether other columns showed what the decimal mark is.
    by_others: bool = False
    per_cent: bool = False

    def sql(self, name: str) -> str:
        """The column as floats, in SQL."""
        value = f"trim(replace({quoted(name)}, '−', '-'), {text(_SPACES)})"
        if self.per_cent:
            value = f"rtrim({value}, {text('%' + _SPACES)})"
        if self.removed:
            value = f"translate({value}, {text(self.removed)}, '')"
        if self.decimal == ",":
            value = f"replace({value}, ',', '.')"
        number = f"CAST(nullif({value}, '') AS DOUBLE)"
        return f"({number} / 100)" if self.per_cent else number


@dataclass(frozen=True)
class _Evidence:
    """An example of each pattern among a column's values; None of those without one."""

    name: str
    point: str | None
    grouped: str | None
    comma: str | None
    either_point: str | None
    either_comma: str | None
    spaced: str | None
    signed: str | None
    unsigned: str | None
    minus: str | None
    odd: str | None

    @property
    def decimal_marks(self) -> set[str]:
        """The decimal marks that some value shows."""
        return ({"."} if self.point or self.grouped else set()) | ({","} if self.comma else set())

    @property
    def is_plain(self) -> bool:
        """Whether the engine reads every value as it is meant."""
        marks = (self.grouped, self.comma, self.either_point, self.either_comma, self.spaced, self.signed, self.minus)
        return not any(marks)


def number_formats(
    columns: Sequence[str], rows: str, query: Query, *, shown: str, decimal: str | None = None
) -> dict[str, NumberFormat]:
    """The formats of those text columns among `columns` that are not written as the engine reads them.

    `rows` is what stands in a query's FROM with these columns as text; `decimal` the mark that the caller states.
    """
    found, common = _unlike(columns, rows, query, decimal)
    formats = {one.name: _format_of(one, decimal, common, shown) for one in found}
    return {name: one for name, one in formats.items() if one is not None}


def number_columns(
    columns: Sequence[str], rows: str, query: Query, *, shown: str, decimal: str | None
) -> tuple[dict[str, NumberFormat], list[str]]:
    """The formats of those text columns that hold numbers in another way of writing, and what has two readings."""
    found, common = _unlike(columns, rows, query, decimal)
    formats: dict[str, NumberFormat] = {}
    unclear: list[str] = []
    for one in found:
        if one.odd is not None:
            continue
        try:
            form = _format_of(one, decimal, common, shown)
        except InputError as error:
            unclear.append(str(error))
        else:
            formats |= {} if form is None else {one.name: form}
    return formats, unclear


def _unlike(columns: Sequence[str], rows: str, query: Query, decimal: str | None) -> tuple[list[_Evidence], str | None]:
    """Evidence of the columns that may need a format, and the one decimal mark that columns of the file show."""
    if not columns:
        return [], None
    # A column whose first rows show a decimal point is read so; a comma further down is then refused.
    first = [] if decimal is not None else _evidence(columns, f"(SELECT * FROM {rows} LIMIT {_FIRST})", query)
    known = {one.name: one for one in first if one.is_plain and one.point and not one.odd}
    unknown = [name for name in columns if name not in known]
    found = _evidence(unknown, rows, query) if unknown else []
    marks: set[str] = set().union(*(one.decimal_marks for one in (*known.values(), *found) if one.odd is None))
    return found, marks.pop() if len(marks) == 1 else None


def of_numbers(columns: Sequence[str], rows: str, query: Query) -> list[str]:
    """Those text columns that hold nothing but numbers, however they are written, and at least one."""
    return [
        one.name
        for one in (_evidence(columns, rows, query) if columns else ())
        if one.odd is None and (one.signed or one.unsigned)
    ]


def replaced(rows: str, values: Mapping[str, str]) -> str:
    """Rows with other values in some columns, in a query's FROM."""
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in values.items())
    return f"(SELECT * REPLACE ({listed}) FROM {rows})"


def is_per_cent(header: str) -> bool:
    """Whether a header says that its numbers are per cent."""
    return _PER_CENT.search(header) is not None


def said(formats: Mapping[str, NumberFormat], divided: Sequence[str]) -> list[str]:
    """What was read in another way than it is written."""
    marks = [(",", "decimal comma"), (".", "thousands marks")]
    said = [
        words
        for mark, words in marks
        if any(one.decimal == mark and (mark == "," or one.removed) for one in formats.values())
    ]
    marked = [
        f"{name} with a decimal {'comma' if one.decimal == ',' else 'point'} as other columns"
        for name, one in formats.items()
        if one.by_others
    ]
    return [*said, *marked, *(f"{name} divided by 100" for name in divided)]


def _evidence(columns: Sequence[str], rows: str, query: Query) -> list[_Evidence]:
    values = ", ".join(
        f"nullif(trim(replace({quoted(name)}::VARCHAR, '−', '-'), {text(_SPACES)}), '') AS v{i}, "
        f"contains({quoted(name)}::VARCHAR, '−') AS m{i}"
        for i, name in enumerate(columns)
    )
    # The sign of per cent and spaces between groups of three digits are taken off before the patterns are tried.
    spaced = text(rf"[+-]?\d{{1,3}}([{_SPACES}]\d{{3}})+([.,]\d*)?")
    bodies = ", ".join(
        f"v{i}, m{i}, regexp_full_match(b{i}, {spaced}) AS s{i}, "
        f"CASE WHEN regexp_full_match(b{i}, {spaced}) THEN translate(b{i}, {text(_SPACES)}, '') ELSE b{i} END AS b{i}"
        for i in range(len(columns))
    )
    cut = ", ".join(f"v{i}, m{i}, rtrim(v{i}, {text('%' + _SPACES)}) AS b{i}" for i in range(len(columns)))
    matches = ", ".join(
        f"v{i}, m{i}, s{i}, "
        + ", ".join(
            # A look at the mark costs a tenth of a pattern.
            f"CASE WHEN contains(b{i}, {text(mark)}) THEN regexp_full_match(b{i}, {text(pattern)}) ELSE false END "
            f"AS {name}{i}"
            for name, (mark, pattern) in _PATTERNS.items()
        )
        + f", TRY_CAST(b{i} AS DOUBLE) IS NOT NULL AS number{i}"
        for i in range(len(columns))
    )
    asked = ", ".join(
        f"min(v{i}) FILTER ({condition}) AS {name}{i}"
        for i in range(len(columns))
        for name, condition in (
            ("point", f"point{i} AND NOT either_point{i}"),
            ("grouped", f"grouped{i}"),
            ("comma", f"(comma{i} AND NOT either_comma{i}) OR groups{i}"),
            ("either_point", f"either_point{i}"),
            ("either_comma", f"either_comma{i}"),
            ("spaced", f"s{i}"),
            ("signed", f"ends_with(v{i}, '%')"),
            ("unsigned", f"NOT ends_with(v{i}, '%')"),
            ("minus", f"m{i}"),
            ("odd", f"NOT (point{i} OR grouped{i} OR comma{i} OR groups{i} OR number{i})"),
        )
    )
    answer = query(
        f"SELECT {asked} FROM (SELECT {matches} FROM (SELECT {bodies} FROM (SELECT {cut} FROM "
        f"(SELECT {values} FROM {rows}))))"
    )

    def example(name: str, i: int) -> Any:
        return np.ma.asarray(answer[f"{name}{i}"]).tolist()[0]

    names = [name for name in _Evidence.__dataclass_fields__ if name != "name"]
    return [_Evidence(column, **{name: example(name, i) for name in names}) for i, column in enumerate(columns)]


def _format_of(one: _Evidence, decimal: str | None, common: str | None, shown: str) -> NumberFormat | None:
    """The format of a column; None where the engine reads it, or says better what is wrong."""
    if one.odd is not None and one.is_plain:
        return None
    where = f"{shown!r}: {one.name}"
    if one.odd is not None:
        raise InputError(f"{where} holds {one.odd!r}, expected numbers.")
    if one.signed and one.unsigned:
        raise InputError(f"{where} holds {one.signed!r} and {one.unsigned!r}: write all with a per cent sign or none.")
    mark = decimal or _mark_of(one, common, where)
    point = one.point or one.grouped
    against, other = (point, one.comma) if mark == "," else (one.comma, point)
    if against is not None:
        beside = f" beside {other!r}" if other and decimal is None else ""
        name = {",": "comma", ".": "point"}[mark]
        raise InputError(f"{where} holds {against!r}{beside}, which is no number with a decimal {name}.")
    if mark == "." and one.is_plain:
        return None
    groups = "." if mark == "," else "," if one.grouped or one.either_comma else ""
    removed = groups + (_SPACES if one.spaced else "")
    by_others = decimal is None and not one.decimal_marks and bool(one.either_point or one.either_comma)
    if mark == "." and not (removed or one.signed or one.minus or by_others):
        return None
    return NumberFormat(mark, removed, by_others, per_cent=one.signed is not None)


def _mark_of(one: _Evidence, common: str | None, where: str) -> str:
    """The decimal mark: by the column's own values, else by the file's other columns, else it must be stated."""
    if one.point or one.grouped or one.comma:
        return "," if one.comma else "."
    if one.either_point is None and one.either_comma is None:
        return "."
    if one.either_point and one.either_comma:
        raise InputError(
            f"{where} holds {one.either_point!r} and {one.either_comma!r}; state the decimal mark (--decimal)."
        )
    if common is not None:
        return common
    example = one.either_point or one.either_comma or ""
    fraction, whole = example.replace(",", "."), re.sub("[.,]", "", example)
    option, other = ("point", "comma") if one.either_point else ("comma", "point")
    raise InputError(
        f"{where} holds {example!r} and no value that shows whether that is {fraction} or {whole}. State the decimal "
        f'mark: --decimal {option} reads {fraction}, --decimal {other} reads {whole} (tm.data_file(…, decimal="…")).'
    )
