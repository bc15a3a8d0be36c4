"""The same data in every engine: identical counts, weighted sums to 1e-12, bad rows counted."""

import shutil
import subprocess
import sys
import warnings
from contextlib import ExitStack

import numpy as np
import pandas as pd
import pytest
from bench.clusters import dask_cluster

import tallymark as tm

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ROWS = 6_000
MASSES = {"unit": {}, "weight": {"weight": "w"}, "count": {"count": "k"}}


def data():
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.2).astype(int)
    s = rng.normal(size=ROWS) + y
    return pd.DataFrame({
        "y": y, "s": s, "repeated": s.round(1), "p": 1 / (1 + np.exp(-s)), "w": rng.random(ROWS) + 0.5,
        "k": rng.integers(1, 4, ROWS), "region": rng.choice(["n", "s'x"], ROWS), "word": np.where(y == 1, "yes", "no"),
    })  # fmt: skip


def in_polars(frame):
    import polars as pl

    return pl.from_pandas(frame).lazy()


def in_duckdb(frame):
    import duckdb

    connection = duckdb.connect()
    _CONNECTIONS.append(connection)
    connection.register("frame", frame)
    return connection.sql("SELECT * FROM frame")


#: A relation lives as long as its connection.
_CONNECTIONS = []


def in_dask(frame):
    import dask.dataframe as dd

    return dd.from_pandas(frame, npartitions=3)


def in_ibis(frame):
    import ibis

    return ibis.memtable(frame)


def in_spark(frame):
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime; .ci/run installs one")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    return session.createDataFrame(rows, schema=list(frame.columns))


ENGINES = {"polars": in_polars, "duckdb": in_duckdb, "dask": in_dask, "ibis": in_ibis, "spark": in_spark}


@pytest.fixture(scope="module", params=[*ENGINES, "dask cluster"])
def frame(request):
    with warnings.catch_warnings(), ExitStack() as stack:
        warnings.simplefilter("ignore")
        if request.param == "dask cluster":
            stack.enter_context(dask_cluster())
            yield in_dask(data())
        else:
            yield ENGINES[request.param](data())


@pytest.mark.parametrize("mass", MASSES)
def test_every_engine_makes_the_same_cells(frame, mass):
    expected = tm.tally(data(), label="y", score="s", **MASSES[mass]).quantise(thresholds=[0.5])
    found = tm.tally(frame, label="y", score="s", exact=False, **MASSES[mass])
    assert (found.labels, found.grid) == (expected.labels, expected.grid)
    for a, b in zip(found.runs, expected.runs, strict=True):
        assert a.n_rows == b.n_rows
        for name, column in a.columns().items():
            if name in {"weights", "squares"}:
                np.testing.assert_allclose(column, b.columns()[name], rtol=1e-12)
            else:
                np.testing.assert_array_equal(column, b.columns()[name])
        assert a.moments.mean == pytest.approx(b.moments.mean, rel=1e-12)
        assert a.moments.m2 == pytest.approx(b.moments.m2, rel=1e-9)


def test_small_lazy_frames_are_exact(frame):
    exact = tm.tally(data(), label="y", score="s")
    found = tm.tally(frame, label="y", score="s")
    assert found.grid is None
    assert tm.metrics.auroc(found) == tm.metrics.auroc(exact)


def test_groups_words_and_unlabelled(frame):
    made = data()
    ts = tm.tally(frame, label="word", score=["s", "p"], by="region", pos_label="yes", exact=False)
    assert set(ts) == {(s, r) for s in ("s", "p") for r in ("n", "s'x")}
    for (score, region), tally in ts.items():
        own = made[made.region == region]
        low, high = tm.bound(tally, "auroc")
        assert low - 1e-12 <= tm.metrics.auroc(tm.tally(own["y"], own[score])) <= high + 1e-12
    repeated = tm.tally(frame, label="y", score="repeated", exact=False)
    assert repeated.exact
    assert tm.tally(frame, score="p", exact=False).n == ROWS


def test_missing_columns_are_named(frame):
    with pytest.raises(tm.InputError, match="No column 'ss'; the data has .*Did you mean 's'"):
        tm.tally(frame, label="y", score="ss", exact=False)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("column", "message"), [("s", "rows have no s"), ("y", "rows have no y"), ("region", "rows have no region")]
)
def test_nulls_are_counted(engine, column, message):
    made = data().head(50).astype({"y": object})
    made.loc[[3, 7], column] = None
    with pytest.raises(tm.InputError, match=f"2 {message}|2 rows have no score|2 rows have a NaN"):
        tm.tally(ENGINES[engine](made), label="y", score="s", by="region", exact=False)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask", "ibis"])
@pytest.mark.parametrize("exact", [None, False])
def test_missing_values_can_be_dropped(engine, exact):
    made = data().head(50)
    made.loc[[3, 7], "s"] = None
    made.loc[[7, 9], "region"] = None
    options = {"label": "y", "score": "s", "by": "region", "drop_missing": True}
    found = tm.tally(ENGINES[engine](made), exact=exact, **options)
    assert sum(t.n for t in found.values()) == 47
    eager = tm.tally(made, **options)
    assert {k: t.n for k, t in found.items()} == {k: t.n for k, t in eager.items()}


@pytest.mark.parametrize("engine", ["polars", "duckdb", "dask"])
def test_negative_weights_are_counted(engine):
    made = data().head(50)
    made.loc[[3, 7], "w"] = -1.0
    with pytest.raises(tm.InputError, match="2 rows have a negative"):
        tm.tally(ENGINES[engine](made), label="y", score="s", weight="w", exact=False)


def test_using_one_engine_imports_no_other():
    code = """
import polars as pl, tallymark as tm, sys
tm.tally(pl.LazyFrame({"y": [0, 1, 0], "p": [0.1, 0.2, 0.3]}), label="y", score="p", exact=False)
print(*sorted({"pandas", "dask", "pyspark", "ibis", "duckdb", "sklearn"} & {name.split(".")[0] for name in sys.modules}))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
