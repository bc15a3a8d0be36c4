"""The embedded engine: what it reads, how a query runs with limits and progress, and what goes wrong."""

from __future__ import annotations

import csv
import gzip
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tallymark.errors import ColumnError, InputError

if TYPE_CHECKING:
    import duckdb

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
Progress = Callable[[float], None]

_PARQUET = "read_parquet(?)"
#: Numbers and text only: DuckDB would read the labels "yes" and "no" as true and false, and dates as times.
_CSV = (
    "read_csv(?, auto_type_candidates = ['BIGINT', 'DOUBLE', 'VARCHAR'], "
    "nullstr = ['', 'NA', 'N/A', 'NaN', 'nan', 'null', 'NULL', 'None'])"
)
_JSON = "read_json(?, format = 'newline_delimited')"

#: How DuckDB reads each kind of file, by the end of its name (``.gz`` and ``.zst`` may follow).
_READERS = {
    ".parquet": _PARQUET, ".pq": _PARQUET, ".csv": _CSV, ".tsv": _CSV, ".txt": _CSV,
    ".jsonl": _JSON, ".ndjson": _JSON,
}  # fmt: skip

#: How often a running query is asked how far it is.
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Files:
    """One or more files of one kind, as the engine reads them."""

    reader: str
    names: list[str]
    shown: str

    @property
    def places(self) -> list[str]:
        """The files as the engine wants them named."""
        return [_literal(name) for name in self.names]

    @classmethod
    def at(cls, paths: Paths) -> Files:
        """Files by path, wildcard or list of either; each must exist, hold something and be of one known kind."""
        given = [fspath(p) for p in ([paths] if isinstance(paths, str | PathLike) else paths)]
        if not given:
            raise InputError("No files given; name a file, a pattern like 'scores/*.parquet', or a list of them.")
        found = [Path(name) for pattern in given for name in _expanded(pattern)]
        readers = {_reader(file) for file in found}
        if len(readers) > 1:
            raise InputError("The files are of different kinds; read CSV and Parquet files apart.")
        return cls(
            readers.pop(),
            [str(file) for file in found],
            shown=given[0] if len(given) == 1 else f"{len(found)} files",
        )


class Engine:
    """A connection of our own to DuckDB, with limits, a place to spill to, and errors in plain words.

    `reader` stands for the files in a query's FROM, once in each; `shown` names them in messages.
    """

    def __init__(
        self, files: Files, connection: duckdb.DuckDBPyConnection, progress: Progress | None, spill: str
    ) -> None:
        self._spill = spill
        self.reader = files.reader
        self.shown = files.shown
        self._files = files
        self._connection = connection
        self._progress = progress

    def types(self) -> dict[str, str]:
        """The type of each column, by name."""
        types = self._described()
        marks = [mark for mark in ",;|\t" if len(types) == 1 and mark in next(iter(types))]
        if marks and self.reader == _CSV:
            # A ragged line makes DuckDB take the whole header for one column.
            _refuse_ragged(self._files.names, marks[0])
        return types

    def _described(self) -> dict[str, str]:
        described = self.query(f"DESCRIBE SELECT * FROM {self.reader}")
        return dict(zip(described["column_name"].tolist(), described["column_type"].tolist(), strict=True))

    def require(self, wanted: Sequence[tuple[str, str]]) -> dict[str, str]:
        """Types of the columns; a wanted one, given as (column, the option that named it), must be there."""
        types = self.types()
        for name, option in wanted:
            if name not in types:
                raise ColumnError.missing(name, list(types), option)
        return types

    def query(self, sql: str) -> dict[str, NDArray[Any]]:
        """Run one statement and fetch its columns; a second statement is refused, never run."""
        import duckdb

        try:
            if len(self._connection.extract_statements(sql)) != 1:
                raise InputError("where= must be one condition, not several statements.")
            return self._run(lambda: self._connection.execute(sql, [self._files.places]).fetchnumpy())
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

    def register(self, name: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Let queries see arrays of ours as a table."""
        self._connection.register(name, dict(columns))

    def keep_order(self) -> None:
        """Give rows in the order they have in the files, which takes longer."""
        self._connection.execute("SET preserve_insertion_order = true")

    def write(self, path: str, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write the files' rows with further columns beside them, as CSV or Parquet; all of it or nothing."""
        self.register("tallymark_columns", columns)
        unfinished = f"{path}.unfinished"
        kind = "FORMAT parquet" if path.lower().endswith(".parquet") else "FORMAT csv, HEADER"
        named = ", ".join(f"c.{quoted(name)}" for name in columns)
        rows = f"SELECT r.*, {named} FROM {self.reader} r POSITIONAL JOIN tallymark_columns c"
        try:
            self.query(f"COPY ({rows}) TO {text(unfinished)} ({kind})")
            Path(unfinished).replace(path)
        except OSError as error:
            raise InputError(f"Cannot write {path!r}: {error.strerror}.") from None
        finally:
            Path(unfinished).unlink(missing_ok=True)

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
    paths: Paths, *, memory_limit: str | None = None, threads: int | None = None, progress: Progress | None = None
) -> Iterator[Engine]:
    """An engine over files; what it spills to disk is gone when it closes, however that happens."""
    import duckdb

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
        yield Engine(files, connection, progress, spill)


def _refuse_ragged(names: Sequence[str], separator: str) -> None:
    """Name the first line that has more or fewer fields than the header."""
    for name in names:
        opener = gzip.open if name.endswith(".gz") else open
        with opener(name, "rt", encoding="utf-8", errors="replace", newline="") as file:
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


def _expanded(pattern: str) -> list[str]:
    """The files a pattern stands for; a file that exists under the very name wins over its wildcards."""
    path = Path(pattern)
    if path.is_dir():
        raise InputError(f"{pattern!r} is a directory; name its files, e.g. {pattern.rstrip('/') + '/*.parquet'!r}.")
    if path.exists():
        return [pattern]
    if any(c in pattern for c in "*?["):
        matches = sorted(name for name in glob(pattern, recursive=True) if Path(name).is_file())
        if matches:
            return matches
        raise InputError(f"No file matches {pattern!r}; check the folder and the pattern.")
    raise InputError(f"No file {pattern!r}; check the path.")


def _reader(file: Path) -> str:
    if file.stat().st_size == 0:
        raise InputError(f"{str(file)!r} is empty.")
    name = file.name.lower().removesuffix(".gz").removesuffix(".zst")
    for ending, reader in _READERS.items():
        if name.endswith(ending):
            return reader
    raise InputError(f"{str(file)!r}: cannot tell the format; use a name that ends in {', '.join(_READERS)}.")


def _literal(path: str) -> str:
    """The path with wildcards turned off: a file may well be called ``scores[1].csv``."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)


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
    """The first line of DuckDB's message and the one that names a value it could not read."""
    lines = [line.strip() for line in str(error).strip().splitlines()]
    detail = [line for line in lines[1:] if line.startswith(("Error when converting", "Could not convert"))]
    return " ".join([lines[0].removesuffix(".") + ".", *detail[:1]])
