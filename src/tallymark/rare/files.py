"""Text columns of files, read in blocks, so that a file may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tallymark.rare.words import BLOCK, as_text
from tallymark.sources.engine import engine
from tallymark.sources.formats import Paths, Wanted


@dataclass(frozen=True)
class TextColumn:
    """A column of texts in files; each iteration reads the files again, in their order."""

    paths: Paths
    text: str
    where: str | None = None
    option: str = "text="

    def __iter__(self) -> Iterator[str]:
        wanted = [Wanted(self.text, self.option)]
        with engine(self.paths, wanted, where=self.where) as source:
            for block in source.stream([self.text], BLOCK, self.where):
                for (value,) in block:
                    yield as_text(value)

    def __len__(self) -> int:
        return self._rows

    @cached_property
    def _rows(self) -> int:
        condition = "" if self.where is None else f" WHERE ({self.where})"
        with engine(self.paths, [Wanted(self.text, self.option)], where=self.where) as source:
            return int(source.query(f"SELECT count(*) AS n FROM {source.reader}{condition}")["n"][0])


def texts_in(paths: Paths, *, text: str, where: str | None = None) -> TextColumn:
    r"""An iterable of the texts in a column of CSV, Parquet or JSON lines files, read in blocks.

    Parameters
    ----------
    paths
        One file, several, or a pattern.
    text
        The column with the texts.
    where
        An SQL condition that rows must satisfy.

    Returns
    -------
    TextColumn
        Texts in the order of the files; each iteration reads the files again.

    Examples
    --------
    >>> import tallymark as tm, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "t.csv"
    >>> _ = path.write_text("body,y\nbuy now,1\nsee you,0\n")
    >>> list(tm.rare.texts_in(path, text="body"))
    ['buy now', 'see you']
    >>> folder.cleanup()
    """
    return TextColumn(paths, text, where)
