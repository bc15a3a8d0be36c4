"""Immutable mappings for frozen results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from tallymark.errors import UnknownNameError, shown

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """A dict that refuses every change."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping belongs to a result and cannot be changed; make a copy with dict(…)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)


class Sealed:
    """A value whose arrays stay read-only when it is copied or unpickled."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False


Entry = TypeVar("Entry")


class Keyed(Mapping[Any, Entry]):
    """An immutable mapping whose keys have named parts: with one part the key is that value itself, else a tuple."""

    #: What an entry is called in messages.
    what: ClassVar[str] = "entry"
    names: tuple[str, ...]
    entries: Mapping[tuple[Any, ...], Entry]

    def __getitem__(self, key: Any) -> Entry:
        parts = key if isinstance(key, tuple) else (key,)
        if parts not in self.entries:
            raise UnknownNameError(f"No {self.what} for {key!r}; keys are {', '.join(self.names)}: {shown(self)}.")
        return self.entries[parts]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries) if len(self.names) > 1 else (parts[0] for parts in self.entries)

    def __len__(self) -> int:
        return len(self.entries)
