"""Tallying a Parquet file beside DuckDB's own sum over it, within 1 GiB of memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

import tallymark as tm
from bench.report import Measured, at_most
from bench.timing import memory_bytes, ratios, rounds, run_python

_GIB = 2**30


def write(path: Path, rows: int) -> None:
    """Five per cent positives, normal scores through a logistic function."""
    with duckdb.connect() as engine:
        engine.execute("SET enable_progress_bar = false")
        engine.execute("SELECT setseed(0.5)")
        engine.execute(
            f"""COPY (SELECT label, 1 / (1 + exp(-(sqrt(-2 * ln(random() + 1e-300)) * cos(2 * pi() * random()) + 2 * label))) AS score
                      FROM (SELECT (random() < 0.05)::INTEGER AS label FROM range({rows}))) TO '{path}' (FORMAT parquet)"""
        )


def run(rows: int, repeats: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.parquet"
        write(path, rows)
        with duckdb.connect() as engine:
            engine.execute("SET enable_progress_bar = false")
            seconds = rounds(
                {
                    "sum": lambda: engine.execute(f"SELECT sum(score), sum(label) FROM '{path}'").fetchall(),
                    "scan": lambda: tm.scan(path, label="label", score="score", exact=False),
                },
                repeats,
            )
        name = f"scan of {rows / 1e6:g} M rows"
        yield at_most(name, ratios(seconds, "scan", "sum"), 6, "of DuckDB's sum")
        code = f"from bench.scanning import measure_memory; measure_memory({str(path)!r})"
        held, low, high = map(float, run_python(["-c", code]).split())
        note = f"AUROC between {low:.7f} and {high:.7f}"
        yield at_most(f"memory of the {name}", [held / _GIB], 1, "of a GiB", note)


def measure_memory(path: str) -> None:
    """Run in a process of its own, the engine held to half a GiB."""
    tally = tm.scan(path, label="label", score="score", exact=False, memory_limit="512MB")
    low, high = tm.bound(tally, "auroc")
    print(memory_bytes("VmHWM"), low, high)
