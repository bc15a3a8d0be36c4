"""Evaluating: many groups, all metrics of many rows, many classes, a single metric, a file from the command line; each beside
a peer or its floor."""

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

import tallymark as tm
from bench.report import Measured, at_most, faster
from bench.scanning import write
from bench.timing import ratios, rounds, run_python

_GROUPS, _IN_GROUP = 5_000, 400
_CLASSES = 300
_THREE = ("auroc", "average_precision", "f1")

#: What people write to get ten numbers of a file.
_SCRIPT = """
import sys
import pandas as pd
from sklearn import metrics as m
frame = pd.read_parquet(sys.argv[1])
y, p = frame["label"], frame["score"]
called = p >= 0.5
print(m.roc_auc_score(y, p), m.average_precision_score(y, p), m.brier_score_loss(y, p), m.log_loss(y, p))
for of_calls in (m.accuracy_score, m.balanced_accuracy_score, m.precision_score, m.recall_score, m.f1_score, m.matthews_corrcoef):
    print(of_calls(y, called))
"""


def _sample(rows: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < share
    return y, 1 / (1 + np.exp(-(rng.normal(size=rows) + 1.5 * y - 2)))


def run(rows: int, repeats: int) -> Iterator[Measured]:
    warnings.simplefilter("ignore")
    y, s = _sample(_GROUPS * _IN_GROUP, 0.1)
    frame = pd.DataFrame({"y": y.astype(int), "p": s, "g": np.repeat(np.arange(_GROUPS), _IN_GROUP)})

    def ours() -> object:
        return tm.evaluate(tm.tally(frame, label="y", score="p", by="g"), metrics=_THREE, threshold=0.5)

    def loop() -> list[tuple[float, float, float]]:
        return [
            (roc_auc_score(part.y, part.p), average_precision_score(part.y, part.p), f1_score(part.y, part.p >= 0.5))
            for _, part in frame.groupby("g")
        ]

    seconds = rounds({"loop": loop, "ours": ours}, 1)
    name = f"{_GROUPS} groups of {_IN_GROUP} rows beside a loop"
    yield faster(name, ratios(seconds, "loop", "ours"), 10)

    y, s = _sample(rows, 0.02)
    seconds = rounds(
        {"tally": lambda: tm.tally(y, s), "all": lambda: tm.evaluate(tm.tally(y, s), threshold=0.5)}, repeats
    )
    beyond = [ratio - 1.0 for ratio in ratios(seconds, "all", "tally")]
    yield at_most(f"all metrics with intervals of {rows / 1e6:g} M rows", beyond, 3, "of making their tally")

    rng = np.random.default_rng(0)
    matrix = rng.poisson(3, (_CLASSES, _CLASSES)) + np.diag(rng.poisson(100, _CLASSES))
    classes = tm.Confusion(matrix, tuple(range(_CLASSES)))
    small = tm.Confusion(matrix[:3, :3], (0, 1, 2))
    million = rng.random(10**6)
    seconds = rounds(
        {"sort": lambda: np.sort(million), "many": lambda: tm.evaluate(classes), "few": lambda: tm.evaluate(small)},
        repeats,
    )
    yield at_most("intervals of 3 classes", ratios(seconds, "few", "sort"), 2, "of sorting a million numbers")
    # Seconds, not a ratio: the goal is that nobody waits.
    yield at_most(f"intervals of {_CLASSES} classes", seconds["many"], 2, "of a second")

    y, s = _sample(10_000, 0.1)
    tally, some = tm.tally(y, s), million[:100_000]
    seconds = rounds(
        {"sort": lambda: np.sort(some), "f1": lambda: tm.evaluate(tally, metrics="f1", threshold=0.5)}, 5 * repeats
    )
    yield at_most(
        "one cell metric with its interval, 10 000 rows", ratios(seconds, "f1", "sort"), 6, "of sorting 100 000 numbers"
    )

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "scores.parquet")
        write(Path(path), rows)
        command = ["-m", "tallymark", "evaluate", path, "--label", "label", "--score", "score"]
        seconds = rounds(
            {"script": lambda: run_python(["-c", _SCRIPT, path]), "command": lambda: run_python(command)}, repeats
        )
    name = f"table of a Parquet file of {rows / 1e6:g} M rows beside a pandas and scikit-learn script"
    yield faster(name, ratios(seconds, "script", "command"), 15)
