"""The files that the page may read: those of the folder it was started in, and those that were dropped on it."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from tallymark.errors import InputError
from tallymark.sources.formats import ENDINGS

#: Files listed, and folders looked into, at most.
_MOST_LISTED, _DEEPEST = 200, 3

#: Characters that a dropped file's name may not have: controls, marks that turn the direction of text, separators; and
#: bytes that it may have. Dropped files together may be so many times as large as one.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff/\\]")
_LONGEST, _TOGETHER = 200, 10

#: How a file is named to the page: one of the folder, or a dropped one by its number.
_FOLDER, _DROPPED = "folder", "dropped"


class Folders:
    """The folder that the page was started in, and a temporary one for dropped files and reports."""

    def __init__(self, root: Path, limit: int) -> None:
        self.root = root.resolve()
        self.limit = limit
        self._temporary = tempfile.TemporaryDirectory(prefix="tallymark-serve-")
        self.scratch = Path(self._temporary.name).resolve()

    def close(self) -> None:
        """Remove what was dropped and what was written."""
        self._temporary.cleanup()

    def listed(self) -> list[dict[str, Any]]:
        """Data files of the folder and the dropped ones, with their sizes."""
        found = [_entry(_DROPPED, path, path.relative_to(self.scratch / _DROPPED)) for path in self._dropped()]
        inside = (path for path in self._inside(self.root, 0) if path.name.lower().endswith(ENDINGS))
        for path in inside:
            found.append(_entry(_FOLDER, path, path.relative_to(self.root)))
            if len(found) >= _MOST_LISTED:
                break
        return found

    def _dropped(self) -> list[Path]:
        return sorted((self.scratch / _DROPPED).glob("*/*"))

    def _inside(self, folder: Path, depth: int) -> Iterator[Path]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            # A link may lead out of the folder; what it leads to can be named where it is.
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_file():
                yield Path(entry.path)
            elif entry.is_dir() and depth < _DEEPEST:
                yield from self._inside(Path(entry.path), depth + 1)

    def shown(self, path: str) -> str:
        """How a file is written in a command that is typed in the folder; a dropped one has its name alone."""
        place = Path(path)
        return place.relative_to(self.root).as_posix() if place.is_relative_to(self.root) else place.name

    def path(self, name: object) -> Path:
        """The file of a name that the page was given; refuses everything outside of the two folders."""
        kind, _, rest = name.partition("/") if isinstance(name, str) else ("", "", "")
        base = {_FOLDER: self.root, _DROPPED: self.scratch / _DROPPED}.get(kind)
        if base is None or not rest or "\0" in rest:
            raise InputError(f"There is no file {name!r}.")
        try:
            path = (base / rest).resolve()
            regular = path.is_file()
        except (OSError, ValueError):
            regular = False
        if not regular or not path.is_relative_to(base.resolve()):
            raise InputError(f"There is no file {rest!r} in the folder.")
        return path

    async def keep(self, name: str, parts: AsyncIterator[bytes]) -> dict[str, Any]:
        """Keep a dropped file under its own name; refuses one beyond the limit while it arrives."""
        safe = _UNSAFE.sub("_", name).strip(". ").encode()
        bare = safe[-_LONGEST:].decode("utf-8", "ignore") or "file"
        if not bare.lower().endswith(ENDINGS):
            raise InputError(f"{bare!r}: expected a file that ends in {', '.join(ENDINGS)}.")
        place = self.scratch / _DROPPED / secrets.token_hex(4)
        place.mkdir(parents=True)
        size, target, kept = 0, place / bare, sum(one.stat().st_size for one in self._dropped())
        try:
            with target.open("wb") as file:
                async for part in parts:
                    size += len(part)
                    if size > self.limit:
                        raise InputError(self.too_large(bare))
                    if kept + size > _TOGETHER * self.limit:
                        raise InputError("The dropped files are too large together; start the page anew.")
                    file.write(part)
        except BaseException:
            target.unlink(missing_ok=True)
            place.rmdir()
            raise
        return _entry(_DROPPED, target, target.relative_to(self.scratch / _DROPPED))

    def too_large(self, name: str) -> str:
        """What is said of a file beyond the limit."""
        return (
            f"{name!r} is larger than {self.limit >> 20} MB. Put it into the folder that the page was started in, and "
            "choose it there: files of any size are read where they are."
        )


def _entry(kind: str, path: Path, relative: Path) -> dict[str, Any]:
    place = f"{path.name} (dropped)" if kind == _DROPPED else relative.as_posix()
    return {"id": f"{kind}/{relative.as_posix()}", "name": path.name, "place": place, "bytes": path.stat().st_size}
