"""Rows of files written with further columns beside them, every cell as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallymark._check import MISSING_WORDS, Column
from tallymark.errors import InputError
from tallymark.sources.duck import quoted, text
from tallymark.sources.engine import Engine
from tallymark.sources.formats import CSV
from tallymark.sources.number_texts import NumberFormat, number_formats, replaced


def write_rows(
    source: Engine,
    path: str,
    columns: Mapping[str, Column],
    *,
    parquet: bool,
    kept: str | None = None,
    numbers: Sequence[str] = (),
) -> None:
    """Write the files' rows as they are with further columns beside them; `path` must be among those allowed.

    `kept` names one of the columns, which is left out, as is every row that has no true value there. Parquet gets
    the columns `numbers` of a CSV as numbers, and others where every cell is the one way to write its number.
    """
    source.register("tallymark_columns", columns)
    form, rows = source.files.form, source.verbatim
    _refuse_other_rows(source, len(next(iter(columns.values()))))
    kind = f"{'FORMAT parquet' if parquet else 'FORMAT csv, HEADER'}, USE_TMP_FILE false"
    stored = _typed(source, rows, numbers) if parquet and form is CSV else "r.*"
    named = ", ".join(f"c.{quoted(name)}" for name in columns if name != kept)
    condition = "" if kept is None else f" WHERE c.{quoted(kept)}"
    source.query(
        f"COPY (SELECT {stored}, {named} FROM {rows} r POSITIONAL JOIN tallymark_columns c{condition}) "
        f"TO {text(path)} ({kind})"
    )


def _refuse_other_rows(source: Engine, expected: int) -> None:
    present = source.number_of_rows()
    if present != expected:
        raise InputError(
            f"{source.shown!r} has {present} rows now and had {expected} when it was read; it has changed meanwhile. "
            "Run the command again."
        )


def _typed(source: Engine, rows: str, numbers: Sequence[str]) -> str:
    """The columns of a CSV with the type that keeps every cell: a code such as 01, 1.10 or 1e5 stays text."""
    names = list(source.types)
    kinds = ("BIGINT", "DOUBLE")
    keeps = ", ".join(
        f"coalesce(bool_and(coalesce(TRY_CAST({c} AS {kind})::VARCHAR, '') = coalesce({c}, '')), true) AS k{i}_{kind}"
        for i, c in enumerate(map(quoted, names))
        for kind in kinds
    )
    kept = source.query(f"SELECT {keeps} FROM {rows}")
    types = {
        name: next((kind for kind in kinds if bool(kept[f"k{i}_{kind}"][0])), "VARCHAR") for i, name in enumerate(names)
    }
    values = _as_numbers(source, rows, numbers)
    return ", ".join(
        f"{values[name]} AS {quoted(name)}"
        if name in values
        else f"r.{quoted(name)}"
        if kind == "VARCHAR"
        else f"TRY_CAST(nullif(r.{quoted(name)}, '') AS {kind}) AS {quoted(name)}"
        for name, kind in types.items()
    )


def _as_numbers(source: Engine, rows: str, numbers: Sequence[str]) -> dict[str, str]:
    """Columns of text as numbers, in SQL, however they are written."""
    missing = ", ".join(map(text, MISSING_WORDS))
    given = {name: f"CASE WHEN {quoted(name)} NOT IN ({missing}) THEN {quoted(name)} END" for name in numbers}
    present = replaced(rows, given) if given else rows
    decimal = source.files.options.get("decimal")
    formats = number_formats(numbers, present, source.query, shown=source.shown, decimal=decimal)
    return {
        name: f"CASE WHEN {quoted(name)} NOT IN ({missing}) THEN {formats.get(name, NumberFormat()).sql(name)} END"
        for name in numbers
    }
