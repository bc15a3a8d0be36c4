"""The one place that knows where the reference data lie: ``TALLYMARK_DATA``, or beside the project."""

import os
from pathlib import Path

import numpy as np


def data_folder() -> Path:
    """Where the reference data are; they may not be there."""
    return Path(os.environ.get("TALLYMARK_DATA", Path(__file__).parents[2] / "shared" / "data"))


def have_data() -> bool:
    return data_folder().is_dir()


def problems():
    """The 24 quantification problems as (name, X, y); text attributes as one column for each value."""
    import csv

    folder = data_folder() / "quantification"
    with (folder / "problems.csv").open(encoding="utf-8") as file:
        listed = list(csv.DictReader(file))
    for line in listed:
        with (folder / line["file"]).open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        y = np.array([row.pop("label") == line["positive_label"] for row in rows]).astype(int)
        columns = []
        for name in rows[0]:
            values = [row[name] for row in rows]
            try:
                columns.append(np.array(values, dtype=float))
            except ValueError:
                columns += [
                    np.array([value == one for value in values], dtype=float) for one in sorted(set(values))[1:]
                ]
        yield line["problem"], np.column_stack(columns), y


def fashion(negative: int, positive: int):
    """Two classes of Fashion-MNIST as (X_train, y_train, X_test, y_test), pixels in [0, 1]."""
    with np.load(data_folder() / "fashion_mnist" / "fashion_mnist_0689.npz") as file:
        found = []
        for part in ("train", "test"):
            y = file[f"y_{part}"]
            kept = np.isin(y, (negative, positive))
            found += [file[f"X_{part}"][kept].reshape(kept.sum(), -1) / 255.0, (y[kept] == positive).astype(int)]
    return tuple(found)
