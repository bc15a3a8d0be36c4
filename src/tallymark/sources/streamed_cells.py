"""Cell tables of Parquet files counted in NumPy while the engine only reads.

For rows that count one each and have no groups, in files that store the range of their columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from tallymark._check import Column
from tallymark.sources.arrow_stream import Interrupted
from tallymark.sources.cell_counts import Uncountable, count_cells
from tallymark.sources.celltable import missing
from tallymark.sources.class_moments import Span
from tallymark.sources.duck import quoted, text
from tallymark.sources.engine import Engine
from tallymark.sources.roles import Roles
from tallymark.summaries.score_grid import Grid, cell_key

#: The types of the two columns that are streamed.
_CODE_AND_SCORE = (np.dtype(np.uint8), np.dtype(np.float64))

#: More threads than this take memory and have to wait for the rows.
_MOST_THREADS = 8


@dataclass(frozen=True)
class StreamedCells:
    """A cell table, ordered by label and score, and the sums that give the moments of each label's scores."""

    cells: Mapping[str, Column]
    sums: Mapping[str, Column]
    span: Span


def streamed_cells(source: Engine, roles: Roles, where: str | None, score: str, grid: Grid) -> StreamedCells | None:
    """The cells of a score; None where the engine has to count them (and to say what is wrong, if anything is)."""
    if roles.mass is not None or roles.by:
        return None
    ends = source.stored_range(score)
    labels = None if ends is None else _labels(source, roles.label)
    if ends is None or labels is None:
        return None
    span = Span.between(*ends)
    try:
        with closing(
            source.blocks(f"{labels.code} AS code, {quoted(score)}::DOUBLE + 0.0 AS s", where, _CODE_AND_SCORE)
        ) as blocks:
            counted = count_cells(blocks, grid, span, min(source.threads, _MOST_THREADS))
    except (Interrupted, Uncountable):
        return None
    # The statistics of a damaged file may be wrong.
    if not (len(counted.n) and ends[0] <= counted.lo.min() and counted.hi.max() <= ends[1]):
        return None
    rows = np.bincount(counted.code, counted.n, 2)
    classes = np.flatnonzero(rows)
    return StreamedCells(
        {
            "label": labels.values[counted.code],
            "key": cell_key(counted.lo),
            "side": np.searchsorted(np.array(grid.thresholds), counted.lo, "right"),
            "lo": counted.lo,
            "hi": counted.hi,
            **dict.fromkeys(("n", "mass", "squares", "every"), counted.n),
        },
        {
            "label": labels.values[classes],
            "mass": rows[classes],
            **{f"e{i}": np.array([counted.sums[code][i] for code in classes], dtype=object) for i in range(3)},
        },
        span,
    )


@dataclass(frozen=True)
class _Labels:
    """The two labels of a column, and in SQL which of them a row has: 0 or 1, or 2 if neither."""

    values: Column
    code: str


def _labels(source: Engine, name: str | None) -> _Labels | None:
    if name is None:
        return _Labels(np.zeros(2, dtype=np.int64), "0::UTINYINT")
    column, kind = quoted(name), source.types[name]
    ends = source.query(
        f"""SELECT unnest([low, high]) AS label, unnest([low::VARCHAR, high::VARCHAR]) AS written
            FROM (SELECT min({column}) AS low, max({column}) AS high FROM {source.reader})"""
    )
    if missing(ends["label"]).any():
        return None
    low, high = (f"{text(label)}::{kind}" for label in ends["written"].tolist())
    return _Labels(ends["label"], f"(CASE {column} WHEN {high} THEN 1 WHEN {low} THEN 0 ELSE 2 END)::UTINYINT")
