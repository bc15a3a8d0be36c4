"""Clusters of dependent rows: lines of one product, visits of one patient, firms of one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallymark._check import Bools, Column, Floats, Ints, Scores
from tallymark._mappings import Sealed
from tallymark.summaries import invariants


@dataclass(frozen=True, eq=False)
class Members(Sealed):
    """Mass of each cluster at each score, within one class."""

    scores: Scores
    codes: Ints
    mass: Floats

    def __post_init__(self) -> None:
        for array in (self.scores, self.codes, self.mass):
            array.flags.writeable = False

    @classmethod
    def of(cls, scores: Scores, codes: Ints, mass: Floats) -> Members:
        """Rows of one cluster with the same score added up; rows of mass 0 are left out."""
        kept = np.flatnonzero(mass)
        order = kept[np.lexsort((scores[kept], codes[kept]))]
        s, c, m = scores[order] + 0.0, codes[order], mass[order]
        if not len(s):
            return cls(s, c, m)
        starts = np.flatnonzero(np.concatenate(([True], (s[1:] != s[:-1]) | (c[1:] != c[:-1]))))
        return cls(s[starts], c[starts], np.add.reduceat(m, starts))


@dataclass(frozen=True, eq=False)
class Clusters(Sealed):
    """The clusters of a tally's rows: their names in order, and the members of each class."""

    names: Column
    members: tuple[Members, ...]

    def __post_init__(self) -> None:
        self.names.flags.writeable = False

    @classmethod
    def of(cls, cluster: Column, scores: Scores, parts: Sequence[Bools | slice], mass: Any = None) -> Clusters:
        """From clean columns, a part for each class."""
        names, codes = np.unique(cluster, return_inverse=True)
        weights = np.ones(len(codes)) if mass is None else np.asarray(mass, dtype=np.float64)
        members = tuple(Members.of(scores[part], codes[part].astype(np.int64), weights[part]) for part in parts)
        # Clusters of mass 0 are left out.
        present = np.unique(np.concatenate([one.codes for one in members]))
        place = np.full(len(names), -1, dtype=np.int64)
        place[present] = np.arange(len(present))
        return cls(names[present], tuple(Members(one.scores, place[one.codes], one.mass) for one in members))

    def __len__(self) -> int:
        return len(self.names)

    def together(self) -> Clusters:
        """The same clusters with the classes pooled."""
        columns = zip(*((one.scores, one.codes, one.mass) for one in self.members), strict=True)
        return Clusters(self.names, (Members.of(*map(np.concatenate, columns)),))

    def merge(self, other: Clusters) -> Clusters:
        """Both samples' clusters; one name is one cluster."""
        a, b = self.names, other.names
        if a.dtype.kind != b.dtype.kind:
            a, b = a.astype(str), b.astype(str)
        names = np.unique(np.concatenate((a, b)))
        members = []
        for mine, theirs in zip(self.members, other.members, strict=True):
            scores = np.concatenate((mine.scores, theirs.scores))
            codes = np.concatenate((np.searchsorted(names, a)[mine.codes], np.searchsorted(names, b)[theirs.codes]))
            members.append(Members.of(scores, codes, np.concatenate((mine.mass, theirs.mass))))
        return Clusters(names, tuple(members))

    def pack(self) -> dict[str, Column]:
        """Arrays for a file."""
        parts = {
            f"cluster.{i}.{name}": getattr(one, name)
            for i, one in enumerate(self.members)
            for name in ("scores", "codes", "mass")
        }
        return {"cluster.names": self.names} | parts

    @classmethod
    def unpack(cls, arrays: dict[str, Any], runs: Sequence[Any]) -> Clusters:
        """From what :meth:`pack` gave, with every invariant checked against the runs."""
        names = arrays["names"]
        invariants.require(
            names.ndim == 1 and names.dtype.kind in "biufU" and len(np.unique(names)) == len(names),
            "clusters share a name",
        )
        members = []
        for i, run in enumerate(runs):
            invariants.require(
                all(f"{i}.{part}" in arrays for part in ("scores", "codes", "mass")), "members of clusters are missing"
            )
            shape = np.shape(arrays[f"{i}.scores"])[:1]
            scores = invariants.numbers(arrays[f"{i}.scores"], "f", shape, "scores of clusters")
            codes = invariants.numbers(arrays[f"{i}.codes"], "i", shape, "clusters", least=0)
            mass = invariants.numbers(arrays[f"{i}.mass"], "f", shape, "masses of clusters", least=0.0)
            invariants.require(not len(codes) or int(codes.max()) < len(names), "there is a cluster without a name")
            invariants.require(
                np.isclose(mass.sum(), float(run.total), rtol=1e-9), "clusters and rows do not belong together"
            )
            members.append(Members(scores, codes, mass))
        return cls(names, tuple(members))
