"""Tables of results: one list of rows of values, and its writers for terminals, notebooks, dataframes and files."""

from __future__ import annotations

import html
import importlib.util
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from os import PathLike
from typing import Any

import numpy as np

from tallymark._numbers import amount, count, noun, number
from tallymark._small_picture import picture_of
from tallymark._text import visible
from tallymark._writers import comma_separated, latex, markdown
from tallymark.errors import InputError
from tallymark.notes import Note, box

Row = Mapping[str, Any]


class Shown:
    """Builds ``repr``, HTML and exports from `rows()`, which are data, and a heading."""

    __slots__ = ()

    def heading(self) -> str:
        """One line above the table."""
        return type(self).__name__

    def rows(self) -> Sequence[Row]:
        """The table, a mapping from column name to value per line."""
        raise TypeError(f"{type(self).__name__} has no rows()")

    def printed_rows(self) -> Sequence[Row]:
        """The rows that ``repr`` and notebooks show: all, unless a result says which are enough for the eye."""
        return self.rows()

    def __repr__(self) -> str:
        return "\n".join([*map(visible, self.heading().split("\n")), *text_table(self.printed_rows())])

    def _repr_html_(self) -> str:
        table, picture = html_table(self.heading(), self.printed_rows()), picture_of(self)
        return f"{_BESIDE}<div>{table}</div><div>{picture}</div></div>" if picture else table

    def to_frame(self) -> Any:
        """The rows as a dataframe of the library at hand (pandas, else Polars, else PyArrow)."""
        return frame(columns_of(self.rows()))

    def to_latex(self, caption: str = "") -> str:
        """The rows as a booktabs table."""
        return latex(columns_of(self.rows()), number, caption)

    def to_markdown(self) -> str:
        """The rows as a pipe table."""
        return markdown(columns_of(self.rows()), number)

    def to_xlsx(self, path: str | PathLike[str]) -> None:
        """Write a workbook: the rows, those of results inside this one, and a last sheet with notes and definitions.

        Parameters
        ----------
        path
            A file that ends in ``.xlsx`` (needs ``pip install 'tallymark[office]'``), ``.ods``, or ``.html`` for tables
            to paste into a text.
        """
        from tallymark._workbook import Sheet, write_workbook

        sheets = [Sheet(title, columns_of(rows)) for title, rows in _tables_of(self)]
        names = dict.fromkeys(
            str(value) for sheet in sheets for name in _NAMES for value in sheet.columns.get(name, ())
        )
        write_workbook(path, sheets, [*remarks_of(self), *definitions_of(names)])

    def to_csv(self) -> str:
        """The rows as comma-separated text, all digits kept; cells that a spreadsheet would run are made text."""
        return comma_separated(columns_of(self.rows()))


#: Columns that hold names of metrics.
_NAMES = ("metric", "of", "estimate", "name")


def _tables_of(result: Shown) -> Iterator[tuple[str, Sequence[Row]]]:
    """The table of a result and those of the results in its fields, each with a title."""
    yield type(result).__name__, result.rows()
    # The entries of results that are mappings are in their rows.
    for field in (name for name in getattr(result, "__dataclass_fields__", ()) if name != "entries"):
        value = getattr(result, field)
        inside = value if isinstance(value, Mapping) and value else {}
        if isinstance(value, Shown):
            yield field.replace("_", " "), value.rows()
        elif inside and all(isinstance(one, Shown) for one in inside.values()):
            rows = [{"for": _key(key), **row} for key, one in inside.items() for row in one.rows()]
            yield field.replace("_", " "), rows


