"""Registered data sets: 24 quantification problems, 30 outlier sets (where their files are), and scikit-learn's."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tallymark._check import Floats
from tallymark.errors import InputError, nearest

#: The environment variable with the folder of the reference data.
PLACE = "TALLYMARK_DATA"


class MissingData(InputError):
    """A data set whose files are not on this machine."""


@dataclass(frozen=True)
class Dataset:
    """Rows and labels, with the positive label; `digest` is a hash of their content."""

    name: str
    X: Any
    y: Any
    positive: Any = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of rows and labels, whatever the data set is called."""
        digest = hashlib.sha256()
        for part in (self.X, self.y):
            array = np.ascontiguousarray(part)
            text = array.astype(str) if array.dtype.kind == "O" else array
            digest.update(f"{text.dtype.str}{text.shape}".encode())
            digest.update(text.tobytes())
        return digest.hexdigest()


def _folder(name: str) -> Path:
    """A folder of the reference data."""
    root = os.environ.get(PLACE)
    if not root or not (folder := Path(root) / name).is_dir():
        raise MissingData(f"The files of this data set are not here; set {PLACE} to the folder that holds {name}/.")
    return folder


def _problem(name: str) -> Dataset:
    """One of the 24 quantification problems."""
    folder = _folder("quantification")
    with (folder / "problems.csv").open(encoding="utf-8") as file:
        line = next((row for row in csv.DictReader(file) if row["problem"] == name), None)
    if line is None:
        raise MissingData(f"problems.csv has no problem {name!r}.")
    with (folder / line["file"]).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    y = np.array([int(row.pop("label") == line["positive_label"]) for row in rows])
    columns: list[Floats] = []
    for attribute in rows[0]:
        values = [row[attribute] for row in rows]
        try:
            columns.append(np.array(values, dtype=np.float64))
        except ValueError:
            columns += [np.array([float(value == one) for value in values]) for one in sorted(set(values))[1:]]
    return Dataset(name, np.column_stack(columns), y, 1)


def _outliers(name: str) -> Dataset:
    """One of the 30 outlier sets."""
    path = _folder("outliers") / f"{name.removeprefix('outliers.')}.npz"
    if not path.is_file():
        raise MissingData(f"{path.name} is not in {path.parent.name}/.")
    with np.load(path, allow_pickle=False) as file:
        return Dataset(name, file["X"], file["y"].astype(np.int64), 1)


def _bundled(name: str) -> Dataset:
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Dataset(name, X, y)


#: The 24 problems of Barranquero's thesis.
PROBLEMS = (
    "acute.a", "acute.b", "balance.1", "balance.2", "balance.3", "cmc.1", "cmc.2", "cmc.3", "ctg.1", "ctg.2", "ctg.3",
    "haberman", "ionosphere", "iris.1", "iris.2", "iris.3", "sonar", "spectf", "tictactoe", "transfusion", "wdbc",
    "wine.1", "wine.2", "wine.3",
)  # fmt: skip
_OUTLIERS = (
    "annthyroid", "arrhythmia", "breastw", "cardiotocography", "glass", "heartdisease", "ionosphere", "letter",
    "lymphography", "mnist", "musk", "optdigits", "pageblocks", "parkinson", "pendigits", "pima", "satellite",
    "satimage2", "shuttle", "spambase", "stamps", "thyroid", "vertebral", "vowels", "waveform", "wbc", "wdbc", "wilt",
    "wine", "wpbc",
)  # fmt: skip
_BUNDLED = ("breast_cancer", "digits", "iris", "wine")

#: Every registered data set and how it is read.
DATASETS: Mapping[str, Callable[[str], Dataset]] = (
    dict.fromkeys(PROBLEMS, _problem)
    | {f"outliers.{name}": _outliers for name in _OUTLIERS}
    | dict.fromkeys(_BUNDLED, _bundled)
)


def dataset(name: str) -> Dataset:
    """A registered data set by its name.

    Parameters
    ----------
    name
        Its name, such as ``breast_cancer``, ``cmc.1`` or ``outliers.glass``; files are read from the folder in the
        environment variable TALLYMARK_DATA.

    Returns
    -------
    Dataset
        Rows and labels.
    """
    if name not in DATASETS:
        raise InputError(
            f"No data set is called {name!r}.{nearest(name, DATASETS)} Name a file instead, with file= and label=."
        )
    return DATASETS[name](name)
