"""Names as people type them."""

from __future__ import annotations

from collections.abc import Iterable

from tallymark.errors import InputError


def listed(parts: Iterable[str]) -> list[str]:
    """Names that were given one by one or with commas between."""
    names = []
    for part in parts:
        named = [name.strip() for name in part.split(",") if name.strip()]
        if not named:
            raise InputError(f"An option that takes names was given {part!r}; name something, or leave the option out.")
        names += named
    return names
