"""The embedded engine: what it reads, how a query runs with limits and progress, and what goes wrong."""

from __future__ import annotations

import contextlib
import csv
import gzip
import re
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallymark import _check
from tallymark.errors import ColumnError, InputError, shown
from tallymark.sources.formats import (
    CSV,
    JSON,
    PARQUET,
    Files,
    Paths,
    Wanted,
    is_whole,
    require_columns,
    types_by_right,
)

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[float], None]

#: How often a running query is asked how far it is.
_POLL_SECONDS = 0.1


#: More threads than any machine has cores only cost memory.
_MOST_THREADS = 1_024


class Engine:
    """A connection of our own to DuckDB, with limits, a place to spill to, and errors in plain words.

    `reader` stands for the files in a query's FROM, once in each; `shown` names them in messages; `types` has the type
    of each column.
    """

    def __init__(
        self, files: Files, connection: duckdb.DuckDBPyConnection, progress: Progress | None, spill: str
    ) -> None:
        self.shown = files.shown
        self.reader = ""
        self.types: dict[str, str] = {}
        self._options: list[str] = []
        self._files = files
        self._connection = connection
        self._progress = progress
        self._spill = spill

    def open(self, wanted: Sequence[Wanted], *, thorough: bool) -> None:
        """Find out how the files are read; refuse a wanted column that is not there or cannot be what it is for.

        `thorough` looks at all rows for the types of columns nobody named (a condition may).
        """
        form, folder_columns = self._files.form, self._folder_columns()
        self._options = [
            f"hive_partitioning = {bool(folder_columns)}",
            "hive_types_autocast = false",
            *form.options,
        ]
        if len(self._files.names) > 1:
            # Without it columns of later files are cast to the types of the first: fractions would be rounded.
            self._options.append("union_by_name = true")
        if form is CSV:
            self._options += self._quotes([name for name, *_ in wanted])
        options = [*self._options, *form.missing]
        self._refuse_partial(wanted, options)
        self.types = self._described([*options, *(form.thorough if thorough else ())])
        if form.thorough and not {name for name, *_ in wanted} <= self.types.keys():
            self.types = self._described([*options, *form.thorough])
        if form.typing is None:
            require_columns(wanted, self.types)
            self.reader = form.reader(options)
            return
        require_columns([one._replace(kind="text") for one in wanted], dict.fromkeys(self.types, "VARCHAR"))
        # What a folder's name gives is text already.
        typed = types_by_right([one for one in wanted if one.column.lower() not in folder_columns])
        if form is JSON:
            typed = {name: "VARCHAR" if kind in _TEXT_IN_JSON else kind for name, kind in self.types.items()} | typed
        self.types |= typed
        listed = ", ".join(f"{text(name)}: {text(kind)}" for name, kind in typed.items())
        self.reader = form.reader([*options, *([f"{form.typing} = {{{listed}}}"] if typed else [])])

    def _folder_columns(self) -> set[str]:
        """Columns that names of folders (``region=north/``) give: none where a file has one of that name itself."""
        keys = self._files.folder_keys
        if not keys:
            return set()
        own = self._described([*self._files.form.options, "hive_partitioning = false"])
        return set() if keys & {name.lower() for name in own} else keys

    def _refuse_partial(self, wanted: Sequence[Wanted], options: Sequence[str]) -> None:
        """Refuse a wanted column that some of the files lack; joined by name its rows would only be missing there."""
        several = len(self._files.names) > 1 and self._files.form.peek is not None
        for name, place in zip(self._files.names, self._files.places, strict=True) if several else ():
            reader = self._files.form.reader([*options, *(self._files.form.peek or ())])
            present = self._query(f"DESCRIBE SELECT * FROM {reader}", [place])["column_name"].tolist()
            for column, option, _ in wanted:
                if column not in present:
                    raise InputError(f"{name!r}: {ColumnError.missing(column, present, option)}")

    def _quotes(self, wanted: Sequence[str]) -> list[str]:
        """How fields are quoted; a quote that only occurs far down must be known from the start.

        Refuses a wanted name that the header has twice: the engine would number them and take the first.
        """
        first = self._files.places[0]
        sniffed = {name: column[0] for name, column in self._query("SELECT * FROM sniff_csv(?)", first).items()}
        quotes = ["quote = '\"'", "escape = '\"'"] if sniffed["Quote"] not in ('"', "'") else []
        if sniffed["HasHeader"]:
            as_found = [f"delim = {text(sniffed['Delimiter'])}", f"skip = {sniffed['SkipRows']}", *quotes]
            read = CSV.reader(["header = false", "all_varchar = true", *as_found])
            header = [str(column[0]) for column in self._query(f"SELECT * FROM {read} LIMIT 1", first).values()]
            for name in wanted:
                twins = [column for column in header if column.lower() == name.lower()]
                if len(twins) > 1:
                    raise InputError(
                        f"{self.shown!r} has the columns {shown(twins)}, which differ in capitals at most; rename one."
                    )
        return quotes

    def _described(self, options: Sequence[str]) -> dict[str, str]:
        described = self.query(f"DESCRIBE SELECT * FROM {self._files.form.reader(options)}")
        types = dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))
        marks = [mark for mark in ",;|\t" if len(types) == 1 and mark in next(iter(types))]
        if marks and self._files.form is CSV:
            # A ragged line makes DuckDB take the whole header for one column.
            _refuse_ragged(self._files.names, marks[0])
        return types

    def query(self, sql: str) -> dict[str, NDArray[Any]]:
        """Run one statement over the files and fetch its columns; a second statement is refused, never run."""
        return self._query(sql, self._files.places)

    def _query(self, sql: str, parameter: Any) -> dict[str, NDArray[Any]]:
        import duckdb

        try:
            if len(self._connection.extract_statements(sql)) != 1:
                raise InputError("where= must be one condition, not several statements.")
            return self._run(lambda: self._connection.execute(sql, [parameter]).fetchnumpy())
        except duckdb.PermissionException as error:
            raise InputError(f"where= may look at the rows of {self.shown!r} only: {_first_sentence(error)}") from None
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"Out of memory or of room to spill while reading {self.shown!r}: {_first_sentence(error)} "
                "Raise memory_limit=, or set TMPDIR to a disk with more room."
            ) from None
        except duckdb.IOException as error:
            if self._spill not in str(error):
                raise unreadable(self.shown, error) from None
            raise InputError(
                f"Cannot spill to disk while reading {self.shown!r}: {_first_sentence(error)} "
                "Set TMPDIR to a disk with more room, or raise memory_limit=."
            ) from None
        except duckdb.Error as error:
            raise unreadable(self.shown, error) from None

    def refuse_lost_digits(self, name: str, largest: float) -> None:
        """Refuse whole numbers that floats cannot tell apart, also those that were read as floats."""
        if largest < _check.EXACT_INTEGER:
            return
        form, column = self._files.form, quoted(name)
        rows, condition = self.reader, "true"
        if not is_whole(self.types[name]):
            if form.typing is None:
                return
            rows = form.reader([*self._options, *form.missing, f"{form.typing} = {{{text(name)}: 'VARCHAR'}}"])
            condition = f"regexp_full_match({column}, '[+-]?[0-9]{{16,}}')"
        asked = f"SELECT max(abs(TRY_CAST({column} AS DOUBLE))) > {_check.EXACT_INTEGER} OR "
        asked += (
            f"max(abs(TRY_CAST({column} AS HUGEINT))) > {_check.EXACT_INTEGER} AS lost FROM {rows} WHERE {condition}"
        )
        if self.query(asked)["lost"].tolist()[0]:
            raise InputError(_check.too_large(name))

    def noted_range(self, name: str) -> tuple[float, float] | None:
        """Lowest and highest value of a column where the files note them; None where the rows would have to be asked."""
        if self._files.form is not PARQUET:
            return None
        ends = self.query(
            f"SELECT min({quoted(name)})::DOUBLE AS low, max({quoted(name)})::DOUBLE AS high FROM {self.reader}"
        )
        low, high = (np.ma.filled(ends[end].astype(np.float64), np.nan)[0] for end in ("low", "high"))
        return float(low), float(high)

    def register(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Let queries see arrays of ours as a table."""
        self._connection.register(name, dict(columns))

    def keep_order(self) -> None:
        """Give rows in the order they have in the files, which takes longer."""
        self._connection.execute("SET preserve_insertion_order = true")

    def write(self, path: str, columns: Mapping[str, NDArray[Any]], *, parquet: bool) -> None:
        """Write the files' rows as they are with further columns beside them; `path` must be among those allowed."""
        self.register("tallymark_columns", columns)
        form = self._files.form
        rows = form.reader([*self._options, *form.verbatim, *form.thorough])
        kind = f"{'FORMAT parquet' if parquet else 'FORMAT csv, HEADER'}, USE_TMP_FILE false"
        named = ", ".join(f"c.{quoted(name)}" for name in columns)
        self.query(
            f"COPY (SELECT r.*, {named} FROM {rows} r POSITIONAL JOIN tallymark_columns c) TO {text(path)} ({kind})"
        )

    def _run(self, work: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        if self._progress is None:
            return work()
        found: list[dict[str, NDArray[Any]]] = []
        failed: list[Exception] = []

        def capture() -> None:
            try:
                found.append(work())
            except Exception as error:  # noqa: BLE001 - raised again below, in the caller's thread
                failed.append(error)

        thread = threading.Thread(target=capture, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(_POLL_SECONDS)
                self._progress(max(0.0, self._connection.query_progress()))
        except BaseException:
            # Ctrl-C, or a progress callback that failed: the query must not outlive its connection.
            self._connection.interrupt()
            thread.join()
            raise
        if failed:
            raise failed[0]
        return found[0]


@contextmanager
def engine(
    paths: Paths,
    wanted: Sequence[Wanted] = (),
    *,
    where: str | None = None,
    writes: str | None = None,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Engine]:
    """An engine over files; what it spills to disk is gone when it closes, however that happens.

    It may open the files, its place to spill to and `writes`, and nothing else: a condition cannot read other files or
    reach the network.
    """
    import duckdb

    if where is not None and not where.strip():
        raise InputError("where= is empty; give an SQL condition like \"region = 'north'\", or leave it out.")
    if threads is not None and not 1 <= threads <= _MOST_THREADS:
        raise InputError(f"threads is {threads}, expected 1 to {_MOST_THREADS}.")
    files = Files.at(paths)
    with tempfile.TemporaryDirectory(prefix="tallymark-") as spill, duckdb.connect() as connection:
        connection.execute("SET temp_directory = ?", [spill])
        try:
            if memory_limit is not None:
                connection.execute("SET memory_limit = ?", [memory_limit])
            if threads is not None:
                connection.execute("SET threads = ?", [threads])
        except duckdb.Error as error:
            raise InputError(f"memory_limit={memory_limit!r}, threads={threads!r}: {_first_sentence(error)}") from None
        # Aggregates over groups need no order, and keeping one costs memory.
        connection.execute("SET preserve_insertion_order = false")
        # DuckDB would draw on standard output, where a JSON object may be wanted.
        connection.execute("SET enable_progress_bar = false")
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET autoload_known_extensions = false")
        connection.execute("SET allowed_paths = ?", [[*files.allowed, *([] if writes is None else [writes])]])
        connection.execute("SET enable_external_access = false")
        source = Engine(files, connection, progress, spill)
        source.open(wanted, thorough=where is not None)
        yield source


#: What JSON's reader takes for more than text, and labels and groups are not.
_TEXT_IN_JSON = {"DATE", "TIME", "TIMESTAMP", "UUID"}


def _refuse_ragged(names: Sequence[str], separator: str) -> None:
    """Name the first line that has more or fewer fields than the header."""
    for name in names:
        opener = gzip.open if name.endswith(".gz") else open
        # What is no text, or not compressed as its name says, the engine has refused or will.
        with contextlib.suppress(OSError, EOFError, zlib.error, csv.Error), opener(
            name, "rt", encoding="utf-8", errors="replace", newline=""
        ) as file:  # fmt: skip
            lines = csv.reader(file, delimiter=separator)
            header = next(lines, [])
            for fields in lines:
                if len(fields) not in (0, len(header)):
                    raise InputError(
                        f"Cannot read {name!r}: line {lines.line_num} has {len(fields)} fields, the header {len(header)}."
                    )


def quoted(name: str) -> str:
    """A column name as SQL text, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def text(value: object) -> str:
    """A text literal in SQL, whatever the text contains."""
    escaped = str(value).replace("'", "''")
    return f"'{escaped}'"


def unreadable(shown: str, error: Exception) -> InputError:
    """DuckDB's error in one sentence that names what was read."""
    return InputError(f"Cannot read {shown!r}: {_first_sentence(error)}")


def double(value: float) -> str:
    """A float as SQL, to the last bit: a bare literal may be read as a decimal first and land beside it."""
    return f"'{value!r}'::DOUBLE"


def not_missing(columns: Iterable[str], where: str | None) -> str:
    """A condition that leaves out rows in which one of the columns is missing or NaN, besides those `where` does."""
    # A text column has no NaN; try_cast makes it null there, and null is not NaN.
    kept = [
        f"{quoted(name)} IS NOT NULL AND NOT coalesce(isnan(try_cast({quoted(name)} AS DOUBLE)), false)"
        for name in columns
    ]
    return " AND ".join([*kept, *([] if where is None else [f"({where})"])])


def _first_sentence(error: Exception) -> str:
    """DuckDB's message in one sentence."""
    lines = [line.strip() for line in str(error).strip().splitlines()]
    if any("utf-8" in line.lower() or "unicode" in line.lower() for line in lines):
        return "it is not UTF-8 text; save it as UTF-8."
    whole = " ".join(lines)
    if bad := re.search(
        r"Line: (\d+).*converting column \"(.*)\"\. Could not convert string \"(.*)\" to 'DOUBLE'", whole
    ):
        return f"{bad[2]} holds {bad[3]!r} in line {bad[1]}, expected numbers."
    if bad := re.search(r"in line (\d+): Failed to cast value to numerical: (.*?) Try", whole):
        return f"a named column holds {bad[2]} in line {bad[1]}, expected numbers."
    return lines[0].removesuffix(".") + "."
