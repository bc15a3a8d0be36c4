"""Result of quantification of more than two classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Floats, Label
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict
from tallymark.errors import InputError, UnknownNameError, shown
from tallymark.inference.interval import checked_level
from tallymark.quantify.estimation.prevalence import Prevalence


@dataclass(frozen=True, eq=False, repr=False)
class ClassPrevalences(Shown, Mapping[Label, Prevalence]):
    """The estimated share of every class, adding up to one: a mapping from class to :class:`Prevalence`.

    `covariance` of the shares, around `centre` where that is not the estimate itself, describes the joint confidence
    region, an ellipse on the simplex; `region` is one that has another shape.
    """

    entries: Mapping[Label, Prevalence]
    covariance: Floats | None = None
    centre: Floats | None = None
    region: Callable[[Floats, float], bool] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", FrozenDict(self.entries))

    def __getitem__(self, label: Label) -> Prevalence:
        if label not in self.entries:
            raise UnknownNameError(f"No class {label!r}; there are {shown(self.entries)}.")
        return self.entries[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def shares(self) -> Floats:
        """The shares in the order of the classes."""
        return np.array([entry.prevalence for entry in self.entries.values()])

    def region_holds(self, shares: object, *, level: float = 0.95) -> bool:
        """Whether the joint confidence region at a level holds a distribution over the classes."""
        from scipy.special import chdtri

        point = np.asarray(shares, dtype=np.float64)
        if point.shape != self.shares.shape:
            raise InputError(f"shares has shape {point.shape}, expected one share for each of {shown(self.entries)}.")
        if self.region is not None:
            return self.region(point, checked_level(level))
        if self.covariance is None:
            raise InputError("There is no region: the shares were estimated with level=None.")
        gap = point - (self.shares if self.centre is None else self.centre)
        # Shares add up to one, so one direction has no spread.
        distance = float(gap @ np.linalg.pinv(self.covariance, rcond=1e-10) @ gap)
        return distance <= float(chdtri(len(self) - 1, 1.0 - checked_level(level)))

    def heading(self) -> str:
        """Method and size."""
        first = next(iter(self.entries.values()))
        return f"{first.method} estimates of {len(self)} classes in {first.n:g} rows"

    def rows(self) -> list[Row]:
        """One line per class."""
        return [{"class": str(label)} | dict(entry.rows()[0]) for label, entry in self.entries.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "classes": {str(label): entry.to_dict() for label, entry in self.entries.items()},
            "covariance": plain(self.covariance),
        }
