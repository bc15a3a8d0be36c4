"""The one place that knows where the reference data lie: ``TALLYMARK_DATA``, or beside the project."""

import os
from pathlib import Path

import numpy as np


def data_folder() -> Path:
    """Where the reference data are; they may not be there."""
    return Path(os.environ.get("TALLYMARK_DATA", Path(__file__).parents[2] / "shared" / "data"))


def have_data() -> bool:
    return data_folder().is_dir()


def fashion(negative: int, positive: int):
    """Two classes of Fashion-MNIST as (X_train, y_train, X_test, y_test), pixels in [0, 1]."""
    with np.load(data_folder() / "fashion_mnist" / "fashion_mnist_0689.npz") as file:
        found = []
        for part in ("train", "test"):
            y = file[f"y_{part}"]
            kept = np.isin(y, (negative, positive))
            found += [file[f"X_{part}"][kept].reshape(kept.sum(), -1) / 255.0, (y[kept] == positive).astype(int)]
    return tuple(found)
