"""Spark beside its own MLlib, Dask beside fetching every row: time, error, and what crosses to the caller."""

import contextlib
import json
import logging
import os
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

import numpy as np
import pandas as pd

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.timing import ratios, rounds

#: Files the rows are spread over.
_PARTS = 8


def _write(folder: Path, rows: int) -> tm.Tally:
    """Rows in several files, and their exact tally."""
    rng = np.random.default_rng(0)
    y = (rng.random(rows) < 0.05).astype(np.float64)
    s = 1 / (1 + np.exp(-(rng.normal(size=rows) + 2 * y)))
    for i in range(_PARTS):
        pd.DataFrame({"label": y[i::_PARTS], "score": s[i::_PARTS]}).to_parquet(folder / f"{i}.parquet")
    return tm.tally(y, s)


def run(rows: int, repeats: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exact = _write(folder, rows)
        yield from _spark(folder, exact, rows, repeats)
        yield from _dask(folder, rows, repeats)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """The Java machine inherits standard error when it starts, and keeps it."""
    kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def _spark(folder: Path, exact: tm.Tally, rows: int, repeats: int) -> Iterator[Measured]:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "true",
        "spark.ui.port": "0", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
        "spark.driver.memory": "3g", "spark.driver.maxResultSize": "0", "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    with _silent():
        builder = SparkSession.builder.master("local[2]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    try:
        frame = session.read.parquet(str(folder)).repartition(4).cache()
        frame.count()
        evaluator = BinaryClassificationEvaluator(rawPredictionCol="score", labelCol="label")
        found: dict[str, float] = {}

        def ours() -> None:
            tally = tm.tally(frame, label="label", score="score", exact=False)
            found["auroc"], found["ap"] = tm.metrics.auroc(tally), tm.metrics.average_precision(tally)

        def theirs() -> None:
            found["their auroc"] = evaluator.evaluate(frame, {evaluator.metricName: "areaUnderROC"})
            found["their ap"] = evaluator.evaluate(frame, {evaluator.metricName: "areaUnderPR"})

        ours()
        seconds = rounds({"ours": ours, "peer": theirs}, repeats)
        name = f"{rows / 1e6:g} M rows"
        yield faster(f"AUROC and AP on Spark, {name}, beside MLlib", ratios(seconds, "peer", "ours"), 1)
        for metric, name_of in (("auroc", "AUROC"), ("ap", "AP")):
            truth = tm.metrics.auroc(exact) if metric == "auroc" else tm.metrics.average_precision(exact)
            off = [abs(found[key] - truth) for key in (metric, f"their {metric}")]
            yield at_most(
                f"error of {name_of} on Spark", [off[0] / off[1]], 1, "of MLlib's", f"{off[0]:.1e} and {off[1]:.1e}"
            )
        yield _bytes_to_driver(session, frame)
    finally:
        session.stop()


def _bytes_to_driver(session, frame) -> Measured:
    """Serialised results of all tasks, as Spark's own interface counts them."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"

    def received(work) -> int:
        before = _stages(url)
        work()
        time.sleep(1.0)  # the counters lag behind
        return sum(size for stage, size in _stages(url).items() if stage not in before)

    cells = received(lambda: tm.tally(frame, label="label", score="score", exact=False))
    table = received(frame.toArrow)
    return at_most("bytes to the Spark driver", [cells / table], 1, "of fetching the rows", f"{cells} and {table}")


def _stages(url: str) -> dict[tuple[int, int], int]:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own session on this machine
        return {(stage["stageId"], stage["attemptId"]): stage["resultSize"] for stage in json.load(answer)}


@contextlib.contextmanager
def dask_cluster() -> Iterator:
    """Two worker processes; what Dask computes meanwhile, it computes there."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
            silence_logs=logging.ERROR,
        ) as cluster,
        distributed.Client(cluster),
    ):  # fmt: skip
        yield cluster


def _dask(folder: Path, rows: int, repeats: int) -> Iterator[Measured]:
    received = _count_bytes()
    import dask.dataframe as dd

    with dask_cluster() as cluster:
        frame = dd.read_parquet(folder)
        moved: dict[str, int] = {}

        def counted(name: str, work) -> None:
            before = received[cluster.scheduler_address]
            work()
            moved[name] = received[cluster.scheduler_address] - before

        def cells() -> None:
            counted("ours", lambda: tm.tally(frame, label="label", score="score", exact=False))

        def fetched() -> None:
            counted("peer", lambda: tm.tally(frame.compute(), label="label", score="score"))

        cells()
        seconds = rounds({"ours": cells, "peer": fetched}, repeats)
    name = f"{rows / 1e6:g} M rows"
    note = f"{moved['ours']} and {moved['peer']}"
    yield at_most(
        f"bytes to the Dask client, {name}", [moved["ours"] / moved["peer"]], 0.1, "of fetching the rows", note
    )
    yield at_most(
        f"time on a Dask cluster of one machine, {name}", ratios(seconds, "ours", "peer"), 6, "of fetching them"
    )


def _count_bytes() -> Counter:
    """Bytes this process reads over TCP, by the address they come from. Private names of Dask's, for measuring only."""
    from distributed.comm import tcp

    counts, peer = Counter(), ContextVar("peer", default="?")
    read, read_bytes = tcp.TCP.read, tcp.read_bytes_rw

    async def counted_bytes(stream, n):
        counts[peer.get()] += n
        return await read_bytes(stream, n)

    async def counted_read(self, deserializers=None):
        token = peer.set(self.peer_address)
        try:
            return await read(self, deserializers)
        finally:
            peer.reset(token)

    tcp.TCP.read, tcp.read_bytes_rw = counted_read, counted_bytes
    return counts
