"""Outcomes: passes and failures, or grades, of systems on the same items, without a true label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallymark._check import Floats, Ints
from tallymark._display import Row, Shown
from tallymark._mappings import Sealed
from tallymark._numbers import counted
from tallymark.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class Outcomes(Shown, Sealed):
    """Outcomes of systems on the same rows, as :func:`tallymark.outcomes` makes them.

    Attributes
    ----------
    systems : tuple of str
        Names of the systems.
    values : array
        A row per run of an item, a column per system.
    item : array
        Number of each row's item, from 0; several rows of one item are repeated runs.
    group : array
        Number of each row's cluster, from 0; the item where no clusters were given. Groups are independent.
    clustered : bool
        Whether clusters were given.
    """

    systems: tuple[str, ...]
    values: Floats
    item: Ints
    group: Ints
    clustered: bool = False
    #: What the outcomes are where they are no single runs, such as ``pass@2``.
    kind: str | None = None

    def __post_init__(self) -> None:
        for array in (self.values, self.item, self.group):
            array.flags.writeable = False

    @property
    def binary(self) -> bool:
        """Whether every outcome is 0 or 1."""
        return bool(np.isin(self.values, (0.0, 1.0)).all())

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest possible outcome: 0 and 1 of shares such as pass@k; of grades, those that occur."""
        return (0.0, 1.0) if self.kind else (float(self.values.min()), float(self.values.max()))

    @property
    def independent(self) -> bool:
        """Whether every row is a group of its own."""
        return self.groups == len(self.group)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def items(self) -> int:
        """Number of items."""
        return int(self.item.max()) + 1

    @property
    def groups(self) -> int:
        """Number of independent groups of rows."""
        return int(self.group.max()) + 1

    @property
    def name(self) -> str:
        """What the mean of the outcomes is called."""
        return self.kind or ("pass_rate" if self.binary else "mean")

    def best_of(self, k: int) -> Outcomes:
        """pass@k as outcomes, one per item with k runs or more: the chance that at least one of k runs passes."""
        return self._of_items(self.pass_at(k), f"pass@{k}")

    def all_of(self, k: int) -> Outcomes:
        """pass^k as outcomes, one per item with k runs or more: the chance that all of k runs pass."""
        return self._of_items(self.pass_all(k), f"pass^{k}")

    def _of_items(self, values: Floats, kind: str) -> Outcomes:
        kept = ~np.isnan(values).any(axis=1)
        group = np.zeros(self.items, dtype=np.int64)
        group[self.item] = self.group
        groups = np.unique(group[kept], return_inverse=True)[1].ravel()
        return Outcomes(self.systems, values[kept], np.arange(int(kept.sum())), groups, self.clustered, kind)

    def pass_at(self, k: int) -> Floats:
        r"""Chance that at least one of k runs passes, an item per row: :math:`1 - \binom{m-c}{k} / \binom{m}{k}`.

        Unbiased, of m runs with c passes; nan for items with fewer than k runs. Chen et al. (2021), arXiv:2107.03374.
        """
        runs, passes = self._runs(k)
        return np.where(runs >= k, 1.0 - _chosen(runs - passes, k) / _chosen(np.maximum(runs, k), k), np.nan)

    def pass_all(self, k: int) -> Floats:
        r"""Chance that all of k runs pass (pass^k), an item per row: :math:`\binom{c}{k} / \binom{m}{k}`."""
        runs, passes = self._runs(k)
        return np.where(runs >= k, _chosen(passes, k) / _chosen(np.maximum(runs, k), k), np.nan)

    def _runs(self, k: int) -> tuple[Floats, Floats]:
        """Runs and passes of each item."""
        if not self.binary:
            raise InputError("pass@k is of outcomes that are 0 or 1, and these are graded.")
        runs = np.bincount(self.item).astype(np.float64)[:, None]
        if not isinstance(k, int | np.integer) or k < 1 or k > runs.max():
            raise InputError(f"k is {k!r}, expected a number of runs from 1 to {int(runs.max())}, the most of an item.")
        passes = np.stack([np.bincount(self.item, column) for column in self.values.T], axis=1).astype(np.float64)
        return runs, passes

    def heading(self) -> str:
        """Sizes."""
        kind = self.kind or ("0 or 1" if self.binary else "graded")
        return f"Outcomes ({kind}) of {counted(len(self.systems), 'system')} on {counted(self.items, 'item')}"

    def rows(self) -> list[Row]:
        """The mean of each system."""
        means = self.values.mean(axis=0).tolist()
        return [{"system": name, self.name: mean} for name, mean in zip(self.systems, means, strict=True)]


def _chosen(n: Floats, k: int) -> Floats:
    """Binomial coefficients; 0 where there are fewer than k."""
    product = np.ones_like(n)
    for i in range(k):
        product = product * np.maximum(n - i, 0.0) / (i + 1)
    return product
