"""Tables that fit the terminal without losing a name or a digit: prose is wrapped, wide tables go on below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len, chop_cells

from tallymark._text import visible

#: Blanks between two columns.
_GAP = 2

#: Prose is given at least so many columns; with less room it goes below its row.
_PROSE = 24


class Head(NamedTuple):
    """The heading of a column, and how its cells are aligned: names left, numbers right, prose left and wrapped."""

    text: str
    kind: Literal["left", "right", "prose"] = "left"
    #: Left out, and said so, where the table does not fit with it.
    optional: bool = False


class Line(NamedTuple):
    """A line of text and what it is, for its style."""

    text: str
    part: Literal["title", "head", "body"]


@dataclass(frozen=True)
class TextTable:
    """A title, headings and rows of cells. Every text is plain: what acts in a terminal is spelled out."""

    title: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[str]]

    def lines(self, width: int) -> Iterator[Line]:
        """The table at most `width` columns wide; a single cell wider than that is broken, never cut."""
        if self.title:
            yield from (Line(part, "title") for part in wrapped(visible(self.title), width))
        heads = [head._replace(text=visible(head.text)) for head in self.heads]
        rows = [[visible(cell) for cell in row] for row in self.rows]
        optional = [head.text for head in heads if head.optional]
        if optional and len(_blocks(heads, rows, width)) > 1:
            kept = [i for i, head in enumerate(heads) if not head.optional]
            heads, rows = [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]
        else:
            optional = []
        for number, block in enumerate(_blocks(heads, rows, width)):
            if number:
                yield Line("", "body")
            yield from _block([heads[i] for i in block], [[row[i] for i in block] for row in rows], width)
        if optional:
            said = f"Columns left out (terminal too narrow): {', '.join(optional)}."
            yield from (Line(f"  {part}", "head") for part in wrapped(said, max(width - 2, 1)))


def table(title: str, columns: Sequence[tuple[Any, ...]], rows: Iterable[Sequence[str]]) -> TextTable:
    """A table of (heading, left|right|prose, optional) columns."""
    return TextTable(title, [Head(*column) for column in columns], [list(row) for row in rows])


def wrapped(text: str, width: int) -> list[str]:
    """Text in lines of at most `width` columns, broken between words where it can be."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            pieces = chop_cells(word, width) if cell_len(word) > width else [word]
            for piece in pieces:
                joined = f"{line} {piece}" if line else piece
                if line and cell_len(joined) > width:
                    lines.append(line)
                    line = piece
                else:
                    line = joined
        lines.append(line)
    return lines


def _width(head: Head, cells: Sequence[str]) -> int:
    return max(map(cell_len, [head.text, *cells]))


def _blocks(heads: Sequence[Head], rows: Sequence[Sequence[str]], width: int) -> list[list[int]]:
    """Which columns stand side by side: all, if they fit; else the names again with as many others as fit."""
    widths = [_width(head, [row[i] for row in rows]) for i, head in enumerate(heads)]
    needed = [min(w, _PROSE) if head.kind == "prose" else w for w, head in zip(widths, heads, strict=True)]
    if sum(needed) + _GAP * (len(heads) - 1) <= width:
        return [list(range(len(heads)))]
    names = [i for i in range(len(heads)) if all(head.kind == "left" for head in heads[: i + 1])]
    taken = sum(needed[i] + _GAP for i in names)
    blocks: list[list[int]] = []
    room = -1
    for i in range(len(names), len(heads)):
        if heads[i].kind == "prose" and blocks:
            # Below its row, where there is no room beside it.
            blocks[-1].append(i)
            continue
        if needed[i] > room:
            blocks.append(list(names))
            room = width - taken
        blocks[-1].append(i)
        room -= needed[i] + _GAP
    return blocks or [list(names)]


def _block(heads: Sequence[Head], rows: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    columns = [[row[i] for row in rows] for i in range(len(heads))]
    widths = [_width(head, cells) for head, cells in zip(heads, columns, strict=True)]
    prose = [i for i, head in enumerate(heads) if head.kind == "prose"]
    fixed = sum(w + _GAP for i, w in enumerate(widths) if i not in prose)
    below = [i for i in prose if width - fixed < min(_PROSE, widths[i])]
    for i in prose:
        widths[i] = min(widths[i], max(width - fixed, 1))
    beside = [i for i in range(len(heads)) if i not in below]
    if sum(widths[i] for i in beside) + _GAP * (len(beside) - 1) > width:
        yield from _stacked(heads, rows, width)
        return
    yield from _row([heads[i].text for i in beside], heads, beside, widths, "head")
    yield from (Line(part, "head") for i in below for part in _indented(heads[i].text, width))
    for row in rows:
        yield from _row([row[i] for i in beside], heads, beside, widths, "body")
        yield from (Line(part, "body") for i in below for part in _indented(row[i], width))


def _stacked(heads: Sequence[Head], rows: Sequence[Sequence[str]], width: int) -> Iterator[Line]:
    """Every cell on a line of its own, below its row's name."""
    for row in rows or [[""] * len(heads)]:
        for i, (head, cell) in enumerate(zip(heads, row, strict=True)):
            text = f"{head.text}: {cell}".rstrip()
            parts = _indented(text, width) if i else [part.rstrip() for part in wrapped(text, width)]
            yield from (Line(part, "body") for part in parts)


def _indented(text: str, width: int) -> list[str]:
    """Text a little to the right, where there is room for that."""
    margin = " " * min(4, width // 4)
    return [(margin + part).rstrip() for part in wrapped(text, width - len(margin))] if text else []


def _row(
    cells: Sequence[str],
    heads: Sequence[Head],
    places: Sequence[int],
    widths: Sequence[int],
    part: Literal["head", "body"],
) -> Iterator[Line]:
    """A row of cells; a cell of several lines makes the row as high."""
    parts = [wrapped(cell, max(widths[i], 1)) for cell, i in zip(cells, places, strict=True)]
    for number in range(max(map(len, parts), default=0)):
        texts = []
        for own, i in zip(parts, places, strict=True):
            text = own[number] if number < len(own) else ""
            blank = " " * (widths[i] - cell_len(text))
            texts.append(blank + text if heads[i].kind == "right" else text + blank)
        yield Line((" " * _GAP).join(texts).rstrip(), part)
