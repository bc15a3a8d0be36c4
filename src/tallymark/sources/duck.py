"""A sandboxed DuckDB connection with limits, a folder to spill to, progress, and errors in plain words."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tallymark import _check
from tallymark._check import Column
from tallymark._memory import room
from tallymark.errors import InputError, nearest
from tallymark.sources.arrow_stream import Interrupted, arrow_blocks

if TYPE_CHECKING:
    import duckdb

Progress = Callable[[float], None]

#: How often the progress of a running query is reported.
_POLL_SECONDS = 0.1

#: Address space that the engine takes when it opens, in all and for each thread.
_ENGINE, _THREAD = 608 * 2**20, 72 * 2**20

#: More threads than any machine has cores only cost memory.
_MOST_THREADS = 1_024


class Duck:
    """An open connection; `shown` names what is read in messages."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, shown: str, progress: Progress | None, spill: str
    ) -> None:
        self.shown = shown
        self._connection = connection
        self._progress = progress
        self._spill = spill

    def query(self, sql: str, *parameters: Any) -> dict[str, Column]:
        """Run one statement and fetch its columns; a second statement is refused, never run."""
        import duckdb

        try:
            self._require_one_statement(sql)
            return self._run(lambda: self._connection.execute(sql, list(parameters)).fetchnumpy())
        except duckdb.PermissionException as error:
            raise InputError(f"where= may look at the rows of {self.shown!r} only: {first_sentence(error)}") from None
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"Out of memory or of room to spill while reading {self.shown!r}: {first_sentence(error)} "
                "Raise memory_limit=, or set TMPDIR to a disk with more room."
            ) from None
        except duckdb.IOException as error:
            if self._spill not in str(error):
                if failed := _write_failure(error):
                    raise failed from None
                raise unreadable(self.shown, error) from None
            raise InputError(
                f"Cannot spill to disk while reading {self.shown!r}: {first_sentence(error)} "
                "Set TMPDIR to a disk with more room, or raise memory_limit=."
            ) from None
        except duckdb.Error as error:
            raise unreadable(self.shown, error) from None
        except RuntimeError as error:
            # Ctrl-C ends a query before Python hears of it.
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from None
            raise

    def stream(self, sql: str, parameter: Any, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of one statement, `size` at a time."""
        import duckdb

        try:
            rows = self._connection.execute(sql, [parameter])
            while part := rows.fetchmany(size):
                yield part
        except duckdb.Error as error:
            raise unreadable(self.shown, error) from None

    def blocks(self, sql: str, kinds: Sequence[np.dtype[Any]]) -> Generator[list[Column], None, None]:
        """The columns of one statement, of the types `kinds`, block by block and in any order.

        Raises :class:`Interrupted` where the engine fails or a value is missing.
        """
        import duckdb

        try:
            self._require_one_statement(sql)
            for block in arrow_blocks(self._connection.sql(sql), kinds):
                if self._progress is not None:
                    self._progress(max(0.0, self._connection.query_progress()))
                yield block
        except duckdb.Error as error:
            raise Interrupted(str(error)) from None

    def _require_one_statement(self, sql: str) -> None:
        if len(self._connection.extract_statements(sql)) != 1:
            raise InputError("where= must be one condition, not several statements.")

    def require_repeatable(self, where: str) -> None:
        """Refuse a condition that is random, so that each query would choose other rows."""
        volatile = self.query(
            "SELECT DISTINCT function_name AS name FROM duckdb_functions() WHERE stability = 'VOLATILE'"
        )
        called = {name.lower() for name in _CALLED.findall(_STRINGS.sub("''", where))}
        drawn = "a sample" if _SAMPLED.search(_QUOTED.sub("", where)) else None
        if chance := min(called & set(volatile["name"].tolist()), default=drawn):
            raise InputError(
                f"where={where!r} takes {chance}, and so other rows each time; "
                "mark the rows in a column of the data instead."
            )

    def register(self, name: str, columns: Mapping[str, Column]) -> None:
        """Make arrays available to queries as a table."""
        self._connection.register(name, dict(columns))

    def keep_order(self) -> None:
        """Give rows in the order they have in the files, which takes longer."""
        self._connection.execute("SET preserve_insertion_order = true")

    def _run(self, work: Callable[[], dict[str, Column]]) -> dict[str, Column]:
        if self._progress is None:
            return work()
        values: list[dict[str, Column]] = []
        failed: list[Exception] = []

        def capture() -> None:
            try:
                values.append(work())
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
        return values[0]


@contextmanager
def connected(
    shown: str,
    allowed: Sequence[str],
    *,
    memory_limit: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Duck]:
    """A connection that may open the `allowed` paths and its folder to spill to, and nothing else.

    A condition cannot read other files or reach the network. The folder is removed when the connection closes.
    """
    import duckdb

    _check.callback(progress)
    if threads is not None:
        _check.whole(threads, "threads", 1, _MOST_THREADS)
    _require_room(shown, threads or os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="tallymark-") as spill, duckdb.connect() as connection:
        connection.execute("SET temp_directory = ?", [spill])
        try:
            if memory_limit is not None:
                connection.execute("SET memory_limit = ?", [memory_limit])
            if threads is not None:
                connection.execute("SET threads = ?", [threads])
        except duckdb.Error as error:
            raise InputError(f"memory_limit={memory_limit!r}, threads={threads!r}: {first_sentence(error)}") from None
        # Aggregates over groups need no order, and keeping one costs memory.
        connection.execute("SET preserve_insertion_order = false")
        # No bar on standard output, which may be JSON; but DuckDB measures progress only if the bar is enabled.
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute(f"SET enable_progress_bar = {progress is not None}")
        # These optimisations rely on a file's statistics, and crash or change values where a damaged file has wrong
        # ones.
        connection.execute("SET perfect_ht_threshold = 0")
        connection.execute("SET disabled_optimizers = 'compressed_materialization'")
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("SET autoload_known_extensions = false")
        connection.execute("SET allowed_paths = ?", [list(allowed)])
        connection.execute("SET enable_external_access = false")
        yield Duck(connection, shown, progress, spill)


def _require_room(shown: str, threads: int) -> None:
    """Refuse to open the engine where its threads would not get their memory, and it would crash."""
    left, needed = room(), _ENGINE + threads * _THREAD
    if left is not None and left < needed:
        raise InputError(
            f"Reading {shown!r} takes {needed // 2**20} MB of address space, and this process may take "
            f"{left // 2**20} MB more; raise its limit (ulimit -v), or use fewer threads."
        )


def require_condition(where: object) -> None:
    """Refuse a condition that is empty, no text, or closes a bracket that it does not open."""
    if not isinstance(where, str) or not where.strip() or where != where.encode("utf-8", "replace").decode():
        raise InputError(
            f"where={where!r} is no condition; give one in SQL like \"region = 'north'\", or leave it out."
        )
    depth = 0
    for sign in _BRACKETS.findall(_QUOTED.sub("", where)):
        depth += 1 if sign == "(" else -1
        if depth < 0:
            raise InputError(f"where= must be one condition; {where!r} closes a bracket that it does not open.")


#: Texts, names and comments in SQL, in which brackets mean nothing.
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/", re.DOTALL)
_BRACKETS = re.compile(r"[()]")


#: Texts in SQL; what is called in it, quoted or not; and samples of a subquery.
_STRINGS = re.compile(r"'(?:[^']|'')*'")
_CALLED = re.compile(r"(\w+)\"?\s*\(")
_SAMPLED = re.compile(r"\b(USING\s+SAMPLE|TABLESAMPLE)\b", re.IGNORECASE)


def _write_failure(error: Exception) -> OSError | None:
    """DuckDB's failure to write as the system's error; None where it failed to read."""
    if not re.search(r"Could not write file|write failed", str(error)):
        return None
    number = re.search(r'"errno":"(\d+)"', str(error))
    return OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(first_sentence(error))


def unreadable(shown: str, error: Exception) -> InputError:
    """DuckDB's error in one sentence that names what was read."""
    return InputError(f"Cannot read {shown!r}: {first_sentence(error)}")


def first_sentence(error: Exception) -> str:
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
    if bad := re.search(
        r"Could not convert string '(.*?)' to DOUBLE(?: when casting from source column (\S+))?", whole
    ):
        return f"{bad[2] or 'a column of numbers'} holds {bad[1]!r}, expected numbers."
    if bad := re.search(r'Referenced column "(.*?)" (?:was )?not found', whole):
        _, _, candidates = whole.partition("Candidate bindings:")
        meant = nearest(bad[1], [name.rpartition(".")[2] for name in re.findall(r'"([^"]+)"', candidates)])
        cure = meant or f" If it is a text, write it in single quotes: '{bad[1]}'."
        return f"the condition names a column {bad[1]!r}, which is not there.{cure}"
    if bad := re.search(r"Parser Error: (.*?)(?: LINE|$)", whole):
        why = "it ends too soon" if 'at or near ")"' in bad[1] else bad[1].strip().removesuffix(".")
        return f"the condition is no SQL ({why}); write it like: region = 'north' AND amount > 10."
    return lines[0].removesuffix(".") + "."


def quoted(name: str) -> str:
    """A column name as SQL text, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def text(value: object) -> str:
    """A text literal in SQL, whatever the text contains."""
    escaped = str(value).replace("'", "''")
    return f"'{escaped}'"


def double(value: float) -> str:
    """A float as SQL, to the last bit: a bare literal would be read as a decimal and rounded."""
    return f"'{value!r}'::DOUBLE"
