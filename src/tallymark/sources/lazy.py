"""Tallies of lazy dataframes, grouped into cells by the engine of the frame.

Polars, Dask, PySpark and Ibis are read through Narwhals, whose expressions each engine translates. The key of a cell is
computed by arithmetic only, so that cells are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tallymark import _check
from tallymark.errors import InputError
from tallymark.sources.celltable import CellTable, plain_numbers, tallies_of_cells
from tallymark.sources.frames import as_array
from tallymark.sources.roles import Roles
from tallymark.summaries.score_grid import HUGE, SCALE_DOWN, SPLITTER, Grid
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


def tallies_of_lazy(frame: Any, roles: Roles, thresholds: Iterable[float] = (0.5,)) -> Tallies:
    """Tallies by score column and group of a Narwhals lazy frame, one query for each score."""
    import narwhals as nw

    schema = frame.collect_schema()
    _refuse_bad_types(schema, roles)
    entries: dict[tuple[Any, ...], Tally] = {}
    for name in roles.scores:
        dtype = np.dtype(np.float32 if schema[name] == nw.Float32 else np.float64)
        grid = Grid(tuple(sorted({float(dtype.type(t)) for t in thresholds})), str(dtype))
        _refuse_bad_rows(frame, roles, name, whole=schema[name].is_integer())
        for group, tally in tallies_of_cells(_cells(frame, roles, name, grid), roles, grid):
            entries[name, *group] = tally
    return Tallies(("model", *roles.by), entries)


def number_of_rows(frame: Any) -> int:
    """How many rows a lazy frame has."""
    import narwhals as nw

    return int(frame.select(nw.len()).collect().item())


def _refuse_bad_types(schema: Any, roles: Roles) -> None:
    """Refuse columns of the wrong type in the same words for every engine."""
    import narwhals as nw

    for name in [*roles.scores, *([] if roles.weight is None else [roles.weight])]:
        if not (schema[name].is_numeric() or schema[name] == nw.Boolean):
            raise InputError(f"{name} holds {schema[name]}, expected numbers; convert the column first.")
    if roles.count is not None and not schema[roles.count].is_integer():
        raise InputError(
            f"{roles.count} holds {schema[roles.count]}, expected whole numbers (how often each row occurs); "
            "for survey or expenditure weights use weight=."
        )
    for name in [*roles.by, *([] if roles.label is None else [roles.label])]:
        if schema[name].is_nested() or schema[name] in (nw.Object, nw.Binary, nw.Unknown):
            raise InputError(f"{name} holds {schema[name]}; expected text, whole numbers or bools.")


def _refuse_bad_rows(frame: Any, roles: Roles, score: str, *, whole: bool) -> None:
    """Refuse rows with missing or infinite values, which engines would group differently."""
    import narwhals as nw

    schema = frame.collect_schema()

    needed = [name for name in (score, roles.label, roles.mass, *roles.by) if name is not None]
    finite = nw.col(score).cast(nw.Float64)
    flags = {f"no {name}": nw.col(name).is_null() for name in dict.fromkeys(needed)}
    flags["a NaN or infinite score"] = finite.is_nan() | (finite.abs() == float("inf"))
    flags |= {f"no {name}, but NaN": nw.col(name).is_nan() for name in roles.by if schema[name].is_float()}
    if whole:
        flags["a whole number beyond 2**53, which floats cannot tell apart, for a score"] = finite.abs() > float(2**53)
    if roles.mass is not None:
        mass = nw.col(roles.mass).cast(nw.Float64)
        flags["a negative, NaN or infinite weight"] = (mass < 0) | mass.is_nan() | (mass == float("inf"))
    counted = frame.select(
        *(flag.cast(nw.Int64).sum().alias(f"bad{i}") for i, flag in enumerate(flags.values()))
    ).collect()
    for i, what in enumerate(flags):
        many = counted[f"bad{i}"].to_list()[0] or 0
        if many:
            raise InputError(
                f"{score}: {int(many)} rows have {what}; drop or repair them, e.g. with the frame's filter."
            )


def _refuse_nothing(rows: Any, name: str) -> None:
    import narwhals as nw

    if not rows.select(nw.col("m").max()).collect().item():
        raise InputError(_check.all_zero(name))


def _cells(frame: Any, roles: Roles, score: str, grid: Grid) -> CellTable:
    """Count, extremes and sums by label, group and cell."""
    import narwhals as nw

    s, d = nw.col("s"), nw.col("d")
    spread, smaller = s * SPLITTER, s * SCALE_DOWN
    large = smaller * SPLITTER
    key = nw.when(s.abs() > HUGE).then((large - (large - smaller)) / SCALE_DOWN).otherwise(spread - (spread - s))
    side = nw.lit(0)
    for threshold in grid.thresholds:
        side = side + (s >= threshold).cast(nw.Int64)
    chosen = {"s": nw.col(score).cast(nw.Float64) + 0.0}
    chosen |= {f"g{i}": nw.col(name) for i, name in enumerate(roles.by)}
    if roles.label is not None:
        chosen["label"] = nw.col(roles.label)
    if roles.mass is not None:
        chosen["m"] = nw.col(roles.mass).cast(nw.Int64 if roles.weight is None else nw.Float64)
    rows = frame.select(*(column.alias(name) for name, column in chosen.items()))
    if roles.mass is not None:
        _refuse_nothing(rows, roles.mass)
    rows = rows.with_columns(key=key, side=side).with_columns(d=s - nw.col("key"))
    times = nw.lit(1) if roles.mass is None else nw.col("m")
    rows = rows.with_columns(d1=times * d, d2=times * d * d)
    # Rows of mass 0 have no part in the extremes.
    counted = s if roles.mass is None else nw.when(nw.col("m") > 0).then(s).otherwise(None)
    rows = rows.with_columns(counted=counted)
    sums = [nw.len().alias("n"), nw.col("counted").min().alias("lo"), nw.col("counted").max().alias("hi")]
    sums += [nw.col(name).sum().alias(name) for name in ("d1", "d2")]
    if roles.mass is not None:
        rows = rows.with_columns(squares=nw.col("m") * nw.col("m"), present=(nw.col("m") > 0).cast(nw.Int64))
        sums += [nw.col("m").sum().alias("mass"), *(nw.col(name).sum().alias(name) for name in ("squares", "present"))]
    keys = [name for name in chosen if name == "label" or name.startswith("g")]
    grouped = rows.group_by(*keys, "key", "side").agg(*sums).collect()
    entries = {name: as_array(grouped[name]) for name in grouped.columns}
    if roles.mass is None:
        return {**entries, "mass": entries["n"], "squares": entries["n"]}
    return {**entries, "n": plain_numbers(entries["present"])}
