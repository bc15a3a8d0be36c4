"""Files opened in the embedded engine, with the type of each column."""

from __future__ import annotations

import contextlib
import csv
import gzip
import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark._check import Column
from tallymark.errors import ColumnError, InputError, shown
from tallymark.notes import Note, emit
from tallymark.sources.duck import Duck, Progress, connected, quoted, require_condition, text
from tallymark.sources.file_states import unchanged
from tallymark.sources.formats import (
    CSV,
    DOCUMENT,
    JSON,
    PARQUET,
    Files,
    Paths,
    Wanted,
    is_whole,
    require_columns,
    require_text,
    types_by_role,
)

#: Characters of a list of fields in a message.
_MOST_LISTED = 400

#: The fields of a path into an object, in quotes or not.
_FIELDS = re.compile(r'(?:^|\.)(?:"([^"]+)"(?=\.|$)|([^.]*))')

#: SQL types of streamed columns, by NumPy type.
_SQL_TYPES = {np.dtype(np.uint8).str: "UTINYINT", np.dtype(np.float64).str: "DOUBLE"}


class Engine:
    """Files open for queries.

    `reader` is the table function for a query's FROM, to be used once in each; `shown` names the files in messages;
    `types` has the type of each column, and `untyped` the columns whose type the files do not store: those of a CSV,
    and names of folders.
    """

    def __init__(self, files: Files, duck: Duck) -> None:
        self.shown = files.shown
        self.reader = ""
        #: Fields inside of JSON objects that are read as columns, by the path that names them.
        self._nested: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.untyped: frozenset[str] = frozenset()
        self._options: list[str] = []
        self.files = files
        self._duck = duck
        #: What was recognised in the files.
        self.said = list(files.said)

    def open(self, wanted: Sequence[Wanted], *, thorough: bool, condition: str | None = None) -> None:
        """Settle how the files are read; refuse a wanted column that is missing or does not fit its role.

        `thorough` infers the types of other columns from all rows. Numbers that only a condition names are read as
        those of wanted columns are.
        """
        form, folder_columns = self.files.form, self._folder_columns()
        self._options = [
            f"hive_partitioning = {bool(folder_columns)}",
            "hive_types_autocast = false",
            *form.options,
        ]
        if len(self.files.names) > 1:
            # Without it columns of later files are cast to the types of the first: fractions would be rounded.
            self._options.append("union_by_name = true")
        if form is CSV:
            self._options += self._dialect([name for name, *_ in wanted])
        if form is PARQUET:
            self._refuse_twins(self._parquet_names(), [name for name, *_ in wanted])
        options = [*self._options, *form.missing]
        self._refuse_partial(wanted, options)
        # The type of a column that may be text is that of all its values, not of the first ones.
        thorough = thorough or any(one.is_text for one in wanted)
        self.types = self._described([*options, *(form.thorough if thorough else ())])
        if form.thorough and not {name for name, *_ in wanted} <= self.types.keys():
            self.types = self._described([*options, *form.thorough])
        if form in (JSON, DOCUMENT):
            self._find_nested([name for name, *_ in wanted if name not in self.types], [*options, *form.thorough])
        self.untyped = frozenset(name for name in self.types if form is CSV or name.lower() in folder_columns)
        if form is DOCUMENT or self._nested:
            self._open_nested(wanted, options)
            return
        if form.typing is None:
            self._open_stored(wanted, options)
            return
        require_columns([one._replace(kind="text") for one in wanted], dict.fromkeys(self.types, "VARCHAR"))
        # Columns from names of folders are text already.
        typed = types_by_role([one for one in wanted if one.column.lower() not in folder_columns])
        if form is JSON:
            _refuse_mixed([one for one in wanted if one.is_text], self.types)
            recorded = {name: "VARCHAR" if kind in _TEXT_IN_JSON else kind for name, kind in self.types.items()}
            typed = recorded | {name: kind for name, kind in typed.items() if kind != "VARCHAR"}
        if form is CSV:
            self._open_texts(wanted, options, typed, condition)
        else:
            self.types |= typed
            self.reader = self._typed_reader(options, typed)

    def _open_texts(
        self, wanted: Sequence[Wanted], options: Sequence[str], typed: Mapping[str, str], condition: str | None
    ) -> None:
        """Columns of text, of which those of numbers may be written in other ways than the engine's."""
        of_condition = [] if condition is None else self._numbers_of(condition, wanted, options)
        types = {**typed, **{one.column: "DOUBLE" for one in of_condition}}
        self.types |= types
        self.reader = self._typed_reader(options, types)
        texts = {name: "VARCHAR" for name, kind in types.items() if kind == "DOUBLE"}
        self._read_numbers([*wanted, *of_condition], self._typed_reader(options, types | texts), list(texts))

    def _numbers_of(self, condition: str, wanted: Sequence[Wanted], options: Sequence[str]) -> list[Wanted]:
        """Columns of numbers that a condition names and nothing else does."""
        from tallymark.sources.number_texts import of_numbers

        known = {one.column for one in wanted}
        named = [
            name
            for name in self.types
            if name not in known and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", condition, re.IGNORECASE)
        ]
        rows = self._typed_reader(options, dict.fromkeys(named, "VARCHAR"))
        return [Wanted(name, "where=", "number") for name in of_numbers(named, rows, self.query)]

    def _open_stored(self, wanted: Sequence[Wanted], options: Sequence[str]) -> None:
        """Columns with the types that the files store; numbers of a spreadsheet may be text."""
        self.reader = self.files.form.reader(options)
        if self.files.copies:
            self._read_numbers(wanted, self.reader, [n for n, kind in self.types.items() if kind == "VARCHAR"])
        require_columns(wanted, self.types)

    def _typed_reader(self, options: Sequence[str], types: Mapping[str, str]) -> str:
        listed = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in types.items())
        form = self.files.form
        return form.reader([*options, *([f"{form.typing} = {{{listed}}}"] if types else [])])

    def _read_numbers(self, wanted: Sequence[Wanted], rows: str, texts: Sequence[str]) -> None:
        """Read numbers however they are written; `texts` are the columns that are text in `rows`."""
        from tallymark.sources.number_columns import numbers_in

        numbers = [one for one in wanted if not one.is_text and one.column in self.types]
        texts = [one.column for one in numbers if one.column in texts]
        stored = self.files.form is PARQUET
        read = numbers_in(
            numbers, texts, rows, self.query, shown=self.shown, decimal=self.files.options.get("decimal"), all_=stored
        )
        if read.rows != rows:
            self.reader = read.rows
            self.types |= dict.fromkeys(texts, "DOUBLE")
        self.said += read.said

    def _open_nested(self, wanted: Sequence[Wanted], options: Sequence[str]) -> None:
        """Columns of JSON with the types that their values have; numbers and text are not converted into each other."""
        lists = [name for name, kind in self.types.items() if kind.endswith("[]")]
        absent = [one.column for one in wanted if one.column not in self.types]
        if absent and lists and not self.files.inside:
            raise InputError(
                f"{self.shown!r} is one object, with lists in {shown(lists)}, and has no column {shown(absent)}. Name "
                f"the list that has the rows after the file's name: {self.shown}#{lists[0]}"
            )
        require_columns(wanted, self.types)
        _refuse_mixed([one for one in wanted if one.is_text], self.types)
        self.reader = self._rows([*options, *self.files.form.thorough])

    def _rows(self, options: Sequence[str]) -> str:
        """The rows in a query's FROM: of JSON, those inside of the file, with nested fields as columns beside them."""
        rows, inside = self.files.form.reader(options), self.files.inside
        if inside:
            listed = ".".join(map(quoted, inside))
            rows = f"(SELECT unnest(r) FROM (SELECT unnest({listed}) AS r FROM {rows}))"
        if self._nested:
            fields = ", ".join(f"{field} AS {quoted(name)}" for name, field in self._nested.items())
            rows = f"(SELECT *, {fields} FROM {rows})"
        return rows

    def _folder_columns(self) -> set[str]:
        """Columns from names of folders (``region=north/``); none where a file has a column of that name."""
        keys = self.files.folder_keys
        if not keys or self.files.copies:
            return set()
        in_files = self._described([*self.files.form.options, "hive_partitioning = false"])
        return set() if keys & {name.lower() for name in in_files} else keys

    def _refuse_partial(self, wanted: Sequence[Wanted], options: Sequence[str]) -> None:
        """Refuse a wanted column that some of the files lack; the engine would fill it with missing values."""
        several = len(self.files.names) > 1 and self.files.form.peek is not None
        for name, place in zip(self.files.names, self.files.places, strict=True) if several else ():
            reader = self.files.form.reader([*options, *(self.files.form.peek or ())])
            present = self._duck.query(f"DESCRIBE SELECT * FROM {reader}", [place])["column_name"].tolist()
            for column, option, _ in wanted:
                if column not in present:
                    raise InputError(f"{name!r}: {ColumnError.missing(column, present, option)}")

    def _dialect(self, wanted: Sequence[str]) -> list[str]:
        """Options for the separator, where it is stated, and for quoted fields, also where quotes occur only far down.

        Refuses a name that the header has twice.
        """
        first = self.files.places[0]
        separator = self.files.options.get("separator")
        stated = [] if separator is None else [f"delim = {text(separator)}"]
        described = self._duck.query(f"SELECT * FROM sniff_csv({', '.join(['?', *stated])})", first)
        sniffed = {name: column[0] for name, column in described.items()}
        quotes = ["quote = '\"'", "escape = '\"'"] if sniffed["Quote"] not in ('"', "'") else []
        if sniffed["HasHeader"]:
            dialect = [f"delim = {text(sniffed['Delimiter'])}", f"skip = {sniffed['SkipRows']}", *quotes]
            read = CSV.reader(["header = false", "all_varchar = true", *dialect])
            header = [str(column[0]) for column in self._duck.query(f"SELECT * FROM {read} LIMIT 1", first).values()]
            self._refuse_twins(header, wanted)
        return [*stated, *quotes]

    def _refuse_twins(self, header: Sequence[str], wanted: Sequence[str]) -> None:
        """Refuse a wanted name that several columns have; the engine would number them and take the first."""
        for name in wanted:
            twins = [column for column in header if column.lower() == name.lower()]
            if len(twins) > 1:
                raise InputError(
                    f"{self.shown!r} has the columns {shown(twins)}, which differ in capitals at most; rename one."
                )

    def _parquet_names(self) -> list[str]:
        """The columns of the first file as they are called there; fields inside of a column are left out."""
        schema = self._duck.query("SELECT name, num_children FROM parquet_schema(?)", self.files.places[0])
        names, inside = [], [1]
        for name, children in zip(schema["name"].tolist(), schema["num_children"].tolist(), strict=True):
            inside[-1] -= 1
            if len(inside) == 2:
                names.append(str(name))
            inside.append(int(children or 0))
            while inside and not inside[-1]:
                inside.pop()
        return names

    def _find_nested(self, absent: Sequence[str], options: Sequence[str]) -> None:
        """Take names with dots for paths into JSON objects: ``results.score``, and ``metrics.0.score`` of a list.

        A field whose own name has a dot is in quotes: ``results."v1.5"``.
        """
        paths = {name: [inside or bare for inside, bare in _FIELDS.findall(name)] for name in absent if "." in name}
        self._nested = {
            name: quoted(first)
            + "".join(f"[{int(part) + 1}]" if part.isdigit() else f".{quoted(part)}" for part in rest)
            for name, (first, *rest) in paths.items()
            if first in self.types
        }
        if self._nested:
            try:
                self.types = self._described(options)
            except InputError:
                listed = ", ".join(f"{name} {kind}" for name, kind in self.types.items())
                raise InputError(
                    f"{self.shown!r} has no field {shown(list(self._nested))}; its fields are {listed[:_MOST_LISTED]}."
                ) from None

    def _described(self, options: Sequence[str]) -> dict[str, str]:
        try:
            described = self.query(f"DESCRIBE SELECT * FROM {self._rows(options)}")
        except InputError:
            if not self.files.inside or self._nested:
                raise
            raise InputError(
                f"{self.shown!r}: there is no list of objects at {'.'.join(self.files.inside)!r} in the file."
            ) from None
        types = dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))
        marks = [mark for mark in ",;|\t" if len(types) == 1 and mark in next(iter(types))]
        if marks and self.files.form is CSV:
            # A ragged line makes DuckDB take the whole header for one column.
            _refuse_ragged(self.files.names, marks[0])
        return types

    def query(self, sql: str) -> dict[str, Column]:
        """Run one statement over the files and fetch its columns; a second statement is refused, never run."""
        return self._duck.query(sql, self.files.places)

    def stream(self, columns: Sequence[str], size: int, where: str | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """Some columns of the rows in the order they have in the files, `size` rows at a time."""
        self.keep_order()
        condition = "" if where is None else f" WHERE ({where})"
        named = ", ".join(map(quoted, columns))
        return self._duck.stream(f"SELECT {named} FROM {self.reader}{condition}", self.files.places, size)

    def blocks(
        self, listed: str, where: str | None, kinds: Sequence[np.dtype[Any]]
    ) -> Generator[list[Column], None, None]:
        """Columns `listed` of the rows, of the types `kinds`, block by block and in any order."""
        # Paths inside of the statement: one with parameters may run to its end before the first row is returned.
        rows = self.reader.replace("?", f"[{', '.join(map(text, self.files.places))}]", 1)
        condition = "" if where is None else f" WHERE ({where})"
        casts = ", ".join(f"c{i}::{_SQL_TYPES[kind.str]}" for i, kind in enumerate(kinds))
        columns = ", ".join(f"c{i}" for i in range(len(kinds)))
        # The casts are outside of what a condition can change: a column of another type would be read out of bounds.
        return self._duck.blocks(f"SELECT {casts} FROM (SELECT {listed} FROM {rows}{condition}) AS t({columns})", kinds)

    @property
    def threads(self) -> int:
        """How many threads the engine may use."""
        return int(self._duck.query("SELECT current_setting('threads') AS threads")["threads"][0])

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart, also those that were read as floats."""
        if largest < _check.EXACT_INTEGER:
            return
        form, column = self.files.form, quoted(name)
        rows, condition = self.reader, "true"
        if not is_whole(self.types[name]):
            if form.typing is None:
                return
            rows = form.reader([*self._options, *form.missing, f"{form.typing} = {{{text(name)}: 'VARCHAR'}}"])
            condition = f"regexp_full_match({column}, '[+-]?[0-9]{{16,}}')"
        query = (
            f"SELECT max(abs(TRY_CAST({column} AS DOUBLE))) > {_check.EXACT_INTEGER} "
            f"OR max(abs(TRY_CAST({column} AS HUGEINT))) > {_check.EXACT_INTEGER} AS lost FROM {rows} WHERE {condition}"
        )
        if self.query(query)["lost"].tolist()[0]:
            raise InputError(_check.too_large(name))

    def stored_range(self, name: str) -> tuple[float, float] | None:
        """Lowest and highest value of a column from the statistics of Parquet files; None for other files."""
        if self.files.form is not PARQUET:
            return None
        ends = self.query(
            f"SELECT min({quoted(name)})::DOUBLE AS low, max({quoted(name)})::DOUBLE AS high FROM {self.reader}"
        )
        low, high = (np.ma.filled(ends[end].astype(np.float64), np.nan)[0] for end in ("low", "high"))
        return float(low), float(high)

    def register(self, name: str, columns: Mapping[str, Column]) -> None:
        """Make arrays available to queries as a table."""
        self._duck.register(name, columns)

    def keep_order(self) -> None:
        """Give rows in the order they have in the files, which takes longer."""
        self._duck.keep_order()

    @property
    def verbatim(self) -> str:
        """The files in a query's FROM with the fields as they are written."""
        form = self.files.form
        return form.reader([*self._options, *form.verbatim, *form.thorough])

    def number_of_rows(self) -> int:
        """How many rows the files have."""
        return int(self.query(f"SELECT count(*) AS n FROM {self.verbatim}")["n"][0])

    def cells(self, columns: Sequence[str], kept: NDArray[np.bool_] | None = None) -> dict[str, list[str]]:
        """Cells as they are written, in the order of the rows, of all rows or those `kept`; a missing one is empty."""
        self.keep_order()
        listed = ", ".join(f"coalesce(r.{quoted(name)}::VARCHAR, '') AS c{i}" for i, name in enumerate(columns))
        rows, condition = f"{self.verbatim} r", ""
        if kept is not None:
            self.register("tallymark_kept", {"kept": kept})
            rows, condition = f"{rows} POSITIONAL JOIN tallymark_kept k", " WHERE k.kept"
        cells = self.query(f"SELECT {listed} FROM {rows}{condition}")
        return {name: cells[f"c{i}"].tolist() for i, name in enumerate(columns)}


@contextmanager
def engine(
    paths: Paths,
    wanted: Sequence[Wanted] = (),
    *,
    where: str | None = None,
    writes: str | None = None,
    thorough: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Engine]:
    """An engine over files, which may open these, its folder to spill to and `writes`, and nothing else.

    `thorough` infers the types of all columns from all rows, not of the wanted ones alone.

    A condition cannot read other files or reach the network. The folder is removed when the engine closes.
    """
    if where is not None:
        require_condition(where)
    from tallymark.sources.imports import readable

    given = Files.at(paths)
    if writes is not None:
        require_text(writes)
    limits: dict[str, Any] = {"memory_limit": memory_limit, "threads": threads, "progress": progress}
    with unchanged(given.names), readable(given, wanted) as files:
        allowed = [*files.allowed, *([] if writes is None else [writes])]
        with connected(files.shown, allowed, **limits) as duck:
            if where is not None:
                duck.require_repeatable(where)
            source = Engine(files, duck)
            source.open(wanted, thorough=thorough or where is not None, condition=where)
            if source.said:
                emit([Note("TM130", f"{Path(files.shown).name}: read as {', '.join(source.said)}.")])
            yield source


#: Types of the JSON reader that are read as text; and the type of a column without values.
_TEXT_IN_JSON = {"DATE", "TIME", "TIMESTAMP", "UUID", '"NULL"'}


def _refuse_mixed(wanted: Iterable[Wanted], types: Mapping[str, str]) -> None:
    """Refuse a column of JSON lines that holds values of several types: read as text, 1 and "1" would be one label."""
    for name, *_ in wanted:
        if types[name] == "JSON":
            raise InputError(f"{name} mixes text, numbers or bools; write all its values as one type.")


def _refuse_ragged(names: Sequence[str], separator: str) -> None:
    """Name the first line that has more or fewer fields than the header."""
    for name in names:
        opener = gzip.open if name.endswith(".gz") else open
        # The engine refuses what is no text, or not compressed as its name says.
        with (
            contextlib.suppress(OSError, EOFError, zlib.error, csv.Error),
            opener(name, "rt", encoding="utf-8", errors="replace", newline="") as file,
        ):
            lines = csv.reader(file, delimiter=separator)
            header = next(lines, [])
            for fields in lines:
                if len(fields) not in (0, len(header)):
                    raise InputError(
                        f"Cannot read {name!r}: line {lines.line_num} has {len(fields)} fields, "
                        f"the header {len(header)}."
                    )


def not_missing(columns: Iterable[str], where: str | None) -> str:
    """A condition that leaves out rows in which one of the columns is missing or NaN, besides those `where` does."""
    # A text column has no NaN; try_cast makes it null there, and null is not NaN.
    kept = [
        f"{quoted(name)} IS NOT NULL AND NOT coalesce(isnan(try_cast({quoted(name)} AS DOUBLE)), false)"
        for name in columns
    ]
    return " AND ".join([*kept, *([] if where is None else [f"({where})"])])
