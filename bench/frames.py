"""AUROC straight from dataframes, beside scikit-learn on the same frame."""

from collections.abc import Iterator

import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.metrics import roc_auc_score

import tallymark as tm
from bench.curves_and_ranking import sample
from bench.report import Measured, faster
from bench.timing import ratios, rounds


def run(rows: int, repeats: int) -> Iterator[Measured]:
    y, s = sample(rows, 0.05)
    for name, frame in {"pandas": pd.DataFrame, "Polars": pl.DataFrame, "PyArrow": pa.table}.items():
        made = frame({"y": y, "s": s})
        seconds = rounds(
            {
                "ours": lambda made=made: tm.metrics.auroc(tm.tally(made, label="y", score="s")),
                "peer": lambda made=made: roc_auc_score(made["y"].to_numpy(), made["s"].to_numpy()),
            },
            repeats,
        )
        yield faster(f"AUROC from {name}, {rows / 1e6:g} M rows", ratios(seconds, "peer", "ours"), 12)
