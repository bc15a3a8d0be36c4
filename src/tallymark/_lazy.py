"""Names of a module that are imported when first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    module: str, homes: Mapping[str, tuple[str, ...]], submodules: tuple[str, ...] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a module.

    `homes` maps a module of the package to the names it defines; `submodules` are offered besides.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    names = sorted([*home_of, *submodules], key=str.casefold)

    def load(name: str) -> Any:
        if name in submodules:
            return importlib.import_module(f"tallymark.{name}")
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"tallymark.{home_of[name]}"), name)
        # A submodule of the same name must not take the place of the function when it is imported later.
        setattr(sys.modules[module], name, value)
        return value

    return load, lambda: [*names, "__version__"] if submodules else names, names
