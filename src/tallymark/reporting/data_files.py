"""Which files a page is about: size, date and hash, so that a reader can tell whether these are the same data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from tallymark._numbers import amount
from tallymark.sources.formats import expanded

#: Bytes up to which files are hashed, and files up to which each is named.
_HASHED, _NAMED = 2 << 30, 5


def described_files(files: Iterable[str]) -> list[str]:
    """A line for each file; of many, how many there are."""
    paths = [Path(name) for file in files for name in expanded(file)]
    lines = [_described(path) for path in paths[:_NAMED]]
    return lines + ([f"and {len(paths) - _NAMED} more"] if len(paths) > _NAMED else [])


def _described(path: Path) -> str:
    facts = path.stat()
    day = datetime.fromtimestamp(facts.st_mtime).astimezone()
    text = f"{path.name}: {amount(facts.st_size)} bytes, changed on {day.day} {day:%B %Y}"
    if facts.st_size > _HASHED:
        return f"{text}, too large to hash"
    with path.open("rb") as file:
        return f"{text}, SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
