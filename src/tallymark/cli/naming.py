"""Names as people type them."""

from __future__ import annotations

from collections.abc import Iterable


def listed(parts: Iterable[str]) -> list[str]:
    """Names that were given one by one or with commas between."""
    return [name.strip() for part in parts for name in part.split(",") if name.strip()]
