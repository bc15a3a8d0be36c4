"""A dict that cannot be changed, for values that promise not to change."""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class FrozenDict(dict[Key, Value]):
    """Reads like a dict, pickles like a dict, refuses every change."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping belongs to a result and cannot be changed; make a copy with dict(…)")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = __ior__ = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)
