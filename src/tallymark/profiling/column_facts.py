"""Facts of every column of a file or a dataframe, aggregated in SQL: types, ranges, missing values, frequent values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from tallymark import _check
from tallymark._check import Column, Label
from tallymark.errors import InputError
from tallymark.notes import Note, emit
from tallymark.sources.data_file import options_of
from tallymark.sources.duck import connected, quoted
from tallymark.sources.engine import engine
from tallymark.sources.files import Reading
from tallymark.sources.formats import STATISTICS, Files, Wanted, is_number, is_whole
from tallymark.sources.frames import column_names_of, is_frame, read_columns
from tallymark.sources.number_texts import number_columns, replaced, said

#: Rows that are shown as examples, and in which a text column is tried as numbers.
_FIRST = 1_000

#: Columns with at most about so many different values have all of them counted.
_FEW = 300

#: Examples of a column.
_EXAMPLES = 3

#: Among fewer rows a column separates two classes by chance.
_CHANCE = 20

#: Rows up to which repeated identifiers are counted; of more, those of a share of the identifiers.
_COUNTED = 1_000_000


@dataclass(frozen=True)
class ColumnFacts:
    """What was counted of one column."""

    name: str
    #: whole numbers, numbers, bools, dates, text or nested.
    type: str
    rows: int
    missing: int
    #: Number of different values: counted where `values` has them all, else estimated (HyperLogLog).
    distinct: int
    examples: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    #: Rows whose number is not whole, is below 0 or above 1, and is infinite.
    fractions: int = 0
    outside: int = 0
    infinite: int = 0
    #: Mean number of characters of a text.
    length: float | None = None
    #: Cells of a text column that are no numbers, where most are.
    odd: tuple[str, ...] = ()
    #: Each value with its number of rows, most frequent first; None where there are too many.
    values: Mapping[Label, int] | None = None
    #: How each of these values is written in the data.
    spelling: Mapping[Label, str] = field(default_factory=dict)
    #: Rows whose value another row has too (of more than a million rows estimated); None where it was not asked.
    repeated: int | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return self.type in {"numbers", "whole numbers"}

    @property
    def is_probability(self) -> bool:
        """Whether it holds numbers from 0 to 1, and others than these two."""
        return self.is_number and not self.outside and not self.infinite and self.fractions > 0


@dataclass(frozen=True)
class Rows:
    """Rows open for queries; `reader` stands once in the FROM of each."""

    shown: str
    reader: str
    types: Mapping[str, str]
    #: Columns of which the file does not store the type, with whether their first rows are numbers.
    untyped: Mapping[str, bool]
    query: Callable[[str], dict[str, Column]]

    def number(self, name: str) -> str:
        """A column as floats, in SQL; NaN is a missing value."""
        return f"nullif(TRY_CAST({quoted(name)} AS DOUBLE), 'nan'::DOUBLE)"

    def present(self, name: str) -> str:
        """Whether a row has a value, in SQL."""
        if self.types[name] in {"FLOAT", "DOUBLE"}:
            return f"({quoted(name)} IS NOT NULL AND NOT isnan({quoted(name)}))"
        return f"{quoted(name)} IS NOT NULL"


@contextmanager
def opened(data: Any) -> Iterator[Rows]:
    """A file, several, or a dataframe."""
    if isinstance(data, str | PathLike | list | tuple):
        with engine(data, thorough=True) as source:
            types, untyped = dict(source.types), source.untyped
            if not untyped and Files.at(data).form is not STATISTICS:
                yield _with_numbers(Rows(source.shown, source.reader, types, {}, source.query), data)
                return
        # Of a file without types every cell is read as it is written: a text far below must not stop the reading. Codes
        # with labels are read as the commands read a truth: by their labels.
        texts = [Wanted(name, "look", "text") for name in types if name in untyped or not untyped]
        with engine(data, texts, thorough=True) as source:
            numbers = {name: is_number(types[name]) for name in untyped}
            yield _with_numbers(Rows(source.shown, source.reader, source.types, numbers, source.query), data)
    elif is_frame(data):
        columns = read_columns(data, [Wanted(name, "look", "text") for name in column_names_of(data)])
        if not columns:
            raise InputError("The dataframe has no columns.")
        with connected("the dataframe", []) as duck:
            duck.register("tallymark_rows", {name: _typed(column) for name, column in columns.items()})
            described = duck.query("DESCRIBE SELECT * FROM tallymark_rows")
            types = dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))
            yield Rows("the dataframe", "tallymark_rows", types, {}, duck.query)
    else:
        raise InputError(f"Got a {type(data).__name__}, expected a dataframe or the path of a file.")


def _with_numbers(rows: Rows, data: Any) -> Rows:
    """The rows with text columns converted that hold numbers with decimal commas, thousands marks or per cent signs."""
    texts = [name for name, kind in rows.types.items() if kind == "VARCHAR"]
    decimal = options_of(data).get("decimal")
    shown = Path(rows.shown).name
    formats, unclear = number_columns(texts, rows.reader, rows.query, shown=shown, decimal=decimal)
    emit([Note("TM130", message) for message in unclear])
    if not formats:
        return rows
    divided = [name for name, one in formats.items() if one.per_cent]
    emit([Note("TM130", f"{shown}: read as {', '.join(said(formats, divided))}.")])
    return replace(
        rows,
        reader=replaced(rows.reader, {name: one.sql(name) for name, one in formats.items()}),
        types=dict(rows.types) | dict.fromkeys(formats, "DOUBLE"),
        untyped={name: is_number for name, is_number in rows.untyped.items() if name not in formats},
    )


def _typed(column: Column) -> Column:
    """A column of objects with the type that its values have: the engine would go by the first ones."""
    if column.dtype.kind != "O":
        return column
    mask = np.ma.getmaskarray(column)
    present = np.ma.getdata(column)[~mask]
    kinds = {type(value) for value in present.tolist()}
    if kinds and kinds <= {bool, np.bool_}:
        dtype: Any = np.bool_
    elif kinds and all(issubclass(kind, int | float | np.integer | np.floating) for kind in kinds):
        dtype = np.int64 if all(issubclass(kind, int | np.integer) for kind in kinds) else np.float64
    elif kinds and all(issubclass(kind, str) for kind in kinds):
        return column
    else:
        texts = np.array([None if gone else str(value) for value, gone in zip(column.tolist(), mask, strict=True)], "O")
        return np.ma.MaskedArray(texts, mask)
    try:
        values = np.zeros(len(column), dtype)
        values[~mask] = present.astype(dtype)
    except (OverflowError, ValueError):
        return column
    return np.ma.MaskedArray(values, mask)


def facts_of(rows: Rows) -> list[ColumnFacts]:
    """The facts of each column: one query of all rows, and one of the columns that have few values."""
    if not rows.types:
        raise InputError(f"{rows.shown!r} has no columns.")
    first = rows.query(f"SELECT {_listed(map(_shown_text, rows.types))} FROM {rows.reader} LIMIT {_FIRST}")
    peeks = {name: _compressed(first[f"c{place}"]) for place, name in enumerate(rows.types)}
    kinds = {name: _kind(rows, name) for name in rows.types}
    asked = {name: _aggregates(rows, name, kinds[name]) for name in rows.types}
    listed = [f"{sql} AS c{place}_{key}" for place, sqls in enumerate(asked.values()) for key, sql in sqls.items()]
    counted = rows.query(f"SELECT count(*) AS n, {', '.join(listed)} FROM {rows.reader}")
    n = int(counted["n"][0])
    if not n:
        raise InputError(f"{rows.shown!r} has no rows.")
    facts = [
        _facts(name, kinds[name], n, {key: _plain(counted[f"c{place}_{key}"]) for key in sqls}, peeks[name])
        for place, (name, sqls) in enumerate(asked.items())
    ]
    return _with_values(rows, facts)


def repeated(rows: Rows, facts: ColumnFacts) -> ColumnFacts:
    """The facts of an identifier with the number of rows whose value another row has; of many rows an estimate."""
    parts = max(1, facts.rows // _COUNTED)
    name = quoted(facts.name)
    some = f"hash({name}) % {parts} = 0" if parts > 1 else "true"
    counted = rows.query(
        f"SELECT coalesce(sum(n), 0)::BIGINT AS n FROM (SELECT {name}, count(*) AS n FROM {rows.reader} "
        f"WHERE {name} IS NOT NULL AND {some} GROUP BY 1 HAVING count(*) > 1)"
    )
    return replace(facts, repeated=int(counted["n"][0]) * parts)


def separating(rows: Rows, truth: ColumnFacts, numbers: Sequence[str]) -> list[str]:
    """Columns of numbers whose values in one class of the truth all lie beyond those in the others."""
    if not numbers:
        return []
    ends = ", ".join(
        f"min({rows.number(name)}) AS low{place}, max({rows.number(name)}) AS high{place}"
        for place, name in enumerate(numbers)
    )
    label = quoted(truth.name)
    groups = rows.query(f"SELECT {label}::VARCHAR AS label, count(*) AS n, {ends} FROM {rows.reader} GROUP BY 1")
    known = ~np.ma.getmaskarray(groups["label"])
    if int(groups["n"][known].sum()) < _CHANCE:
        return []
    perfect = []
    for place, name in enumerate(numbers):
        low, high = (np.ma.filled(groups[f"{end}{place}"].astype(float), np.nan)[known] for end in ("low", "high"))
        if len(low) == 2 and (low[0] > high[1] or low[1] > high[0]):
            perfect.append(name)
    return perfect


def _listed(expressions: Any) -> str:
    return ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(expressions))


def _shown_text(name: str) -> str:
    return f"{quoted(name)}::VARCHAR"


def _compressed(column: Column) -> list[str]:
    return [str(value) for value in np.ma.compressed(column).tolist() if value is not None]


def _plain(column: Column) -> Any:
    value = column.tolist()[0]
    return None if isinstance(value, float) and np.isnan(value) else value


def _kind(rows: Rows, name: str) -> str:
    """How a column is stored, in words."""
    kind = rows.types[name]
    if name in rows.untyped:
        return "numbers" if rows.untyped[name] else "text"
    if kind == "BOOLEAN":
        return "bools"
    if is_number(kind):
        return "whole numbers" if is_whole(kind) else "numbers"
    if re.match(r"DATE|TIME", kind):
        return "dates"
    return "text" if re.fullmatch(r"VARCHAR|UUID|ENUM\(.*\)|\"NULL\"", kind, re.DOTALL) else "nested"


def _aggregates(rows: Rows, name: str, kind: str) -> dict[str, str]:
    """What is computed of a column over all rows, in SQL."""
    column, present = quoted(name), rows.present(name)
    asked = {"present": f"count_if({present})"}
    if kind == "nested":
        return asked
    asked["distinct"] = f"approx_count_distinct({column}) FILTER ({present})"
    if kind == "text":
        asked["length"] = f"avg(length({column}::VARCHAR))"
    if kind in {"numbers", "whole numbers"}:
        x = rows.number(name)
        asked |= {
            "numbers": f"count({x})",
            "low": f"min({x})",
            "high": f"max({x})",
            "outside": f"count_if({x} < 0 OR {x} > 1)",
        }
        if kind == "numbers":
            asked |= {"fractions": f"count_if({x} <> floor({x}))", "infinite": f"count_if(isinf({x}))"}
    return asked


def _facts(name: str, kind: str, n: int, counted: Mapping[str, Any], peek: Sequence[str]) -> ColumnFacts:
    present = int(counted["present"])
    fractions = int(counted.get("fractions") or 0)
    odd: list[str] = []
    if kind == "numbers" and not fractions:
        kind = "whole numbers"
    if counted.get("numbers", present) < present:
        # Numbers at first, and text further down.
        odd = [text for text in peek if not _is_number(text)]
        kind, counted = "text", {"distinct": counted["distinct"]}
    elif kind == "text":
        odd = [text for text in dict.fromkeys(peek) if not _is_number(text)]
        odd = odd if len(odd) * 2 <= len(set(peek)) else []
    return ColumnFacts(
        name=name,
        type=kind,
        rows=n,
        missing=n - present,
        distinct=min(int(counted.get("distinct") or 0), present),
        examples=tuple(list(dict.fromkeys(peek))[:_EXAMPLES]),
        low=counted.get("low"),
        high=counted.get("high"),
        fractions=fractions if kind == "numbers" else 0,
        outside=int(counted.get("outside") or 0),
        infinite=int(counted.get("infinite") or 0),
        length=counted.get("length"),
        odd=tuple(odd[:_EXAMPLES]),
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_values(rows: Rows, facts: Sequence[ColumnFacts]) -> list[ColumnFacts]:
    """The facts with every value and its number of rows where a column has few."""
    few = [one for one in facts if one.type != "nested" and 0 < one.distinct <= _FEW]
    if not few:
        return list(facts)
    listed = ", ".join(
        f"histogram({quoted(one.name)}::VARCHAR) FILTER ({rows.present(one.name)}) AS c{place}"
        for place, one in enumerate(few)
    )
    counted = rows.query(f"SELECT {listed} FROM {rows.reader}")
    known = {one.name: _valued(rows, one, counted[f"c{place}"].tolist()[0]) for place, one in enumerate(few)}
    return [known.get(one.name, one) for one in facts]


def _valued(rows: Rows, facts: ColumnFacts, texts: Mapping[str, int]) -> ColumnFacts:
    ordered = sorted(texts.items(), key=lambda item: (-item[1], item[0]))
    read = _reader(rows, facts, texts)
    labels = {text: read(text) for text, _ in ordered}
    values: dict[Label, int] = {}
    for text, n in ordered:
        values[labels[text]] = values.get(labels[text], 0) + int(n)
    spelling = {label: text for text, label in labels.items()}
    examples = tuple(text for text, _ in ordered[:_EXAMPLES])
    return replace(facts, distinct=len(values), values=values, spelling=spelling, examples=examples)


def _reader(rows: Rows, facts: ColumnFacts, texts: Mapping[str, int]) -> Callable[[str], Label]:
    """How commands read the values of a column as labels."""
    if facts.name in rows.untyped:
        reading = Reading.of(np.array(list(texts), dtype=object), untyped=True)
        known = reading.values or {}
        return lambda text: _check.plain_label(known.get(text, text))
    if facts.type == "bools":
        return lambda text: text == "true"
    return (lambda text: _check.plain_label(float(text))) if facts.is_number else str
