"""Row-level data: labels, one score column per model, and further columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from tallymark._check import Bools, Column, Floats, Ints, Label, Masses, Scores
from tallymark._display import Row, Shown
from tallymark._mappings import FrozenDict, Sealed
from tallymark._numbers import noun
from tallymark.errors import InputError, shown
from tallymark.summaries import invariants, storage
from tallymark.summaries.tallies import Tallies
from tallymark.summaries.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Panel(Shown, Sealed):
    """Labels and the scores of several models on the same rows.

    Make one with :func:`tallymark.panel`.

    Parameters
    ----------
    is_positive
        Which rows are positive.
    labels
        Names of the negative and of the positive class.
    scores
        A score column for each model.
    counts, weights
        How often each row occurs, or its weight.
    extra
        Further columns, by name.
    cluster
        Cluster of each row; None when rows are independent.

    >>> import tallymark as tm
    >>> p = tm.panel([0, 0, 1], {"a": [0.1, 0.3, 0.2], "b": [0.2, 0.1, 0.9]})
    >>> p.models
    ('a', 'b')
    >>> tm.metrics.auroc(p.tally("b"))
    1.0
    """

    is_positive: Bools
    labels: tuple[Label, Label]
    scores: Mapping[str, Scores]
    counts: Ints | None = None
    weights: Floats | None = None
    extra: Mapping[str, Column] = field(default_factory=dict)
    cluster: Column | None = None

    def __post_init__(self) -> None:
        for name in ("scores", "extra"):
            object.__setattr__(self, name, FrozenDict(getattr(self, name)))
        for array in self._arrays().values():
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__post_init__()

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the score columns."""
        return tuple(self.scores)

    @property
    def n(self) -> int:
        """Number of rows kept (a row with a count of 3 is one)."""
        return len(self.is_positive)

    def tally(self, model: str) -> Tally:
        """The tally of one model. Rows whose count or weight is 0 are not in it."""
        if model not in self.scores:
            raise InputError(f"No model {model!r}; the panel has {shown(self.models)}.")
        return Tally.of(
            self.scores[model],
            self.is_positive,
            self.labels,
            counts=self.counts,
            weights=self.weights,
            cluster=self.cluster,
        )

    def tallies(self) -> Tallies:
        """The tally of every model."""
        return Tallies(("model",), {(model,): self.tally(model) for model in self.models})

    @property
    def mass(self) -> Masses:
        """Count or weight of each row."""
        if self.weights is not None:
            return self.weights
        return np.ones(self.n, dtype=np.int64) if self.counts is None else self.counts

    def without_masses(self) -> Panel:
        """The same rows without counts and weights."""
        return replace(self, counts=None, weights=None)

    def keep(self, rows: Bools | Ints) -> Panel:
        """The chosen rows only, marked or by number; this panel stays as it is."""
        return self._with_arrays(self.labels, {name: array[rows] for name, array in self._arrays().items()})

    def merge(self, other: Panel) -> Panel:
        """The rows of both, one after the other."""
        mine, theirs = self._arrays(), other._arrays()
        if mine.keys() != theirs.keys() or self.labels != other.labels:
            raise InputError(
                f"Cannot merge panels with columns {shown(mine)} and {shown(theirs)}, "
                f"labels {self.labels} and {other.labels}."
            )
        return self._with_arrays(self.labels, {name: np.concatenate((mine[name], theirs[name])) for name in mine})

    def heading(self) -> str:
        """Size."""
        models = f"{len(self.models)} {noun(len(self.models), 'model')}"
        return f"Panel of {self.n} {noun(self.n, 'row')}, {int(self.is_positive.sum())} positive, {models}"

    def rows(self) -> list[Row]:
        """One line per model."""
        return [
            {"model": name, "lowest": float(array.min()), "highest": float(array.max())}
            for name, array in self.scores.items()
            if self.n
        ]

    def to_dict(self) -> dict[str, Any]:
        """Sizes as plain values."""
        return {"n": self.n, "positives": int(self.is_positive.sum()), "models": list(self.models)}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        arrays = self._arrays()
        storage.write(
            path,
            "panel",
            {"labels": self.labels, "columns": list(arrays)},
            {str(i): array for i, array in enumerate(arrays.values())},
        )

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> Panel:
        """From what :meth:`save` wrote."""
        labels = invariants.labels(header["labels"], least=2, most=2)
        columns = invariants.names(header["columns"], "columns")
        invariants.require(set(arrays) == {str(i) for i in range(len(columns))}, "columns are missing")
        named = {name: arrays[str(i)] for i, name in enumerate(columns)}
        invariants.require("is_positive" in named, "there are no labels")
        shape = np.shape(named["is_positive"])[:1]
        invariants.require(not {"counts", "weights"} <= named.keys(), "counts and weights are mixed")
        invariants.require(any(name.startswith("score:") for name in columns), "there are no scores")
        for name, array in named.items():
            part = name.partition(":")[0]
            invariants.require(part in _KINDS, f"there is an unknown column {name!r}")
            if part in {"extra", "cluster"}:
                invariants.require(array.shape == shape and not array.dtype.hasobject, "columns of different lengths")
            else:
                invariants.numbers(array, _KINDS[part], shape, part, least=None if part == "score" else 0)
        return cls._with_arrays(labels, named)

    def _arrays(self) -> dict[str, Column]:
        """Every column under its part and name, so that a model may be called anything."""
        parts: dict[str, Column | None] = {
            "is_positive": self.is_positive,
            "counts": self.counts,
            "weights": self.weights,
            "cluster": self.cluster,
        }
        parts |= {f"score:{name}": array for name, array in self.scores.items()}
        parts |= {f"extra:{name}": array for name, array in self.extra.items()}
        return {name: array for name, array in parts.items() if array is not None}

    @classmethod
    def _with_arrays(cls, labels: Any, arrays: Mapping[str, Column]) -> Panel:
        def named(part: str) -> dict[str, Column]:
            return {key.removeprefix(part): array for key, array in arrays.items() if key.startswith(part)}

        return cls(
            arrays["is_positive"],
            labels,
            named("score:"),
            counts=arrays.get("counts"),
            weights=arrays.get("weights"),
            extra=named("extra:"),
            cluster=arrays.get("cluster"),
        )


#: The parts of a stored panel and the kinds of number in each, by NumPy's letters.
_KINDS = {"is_positive": "b", "counts": "i", "weights": "f", "score": "f", "extra": "", "cluster": ""}
