"""Tallies by model, by group, or both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

from tallymark import _check
from tallymark._display import Row, Shown, plain
from tallymark._mappings import FrozenDict, Keyed
from tallymark.errors import InputError
from tallymark.summaries import invariants, storage
from tallymark.summaries.tally import Tally, packed, unpacked

Key = Any


@dataclass(frozen=True, eq=False, repr=False)
class Tallies(Shown, Keyed[Tally]):
    """An immutable mapping from models and groups to :class:`Tally`.

    With one name the key is that value itself, with several a tuple: ``ts["p"]``, ``ts["p", "north"]``.

    Parameters
    ----------
    names
        What the parts of a key are: ``("model",)``, ``("model", "region")``, …
    entries
        The tallies by key.
    by_model
        Whether the first part of a key is the model.
    """

    what: ClassVar[str] = "tally"

    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], Tally]
    by_model: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", FrozenDict(self.entries))

    def merge(self, other: Tallies) -> Tallies:
        """Both samples together; keys that occur on one side only are kept."""
        if (self.names, self.by_model) != (other.names, other.by_model):
            raise InputError(f"Cannot merge tallies keyed by {self.names} and by {other.names}.")
        joined = dict(self.entries)
        for key, tally in other.entries.items():
            joined[key] = joined[key].merge(tally) if key in joined else tally
        return Tallies(self.names, joined, self.by_model)

    def of_one_model(self) -> Tally | Tallies:
        """Without the model in the keys: the one tally, or its groups."""
        if len(self.names) == 1:
            (only,) = self.entries.values()
            return only
        return Tallies(self.names[1:], {key[1:]: tally for key, tally in self.entries.items()}, by_model=False)

    def heading(self) -> str:
        """How many, by what."""
        return f"{len(self)} tallies by {', '.join(self.names)}"

    def rows(self) -> list[Row]:
        """One line per tally."""
        return [
            dict(zip(self.names, map(str, key), strict=True))
            | {"n": tally.n}
            | ({"positives": tally.positives, "prevalence": tally.prevalence} if tally.labelled else {})
            for key, tally in self.entries.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Sizes as plain values."""
        return {"by": list(self.names), "tallies": plain(self.rows())}

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that :func:`tallymark.load` reads."""
        parts = [(key, *packed(tally)) for key, tally in self.entries.items()]
        header = {
            "names": self.names,
            "by_model": self.by_model,
            "entries": [{"key": key, "header": head} for key, head, _ in parts],
        }
        arrays = {f"{i}/{name}": array for i, (*_, columns) in enumerate(parts) for name, array in columns.items()}
        storage.write(path, "tallies", header, arrays)

    @classmethod
    def unpack(cls, header: storage.Header, arrays: storage.Arrays) -> Tallies:
        """From what :meth:`save` wrote."""
        names = invariants.names(header["names"], "names of keys")
        invariants.require(
            isinstance(header["entries"], list) and isinstance(header["by_model"], bool), "entries are missing"
        )
        entries: dict[tuple[Any, ...], Tally] = {}
        for i, entry in enumerate(header["entries"]):
            key = tuple(map(_check.plain_label, entry["key"]))
            invariants.require(len(key) == len(names) and key not in entries, "keys do not fit their names")
            prefix = f"{i}/"
            columns = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            entries[key] = unpacked(entry["header"], columns)
        return cls(names, entries, header["by_model"])
