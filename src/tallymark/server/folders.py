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
        dropped = sorted((self.scratch / _DROPPED).glob("*/*"))
        found = [_entry(_DROPPED, path, path.relative_to(self.scratch / _DROPPED)) for path in dropped]
        inside = (path for path in self._inside(self.root, 0) if path.name.lower().endswith(ENDINGS))
        for path in inside:
            found.append(_entry(_FOLDER, path, path.relative_to(self.root)))
            if len(found) >= _MOST_LISTED:
                break
        return found

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

    def path(self, name: object) -> Path:
        """The file of a name that the page was given; refuses everything outside of the two folders."""
        kind, _, rest = name.partition("/") if isinstance(name, str) else ("", "", "")
        base = {_FOLDER: self.root, _DROPPED: self.scratch / _DROPPED}.get(kind)
        if base is None or not rest or "\0" in rest:
            raise InputError(f"There is no file {name!r}.")
        try:
            path = (base / rest).resolve()
            regular = path.is_file()
        except OSError:
            regular = False
        if not regular or not path.is_relative_to(base.resolve()):
            raise InputError(f"There is no file {rest!r} in the folder.")
        return path

    async def keep(self, name: str, parts: AsyncIterator[bytes]) -> dict[str, Any]:
        """Keep a dropped file under its own name; refuses one beyond the limit while it arrives."""
        bare = re.sub(r"[\x00-\x1f/\\]", "_", name).strip(". ")[-120:] or "file"
        if not bare.lower().endswith(ENDINGS):
            raise InputError(f"{bare!r}: expected a file that ends in {', '.join(ENDINGS)}.")
        place = self.scratch / _DROPPED / secrets.token_hex(4)
        place.mkdir(parents=True)
        size, target = 0, place / bare
        try:
            with target.open("wb") as file:
                async for part in parts:
                    size += len(part)
                    if size > self.limit:
                        raise InputError(self.too_large(bare))
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