def _key(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def remarks_of(result: Shown) -> list[tuple[str, str]]:
    """The heading and the notes of a result, by kind."""
    notes = [(note.code, note.message) for note in getattr(result, "warnings", ())]
    return [("result", result.heading()), *notes]


def definitions_of(names: Iterable[str]) -> list[tuple[str, str]]:
    """What the metrics among some names mean."""
    from tallymark.registry import METRICS

    return [(name, METRICS[name].meaning) for name in names if name in METRICS]


#: A table and its picture side by side, or one above the other where there is no room.
_BESIDE = '<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start">'


class Limited:
    """An estimate with limits: `value`, `low`, `high`, their confidence `level` and `interval_method`."""

    __slots__ = ()

    #: The lower limit, None while there is no interval.
    low: float | None
    #: The upper limit.
    high: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Low and high together, None while there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def plain(value: Any) -> Any:
    """A value as real JSON: nan is null, infinities are text, arrays are lists."""
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value.tolist()]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


#: Columns of numbers of things: nobody counts a quarter of a company.
_WHOLE = frozenset({"count", "count_low", "count_high"})
_AMOUNTS = frozenset({"n", "n_rows", "rows", "positives", "negatives", "tp", "fp", "fn", "tn"})


def in_column(name: str, value: object) -> str:
    """A cell of a table; numbers of things are written whole."""
    if isinstance(value, float | np.floating) and name in _WHOLE | _AMOUNTS:
        return count(float(value)) if name in _WHOLE else amount(float(value))
    return number(value)


def columns_of(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows turned into columns; a row that lacks a column has None there."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def text_table(rows: Sequence[Row], most: int = 60) -> Iterable[str]:
    """Aligned lines: text to the left, numbers to the right."""
    columns = columns_of(rows[:most])
    cells = {name: [visible(in_column(name, value)) for value in values] for name, values in columns.items()}
    widths = {name: max(len(visible(name)), *map(len, values)) for name, values in cells.items()}
    right = {
        name: any(isinstance(value, int | float | np.number) for value in values) for name, values in columns.items()
    }

    def line(values: Mapping[str, str]) -> str:
        return "  ".join(
            values[name].rjust(widths[name]) if right[name] else values[name].ljust(widths[name]) for name in values
        ).rstrip()

    if columns:
        yield line({name: visible(name) for name in columns})
    for index in range(min(len(rows), most)):
        yield line({name: values[index] for name, values in cells.items()})
    if len(rows) > most:
        yield f"… {len(rows) - most} more rows; to_frame() has them all"


def html_table(heading: str, rows: Sequence[Row], most: int = 200) -> str:
    """The same table for a notebook; every text is escaped."""
    columns = columns_of(rows[:most])
    head = "".join(f"<th>{html.escape(visible(name))}</th>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html.escape(visible(in_column(name, values[index])))}</td>" for name, values in columns.items()
        )
        + "</tr>"
        for index in range(min(len(rows), most))
    )
    more = f"<p>… {len(rows) - most} more rows</p>" if len(rows) > most else ""
    head_lines = html.escape("\n".join(map(visible, heading.split("\n"))))
    return f"<p>{head_lines}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def folded(summary: str, content: str) -> str:
    """HTML that a notebook shows when its one line is clicked."""
    return f"<details><summary>{html.escape(visible(summary))}</summary>{content}</details>"


def with_folded(table: str, rest: str, notes: Sequence[Note]) -> str:
    """A table with the rest folded below it, and the notes folded below that."""
    said = ""
    if notes:
        title = f"{len(notes)} {noun(len(notes), 'note')} on how far to trust this"
        said = folded(title, box(f"{note.code}: {note.message}" for note in notes))
    return f"<div>{table}{rest}{said}</div>"


def frame(columns: Mapping[str, Any]) -> Any:
    """A dataframe of whichever library is installed."""
    for library in ("pandas", "polars", "pyarrow"):
        if importlib.util.find_spec(library) is None:
            continue
        module = importlib.import_module(library)
        return module.table(dict(columns)) if library == "pyarrow" else module.DataFrame(dict(columns))
    raise InputError("to_frame() needs a dataframe library; install pandas, polars or pyarrow, or use to_dict().")
